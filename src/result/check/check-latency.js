/**
 * The bookkeeping of latencies: a histogram holds as many as it should and bears out the figures beside it, and the one
 * of the whole is the sum, bucket for bucket, of those of its outcomes.
 */
import {
  createHistogram,
  decodeHistogram,
  encodeHistogram,
  meanOf,
  recordMs,
  valueAtRank,
  valueAtShare,
} from '../../common/histogram.js';
/** @import { LatencyBlock, LatencyBlocks, OperationBlock, Result } from '../schema.js' */
/** @import { Histogram } from 'hdr-histogram-js' */

export const SERIES = /** @type {const} */ (['response', 'service', 'sendLag']);

const SHARES = /** @type {const} */ ([
  ['p50', 0.5],
  ['p90', 0.9],
  ['p95', 0.95],
  ['p99', 0.99],
  ['p999', 0.999],
]);

/** Three significant digits, and whole microseconds: a bucket is no wider. */
const BUCKET_SHARE = 0.001;
const BUCKET_MS = 0.001;

/** No histogram holds more. */
const LONGEST_MS = 86_400_000;

/**
 * @param {LatencyBlocks} latencies
 * @param {Record<string, number>} expected
 * @param {string} where
 * @returns {string[]} one sentence per broken identity
 */
export function checkLatencies(latencies, expected, where) {
  return SERIES.flatMap((series) => {
    const { count } = latencies[series];
    return [
      ...(count === expected[series]
        ? []
        : [`${where}.${series}.count is ${count}, not ${expected[series]}`]),
      ...checkLatency(latencies[series]).map((problem) => `${where}.${series}${problem}`),
    ];
  });
}

/** @param {LatencyBlock} block */
function checkLatency(block) {
  const { count, min, mean, p50, p90, p95, p99, p999, max, histogram } = block;
  const values = [min, p50, p90, p95, p99, p999, max, mean];
  if (!values.every((value) => (value === null) === (count === 0))) {
    return [` has ${count} values but ${count === 0 ? 'numbers' : 'nulls'} among its figures`];
  }
  const ordered = values.slice(0, 7).every((value, i) => i === 0 || Number(values[i - 1]) <= Number(value));
  if (!ordered) return [': min, percentiles and max are not in ascending order'];
  const decoded = readHistogram(histogram);
  const recorded = histogram === null ? 0 : decoded?.totalCount;
  if (recorded !== count) return [`.histogram holds ${recorded ?? 'something unreadable'}, not ${count}`];
  return [...(decoded === null ? [] : checkFigures(block, decoded)), ...checkBars(block)];
}

/**
 * A figure lies in its bar, and no more of it is the tool's than there is.
 *
 * @param {LatencyBlock} block
 */
function checkBars({ bars, ...figures }) {
  const isAbove = (/** @type {number} */ a, /** @type {number} */ b) => a > b && !isSameBucket(a, b);
  return Object.entries(bars ?? {})
    .filter(([key, { low, high, tool }]) => {
      const value = Number(figures[/** @type {keyof typeof bars & keyof typeof figures} */ (key)]);
      return isAbove(low, value) || isAbove(tool, value) || (high !== null && isAbove(value, high));
    })
    .map(([key]) => `.bars.${key} does not hold ${key}`);
}

/** @param {LatencyBlock} block not empty @param {Histogram} histogram */
function checkFigures(block, histogram) {
  /** @type {[keyof LatencyBlock, number][]} */
  const borneOut = [
    ['min', valueAtRank(histogram, 1)],
    ['mean', meanOf(histogram)],
    ...SHARES.map(
      ([name, share]) => /** @type {[keyof LatencyBlock, number]} */ ([name, valueAtShare(histogram, share)]),
    ),
    ['max', histogram.maxValue / 1000],
  ];
  return borneOut
    .filter(([name, value]) => !isSameBucket(Number(block[name]), value))
    .map(([name, value]) => `.${name} is ${block[name]}, but its histogram says ${value}`);
}

