/**
 * Response times over spans of several seconds, for runs in which a second has too few responses to have percentiles: the
 * histograms of its seconds, added up.
 */
import { sumHistograms, valueAtShare } from '../common/histogram.js';

/** @import { TimelineRow } from './schema.js' */

/**
 * @typedef {object} LatencySpan milliseconds; null: no response came
 * @property {number} second the first of it
 * @property {number} span seconds
 * @property {number} answers
 * @property {number | null} p50
 * @property {number | null} [p90]
 * @property {number | null} p99
 * @property {number | null} max
 * @property {boolean} idle no response came, and none was to come: nothing was due in it or still waiting
 */

/** Mean responses in a span, and the most spans that a chart shows apart; but no fewer spans than the last of these. */
const [FEWEST_ANSWERS, MOST_SPANS, FEWEST_SPANS] = [15, 120, 6];

/** Seconds. From ten on they hold whole histograms of long runs, which several seconds share. */
const LENGTHS = Object.freeze([
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400,
]);

/**
 * @param {TimelineRow[]} timeline
 * @returns {LatencySpan[]} seconds, where they have responses enough or no histogram to add up
 */
export function latencySpans(timeline) {
  const isIdle = idleSeconds(timeline);
  const length = latencySpanLength(timeline);
  if (length > 1) return addUp(timeline, length, isIdle);
  return timeline.map((row, i) => ({ ...row, span: 1, answers: answersOf(row), idle: isIdle[i] }));
}

/** @param {TimelineRow[]} timeline @returns {number} seconds that a span has */
export function latencySpanLength(timeline) {
  const answers = timeline.reduce((sum, row) => sum + answersOf(row), 0);
  const wanted = answers === 0 ? 1 : (FEWEST_ANSWERS * timeline.length) / answers;
  if (wanted <= 1 || !hasHistograms(timeline)) return 1;
  const longest = Math.floor(timeline.length / FEWEST_SPANS);
  const fitting = LENGTHS.filter((length) => length <= longest && isWhole(timeline, length));
  const least = Math.max(wanted, timeline.length / MOST_SPANS);
  return fitting.find((one) => one >= least) ?? fitting.at(-1) ?? 1;
}

/**
 * @param {TimelineRow[]} timeline
 * @param {number} length
 * @param {boolean[]} isIdle
 * @returns {LatencySpan[]}
 */
function addUp(timeline, length, isIdle) {
  return Array.from({ length: Math.ceil(timeline.length / length) }, (_, i) => {
    const rows = timeline.slice(i * length, (i + 1) * length);
    const histograms = rows.flatMap(({ histogram }) => histogram ?? []);
    const common = {
      second: i * length,
      span: rows.length,
      answers: rows.reduce((sum, row) => sum + answersOf(row), 0),
      idle: isIdle.slice(i * length, (i + 1) * length).every((idle) => idle),
    };
    if (histograms.length === 0) return { ...common, p50: null, p90: null, p99: null, max: null };
    const sum = sumHistograms(histograms);
    const at = (/** @type {number} */ share) => valueAtShare(sum, share);
    return { ...common, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: sum.maxValue / 1000 };
  });
}

/**
 * @param {TimelineRow[]} timeline
 * @returns {boolean[]} by second: nothing was answered, due or waiting; a closed loop is never idle
 */
function idleSeconds(timeline) {
  let waiting = 0;
  return timeline.map((row) => {
    waiting += (row.due ?? Number.POSITIVE_INFINITY) - answersOf(row);
    return answersOf(row) === 0 && row.due === 0 && waiting <= 0;
  });
}

/**
 * @param {TimelineRow[]} timeline
 * @param {number} length
 * @returns {boolean} no histogram reaches from one span into the next
 */
function isWhole(timeline, length) {
  return timeline.every(
    ({ second, histogramSeconds = 1 }) =>
      Math.floor((second - histogramSeconds + 1) / length) === Math.floor(second / length),
  );
}

/** @param {TimelineRow[]} timeline */
function hasHistograms(timeline) {
  const within = (/** @type {TimelineRow} */ { histogram, histogramSeconds = 1 }) =>
    typeof histogram === 'string' ? histogramSeconds : 0;
  return timeline.every((row, i) => {
    if (answersOf(row) === 0) return true;
    // In a long run the histogram of a second stands in a later one, of the same minute.
    return timeline.slice(i, i + 60).some((later, after) => within(later) > after);
  });
}

/** @param {TimelineRow} row */
function answersOf({ succeeded, failed }) {
  return succeeded + failed;
}
