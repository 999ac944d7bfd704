/** The bookkeeping of what goes on over time: the rates, and the timeline second by second. */

import { valueAtShare } from '../../common/histogram.js';
import { total } from '../../common/sums.js';
import { FINE_SECONDS } from '../../engine/recording/spans.js';
import { isSameBucket, readHistogram, same, unless } from './check-latency.js';

/** @import { LatencyBlock, Result, TimelineRow } from '../schema.js' */

const TIMELINE = /** @type {const} */ (['sent', 'succeeded', 'failed']);

/** A rate is borne out where it differs by less than this share: it was rounded to a decimal number, no more. */
const ROUNDING_SHARE = 1e-6;

/**
 * The whole and each operation have the same window, so that the operations' rates add up.
 *
 * @param {Result} result
 * @returns {string[]}
 */
export function checkRates({ windowSeconds, timeline, unfinished, latencyMs, operations, ...whole }) {
  if (windowSeconds === undefined) return [];
  const blocks = Object.entries(operations).map(([name, block]) => ({
    where: `operation ${name}: `,
    ...block,
  }));
  return [
    ...[{ where: '', ...whole }, ...blocks].flatMap(
      ({ where, totals: { succeeded }, rates: { perSecond } }) => {
        const expected = windowSeconds > 0 ? succeeded / windowSeconds : 0;
        return unless(
          Math.abs(perSecond - expected) <= ROUNDING_SHARE * expected,
          `${where}rates.perSecond is ${perSecond}, but ${succeeded} successes in ${windowSeconds} s are ${expected}/s`,
        );
      },
    ),
    ...(unfinished ? [] : checkWindow(windowSeconds, timeline, latencyMs.response)),
  ];
}

/**
 * Nothing is due after the window of an open loop, and a closed loop's ends with its last success.
 *
 * @param {number} windowSeconds
 * @param {Result['timeline']} timeline
 * @param {LatencyBlock} response
 */
function checkWindow(windowSeconds, timeline, { max }) {
  const last = timeline.findLast(({ succeeded }) => succeeded > 0)?.second ?? 0;
  const end = windowSeconds + Number(max) / 1000;
  return unless(
    last <= end || isSameBucket(last * 1000, end * 1000),
    `windowSeconds is ${windowSeconds}, but second ${last} had a success, and none took longer than ${max} ms`,
  );
}

/** @param {Result} result @returns {string[]} */
export function checkTimeline({ timeline, totals, rates, latencyMs }) {
  const longest = timeline.reduce((most, { max }) => Math.max(most, max ?? 0), 0);
  const due = total(timeline.map((row) => row.due ?? 0));
  return [
    ...unless(
      due <= totals.planned,
      `the timeline has ${due} arrivals due, but only ${totals.planned} were planned`,
    ),
    ...TIMELINE.flatMap((key) =>
      same(`the timeline's ${key}`, total(timeline.map((row) => row[key])), `totals.${key}`, totals[key]),
    ),
    ...timeline.flatMap(checkRow),
    ...unless(
      rates.peakOneSecond <= totals.succeeded && rates.peakOneSecond * timeline.length >= totals.succeeded,
      `rates.peakOneSecond is ${rates.peakOneSecond}, which ${totals.succeeded} successes in ${timeline.length} seconds cannot have`,
    ),
    ...unless(
      longest <= Number(latencyMs.response.max) || isSameBucket(longest, Number(latencyMs.response.max)),
      `the timeline's longest is ${longest}, but latencyMs.response.max is ${latencyMs.response.max}`,
    ),
  ];
}

/** @param {TimelineRow} row @param {number} at */
function checkRow({ second, succeeded, failed, failures, p50, p90 = p50, p99, max, lag99, histogram }, at) {
  const empty = succeeded + failed === 0;
  const isThere = (/** @type {unknown} */ value) => value === undefined || (value === null) === empty;
  return [
    ...same(`row ${at} of the timeline`, second, 'its second', at),
    ...unless(
      [p50, p90, p99, max].every(isThere) &&
        Number(p50) <= Number(p90) &&
        Number(p90) <= Number(p99) &&
        Number(p99) <= Number(max),
      `second ${second} of the timeline has ${succeeded + failed} answers with p50 ${p50}, p99 ${p99}, max ${max}`,
    ),
    ...unless(
      (isThere(histogram) || second >= FINE_SECONDS) && (isThere(lag99) || lag99 === null),
      `second ${second} of the timeline has ${succeeded + failed} responses, which its histogram or its send lag denies`,
    ),
    ...(failures === undefined
      ? []
      : same(
          `second ${second}'s failures, together,`,
          total(Object.values(failures)),
          'those that failed in it',
          failed,
        )),
  ];
}

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

/** @param {TimelineRow} row with a histogram @param {TimelineRow[]} rows that it covers */
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
