import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { findHighestRate } from '../../src/calibrate/highest-rate.js';

const RANGE = { start: 1000, lowest: 100, highest: 100_000, maxTries: 30 };

/**
 * @param {Partial<typeof RANGE>} range
 * @param {(rate: number) => boolean} judge
 */
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
  [
    'halves where the start fails, then bisects',
    {},
    (rate) => rate <= 300,
    { passed: 300, failed: 350, tried: [1000, 500, 250, 350, 300, 350] },
  ],
  [
    'ends at the highest where everything passes',
    {},
    () => true,
    { passed: 100_000, failed: null, tried: [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 100_000] },
  ],
  [
    'ends at the lowest where nothing passes',
    {},
    () => false,
    { passed: null, failed: 100, tried: [1000, 500, 250, 130, 100, 100] },
  ],
  [
    'the last double is the highest, where it is next to it',
    { highest: 2200 },
    () => true,
    { passed: 2200, failed: null, tried: [1000, 2200] },
  ],
  [
    'the last half is the lowest, where it is next to it',
    { lowest: 450 },
    () => false,
    { passed: null, failed: 450, tried: [1000, 450, 450] },
  ],
  [
    'a start above the highest is the highest',
    { start: 1e9 },
    () => true,
    { passed: 100_000, failed: null, tried: [100_000] },
  ],
  [
    'a start below the lowest is the lowest',
    { start: 1 },
    () => false,
    { passed: null, failed: 100, tried: [100, 100] },
  ],
  [
    'bounds are rounded inwards',
    { lowest: 124, highest: 129.9, start: 1 },
    () => false,
    { passed: null, failed: 130, tried: [130, 130] },
  ],
  [
    'one rate to try is tried once',
    { lowest: 500, highest: 500 },
    () => true,
    { passed: 500, failed: null, tried: [500] },
  ],
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

test('what failed is not forgotten where a lower rate passes at the end and the tries are used up', async () => {
  const verdicts = [true, false, false, false, true];
  const judge = () => verdicts.shift() ?? false;
  assert.deepEqual(await search({ maxTries: 5 }, judge), {
    passed: 1200,
    failed: 1400,
    tried: [1000, 2000, 1400, 1200, 1200],
  });
});

test('the lowest that failed is tried again at the end, also where it failed before a lower one passed again', async () => {
  const verdicts = [true, false, false, false, true, false, true, false];
  const judge = () => verdicts.shift() ?? false;
  const { passed, failed, tried } = await search({}, judge);
  assert.deepEqual([passed, failed, tried.at(-1)], [1700, 2000, 2000]);
});

test('a judge that contradicts itself cannot keep it going, nor lead it out of its bounds', async () => {
  const property = fc.asyncProperty(
    fc.infiniteStream(fc.boolean()),
    fc.integer({ min: 1, max: 40 }),
    fc.double({ min: 1, max: 1e6, noNaN: true }),
    async (verdicts, maxTries, start) => {
      /** @type {number[][]} */
      const [passing, failing] = [[], []];
      const judge = (/** @type {number} */ rate) => {
        const verdict = /** @type {boolean} */ (verdicts.next().value);
        (verdict ? passing : failing).push(rate);
        return verdict;
      };
      const { passed, failed, tried } = await search({ maxTries, start }, judge);
      assert.ok(tried.length >= 1 && tried.length <= maxTries);
      assert.ok(tried.every((rate) => rate >= 100 && rate <= 100_000));
      assert.equal(passed ?? 0, Math.max(0, ...passing));
      const above = failing.filter((rate) => rate > (passed ?? 0));
      assert.equal(failed ?? Number.POSITIVE_INFINITY, Math.min(...above));
    },
  );
  await fc.assert(property);
});
