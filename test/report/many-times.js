/** What was recorded -> what so many shards would have recorded that each saw the same: ten million samples, made of few. */
import { decodeHistogram, encodeHistogram, sumHistograms } from '../../src/common/histogram.js';
/** @import { Second } from '../../src/engine/recording/seconds.js' */
/** @import { CellTally } from '../../src/engine/recording/tally.js' */
/** @import { Distribution } from '../../src/common/histogram.js' */

/** @param {CellTally} operation @param {number} times @returns {CellTally} */
export function manyOperations(operation, times) {
  if (times === 1) return operation;
  const { outcomes, verification, perSecond, successTimes } = operation;
  const many = (/** @type {number} */ count) => count * times;
  return {
    ...operation,
    outcomes: mapValues(outcomes, ({ success, count, latency }) => ({
      success,
      count: many(count),
      latency: mapValues(latency, (values) => manyValues(sumHistograms([values]), times)),
    })),
    verification: { ...verification, checked: many(verification.checked), passed: many(verification.passed) },
    neverSentDue: many(operation.neverSentDue),
    perSecond: mapValues(perSecond, (counts) => counts.map(many)),
    successTimes: mapValues(successTimes, (times) => mapValues(times, (sums) => sums.map(many))),
    successesAfter: many(operation.successesAfter),
  };
}

/** @param {Second} row @param {number} times */
export function manyInSecond(row, times) {
  if (times === 1) return row;
  const { succeeded, failed, failures, histogram } = row;
  return {
    ...row,
    succeeded: succeeded * times,
    failed: failed * times,
    failures: mapValues(failures, (count) => count * times),
    histogram: histogram === null ? null : encodeHistogram(manyValues(decodeHistogram(histogram), times)),
  };
}

/** @param {Distribution} histogram @param {number} times a power of two @returns {Distribution} */
function manyValues(histogram, times) {
  return times === 1 ? histogram : manyValues(sumHistograms([histogram, histogram]), times / 2);
}

/**
 * @template {object} T
 * @param {T} record
 * @param {(value: T[keyof T]) => any} change
 * @returns {any}
 */
function mapValues(record, change) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}
