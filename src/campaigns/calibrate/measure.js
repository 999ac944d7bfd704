/** One measurement of a calibration: a whole run as a user's, and the target's record of it. */
import { EXIT, PkiLoadError } from '../../common/errors.js';
import { formatDuration, formatRate } from '../../common/units.js';
import { scheduleOf } from '../../plan/due.js';
import { run } from '../../run.js';

/** @import { Plan } from '../../plan/plan.js' */
/** @import { Measurement } from '../../verdict/measurement-schema.js' */
/** @import { CalibrationOptions } from './calibrate-options.js' */
/** @import { Seen } from './target.js' */

/** @typedef {Pick<Measurement, 'verdict' | 'reasons'>} Verdict on the measurement */

/** Time zero and arrivals are read on the same clock, through two processes' offsets. */
const CLOCKS_APART_MS = 0.05;

/**
 * @param {Plan} plan
 * @param {object} context
 * @param {Awaited<ReturnType<typeof import('./target.js').startCalibrationTarget>>} context.target
 * @param {number} context.delayMs of the target
 * @param {AbortSignal | undefined} context.signal
 * @param {(text: string) => void} context.warn
 */
export async function measure(plan, { target, delayMs, signal, warn }) {
  await target.begin(delayMs);
  const result = await run(plan, {
    token: target.pki.token,
    signal,
    cutOff: signal,
    onEvent: (event) => event.type === 'warning' && warn(event.text),
  }).catch((error) => {
    throw error.code === 'interrupted' ? interrupted() : error;
  });
  if (result.interrupted) throw interrupted();
  const seen = await target.end();
  const { verdict, reasons } = result.measurement;
  return {
    result,
    measurement: { verdict, reasons },
    ...sight(seen, plan, BigInt(result.startedAtMonotonicNs ?? 0)),
  };
}

function interrupted() {
  return new PkiLoadError('interrupted', 'Interrupted: an incomplete calibration has no result.', {
    exitCode: EXIT.interrupted,
  });
}

/**
 * Arrivals are matched with due times in order. Requests of several threads can overtake each other: the mean lateness is still right, but
 * the percentiles are too low by as much as one thread is behind another.
 * @param {Seen} seen
 * @param {Plan} plan without a warm-up
 * @param {bigint} startedAtNs time zero on the machine's monotonic clock
 * @returns times in ms; `latenessMs`: of the sends, empty in a closed loop; `targetMs`: from noticing a request to its response;
 *   `targetBusy`: CPU time of all its threads as a share of one core, null: too short to measure
 */
export function sight({ arrivedMs, answeredMs, cpu, baseNs }, { load }, startedAtNs) {
  const originMs = Number(startedAtNs - baseNs) / 1e6;
  // The first request of `ocsp`, which checks the responder, comes before time zero.
  const first = arrivedMs.findIndex((ms) => ms >= originMs - CLOCKS_APART_MS);
  const from = first < 0 ? arrivedMs.length : first;
  const arrived = arrivedMs.subarray(from);
  const schedule = scheduleOf(load);
  const lateness = schedule === null ? [] : arrived.map((ms, i) => ms - originMs - schedule.dueMs(i));
  const answers = answeredMs.subarray(from).map((ms, i) => ms - arrived[i]);
  return {
    samples: arrived.length,
    latenessMs: quantilesOf(Float64Array.from(lateness)),
    targetMs: quantilesOf(answers.filter((ms) => !Number.isNaN(ms))),
    targetBusy: busyShare(cpu, originMs, originMs + Number(load.durationMs)),
  };
}

/** @param {Seen['cpu']} cpu @param {number} fromMs @param {number} toMs */
function busyShare(cpu, fromMs, toMs) {
  const inside = cpu.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
  const [first, last] = [inside[0], inside.at(-1)];
  if (last === undefined || last.atMs === first.atMs) return null;
  return toMicros((last.cpuMs - first.cpuMs) / (last.atMs - first.atMs));
}

/** @typedef {ReturnType<typeof quantilesOf>} Quantiles milliseconds; null of nothing; with fewer than 100 values p99 is the largest */

