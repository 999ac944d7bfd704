/**
 * What this machine can honestly measure: the generator, as in any run, against a target whose delay is known and whose
 * own lateness is recorded. Emits events; prints nothing; stores nothing.
 */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { TOOL_VERSION } from '../../common/version.js';
import { loadOperation } from '../../operations/index.js';
import { planOf, readCalibrationOptions } from './calibrate-plan.js';
import { findHonestRate } from './honest-rate.js';
import { measure, measureDelays, measureLateness, measurePeak, toMicros } from './measure.js';
import { summarise } from './report.js';
import { startCalibrationTarget } from './target.js';

/** @import { CalibrationOptions } from './calibrate-plan.js' */
/** @import { HonestRate } from './honest-rate.js' */
/** @import { DelayRow, LatenessRow, Measure, Peak } from './measure.js' */

const CALIBRATION_SCHEMA_ID = 'vault-pki-load/calibration/1';

/**
 * @typedef {object} Calibration
 * @property {typeof CALIBRATION_SCHEMA_ID} schema
 * @property {{version: string}} tool
 * @property {string} startedAt
 * @property {number} durationSeconds
 * @property {{node: string, platform: string, cpus: number, model: string, loadAverage: number}} environment
 *   `cpus`: those this process may use; `loadAverage`: of the minute before, 0 where the system keeps none
 * @property {{concurrency: number, threads: number, pacing: string, stepMs: number, maxLatenessMs: number}} settings
 * @property {DelayRow[]} delays
 * @property {LatenessRow[]} lateness at those rates that are not beyond the peak
 * @property {Peak} peak
 * @property {HonestRate} honestRate
 * @property {{text: string, limits: string[], remedies: string[]}} summary sentences
 */
/** @typedef {{type: 'progress', label: string, done: number, total: number} | {type: 'warning', text: string}} CalibrationEvent */

/** Measurements that a calibration is expected to need, for the progress. */
const EXPECTED = 22;

/**
 * @param {Record<string, unknown>} [given] options as the command line takes them, by camelCase or kebab-case name
 * @param {{signal?: AbortSignal, onEvent?: (event: CalibrationEvent) => void}} [context]
 * @returns {Promise<Calibration>}
 */
export async function calibrate(given = {}, { signal, onEvent = () => {} } = {}) {
  const options = readCalibrationOptions(given);
  const started = { at: new Date(), ms: performance.now(), environment: environment() };
  const operation = await loadOperation('ocsp');
  // Options that contradict each other are refused before anything is started.
  const nowhere = { url: 'http://127.0.0.1', pki: { url: 'http://127.0.0.1', token: '' } };
  planOf(operation, options, nowhere, 1);
  const target = await startCalibrationTarget();
  const warn = onceEach((text) => onEvent({ type: 'warning', text }));
  let done = 0;
  /** @type {Measure} */
  const step = ({ label, ratePerSecond, delayMs = 0 }) => {
    onEvent({ type: 'progress', label, done, total: Math.max(EXPECTED, ++done) });
    return measure(planOf(operation, options, target, ratePerSecond), { target, delayMs, signal, warn });
  };
  try {
    // Code that has never run is tens of milliseconds late; the first closed loop is for that alone.
    await step({ label: 'warming up', ratePerSecond: null });
    const delays = await measureDelays(step, options);
    const peak = await measurePeak(step);
    const lateness = await measureLateness(step, peak.perSecond);
    const honestRate = await findHonestRate({ step, options, peakPerSecond: peak.perSecond });
    const measured = { environment: started.environment, settings: settingsOf(options) };
    const found = { ...measured, delays, lateness, peak, honestRate };
    return {
      schema: CALIBRATION_SCHEMA_ID,
      tool: { version: TOOL_VERSION },
      startedAt: started.at.toISOString(),
      durationSeconds: toMicros((performance.now() - started.ms) / 1000),
      ...found,
      summary: summarise(found),
    };
  } catch (error) {
    // After an interruption the reason needs no message.
    throw signal?.aborted ? error : await target.causeOf(error);
  } finally {
    await target.stop();
  }
}

/** Every measurement is a run, and each would warn of the same. @param {(text: string) => void} say */
function onceEach(say) {
  /** @type {Set<string>} */
  const said = new Set();
  return (/** @type {string} */ text) => {
    if (said.has(text)) return;
    said.add(text);
    say(text);
  };
}

function environment() {
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpus: availableParallelism(),
    model: cpus()[0]?.model ?? 'unknown',
    loadAverage: toMicros(loadavg()[0]),
  };
}

/** @param {CalibrationOptions} options */
function settingsOf({ concurrency, threads, pacing, duration, maxLateness }) {
  return { concurrency, threads, pacing, stepMs: duration, maxLatenessMs: maxLateness };
}
