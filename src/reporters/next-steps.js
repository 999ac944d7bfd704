/** What to look at next: a few rules on what a result says, each pointing at one command or flag. */
import { formatCount, formatDuration, formatRate } from '../units.js';
import { perSecondText } from './phrases.js';

/** @typedef {import('../results/schema.js').Result} Result */
/** @typedef {{point: string, text: string}} Step `point`: a command or a flag, empty where there is none to name */

const MAX_STEPS = 4;

/** Kinds of errors that are followed up, the most frequent first. */
const MAX_ERRORS = 2;

/** A page that was asked for, in quotes or without. */
const PAGE = /\s--out(?:=|\s+)('[^']+\.html'|"[^"]+\.html"|[^\s'"]+\.html)(?=\s|$)/i;

/** By code of a reason against the measurement. @type {Record<string, (result: Result) => Step>} */
const BY_REASON = {
  nothing_measured: (result) => longer(result, 'let it run for longer than --warmup takes'),
  send_lag: calibrate,
  read_lag: calibrate,
  cpu_starved: calibrate,
  tool_saturated: ({ load }) => step(`--threads ${load.threads + 1}`, 'a sending thread had no time left'),
  dropped_late: ({ load }) => step(`--threads ${load.threads + 1}`, 'the tool itself was late'),
  schedule_not_followed: ({ load }) =>
    step(`--threads ${load.threads + 1}`, 'the tool did not follow its own schedule'),
  mostly_unchecked: ({ load }) =>
    step(`--threads ${load.threads + 1}`, 'answers came too fast for all to be checked'),
  machine_saturated: () =>
    step('--pacing sleep', 'leaves more of this machine to the target; better, run the tool on another'),
  sends_short_of_plan: lowerRate,
  backlog_growing: lowerRate,
  still_changing: ({ load }) =>
    isStaged(load)
      ? step('', 'a stage before it, in which the target settles, can be left out of what is judged')
      : step('--warmup', 'leave out the time in which the target settles'),
  connection_setup: () => step('--rate', 'a higher one lets no connection lie idle until it is closed'),
  local_limits: () => step('ulimit -n', 'raise this limit of open files, or lower --concurrency'),
  too_few_samples: (result) => longer(result, 'with more requests, p99 is more than the slowest of them'),
};

/** By outcome. @type {Record<string, (result: Result) => Step>} */
const BY_OUTCOME = {
  timeout: ({ load }) =>
    step('--timeout', `longer than ${formatDuration(load.timeoutMs)}, it shows how long these answers take`),
  connection_refused: () => step('--url', 'nothing listens there, or it takes no more connections'),
  permission_denied: () => step('vault token lookup', 'the token may not do this, or is no longer valid'),
  not_found: () => step('--mount', 'there is no such mount, role or path; see --role too'),
  rate_limited: () => step('vault list sys/quotas/rate-limit', 'a quota refuses requests'),
  standby: () => step('--url', 'a standby node refused; give the address of the active one'),
  unavailable: () => step('vault status', 'the target is sealed, overloaded or without a leader'),
  server_error: () => step('vault monitor', "the server's own log says why it failed"),
  dropped: () => step('--concurrency', 'every connection was busy; give more, or lower --rate'),
  never_sent: () => step('--concurrency', 'requests waited for a connection; give more, or lower --rate'),
};

/**
 * @param {Result} result
 * @returns {Step[]} the most pressing first
 */
export function nextSteps(result) {
  if (result.unfinished) return [];
  const steps = [...fromMeasurement(result), ...fromErrors(result), ...fromRequirements(result)];
  const seen = new Set();
  return steps
    .filter(({ point, text }) => {
      const key = point === '' ? text : point;
      return !seen.has(key) && seen.add(key);
    })
    .slice(0, MAX_STEPS);
}

/** @param {Result} result */
function fromMeasurement(result) {
  return result.measurement.reasons.flatMap(({ code, remedy }) => {
    if (Object.hasOwn(BY_REASON, code)) return [BY_REASON[code](result)];
    return remedy === undefined ? [] : [step('', remedy)];
  });
}

/** @param {Result} result */
function fromErrors(result) {
  return Object.entries(result.outcomeDetails)
    .filter(([name, { success, count }]) => !success && count > 0 && Object.hasOwn(BY_OUTCOME, name))
    .sort(([, a], [, b]) => b.count - a.count)
    .slice(0, MAX_ERRORS)
    .map(([name]) => BY_OUTCOME[name](result));
}

/** @param {Result} result */
function fromRequirements(result) {
  const { requirements, measurement, totals, command } = result;
  if (totals.sent === 0 || measurement.verdict === 'invalid') return [];
  if (requirements.length === 0) return [step("--require 'p99<200ms'", 'says whether this is good enough')];
  if (requirements.some(({ verdict }) => verdict === 'not met')) return [drawn(command)];
  if (requirements.some(({ verdict }) => verdict === 'not proven'))
    return [longer(result, 'what was seen is within the limit; a longer run can prove it')];
  return [step('--repeat 10', 'one run is one sample: shows how much runs differ')];
}

/**
 * @param {string} command as it was typed
 * @returns {Step} the page of the run, or how to get one
 */
function drawn(command) {
  const [, page] = PAGE.exec(command) ?? [];
  if (page === undefined) return step('--out result.html', 'draws when it was slow, and how slow');
  return step(`--out ${page}`, 'this report draws when it was slow, and how slow');
}

/** @param {Result} result */
function calibrate({ load: { concurrency, threads } }) {
  return step(
    `vault-pki-load calibrate --concurrency ${concurrency} --threads ${threads}`,
    'what this machine can measure',
  );
}

/** @param {Result['load']} load @returns {boolean} then --rate and --duration would take the place of its stages */
function isStaged({ stageCount = 0 }) {
  return stageCount > 0;
}

/**
 * @param {Result} result
 * @param {string} why
 */
function longer({ load }, why) {
  return isStaged(load) ? step('', `in longer stages: ${why}`) : step('--duration', why);
}

/** @param {Result} result */
function lowerRate({ load, rates, stages = [] }) {
  const { ratePerSecond } = load;
  if (isStaged(load)) {
    const worst = stages.reduce((a, b) => (servedShare(b) < servedShare(a) ? b : a), stages[0]);
    if (worst === undefined) return step('', 'lower levels of the stages ask less of the target');
    const { sent, succeeded, planned } = worst.totals;
    const figures = `${formatCount(succeeded)} of ${formatCount(ratePerSecond === null ? sent : planned)}`;
    return step('', `in the stage ${worst.name}, ${figures} requests succeeded; let it ask for less`);
  }
  if (ratePerSecond === null) return step('--concurrency', 'a lower one asks less of the target');
  const served = `of the ${formatRate(ratePerSecond)} offered, ${perSecondText(rates.perSecond)} succeeded`;
  return step('--rate', `${served}; offer less`);
}

/** @param {NonNullable<Result['stages']>[number]} stage @returns {number} share of the requests that succeeded by the end of the stage */
function servedShare({ totals: { planned, succeeded }, seconds, windowSeconds }) {
  return planned === 0 ? 1 : (succeeded / planned) * (windowSeconds > 0 ? seconds / windowSeconds : 1);
}

/**
 * @param {string} point
 * @param {string} text
 * @returns {Step}
 */
function step(point, text) {
  return { point, text };
}
