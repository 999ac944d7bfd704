/**
 * Latencies as HdrHistograms: whole microseconds, three significant digits, resized as needed. The text form is
 * the V2 compressed base64 encoding that all HdrHistogram implementations share.
 */
import { inflateSync } from 'node:zlib';
// Not the package's index, which also loads its WebAssembly: 10 MB in each thread.
import Int32Histogram from 'hdr-histogram-js/dist/Int32Histogram.js';
import 'hdr-histogram-js/dist/JsHistogram.encoding.js';
import { maxOf, total } from './sums.js';

/** @import { Histogram } from 'hdr-histogram-js' */
/** @import { JsHistogram } from 'hdr-histogram-js/dist/JsHistogram.js' */

/** 24 h; longer latencies are recorded as this value. */
const MAX_US = 86_400_000_000;

/** Buckets and highest value of a histogram that has grown to MAX_US. */
export const MAX_BUCKETS = 28_672;
const HIGHEST_US = 137_438_953_471n;

/** Counts are 32-bit integers; shifts are of such, too. */
const MAX_INT32 = 2 ** 31 - 1;
/** Of the longest number in a text. */
const NUMBER_BYTES = 5;

/** Size of the header of an encoded histogram; its counts follow. */
const HEADER_BYTES = 40;

/**
 * A sum as its non-empty buckets. An array of all buckets takes up to 100 KB outside V8's heap, and a live view computes a
 * hundred sums every two seconds.
 * @typedef {{packed: PackedHistogram, totalCount: number, maxValue: number}} Sum `maxValue`: us
 * @typedef {Histogram | Sum} Distribution
 */

/** @returns {Histogram} for recording */
export function createHistogram() {
  const histogram = new Int32Histogram.default(1, 2, 3);
  histogram.autoResize = true;
  return histogram;
}

/**
 * The same buckets for few samples: a histogram's array takes up to 100 KB.
 * @typedef {Map<number, number>} SparseHistogram counts by index
 */

/** Its buckets have the same indices whatever its size. */
const scale = asJsHistogram(createHistogram());

/** @param {Histogram | SparseHistogram} histogram @param {number} ms not NaN; negative values (clock rounding) count as zero */
export function recordMs(histogram, ms) {
  const rounded = Math.round(ms * 1000);
  if (Number.isNaN(rounded)) throw new RangeError('a latency is not a number');
  const us = Math.min(Math.max(rounded, 0), MAX_US);
  const index = indexOf(us);
  if (histogram instanceof Map) return void histogram.set(index, (histogram.get(index) ?? 0) + 1);
  const counts = asJsHistogram(histogram);
  if (index >= counts.countsArrayLength) return histogram.recordValue(us);
  // As recordValue, which takes two powers of two and a logarithm.
  counts.incrementCountAtIndex(index);
  counts.updateMinAndMax(us);
  counts.incrementTotalCount();
}

/** us, of the buckets from 1,024 times the index on. */
const WIDTHS = Array.from({ length: 1 + MAX_BUCKETS / 1024 }, (_, i) => 2 ** Math.max(0, i - 1));

/** @param {number} us @returns {number} of its bucket: 2,048 of 1 us, then 1,024 for each doubling */
function indexOf(us) {
  if (us > MAX_INT32) return scale.countsArrayIndex(us);
  const doublings = Math.max(0, 21 - Math.clz32(us));
  return 1024 * doublings + (us >>> doublings);
}

/** Faster than the package's. @param {number} index of a bucket @returns {number} us: its lower end */
function startOf(index) {
  return index < 1024 ? index : (1024 + (index % 1024)) * WIDTHS[index >> 10];
}

/** By number of buckets, as the text depends on it. Reused: see Distribution. @type {Map<number, Histogram>} */
const encoders = new Map();

/** @param {Distribution} distribution @returns {string} the text of one histogram of all its samples */
export function encodeHistogram(distribution) {
  const size = scale.getBucketsNeededToCoverValue(distribution.maxValue);
  const encoder = encoders.get(size) ?? createHistogram();
  encoders.set(size, encoder);
  addBuckets(encoder, packHistogram(distribution));
  const text = /** @type {any} */ (encoder).encodeIntoCompressedBase64();
  encoder.reset();
  return text;
}

