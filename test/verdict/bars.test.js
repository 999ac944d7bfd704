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
