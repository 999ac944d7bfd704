import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rateBar } from '../../src/verdict/bars.js';

const SAMPLE = { errors: 0, offeredPerSecond: null, isServed: false, slowdown: 1 };

test('full seconds without responses count, but need no memory', () => {
  const completedPerSecond = [3, 5, 4];
  const short = { ...SAMPLE, perSecond: 12 / 40, succeeded: 12 };
  const padded = [...completedPerSecond, ...Array(37).fill(0)];
  assert.deepEqual(
    rateBar({ ...short, completedPerSecond, fullSeconds: 40 }),
    rateBar({ ...short, completedPerSecond: padded }),
  );
  const long = { ...SAMPLE, perSecond: 12 / 1e12, succeeded: 12, completedPerSecond };
  const { low, high } = rateBar({ ...long, fullSeconds: 1e12 });
  assert.equal(low, 0);
  assert.ok(Number(high) >= long.perSecond && Number(high) < 1e-9, String(high));
});

test('in a short run, responses that may have come in clumps of 40 prove less than as many that came alone', () => {
  const sample = { ...SAMPLE, perSecond: 20, succeeded: 80, completedPerSecond: [20, 20, 20, 20] };
  const [alone, clumped] = [rateBar(sample), rateBar({ ...sample, clump: 40 })];
  assert.ok(alone.low > 12 && Number(alone.high) < 31, JSON.stringify(alone));
  assert.ok(clumped.low < 5 && Number(clumped.high) > 60, JSON.stringify(clumped));
});

test('if the target may have kept up, the bar reaches the rate that it would then have had', () => {
  const sample = { ...SAMPLE, perSecond: 10, succeeded: 200, completedPerSecond: Array(20).fill(10) };
  assert.ok(Number(rateBar(sample).high) < 11);
  assert.ok(Number(rateBar({ ...sample, slack: 2, offeredPerSecond: 20 }).high) >= 20);
});
