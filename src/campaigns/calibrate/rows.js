/** The three tables of a calibration, a measurement for each row: what the tool adds at most, how late it sends, its peak. */
import { formatDuration, formatRate } from '../../common/units.js';
import { toMicros } from './quantiles.js';

/** @typedef {import('./quantiles.js').Quantiles} Quantiles */
/** @typedef {import('./measure.js').Verdict} Verdict */
/**
 * @typedef {object} DelayRow
 * @property {number} delayMs that the target was told
 * @property {number} ratePerSecond
 * @property {number} samples
 * @property {{p50: number | null, p99: number | null}} reportedMs response time, as the tool reports it
 * @property {{p50: number | null, p99: number | null}} targetMs what the target took, by its own clock
 * @property {{p50: number | null, p99: number | null}} addedMs the difference of both: percentiles' differences, not
 *   percentiles of differences. What the target took to be woken is in it, so the tool adds no more than this
 * @property {Verdict} measurement
 */
/**
 * @typedef {object} LatenessRow
 * @property {number} ratePerSecond
 * @property {number} samples
 * @property {Quantiles} seenMs from the moment a request was due to its arrival, by the target's clock: what it took to be
 *   woken, some tens of microseconds, included
 * @property {{p50: number | null, p99: number | null, max: number | null}} ownMs send lag, as the tool reports it
 * @property {Verdict} measurement
 */
/**
 * @typedef {object} Peak closed loop
 * @property {number} perSecond
 * @property {number} checkedShare of the answers
 * @property {number | null} targetBusy share of one core
 */
/** @typedef {(step: {label: string, ratePerSecond: number | null, delayMs?: number}) => ReturnType<typeof import('./measure.js').measure>} Measure */

const DELAYS_MS = [0.2, 1, 10];
const RATES = [20, 100, 1000, 10_000];

/**
 * At most half of the connections are busy, so that nothing waits for one.
 *
 * @param {Measure} step
 * @param {import('./calibrate-plan.js').CalibrationOptions} options
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
export async function measurePeak(step) {
  const { result, targetBusy } = await step({ label: 'closed-loop peak', ratePerSecond: null });
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
export async function measureLateness(step, peakPerSecond) {
  /** @type {LatenessRow[]} */
  const rows = [];
  for (const ratePerSecond of RATES.filter((rate) => rate <= peakPerSecond)) {
    const label = `lateness at ${formatRate(ratePerSecond)}`;
    const { result, measurement, samples, latenessMs } = await step({ label, ratePerSecond });
    const { p50, p99, max } = result.latencyMs.sendLag;
    rows.push({
      ratePerSecond,
      samples,
      seenMs: latenessMs,
      ownMs: { p50, p99, max },
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
