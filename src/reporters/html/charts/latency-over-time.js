/** Response times over time: p50, p90 where it is there, p99 and the longest; limits that were required. */
import { latencySpans } from '../../../results/latency-spans.js';
import { formatCount, formatDuration, formatLatency } from '../../../units.js';
import { latencyAxis } from '../axes.js';
import { clockOf } from '../clock.js';
import { emptyFigure } from '../parts.js';
import { hasAfter, isDense, timeFigure } from '../time-figure.js';
import { AFTER_NOTE, between, DENSE_NOTE, extent, sentences } from '../words.js';

/** @typedef {import('../../../results/schema.js').Result} Result */
/** @typedef {import('../../../results/latency-spans.js').LatencySpan} LatencySpan */
/** @typedef {import('../time-figure.js').Series<LatencySpan>} Series */
/** @typedef {import('../time-figure.js').Drawn} Drawn */

const ID = 'latency-over-time';
const TITLE = 'Response time over time';

/** @type {Series[]} */
const SERIES = [
  { name: 'p50', style: 1, value: orIdle((row) => row.p50) },
  { name: 'p90', style: 3, value: orIdle((row) => row.p90) },
  { name: 'p99', style: 2, value: orIdle((row) => row.p99) },
  { name: 'longest', style: 4, shows: 'greatest', value: orIdle((row) => row.max) },
];

/** Colours of limits on what is drawn; those on anything else are grey. @type {Record<string, number>} */
const STYLES_OF_LIMITS = { p50: 1, p90: 3, p99: 2, max: 4 };
const STYLE_OF_OTHERS = 6;

const MOST_LIMITS = 3;

/** A limit so many times above or below all that was measured would only press the lines together. */
const LIMIT_REACH = 3;

/**
 * @param {Result} result
 * @returns {Drawn}
 */
export function latencyOverTime({ timeline, requirements, windowSeconds, stages }) {
  if (!timeline.some(({ max }) => max !== null)) {
    const summary = 'No request was answered or given up in any second: there is nothing to draw.';
    return { html: emptyFigure({ id: ID, title: TITLE, summary }), charts: {} };
  }
  const rows = latencySpans(timeline);
  const [{ span }] = rows;
  const there = SERIES.filter(({ value }) => rows.some((row) => typeof value(row) === 'number'));
  const series = joinSame(there, rows);
  const values = series.flatMap(({ value }) => rows.map(value)).filter((ms) => typeof ms === 'number');
  const levels = limits(requirements, extent(values));
  return timeFigure({
    id: ID,
    title: span === 1 ? TITLE : `Response time, over ${formatDuration(span * 1000)} each`,
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
 * @returns {Series['value']} nothing to be seen where no answer was to come
 */
function orIdle(value) {
  return (row) => (row.idle ? undefined : value(row));
}

/**
 * Of fewer than 100 answers p99 is the longest: lines that are the same all along become one, named for all of them.
 *
 * @param {Series[]} series
 * @param {LatencySpan[]} rows
 * @returns {Series[]}
 */
function joinSame(series, rows) {
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
 * @param {Result['requirements']} requirements
 * @param {[number, number]} measured least and greatest, milliseconds
 * @returns {import('../time-figure.js').Level[]}
 */
function limits(requirements, [low, high]) {
  return (
    requirements
      .filter(({ unit, text }) => unit === 'ms' && !text.includes('('))
      // A line across would be one for everything, all the time.
      .filter(({ operation, stage }) => operation === undefined && stage === undefined)
      .filter(({ limit }) => limit > 0 && limit <= high * LIMIT_REACH && limit >= low / LIMIT_REACH)
      .slice(0, MOST_LIMITS)
      .map(({ text, limit }) => {
        const [metric] = text.split(/[<>]/);
        const style = Object.hasOwn(STYLES_OF_LIMITS, metric) ? STYLES_OF_LIMITS[metric] : STYLE_OF_OTHERS;
        const label = text.replace(/[<>]=?/, ' $& ');
        return { name: `limit: ${text}`, label, style, mark: 'limit', value: limit };
      })
  );
}

/**
 * @param {LatencySpan[]} rows with at least one answer
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
    span === 1 ? ['Second by second', 'seconds'] : [`Over ${formatDuration(span * 1000)} each`, 'spans'];
  return sentences(
    `${each}, p50 was ${between(p50, formatLatency)} and p99 ${between(p99, formatLatency)}.`,
    `The longest response, ${formatLatency(Number(worst.max))}, ended ${clockOf(seconds).place(worst)}.`,
    silent > 0 &&
      `In ${formatCount(silent)} of ${formatCount(rows.length)} ${noun} no answer came: the lines have gaps there.`,
    isDense(rows) && `${DENSE_NOTE} That of the longest goes through the greatest.`,
    hasAfter(windowSeconds, seconds) && AFTER_NOTE,
  );
}
