/** Response times over time: p50, p90, p99, max, and the limits that were required. */

import { formatCount, formatDuration, formatLatency } from '../../common/units.js';
import { latencySpans } from '../../result/latency-spans.js';
import { latencyAxis } from './draw/axes.js';
import { clockOf } from './draw/clock.js';
import { hasAfter, isDense, timeChart } from './draw/time-chart.js';
import { AFTER_NOTE, between, DENSE_NOTE, extent, sentences } from './draw/words.js';

/** @typedef {import('../../result/schema.js').Result} Result */
/** @typedef {import('../../result/latency-spans.js').LatencySpan} LatencySpan */
/** @typedef {import('./draw/time-chart.js').Series<LatencySpan>} Series */

/** @type {Series[]} */
const SERIES = [
  { name: 'p50', style: 1, value: unlessIdle((row) => row.p50) },
  { name: 'p90', style: 3, value: unlessIdle((row) => row.p90) },
  { name: 'p99', style: 2, value: unlessIdle((row) => row.p99) },
  { name: 'max', style: 4, shows: 'greatest', value: unlessIdle((row) => row.max) },
];

/** A limit has the colour of its series; limits of anything else are grey. @type {Record<string, number>} */
const LIMIT_STYLES = { p50: 1, p90: 3, p99: 2, max: 4 };
const OTHER_STYLE = 6;

const MOST_LIMITS = 3;

/** Limits beyond this multiple of the measured range would flatten the lines; they are left out. */
const LIMIT_REACH = 3;

/**
 * @param {Pick<Result, 'timeline' | 'requirements' | 'windowSeconds' | 'stages'>} result
 * @param {import('./index.js').Setting} setting
 * @returns {import('./index.js').Drawn | null} null where no response came
 */
export function latencyOverTime({ timeline, requirements = [], windowSeconds, stages }, setting) {
  if (!timeline.some(({ max }) => max !== null)) return null;
  const rows = latencySpans(timeline);
  const present = SERIES.filter(({ value }) => rows.some((row) => typeof value(row) === 'number'));
  const series = joinEqual(present, rows);
  const values = series.flatMap(({ value }) => rows.map(value)).filter((ms) => typeof ms === 'number');
  const levels = limitsOf(requirements, extent(values));
  return timeChart({
    setting,
    summary: summarise(rows, windowSeconds),
    rows,
    series,
    levels,
    yAxis: latencyAxis('response time', [...values, ...levels.map(({ value }) => value)]),
    text: formatLatency,
    weight: ({ max }) => max ?? -1,
    heaviest: 'the one with the longest response',
    measuredSeconds: windowSeconds,
    marks: stages,
  });
}

/**
 * @param {(row: LatencySpan) => number | null | undefined} value
 * @returns {Series['value']} skipped where no response was due
 */
function unlessIdle(value) {
  return (row) => (row.idle ? undefined : value(row));
}

/**
 * Joins neighbouring series with the same values, as p99 and max of fewer than 100 responses: `p99 = max`.
 *
 * @param {Series[]} series
 * @param {LatencySpan[]} rows
 * @returns {Series[]}
 */
function joinEqual(series, rows) {
  /** @type {Series[]} */
  const joined = [];
  for (const one of series) {
    const before = joined.at(-1);
    if (before !== undefined && rows.every((row) => before.value(row) === one.value(row))) {
      joined[joined.length - 1] = { ...before, name: `${before.name} = ${one.name}`, shows: one.shows };
    } else joined.push(one);
  }
  return joined;
}

/**
 * Limits on the response time of the whole run: a line across applies to all of it.
 *
 * @param {Result['requirements']} requirements
 * @param {[number, number]} measured smallest and largest, milliseconds
 * @returns {import('./draw/lines.js').Level[]}
 */
function limitsOf(requirements, [low, high]) {
  return requirements
    .filter(({ unit, text }) => unit === 'ms' && !text.includes('('))
    .filter(({ operation, stage }) => operation === undefined && stage === undefined)
    .filter(({ limit }) => limit > 0 && limit <= high * LIMIT_REACH && limit >= low / LIMIT_REACH)
    .slice(0, MOST_LIMITS)
    .map(({ text, limit }) => {
      const [metric] = text.split(/[<>]/);
      const style = Object.hasOwn(LIMIT_STYLES, metric) ? LIMIT_STYLES[metric] : OTHER_STYLE;
      const label = text.replace(/[<>]=?/, ' $& ');
      return { name: `limit: ${text}`, label, style, mark: 'limit', value: limit };
    });
}

/**
 * @param {LatencySpan[]} rows with at least one response
 * @param {number | null | undefined} windowSeconds
 */
function summarise(rows, windowSeconds) {
  const last = rows[rows.length - 1];
  const seconds = last.second + last.span;
  const worst = rows.reduce((longest, row) => ((row.max ?? -1) > (longest.max ?? -1) ? row : longest));
  const silent = rows.filter(({ answers, idle }) => answers === 0 && !idle).length;
  const [p50, p99] = [rows.map((row) => row.p50), rows.map((row) => row.p99)];
  const [{ span }] = rows;
  const [each, noun] =
    span === 1 ? ['Each second', 'seconds'] : [`Over ${formatDuration(span * 1000)} each`, 'spans'];
  return sentences(
    `${each}, p50 was ${between(p50, formatLatency)} and p99 ${between(p99, formatLatency)}.`,
    `The longest response, ${formatLatency(Number(worst.max))}, ended ${clockOf(seconds).place(worst)}.`,
    silent > 0 &&
      `No response came in ${formatCount(silent)} of ${formatCount(rows.length)} ${noun}, the gaps in the lines.`,
    isDense(rows) && `${DENSE_NOTE} The line of max follows the largest.`,
    hasAfter(windowSeconds, seconds) && AFTER_NOTE,
  );
}
