/** The charts that have a form in text: the distribution of response times, and the levels of a search. */
import { decodeHistogram } from '../common/histogram.js';
import { formatLatency } from '../common/units.js';
import { clean, padStart, WIDTH, wrap } from './layout.js';
import { textHistogram } from './text-histogram.js';

/** @typedef {import('./sections.js').Chart} Chart */
/** @typedef {import('../result/schema.js').LatencyBlock} LatencyBlock */
/** @typedef {{axis: string, series: {name: string, latency: Pick<LatencyBlock, 'histogram'>}[]}} Percentiles */
/** @typedef {{heading: string, unit: string, levels: {name: string, verdict: string}[], series: {name: string, values: (number | null)[]}[]}} Levels */

/** A bar is full up to the first series, and lighter on to the second. Both are in code page 437. */
const FULL = '█';
const LIGHT = '░';

/** Bars narrower than this show nothing. */
const LEAST_ROOM = 12;

/**
 * @param {Chart} part
 * @returns {string[]} none where it has no form in text
 */
export function textChart({ chart, data }) {
  if (chart === 'percentiles') return distribution(/** @type {Percentiles} */ (data));
  if (chart === 'levels') return levels(/** @type {Levels} */ (data));
  return [];
}

/** @param {Percentiles} data */
function distribution({ axis, series: [first] }) {
  if (axis !== 'latency' || first?.latency.histogram === null || first?.latency.histogram === undefined)
    return [];
  return textHistogram(decodeHistogram(first.latency.histogram));
}

/** On a scale by factors, which spans milliseconds and seconds. @param {Levels} data */
function levels({ heading, unit, levels: rows, series }) {
  const [first, second] = series;
  if (rows.length < 2 || unit !== 'ms' || second === undefined) return [];
  const times = series.flatMap(({ values }) => values.filter((ms) => ms !== null && ms > 0)).map(Number);
  const names = [heading, ...rows.map(({ name }) => name)].map(clean);
  const label = Math.max(...names.map(({ length }) => length));
  const room = WIDTH - label - 2;
  if (times.length === 0 || room < LEAST_ROOM) return [];
  const [low, high] = [Math.min(...times) / 1.5, Math.max(...times)];
  const columns = (/** @type {number | null} */ ms) =>
    ms === null || ms <= low
      ? 0
      : Math.max(1, Math.round((Math.log(ms / low) / Math.log(high / low)) * room));
  const bars = rows.map((_, i) => {
    const [full, end] = [columns(first.values[i]), columns(second.values[i])];
    return FULL.repeat(full) + LIGHT.repeat(Math.max(0, end - full));
  });
  const key = `${FULL} up to ${first.name}, ${LIGHT} on to ${second.name}; log scale from ${formatLatency(low)} to ${formatLatency(high)}`;
  return [
    ...names.map((name, i) => `${padStart(name, label)}  ${i === 0 ? '' : bars[i - 1]}`.trimEnd()),
    ...wrap(key),
  ];
}
