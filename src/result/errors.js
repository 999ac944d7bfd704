/** What an error is: a request that was due and had no good response, because it failed, was dropped, or was never sent. */

import { proportionLowerBound, proportionUpperBound } from '../verdict/statistics.js';

/** @typedef {{failed: number, dropped: number, neverSentDue: number}} Unanswered */

/** @param {Unanswered} counts @returns {number} */
export function countErrors({ failed, dropped, neverSentDue }) {
  return failed + dropped + neverSentDue;
}

/**
 * @param {Unanswered & {succeeded: number}} counts
 * @returns {number | null} of those that were due, 0 to 1; null where none was
 */
export function shareOfErrors(counts) {
  const errors = countErrors(counts);
  const due = counts.succeeded + errors;
  return due === 0 ? null : errors / due;
}

/**
 * Errors that may be the tool's own are left out of the lower end.
 *
 * @param {Unanswered & {succeeded: number}} counts at least one was due
 * @param {number} [ownLosses] of the errors, those that may be the tool's or its machine's
 * @returns {{low: number, high: number}} of the share of errors, 0 to 1
 */
export function errorBar(counts, ownLosses = 0) {
  const errors = countErrors(counts);
  const due = counts.succeeded + errors;
  return {
    low: proportionLowerBound(Math.max(0, errors - ownLosses), due),
    high: proportionUpperBound(errors, due),
  };
}
