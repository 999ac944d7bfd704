import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { uniform } from '../../src/common/random.js';
import { exactPercentiles, servedPercentiles } from './freeze.js';
import { lateness } from './lateness.js';
import { lindleyWaits, meanWait, SERVICE_MS, typicalSeeds } from './queue.js';
import { mean, median, medianOf, medianOfMost, quantile } from './statistics.js';

/** @param {number} actual @param {number} expected @param {number} within */
const near = (actual, expected, within) =>
  assert.ok(Math.abs(actual - expected) <= within, `${actual} is not within ${within} of ${expected}`);

const exponential = (/** @type {number} */ u) => -Math.log(u);

describe('bench statistics', () => {
  it('medians of odd and even counts, and of known values only', () => {
    assert.equal(median([3, 1, 2]), 2);
    assert.equal(median([4, 1, 3, 2]), 2.5);
    assert.equal(medianOf([null, 5, null]), 5);
    assert.equal(medianOf([null]), null);
  });

  it('no median if half of the runs or more lack the value', () => {
    assert.equal(medianOfMost([1, null, 3, null, 2]), 2);
    assert.equal(medianOfMost([1, null, null, null, null]), null);
    assert.equal(medianOfMost([1, null]), null);
    assert.equal(medianOfMost([]), null);
  });

  it('quantiles use the nearest rank', () => {
    const ten = Float64Array.from({ length: 10 }, (_, i) => i + 1);
    assert.deepEqual(
      [0, 0.1, 0.11, 0.5, 0.9, 0.91, 1].map((share) => quantile(ten, share)),
      [1, 1, 2, 5, 9, 10, 10],
    );
  });
});

describe('freeze', () => {
  /** @type {(exact: ReturnType<typeof exactPercentiles>, rate: number, drained: number) => void} */
  const match = (exact, rate, drained) => {
    for (const [name, p] of /** @type {const} */ ([
      ['p90', 0.9],
      ['p95', 0.95],
      ['p99', 0.99],
    ])) {
      near(exact[name], 511 - (1 - p) * 2500 * drained, 1000 / rate);
    }
  };

  it('simulated requests match the closed form to within one interval', () => {
    for (const rate of [100, 1000, 4000]) {
      const exact = exactPercentiles(rate, 4);
      assert.equal(exact.p50, 0);
      match(exact, rate, 1);
    }
  });

  it('what a target records gives the closed form, with the time to work off the backlog', () => {
    const [rate, capacity, originNs] = [1000, 20_000, 5_000_000_000n];
    const frozen = (/** @type {number} */ ms) =>
      ms % 2500 >= 994.5 && ms % 2500 < 1505.5 ? 1505.5 - (ms % 2500) : 0;
    let freeAtMs = 0;
    const doneMs = Array.from({ length: 10_000 }, (_, due) => {
      freeAtMs = Math.max(freeAtMs, due + frozen(due)) + 1000 / capacity;
      return freeAtMs;
    });
    const heldNs = BigInt64Array.from(doneMs, () => 30_000n);
    const atNs = BigInt64Array.from(doneMs, (ms) => originNs + BigInt(Math.round(ms * 1e6)) - 30_000n);
    // Two responses that cross.
    [atNs[3], atNs[4]] = [atNs[4], atNs[3]];
    const served = servedPercentiles({ atNs, heldNs }, rate, originNs);
    near(served.p50, 1000 / capacity, 1e-6);
    match(served, rate, 1 - rate / capacity);
  });
});

describe('queue', () => {
  it('waits of arrivals computed by hand', () => {
    assert.deepEqual([...lindleyWaits([0, 1, 2, 20, 25], 10)], [0, 9, 18, 10, 15]);
    assert.deepEqual([...lindleyWaits([], 10)], []);
  });

  it('a simulated first-come, first-served server gives the same waits', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 50 }), (gaps) => {
        let at = 0;
        const arrivals = gaps.map((gap) => {
          at += gap;
          return at;
        });
        let busyUntil = 0;
        const expected = arrivals.map((time) => {
          const begin = Math.max(time, busyUntil);
          busyUntil = begin + 10;
          return begin - time;
        });
        assert.deepEqual([...lindleyWaits(arrivals, 10)], expected);
      }),
    );
  });

  it('the mean wait of many Poisson arrivals matches the formula', () => {
    for (const rho of [0.5, 0.8]) {
      let at = 0;
      const arrivals = Float64Array.from({ length: 400_000 }, (_, i) => {
        at += exponential(uniform(7, i)) / rho;
        return at;
      });
      const wait = mean(lindleyWaits(arrivals, 1));
      near(wait / meanWait(rho, 1), 1, 0.03);
    }
    assert.equal(meanWait(0.8, 10), 20.000000000000004);
  });

  it('chosen seeds have a mean wait near the formula', () => {
    const seeds = typicalSeeds(0.5, 5, 3);
    assert.equal(new Set(seeds.map(({ seed }) => seed)).size, 3);
    const formula = meanWait(0.5, SERVICE_MS);
    for (const { exactMs } of seeds) near(exactMs, formula, formula / 100);
  });
});

describe('lateness', () => {
  const at = (/** @type {number[]} */ ...ms) => ({
    atNs: BigInt64Array.from(ms, (one) => BigInt(Math.round(one * 1e6))),
  });

  it('is relative to the start of the schedule if known', () => {
    const { p50, max, spreadP50, share } = lateness(
      at(100.2, 110.1, 120.4),
      { rate: 100, seconds: 0.03 },
      100_000_000n,
    );
    near(Number(p50), 0.2, 1e-9);
    near(Number(max), 0.4, 1e-9);
    near(Number(spreadP50), 0.1, 1e-9);
    assert.equal(share, 1);
  });

  it('is a spread if the start is unknown', () => {
    const { p50, spreadP99 } = lateness(at(5.3, 15, 25.4), { rate: 100, seconds: 0.03 }, null);
    assert.equal(p50, null);
    near(Number(spreadP99), 0.4, 1e-9);
  });

  it('is unknown if requests are missing, since order then identifies none', () => {
    const load = { rate: 100, seconds: 0.1 };
    const { p50, spreadP50, share } = lateness(at(100, 110, 120), load, null);
    assert.deepEqual([p50, spreadP50, share], [null, null, 0.3]);
    assert.throws(() => lateness(at(100, 110, 120), load, 100_000_000n), /3 of 10 requests arrived/);
  });

  it('rejects an arrival before its due time', () => {
    assert.throws(
      () => lateness(at(100, 109.9, 120), { rate: 100, seconds: 0.03 }, 100_000_000n),
      /before it was due/,
    );
  });
});
