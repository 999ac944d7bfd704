/** What several tests of results need. */
import assert from 'node:assert/strict';
import { PkiLoadError } from '../../src/common/errors.js';

/**
 * For `assert.throws` and `assert.rejects`.
 *
 * @param {string} code
 * @param {...(RegExp | string)} messages of which the error has each
 */
export const refusal = (code, ...messages) => {
  return (/** @type {unknown} */ error) => {
    assert.ok(error instanceof PkiLoadError, String(error));
    assert.deepEqual([error.code, error.exitCode], [code, 1], error.full);
    for (const message of messages) {
      if (typeof message === 'string') assert.ok(error.full.includes(message), error.full);
      else assert.match(error.full, message);
    }
    assert.doesNotMatch(error.full, /\n/, 'one line');
    return true;
  };
};

/**
 * Asserts that one of the complaints says so.
 *
 * @param {string[]} complaints
 * @param {RegExp | string} expected
 */
export function assertComplains(complaints, expected) {
  const says = (/** @type {string} */ text) =>
    typeof expected === 'string' ? text.includes(expected) : expected.test(text);
  assert.ok(complaints.some(says), `${expected}: ${complaints.join('\n') || 'no complaint'}`);
}

/** @param {number} actual @param {number} expected @param {number} relative @param {string} [what] */
export function near(actual, expected, relative, what = '') {
  const far = Math.abs(actual - expected) > relative * Math.abs(expected);
  assert.ok(!far && !Number.isNaN(actual), `${what}: ${actual}, expected ${expected}`);
}

/**
 * Two groups to compare.
 *
 * @template Runs
 * @param {Runs} old
 * @param {Runs} other
 */
export const two = (old, other) => [
  { name: 'old', runs: old },
  { name: 'new', runs: other },
];

/** @template {{key: string}} Metric @param {{metrics: Metric[]}} subject @param {string} key @returns {Metric} */
export function metricOf({ metrics }, key) {
  const found = metrics.find((metric) => metric.key === key);
  assert.ok(found !== undefined, key);
  return found;
}
/** Few resamples: the verdict does not depend on them. */
export const QUICK = { resamples: 40 };