/** Much faster than decoding. @param {string} text untrusted @returns {number | null} its non-empty buckets; null: unreadable */
export function countBuckets(text) {
  try {
    return bucketsOf(text).length / 2;
  } catch {
    return null;
  }
}

/** In bounded time and memory. @param {string} text untrusted @throws {RangeError} if not written by this tool */
export function decodeHistogram(text) {
  const histogram = createHistogram();
  addBuckets(histogram, bucketsOf(text));
  return histogram;
}

/** @param {string} text untrusted @returns {PackedHistogram} @throws {RangeError} if not written by this tool */
function bucketsOf(text) {
  const bytes = Buffer.from(text, 'base64');
  // Buffer.from skips other characters; other readers of the text may not.
  if (bytes.toString('base64') !== text) throw new RangeError('a histogram is not base64');
  const length = bytes.length < 8 ? -1 : bytes.readInt32BE(4);
  if (length <= 0 || length > bytes.length - 8) throw new RangeError('a histogram is truncated');
  // Longer data is not from this tool, and could exhaust the memory. Most data fits into a small chunk.
  const limits = { maxOutputLength: HEADER_BYTES + NUMBER_BYTES * MAX_BUCKETS, chunkSize: 1024 };
  const data = inflateSync(bytes.subarray(8, 8 + length), limits);
  const packed = isOurHeader(data) ? readCounts(data.subarray(HEADER_BYTES)) : null;
  if (packed === null) throw new RangeError('a histogram was not written by this tool');
  return packed;
}

/** @param {Buffer} data inflated */
function isOurHeader(data) {
  if (data.length < HEADER_BYTES || data.readInt32BE(4) !== data.length - HEADER_BYTES) return false;
  const [digits, lowest, highest] = [data.readInt32BE(12), data.readBigInt64BE(16), data.readBigInt64BE(24)];
  return digits === 3 && lowest === 1n && highest >= 2n && highest <= HIGHEST_US;
}

/**
 * Each number in its shortest form, and one for all empty buckets in a row: a text that takes longer to read has more buckets.
 * @param {Buffer} data a number for each bucket or run of empty buckets @returns {PackedHistogram | null} null: malformed
 */
function readCounts(data) {
  const packed = [];
  for (let at = 0, bucket = 0, wasEmpty = false; at < data.length; ) {
    let number = 0;
    // LEB128, zigzag: 2n is a bucket with count n; 2n - 1 is a run of n empty buckets.
    for (let byte = 128, unit = 1, i = 0; byte >= 128; i++, unit *= 128) {
      if (at === data.length || i === NUMBER_BYTES) return null;
      byte = data[at++];
      if (byte === 0 && i > 0) return null;
      number += (byte % 128) * unit;
    }
    const isRun = number % 2 === 1;
    const isEmpty = isRun || number === 0;
    if ((isEmpty && wasEmpty) || (!isRun && number > 2 * MAX_INT32)) return null;
    if (!isEmpty) packed.push(bucket, number / 2);
    wasEmpty = isEmpty;
    bucket += isRun ? (number + 1) / 2 : 1;
    if (bucket > MAX_BUCKETS) return null;
  }
  return Uint32Array.from(packed);
}

/**
 * The non-empty buckets, in a form cheaper to post than text. 32 bits are enough: histograms use no more.
 * @typedef {Uint32Array} PackedHistogram index, count, index, count, ...
 */

/** @param {Distribution | SparseHistogram | PackedHistogram} histogram @returns {PackedHistogram} do not modify it */
export function packHistogram(histogram) {
  if (histogram instanceof Uint32Array) return histogram;
  if (!(histogram instanceof Map) && 'packed' in histogram) return histogram.packed;
  return packHistograms([histogram])[0];
}

/**
 * In one buffer, which may be transferred to another thread. Many small ones would leave gaps in memory.
 * @param {(Histogram | SparseHistogram | PackedHistogram)[]} histograms @returns {PackedHistogram[]}
 */
export function packHistograms(histograms) {
  const sizes = histograms.map(countFilled);
  const buffer = new ArrayBuffer(8 * total(sizes));
  let at = 0;
  return histograms.map((histogram, i) => {
    const packed = new Uint32Array(buffer, at, 2 * sizes[i]);
    at += packed.byteLength;
    fillPacked(packed, histogram);
    return packed;
  });
}

