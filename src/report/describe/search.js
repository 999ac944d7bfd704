/** A search for the highest rate, or the peak, as a report: its finding first, then level by level. */

import { formatCount, formatDuration } from '../../common/units.js';
import { levelText } from '../../result/search/explain.js';
import { formatPercent } from '../../result/wording.js';
import {
  chart,
  detailColumn,
  facts,
  figureColumn,
  report,
  section,
  sentence,
  table,
  textColumn,
  verdicts,
} from '../sections.js';
import { requirementClause } from './bars.js';
import { perHourText, perSecondText, targetPhrase, timeText, verdictCell } from './words.js';
/** @import { Search, SearchStep } from '../../result/search/search-schema.js' */
/** @import { Part, Report } from '../sections.js' */

/** @param {Search} search @returns {Report} */
export function describeSearch(search) {
  return report({
    title: finding(search),
    subject: searchSubject(search),
    sections: [
      section('answer', null, answer(search)),
      section('levels', 'Levels', levels(search)),
      section('steps', 'Steps', steps(search)),
      section('search', 'Search', how(search)),
    ],
  });
}

/** @param {Search} search @returns {string} `Highest rate: 118/s = 424,800 an hour` */
function finding(search) {
  return `${searchTitle(search)}: ${answerPhrase(search)}`;
}

/** @param {Search} search */
export function searchTitle({ searched }) {
  return searched === 'rate' ? 'Highest rate' : 'Peak throughput';
}

/**
 * @param {Search} search
 * @returns {string} `118/s = 424,800 an hour`; `1,234/s with 16 in flight`; a lower bound where the target did not reach its limit
 */
export function answerPhrase({ searched, answer: found, bracket, unfinished, why }) {
  if (found !== null) {
    const { level, perSecond } = found;
    const reached =
      searched === 'rate'
        ? `${levelText(searched, level)} = ${perHourText(level * 3600)} an hour`
        : `${perSecondText(perSecond)} with ${levelText(searched, level)}`;
    if (why === 'generator') return `unknown, but at least ${reached}: the tool could not offer more`;
    return why === 'highest' ? `at least ${reached}: more was not allowed` : reached;
  }
  if (why === 'generator') return 'unknown: the tool could not offer the load';
  const met = bracket.highestMet === null ? '' : `; met up to ${levelText(searched, bracket.highestMet)}`;
  return unfinished ? `not known yet${met}` : `none was confirmed${met}`;
}

/**
 * @param {Search} search with an answer
 * @param {number} i place of a requirement
 * @returns {'met' | 'not met' | 'not proven'} at the answer
 */
export function requirementVerdict({ requirements, confirmation }, i) {
  if (!requirements[i].beyond) return 'met';
  return confirmation?.requirements[i]?.verdict === 'not proven' ? 'not proven' : 'not met';
}

/** @param {Search} search @returns {string} `ocsp on http://127.0.0.1:8200 (Vault 1.21.1)` */
export function searchSubject({ name, target }) {
  return target === null ? name : `${name} on ${targetPhrase(target)}`;
}

/** @param {Search['searched']} searched @param {SearchStep} step @returns {string} a line of progress */
export function stepPhrase(searched, { level, verdict, p50Ms, p99Ms, errorShare, perSecond, reason }) {
  const rate = searched === 'rate' ? '' : `, ${perSecondText(perSecond)}`;
  const text = `p50 ${timeText(p50Ms)}, p99 ${timeText(p99Ms)}${rate}, errors ${shareText(errorShare)}`;
  const why = verdict === 'met' ? '' : ` ${reason}`;
  return `${levelText(searched, level)}: ${verdict}; ${text}.${why}`;
}

/** @param {Search} search @returns {Part[]} */
function answer(search) {
  const { answer: found, confirmation, requirements, explanation } = search;
  const rows = byLevel(search);
  const items = requirements.map(({ text }, i) => {
    const judged = confirmation?.requirements[i];
    return {
      verdict: requirementVerdict(search, i),
      name: text,
      text: judged === undefined ? '' : requirementClause(judged),
    };
  });
  return [
    ...sentence(`${finding(search)}.`, true),
    ...verdicts(found === null ? [] : items),
    ...sentence(certaintyPhrase(search)),
    ...sentence(explanation),
    ...(rows.length < 2 ? [] : [charts(search, rows)[0]]),
  ];
}

/** @param {Search} search @returns {string} how the answer is known */
function certaintyPhrase({ answer: found }) {
  if (found === null) return '';
  return `Confirmed by a run of ${formatDuration(found.seconds * 1000)} with ${formatCount(found.requests)} requests.`;
}

