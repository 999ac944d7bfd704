/** The bookkeeping of what goes on over time: the rates, and the timeline second by second. */

import { total } from '../../common/sums.js';
import { FINE_SECONDS } from '../../engine/recording/spans.js';
import { same, unless } from './check-common.js';
import { isSameBucket } from './check-latency.js';

/** @typedef {import('../schema.js').Result} Result */

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
 * @param {import('../schema.js').LatencyBlock} response
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

/**
 * @param {import('../schema.js').TimelineRow} row
 * @param {number} at
 */
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
      `second ${second} of the timeline has ${succeeded + failed} answers, which its histogram or its send lag denies`,
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
