/** Response times second by second: p50, p90 where it is there, p99 and the longest; limits that were required. */
import { formatCount, formatLatency } from '../../../units.js';
import { latencyAxis } from '../axes.js';
import { emptyFigure } from '../parts.js';
import { hasAfter, timeFigure } from '../time-figure.js';
import { AFTER_NOTE, between, extent, sentences } from '../words.js';

/** @typedef {import('../../../results/schema.js').Result} Result */
/** @typedef {import('../../../results/schema.js').TimelineRow} TimelineRow */
/** @typedef {import('../time-figure.js').Drawn} Drawn */

const ID = 'latency-over-time';
const TITLE = 'Response time over time';

/** @type {import('../time-figure.js').Series<TimelineRow>[]} */
const SERIES = [
  { name: 'p50', style: 1, value: (row) => row.p50 },
  { name: 'p90', style: 3, value: (row) => row.p90 },
  { name: 'p99', style: 2, value: (row) => row.p99 },
  { name: 'longest', style: 4, value: (row) => row.max },
];

const MOST_LIMITS = 3;

/** A limit so many times above or below all that was measured would only press the lines together. */
const LIMIT_REACH = 3;

/**
 * @param {Result} result
 * @returns {Drawn}
 */
export function latencyOverTime({ timeline, requirements, windowSeconds }) {
  if (!timeline.some(({ max }) => max !== null)) {
    const summary = 'No request was answered or given up in any second: there is nothing to draw.';
    return { html: emptyFigure({ id: ID, title: TITLE, summary }), charts: {} };
  }
  const series = SERIES.filter(({ value }) => timeline.some((row) => typeof value(row) === 'number'));
  const values = series.flatMap(({ value }) => timeline.map(value)).filter((ms) => typeof ms === 'number');
  const levels = limits(requirements, extent(values));
  return timeFigure({
    id: ID,
    title: TITLE,
    summary: summarise(timeline, windowSeconds),
    rows: timeline,
    series,
    levels,
    yAxis: latencyAxis('response time', [...values, ...levels.map(({ value }) => value)]),
    text: formatLatency,
    weight: ({ max }) => max ?? -1,
    heaviest: 'the one with the longest response',
    measuredSeconds: windowSeconds,
  });
}

/**
 * @param {Result['requirements']} requirements
 * @param {[number, number]} measured least and greatest, milliseconds
 * @returns {import('../time-figure.js').Level[]}
 */
function limits(requirements, [low, high]) {
  return requirements
    .filter(({ unit, text }) => unit === 'ms' && !text.includes('('))
    .filter(({ limit }) => limit > 0 && limit <= high * LIMIT_REACH && limit >= low / LIMIT_REACH)
    .slice(0, MOST_LIMITS)
    .map(({ text, limit }) => ({ name: `limit: ${text}`, style: 6, value: limit }));
}

/**
 * @param {TimelineRow[]} timeline with at least one answer
 * @param {number | null | undefined} windowSeconds
 */
function summarise(timeline, windowSeconds) {
  const worst = timeline.reduce((longest, row) => ((row.max ?? -1) > (longest.max ?? -1) ? row : longest));
  const silent = timeline.filter(({ succeeded, failed }) => succeeded + failed === 0).length;
  const [p50, p99] = [timeline.map((row) => row.p50), timeline.map((row) => row.p99)];
  return sentences(
    `Second by second, p50 was ${between(p50, formatLatency)} and p99 ${between(p99, formatLatency)}.`,
    `The longest response, ${formatLatency(Number(worst.max))}, ended in second ${formatCount(worst.second)}.`,
    silent > 0 &&
      `In ${formatCount(silent)} of ${formatCount(timeline.length)} seconds no answer came: the lines have gaps there.`,
    hasAfter(windowSeconds, timeline.length) && AFTER_NOTE,
  );
}
