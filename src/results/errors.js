/** What an error is: a request that was due and had no good answer, because it failed, was dropped, or was never sent. */

/** @typedef {{failed: number, dropped: number, neverSentDue: number}} Unanswered */

/**
 * @param {Unanswered} counts
 * @returns {number}
 */
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
