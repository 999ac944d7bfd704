/**
 * The highest rate at which a run is honest: the measurement is not invalid, and by the target's clock the sends are on time and
 * p50 and p99 are right. How much lateness a run can bear depends on
 * how long the target takes, and how long it can take on how many connections there are: it takes as long as keeps half
 * of them busy (rate x delay = concurrency / 2, Little's law), and no longer than a responder on the same machine does.
 */
import { formatRate } from '../../common/units.js';
import { nextLevel } from '../bisect.js';
import { toMicros } from './measure.js';

/** @import { CalibrationOptions } from './calibrate-plan.js' */
/** @import { Measure, Quantiles, Verdict } from './measure.js' */

/**
 * @typedef {object} Compared milliseconds
 * @property {number | null} reported response time
 * @property {number | null} target what the target took, from the moment it noticed the request
 * @property {number | null} error the part by which the first is above the second: what the tool adds, and what the
 *   target takes to wake
 */
/**
 * @typedef {object} Try one measurement at one rate
 * @property {number} ratePerSecond
 * @property {number} delayMs of the target
 * @property {boolean} honest
 * @property {number} planned
 * @property {number} samples requests that the target saw
 * @property {Quantiles} latenessMs of the sends, as the target saw it
 * @property {Compared} p50Ms
 * @property {Compared} p99Ms
 * @property {Verdict} measurement
 */
/**
 * @typedef {object} HonestRate
 * @property {number | null} ratePerSecond the highest of which a try was honest; null: none was
 * @property {number | null} delayMs of the target at that rate
 * @property {number | null} brokenAtPerSecond the lowest rate above it that failed, each time; null: none above it did
 * @property {{latenessP99Ms: number, errorP50: number, errorP99: number}} limits
 * @property {Try[]} tries in order
 */

const MAX_RATES = 12;

/** `--rate` takes no more. */
const RATE_LIMIT = 1e6;

/** With fewer requests a p99 is just the slowest; some more, to be on the safe side. */
const MIN_SAMPLES = 120;

/** An open loop can hardly send more than a closed one gets answered. */
const ABOVE_PEAK = 1.2;

/** What an OCSP responder on the same machine takes (docs/accuracy.md). */
const LONGEST_DELAY_MS = 5;

/** A p50 or p99 that is further off is wrong. */
const MAX_ERROR = 0.1;

/**
 * A hiccup of the machine must not decide: a rate that fails is tried once more at once, and the lowest of them at the end.
 *
 * @param {object} context
 * @param {Measure} context.step
 * @param {CalibrationOptions} context.options
 * @param {number} context.peakPerSecond of a closed loop
 * @returns {Promise<HonestRate>}
 */
export async function findHonestRate({ step, options, peakPerSecond }) {
  const { concurrency, duration, maxLateness } = options;
  /** @type {Try[]} */
  const tries = [];
  /** @param {number} ratePerSecond */
  const passesOnce = async (ratePerSecond) => {
    const label = `is ${formatRate(ratePerSecond)} honest?`;
    const delayMs = delayFor(ratePerSecond, concurrency);
    const measured = await step({ label, ratePerSecond, delayMs });
    const one = describeTry({ ratePerSecond, delayMs, ...measured });
    const honest = isHonest(one, maxLateness);
    tries.push({ ...one, honest });
    return honest;
  };
  const lowest = Math.ceil((MIN_SAMPLES * 1000) / duration);
  const highest = Math.min(RATE_LIMIT, Math.max(lowest, peakPerSecond * ABOVE_PEAK));
  const { passed, failed } = await findHighestRate({
    start: (concurrency * 500) / LONGEST_DELAY_MS,
    lowest,
    highest,
    maxTries: MAX_RATES,
    async passes(rate) {
      const isNew = tries.every(({ ratePerSecond }) => ratePerSecond !== rate);
      return (await passesOnce(rate)) || (isNew && (await passesOnce(rate)));
    },
  });
  return {
    ratePerSecond: passed,
    delayMs: passed === null ? null : delayFor(passed, concurrency),
    brokenAtPerSecond: failed,
    limits: { latenessP99Ms: maxLateness, errorP50: MAX_ERROR, errorP99: MAX_ERROR },
    tries,
  };
}

