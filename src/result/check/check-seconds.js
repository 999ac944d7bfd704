/**
 * The bookkeeping of the histograms of seconds: one that covers a second, or a span of them (spans.js), holds as many as were
 * done in it and bears out the figures beside it. It takes about a tenth of a millisecond a second, so it is done where a file
 * is read, not at the end of every run.
 */
import { valueAtShare } from '../../common/histogram.js';
import { isSameBucket, readHistogram } from './check-latency.js';

/** @typedef {import('../../common/histogram.js').Histogram} Histogram */
/** @typedef {import('../schema.js').Result} Result */
/** @typedef {import('../schema.js').TimelineRow} TimelineRow */

const SHARES = /** @type {const} */ ([
  ['p50', 0.5],
  ['p90', 0.9],
  ['p99', 0.99],
]);

/**
 * @param {Pick<Result, 'timeline' | 'unfinished'>} result while it went on, the seconds of the last span had no histogram yet
 * @returns {string[]} one sentence per broken identity
 */
export function checkSeconds({ timeline, unfinished }) {
  /** @type {string[]} */
  const problems = [];
  /** The second that no histogram so far has covered. */
  let next = 0;
  for (const [at, row] of timeline.entries()) {
    if (row.histogram === null || row.histogram === undefined) continue;
    const start = at + 1 - (row.histogramSeconds ?? 1);
    if (start < next || start > at) {
      problems.push(`the histogram of second ${at} says it covers ${row.histogramSeconds} seconds`);
    } else {
      problems.push(...(unfinished ? [] : checkCovered(timeline.slice(next, start))));
      problems.push(...checkSpan(row, timeline.slice(start, at + 1)));
    }
    next = at + 1;
  }
  return unfinished ? problems : [...problems, ...checkCovered(timeline.slice(next))];
}

/** @param {TimelineRow[]} rows that no histogram covers; without the key they are an older version's */
function checkCovered(rows) {
  const found = rows.find(({ histogram, succeeded, failed }) => histogram === null && succeeded + failed > 0);
  return found === undefined ? [] : [`what was done in second ${found.second} is in no histogram`];
}

/**
 * @param {TimelineRow} row with a histogram
 * @param {TimelineRow[]} rows that it covers
 */
function checkSpan({ second, histogram, ...figures }, rows) {
  const name = `the histogram of second ${second}`;
  const done = rows.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0);
  const decoded = readHistogram(histogram ?? null);
  if (decoded === null) return [`${name} cannot be read`];
  if (decoded.totalCount !== done) return [`${name} holds ${decoded.totalCount}, not ${done}`];
  const longest = Math.max(...rows.map(({ max }) => max ?? 0));
  return [
    ...borneOut(name, 'max', longest, decoded.maxValue / 1000),
    ...(rows.length > 1
      ? []
      : SHARES.flatMap(([key, share]) => borneOut(name, key, figures[key], valueAtShare(decoded, share)))),
  ];
}

/**
 * @param {string} name
 * @param {string} key
 * @param {number | null | undefined} told ms; undefined: an older version did not
 * @param {number} found ms
 */
function borneOut(name, key, told, found) {
  if (told === undefined || isSameBucket(Number(told), found)) return [];
  return [`${name} says its ${key} is ${found}, but that stands as ${told}`];
}