/** @param {Float64Array} values milliseconds, in any order */
export function quantilesOf(values) {
  const sorted = values.slice().sort();
  const at = (/** @type {number} */ share) =>
    sorted.length === 0 ? null : toMicros(sorted[Math.max(0, Math.ceil(share * sorted.length - 1e-9) - 1)]);
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** @param {number} ms @returns {number} ms, to the nearest microsecond */
export function toMicros(ms) {
  return Math.round(ms * 1000) / 1000;
}

/**
 * @typedef {object} DelayRow
 * @property {number} delayMs of the target
 * @property {number} ratePerSecond
 * @property {number} samples
 * @property {{p50: number | null, p99: number | null}} reportedMs response time, as the tool reports it
 * @property {{p50: number | null, p99: number | null}} targetMs by the target's clock
 * @property {{p50: number | null, p99: number | null}} addedMs the differences of both percentiles. They include the target's wake-up, so
 *   the tool adds no more than this
 * @property {Verdict} measurement
 */
/**
 * @typedef {object} LatenessRow
 * @property {number} ratePerSecond
 * @property {number} samples
 * @property {Quantiles} seenMs from the due time of a request to its arrival, by the target's clock: includes the target's wake-up, some
 *   tens of microseconds
 * @property {{p50: number | null, p99: number | null, max: number | null}} ownMs send lag, as the tool reports it
 * @property {Verdict} measurement
 */
/**
 * @typedef {object} Peak closed loop
 * @property {number} perSecond
 * @property {number} checkedShare of the responses
 * @property {number | null} targetBusy share of one core
 */
/** @typedef {(step: {label: string, ratePerSecond: number | null, delayMs?: number}) => ReturnType<typeof measure>} Measure */

const DELAYS_MS = [0.2, 1, 10];
const RATES = [20, 100, 1000, 10_000];

/**
 * At most half of the connections are busy, so that nothing waits for one.
 * @param {Measure} step
 * @param {CalibrationOptions} options
 * @returns {Promise<DelayRow[]>}
 */
export async function measureDelays(step, { concurrency }) {
  /** @type {DelayRow[]} */
  const rows = [];
  for (const delayMs of DELAYS_MS) {
    const ratePerSecond = Math.min(200, Math.round((concurrency * 500) / (delayMs + 1)));
    const label = `added to a delay of ${formatDuration(delayMs)}`;
    const { result, measurement, samples, targetMs } = await step({ label, ratePerSecond, delayMs });
    const { p50, p99 } = result.latencyMs.response;
    rows.push({
      ...{ delayMs, ratePerSecond, samples },
      reportedMs: { p50, p99 },
      targetMs: { p50: targetMs.p50, p99: targetMs.p99 },
      addedMs: { p50: difference(p50, targetMs.p50), p99: difference(p99, targetMs.p99) },
      measurement,
    });
  }
  return rows;
}

/** @param {Measure} step @returns {Promise<Peak>} */
export async function measurePeak(step) {
  const { result, targetBusy } = await step({ label: 'closed-loop peak', ratePerSecond: null });
  const { checked, unchecked } = result.verification;
  return {
    perSecond: Math.round(result.rates.perSecond),
    checkedShare: toMicros(checked / Math.max(1, checked + unchecked)),
    targetBusy,
  };
}

/** @param {Measure} step @param {number} peakPerSecond @returns {Promise<LatenessRow[]>} */
export async function measureLateness(step, peakPerSecond) {
  /** @type {LatenessRow[]} */
  const rows = [];
  for (const ratePerSecond of RATES.filter((rate) => rate <= peakPerSecond)) {
    const label = `lateness at ${formatRate(ratePerSecond)}`;
    const { result, measurement, samples, latenessMs } = await step({ label, ratePerSecond });
    const { p50, p99, max } = result.latencyMs.sendLag;
    rows.push({ ratePerSecond, samples, seenMs: latenessMs, ownMs: { p50, p99, max }, measurement });
  }
  return rows;
}

/** @param {number | null} one @param {number | null} other */
function difference(one, other) {
  return one === null || other === null ? null : toMicros(one - other);
}
