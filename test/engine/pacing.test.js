import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choosePacing, describeSpinning } from '../../src/engine/pacing/choose.js';

/** @import { LoadPlan } from '../../src/plan/load.js' */

/** @type {[string, Partial<LoadPlan>, number, number, string][]} sentence, load, shards, cores, expected */
const table = [
  ["wide gaps are a timer's, spun at the end", { ratePerSecond: 100 }, 1, 2, 'timer, last stretch'],
  ["narrow gaps are a thread's", { ratePerSecond: 101 }, 1, 2, 'thread, last stretch'],
  ['the gap is that of one shard', { ratePerSecond: 200 }, 2, 4, 'timer, last stretch'],
  ['a single core is not spun on', { ratePerSecond: 100 }, 1, 1, 'thread, never'],
  ['a sender on each core leaves none to spin on', { ratePerSecond: 5000 }, 4, 4, 'thread, never'],
  ['sleep never spins', { ratePerSecond: 5000, pacing: 'sleep' }, 1, 2, 'timer, never'],
  ['spin always does', { ratePerSecond: 20, pacing: 'spin' }, 1, 1, 'timer, always'],
  ['a closed loop waits for answers alone', { model: 'closed', ratePerSecond: null }, 1, 2, 'timer, never'],
  ['closed loops never spin', { model: 'closed', ratePerSecond: null, pacing: 'spin' }, 1, 2, 'timer, never'],
];

/** @param {Partial<LoadPlan>} load */
const planned = (load) =>
  /** @type {LoadPlan} */ ({ model: 'open', pacing: 'auto', ratePerSecond: 1, threads: 1, ...load });

for (const [sentence, load, shards, cores, expected] of table) {
  test(`pacing: ${sentence}`, () => {
    const { byThread, spins } = choosePacing(planned(load), shards, cores);
    assert.equal(`${byThread ? 'thread' : 'timer'}, ${spins}`, expected);
  });
}

test('what spinning takes is said, and what that leaves for a target on the machine', () => {
  assert.equal(describeSpinning(planned({}), 2), null);
  assert.equal(describeSpinning(planned({ model: 'closed', pacing: 'spin' }), 2), null);
  assert.equal(
    describeSpinning(planned({ pacing: 'spin' }), 2),
    '--pacing spin keeps a core busy for the whole run.',
  );
  assert.match(
    String(describeSpinning(planned({ pacing: 'spin', threads: 2 }), 2)),
    /2 cores busy .* has 2: /,
  );
});
