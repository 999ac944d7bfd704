/** A comparison of groups of runs as a report: the finding first, then every metric. */
import { differenceText, figureText, intervalText, pText } from '../../result/runs/figures.js';
import { VARIANCE_KEYS } from '../../result/runs/run-metrics.js';
import { formatPercent } from '../../result/wording.js';
import {
  chart,
  details,
  facts,
  figures,
  notes,
  report,
  section,
  sentence,
  table,
  texts,
  verdicts,
} from '../sections.js';
import { differenceTo, doubtsOf, finding, headlineOf, rankOf, worthOf } from './differences.js';
import {
  commonSubject,
  datesPhrase,
  filesPhrase,
  leftOutOf,
  madePhrase,
  runsPhrase,
  SPREAD_COLUMNS,
  spreadCells,
  subjectsPhrase,
  targetsPhrase,
} from './runs.js';
import { titled } from './words.js';

/** @typedef {import('../../result/comparison/comparison-schema.js').Comparison} Comparison */
/** @typedef {import('../../result/comparison/comparison-schema.js').ComparedMetric} ComparedMetric */
/** @typedef {import('../sections.js').Part} Part */

/** Longer names of groups give way to letters in the headings of columns. */
const LONG_NAME = 12;

const MARKS = { best: ' *', 'best median': ' +' };

/** By the worth of a difference. */
const WORTH_VERDICTS = { bad: 'worse', good: 'better', none: undefined, unsure: undefined };

/** @param {Comparison} comparison @returns {import('../sections.js').Report} */
export function describeComparison(comparison) {
  const others = comparison.groups.map((_, i) => i).slice(1);
  const subject = commonSubject(comparison);
  const verdict = ['failed', 'not proven', 'passed'].find((one) =>
    comparison.failIf.some((rule) => rule.verdict === one),
  );
  return report({
    title: finding(comparison, others[0]).replace(/\.$/, ''),
    ...(verdict === undefined ? {} : { verdict }),
    subject: subject ?? headlineOf(comparison),
    sections: [
      section('answer', null, answer(comparison, others)),
      ...others.map((other) => ({
        ...section(`difference-${other}`, pairName(comparison, other), pair(comparison, other)),
        ...(others.length > 1 ? { isDetail: true } : {}),
      })),
      section('medians', 'Medians', others.length > 1 ? medians(comparison) : []),
      section('run-by-run', 'Run by run', charts(comparison, null)),
      section('over-runs', 'Over runs', variances(comparison)),
      section('groups', 'Groups', groups(comparison)),
      section('notes', 'Notes', notes(comparison.notes.map((text) => ({ text })))),
    ],
  });
}

/**
 * @param {Comparison} comparison
 * @param {number[]} others
 * @returns {Part[]}
 */
function answer(comparison, others) {
  const { failIf, warnings } = comparison;
  return [
    ...others.flatMap((other) => sentence(finding(comparison, other))),
    ...verdicts(failIf.map(({ text, verdict, reason }) => ({ verdict, name: text, text: '', reason }))),
    ...notes(warnings.map((text) => ({ text }))),
    ...charts(comparison, ['p99']),
  ];
}

/** @param {Comparison} comparison @param {number} other */
function pairName({ groups: [base, ...rest] }, other) {
  return `${rest[other - 1].name} beside ${base.name}`;
}

/**
 * @param {Comparison} comparison
 * @param {number} other
 * @returns {Part[]}
 */
function pair(comparison, other) {
  const rows = comparison.metrics.map((metric) => {
    const { differencePercent, interval, pValue, verdict } = differenceTo(metric, other);
    const worth = WORTH_VERDICTS[worthOf(metric, verdict)];
    return [
      metric.label,
      medianText(comparison, metric, 0),
      medianText(comparison, metric, other),
      differenceText(metric.unit, differencePercent),
      intervalText(metric.unit, interval),
      pText(pValue),
      worth === undefined ? verdict : { text: verdict, verdict: worth },
    ];
  });
  const confidence = formatPercent(comparison.method.confidence);
  const columns = [
    ...texts('Median'),
    ...figures(labelOf(comparison, 0), labelOf(comparison, other), 'difference', `${confidence} interval`),
    ...details(...figures('p')),
    ...texts('verdict'),
  ];
  return [
    ...table(`Medians of ${pairName(comparison, other)}`, columns, rows),
    ...notes(doubtsOf(comparison, other).map((text) => ({ text }))),
  ];
}

