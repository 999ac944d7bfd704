/**
 * What this machine can honestly measure: the generator, as in any run, against a target whose delay is known and whose
 * own lateness is recorded. Emits events; prints nothing; stores nothing.
 */
import { availableParallelism, cpus } from 'node:os';
import { loadOperation } from '../operations/index.js';
import { formatDuration, formatRate } from '../units.js';
import { TOOL_VERSION } from '../version.js';
import { findHonestRate } from './honest-rate.js';
import { measure } from './measure.js';
import { planOf, readCalibrationOptions } from './plan.js';
import { toMicros } from './quantiles.js';
import { summarise } from './summary.js';
import { startCalibrationTarget } from './target.js';

export const CALIBRATION_SCHEMA_ID = 'vault-pki-load/calibration/1';

/** @typedef {import('./quantiles.js').Quantiles} Quantiles */
/** @typedef {import('./measure.js').Verdict} Measurement */
/**
 * @typedef {object} DelayRow
 * @property {number} delayMs that the target was told
 * @property {number} ratePerSecond
 * @property {number} samples
 * @property {{p50: number | null, p99: number | null}} reportedMs response time, as the tool reports it
 * @property {{p50: number | null, p99: number | null}} targetMs what the target took, by its own clock
 * @property {{p50: number | null, p99: number | null}} addedMs the difference of both: percentiles' differences, not
 *   percentiles of differences
 * @property {Measurement} measurement
 */
/**
 * @typedef {object} LatenessRow
 * @property {number} ratePerSecond
 * @property {number} samples
 * @property {Quantiles} seenMs from the moment a request was due to its arrival, by the target's clock
 * @property {{p50: number | null, p99: number | null, max: number | null}} ownMs send lag, as the tool reports it
 * @property {Quantiles} unseenMs how long requests may have been there before the target saw them: this much of `seenMs` may
 *   be the target's; empty when it slept
 * @property {Measurement} measurement
 */
/**
 * @typedef {object} Peak closed loop
 * @property {number} perSecond
 * @property {number} checkedShare of the answers
 * @property {number | null} targetBusy share of one core
 */
/**
 * @typedef {object} Calibration
 * @property {typeof CALIBRATION_SCHEMA_ID} schema
 * @property {{version: string}} tool
 * @property {string} startedAt
 * @property {number} durationSeconds
 * @property {{node: string, platform: string, cpus: number, model: string}} environment `cpus`: those this process may use
 * @property {{concurrency: number, threads: number, pacing: string, stepMs: number, maxLatenessMs: number}} settings
 * @property {boolean} targetSpins there is a core for it; else its delays end on timers, and it is woken by the system
 * @property {DelayRow[]} delays
 * @property {LatenessRow[]} lateness at those rates that are not beyond the peak
 * @property {Peak} peak
 * @property {import('./honest-rate.js').HonestRate} honestRate
 * @property {{text: string, limits: string[], remedies: string[]}} summary sentences
 */
/** @typedef {{type: 'progress', label: string, done: number, total: number} | {type: 'warning', text: string}} CalibrationEvent */
/** @typedef {(step: {label: string, ratePerSecond: number | null, delayMs?: number, spin?: import('./known-delay.js').Mode['spin']}) => ReturnType<typeof measure>} Measure */

const DELAYS_MS = [0.2, 1, 10];
const RATES = [20, 100, 1000, 10_000];

/** Measurements that a calibration is expected to need, for the progress. */
const EXPECTED = 22;

/**
 * @param {Record<string, unknown>} [given] options as the command line takes them, by camelCase or kebab-case name
 * @param {{signal?: AbortSignal, onEvent?: (event: CalibrationEvent) => void}} [context]
 * @returns {Promise<Calibration>}
 * @throws {import('../errors.js').PkiLoadError}
 */
