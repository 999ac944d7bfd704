/**
 * Latencies as HdrHistograms: whole microseconds, three significant digits, resized as needed. The text form is
 * the V2 compressed base64 encoding that all HdrHistogram implementations share.
 */
import { inflateSync } from 'node:zlib';
// Not the package's index, which also loads its WebAssembly: 10 MB in each thread.
import Int32Histogram from 'hdr-histogram-js/dist/Int32Histogram.js';
import 'hdr-histogram-js/dist/JsHistogram.encoding.js';

/** @import { Histogram } from 'hdr-histogram-js' */
/** @import { JsHistogram } from 'hdr-histogram-js/dist/JsHistogram.js' */

/** 24 h; longer latencies are recorded as this value. */
const MAX_US = 86_400_000_000;

/** Buckets and highest value of a histogram that has grown to MAX_US. */
const [MAX_BUCKETS, HIGHEST_US] = [28_672, 137_438_953_471n];

/** Counts are 32-bit integers. */
const MAX_COUNT = 2 ** 31 - 1;

/** Size of the header of an encoded histogram; its counts follow. */
const HEADER_BYTES = 40;

/** @returns {Histogram} */
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
  if (!(histogram instanceof Map)) return histogram.recordValue(us);
  const index = scale.countsArrayIndex(us);
  histogram.set(index, (histogram.get(index) ?? 0) + 1);
}

/** @param {Histogram} histogram @returns {string} */
export function encodeHistogram(histogram) {
  return /** @type {any} */ (histogram).encodeIntoCompressedBase64();
}

