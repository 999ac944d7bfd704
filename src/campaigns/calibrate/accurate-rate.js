/**
 * Finds the highest rate at which this tool measures accurately: the measurement is valid and, by the
 * target's clock, sends are on time and p50 and p99 are right. The tolerable lateness depends on the
 * target's delay, which keeps half of the connections busy (rate x delay = concurrency / 2, Little's law)
 * but never exceeds that of a responder on the same machine.
 */
import { formatRate } from '../../common/units.js';
import { bisect } from '../bisect.js';
import { toMicros } from './measure.js';

/** @import { Bracket } from '../bisect.js' */
/** @import { CalibrationOptions } from './calibrate-options.js' */
/** @import { Measure, Quantiles, Verdict } from './measure.js' */

/** @typedef {ReturnType<typeof compare>} Compared ms, as reported and by the target's clock */
/**
 * One measurement. `delayMs`: the target's; `samples`: requests that reached it; `latenessMs`: send
 * lateness by its clock.
 * @typedef {{ratePerSecond: number, delayMs: number, isAccurate: boolean, planned: number, samples: number,
 *   latenessMs: Quantiles, p50Ms: Compared, p99Ms: Compared, measurement: Verdict}} Try
 */

/** `RATE_LIMIT`: the maximum of `--rate`. */
const [MAX_RATES, RATE_LIMIT] = [12, 1e6];

/** With fewer than 100 requests, p99 is the maximum; this adds a margin. */
const MIN_SAMPLES = 120;

/** Search limit, as a multiple of the closed-loop peak: an open loop can hardly send more. */
const ABOVE_PEAK = 1.2;

/** Response time of an OCSP responder on the same machine (docs/accuracy.md). */
const MAX_DELAY_MS = 5;

/** A p50 or p99 with a larger error is wrong. */
const MAX_ERROR = 0.1;

/** The search stops when the failed rate is within this factor of the passed one. */
const CLOSE_ENOUGH = 1.25;

/**
 * Retries a failed rate immediately: another process may have disturbed the machine.
 * @param {{step: Measure, options: CalibrationOptions, peakPerSecond: number}} context `peakPerSecond`: of a closed loop
 * @returns `ratePerSecond`: the highest accurate rate; `delayMs`: the target's delay at that rate;
 *   `failedAtPerSecond`: the lowest rate above it that failed every try; null: none
 */
export async function findAccurateRate({ step, options, peakPerSecond }) {
  const { concurrency, duration, maxLateness } = options;
  /** @type {Try[]} */
  const tries = [];
  /** @param {number} ratePerSecond */
  const passesOnce = async (ratePerSecond) => {
    const delayMs = delayFor(ratePerSecond, concurrency);
    const label = `accuracy at ${formatRate(ratePerSecond)}`;
    const { result, targetMs, targetBusy, ...observed } = await step({ label, ratePerSecond, delayMs });
    const { p50, p99 } = result.latencyMs.response;
    const attempt = {
      ...{ ratePerSecond, delayMs, planned: result.totals.planned, ...observed },
      ...{ p50Ms: compare(p50, targetMs.p50), p99Ms: compare(p99, targetMs.p99) },
    };
    const isAccurate = meetsLimits(attempt, maxLateness);
    tries.push({ ...attempt, isAccurate });
    return isAccurate;
  };
  const lowest = Math.ceil((MIN_SAMPLES * 1000) / duration);
  const { passed, failed } = await findHighestRate({
    start: (concurrency * 500) / MAX_DELAY_MS,
    lowest,
    highest: Math.min(RATE_LIMIT, Math.max(lowest, peakPerSecond * ABOVE_PEAK)),
    maxTries: MAX_RATES,
    async passes(rate) {
      const isNew = tries.every(({ ratePerSecond }) => ratePerSecond !== rate);
      return (await passesOnce(rate)) || (isNew && (await passesOnce(rate)));
    },
  });
  return {
    ratePerSecond: passed,
    delayMs: passed === null ? null : delayFor(passed, concurrency),
    failedAtPerSecond: failed,
    limits: { latenessP99Ms: maxLateness, errorP50: MAX_ERROR, errorP99: MAX_ERROR },
    tries,
  };
}

/** @param {number} ratePerSecond @param {number} concurrency */
export const delayFor = (ratePerSecond, concurrency) =>
  toMicros(Math.min(MAX_DELAY_MS, (concurrency * 500) / ratePerSecond));

/** @param {number | null} reported @param {number | null} target */
export function compare(reported, target) {
  const error = reported === null || target === null ? null : toMicros(reported / target - 1);
  return { reported, target, error };
}

/** @param {Compared} compared @param {number} maxError */
export const isWrong = ({ error }, maxError) => error === null || Math.abs(error) > maxError;

/** @param {Omit<Try, 'isAccurate'>} attempt @param {number} maxLatenessMs */
export function meetsLimits({ planned, samples, latenessMs, p50Ms, p99Ms, measurement }, maxLatenessMs) {
  return (
    measurement.verdict !== 'invalid' &&
    samples === planned &&
    (latenessMs.p99 ?? Number.POSITIVE_INFINITY) <= maxLatenessMs &&
    !isWrong(p50Ms, MAX_ERROR) &&
    !isWrong(p99Ms, MAX_ERROR)
  );
}

/**
 * Retries the lowest failed rate at the end: if it passes, the failure was a disturbance, and the search
 * continues above it.
 * @param {{start: number, lowest: number, highest: number, maxTries: number,
 *   passes: (rate: number) => Promise<boolean>}} search rates a second
 * @returns {Promise<Bracket>} rates with two significant digits; null: none passed, none above it failed
 */
export async function findHighestRate({ start, lowest, highest, maxTries, passes }) {
  const low = twoDigits(lowest, Math.ceil);
  const high = Math.max(low, twoDigits(highest, Math.floor));
  const isClose = (/** @type {number} */ passed, /** @type {number} */ failed) =>
    failed / passed <= CLOSE_ENOUGH;
  const range = { lowest: low, highest: high, near: CLOSE_ENOUGH, round: twoDigits, isClose };
  /** @type {Bracket} */
  const bracket = { passed: null, failed: null };
  let tries = 0;
  const counted = (/** @type {number} */ rate) => {
    tries++;
    return passes(rate);
  };
  const isStopped = () => tries >= maxTries;
  /** @type {number | undefined} */
  let first = twoDigits(Math.min(Math.max(start, low), high));
  for (;;) {
    await bisect(bracket, range, { first, passes: counted, isStopped });
    if (bracket.failed === null || isStopped() || !(await counted(bracket.failed))) return bracket;
    Object.assign(bracket, { passed: bracket.failed, failed: null });
    first = undefined;
  }
}

/** @param {number} value at least one @param {(value: number) => number} [round] */
function twoDigits(value, round = Math.round) {
  const unit = Math.max(1, 10 ** (Math.floor(Math.log10(value)) - 1));
  return round(value / unit) * unit;
}
