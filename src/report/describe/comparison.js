/** A comparison of groups of runs as a report: the finding first, then every metric. */

import { differenceText, figureText, intervalText, pText } from '../../result/runs/figures.js';
import { VARIANCE_KEYS } from '../../result/runs/run-metrics.js';
import { formatPercent } from '../../result/wording.js';
import {
  detailColumn,
  facts,
  figureColumn,
  notes,
  report,
  section,
  sentence,
  table,
  textColumn,
  verdicts,
  worstVerdict,
} from '../sections.js';
import { differenceTo, doubtsOf, finding, headlineOf, rankOf, worthOf } from './differences.js';
import {
  commonSubject,
  datesPhrase,
  filesPhrase,
  leftOutOf,
  madePhrase,
  runsChart,
  runsPhrase,
  SPREAD_COLUMNS,
  subjectsPhrase,
  targetsPhrase,
} from './runs.js';
import { joined } from './words.js';

/** @import { ComparedMetric, Comparison } from '../../result/comparison/comparison-schema.js' */
/** @import { Part, Report } from '../sections.js' */

/** Longer names of groups give way to letters in the headings of columns. */
const LONG_NAME = 12;

const MARKS = { best: ' *', 'best median': ' +' };

/** By the worth of a difference. */
const WORTH_VERDICTS = { bad: 'worse', good: 'better', none: undefined, unsure: undefined };

/** @param {Comparison} comparison @returns {Report} */
export function describeComparison(comparison) {
  const others = comparison.groups.map((_, i) => i).slice(1);
  const subject = commonSubject(comparison);
  return report({
    title: finding(comparison, others[0]).replace(/\.$/, ''),
    verdict: worstVerdict(comparison.failIf, ['failed', 'not proven', 'passed']),
    subject: subject ?? headlineOf(comparison),
    sections: [
      section('answer', null, answer(comparison, others)),
      ...others.map((other) => ({
        ...section(`difference-${other}`, pairName(comparison, other), pair(comparison, other)),
        ...(others.length > 1 ? { isDetail: true } : {}),
      })),
      section('medians', 'Medians', others.length > 1 ? medians(comparison) : []),
      section(
        'run-by-run',
        'Run by run',
        charts(comparison, (key) => key !== 'p99'),
      ),
      section('over-runs', 'Over runs', variances(comparison)),
      section('groups', 'Groups', groups(comparison)),
      section('notes', 'Notes', notes(comparison.notes)),
    ],
  });
}

/** @param {Comparison} comparison @param {number[]} others @returns {Part[]} */
function answer(comparison, others) {
  const { failIf, warnings } = comparison;
  return [
    ...others.flatMap((other) => sentence(finding(comparison, other))),
    ...verdicts(failIf.map(({ text, verdict, reason }) => ({ verdict, name: text, text: '', reason }))),
    ...notes(warnings),
    ...charts(comparison, (key) => key === 'p99'),
  ];
}

/** @param {Comparison} comparison @param {number} other */
function pairName({ groups: [base, ...rest] }, other) {
  return `${rest[other - 1].name} beside ${base.name}`;
}

/** @param {Comparison} comparison @param {number} other @returns {Part[]} */
function pair(comparison, other) {
  const { metrics, method } = comparison;
  const rows = metrics.map((metric) => ({ metric, ...metric, ...differenceTo(metric, other) }));
  return [
    ...table(
      `Medians of ${pairName(comparison, other)}`,
      [
        textColumn('Median', ({ label }) => label),
        figureColumn(labelOf(comparison, 0), ({ metric }) => medianText(comparison, metric, 0)),
        figureColumn(labelOf(comparison, other), ({ metric }) => medianText(comparison, metric, other)),
        figureColumn('difference', ({ unit, differencePercent }) => differenceText(unit, differencePercent)),
        figureColumn(`${formatPercent(method.confidence)} interval`, ({ unit, interval }) =>
          intervalText(unit, interval),
        ),
        detailColumn('p', ({ pValue }) => pText(pValue)),
        textColumn('verdict', ({ metric, verdict }) => {
          const worth = WORTH_VERDICTS[worthOf(metric, verdict)];
          return worth === undefined ? verdict : { text: verdict, verdict: worth };
        }),
      ],
      rows,
    ),
    ...notes(doubtsOf(comparison, other)),
  ];
}

/** @param {Comparison} comparison @returns {Part[]} of all groups side by side */
function medians(comparison) {
  const { groups: all, metrics } = comparison;
  const ranks = metrics.flatMap((metric) => all.map((_, i) => rankOf(metric, i)));
  /** @param {ComparedMetric} metric @param {number} i */
  const rankedCell = (metric, i) => {
    const rank = rankOf(metric, i);
    const text = medianText(comparison, metric, i);
    return rank === null ? text : { text: `${text}${MARKS[rank]}`, isStrong: rank === 'best' };
  };
  return [
    ...table(
      'Medians of all groups',
      [
        textColumn('Median', ({ label }) => label),
        ...all.map((_, i) =>
          figureColumn(labelOf(comparison, i), (/** @type {ComparedMetric} */ metric) =>
            rankedCell(metric, i),
          ),
        ),
      ],
      metrics,
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

/** @param {Comparison} comparison @param {(key: string) => boolean} isShown @returns {Part[]} */
function charts({ groups: all, metrics }, isShown) {
  return metrics
    .filter(
      ({ key }) => isShown(key) && all.some((group) => group.metrics[key].values.some((one) => one !== null)),
    )
    .map(({ key, label, unit }) =>
      runsChart(
        label,
        unit,
        all.map(({ name, runs, metrics: own }) => ({
          name,
          runs: runs.filter(({ used }) => used).map((run) => run.name),
          values: own[key].values,
        })),
      ),
    );
}

/** @param {Comparison} comparison @returns {Part[]} */
function variances(comparison) {
  const rows = comparison.metrics
    .filter(({ key }) => VARIANCE_KEYS.includes(key))
    .flatMap(({ key, label, unit }) =>
      comparison.groups.map(({ metrics }, i) => ({
        name: `${label}, ${labelOf(comparison, i)}`,
        unit,
        spread: metrics[key],
      })),
    );
  return table('Spread over runs', [textColumn('Over runs', ({ name }) => name), ...SPREAD_COLUMNS], rows);
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
    return /** @type {[string, string]} */ ([label, joined(parts, '; ')]);
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

/** @param {Comparison} comparison @param {ComparedMetric} metric @param {number} group index */
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
