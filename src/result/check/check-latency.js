/** Checks that counts, figures and histograms of latencies agree; yields one sentence per contradiction. */
import { isDeepStrictEqual } from 'node:util';
import { packHistogram, sumHistograms } from '../../common/histogram.js';
import { entriesOf } from '../../common/json.js';
import { PHASES } from '../../engine/recording/tally.js';
import { FIGURES, figuresOf, SERIES } from '../latency.js';

/** @import { Figure } from '../latency.js' */
/** @import { LatencyBlock, LatencyBlocks, Result } from '../schema.js' */

/** Maximum width of a bucket: three significant digits, or a microsecond. */
const [BUCKET_SHARE, BUCKET_MS] = [0.001, 0.001];

/** @param {number} a ms @param {number} b ms @returns {boolean} a is above b, by more than the width of their buckets */
export const isAbove = (a, b) => a - b > 2 * (BUCKET_SHARE * Math.max(a, b) + BUCKET_MS);

/** @template T @param {() => T} read @returns {T | null} null: it throws */
export function tryOrNull(read) {
  try {
    return read();
  } catch {
    return null;
  }
}

/** @param {string} text */
const readHistogram = (text) => tryOrNull(() => sumHistograms([text]));

/**
 * @param {string} name its path: the figures of `a.b.histogram` are `a.b.p50`, ...
 * @param {string | null | undefined} text @param {number} count expected
 * @param {Partial<Record<Figure, number | null>>} [figures] expected; undefined: from an older version without them
 * @returns {Generator<string, void>}
 */
export function* checkHistogram(name, text, count, figures = {}) {
  const histogram = typeof text === 'string' ? readHistogram(text) : sumHistograms([]);
  if (histogram === null) return yield `${name} cannot be read`;
  if (histogram.totalCount !== count) return yield `${name} has ${histogram.totalCount} values, not ${count}`;
  if (count === 0) return;
  const found = figuresOf(histogram);
  for (const key of FIGURES) {
    const [reported, value] = [Number(figures[key]), Number(found[key])];
    if (isAbove(reported, value) || isAbove(value, reported))
      yield `${name.replace(/histogram$/, key)} is ${figures[key]}, but its histogram has ${found[key]}`;
  }
}

/** @param {LatencyBlocks} latencies @param {number} due count of responses @param {number} sent @param {string} name */
export function* checkLatencies(latencies, due, sent, name) {
  for (const series of SERIES)
    yield* checkLatency(latencies[series], series === 'response' ? due : sent, `${name}.${series}`);
  for (const phase of PHASES) {
    const block = latencies[phase];
    if (block !== undefined) yield* checkLatency(block, Math.min(block.count, sent), `${name}.${phase}`);
  }
}

/** @param {LatencyBlock} block @param {number} expected count @param {string} name @returns {Generator<string, void>} */
export function* checkLatency({ count, histogram, bars, ...figures }, expected, name) {
  if (count !== expected) yield `${name}.count is ${count}, not ${expected}`;
  if (!FIGURES.every((key) => (figures[key] === null) === (count === 0)))
    return yield `${name} has ${count} values, but some of its figures are ${count === 0 ? 'numbers' : 'null'}`;
  if (!isAscending(FIGURES.flatMap((key) => (key === 'mean' ? [] : figures[key]))))
    return yield `${name}: min, percentiles and max are not in ascending order`;
  yield* checkHistogram(`${name}.histogram`, histogram, count, figures);
  for (const key of FIGURES) {
    const { low, high, tool } = bars?.[key] ?? { low: 0, high: null, tool: 0 };
    const value = Number(figures[key]);
    if (isAbove(low, value) || isAbove(tool, value) || (high !== null && isAbove(value, high)))
      yield `${name}.bars.${key} does not contain ${key}`;
  }
}

/** @param {(number | null)[]} values null counts as 0 */
export function isAscending(values) {
  return values.every((value, i) => i === 0 || Number(values[i - 1]) <= Number(value));
}

/** @param {LatencyBlocks} whole @param {LatencyBlocks[]} parts @param {string} [where] path of the parts */
export function* checkSums(whole, parts, where = 'outcomeDetails') {
  for (const series of [...SERIES, ...PHASES]) {
    const read = [whole, ...parts].map((latencies) => {
      const histogram = latencies[series]?.histogram ?? null;
      return histogram === null ? sumHistograms([]) : readHistogram(histogram);
    });
    const [sum, ...summands] = read.filter((histogram) => histogram !== null);
    // checkHistogram reports an unreadable histogram.
    if (read.includes(null)) continue;
    if (!isDeepStrictEqual(packHistogram(sumHistograms(summands)), packHistogram(sum)))
      yield `latencyMs.${series}.histogram is not the sum of those in ${where}`;
  }
}

/** @param {Result} result @returns {string | undefined} a sentence naming the first unreadable histogram */
export function findUnreadable({ plan, ...result }) {
  for (const [place, text] of histogramsIn(result))
    if (readHistogram(text) === null) return `${place} cannot be read`;
}

/** @param {unknown} value @param {string} [place] @param {boolean} [isOwn] all strings are histograms @returns {Generator<[string, string]>} */
export function* histogramsIn(value, place = '', isOwn = false) {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of entriesOf(value)) {
    const at = place === '' ? key : `${place}.${key}`;
    if (typeof inner !== 'string') yield* histogramsIn(inner, at, isOwn || key === 'own');
    else if (isOwn || ['histogram', 'lag', 'readLate'].includes(key)) yield [at, inner];
  }
}

/** @template {number | string} T @param {string} left @param {T | null | undefined} a @param {string} right @param {T | null | undefined} b */
export function* checkEqual(left, a, right, b) {
  if (a !== b) yield `${left} is ${a ?? 'missing'}, but ${right} is ${b ?? 'missing'}`;
}
