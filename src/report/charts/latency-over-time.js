/** Response times and the send lag over the time of a run. */
import { formatCount, formatDuration, formatLatency } from '../../common/units.js';
import { latencyBins, toBins } from '../../result/latency-spans.js';
import { between, counted, extent } from '../describe/words.js';
import { valueAxis } from './axes.js';
import { limitsNear } from './lines.js';
import { endOf, momentName, timeChart } from './time-chart.js';

/** @import { Bin, LatencyBin } from '../../result/latency-spans.js' */
/** @import { Result } from '../../result/schema.js' */
/** @import { Setting } from './frame.js' */
/** @import { LineStyle } from './lines.js' */
/** @import { RowSeries } from './time-chart.js' */

/** @type {(LineStyle & {key: 'p50' | 'p90' | 'p99' | 'max'})[]} */
const SERIES = [
  { key: 'p50', style: 1 },
  { key: 'p90', style: 3 },
  { key: 'p99', style: 2 },
  { key: 'max', style: 4 },
];

/** Style of limits on figures without a series. */
const OTHER_STYLE = 6;

/** @param {Result} run @param {Setting} setting @returns null without a response */
export function latencyOverTime(run, setting) {
  if (!run.timeline.some(({ max }) => max !== null)) return null;
  const rows = latencyBins(run.timeline);
  const series = seriesOf(rows);
  const values = series.flatMap(({ value }) => rows.flatMap((row) => value(row) ?? []));
  const horizontalLines = limitsNear(limitsOf(run), extent(values));
  const yAxis = valueAxis('ms', 'response time', [...values, ...horizontalLines.map(({ value }) => value)]);
  return timeChart({
    ...{ run, setting, rows, series, horizontalLines, yAxis },
    summary: latencySummary(rows),
    text: formatLatency,
  });
}

/**
 * Neighbours with the same values share a line: `p99 = max` for fewer than 100 responses.
 * @param {LatencyBin[]} rows @returns {RowSeries<LatencyBin>[]} undefined where no request was due or waiting
 */
function seriesOf(rows) {
  /** @type {(typeof SERIES[number] & {name: string})[]} */
  const series = [];
  for (const one of SERIES) {
    const before = series.at(-1);
    if (!rows.some((row) => typeof row[one.key] === 'number')) continue;
    if (before !== undefined && rows.every((row) => row[before.key] === row[one.key]))
      before.name += ` = ${one.key}`;
    else series.push({ ...one, name: one.key });
  }
  return series.map(({ key, ...rest }) => ({ ...rest, value: (row) => (row.idle ? undefined : row[key]) }));
}

/** Limits on the response time of the whole run; others would not apply to all of the chart. @param {Result} run */
function limitsOf({ requirements }) {
  return requirements.flatMap(({ unit, text, operation, stage, limit }) => {
    if (unit !== 'ms' || text.includes('(') || operation || stage) return [];
    const { style } = SERIES.find(({ key }) => key === text.split(/[<>]/)[0]) ?? { style: OTHER_STYLE };
    return { text, value: limit, style };
  });
}

/** @param {LatencyBin[]} rows with at least one response */
function latencySummary(rows) {
  const worst = rows.reduce((longest, row) => ((row.max ?? -1) > (longest.max ?? -1) ? row : longest));
  const silent = rows.filter(({ responses, idle }) => responses === 0 && !idle).length;
  const [{ span }] = rows;
  const spans = counted(rows.length, span === 1 ? 'second' : 'span');
  const textOf = (/** @type {(number | null)[]} */ values) => between(values, formatLatency);
  const [p50, p99] = [textOf(rows.map((row) => row.p50)), textOf(rows.map((row) => row.p99))];
  return [
    `${span === 1 ? 'Each second' : `In spans of ${formatDuration(span * 1000)}`}, p50 was ${p50} and p99 ${p99}.`,
    `The longest response took ${formatLatency(Number(worst.max))} (${momentName(worst, endOf(rows))}).`,
    silent > 0 && `No response arrived in ${formatCount(silent)} of ${spans}, the gaps in the lines.`,
  ];
}

/** @param {Result} run @param {Setting} setting @returns null without a request, and for older results */
export function sendLag(run, setting) {
  const { timeline } = run;
  const values = timeline.flatMap(({ lag99 }) => lag99 ?? []);
  if (values.length === 0) return null;
  const rows = toBins(timeline);
  const [{ span }] = rows;
  /** @type {RowSeries<Bin>['value']} undefined: nothing was due */
  const lagOf = ({ rows }) => {
    const [, high] = extent(rows.map(({ lag99 }) => lag99));
    if (high >= 0) return high;
    return rows.every(({ due }) => due === 0) ? undefined : null;
  };
  return timeChart({
    ...{ run, setting, rows },
    summary: [
      `The p99 of the send lag in each second was ${between(values, formatLatency)}.`,
      span > 1 && `The line shows the maximum of each ${formatDuration(span * 1000)}.`,
      'A growing lag is a backlog: the target accepted less than was offered.',
    ],
    series: [{ name: 'p99 of the send lag', style: 5, value: lagOf }],
    yAxis: valueAxis('ms', 'send lag', values),
    text: formatLatency,
  });
}
