import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  compare,
  delayFor,
  findAccurateRate,
  findHighestRate,
  meetsLimits,
} from '../../../src/campaigns/calibrate/accurate-rate.js';

/** @import { Try } from '../../../src/campaigns/calibrate/accurate-rate.js' */
/** @import { Measure } from '../../../src/campaigns/calibrate/measure.js' */

/** @type {Omit<Try, 'isAccurate'>} */
const GOOD = {
  ratePerSecond: 1000,
  delayMs: 5,
  planned: 1000,
  samples: 1000,
  latenessMs: { count: 1000, p50: 0.1, p99: 1, max: 9 },
  p50Ms: compare(5.5, 5),
  p99Ms: compare(5.5, 5),
  measurement: { verdict: 'valid', reasons: [] },
};

/** @param {'valid' | 'invalid'} verdict @param {string[]} codes @returns {Partial<Try>} */
function against(verdict, ...codes) {
  return { measurement: { verdict, reasons: codes.map((code) => ({ code, text: 'a sentence.' })) } };
}

/** @type {Partial<Try>} */
const TOO_LATE = { latenessMs: { count: 1000, p50: 0.1, p99: 1.001, max: 9 } };

/** @type {[string, Partial<Try>, boolean][]} */
const HONEST = [
  ['valid, on time and right, each at its limit', {}, true],
  ['remarks of any kind', against('valid', 'busy_machine', 'still_changing'), true],
  ['invalid', against('invalid', 'load_not_offered'), false],
  ['too late', TOO_LATE, false],
  ['p99 off by more than a tenth', { p99Ms: compare(5.6, 5) }, false],
  ['p50 off by more than a tenth, p99 not', { p50Ms: compare(0.7, 0.5), p99Ms: compare(5.1, 5) }, false],
  ['a request that never arrived', { samples: 999 }, false],
  ['no sample', { planned: 0, samples: 0, latenessMs: { count: 0, p50: null, p99: null, max: null } }, false],
  ['no responses', { p50Ms: compare(null, null), p99Ms: compare(null, null) }, false],
];

describe('meetsLimits', () => {
  for (const [what, changes, expected] of HONEST) {
    test(what, () => assert.equal(meetsLimits({ ...GOOD, ...changes }, 1), expected));
  }
});

/** @type {[string, number, number, number][]} rate, connections, delay */
const DELAYS = [
  ['5 ms at a low rate', 100, 10, 5],
  ['5 ms at the rate that keeps half of the connections busy', 1000, 10, 5],
  ['above it, the delay that keeps half of them busy', 4000, 10, 1.25],
  ['one connection', 1000, 1, 0.5],
];

describe('the delay of the target is', () => {
  for (const [what, rate, concurrency, expected] of DELAYS) {
    test(what, () => assert.equal(delayFor(rate, concurrency), expected));
  }
});

/**
 * A machine that is accurate up to some rate, and has a hiccup at each first try.
 *
 * @param {number} limit per second
 * @param {{hiccups?: boolean, concurrency?: number, duration?: number, peakPerSecond?: number, p50Factor?: number}} [options]
 */
async function search(
  limit,
  { hiccups = false, concurrency = 10, duration = 1000, peakPerSecond = 50_000, p50Factor = 1.05 } = {},
) {
  /** @type {Set<number | null>} */
  const seen = new Set();
  const step = /** @type {Measure} */ (
    async ({ ratePerSecond, delayMs }) => {
      const hiccup = hiccups && !seen.has(ratePerSecond);
      seen.add(ratePerSecond);
      const { measurement } =
        Number(ratePerSecond) > limit || hiccup ? against('invalid', 'load_not_offered') : GOOD;
      const latency = { count: 5, p50: 0.1, p99: 0.2, max: 0.3 };
      const result = {
        totals: { planned: 5 },
        latencyMs: { response: { p50: Number(delayMs) * p50Factor, p99: Number(delayMs) * 1.05 } },
      };
      const sighting = {
        samples: 5,
        latenessMs: latency,
        targetMs: { ...latency, p50: delayMs, p99: delayMs },
      };
      return /** @type {any} */ ({ result, measurement, ...sighting });
    }
  );
  const options = {
    concurrency,
    threads: 1,
    pacing: /** @type {const} */ ('auto'),
    duration,
    maxLateness: 1,
  };
  const { tries, ...found } = await findAccurateRate({ step, options, peakPerSecond });
  return { ...found, rates: tries.map(({ ratePerSecond }) => ratePerSecond), tries };
}

