import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { findHighestRate } from '../../../src/campaigns/calibrate/honest-rate.js';

const RANGE = { start: 1000, lowest: 100, highest: 100_000, maxTries: 30 };

/** @param {Partial<typeof RANGE>} range @param {(rate: number) => boolean} judge */
async function search(range, judge) {
  /** @type {number[]} */
  const tried = [];
  const found = await findHighestRate({
    ...RANGE,
    ...range,
    async passes(rate) {
      tried.push(rate);
      return judge(rate);
    },
  });
  return { ...found, tried };
}

/** @type {[string, Partial<typeof RANGE>, (rate: number) => boolean, object][]} */
const TABLE = [
  [
    'doubles from the start, then bisects geometrically',
    {},
    (rate) => rate <= 5000,
    { passed: 4800, failed: 5700, tried: [1000, 2000, 4000, 8000, 5700, 4800, 5700] },
  ],
  ['halves', {}, (rate) => rate <= 300, { passed: 300, failed: 350, tried: [1000, 500, 250, 350, 300, 350] }],
  [
    'ends at the highest where everything passes',
    {},
    () => true,
    { passed: 100_000, failed: null, tried: [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 100_000] },
  ],
  ['nothing passes', {}, () => false, { passed: null, failed: 100, tried: [1000, 500, 250, 130, 100, 100] }],
  ['the highest is near', { highest: 2200 }, () => true, { passed: 2200, failed: null, tried: [1000, 2200] }],
  ['start above highest', { start: 1e9 }, () => true, { passed: 100_000, failed: null, tried: [100_000] }],
  ['one rate to try', { lowest: 500, highest: 500 }, () => true, { passed: 500, failed: null, tried: [500] }],
  [
    'rates below ten are whole',
    { start: 8, lowest: 2.41, highest: 10 },
    () => false,
    { passed: null, failed: 3, tried: [8, 4, 3, 3] },
  ],
  [
    'gives up after maxTries with what is known then',
    { maxTries: 4 },
    (rate) => rate <= 5000,
    { passed: 4000, failed: 8000, tried: [1000, 2000, 4000, 8000] },
  ],
];

describe('the highest rate that passes', () => {
  for (const [what, range, judge, expected] of TABLE) {
    test(what, async () => assert.deepEqual(await search(range, judge), expected));
  }
});

test('of any threshold: the highest that passed is within a quarter of the lowest that failed', async () => {
  const property = fc.asyncProperty(fc.double({ min: 100, max: 99_000, noNaN: true }), async (threshold) => {
    const { passed, failed, tried } = await search({}, (rate) => rate <= threshold);
    assert.ok(passed !== null && failed !== null && passed <= threshold && threshold < failed);
    assert.ok(failed / passed <= 1.25, `${passed} .. ${failed}`);
    assert.ok(tried.length <= 14, `${tried.length} tries`);
  });
  await fc.assert(property);
});

test('a machine that was disturbed at first: the lowest that failed passes at the end, and the search goes on', async () => {
  let left = 4;
  const judge = (/** @type {number} */ rate) => left-- <= 0 && rate <= 5000;
  assert.deepEqual(await search({}, judge), {
    passed: 4800,
    failed: 5700,
    tried: [1000, 500, 250, 130, 100, 110, 130, 260, 520, 1000, 2000, 4000, 8000, 5700, 4800, 5700],
  });
});

test('the lowest that failed is tried again at the end, also where it failed before a lower one passed again', async () => {
  const verdicts = [true, false, false, false, true, false, true, false];
  const judge = () => verdicts.shift() ?? false;
  const { passed, failed, tried } = await search({}, judge);
  assert.deepEqual([passed, failed, tried.at(-1)], [1700, 2000, 2000]);
});