/** @param {number} ratePerSecond @param {number} concurrency */
export function delayFor(ratePerSecond, concurrency) {
  return toMicros(Math.min(LONGEST_DELAY_MS, (concurrency * 500) / ratePerSecond));
}

/**
 * @param {{ratePerSecond: number, delayMs: number} & Awaited<ReturnType<Measure>>} measured
 * @returns {Omit<Try, 'honest'>}
 */
function describeTry({ ratePerSecond, delayMs, result, measurement, samples, latenessMs, targetMs }) {
  const { totals, latencyMs } = result;
  return {
    ratePerSecond,
    delayMs,
    planned: totals.planned,
    samples,
    latenessMs,
    p50Ms: compare(latencyMs.response.p50, targetMs.p50),
    p99Ms: compare(latencyMs.response.p99, targetMs.p99),
    measurement,
  };
}

/** @param {number | null} reported @param {number | null} target @returns {Compared} */
export function compare(reported, target) {
  const error = reported === null || target === null ? null : toMicros(reported / target - 1);
  return { reported, target, error };
}

/** @param {Compared} compared @param {number} maxError */
export function isWrong({ error }, maxError) {
  return error === null || Math.abs(error) > maxError;
}

/** @param {Omit<Try, 'honest'>} one @param {number} maxLatenessMs */
export function isHonest({ planned, samples, latenessMs, p50Ms, p99Ms, measurement }, maxLatenessMs) {
  return (
    measurement.verdict !== 'invalid' &&
    samples === planned &&
    (latenessMs.p99 ?? Number.POSITIVE_INFINITY) <= maxLatenessMs &&
    !isWrong(p50Ms, MAX_ERROR) &&
    !isWrong(p99Ms, MAX_ERROR)
  );
}

/** Two rates count as the same when one is at most so many times the other: nothing is looked for between them. */
const CLOSE_ENOUGH = 1.25;

/**
 * @param {object} search per second, all of them
 * @param {number} search.start
 * @param {number} search.lowest nothing below it is tried
 * @param {number} search.highest nothing above it is tried, where two digits leave a rate between both
 * @param {number} search.maxTries
 * @param {(rate: number) => Promise<boolean>} search.passes
 * @returns {Promise<{passed: number | null, failed: number | null}>} the highest that passed and the lowest above it that
 *   failed, again at the end unless the tries were used up; null: none passed, none above it failed
 */
export async function findHighestRate({ start, lowest, highest, maxTries, passes }) {
  /** @type {number | null} */
  let passed = null;
  /** The lowest that failed since a failed one was tried again and passed: nothing above it is tried. @type {number | null} */
  let bound = null;
  /** @type {number[]} */
  const failures = [];
  const failed = () => {
    const above = failures.filter((one) => one > Number(passed));
    return above.length === 0 ? null : Math.min(...above);
  };
  const low = twoDigits(lowest, Math.ceil);
  const high = Math.max(low, twoDigits(highest, Math.floor));
  const range = {
    lowest: low,
    highest: high,
    round: (/** @type {number} */ rate) => twoDigits(rate),
    isClose,
    near: CLOSE_ENOUGH,
  };
  let rate = twoDigits(Math.min(Math.max(start, low), high));
  let isEnd = false;
  for (let tries = 0; tries < maxTries; tries++) {
    if (await passes(rate)) {
      passed = rate;
      // What failed above it may have failed for the same reason.
      if (isEnd) bound = null;
    } else {
      if (isEnd) break;
      failures.push(rate);
      bound = rate;
    }
    const next = nextLevel({ passed, failed: bound }, range);
    const nextOrAgain = next ?? failed();
    if (nextOrAgain === null) break;
    isEnd = next === null;
    rate = nextOrAgain;
  }
  return { passed, failed: failed() };
}

/** @param {number} passed @param {number} failed */
function isClose(passed, failed) {
  return failed / passed <= CLOSE_ENOUGH;
}

/** @param {number} value at least one @param {(value: number) => number} [round] */
function twoDigits(value, round = Math.round) {
  const unit = Math.max(1, 10 ** (Math.floor(Math.log10(value)) - 1));
  return round(value / unit) * unit;
}
