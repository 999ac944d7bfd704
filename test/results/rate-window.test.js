import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rateWindowMs } from '../../src/results/build.js';

/**
 * @param {{last: number, after: number, mean: number, succeeded?: number, neverSentDue?: number}} run ms and counts
 * @param {Partial<import('../../src/results/build.js').RunFacts>} [facts]
 */
function windowOf({ last, after, mean, succeeded = 1200, neverSentDue = 0 }, facts = {}) {
  const operation = /** @type {any} */ ({
    lastSuccessMs: last,
    successesAfter: after,
    neverSentDue,
    firstHalf: { count: 500, responseMs: 500 * mean },
    perSecond: { succeeded: [succeeded] },
  });
  const all = /** @type {any} */ ({ model: 'open', windowMs: 60_000, interrupted: false, ...facts });
  return rateWindowMs([operation], all);
}

const TABLE = /** @type {const} */ ([
  ['all was done in time', { last: 59_960, after: 0, mean: 10 }, {}, 60_000],
  ['the last request is answered just after the end', { last: 60_100, after: 1, mean: 10 }, {}, 60_000],
  ['one slow answer at the end is no backlog', { last: 64_000, after: 1, mean: 10 }, {}, 60_000],
  ['as many under way as always (20/s x 2 s)', { last: 62_000, after: 40, mean: 2000 }, {}, 60_000],
  [
    'a backlog of 3 s that an early hiccup must not excuse',
    { last: 63_000, after: 60, mean: 350 },
    {},
    63_000,
  ],
  ['an overload of 5 %: mean T/4(1 - c/r)', { last: 63_000, after: 60, mean: 714 }, {}, 63_000],
  ['arrivals were left waiting', { last: 70_000, after: 2, mean: 10, neverSentDue: 5 }, {}, 70_000],
  [
    'a closed loop is measured to its last success',
    { last: 60_100, after: 1, mean: 10 },
    { model: 'closed' },
    60_100,
  ],
  ['an interrupted run too', { last: 60_100, after: 1, mean: 10 }, { interrupted: true }, 60_100],
]);

for (const [sentence, run, facts, expected] of TABLE) {
  test(`rate window: ${sentence}`, () => assert.equal(windowOf(run, facts), expected));
}