/** @param {number} a ms @param {number} b ms */
export function isSameBucket(a, b) {
  return Math.abs(a - b) <= 2 * (BUCKET_SHARE * Math.max(a, b) + BUCKET_MS);
}

/**
 * @param {LatencyBlocks} whole
 * @param {LatencyBlocks[]} parts
 * @param {string} [where] the parts are
 * @returns {string[]}
 */
export function checkSums(whole, parts, where = 'outcomeDetails') {
  return SERIES.flatMap((series) => {
    const sum = sumOf(parts.map((part) => part[series]));
    const all = sumOf([whole[series]]);
    if (sum === null || all === null || sum === all) return [];
    return [`latencyMs.${series}.histogram is not the sum of those in ${where}`];
  });
}

/**
 * @param {LatencyBlock[]} blocks
 * @returns {string | null} of their histograms, re-encoded; null where one cannot be read
 */
function sumOf(blocks) {
  const sum = createHistogram();
  recordMs(sum, LONGEST_MS); // full size from the start: the encoding depends on how a histogram grew
  for (const { histogram } of blocks) {
    const part = readHistogram(histogram);
    if (part !== null) sum.add(part);
    else if (histogram !== null) return null;
  }
  return encodeHistogram(sum);
}

/** @param {string | null} text @returns {Histogram | null} null when it cannot be read */
export function readHistogram(text) {
  try {
    return text === null ? null : decodeHistogram(text);
  } catch {
    return null;
  }
}

/**
 * @param {string} left
 * @param {number | null | undefined} a
 * @param {string} right
 * @param {number | null | undefined} b
 * @returns {string[]}
 */
export function same(left, a, right, b) {
  return unless(a === b, `${left} is ${a ?? 'missing'}, but ${right} is ${b ?? 'missing'}`);
}

/** @param {boolean} holds @param {string} problem @returns {string[]} */
export function unless(holds, problem) {
  return holds ? [] : [problem];
}

/** @typedef {[place: string, text: string | null | undefined]} Placed */

/**
 * @param {Result} result
 * @returns {string | null} where the first of them is, e.g. `latencyMs.response.histogram`; null: all can be read
 */
export function findUnreadable(result) {
  const found = [...placesOf(result)].find(
    ([, text]) => typeof text === 'string' && readHistogram(text) === null,
  );
  return found === undefined ? null : found[0];
}

/** @param {Result} result @returns {Generator<Placed>} */
function* placesOf(result) {
  yield* placesOfBlock(result, '');
  for (const [name, block] of Object.entries(result.operations))
    yield* placesOfBlock(block, `operations.${name}.`);
  for (const { second, histogram } of result.timeline) yield [`timeline.${second}.histogram`, histogram];
  if (result.merge === undefined) return;
  const { watch, lags, operations } = result.merge;
  for (const key of /** @type {const} */ (['lag', 'readLate'])) yield [`merge.watch.${key}`, watch[key]];
  for (const [name, { own = {} }] of Object.entries(operations)) {
    for (const [outcome, { response, service }] of Object.entries(own)) {
      yield [`merge.operations.${name}.own.${outcome}.response`, response];
      yield [`merge.operations.${name}.own.${outcome}.service`, service];
    }
  }
  for (const [second, lag] of lags.entries()) yield [`merge.lags.${second}.histogram`, lag?.histogram];
}

/** @param {OperationBlock} block @param {string} where @returns {Generator<Placed>} */
function* placesOfBlock({ latencyMs, outcomeDetails }, where) {
  yield* placesOfSeries(latencyMs, `${where}latencyMs`);
  for (const [name, detail] of Object.entries(outcomeDetails)) {
    yield* placesOfSeries(detail.latencyMs, `${where}outcomeDetails.${name}.latencyMs`);
  }
}

/** @param {LatencyBlocks} latencies @param {string} where @returns {Generator<Placed>} */
function* placesOfSeries(latencies, where) {
  for (const series of SERIES) yield [`${where}.${series}.histogram`, latencies[series].histogram];
}
