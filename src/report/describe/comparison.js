/** A comparison of groups of runs as a report: the finding first, then every metric. */
import { differenceText, formatFigure, intervalText, pText } from '../../result/runs/figures.js';
import { VARIANCE_KEYS } from '../../result/runs/run-set.js';
import { formatPercent } from '../../result/wording.js';
import { facts, notes, report, section, sentence, table, verdicts } from '../sections.js';
import { worstVerdict } from './bars.js';
import { differenceTo, doubtsOf, finding, toneOf } from './differences.js';
import { minuteText, runsChart, SPREAD_COLUMNS, targetsPhrase } from './runs.js';
import { counted, joined, loadPhrase } from './words.js';

/** @import { ComparedGroup, ComparedMetric, Comparison } from '../../result/comparison/comparison-schema.js' */
/** @import { Column, Part, Report } from '../sections.js' */

/** If a group name is longer, column headings are letters. */
const LONG_NAME = 12;

/** Verdicts by tone, for their colour. */
const TONE_VERDICTS = { bad: 'worse', good: 'better', none: undefined, unsure: undefined };

/** @param {Comparison} comparison @returns {Report} */
export function describeComparison(comparison) {
  const { groups, failIf, warnings } = comparison;
  const others = groups.map((_, i) => i).slice(1);
  const [subject, ...otherSubjects] = new Set(groups.map(subjectsPhrase));
  const isSame = otherSubjects.length === 0;
  return report({
    title: finding(comparison, 1).replace(/\.$/, ''),
    verdict: worstVerdict(failIf, ['failed', 'not proven', 'passed']),
    subject: isSame
      ? subject
      : `${joined(others.map((i) => groups[i].name))} compared with ${groups[0].name}`,
    sections: [
      section('answer', null, [
        ...others.flatMap((other) => sentence(finding(comparison, other))),
        ...verdicts(failIf.map(({ text, verdict, reason }) => ({ verdict, name: text, text: '', reason }))),
        ...notes(warnings),
        ...charts(comparison, true),
      ]),
      ...others.map((other) => ({
        ...section(`difference-${other}`, pairName(comparison, other), pair(comparison, other)),
        isDetail: others.length > 1,
      })),
      section('medians', 'Medians', others.length > 1 ? medians(comparison) : []),
      section('run-by-run', 'Run by run', charts(comparison, false)),
      section('over-runs', 'Over runs', variances(comparison)),
      section('groups', 'Groups', about(comparison, isSame)),
      section('notes', 'Notes', notes(comparison.notes)),
    ],
  });
}

/** @param {Comparison} comparison @param {number} other */
const pairName = ({ groups }, other) => `${groups[other].name} compared with ${groups[0].name}`;

/** @param {Comparison} comparison @param {number} other @returns {Part[]} */
function pair(comparison, other) {
  const { metrics, method } = comparison;
  const intervalName = `${formatPercent(method.confidence)} interval`;
  const rows = metrics.map((metric) => ({ metric, ...metric, ...differenceTo(metric, other) }));
  return [
    ...table(
      `Medians of ${pairName(comparison, other)}`,
      [
        ['Median', ({ label }) => label],
        [labelOf(comparison, 0), ({ metric }) => medianText(comparison, metric, 0)],
        [labelOf(comparison, other), ({ metric }) => medianText(comparison, metric, other)],
        ['difference', ({ unit, differencePercent }) => differenceText(unit, differencePercent)],
        [intervalName, ({ unit, interval }) => intervalText(unit, interval)],
        ['p', ({ pValue }) => pText(pValue), 'detail'],
        [
          'verdict',
          ({ metric, verdict }) => ({ text: verdict, verdict: TONE_VERDICTS[toneOf(metric, verdict)] }),
          'text',
        ],
      ],
      rows,
    ),
    ...notes(doubtsOf(comparison, other)),
  ];
}

/** All groups side by side; marks the best of each metric. @param {Comparison} comparison @returns {Part[]} */
function medians(comparison) {
  const { groups, metrics } = comparison;
  /** @type {Column<ComparedMetric>[]} */
  const columns = groups.map((_, i) => [
    labelOf(comparison, i),
    (metric) => {
      const text = medianText(comparison, metric, i);
      return metric.best === i ? { text: `${text} *`, isStrong: true } : text;
    },
  ]);
  const isBiased = metrics.some(({ comparisons }) =>
    comparisons.some(({ verdict }) => verdict === 'not comparable'),
  );
  const key = `* best: shown to be better than every other group${isBiased ? ' without more errors' : ''}`;
  return [
    ...table('Medians of all groups', [['Median', ({ label }) => label], ...columns], metrics),
    ...sentence(metrics.some(({ best }) => best !== null) ? key : ''),
  ];
}

