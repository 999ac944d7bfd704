/** The report of a search: the finding, then each level. */
import { formatCount, formatDuration } from '../../common/units.js';
import { figureText } from '../../result/runs/figures.js';
import { lastOfEach, levelText } from '../../result/search/explain.js';
import { chart, facts, report, section, sentence, table, verdicts } from '../sections.js';
import { requirementClause, verdictCell } from './bars.js';
import { perHourText, perSecondText, targetPhrase, timeColumns, timeText } from './words.js';

/** @import { Search, SearchStep } from '../../result/search/search-schema.js' */
/** @import { Part, Report } from '../sections.js' */

/** @param {Search} search @returns {Report} */
export function describeSearch(search) {
  const drawn = charts(search);
  return report({
    title: finding(search),
    subject: search.target === null ? search.name : `${search.name} on ${targetPhrase(search.target)}`,
    sections: [
      section('answer', null, [...answer(search), ...drawn.slice(0, 1)]),
      section('levels', 'Levels', [...drawn.slice(1), ...levels(search)]),
      section('search', 'Search', how(search)),
    ],
  });
}

/** @param {Search} search @returns {string} `The highest rate is 118/s (424,800 an hour)` */
export const finding = (search) => `The ${searchTitle(search).toLowerCase()} is ${answerPhrase(search)}`;

/** @param {Search} search */
export const searchTitle = ({ searched }) => (searched === 'rate' ? 'Highest rate' : 'Peak throughput');

/** @param {Search} search @returns {string} `118/s (424,800 an hour)`; `1,234/s with 16 in flight` */
function answerPhrase({ searched, answer: found, steps, unfinished, why }) {
  if (found !== null) {
    const { level, perSecond } = found;
    const reached =
      searched === 'rate'
        ? `${levelText(searched, level)} (${perHourText(level * 3600)} an hour)`
        : `${perSecondText(perSecond)} with ${levelText(searched, level)}`;
    if (why === 'generator') return `unknown, but at least ${reached}: the tool could not offer more`;
    return why === 'highest' ? `at least ${reached}, the highest level allowed` : reached;
  }
  if (why === 'generator') return 'unknown: the tool could not offer the load';
  const last = lastOfEach(steps).sort((a, b) => a.level - b.level);
  const failed = last.findIndex(({ verdict }) => verdict === 'not met');
  const highest = last
    .slice(0, failed < 0 ? last.length : failed)
    .findLast(({ verdict }) => verdict === 'met');
  const met = highest === undefined ? '' : `; met up to ${levelText(searched, highest.level)}`;
  return unfinished ? `not known yet${met}` : `not confirmed${met}`;
}

/** @param {Search} search with an answer @param {number} i @returns {'met' | 'not met' | 'not proven'} */
export function requirementVerdict({ requirements, confirmation }, i) {
  if (!requirements[i].beyond) return 'met';
  return confirmation?.requirements[i]?.verdict === 'not proven' ? 'not proven' : 'not met';
}

/** @param {Search['searched']} searched @param {SearchStep} step @returns {string} a line of progress */
export function stepPhrase(searched, { level, verdict, p50Ms, p99Ms, errorShare, perSecond, reason }) {
  const rate = searched === 'rate' ? '' : `, ${perSecondText(perSecond)}`;
  const errors = figureText('fraction', errorShare);
  const text = `p50 ${timeText(p50Ms)}, p99 ${timeText(p99Ms)}${rate}, errors ${errors}`;
  const why = verdict === 'met' ? '' : ` ${reason}`;
  return `${levelText(searched, level)}: ${verdict}; ${text}.${why}`;
}

/** @param {Search} search @returns {Part[]} */
function answer(search) {
  const { answer: found, confirmation, requirements, explanation } = search;
  const title = sentence(`${finding(search)}.`, true);
  if (found === null) return [...title, ...sentence(explanation)];
  const items = requirements.map(({ text: name }, i) => {
    const judged = confirmation?.requirements[i];
    const text = judged === undefined ? '' : requirementClause(judged);
    return { verdict: requirementVerdict(search, i), name, text };
  });
  const run = `a run of ${formatDuration(found.seconds * 1000)} with ${formatCount(found.requests)} requests`;
  return [...title, ...verdicts(items), ...sentence(`Confirmed by ${run}.`), ...sentence(explanation)];
}

/** @param {Search} search */
const levelHeading = ({ searched }) => (searched === 'rate' ? 'Rate' : 'In flight');

/** @param {Search} search @param {number} level */
const levelCell = ({ searched }, level) =>
  searched === 'rate' ? levelText(searched, level) : formatCount(level);

/** @param {Search} search @returns {Part[]} of the last step at each level; none for one level */
function charts(search) {
  const { searched, answer: found, requirements, steps } = search;
  const rows = lastOfEach(steps).sort((a, b) => a.level - b.level);
  if (rows.length < 2) return [];
  /** @typedef {Record<string, (step: SearchStep) => number | null>} Series */
  /** @type {(title: string, unit: string, series: Series) => Part} */
  const draw = (title, unit, series) =>
    chart('levels', title, 'At each level.', {
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
    draw('Response times', 'ms', { p50: ({ p50Ms }) => p50Ms, p99: ({ p99Ms }) => p99Ms }),
    ...(searched === 'rate' ? [] : [draw('Throughput', '/s', { succeeded: ({ perSecond }) => perSecond })]),
    draw('Errors', 'fraction', { errors: ({ errorShare }) => errorShare }),
  ];
}

/** @param {Search} search @returns {Part[]} every step, by level */
function levels(search) {
  const rows = search.steps.map((step, i) => ({ ...step, number: i + 1 }));
  return table(
    'Every step, by level',
    [
      [levelHeading(search), ({ level }) => levelCell(search, level)],
      ['step', ({ number, phase, attempt }) => `${number} ${phase}${attempt > 1 ? ', again' : ''}`, 'text'],
      ['time', ({ seconds }) => formatDuration(seconds * 1000), 'detail'],
      ['requests', (step) => formatCount(step.requests), 'detail'],
      ['succeeded', ({ perSecond }) => perSecondText(perSecond), 'detail'],
      ...timeColumns(
        ['p50', 'p99', 'max'],
        (/** @type {SearchStep} */ { p50Ms, p99Ms, maxMs }) => ({ p50: p50Ms, p99: p99Ms, max: maxMs }),
        ['max'],
      ),
      ['errors', ({ errorShare }) => figureText('fraction', errorShare)],
      ['verdict', ({ verdict }) => verdictCell(verdict), 'text'],
      ['why', ({ verdict, reason }) => (verdict === 'met' ? '' : reason), 'text'],
    ],
    rows.sort((a, b) => a.level - b.level || a.number - b.number),
  );
}

/** @param {Search} search @returns {Part[]} */
function how(search) {
  const { command, settings, steps, tool, startedAt, durationSeconds } = search;
  const time = (/** @type {number} */ seconds) => formatDuration(seconds * 1000);
  const confirmation = `a confirmation at least ${time(settings.confirmationSeconds)}; longer where the requirements need more requests`;
  return facts([
    ['Steps', `${formatCount(steps.length)} in ${time(durationSeconds)}, from ${startedAt}`],
    ['First level', levelCell(search, settings.start)],
    ['Each step', `at least ${time(settings.stepSeconds)}, ${confirmation}`],
    ['Command', command],
    ['Tool', `vault-pki-load ${tool.version}`],
  ]);
}
