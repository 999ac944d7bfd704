import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBounds } from '../../../src/campaigns/propagation/watch.js';
import { lastBoundsOf } from '../../../src/result/propagation/judge-delays.js';

/** @typedef {{good?: number[], revoked?: number[]}} Answers sendings that were answered good, arrivals of revoked */

/** Asked for at 100. @type {[string, Answers, {lowerMs: number, upperMs: number} | null][]} */
const CASES = [
  ['no response: unknown', {}, null],
  ['only good: not revoked yet', { good: [101, 121] }, null],
  ['revoked at the first poll: before the response', { revoked: [107] }, { lowerMs: 0, upperMs: 7 }],
  ['good, then revoked: between the two polls', { good: [101], revoked: [125] }, { lowerMs: 1, upperMs: 25 }],
  [
    'the latest send time counts, not the last response',
    { good: [141, 101, 121], revoked: [165] },
    { lowerMs: 41, upperMs: 65 },
  ],
  ['the first arrival counts', { good: [101], revoked: [145, 125, 165] }, { lowerMs: 1, upperMs: 25 }],
  [
    'good before the revocation was sent is ignored',
    { good: [50], revoked: [125] },
    { lowerMs: 0, upperMs: 25 },
  ],
  [
    'a slow good response sent before a fast revoked one still raises the lower bound',
    { revoked: [130], good: [121] },
    { lowerMs: 21, upperMs: 30 },
  ],
  ['good, sent after a revoked response: not revoked everywhere', { revoked: [130], good: [140] }, null],
  [
    'revoked, good, revoked: the later one',
    { revoked: [130, 165], good: [140] },
    { lowerMs: 40, upperMs: 65 },
  ],
];

for (const [sentence, { good = [], revoked = [] }, expected] of CASES) {
  test(sentence, () => {
    const bounds = createBounds();
    for (const ms of good) bounds.good(ms);
    for (const ms of revoked) bounds.revoked(ms);
    assert.deepEqual(bounds.interval(100), expected);
    assert.equal(bounds.isRevoked(), expected !== null);
  });
}

test('the last bounds: the latest lower and the latest upper bound, possibly of different nodes', () => {
  const nodes = [
    { lowerMs: 0, upperMs: 50 },
    { lowerMs: 20, upperMs: 31 },
    { lowerMs: 3, upperMs: 9 },
  ];
  assert.deepEqual(lastBoundsOf(nodes), { lowerMs: 20, upperMs: 50 });
});

const ms = fc.double({ min: 0, max: 500, noNaN: true });
const poll = fc.record({ sent: ms, there: ms, back: ms });

test('the true delay is between the bounds, whatever the network latency', () => {
  fc.assert(
    fc.property(ms, fc.array(poll, { minLength: 1, maxLength: 40 }), (effect, polls) => {
      const bounds = createBounds();
      for (const { sent, there, back } of polls) {
        if (sent + there >= effect) bounds.revoked(sent + there + back);
        else bounds.good(sent);
      }
      const interval = bounds.interval(0);
      if (interval === null) return polls.every(({ sent, there }) => sent + there < effect);
      return interval.lowerMs <= effect && effect <= interval.upperMs;
    }),
    { numRuns: 200, seed: 5 },
  );
});

test('the same for several nodes', () => {
  const node = fc.record({ effect: ms, before: ms, after: ms });
  fc.assert(
    fc.property(fc.array(node, { minLength: 1, maxLength: 5 }), (nodes) => {
      const truth = Math.max(...nodes.map(({ effect }) => effect));
      const { lowerMs, upperMs } = lastBoundsOf(
        nodes.map(({ effect, before, after }) => ({ lowerMs: effect - before, upperMs: effect + after })),
      );
      return lowerMs <= truth && truth <= upperMs;
    }),
    { seed: 6 },
  );
});
