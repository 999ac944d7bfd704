/** A calibration as it might come out on a machine with two quiet cores. */

/** @type {import('../../src/calibrate/measure.js').Verdict} */
const VALID = { verdict: 'valid', reasons: [] };

/** @param {number} count @param {number} p50 @param {number} p99 @param {number} max */
const quantiles = (count, p50, p99, max) => ({ count, p50, p99, max });

/**
 * @param {number} ratePerSecond
 * @param {boolean} honest
 * @param {Partial<import('../../src/calibrate/honest-rate.js').Try>} [changes]
 * @returns {import('../../src/calibrate/honest-rate.js').Try}
 */
export const tryAt = (ratePerSecond, honest, changes) => ({
  ratePerSecond,
  delayMs: 2.5,
  honest,
  planned: ratePerSecond,
  samples: ratePerSecond,
  latenessMs: quantiles(ratePerSecond, 0.021, 0.18, 1.2),
  p99Ms: { reported: 2.7, target: 2.52, error: 0.071 },
  measurement: VALID,
  ...changes,
});

/** @type {Omit<import('../../src/calibrate/calibrate.js').Calibration, 'summary'>} */
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
  honestRate: {
    ratePerSecond: 2000,
    delayMs: 2.5,
    brokenAtPerSecond: 2200,
    limits: { latenessP99Ms: 1, errorP99: 0.1 },
    tries: [
      tryAt(1000, true, { delayMs: 5, p99Ms: { reported: 5.2, target: 5.02, error: 0.036 } }),
      tryAt(2000, true),
      tryAt(4000, false, {
        delayMs: 1.25,
        measurement: { verdict: 'suspect', reasons: [{ code: 'send_lag', text: 'The tool sent late.' }] },
      }),
      tryAt(2200, false, { p99Ms: { reported: 3.1, target: 2.29, error: 0.354 } }),
    ],
  },
};