/** @param {Histogram | SparseHistogram | PackedHistogram} histogram @returns {number} of its buckets that are not empty */
function countFilled(histogram) {
  if (histogram instanceof Map) return histogram.size;
  if (histogram instanceof Uint32Array) return histogram.length / 2;
  let filled = 0;
  visitBuckets(histogram, () => void filled++);
  return filled;
}

/** @param {PackedHistogram} packed of its size @param {Histogram | SparseHistogram | PackedHistogram} histogram */
function fillPacked(packed, histogram) {
  if (histogram instanceof Uint32Array) return packed.set(histogram);
  let at = 0;
  const add = (/** @type {number} */ index, /** @type {number} */ count) => {
    packed[at++] = index;
    packed[at++] = count;
  };
  if (!(histogram instanceof Map)) return visitBuckets(histogram, add);
  for (const index of Uint32Array.from(histogram.keys()).sort()) add(index, histogram.get(index) ?? 0);
}

/** @param {Uint32Array} packed untrusted @returns {boolean} whether it is a PackedHistogram */
export function isPacked(packed) {
  let isRight = packed.length % 2 === 0;
  for (let i = 0; i < packed.length; i += 2) {
    const [isNext, count] = [i === 0 || packed[i] > packed[i - 2], packed[i + 1]];
    isRight &&= isNext && packed[i] < MAX_BUCKETS && count > 0 && count <= MAX_INT32;
  }
  return isRight;
}

/** Non-empty buckets only, in ascending order. @param {Distribution} histogram @param {(index: number, count: number) => unknown} visit true: ends */
function visitBuckets(histogram, visit) {
  if ('packed' in histogram) {
    const { packed } = histogram;
    for (let i = 0; i < packed.length; i += 2) if (visit(packed[i], packed[i + 1]) === true) return;
    return;
  }
  for (let i = 0, left = histogram.totalCount; left > 0; i++) {
    const count = asJsHistogram(histogram).getCountAtIndex(i);
    if (count === 0) continue;
    if (visit(i, count) === true) return;
    left -= count;
  }
}

/** @param {Histogram} sum @param {PackedHistogram} packed */
function addBuckets(sum, packed) {
  const counts = asJsHistogram(sum);
  // Largest value first: the histogram grows only once, and then has all buckets.
  for (let i = packed.length - 2; i >= 0; i -= 2) {
    const [index, count] = [packed[i], packed[i + 1]];
    if (index >= counts.countsArrayLength) {
      sum.recordValueWithCount(endOf(index), count);
      continue;
    }
    counts.addToCountAtIndex(index, count);
    counts.updateMinAndMax(endOf(index));
    counts.addToTotalCount(count);
  }
}

/** @param {number} index of a bucket @returns {number} us: its upper end */
const endOf = (index) => startOf(index + 1) - 1;

/** Of addPacked: all zero between its calls. @type {Float64Array | null} */
let sums = null;

/** @param {PackedHistogram[]} parts @returns {PackedHistogram} */
function addPacked(parts) {
  sums ??= new Float64Array(MAX_BUCKETS);
  let [filled, end] = [0, 0];
  for (const part of parts)
    for (let i = 0; i < part.length; i += 2) {
      if (sums[part[i]] === 0) filled++;
      sums[part[i]] += part[i + 1];
      end = Math.max(end, part[i] + 1);
    }
  const packed = new Uint32Array(2 * filled);
  for (let index = 0, at = 0; index < end; index++) {
    if (sums[index] === 0) continue;
    packed[at++] = index;
    packed[at++] = sums[index];
  }
  sums.fill(0, 0, end);
  return packed;
}

/**
 * The sum of several histograms, bucket by bucket.
 * @param {(Distribution | SparseHistogram | PackedHistogram | string)[]} parts @returns {Sum} `maxValue`: unless
 *   a part has it, the upper end of the last bucket
 */
export function sumHistograms(parts) {
  const all = parts.map((part) => (typeof part === 'string' ? bucketsOf(part) : packHistogram(part)));
  const packed = all.length === 1 ? all[0] : addPacked(all);
  let totalCount = 0;
  for (let i = 1; i < packed.length; i += 2) totalCount += packed[i];
  const maxima = parts.map((part, i) =>
    typeof part === 'object' && 'maxValue' in part ? part.maxValue : endOfLast(all[i]),
  );
  return { packed, totalCount, maxValue: maxOf(maxima, 0) };
}

