import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHistogram } from '../../src/common/histogram.js';
import { buildBlock, rateWindowMs } from '../../src/result/build.js';

/** @import { CellTally } from '../../src/engine/recording/tally.js' */
/** @import { RunFacts } from '../../src/result/build.js' */

/**
 * @param {{last: number, after: number, mean: number, succeeded?: readonly number[], neverSentDue?: number}} run ms and counts
 * @param {Partial<RunFacts>} [facts]
 */
function windowOf({ last, after, mean, succeeded = [1200], neverSentDue = 0 }, facts = {}) {
  const operation = /** @type {any} */ ({
    lastSuccessMs: last,
    successesAfter: after,
    neverSentDue,
    firstHalf: { count: 500, responseMs: 500 * mean },
    perSecond: { succeeded },
  });
  const all = /** @type {any} */ ({ model: 'open', windowMs: 60_000, interrupted: false, ...facts });
  return rateWindowMs([operation], all);
}

const TABLE = /** @type {const} */ ([
  ['everything finished in time', { last: 59_960, after: 0, mean: 10 }, {}, 60_000],
  ['the last response arrives just after the end', { last: 60_100, after: 1, mean: 10 }, {}, 60_000],
  ['one slow response at the end is not a backlog', { last: 64_000, after: 1, mean: 10 }, {}, 60_000],
  ['as many in flight as usual (20/s x 2 s)', { last: 62_000, after: 40, mean: 2000 }, {}, 60_000],
  ['a backlog of 3 s that no early hiccup explains', { last: 63_000, after: 60, mean: 350 }, {}, 63_000],
  ['an overload of 5 %: mean T/4(1 - c/r)', { last: 63_000, after: 60, mean: 714 }, {}, 63_000],
  [
    'a stall of 10 s, then 15/s of the 20/s',
    { last: 90_000, after: 450, mean: 12_000, succeeded: [...Array(10).fill(0), ...Array(80).fill(15)] },
    {},
    90_000,
  ],
  [
    'a stall of 10 s, then 20/s: late, but at the offered rate',
    { last: 70_000, after: 200, mean: 10_000, succeeded: [...Array(10).fill(0), ...Array(60).fill(20)] },
    {},
    60_000,
  ],
  [
    'a capacity of 10/s, 12/s offered for 10 s, each response after a second',
    { last: 12_800, after: 30, mean: 1200, succeeded: [8, ...Array(11).fill(10), 2] },
    { windowMs: 10_000 },
    12_800,
  ],
  [
    '10,000/s, each response after 1 ms, with a few more or fewer per second',
    {
      ...{ last: 10_001, after: 10, mean: 1 },
      succeeded: [9985, 10_004, 9996, 10_003, 10_002, 9999, 10_001, 9998, 10_003, 9999, 10],
    },
    { windowMs: 10_000 },
    10_000,
  ],
  ['two requests at 1,000/s', { last: 5, after: 2, mean: 0, succeeded: [2] }, { windowMs: 2 }, 5],
  ['requests still waiting at the end', { last: 70_000, after: 2, mean: 10, neverSentDue: 5 }, {}, 70_000],
  [
    'a closed loop, until its last success',
    { last: 60_100, after: 1, mean: 10 },
    { model: 'closed' },
    60_100,
  ],
  [
    'a stage of a closed loop that hands over as many requests as it received',
    { last: 60_100, after: 10, mean: 10 },
    { model: 'closed', carriedOver: 10 },
    60_000,
  ],
  [
    'a stage that hands over more, as its level rose',
    { last: 60_100, after: 20, mean: 10 },
    { model: 'closed', carriedOver: 10 },
    60_100,
  ],
  [
    'an interrupted run, until its last success',
    { last: 60_100, after: 1, mean: 10 },
    { interrupted: true },
    60_100,
  ],
]);

for (const [sentence, run, facts, expected] of TABLE) {
  test(`rate window: ${sentence}`, () => assert.equal(windowOf(run, facts), expected));
}

test('rates of operations use the window of the whole run, and add up to its rate', () => {
  const operations = [
    { name: 'fast', count: 900, last: 59_000 },
    { name: 'late', count: 300, last: 80_000 },
  ].map(({ name, count, last }) => operation(name, count, last));
  const facts = /** @type {any} */ ({
    planned: 1200,
    neverSent: 0,
    model: 'open',
    windowMs: 60_000,
    meanings: {},
  });
  const windowMs = rateWindowMs(operations, facts);
  assert.equal(windowMs, 80_000);
  const rateOf = (/** @type {typeof operations} */ some) => buildBlock(some, facts, windowMs).rates.perSecond;
  assert.equal(rateOf(operations), 15);
  const told = operations.map((one) => rateOf([one]));
  assert.deepEqual(told, [11.25, 3.75]);
});

/**
 * @param {string} name
 * @param {number} count successes
 * @param {number} lastSuccessMs
 * @returns {CellTally}
 */
function operation(name, count, lastSuccessMs) {
  const none = {
    response: createHistogram(),
    service: createHistogram(),
    sendLag: createHistogram(),
    ownResponse: createHistogram(),
    ownService: createHistogram(),
  };
  return {
    name,
    stage: 0,
    outcomes: { good: { success: true, count, latency: none } },
    verification: { checked: count, passed: count, unchecked: 0, failures: {}, notes: [] },
    dropped: 0,
    neverSentDue: 0,
    warmup: 0,
    perSecond: { sent: [count], succeeded: [count], failed: [] },
    lastSuccessMs,
    firstHalf: { count: 100, responseMs: 1000 },
    successesAfter: lastSuccessMs > 60_000 ? 100 : 0,
  };
}