/** Much faster than decoding. @param {string} text untrusted @returns {number} its non-empty buckets; 0: unreadable */
export function countBuckets(text) {
  try {
    return bucketsOf(text).length / 2;
  } catch {
    return 0;
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
  const length = bytes.length < 8 ? -1 : bytes.readInt32BE(4);
  if (length <= 0 || length > bytes.length - 8) throw new RangeError('a histogram is truncated');
  // Longer data is not from this tool, and could exhaust the memory. Most data fits into a small chunk.
  const limits = { maxOutputLength: HEADER_BYTES + 9 * MAX_BUCKETS, chunkSize: 1024 };
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

/** @param {Buffer} data a number for each bucket or run of empty buckets @returns {PackedHistogram | null} null: malformed */
function readCounts(data) {
  const packed = [];
  for (let at = 0, bucket = 0; at < data.length; ) {
    let number = 0;
    // LEB128, zigzag: 2n is a bucket with count n; 2n - 1 is a run of n empty buckets.
    for (let byte = 128, unit = 1, i = 0; byte >= 128 && i < 9; i++, unit *= 128) {
      if (at === data.length) return null;
      byte = data[at++];
      number += (byte % 128) * unit;
    }
    const isRun = number % 2 === 1;
    if (!isRun && number > 2 * MAX_COUNT) return null;
    if (!isRun && number > 0) packed.push(bucket, number / 2);
    bucket += isRun ? (number + 1) / 2 : 1;
    if (bucket > MAX_BUCKETS) return null;
  }
  return Uint32Array.from(packed);
}

/**
 * The non-empty buckets, in a form cheaper to post than text. 32 bits are enough: histograms use no more.
 * @typedef {Uint32Array} PackedHistogram index, count, index, count, ...
 */

/** @param {Histogram | SparseHistogram} histogram @returns {PackedHistogram} */
export function packHistogram(histogram) {
  if (histogram instanceof Map) return Uint32Array.from([...histogram].sort(([a], [b]) => a - b).flat());
  /** @type {number[]} */
  const packed = [];
  visitBuckets(histogram, (index, count) => packed.push(index, count));
  return Uint32Array.from(packed);
}

/** Non-empty buckets only. @param {Histogram} histogram @param {(index: number, count: number) => void} visit */
function visitBuckets(histogram, visit) {
  for (let i = 0, left = histogram.totalCount; left > 0; i++) {
    const count = asJsHistogram(histogram).getCountAtIndex(i);
    if (count === 0) continue;
    visit(i, count);
    left -= count;
  }
}

/** Exact values are unknown: the largest becomes the upper end of its bucket. @param {Histogram} sum @param {PackedHistogram} packed */
function addBuckets(sum, packed) {
  const source = asJsHistogram(sum);
  // Largest value first, so that the histogram grows only once: a live view adds hundreds per report.
  for (let i = packed.length - 2; i >= 0; i -= 2) {
    const us = source.highestEquivalentValue(source.valueFromIndex(packed[i]));
    sum.recordValueWithCount(us, packed[i + 1]);
  }
}

/**
 * The sum of several histograms, bucket by bucket. Its text equals that of one histogram of all samples.
 * @param {(Histogram | PackedHistogram | string)[]} parts
 * @returns {Histogram} do not modify it: a single part may be returned as it is
 */
export function sumHistograms(parts) {
  const sum = createHistogram();
  for (const part of parts) {
    if (typeof part === 'string') addBuckets(sum, bucketsOf(part));
    else if (part instanceof Uint32Array) addBuckets(sum, part);
    else if (parts.length === 1) return part;
    else {
      // The text depends on the array length: recording grows it by powers of two, `add` only as far as needed.
      sum.recordValueWithCount(part.maxValue, 0);
      sum.add(part);
    }
  }
  return sum;
}

/** @param {Histogram} histogram @returns {Record<'p50' | 'p99' | 'max', number | null>} ms; null if empty */
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
 * @param {Histogram} histogram not empty @param {number} share 0 to 1
 * @returns {number} ms: the smallest latency that at least this share of the latencies does not exceed
 */
export function valueAtShare(histogram, share) {
  return valueAtRank(histogram, quantileRank(histogram.totalCount, share));
}

/** @param {Histogram} histogram @param {number} rank from 1 @returns {number} ms: the rank-th smallest latency */
export function valueAtRank(histogram, rank) {
  return Math.min(usAtRank(histogram, rank), histogram.maxValue) / 1000;
}

/** @param {Histogram} histogram @param {number} rank @returns {number} ms: the lower end of its bucket */
export function lowestAtRank(histogram, rank) {
  return asJsHistogram(histogram).lowestEquivalentValue(usAtRank(histogram, rank)) / 1000;
}

/** @param {Histogram} histogram @param {number} rank @returns {number} us: the upper end of its bucket */
function usAtRank(histogram, rank) {
  // hdr-histogram-js rounds up to a whole rank; half a rank below it survives the division's rounding error.
  return histogram.getValueAtPercentile(((rank - 0.5) / histogram.totalCount) * 100);
}

/** @param {Histogram} histogram */
function asJsHistogram(histogram) {
  return /** @type {JsHistogram} */ (histogram);
}

/** Much faster than `histogram.mean`, which visits empty buckets. @param {Histogram} histogram not empty */
export function meanOf(histogram) {
  return meanAndDeviationOf(histogram).mean;
}

/** @param {Histogram} histogram not empty @returns {{mean: number, deviation: number}} ms */
export function meanAndDeviationOf(histogram) {
  const { totalCount } = histogram;
  const source = asJsHistogram(histogram);
  let [sum, squares] = [0, 0];
  visitBuckets(histogram, (index, count) => {
    const us = source.medianEquivalentValue(source.valueFromIndex(index));
    sum += us * count;
    squares += us * us * count;
  });
  const mean = sum / totalCount;
  const variance = Math.max(0, squares / totalCount - mean * mean);
  return { mean: mean / 1000, deviation: Math.sqrt(variance) / 1000 };
}

/** @param {Histogram} histogram not empty @param {(ms: number) => number} of @returns {number} the mean of `of` each latency */
export function averageOf(histogram, of) {
  let sum = 0;
  visitBuckets(histogram, (index, count) => {
    sum += count * of(scale.medianEquivalentValue(scale.valueFromIndex(index)) / 1000);
  });
  return sum / histogram.totalCount;
}
