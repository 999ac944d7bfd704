/** One measurement of a calibration: a normal run, and the target's recording of it. */
import { interrupted } from '../../common/stop.js';
import { formatDuration, formatRate } from '../../common/units.js';
import { scheduleOf } from '../../plan/due.js';
import { run } from '../../run.js';

/** @import { Plan } from '../../plan/plan.js' */
/** @import { Measurement } from '../../result/schema.js' */
/** @import { CalibrationOptions } from './calibrate-options.js' */
/** @import { TargetRecording, Target } from './target.js' */

/** @typedef {Pick<Measurement, 'verdict' | 'reasons'>} Verdict on the measurement */

/** Tolerance for the clock offsets of the two processes. */
const CLOCK_TOLERANCE_MS = 0.05;

/** @typedef {{target: Target, delayMs: number, signal: AbortSignal | undefined, warn: (text: string) => void}} Context */

/** @param {Plan} plan @param {Context} context */
export async function measure(plan, { target, delayMs, signal, warn }) {
  await target.record(delayMs);
  const result = await run(plan, {
    ...{ token: target.pki.token, signal, cutOff: signal },
    onEvent: (event) => event.type === 'warning' && warn(event.text),
  });
  if (result.interrupted) throw interrupted();
  const { verdict, reasons } = result.measurement;
  const observed = observe(await target.record(0), plan, BigInt(result.startedAtMonotonicNs ?? 0));
  return { result, measurement: /** @type {Verdict} */ ({ verdict, reasons }), ...observed };
}

/**
 * Matches arrivals with due times in order. Requests of several threads can overtake each other: the mean
 * lateness is still right, but the percentiles are too low by up to the lag between threads.
 * @param {TargetRecording} seen @param {Plan} plan without a warm-up @param {bigint} startedAtNs time zero, monotonic
 * @returns times in ms; `latenessMs`: of the sends, empty in a closed loop; `targetMs`: from a request to its
 *   response; `targetBusy`: its CPU time as a share of one core, null: too short to measure
 */
export function observe({ arrivedMs, respondedMs, cpu, baseNs }, { load }, startedAtNs) {
  const originMs = Number(startedAtNs - baseNs) / 1e6;
  // `ocsp` checks the responder before time zero.
  const first = arrivedMs.findIndex((ms) => ms >= originMs - CLOCK_TOLERANCE_MS);
  const from = first < 0 ? arrivedMs.length : first;
  const arrived = arrivedMs.subarray(from);
  const schedule = scheduleOf(load);
  const lateness = schedule === null ? [] : arrived.map((ms, i) => ms - originMs - schedule.dueMs(i));
  const responseTimes = respondedMs.subarray(from).map((ms, i) => ms - arrived[i]);
  return {
    samples: arrived.length,
    latenessMs: quantilesOf(Float64Array.from(lateness)),
    targetMs: quantilesOf(responseTimes.filter((ms) => !Number.isNaN(ms))),
    targetBusy: busyShare(cpu, originMs, originMs + Number(load.durationMs)),
  };
}

/** @param {TargetRecording['cpu']} cpu @param {number} fromMs @param {number} toMs */
function busyShare(cpu, fromMs, toMs) {
  const inside = cpu.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
  const [first, last] = [inside[0], inside.at(-1)];
  if (last === undefined || last.atMs === first.atMs) return null;
  return toMicros((last.cpuMs - first.cpuMs) / (last.atMs - first.atMs));
}

/** @typedef {ReturnType<typeof quantilesOf>} Quantiles ms; null without values */

/** @param {Float64Array} values ms, in any order */
export function quantilesOf(values) {
  const sorted = values.slice().sort();
  const at = (/** @type {number} */ share) =>
    sorted.length === 0 ? null : toMicros(sorted[Math.max(0, Math.ceil(share * sorted.length - 1e-9) - 1)]);
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** @param {number} ms @returns {number} ms, to the nearest microsecond */
export const toMicros = (ms) => Math.round(ms * 1000) / 1000;

/** @typedef {(step: {label: string, ratePerSecond: number | null, delayMs?: number}) => ReturnType<typeof measure>} Measure */

const DELAYS_MS = [0.2, 1, 10];
const RATES = [20, 100, 1000, 10_000];

/** Keeps at most half of the connections busy, so that no request waits. @param {Measure} step @param {CalibrationOptions} options */
export async function measureDelays(step, { concurrency }) {
  const rows = [];
  for (const delayMs of DELAYS_MS) {
    const ratePerSecond = Math.min(200, Math.round((concurrency * 500) / (delayMs + 1)));
    const label = `latency added to a delay of ${formatDuration(delayMs)}`;
    const { result, measurement, samples, targetMs } = await step({ label, ratePerSecond, delayMs });
    const { p50, p99 } = result.latencyMs.response;
    rows.push({
      ...{ delayMs, ratePerSecond, samples, measurement },
      reportedMs: { p50, p99 },
      targetMs: { p50: targetMs.p50, p99: targetMs.p99 },
      addedMs: { p50: difference(p50, targetMs.p50), p99: difference(p99, targetMs.p99) },
    });
  }
  return rows;
}

/** @param {Measure} step @returns of a closed loop; `checkedShare`: of the responses */
export async function measurePeak(step) {
  const { result, targetBusy } = await step({ label: 'closed-loop peak', ratePerSecond: null });
  const { checked, unchecked } = result.verification;
  return {
    perSecond: Math.round(result.rates.perSecond),
    checkedShare: toMicros(checked / Math.max(1, checked + unchecked)),
    targetBusy,
  };
}

/** `seenMs`: lateness by the target's clock, its wake-up included. @param {Measure} step @param {number} peakPerSecond */
export async function measureLateness(step, peakPerSecond) {
  const rows = [];
  for (const ratePerSecond of RATES.filter((rate) => rate <= peakPerSecond)) {
    const label = `lateness at ${formatRate(ratePerSecond)}`;
    const { result, measurement, samples, latenessMs } = await step({ label, ratePerSecond });
    const { p50, p99, max } = result.latencyMs.sendLag;
    rows.push({ ratePerSecond, samples, measurement, seenMs: latenessMs, ownMs: { p50, p99, max } });
  }
  return rows;
}

/** @param {number | null} a @param {number | null} b */
const difference = (a, b) => (a === null || b === null ? null : toMicros(a - b));
