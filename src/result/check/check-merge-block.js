/** The bookkeeping of what a part of a plan has for `merge`: it is of the same requests as the figures that people read. */

import { sumArrays } from '../../common/sums.js';
import { isSameBucket, readHistogram } from './check-latency.js';

/** @import { MergeBlock } from '../parts/merge-block-schema.js' */
/** @import { Result } from '../schema.js' */

const COUNTS = /** @type {const} */ (['sent', 'succeeded', 'failed']);

/** @param {Result} result @returns {string[]} one sentence per broken identity; empty where it is no part */
export function checkMergeBlock(result) {
  if (result.merge === undefined) return [];
  return [
    ...checkPerSecond(result, result.merge),
    ...checkWatch(result, result.merge.watch),
    ...checkOwn(result, result.merge),
    ...checkLags(result, result.merge.lags),
  ];
}

/** @param {Result} result @param {MergeBlock} merge */
function checkPerSecond({ timeline, operations }, merge) {
  const blocks = Object.entries(merge.operations);
  const names = Object.keys(operations);
  const others = blocks.filter(([name]) => !names.includes(name)).map(([name]) => name);
  const counts = COUNTS.flatMap((key) => {
    const perSecond = sumArrays(blocks.map(([, block]) => block.perSecond[key]));
    const at = Array.from(
      { length: Math.max(perSecond.length, timeline.length) },
      (_, second) => second,
    ).find((second) => (perSecond[second] ?? 0) !== (timeline[second]?.[key] ?? 0));
    if (at === undefined) return [];
    return [
      `"merge" has ${perSecond[at] ?? 0} ${key} in second ${at}, but the timeline ${timeline[at]?.[key] ?? 0}`,
    ];
  });
  return [...others.map((name) => `"merge" has an operation ${name}, which was not measured`), ...counts];
}

/** @param {Result} result @param {MergeBlock['watch']} watch */
function checkWatch({ totals: { sent } }, { lag, readLate }) {
  return [
    ...checkHistogram('watch.lag', lag, sent),
    ...(readLate === undefined ? [] : checkHistogram('watch.readLate', readLate, sent)),
  ];
}

/** @param {Result} result @param {MergeBlock} merge */
function checkOwn({ operations }, merge) {
  return Object.entries(merge.operations).flatMap(([name, { own = {} }]) =>
    Object.entries(own).flatMap(([outcome, histograms]) => {
      const details = operations[name]?.outcomeDetails;
      // An unknown operation is reported once.
      if (details === undefined) return [];
      return /** @type {const} */ (['response', 'service']).flatMap((series) => {
        const count = details[outcome]?.latencyMs[series].count ?? 0;
        return checkHistogram(`operations.${name}.own.${outcome}.${series}`, histograms[series], count);
      });
    }),
  );
}

/**
 * Where there is one part only, of one thread, its seconds have none.
 *
 * @param {Result} result
 * @param {MergeBlock['lags']} lags
 */
function checkLags({ timeline }, lags) {
  return lags.flatMap((lag, second) => {
    if (lag === null) return [];
    const row = timeline[second];
    const name = `lags.${second}`;
    const problems = checkHistogram(name, lag.histogram, (row?.succeeded ?? 0) + (row?.failed ?? 0));
    if (problems.length > 0) return problems;
    const longest = Number(readHistogram(lag.histogram)?.maxValue) / 1000;
    return isSameBucket(longest, lag.max)
      ? []
      : [`"merge" says that ${name}.max is ${lag.max}, but its histogram says ${longest}`];
  });
}

/** @param {string} name @param {string} text @param {number} count the count that it must hold */
function checkHistogram(name, text, count) {
  const histogram = readHistogram(text);
  if (histogram === null) return [`"merge" has a ${name} that cannot be read`];
  if (histogram.totalCount === count) return [];
  return [`"merge" has a ${name} that holds ${histogram.totalCount}, not ${count}`];
}
