import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { observe, quantilesOf } from '../../../src/campaigns/calibrate/measure.js';

/** @import { Plan } from '../../../src/plan/plan.js' */

/** What a target saw of a run, from its record and the run's time zero. */

const NONE = { count: 0, p50: null, p99: null, max: null };

/** @param {number | null} ratePerSecond */
function planOf(ratePerSecond) {
  const load = {
    model: ratePerSecond === null ? 'closed' : 'open',
    ratePerSecond,
    arrivals: 'constant',
    durationMs: 1000,
    requests: null,
    warmupMs: 0,
    rampUpMs: 0,
    stages: null,
  };
  return /** @type {Plan} */ (/** @type {unknown} */ ({ load }));
}

/** @param {number[]} arrivedMs @param {number[]} respondedMs @param {[number, number][]} [cpu] */
const seen = (arrivedMs, respondedMs, cpu = []) => ({
  arrivedMs: Float64Array.from(arrivedMs),
  respondedMs: Float64Array.from(respondedMs),
  cpu: cpu.map(([atMs, cpuMs]) => ({ atMs, cpuMs })),
  baseNs: 7_000_000_000n,
});

/** Time zero is 500 ms on the target's own clock. */
const ZERO_NS = 7_500_000_000n;

/** @type {[string, number | null, ReturnType<typeof seen>, object][]} */
const TABLE = [
  [
    'each arrival is compared with its due time',
    10,
    seen([500.25, 601, 700.5], [501.25, 604, 702.5]),
    {
      samples: 3,
      latenessMs: { count: 3, p50: 0.5, p99: 1, max: 1 },
      targetMs: { count: 3, p50: 2, p99: 3, max: 3 },
    },
  ],
  [
    'ignores arrivals before time zero',
    10,
    seen([300, 499.9, 500.1], [301, 500.9, 500.6]),
    {
      samples: 1,
      latenessMs: { count: 1, p50: 0.1, p99: 0.1, max: 0.1 },
      targetMs: { count: 1, p50: 0.5, p99: 0.5, max: 0.5 },
    },
  ],
  [
    'clocks read in two processes may differ by microseconds',
    10,
    seen([499.98], [500.98]),
    {
      samples: 1,
      latenessMs: { count: 1, p50: -0.02, p99: -0.02, max: -0.02 },
      targetMs: { count: 1, p50: 1, p99: 1, max: 1 },
    },
  ],
  [
    'counts the arrival of a request without a response',
    10,
    seen([500, 600], [Number.NaN, 601]),
    {
      samples: 2,
      latenessMs: { count: 2, p50: 0, p99: 0, max: 0 },
      targetMs: { count: 1, p50: 1, p99: 1, max: 1 },
    },
  ],
  [
    'a closed loop has no lateness',
    null,
    seen([510, 520], [511, 521]),
    { samples: 2, latenessMs: NONE, targetMs: { count: 2, p50: 1, p99: 1, max: 1 } },
  ],
  ['no arrivals', 10, seen([300], [301]), { samples: 0, latenessMs: NONE, targetMs: NONE }],
];

describe('observe', () => {
  for (const [what, rate, record, expected] of TABLE) {
    test(what, () => {
      const { samples, latenessMs, targetMs } = observe(record, planOf(rate), ZERO_NS);
      assert.deepEqual({ samples, latenessMs, targetMs }, expected);
    });
  }
});

/** @type {[string, [number, number][], number | null][]} time and CPU time so far on the target's clock */
const BUSY = [
  [
    'CPU time within the run only',
    [
      [400, 0],
      [500, 10],
      [1000, 210],
      [1500, 460],
      [1600, 560],
    ],
    0.45,
  ],
  ['a single sample: unknown', [[700, 3]], null],
  ['no samples: unknown', [], null],
];

describe("the target's CPU", () => {
  for (const [what, cpu, expected] of BUSY) {
    test(what, () => assert.equal(observe(seen([], [], cpu), planOf(10), ZERO_NS).targetBusy, expected));
  }
});

/** @type {[string, number[], object][]} */
const QUANTILES = [
  ['nothing', [], { count: 0, p50: null, p99: null, max: null }],
  ['one value', [3], { count: 1, p50: 3, p99: 3, max: 3 }],
  ['an even count: the lower of the middle two', [4, 1, 3, 2], { count: 4, p50: 2, p99: 4, max: 4 }],
  ['a hundred', Array.from({ length: 100 }, (_, i) => 100 - i), { count: 100, p50: 50, p99: 99, max: 100 }],
  ['sorted as numbers', [10, 9, -1], { count: 3, p50: 9, p99: 10, max: 10 }],
  ['to the microsecond', [0.0123456], { count: 1, p50: 0.012, p99: 0.012, max: 0.012 }],
];

describe('quantiles', () => {
  for (const [what, values, expected] of QUANTILES) {
    test(what, () => assert.deepEqual(quantilesOf(Float64Array.from(values)), expected));
  }
});
