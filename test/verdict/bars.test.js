import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHistogram, recordMs } from '../../src/common/histogram.js';
import { uniform } from '../../src/common/random.js';
import { total } from '../../src/common/sums.js';
import { meanBar, rateBar } from '../../src/verdict/bars.js';
import { binomialCdf } from '../../src/verdict/statistics.js';

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

test('the bar of few successes misses the true rate in 6 % of runs at most', () => {
  for (const [rate, seconds] of [
    [0.1, 30],
    [0.1, 60],
    [1, 6],
    [1, 10],
    [5, 10],
    [0.3, 120],
    [2, 20],
  ]) {
    let drawn = 0;
    const gap = () => -Math.log(uniform(seconds, drawn++)) / rate;
    const missed = { below: 0, above: 0 };
    const runs = 2000;
    for (let run = 0; run < runs; run++) {
      const completedPerSecond = Array(seconds).fill(0);
      let succeeded = 0;
      for (let at = gap(); at < seconds; at += gap()) {
        completedPerSecond[Math.floor(at)]++;
        succeeded++;
      }
      if (succeeded === 0) continue;
      const { low, high } = rateBar({
        ...SAMPLE,
        perSecond: succeeded / seconds,
        succeeded,
        completedPerSecond,
      });
      if (Number(high) < rate) missed.below++;
      if (low > rate) missed.above++;
    }
    for (const count of Object.values(missed))
      assert.ok(count / runs < 0.06, `${rate}/s, ${seconds} s: ${JSON.stringify(missed)} of ${runs}`);
  }
});

test('with a few failures in an open loop, the lower end of the bar misses the true rate in 6 % of runs at most', () => {
  for (const [rate, seconds, share] of [
    [20, 30, 0.005],
    [20, 60, 0.01],
    [5, 30, 0.05],
    [100, 10, 0.002],
  ]) {
    let drawn = 0;
    const runs = 2000;
    let missed = 0;
    for (let run = 0; run < runs; run++) {
      const failedPerSecond = Array.from({ length: seconds }, () => {
        let failed = 0;
        for (let i = 0; i < rate; i++) if (uniform(rate + seconds, drawn++) < share) failed++;
        return failed;
      });
      const completedPerSecond = failedPerSecond.map((failed) => rate - failed);
      const succeeded = total(completedPerSecond);
      const errors = total(failedPerSecond);
      const load = { perSecond: succeeded / seconds, succeeded, errors, errorsPerSecond: errors / seconds };
      const { low } = rateBar({
        ...{ ...SAMPLE, ...load, offeredPerSecond: rate, completedPerSecond, failedPerSecond },
      });
      // Without an error the rate is the offered one.
      if (errors > 0 && low > rate * (1 - share)) missed++;
    }
    assert.ok(missed / runs < 0.06, `${rate}/s, ${seconds} s, ${share}: ${missed} of ${runs}`);
  }
});

for (const [name, seconds, clump, isSeen] of /** @type {const} */ ([
  ['failures', 60, 20, true],
  ['dropped requests', 60, 20, false],
  ['failures in a short run', 4, 4, true],
]))
  test(`with ${name} in clumps, the upper end of the bar of an open loop misses the true rate in 8 % of runs at most`, () => {
    const [offeredPerSecond, share, runs] = [100, 0.2, 500];
    let [missed, drawn] = [0, 0];
    for (let run = 0; run < runs; run++) {
      // In a fifth of the seconds, a queue is full.
      const failedPerSecond = Array.from({ length: seconds }, () =>
        uniform(3, drawn++) < share ? clump : 0,
      );
      const errors = total(failedPerSecond);
      const succeeded = offeredPerSecond * seconds - errors;
      const { high } = rateBar({
        ...{ ...SAMPLE, offeredPerSecond, errors, succeeded, isOnTime: true },
        perSecond: succeeded / seconds,
        completedPerSecond: failedPerSecond.map((failed) => offeredPerSecond - failed),
        failedPerSecond: isSeen ? failedPerSecond : [],
        errorsPerSecond: errors / seconds,
      });
      if (Number(high) < offeredPerSecond - clump * share) missed++;
    }
    assert.ok(missed < 0.08 * runs, `${missed} of ${runs}`);
  });

test('the bar of random arrivals that were served in time has the spread of their number, also if their rate varies by plan', () => {
  for (const [levels, share] of /** @type {const} */ ([
    [[0.5, 60, 0.5], 0],
    [[2, 10, 40], 0.01],
    [[10, 10, 10], 0.2],
  ])) {
    const runs = 1000;
    const missed = { below: 0, above: 0 };
    let [drawn, widest] = [0, 0];
    const rates = levels.flatMap((rate) => Array.from({ length: 20 }, () => rate));
    const rate = (total(rates) / rates.length) * (1 - share);
    for (let run = 0; run < runs; run++) {
      const failedPerSecond = rates.map(() => 0);
      const completedPerSecond = rates.map((perSecond, second) => {
        let completed = 0;
        for (let at = 0; ; ) {
          at -= Math.log(uniform(7, drawn++)) / perSecond;
          if (at > 1) return completed;
          if (uniform(8, drawn) < share) failedPerSecond[second]++;
          else completed++;
        }
      });
      const [succeeded, errors] = [total(completedPerSecond), total(failedPerSecond)];
      const counts = { succeeded, errors, perSecond: succeeded / rates.length };
      const perSecond = { completedPerSecond, failedPerSecond, errorsPerSecond: errors / rates.length };
      const { low, high } = rateBar({ ...SAMPLE, ...counts, ...perSecond, isOnTime: true });
      if (Number(high) < rate) missed.below++;
      if (low > rate) missed.above++;
      widest = Math.max(widest, ((Number(high) - low) * rates.length) / Math.sqrt(succeeded));
    }
    for (const count of Object.values(missed))
      assert.ok(count / runs < 0.06, `${levels}: ${JSON.stringify(missed)} of ${runs}`);
    // 1.645 standard deviations on either side, and more with failures.
    assert.ok(widest < 5, `${levels}: ${widest}`);
  }
});

