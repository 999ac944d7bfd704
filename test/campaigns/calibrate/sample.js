/** A calibration as it might come out on a machine with two quiet cores. */
import { compare, delayFor, meetsLimits } from '../../../src/campaigns/calibrate/accurate-rate.js';

/** @import { Calibration } from '../../../src/campaigns/calibrate/calibrate.js' */
/** @import { Try } from '../../../src/campaigns/calibrate/accurate-rate.js' */
/** @import { Verdict } from '../../../src/campaigns/calibrate/measure.js' */

/** @type {Verdict} */
const VALID = { verdict: 'valid', reasons: [] };

/** @param {number} count @param {number} p50 @param {number} p99 @param {number} max */
const quantiles = (count, p50, p99, max) => ({ count, p50, p99, max });

/** @param {number} ratePerSecond @param {Partial<Try>} [changes] @returns {Try} */
export function tryAt(ratePerSecond, changes) {
  const delayMs = delayFor(ratePerSecond, 10);
  const one = {
    ratePerSecond,
    delayMs,
    planned: ratePerSecond,
    samples: ratePerSecond,
    latenessMs: quantiles(ratePerSecond, 0.08, 0.18, 1.2),
    p50Ms: compare(delayMs + 0.12, delayMs + 0.01),
    p99Ms: compare(delayMs + 0.22, delayMs + 0.04),
    measurement: VALID,
    ...changes,
  };
  return { ...one, isAccurate: meetsLimits(one, 1) };
}

/** @type {Verdict} */
const TOO_FAST = {
  verdict: 'invalid',
  reasons: [
    { code: 'load_not_offered', text: 'The tool was late.', grade: /** @type {const} */ ('invalid') },
  ],
};

/** @type {Omit<Calibration, 'summary'>} */
export const CALIBRATION = {
  schema: 'vault-pki-load/calibration/1',
  tool: { version: '0.1.0' },
  startedAt: '2026-11-20T10:00:00.000Z',
  durationSeconds: 31.4,
  environment: {
    node: 'v20.20.2',
    platform: 'linux x64',
    cpus: 2,
    model: 'Some Processor',
    loadAverage: 0.3,
  },
  settings: { concurrency: 10, threads: 1, pacing: 'auto', stepMs: 1000, maxLatenessMs: 1 },
  delays: [
    {
      delayMs: 0.2,
      ratePerSecond: 200,
      samples: 200,
      reportedMs: { p50: 0.31, p99: 0.62 },
      targetMs: { p50: 0.201, p99: 0.21 },
      addedMs: { p50: 0.109, p99: 0.41 },
      measurement: VALID,
    },
    {
      delayMs: 10,
      ratePerSecond: 200,
      samples: 200,
      reportedMs: { p50: 10.127, p99: 10.51 },
      targetMs: { p50: 10.002, p99: 10.04 },
      addedMs: { p50: 0.125, p99: 0.47 },
      measurement: VALID,
    },
  ],
  lateness: [
    {
      ratePerSecond: 20,
      samples: 20,
      seenMs: quantiles(20, 0.07, 0.12, 0.12),
      ownMs: { p50: 0.011, p99: 0.03, max: 0.03 },
      measurement: VALID,
    },
    {
      ratePerSecond: 1000,
      samples: 1000,
      seenMs: quantiles(1000, 0.051, 0.24, 2.1),
      ownMs: { p50: 0.016, p99: 0.19, max: 2.02 },
      measurement: VALID,
    },
  ],
  peak: { perSecond: 61_234, checkedShare: 1, targetBusy: 0.97 },
  accurateRate: {
    ratePerSecond: 2000,
    delayMs: 2.5,
    failedAtPerSecond: 2400,
    limits: { latenessP99Ms: 1, errorP50: 0.1, errorP99: 0.1 },
    tries: [
      tryAt(1000),
      tryAt(2000),
      tryAt(4000, { p99Ms: compare(2.47, 1.31), measurement: TOO_FAST }),
      tryAt(4000, { p50Ms: compare(1.43, 1.26), p99Ms: compare(1.71, 1.29) }),
      tryAt(2800, { p99Ms: compare(2.21, 1.83) }),
      tryAt(2800, { p99Ms: compare(2.13, 1.83) }),
      tryAt(2400, { p99Ms: compare(2.46, 2.13) }),
      tryAt(2400, { p99Ms: compare(2.39, 2.12) }),
      tryAt(2400, { p99Ms: compare(3.1, 2.29) }),
    ],
  },
};
