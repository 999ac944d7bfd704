import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkResult } from '../../src/results/check/check.js';
import { checkMergeBlock } from '../../src/results/check/check-merge-block.js';
import { syntheticParts, syntheticRun } from '../synthetic-run.js';
import { latency } from './sample.js';

/** @typedef {import('../../src/results/parts/merge-block-schema.js').MergeBlock} MergeBlock */

const LOAD = { ratePerSecond: 50, durationMs: 4000, seed: 3 };
const PARTS = syntheticParts({ load: LOAD, unsent: 3 }, [1, 2]);

test('what runs write for merge has no complaint; what is no part has nothing to complain of', () => {
  for (const part of PARTS) assert.deepEqual(checkResult(part, { eachSecond: true }), []);
  assert.deepEqual(checkMergeBlock(syntheticRun({ load: LOAD })), []);
  const [alone] = syntheticParts({ load: LOAD }, [1]);
  assert.equal(alone.merge?.lags[0], null);
  assert.deepEqual(checkMergeBlock(alone), []);
});

/** @type {[string, (merge: MergeBlock) => void, RegExp][]} what is wrong, how, and the complaint */
const BROKEN = [
  [
    'an operation that was not measured',
    ({ operations }) => {
      operations.other = structuredClone(operations.synthetic);
      operations.other.perSecond = { sent: [], succeeded: [], failed: [] };
    },
    /^"merge" has an operation other, which was not measured$/,
  ],
  [
    'a second with one success more',
    (merge) => merge.operations.synthetic.perSecond.succeeded[2]++,
    /^"merge" has \d+ succeeded in second 2, but the timeline \d+$/,
  ],
  [
    'a second that the timeline has not',
    (merge) => (merge.operations.synthetic.perSecond.sent[9] = 1),
    /^"merge" has 1 sent in second 9, but the timeline 0$/,
  ],
  [
    'lateness that cannot be read',
    (merge) => (merge.watch.lag = 'HISTFAAAA'),
    /^"merge" has a watch\.lag that cannot be read$/,
  ],
  [
    'lateness of others',
    (merge) => (merge.watch.unlagged = String(latency([1, 2]).histogram)),
    /^"merge" has a watch\.unlagged that holds 2, not \d+$/,
  ],
  [
    'reactions that cannot be read',
    (merge) => (merge.watch.reaction = ''),
    /^"merge" has a watch\.reaction that cannot be read$/,
  ],
  [
    'send lags that cannot be read',
    (merge) => Object.assign(Object(merge.lags[1]), { histogram: 'x' }),
    /^"merge" has a lags\.1 that cannot be read$/,
  ],
  [
    'send lags of others',
    (merge) => Object.assign(Object(merge.lags[1]), { histogram: latency([1]).histogram }),
    /^"merge" has a lags\.1 that holds 1, not \d+$/,
  ],
  [
    'a longest send lag of others',
    (merge) => Object.assign(Object(merge.lags[1]), { max: 5000 }),
    /^"merge" says that lags\.1\.max is 5000, but its histogram says/,
  ],
];

describe('what a part has for merge: complains of', () => {
  for (const [why, spoil, complaint] of BROKEN) {
    test(why, () => {
      const part = structuredClone(PARTS[1]);
      spoil(/** @type {MergeBlock} */ (part.merge));
      const complaints = checkMergeBlock(part);
      assert.equal(complaints.length, 1, complaints.join('\n'));
      assert.match(complaints[0], complaint);
      assert.deepEqual(checkResult(part), [], 'only a reader looks at it');
    });
  }
});