test('random arrivals of which many were dropped keep the spread of the seconds: drops come in clumps', () => {
  const completedPerSecond = Array.from({ length: 60 }, (_, second) => (second % 10 < 5 ? 30 : 70));
  const failedPerSecond = completedPerSecond.map(() => 0);
  const counts = { perSecond: 50, succeeded: 3000, errors: 3000, errorsPerSecond: 50 };
  const highOf = (/** @type {boolean} */ isOnTime) =>
    Number(rateBar({ ...SAMPLE, ...counts, completedPerSecond, failedPerSecond, isOnTime }).high);
  assert.ok(highOf(true) - 50 > 0.9 * (highOf(false) - 50), `${highOf(true)}`);
});

test('requests that may have failed by the fault of the tool, or were cut off, might have succeeded', () => {
  const none = { ...SAMPLE, perSecond: 0, succeeded: 0, completedPerSecond: [0, 0], errors: 0 };
  assert.deepEqual(rateBar(none), { low: 0, high: 0, sampled: 0, tool: 0 });
  assert.deepEqual(rateBar({ ...none, lostPerSecond: 9.5 }), { low: 0, high: 9.5, sampled: 0, tool: 9.5 });
  const failed = rateBar({ ...none, errors: 100, errorsPerSecond: 10 });
  assert.ok(Number(failed.high) > 0.29 && Number(failed.high) < 0.3, 'a share of 3/n may succeed');
  const one = rateBar({ ...none, errors: 1, errorsPerSecond: 0.5 });
  assert.ok(Math.abs(Number(one.high) - 0.475) < 1e-9, 'one failure shows little');
  assert.equal(rateBar({ ...none, unseenPerSecond: 1.5 }).high, 1.5, 'random arrivals, of which none came');
  const some = { ...SAMPLE, perSecond: 8, succeeded: 80, completedPerSecond: Array(10).fill(8) };
  const [certain, cutOff] = [rateBar(some), rateBar({ ...some, lostPerSecond: 3 })];
  assert.equal(cutOff.low, certain.low);
  assert.ok(Math.abs(Number(cutOff.high) - Number(certain.high) - 3) < 1e-9);
});

test('by how much the tool may have lowered the rate: up to the offered rate, whatever the sampling error', () => {
  const sample = {
    ...{ ...SAMPLE, perSecond: 6, succeeded: 24, completedPerSecond: [6, 6, 6, 6], fullSeconds: 4 },
    ...{ errors: 16, waited: 16, offeredPerSecond: 10 },
  };
  assert.equal(rateBar(sample).tool, 0);
  const { high, sampled, tool } = rateBar({ ...sample, slowdown: 1.25 });
  assert.deepEqual([high, sampled, tool], [10, 10, 1.5]);
  assert.equal(rateBar({ ...sample, slowdown: Number.POSITIVE_INFINITY }).tool, 4);
  const unknown = { ...sample, offeredPerSecond: null, slowdown: Number.POSITIVE_INFINITY };
  assert.deepEqual([rateBar(unknown).high, rateBar(unknown).tool], [null, null]);
});

test('if those in flight at the end may count or not, the bar includes both', () => {
  const sample = { ...SAMPLE, perSecond: 10, succeeded: 200, completedPerSecond: Array(20).fill(10) };
  const { low, high } = rateBar(sample);
  assert.ok(low > 9 && Number(high) < 11);
  const wide = rateBar({ ...sample, least: 8, most: 20, offeredPerSecond: 20 });
  assert.ok(wide.low < 8 && Number(wide.high) >= 20, JSON.stringify(wide));
});

test('the mean of 200 fast requests may miss slow ones: a share of 1.5 %, as slow as the timeout', () => {
  const histogram = createHistogram();
  for (let i = 0; i < 200; i++) recordMs(histogram, 20 + (i % 3));
  const times = { reported: histogram, target: histogram };
  assert.ok(meanBar(times).high < 22);
  const { high } = meanBar(times, 10_000);
  assert.ok(high > 160 && high < 190, String(high));
});

for (const n of [20, 50, 200]) {
  test(`the bar of a mean of ${n} requests misses the truth in 6 % of runs at most, however few are fast or slow`, () => {
    /** Bars with 0, 1, 2, ... slow requests. */
    const bars = Array.from({ length: n + 1 }, (_, slow) => {
      const histogram = createHistogram();
      for (let i = 0; i < n; i++) recordMs(histogram, i < slow ? 1000 : 1);
      return meanBar({ reported: histogram, target: histogram }, 1000);
    });
    for (let share = 0.002; share < 1; share += 0.002) {
      const mean = 1 + share * 999;
      const missed = [0, 0];
      for (const [slow, { low, high }] of bars.entries()) {
        const probability = binomialCdf(slow, n, share) - binomialCdf(slow - 1, n, share);
        if (low > mean * 1.001) missed[0] += probability;
        if (high < mean * 0.999) missed[1] += probability;
      }
      assert.ok(Math.max(...missed) < 0.06, `${share}: ${missed}`);
    }
  });
}