/** @param {Comparison} comparison @returns {Part[]} of all groups side by side */
function medians(comparison) {
  const { groups: all, metrics } = comparison;
  const ranks = metrics.flatMap((metric) => all.map((_, i) => rankOf(metric, i)));
  const rows = metrics.map((metric) => [
    metric.label,
    ...all.map((_, i) => {
      const text = medianText(comparison, metric, i);
      const rank = rankOf(metric, i);
      return rank === null ? text : { text: `${text}${MARKS[rank]}`, isStrong: rank === 'best' };
    }),
  ]);
  return [
    ...table(
      'Medians of all groups',
      [...texts('Median'), ...figures(...all.map((_, i) => labelOf(comparison, i)))],
      rows,
    ),
    ...sentence(
      ranks.includes('best') ? `* best: shown to be better than every other${competing(metrics)}` : '',
    ),
    ...sentence(
      ranks.includes('best median') ? '+ best median, not shown to be better than every other' : '',
    ),
  ];
}

/** @param {Comparison['metrics']} metrics */
function competing(metrics) {
  const isBiased = metrics.some(({ comparisons }) =>
    comparisons.some(({ verdict }) => verdict === 'not comparable'),
  );
  return isBiased ? ' that has no more errors' : '';
}

/**
 * @param {Comparison} comparison
 * @param {string[] | null} keys of metrics; null: all but p99, whose chart is in the answer
 * @returns {Part[]}
 */
function charts({ groups: all, metrics }, keys) {
  return metrics
    .filter(({ key }) => (keys === null ? key !== 'p99' : keys.includes(key)))
    .filter(({ key }) => all.some((group) => group.metrics[key].values.some((value) => value !== null)))
    .map(({ key, label, unit }) =>
      chart('runs', titled(label), 'A dot a run.', {
        unit,
        groups: all.map(({ name, runs, metrics: own }) => ({
          name,
          runs: runs.filter(({ used }) => used).map((run) => run.name),
          values: own[key].values,
        })),
      }),
    );
}

/** @param {Comparison} comparison @returns {Part[]} */
function variances(comparison) {
  const rows = comparison.metrics
    .filter(({ key }) => VARIANCE_KEYS.includes(key))
    .flatMap(({ key, label, unit }) =>
      comparison.groups.map((group, i) => [
        `${label}, ${labelOf(comparison, i)}`,
        ...spreadCells(unit, group.metrics[key]),
      ]),
    );
  return table('Spread over runs', [...texts('Over runs'), ...SPREAD_COLUMNS], rows);
}

/** @param {Comparison} comparison @returns {Part[]} */
function groups(comparison) {
  const isSame = commonSubject(comparison) !== null;
  const items = comparison.groups.map((group, i) => {
    const label = labelOf(comparison, i);
    const parts = [
      label === group.name ? '' : group.name,
      `${runsPhrase(group)}${i === 0 ? ', the base' : ''}`,
      isSame ? '' : subjectsPhrase(group),
      `on ${targetsPhrase(group.runs)}`,
      `started ${datesPhrase(group)}`,
      `from ${filesPhrase(group)}`,
    ];
    return /** @type {[string, string]} */ ([label, parts.filter((part) => part !== '').join('; ')]);
  });
  const leftOut = comparison.groups.flatMap((group, i) =>
    leftOutOf(group).map(
      ({ run, why }) =>
        /** @type {[string, string]} */ (['Left out', `of ${labelOf(comparison, i)}: ${run}: ${why}`]),
    ),
  );
  return facts([
    ...items,
    ...leftOut,
    ['Made', madePhrase(comparison)],
    ['Tool', `vault-pki-load ${comparison.tool.version}`],
  ]);
}

/**
 * @param {Comparison} comparison
 * @param {ComparedMetric} metric
 * @param {number} group index
 */
function medianText({ groups: all }, { key, unit }, group) {
  return figureText(unit, all[group].metrics[key].median);
}

/**
 * @param {Comparison} comparison
 * @param {number} group index
 * @returns {string} its name; A to Z, then G27, G28, ... where a name is long
 */
function labelOf({ groups: all }, group) {
  if (all.every(({ name }) => name.length <= LONG_NAME)) return all[group].name;
  return group < 26 ? String.fromCharCode(65 + group) : `G${group + 1}`;
}