test('retries a failed rate once, and the lowest failed rate again at the end', async () => {
  const { rates, ratePerSecond, failedAtPerSecond, delayMs } = await search(3000);
  assert.deepEqual(rates, [1000, 2000, 4000, 4000, 2800, 3300, 3300, 3300]);
  assert.deepEqual([ratePerSecond, failedAtPerSecond, delayMs], [2800, 3300, 1.786]);
});

test('a hiccup at every first try changes only the number of tries', async () => {
  const { rates, ratePerSecond, failedAtPerSecond } = await search(3000, { hiccups: true });
  assert.deepEqual([ratePerSecond, failedAtPerSecond], [2800, 3300]);
  assert.equal(rates.length, 2 * new Set(rates).size + 1);
});

test('no rate is accurate: searches down to the rate with enough requests for a verdict', async () => {
  const { rates, ratePerSecond, failedAtPerSecond, delayMs } = await search(0, { duration: 500 });
  assert.deepEqual([...new Set(rates)], [1000, 500, 240]);
  assert.deepEqual([ratePerSecond, failedAtPerSecond, delayMs], [null, 240, null]);
});

test('every rate is accurate: searches up to slightly above the closed-loop peak', async () => {
  const { rates, ratePerSecond, failedAtPerSecond } = await search(1e9, { peakPerSecond: 5000 });
  assert.deepEqual(rates, [1000, 2000, 4000, 6000]);
  assert.deepEqual([ratePerSecond, failedAtPerSecond], [6000, null]);
});

test('each try contains the figures that decided it', async () => {
  const { tries, limits } = await search(3000);
  for (const one of tries) assert.equal(one.isAccurate, meetsLimits(one, limits.latenessP99Ms));
  assert.deepEqual(tries[0].p50Ms, { reported: 5.25, target: 5, error: 0.05 });
  assert.deepEqual(limits, { latenessP99Ms: 1, errorP50: 0.1, errorP99: 0.1 });
});

const RANGE = { start: 1000, lowest: 100, highest: 100_000, maxTries: 30 };

/** @param {Partial<typeof RANGE>} range @param {(rate: number) => boolean} judge */
async function searchRange(range, judge) {
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
    'ends at the highest rate if everything passes',
    {},
    () => true,
    { passed: 100_000, failed: null, tried: [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 100_000] },
  ],
  ['nothing passes', {}, () => false, { passed: null, failed: 100, tried: [1000, 500, 250, 130, 100, 100] }],
  [
    'the highest rate is near',
    { highest: 2200 },
    () => true,
    { passed: 2200, failed: null, tried: [1000, 2200] },
  ],
  ['start above highest', { start: 1e9 }, () => true, { passed: 100_000, failed: null, tried: [100_000] }],
  [
    'a range of one rate',
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
    'stops after maxTries with the bracket so far',
    { maxTries: 4 },
    (rate) => rate <= 5000,
    { passed: 4000, failed: 8000, tried: [1000, 2000, 4000, 8000] },
  ],
];

describe('findHighestRate', () => {
  for (const [what, range, judge, expected] of TABLE) {
    test(what, async () => assert.deepEqual(await searchRange(range, judge), expected));
  }
});

test('for any threshold, the highest passed rate is within a quarter of the lowest failed one', async () => {
  const property = fc.asyncProperty(fc.double({ min: 100, max: 99_000, noNaN: true }), async (threshold) => {
    const { passed, failed, tried } = await searchRange({}, (rate) => rate <= threshold);
    assert.ok(passed !== null && failed !== null && passed <= threshold && threshold < failed);
    assert.ok(failed / passed <= 1.25, `${passed} .. ${failed}`);
    assert.ok(tried.length <= 14, `${tried.length} tries`);
  });
  await fc.assert(property);
});

test('after an initial disturbance, the lowest failed rate passes at the end, and the search continues', async () => {
  let left = 4;
  const judge = (/** @type {number} */ rate) => left-- <= 0 && rate <= 5000;
  assert.deepEqual(await searchRange({}, judge), {
    passed: 4800,
    failed: 5700,
    tried: [1000, 500, 250, 130, 100, 110, 130, 260, 520, 1000, 2000, 4000, 8000, 5700, 4800, 5700],
  });
});

test('retries the lowest failed rate at the end, even if a lower one passed after it failed', async () => {
  const verdicts = [true, false, false, false, true, false, true, false];
  const judge = () => verdicts.shift() ?? false;
  const { passed, failed, tried } = await searchRange({}, judge);
  assert.deepEqual([passed, failed, tried.at(-1)], [1700, 2000, 2000]);
});
