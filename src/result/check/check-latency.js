/**
 * The bookkeeping of latencies: a histogram holds as many as it should and bears out the figures beside it, and the one
 * of the whole is the sum, bucket for bucket, of those of its outcomes. Checks yield one sentence per broken identity.
 */
import { isDeepStrictEqual } from 'node:util';
import { createHistogram, decodeHistogram, packHistogram, sumHistograms } from '../../common/histogram.js';
import { FIGURES, SERIES } from '../latency.js';

/** @import { Figure } from '../latency.js' */
/** @import { LatencyBlock, LatencyBlocks, Result } from '../schema.js' */
/** @import { PackedHistogram } from '../../common/histogram.js' */
/** @import { Histogram } from 'hdr-histogram-js' */

/** Three significant digits, and whole microseconds: a bucket is no wider. */
const [BUCKET_SHARE, BUCKET_MS] = [0.001, 0.001];

/** @param {number} a ms @param {number} b ms */
export function isSameBucket(a, b) {
  return Math.abs(a - b) <= 2 * (BUCKET_SHARE * Math.max(a, b) + BUCKET_MS);
}

/** @param {string} text @returns {Histogram | null} null: it cannot be read */
function readHistogram(text) {
  try {
    return decodeHistogram(text);
  } catch {
    return null;
  }
}

/**
 * @param {string} name its place: the figures beside `a.b.histogram` are `a.b.p50`, ...
 * @param {string | null | undefined} text
 * @param {number} count that it must hold
 * @param {Partial<Record<Figure, number | null>>} [figures] that it must bear out; undefined: an older version had none
 * @returns {Generator<string, void>}
 */
export function* checkHistogram(name, text, count, figures = {}) {
  const histogram = typeof text === 'string' ? readHistogram(text) : createHistogram();
  if (histogram === null) return yield `${name} cannot be read`;
  if (histogram.totalCount !== count) return yield `${name} holds ${histogram.totalCount}, not ${count}`;
  for (const [key, figure] of Object.entries(count === 0 ? {} : FIGURES)) {
    const given = figures[/** @type {Figure} */ (key)];
    if (given === undefined) continue;
    const found = figure(histogram);
    if (!isSameBucket(Number(given), found))
      yield `${name.replace(/histogram$/, key)} is ${given}, but its histogram has ${found}`;
  }
}

/** @param {LatencyBlocks} latencies @param {Record<string, number>} counts by series @param {string} name */
export function* checkLatencies(latencies, counts, name) {
  for (const series of SERIES) yield* checkLatency(latencies[series], counts[series], `${name}.${series}`);
}

/** @param {LatencyBlock} block @param {number} expected count @param {string} name @returns {Generator<string, void>} */
export function* checkLatency({ count, histogram, bars, ...figures }, expected, name) {
  if (count !== expected) yield `${name}.count is ${count}, not ${expected}`;
  const { min, mean, p50, p90, p95, p99, p999, max } = figures;
  const ascending = [min, p50, p90, p95, p99, p999, max];
  if (![...ascending, mean].every((value) => (value === null) === (count === 0)))
    return yield `${name} has ${count} values, but ${count === 0 ? 'numbers' : 'nulls'} among its figures`;
  if (ascending.some((value, i) => i > 0 && Number(ascending[i - 1]) > Number(value)))
    return yield `${name}: min, percentiles and max are not in ascending order`;
  yield* checkHistogram(`${name}.histogram`, histogram, count, figures);
  const isAbove = (/** @type {number} */ a, /** @type {number} */ b) => a > b && !isSameBucket(a, b);
  for (const [key, { low, high, tool }] of Object.entries(bars ?? {})) {
    const value = Number(figures[/** @type {Figure} */ (key)]);
    if (isAbove(low, value) || isAbove(tool, value) || (high !== null && isAbove(value, high)))
      yield `${name}.bars.${key} does not hold ${key}`;
  }
}

/** @param {LatencyBlocks} whole @param {LatencyBlocks[]} parts @param {string} [where] the parts are */
export function* checkSums(whole, parts, where = 'outcomeDetails') {
  for (const series of SERIES) {
    const [one, ...others] = [whole, ...parts].map(({ [series]: { histogram } }) =>
      histogram === null ? [] : [readHistogram(histogram)],
    );
    const [sum, all] = [others.flat(), one].map((histograms) => histograms.filter((one) => one !== null));
    // One that cannot be read is reported by itself.
    if (sum.length < others.flat().length || all.length < one.length) continue;
    if (!isDeepStrictEqual(...bucketsOf(sum, all)))
      yield `latencyMs.${series}.histogram is not the sum of those in ${where}`;
  }
}

/** @param {Histogram[]} a @param {Histogram[]} b @returns {[PackedHistogram, PackedHistogram]} */
function bucketsOf(a, b) {
  return [packHistogram(sumHistograms(a)), packHistogram(sumHistograms(b))];
}

/**
 * Wherever a document has a histogram.
 * @param {Result} result
 * @returns {string | undefined} where the first is that cannot be read, e.g. `latencyMs.response.histogram`
 */
export function findUnreadable({ plan, ...result }) {
  for (const [place, text] of histogramsIn(result, '')) if (readHistogram(text) === null) return place;
}

/** @param {unknown} value @param {string} place @param {boolean} [isOwn] all texts are histograms @returns {Generator<[string, string]>} */
function* histogramsIn(value, place, isOwn = false) {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const at = place === '' ? key : `${place}.${key}`;
    if (typeof inner !== 'string') yield* histogramsIn(inner, at, isOwn || key === 'own');
    else if (isOwn || ['histogram', 'lag', 'readLate'].includes(key)) yield [at, inner];
  }
}

/**
 * @param {string} left
 * @param {number | null | undefined} a
 * @param {string} right
 * @param {number | null | undefined} b
 */
export function* same(left, a, right, b) {
  if (a !== b) yield `${left} is ${a ?? 'missing'}, but ${right} is ${b ?? 'missing'}`;
}