/** @param {PackedHistogram} packed */
const endOfLast = (packed) => (packed.length === 0 ? 0 : endOf(packed[packed.length - 2]));

/** @param {Distribution} histogram @returns {Record<'p50' | 'p99' | 'max', number | null>} ms; null if empty */
export function figures(histogram) {
  if (histogram.totalCount === 0) return { p50: null, p99: null, max: null };
  const [p50, p99] = [0.5, 0.99].map((share) => valueAtShare(histogram, share));
  return { p50, p99, max: histogram.maxValue / 1000 };
}

/**
 * The rank of the observed q-quantile: ceil(q n), despite the rounding error of q n.
 * @param {number} n samples, at least 1 @param {number} q quantile, 0..1 @returns {number} 1..n
 */
export function quantileRank(n, q) {
  return Math.min(n, Math.max(1, Math.ceil(q * n * (1 - 1e-12))));
}

/**
 * @param {Distribution} histogram not empty @param {number} share 0 to 1
 * @returns {number} ms: the smallest latency that at least this share of the latencies does not exceed
 */
export function valueAtShare(histogram, share) {
  return valueAtRank(histogram, quantileRank(histogram.totalCount, share));
}

/** @param {Distribution} histogram @param {number} rank from 1 @returns {number} ms: the rank-th smallest latency */
export function valueAtRank(histogram, rank) {
  return Math.min(endOf(indexAtRank(histogram, rank)), histogram.maxValue) / 1000;
}

/** @param {Distribution} histogram @param {number} rank @returns {number} ms: the lower end of its bucket */
export function lowestAtRank(histogram, rank) {
  return startOf(indexAtRank(histogram, rank)) / 1000;
}

/** @param {Distribution} histogram @param {number} rank @returns {number} index of its bucket; of the last one for a higher rank */
function indexAtRank(histogram, rank) {
  let [index, left] = [0, rank];
  visitBuckets(histogram, (at, count) => {
    index = at;
    left -= count;
    return left <= 0;
  });
  return index;
}

/** @typedef {{ms: number, count: number}} Delay at most `count` of the times have a longer one than `ms` */

/**
 * The k-th smallest of n times without delay is at least the (k - m)-th with delay, minus `ms`, if at most m were delayed by
 * more than `ms`.
 * @param {Histogram | SparseHistogram} histogram of delayed times @param {(n: number) => Delay[]} delaysOf n times; none: unknown
 * @returns {PackedHistogram} the times without delay: at each rank the highest of these lower bounds
 */
export function withoutDelay(histogram, delaysOf) {
  const { packed, totalCount: n } = sumHistograms([histogram]);
  /** Each: the same times, shifted by ranks and by `byUs`; `us`: of the ranks before `end`. */
  const shifted = delaysOf(n).map(({ ms, count }) => ({ byUs: 1000 * ms, at: 0, end: count, us: 0 }));
  if (shifted.length === 0) return packed;
  /** As in `packed`: a bound is never below that of a lower rank. @type {number[]} */
  const bounds = [];
  for (let rank = 0; rank < n; ) {
    let [us, next] = [0, n];
    for (const shift of shifted) {
      for (; shift.end <= rank; shift.at += 2) {
        shift.us = startOf(packed[shift.at]) - shift.byUs;
        shift.end += packed[shift.at + 1];
      }
      next = Math.min(next, shift.end);
      us = Math.max(us, shift.us);
    }
    const index = indexOf(Math.floor(us));
    if (bounds.at(-2) === index) bounds[bounds.length - 1] += next - rank;
    else bounds.push(index, next - rank);
    rank = next;
  }
  return Uint32Array.from(bounds);
}

/** @param {Histogram} histogram */
function asJsHistogram(histogram) {
  return /** @type {JsHistogram} */ (histogram);
}

/** @param {Distribution} histogram not empty @returns {number} ms */
export const meanOf = (histogram) => averageOf(histogram, (us) => us) / 1000;

/** @param {Distribution} histogram not empty @param {(us: number) => number} of @returns {number} the mean of `of` each latency */
export function averageOf(histogram, of) {
  let sum = 0;
  visitBuckets(histogram, (index, count) => {
    sum += count * of(Math.floor((startOf(index) + startOf(index + 1)) / 2));
  });
  return sum / histogram.totalCount;
}