export async function calibrate(given = {}, { signal, onEvent = () => {} } = {}) {
  const options = readCalibrationOptions(given);
  const started = { at: new Date(), ms: performance.now() };
  const operation = await loadOperation('ocsp');
  const nowhere = { url: 'http://127.0.0.1', pki: { url: 'http://127.0.0.1', token: '' } };
  planOf(operation, options, nowhere, 1);
  const target = await startCalibrationTarget();
  const targetSpins = availableParallelism() > options.threads;
  let done = 0;
  /** @type {Measure} */
  const step = ({ label, ratePerSecond, delayMs = 0, spin = 'always' }) => {
    onEvent({ type: 'progress', label, done, total: Math.max(EXPECTED, ++done) });
    const mode = { delayMs, spin: targetSpins ? spin : /** @type {const} */ ('never') };
    const warn = (/** @type {string} */ text) => onEvent({ type: 'warning', text });
    return measure(planOf(operation, options, target, ratePerSecond), { target, mode, signal, warn });
  };
  try {
    // Code that has never run is tens of milliseconds late; the first closed loop is for that alone.
    await step({ label: 'warming up', ratePerSecond: null, spin: 'never' });
    const delays = await measureDelays(step, options);
    const peak = await measurePeak(step);
    const lateness = await measureLateness(step, peak.perSecond);
    const honestRate = await findHonestRate({ step, options, peakPerSecond: peak.perSecond });
    const measured = { environment: environment(), settings: settingsOf(options), targetSpins };
    const found = { ...measured, delays, lateness, peak, honestRate };
    return {
      schema: CALIBRATION_SCHEMA_ID,
      tool: { version: TOOL_VERSION },
      startedAt: started.at.toISOString(),
      durationSeconds: toMicros((performance.now() - started.ms) / 1000),
      ...found,
      summary: summarise(found),
    };
  } finally {
    await target.stop();
  }
}

/**
 * At most half of the connections are busy, so that nothing waits for one.
 *
 * @param {Measure} step
 * @param {import('./plan.js').CalibrationOptions} options
 * @returns {Promise<DelayRow[]>}
 */
async function measureDelays(step, { concurrency }) {
  /** @type {DelayRow[]} */
  const rows = [];
  for (const delayMs of DELAYS_MS) {
    const ratePerSecond = Math.min(200, Math.round((concurrency * 500) / (delayMs + 1)));
    const label = `added to a delay of ${formatDuration(delayMs)}`;
    const { result, measurement, samples, targetMs } = await step({ label, ratePerSecond, delayMs });
    const { p50, p99 } = result.latencyMs.response;
    rows.push({
      delayMs,
      ratePerSecond,
      samples,
      reportedMs: { p50, p99 },
      targetMs: { p50: targetMs.p50, p99: targetMs.p99 },
      addedMs: { p50: difference(p50, targetMs.p50), p99: difference(p99, targetMs.p99) },
      measurement,
    });
  }
  return rows;
}

/**
 * @param {Measure} step
 * @returns {Promise<Peak>}
 */
async function measurePeak(step) {
  const { result, targetBusy } = await step({
    label: 'closed-loop peak',
    ratePerSecond: null,
    spin: 'never',
  });
  const { checked, unchecked } = result.verification;
  return {
    perSecond: Math.round(result.rates.perSecond),
    checkedShare: toMicros(checked / Math.max(1, checked + unchecked)),
    targetBusy,
  };
}

/**
 * @param {Measure} step
 * @param {number} peakPerSecond
 * @returns {Promise<LatenessRow[]>}
 */
async function measureLateness(step, peakPerSecond) {
  /** @type {LatenessRow[]} */
  const rows = [];
  for (const ratePerSecond of RATES.filter((rate) => rate <= peakPerSecond)) {
    const label = `lateness at ${formatRate(ratePerSecond)}`;
    const { result, measurement, samples, latenessMs, unseenMs } = await step({ label, ratePerSecond });
    const { p50, p99, max } = result.latencyMs.sendLag;
    rows.push({
      ratePerSecond,
      samples,
      seenMs: latenessMs,
      ownMs: { p50, p99, max },
      unseenMs,
      measurement,
    });
  }
  return rows;
}

/**
 * @param {number | null} one
 * @param {number | null} other
 */
function difference(one, other) {
  return one === null || other === null ? null : toMicros(one - other);
}

function environment() {
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpus: availableParallelism(),
    model: cpus()[0]?.model ?? 'unknown',
  };
}

/** @param {import('./plan.js').CalibrationOptions} options */
function settingsOf({ concurrency, threads, pacing, duration, maxLateness }) {
  return { concurrency, threads, pacing, stepMs: duration, maxLatenessMs: maxLateness };
}
