/** The commands and flags to try next: a few rules on a result. */
import { formatDuration } from '../../common/units.js';

/** @typedef {import('../../result/schema.js').Result} Result */
/** @typedef {{command: string, text: string}} Step a flag, or a command; `text`: why */

/** Kinds of errors that get a step, the most frequent first. */
const MAX_ERRORS = 2;

/** A page that was written, in quotes or without. */
const PAGE = /\s--out(?:=|\s+)('[^']+\.html'|"[^"]+\.html"|[^\s'"]+\.html)(?=\s|$)/i;

/** By outcome. @type {Record<string, (result: Result) => Step>} */
const BY_OUTCOME = {
  timeout: ({ load }) =>
    step('--timeout', `more than ${formatDuration(load.timeoutMs)} shows how long these responses take`),
  connection_refused: () => step('--url', 'nothing listens there, or it accepts no more connections'),
  permission_denied: () => step('vault token lookup', 'the token is not allowed to do this, or has expired'),
  not_found: () => step('--mount', 'there is no such mount, role or path; see --role too'),
  rate_limited: () => step('vault list sys/quotas/rate-limit', 'a quota refuses requests'),
  standby: () => step('--url', 'a standby node refused; use the address of the active node'),
  unavailable: () => step('vault status', 'the target is sealed, overloaded or without a leader'),
  server_error: () => step('vault monitor', "the server's log says why it failed"),
  dropped: () => step('--concurrency', 'every connection was busy: raise it, or lower --rate'),
  never_sent: () => step('--concurrency', 'requests waited for a connection: raise it, or lower --rate'),
};

/**
 * @param {Result} result
 * @returns {Step[]} the most pressing first
 */
export function nextSteps(result) {
  if (result.unfinished) return [];
  const steps = [...fromErrors(result), ...fromRequirements(result)];
  return steps.filter(({ command }, i) => steps.findIndex((one) => one.command === command) === i);
}

/** @param {Result} result */
function fromErrors(result) {
  return Object.entries(result.outcomeDetails)
    .filter(([name, { success, count }]) => !success && count > 0 && Object.hasOwn(BY_OUTCOME, name))
    .sort(([, a], [, b]) => b.count - a.count)
    .slice(0, MAX_ERRORS)
    .map(([name]) => BY_OUTCOME[name](result));
}

/** @param {Result} result @returns {Step[]} */
function fromRequirements({ requirements, measurement, totals, command, load }) {
  if (totals.sent === 0 || measurement.verdict === 'invalid') return [];
  if (requirements.length === 0) {
    return [step("--require 'p99<200ms'", 'makes this run a test that passes or fails')];
  }
  if (requirements.some(({ verdict }) => verdict === 'not met')) return [page(command)];
  const unproven = requirements.find(({ verdict }) => verdict === 'not proven');
  if (unproven?.doubt === 'tool')
    return [step('--threads', 'or more CPU: the doubt is lateness of this tool')];
  if (unproven?.doubt === 'unchecked')
    return [step('--rate', 'a lower one leaves time to check every response')];
  if (unproven?.doubt === 'failures') return [page(command)];
  if (unproven !== undefined) {
    const flag = (load.stageCount ?? 0) > 0 ? 'longer stages' : '--duration';
    return [step(flag, 'a longer run narrows the doubt')];
  }
  return [step('--repeat 10', 'several runs show how much they differ')];
}

/**
 * @param {string} command as it was typed
 * @returns {Step} the page of the run, or how to get one
 */
function page(command) {
  const [, file] = PAGE.exec(command) ?? [];
  if (file === undefined) return step('--out result.html', 'draws when responses were slow, and how slow');
  return step(`--out ${file}`, 'this page draws when responses were slow, and how slow');
}

/**
 * @param {string} command
 * @param {string} text
 * @returns {Step}
 */
function step(command, text) {
  return { command, text };
}
