/**
 * Can the measurement itself be believed? A closed list of reasons against it, each with its remedy, from what the
 * run itself observed.
 */
import { lateness } from './lateness.js';
import { RUN_RULES } from './run.js';
import { TOOL_RULES } from './tool.js';

/** @typedef {import('./observed.js').Observed} Observed */
/** @typedef {{grade: 'suspect' | 'invalid', code: keyof typeof REASONS, text: string, remedy: string}} Reason */

/** Every reason there is; see README. */
export const REASONS = Object.freeze({
  nothing_measured: 'no request was sent in the measured part',
  send_lag: 'the tool sent late, and the latency that it reports is longer for it',
  read_lag: 'the tool noticed answers late, and the latency that it reports is longer for it',
  tool_saturated: 'a sending thread had no time left: what waited or how fast it went is its own limit',
  cpu_starved: 'a sending thread was ready to run, and had to wait for a core',
  machine_saturated: 'the tool and a target on the same machine competed for its cores',
  dropped_late:
    'arrivals were dropped because the tool itself was late, not because every connection was busy',
  schedule_not_followed: 'part of the plan was left although connections were free',
  sends_short_of_plan: 'part of the plan still waited for a connection when the run ended',
  backlog_growing: 'more and more requests waited: the percentiles tell the length of the run',
  still_changing: 'latency or rate had not settled: the figures tell the time at which the run ended',
  connection_setup: 'requests had to open a connection first, and their latency holds that',
  local_limits: 'requests failed at limits of this machine, not at the target',
  mostly_unchecked: 'most answers were counted, but not checked',
  too_few_samples: 'too few requests for the percentiles that are reported',
  parts_apart: 'the parts of a split plan (--shard) did not send at the same time',
  unfinished: 'the run still went on when this was written',
  bookkeeping: 'the figures do not add up: a fault of the tool',
});

/**
 * @param {Observed} observed
 * @returns {{verdict: 'valid' | 'suspect' | 'invalid', reasons: {code: string, text: string, remedy: string}[]}}
 */
export function judgeMeasurement(observed) {
  const reasons = [lateness, ...TOOL_RULES, ...RUN_RULES].flatMap((rule) => rule(observed) ?? []);
  const verdict = reasons.some(({ grade }) => grade === 'invalid')
    ? 'invalid'
    : reasons.length > 0
      ? 'suspect'
      : 'valid';
  return { verdict, reasons: reasons.map(({ code, text, remedy }) => ({ code, text, remedy })) };
}

/**
 * @param {import('../../results/schema.js').Measurement} measurement
 * @param {string[]} problems what `checkResult` found
 * @returns {import('../../results/schema.js').Measurement} with one reason more
 */
export function unbelievable(measurement, problems) {
  const text = `The figures do not add up: ${problems.slice(0, 3).join('; ')}.`;
  const reason = { code: 'bookkeeping', text, remedy: 'Please report it, with the result file.' };
  return { ...measurement, verdict: 'invalid', reasons: [...measurement.reasons, reason] };
}
