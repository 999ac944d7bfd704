/** A search as a page: the answer and how sure it is, the knee as charts, every step. */
import { formatCount, formatDuration } from '../../units.js';
import { perSecondText, timeText } from '../phrases.js';
import {
  answerPhrase,
  byLevel,
  certaintyPhrase,
  levelCell,
  levelHeading,
  requirementVerdict,
  searchSubject,
  searchTitle,
  shareText,
} from '../search-phrases.js';
import { kneeOfErrors, kneeOfThroughput, kneeOfTimes } from './charts/knee.js';
import { escapeHtml } from './escape.js';
import { page } from './page.js';
import { facts, list, paragraph, section, table, verdictBadge } from './parts.js';

/** @typedef {import('../../results/search/search-schema.js').Search} Search */

/**
 * @param {Search} search
 * @returns {string} the file
 */
export function render(search) {
  const rows = byLevel(search);
  const kinds = search.searched === 'rate' ? [] : [kneeOfThroughput];
  const drawn =
    rows.length < 2 ? [] : [...kinds, kneeOfTimes, kneeOfErrors].map((knee) => knee(search, rows));
  const charts = `<div class="charts">\n${drawn.map(({ html }) => html).join('\n')}\n</div>`;
  const body = [
    requirements(search),
    drawn.length === 0 ? '' : section('The knee', charts),
    search.steps.length === 0 ? '' : steps(search),
    plan(search),
  ];
  const answer = answerPhrase(search);
  return page({
    title: `${search.name}: ${answer}`,
    heading: `${searchTitle(search)}: ${answer}`,
    lead: lead(search),
    body: body.filter((html) => html !== '').join('\n'),
    data: { charts: Object.assign({}, ...drawn.map((one) => one.charts)) },
    footer: `Written by vault-pki-load ${search.tool.version}. Started ${search.startedAt}.`,
  });
}

/** @param {Search} search */
function lead(search) {
  const certainty = certaintyPhrase(search);
  return [
    searchSubject(search),
    certainty === '' ? '' : `${certainty[0].toUpperCase()}${certainty.slice(1)}.`,
    search.explanation,
  ]
    .filter((text) => text !== '')
    .map((text) => paragraph(text))
    .join('\n');
}

/** @param {Search} search */
function requirements(search) {
  const { requirements: required, answer } = search;
  if (required.length === 0) return '';
  const items = required.map(({ text }, i) => {
    const badge = answer === null ? '' : `${verdictBadge(requirementVerdict(search, i))} `;
    return `${badge}${escapeHtml(text)}`;
  });
  return section(answer === null ? 'Required' : 'Required, at the answer', list(items));
}

/** @param {Search} search */
function steps(search) {
  const rows = search.steps.map((step, i) => [
    `${i + 1} ${step.phase}${step.attempt > 1 ? ', again' : ''}`,
    levelCell(search, step.level),
    formatDuration(step.seconds * 1000),
    formatCount(step.requests),
    perSecondText(step.perSecond),
    timeText(step.p50Ms),
    timeText(step.p99Ms),
    shareText(step.errorShare),
    { html: verdictBadge(step.verdict) },
    step.reason,
  ]);
  const heads = [levelHeading(search), 'Time', 'Requests', 'Answered', 'p50', 'p99', 'Errors'];
  const columns = ['Step', ...heads.map((label) => ({ label, numeric: true })), 'Verdict', 'Why'];
  return section('Steps', table({ caption: 'In the order in which they were made', columns, rows }));
}

/** @param {Search} search */
function plan(search) {
  const { command, settings, durationSeconds, steps: made } = search;
  /** @type {[string, string][]} */
  const rows = [
    ['Command', command],
    ['Search', `${formatCount(made.length)} steps in ${formatDuration(durationSeconds * 1000)}`],
    ['Began at', levelCell(search, settings.start)],
    ['A step', `${formatDuration(settings.stepSeconds * 1000)} at least`],
    ['The confirmation', `${formatDuration(settings.confirmationSeconds * 1000)} at least`],
  ];
  return section('How', facts(rows));
}
