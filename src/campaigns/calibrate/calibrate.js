/** Measures the limits of this machine: sends the normal load to a target with a known delay. Emits events, prints nothing. */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { isolated } from '../../common/listener.js';
import { interruptedError } from '../../common/stop.js';
import { TOOL_VERSION } from '../../common/version.js';
import { loadOperation } from '../../operations/index.js';
import { reportOnce } from '../../operations/mix.js';
import { makePlan } from '../../plan/plan.js';
import { readEnvironment } from '../../vault/environment.js';
import { findAccurateRate } from './accurate-rate.js';
import { readCalibrationOptions } from './calibrate-options.js';
import { measure, measureDelays, measureLateness, measurePeak, toMicros } from './measure.js';
import { summarize } from './report.js';
import { startCalibrationTarget } from './target.js';

/** @import { Operation } from '../../operations/index.js' */
/** @import { CalibrationOptions } from './calibrate-options.js' */
/** @import { Measure } from './measure.js' */
/** @import { TargetInfo } from './target.js' */

/** @typedef {Awaited<ReturnType<typeof calibrate>>} Calibration */
/** @typedef {{type: 'progress', label: string, done: number, total: number} | {type: 'warning', text: string}} CalibrationEvent */

/** Expected number of measurements, for progress. */
const EXPECTED = 22;

/** Also limits how long the backlog of an overload takes to drain. */
const TIMEOUT_MS = 1000;

/**
 * @param {Record<string, unknown>} [given] command-line options, by camelCase or kebab-case name
 * @param {{signal?: AbortSignal, onEvent?: (event: CalibrationEvent) => void}} [context]
 */
export async function calibrate(given = {}, { signal, ...context } = {}) {
  const onEvent = isolated(context.onEvent);
  const options = readCalibrationOptions(given);
  const startedAt = new Date().toISOString();
  const startedMs = performance.now();
  const environment = readMachine();
  const operation = await loadOperation('ocsp');
  // Reject contradictory options before the target starts.
  planOf(operation, options, { url: 'http://127.0.0.1', pki: { url: 'http://127.0.0.1', token: '' } }, 1);
  const target = await startCalibrationTarget();
  // Every measurement is a run, with the same warnings.
  const warn = reportOnce((text) => onEvent({ type: 'warning', text }));
  let done = 0;
  /** @type {Measure} */
  const step = ({ label, ratePerSecond, delayMs = 0 }) => {
    onEvent({ type: 'progress', label, done, total: Math.max(EXPECTED, ++done) });
    return measure(planOf(operation, options, target, ratePerSecond), { target, delayMs, signal, warn });
  };
  try {
    // Warm up: cold code sends tens of milliseconds late.
    await step({ label: 'warming up', ratePerSecond: null });
    const figures = { environment, ...(await measureAll(step, options)) };
    return {
      schema: /** @type {const} */ ('vault-pki-load/calibration/1'),
      tool: { version: TOOL_VERSION },
      startedAt,
      durationSeconds: toMicros((performance.now() - startedMs) / 1000),
      ...figures,
      summary: summarize(figures),
    };
  } catch (error) {
    if (!signal?.aborted) throw await target.causeOf(error);
    throw interruptedError('Interrupted: an incomplete calibration has no result.');
  } finally {
    await target.stop();
  }
}

/** @typedef {Awaited<ReturnType<typeof measureAll>> & {environment: ReturnType<typeof readMachine>}} Figures */

/** @param {Measure} step @param {CalibrationOptions} options */
async function measureAll(step, options) {
  const { concurrency, threads, pacing, duration, maxLateness } = options;
  const delays = await measureDelays(step, options);
  const peak = await measurePeak(step);
  const lateness = await measureLateness(step, peak.perSecond);
  const accurateRate = await findAccurateRate({ step, options, peakPerSecond: peak.perSecond });
  const settings = { concurrency, threads, pacing, stepMs: duration, maxLatenessMs: maxLateness };
  return { settings, delays, lateness, peak, accurateRate };
}

/**
 * Ignores this machine's environment variables.
 * @param {Operation} operation `ocsp` @param {CalibrationOptions} options @param {TargetInfo} target
 * @param {number | null} ratePerSecond null: closed loop
 */
export function planOf(operation, { concurrency, threads, pacing, duration }, { url, pki }, ratePerSecond) {
  const load = {
    ...(ratePerSecond === null ? {} : { rate: ratePerSecond, pacing }),
    ...{ concurrency, threads, duration: duration / 1000, timeoutMs: TIMEOUT_MS, seed: 1 },
  };
  const subject = { url: pki.url, ocspUrl: url, role: 'example-dot-com-ec' };
  return makePlan(operation, { ...load, ...subject }, readEnvironment({}));
}

/** @returns `loadAverage`: of the last minute, 0 if the system has none */
function readMachine() {
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpus: availableParallelism(),
    model: cpus()[0]?.model ?? 'unknown',
    loadAverage: toMicros(loadavg()[0]),
  };
}
