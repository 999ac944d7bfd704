/**
 * Can the measurement itself be believed? A closed list of reasons against it, each with its remedy, from what the
 * run itself observed.
 */
import { valueAtShare } from '../histogram.js';
import { formatCount, formatDuration } from '../units.js';

/**
 * @typedef {object} Observed
 * @property {import('./../histogram.js').Histogram} lag how late the tool was, waiting for a free connection left out
 * @property {import('./../histogram.js').Histogram} response of every request that was due
 * @property {number} planned
 * @property {number} neverSent
 * @property {number} droppedLate arrivals dropped because the tool looked too late
 * @property {number} unchecked answers of success that were not checked
 * @property {number} succeeded
 * @property {boolean} interrupted
 * @property {'open' | 'closed'} model
 */
/** @typedef {{grade: 'suspect' | 'invalid', code: string, text: string, remedy: string}} Reason */

/** The tool's own lateness as a share of the p99 that it reports. */
const LAG_SUSPECT = 0.1;
const LAG_INVALID = 0.5;

/** With fewer samples a p99 is just the slowest one. */
const MIN_SAMPLES = 100;

/** Sends that may be missing at the end without a word. */
const SHORT_SUSPECT = 0.01;

/** Unchecked answers count as successes: from this share on, that can decide a requirement. */
const UNCHECKED_SUSPECT = 0.5;

/** Every reason there is; see README. */
export const REASONS = Object.freeze({
  nothing_measured: 'no request was sent in the measured part',
  send_lag: 'the tool sent late by a good part of the latency that it reports',
  dropped_late:
    'arrivals were dropped because the tool itself was late, not because every connection was busy',
  sends_short_of_plan: 'part of the planned requests was never sent',
  mostly_unchecked: 'most answers were counted, but not checked',
  too_few_samples: 'too few requests for the percentiles that are reported',
  bookkeeping: 'the figures do not add up: a fault of the tool',
});

/**
 * @param {Observed} observed
 * @returns {{verdict: 'valid' | 'suspect' | 'invalid', reasons: {code: string, text: string, remedy: string}[]}}
 */
export function judgeMeasurement(observed) {
  const reasons = [
    nothingMeasured,
    sendLag,
    droppedTooLate,
    shortOfPlan,
    mostlyUnchecked,
    tooFewSamples,
  ].flatMap((rule) => rule(observed) ?? []);
  const verdict = reasons.some(({ grade }) => grade === 'invalid')
    ? 'invalid'
    : reasons.length > 0
      ? 'suspect'
      : 'valid';
  return { verdict, reasons: reasons.map(({ code, text, remedy }) => ({ code, text, remedy })) };
}

/** @param {Observed} observed @returns {Reason | null} */
function nothingMeasured({ response }) {
  if (response.totalCount > 0) return null;
  return {
    grade: 'invalid',
    code: 'nothing_measured',
    text: 'No request was sent in the measured part.',
    remedy: 'Let it run for longer, or lower --warmup.',
  };
}

/** @param {Observed} observed @returns {Reason | null} */
function sendLag({ lag, response, model }) {
  if (lag.totalCount === 0) return null;
  const late = valueAtShare(lag, 0.99);
  const whole = valueAtShare(response, 0.99);
  const part = whole === 0 ? 0 : late / whole;
  if (part <= LAG_SUSPECT) return null;
  const remedy =
    model === 'open'
      ? 'Give the tool more CPU, lower --rate, use --threads, or --pacing spin.'
      : 'Give the tool more CPU, or lower --concurrency.';
  return {
    grade: part > LAG_INVALID ? 'invalid' : 'suspect',
    code: 'send_lag',
    text: `The tool itself was late by ${formatDuration(late)} (p99), ${Math.round(part * 100)} % of the response time's p99 of ${formatDuration(whole)}.`,
    remedy,
  };
}

/** @param {Observed} observed @returns {Reason | null} */
function droppedTooLate({ droppedLate, planned }) {
  if (droppedLate === 0 || droppedLate / planned < SHORT_SUSPECT) return null;
  return {
    grade: 'invalid',
    code: 'dropped_late',
    text: `${formatCount(droppedLate)} of ${formatCount(planned)} arrivals were dropped because the tool itself was late.`,
    remedy: 'Give the tool more CPU, lower --rate, or use --threads.',
  };
}

/**
 * @param {string[]} problems what `checkResult` found
 * @returns {import('../results/schema.js').Measurement}
 */
export function unbelievable(problems) {
  const text = `The figures do not add up: ${problems.slice(0, 3).join('; ')}.`;
  return {
    verdict: 'invalid',
    reasons: [{ code: 'bookkeeping', text, remedy: 'Please report it, with the result file.' }],
  };
}

/** @param {Observed} observed @returns {Reason | null} */
function shortOfPlan({ planned, neverSent, interrupted }) {
  if (interrupted || neverSent === 0 || neverSent / planned < SHORT_SUSPECT) return null;
  return {
    grade: 'suspect',
    code: 'sends_short_of_plan',
    text: `${formatCount(neverSent)} of ${formatCount(planned)} planned requests were still waiting for a free connection when the run ended: the backlog grew, so the percentiles tell the length of the run.`,
    remedy: 'Lower --rate to what the target can take, or raise --concurrency.',
  };
}

/** @param {Observed} observed @returns {Reason | null} */
function mostlyUnchecked({ unchecked, succeeded }) {
  if (unchecked === 0 || unchecked / succeeded < UNCHECKED_SUSPECT) return null;
  return {
    grade: 'suspect',
    code: 'mostly_unchecked',
    text: `${formatCount(unchecked)} of ${formatCount(succeeded)} successful answers came too fast to be checked, and count as successes by their HTTP status alone.`,
    remedy: 'Lower --rate or --concurrency, use --threads, or give the tool more CPU.',
  };
}

/** @param {Observed} observed @returns {Reason | null} */
function tooFewSamples({ response }) {
  if (response.totalCount === 0 || response.totalCount >= MIN_SAMPLES) return null;
  return {
    grade: 'suspect',
    code: 'too_few_samples',
    text: `Only ${formatCount(response.totalCount)} requests: with fewer than ${MIN_SAMPLES}, p99 is just the slowest.`,
    remedy: 'Raise --duration, --requests or --rate.',
  };
}