/** @param {Comparison} comparison @param {boolean} isMain the chart of the answer, or the others @returns {Part[]} */
function charts({ groups, metrics }, isMain) {
  const shown = metrics.filter(({ key }) => (key === 'p99') === isMain);
  return shown.flatMap(({ key, label, unit }) => {
    const rows = groups.map(({ name, runs, metrics: own }) => ({
      name,
      runs: runs.filter(({ used }) => used).map((run) => run.name),
      values: own[key].values,
    }));
    return runsChart(label, unit, rows);
  });
}

/** @param {Comparison} comparison @returns {Part[]} */
function variances(comparison) {
  const shown = comparison.metrics.filter(({ key }) => VARIANCE_KEYS.includes(key));
  const rows = shown.flatMap(({ key, label, unit }) =>
    comparison.groups.map(({ metrics }, i) => {
      return { name: `${label}, ${labelOf(comparison, i)}`, unit, spread: metrics[key] };
    }),
  );
  return table('Spread over runs', [['Over runs', ({ name }) => name], ...SPREAD_COLUMNS], rows);
}

/** @param {Comparison} comparison @param {boolean} isSame whether all groups have the same operations and load @returns {Part[]} */
function about(comparison, isSame) {
  const { groups, createdAt, command, tool } = comparison;
  const phraseOf = (/** @type {ComparedGroup} */ group, /** @type {number} */ i) => {
    const used = group.runs.filter((run) => run.used).length;
    const usedOf = used === group.runs.length ? '' : `${used} of `;
    const parts = [
      labelOf(comparison, i) !== group.name && group.name,
      `${usedOf}${counted(group.runs.length, 'run')}${i === 0 ? ', the base' : ''}`,
      !isSame && subjectsPhrase(group),
      `on ${targetsPhrase(group.runs)}`,
      `started ${datesPhrase(group)}`,
    ];
    return joined(parts, '; ');
  };
  const leftOut = groups.flatMap(({ runs }, i) =>
    runs
      .filter(({ used }) => !used)
      .map(({ name, why }) => `${labelOf(comparison, i)}, ${name}: ${why ?? 'it was left out'}`),
  );
  return facts([
    ...groups.map((group, i) => [labelOf(comparison, i), phraseOf(group, i)]),
    ...leftOut.map((text) => ['Left out', text]),
    ['Created', joined([createdAt !== null && `${minuteText(createdAt)} UTC`, command ?? ''])],
    ['Tool', `vault-pki-load ${tool.version}`],
  ]);
}

/** `ocsp, open loop at 20/s, 20 s`; if runs differ, each with its count of runs. @param {ComparedGroup} group */
function subjectsPhrase({ subjects }) {
  return subjects
    .map(({ operations, load, runs }) => {
      const subject = `${operations.join(', ')}, ${loadPhrase(load)}`;
      return subjects.length === 1 ? subject : `${subject} (${counted(runs, 'run')})`;
    })
    .join('; ');
}

/** @param {ComparedGroup} group @returns {string} when its runs were started: `2026-01-02 03:00 to 03:18 UTC` */
function datesPhrase({ runs }) {
  const times = runs.map(({ startedAt }) => startedAt).sort();
  const [first, last] = [times[0], times[times.length - 1]].map(minuteText);
  if (first === last) return `${first} UTC`;
  return `${first} to ${first.slice(0, 10) === last.slice(0, 10) ? last.slice(11) : last} UTC`;
}

/** @param {Comparison} comparison @param {ComparedMetric} metric @param {number} group index */
const medianText = ({ groups }, { key, unit }, group) =>
  formatFigure(unit, groups[group].metrics[key].median);

/** Its name; A to Z, then G27, ... if any name is long. @param {Comparison} comparison @param {number} group index */
function labelOf({ groups }, group) {
  if (groups.every(({ name }) => name.length <= LONG_NAME)) return groups[group].name;
  return group < 26 ? String.fromCharCode(65 + group) : `G${group + 1}`;
}
