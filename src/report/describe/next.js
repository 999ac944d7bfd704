/** The commands to try after a run. */
import { formatDuration } from '../../common/units.js';
import { errorKinds } from './words.js';

/** @import { Result } from '../../result/schema.js' */

/** @typedef {[command: string, text: string]} Step a flag or a command, and the reason */

/** Only the most frequent errors get a step. */
const MAX_ERROR_STEPS = 2;

/** @type {Step} */
const PAGE = ['--out result.html', 'a page with charts: when responses were slow, and how slow'];

/** By outcome. @type {Record<string, Step>} */
const BY_OUTCOME = {
  connection_refused: ['--url', 'the server is down, or accepts no more connections'],
  permission_denied: ['vault token lookup', 'the token is not allowed to do this, or has expired'],
  not_found: ['--mount', 'no such mount, role or path; see also --role'],
  rate_limited: ['vault list sys/quotas/rate-limit', 'a quota refuses requests'],
  standby: ['--url', 'a standby node refused; use the address of the active node'],
  unavailable: ['vault status', 'the target is sealed, overloaded or without a leader'],
  server_error: ['vault monitor', "the server's log says why it failed"],
  dropped: ['--concurrency', 'every connection was busy: raise it, or lower --rate'],
  never_sent: ['--concurrency', 'requests waited for a connection: raise it, or lower --rate'],
};

/** @param {Result} result @returns {Step[]} the most pressing first */
export function nextSteps(result) {
  if (result.unfinished) return [];
  const timeout = formatDuration(result.load.timeoutMs);
  /** @type {Record<string, Step>} */
  const steps = {
    ...BY_OUTCOME,
    timeout: ['--timeout', `more than ${timeout} shows how long these responses take`],
  };
  const fromErrors = errorKinds(result.outcomeDetails)
    .flatMap(([name]) => (Object.hasOwn(steps, name) ? [steps[name]] : []))
    .slice(0, MAX_ERROR_STEPS);
  const all = [...fromErrors, ...fromRequirements(result)];
  return all.filter(([command], i) => all.findIndex(([one]) => one === command) === i);
}

/** @param {Result} result @returns {Step[]} */
function fromRequirements({ requirements, measurement, totals, load }) {
  if (totals.sent === 0 || measurement.verdict === 'invalid') return [];
  if (requirements.length === 0)
    return [["--require 'p99<200ms'", 'makes this run a test that passes or fails']];
  if (requirements.some(({ verdict }) => verdict === 'not met')) return [PAGE];
  const doubts = requirements.flatMap(({ verdict, doubt }) => (verdict === 'not proven' ? [doubt] : []));
  if (doubts.length === 0) return [['--repeat 10', 'shows how much runs differ']];
  // More requests alone would not help.
  if (doubts.some((doubt) => doubt === 'tool' || doubt === 'both'))
    return [['--threads', 'or a faster machine, if this tool was late']];
  if (doubts.includes('unchecked')) return [['--rate', 'a lower rate leaves time to check every response']];
  if (doubts.includes('rested'))
    return [['--rate', 'in an open loop, connections do not rest after failed connects']];
  if (doubts.includes('failures')) return [PAGE];
  return [[(load.stageCount ?? 0) > 0 ? 'longer stages' : '--duration', 'may prove what is not proven yet']];
}
