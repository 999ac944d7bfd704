/** Response times in bins of several seconds, for runs with few responses per second. */
import { sumHistograms } from '../common/histogram.js';
import { figuresOf } from './latency.js';

/** @import { TimelineRow } from './schema.js' */

/** @typedef {{second: number, span: number, rows: TimelineRow[]}} Bin `span` seconds from `second` on */
/** @typedef {Pick<TimelineRow, 'second' | 'p50' | 'p90' | 'p99' | 'max'> & {span: number, responses: number, idle: boolean}} LatencyBin
 * `span` seconds from `second`; `idle`: no response, and no request due or waiting */

/** Minimum of mean responses per bin; maximum and minimum of bins in a chart. */
const [MIN_RESPONSES, MAX_BINS, MIN_BINS] = [15, 240, 6];

/** Seconds. From ten seconds on, bins contain whole histograms of long runs, which several seconds share. */
const LENGTHS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400];

/** Of the last timeline: during a run, files are rewritten with the same seconds and a few more. @type {{texts: string[], figures: ReturnType<typeof figuresOf>}[]} */
let known = [];

/** @param {TimelineRow[]} timeline @returns {LatencyBin[]} bins of one second if these have enough responses, or if the timeline has no histograms */
export function latencyBins(timeline) {
  const isIdle = idleSeconds(timeline);
  const length = hasHistograms(timeline) ? binLength(timeline) : 1;
  const before = known;
  known = [];
  return toBins(timeline, length).map(({ rows, ...bin }, i) => {
    const idle = isIdle.slice(bin.second, bin.second + bin.span).every((one) => one);
    const counted = { ...bin, responses: countResponses(rows), idle };
    if (length === 1) return { ...rows[0], ...counted };
    const texts = rows.flatMap(({ histogram }) => histogram ?? []);
    const isKnown =
      before[i]?.texts.length === texts.length && texts.every((text, j) => text === before[i].texts[j]);
    known[i] = isKnown ? before[i] : { texts, figures: figuresOf(sumHistograms(texts)) };
    const { p50, p90, p99, max } = known[i].figures;
    return { ...counted, p50, p90, p99, max };
  });
}

/** @param {TimelineRow[]} timeline @param {number} [length] seconds; the last bin may be shorter @returns {Bin[]} */
export function toBins(timeline, length = binLength(timeline)) {
  return Array.from({ length: Math.ceil(timeline.length / length) }, (_, i) => {
    const rows = timeline.slice(i * length, (i + 1) * length);
    return { second: i * length, span: rows.length, rows };
  });
}

/** @param {TimelineRow[]} timeline @returns {number} seconds in each bin of a chart over time */
function binLength(timeline) {
  const count = countResponses(timeline);
  const wanted = count === 0 ? 1 : (MIN_RESPONSES * timeline.length) / count;
  const longest = Math.floor(timeline.length / MIN_BINS);
  const fitting = LENGTHS.filter((length) => length <= longest && isWhole(timeline, length));
  const minLength = Math.max(wanted, timeline.length / MAX_BINS);
  return fitting.find((length) => length >= minLength) ?? fitting.at(-1) ?? 1;
}

/** By second: no response, and no request due or waiting; never in a closed loop. @param {TimelineRow[]} timeline */
function idleSeconds(timeline) {
  let waiting = 0;
  return timeline.map((row) => {
    const responses = countResponses([row]);
    waiting += (row.due ?? Number.POSITIVE_INFINITY) - responses;
    return responses === 0 && row.due === 0 && waiting <= 0;
  });
}

/** Tests that no histogram crosses a bin boundary. @param {TimelineRow[]} timeline @param {number} length */
function isWhole(timeline, length) {
  return timeline.every(
    ({ second, histogramSeconds = 1 }) =>
      Math.floor((second - histogramSeconds + 1) / length) === Math.floor(second / length),
  );
}

/** @param {TimelineRow[]} timeline @returns {boolean} histograms cover each second with responses */
function hasHistograms(timeline) {
  const covered = timeline.flatMap(({ second, histogram, histogramSeconds = 1 }) =>
    typeof histogram === 'string' ? Array.from({ length: histogramSeconds }, (_, i) => second - i) : [],
  );
  const coveredSeconds = new Set(covered);
  return timeline.every((row) => countResponses([row]) === 0 || coveredSeconds.has(row.second));
}

/** @param {TimelineRow[]} rows */
const countResponses = (rows) => rows.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0);