/** @param {Search} search @returns {SearchStep[]} the last at each level, ascending */
function byLevel({ steps: all }) {
  return [...new Map(all.map((step) => [step.level, step])).values()].sort((a, b) => a.level - b.level);
}

/** @param {Search} search */
function levelHeading({ searched }) {
  return searched === 'rate' ? 'Rate' : 'In flight';
}

/** @param {Search} search @param {number} level */
function levelCell({ searched }, level) {
  return searched === 'rate' ? levelText(searched, level) : formatCount(level);
}

/** @param {number | null} share */
function shareText(share) {
  if (share === null) return '–';
  return share === 0 ? 'none' : formatPercent(share);
}

/** @param {Search} search @returns {Part[]} */
function levels(search) {
  const rows = byLevel(search);
  if (rows.length < 2) return [];
  return [
    ...charts(search, rows).slice(1),
    ...table(
      'The last step at each level',
      [
        textColumn(levelHeading(search), ({ level }) => levelCell(search, level)),
        figureColumn('succeeded', ({ perSecond }) => perSecondText(perSecond)),
        figureColumn('p50', ({ p50Ms }) => timeText(p50Ms)),
        figureColumn('p99', ({ p99Ms }) => timeText(p99Ms)),
        figureColumn('max', ({ maxMs }) => timeText(maxMs)),
        figureColumn('errors', ({ errorShare }) => shareText(errorShare)),
        textColumn('verdict', ({ verdict }) => verdictCell(verdict)),
      ],
      rows,
    ),
  ];
}

/** @param {Search} search @param {SearchStep[]} rows @returns {Part[]} */
function charts(search, rows) {
  const { searched, answer: found, requirements } = search;
  const draw = (
    /** @type {string} */ title,
    /** @type {string} */ text,
    /** @type {string} */ unit,
    /** @type {Record<string, (step: SearchStep) => number | null>} */ series,
  ) =>
    chart('levels', title, text, {
      heading: levelHeading(search),
      axis: searched === 'rate' ? 'requests per second' : 'requests in flight',
      levels: rows.map(({ level, verdict }) => ({ level, name: levelCell(search, level), verdict })),
      answer: found === null ? null : { level: found.level, name: levelCell(search, found.level) },
      unit,
      series: Object.entries(series).map(([name, read]) => ({ name, values: rows.map(read) })),
      limits: requirements
        .filter((one) => one.unit === unit)
        .map(({ text, limit }) => ({ text, value: limit })),
    });
  return [
    draw('Response times', 'p50 and p99 at each level.', 'ms', {
      p50: ({ p50Ms }) => p50Ms,
      p99: ({ p99Ms }) => p99Ms,
    }),
    ...(searched === 'rate'
      ? []
      : [draw('Throughput', 'At each level.', '/s', { succeeded: ({ perSecond }) => perSecond })]),
    draw('Errors', 'At each level.', 'fraction', { errors: ({ errorShare }) => errorShare }),
  ];
}

/** @param {Search} search @returns {Part[]} in the order in which they were made */
function steps(search) {
  return table(
    'Every step',
    [
      textColumn('Step', ({ number, phase, attempt }) => `${number} ${phase}${attempt > 1 ? ', again' : ''}`),
      figureColumn(levelHeading(search).toLowerCase(), ({ level }) => levelCell(search, level)),
      figureColumn('time', ({ seconds }) => formatDuration(seconds * 1000)),
      figureColumn('requests', (step) => formatCount(step.requests)),
      detailColumn('succeeded', ({ perSecond }) => perSecondText(perSecond)),
      detailColumn('p50', ({ p50Ms }) => timeText(p50Ms)),
      figureColumn('p99', ({ p99Ms }) => timeText(p99Ms)),
      detailColumn('errors', ({ errorShare }) => shareText(errorShare)),
      textColumn('verdict', ({ verdict }) => verdictCell(verdict)),
      textColumn('why', ({ verdict, reason }) => (verdict === 'met' ? '' : reason)),
    ],
    search.steps.map((step, i) => ({ ...step, number: i + 1 })),
  );
}

/** @param {Search} search @returns {Part[]} */
function how(search) {
  const { command, settings, durationSeconds, steps: made, tool, startedAt } = search;
  return facts([
    [
      'Time',
      `${formatCount(made.length)} steps in ${formatDuration(durationSeconds * 1000)}, from ${startedAt}`,
    ],
    ['First level', levelCell(search, settings.start)],
    [
      'Each step',
      `${formatDuration(settings.stepSeconds * 1000)} or more, ${formatDuration(settings.confirmationSeconds * 1000)} or more to confirm`,
    ],
    ['Command', command],
    ['Tool', `vault-pki-load ${tool.version}`],
  ]);
}
