/** The result of a step -> what it says of its level. */
import { USED_UP } from '../operations/revoke.js';
import { lacksChecks } from '../results/requirements/judge.js';

/** @typedef {import('../results/schema.js').Result} Result */
/** @typedef {import('./search.js').Judged} Judged */

/** Reasons that invalidate a measurement and lie with the generator or its machine: the target may have done better. */
const OWN = new Set([
  'send_lag',
  'read_lag',
  'tool_saturated',
  'dropped_late',
  'schedule_not_followed',
  'local_limits',
  'nothing_measured',
  'bookkeeping',
]);

/** Of those, what an overloaded target does not bring about by itself. */
const NEVER_THE_TARGET = new Set([
  'tool_saturated',
  'dropped_late',
  'schedule_not_followed',
  'local_limits',
  'bookkeeping',
]);

/** The target cannot keep up: how long requests take tells the length of the run, whatever is required. */
const OVERLOAD = new Set(['backlog_growing', 'sends_short_of_plan']);

const NOTHING_LEFT =
  'There were more requests than certificates (--pool): those about certificates that were revoked already say nothing of the target.';

/** From this share of the plan on a shortfall alone invalidates a measurement. */
const MOSTLY_SHORT = 0.5;

/**
 * @param {Result} result
 * @param {object} step
 * @param {'rate' | 'concurrency'} step.of
 * @param {number} step.enough with fewer requests what is not proven says nothing
 * @param {(requirement: number) => boolean} [step.isAsked] by its place: can it be judged at that level at all?
 * @param {string | null} [step.cutShort] why it was ended before its time
 * @param {string | null} [step.poolRemedy] what to do where there were more requests than certificates to revoke, if the next step will
 *   have no more of them; null: it will
 * @returns {Judged}
 */
export function judgeStep(result, { of, enough, isAsked = () => true, cutShort = null, poolRemedy = null }) {
  const { measurement, totals, verification } = result;
  if (verification.notes?.includes(USED_UP)) return usedUp(poolRemedy);
  const notOffered = generatorFault(result, of, cutShort !== null);
  if (notOffered !== null) return { verdict: 'not offered', reason: notOffered };
  if (cutShort !== null) return { verdict: 'not met', reason: cutShort, isClear: true };
  const overload = measurement.reasons.find(({ code }) => OVERLOAD.has(code));
  if (overload !== undefined) return { verdict: 'not met', reason: overload.text, isClear: true };
  const asked = result.requirements.filter((_, i) => isAsked(i));
  const said = (/** @type {Result['requirements'][number]} */ { text, reason }) => `${text}: ${reason}`;
  const missed = asked.find(({ verdict }) => verdict === 'not met');
  if (missed !== undefined) return { verdict: 'not met', reason: said(missed) };
  const unproven = asked.filter(({ verdict }) => verdict === 'not proven');
  if (unproven.length === 0) return { verdict: 'met', reason: asked.map(said).join(' ') };
  const undecided = unproven.find((one) => !lacksChecks(one));
  // Only the tool, which had no time to check, keeps it from being met.
  if (undecided === undefined) return { verdict: 'not offered', reason: said(unproven[0]) };
  return { verdict: 'not proven', reason: said(undecided), isStarved: totals.sent < enough };
}

/** @param {string | null} remedy @returns {Judged} */
function usedUp(remedy) {
  const reason = `${NOTHING_LEFT} ${remedy ?? 'Raise --pool.'}`;
  return { verdict: 'not offered', reason, isClear: remedy !== null };
}

/**
 * @param {Result} result
 * @param {'rate' | 'concurrency'} of
 * @param {boolean} isHopeless more requests were late than may be, with every connection in use
 * @returns {string | null} why the level was not honestly offered
 */
function generatorFault({ measurement: { verdict, reasons }, totals }, of, isHopeless) {
  const full = reasons.find(({ code }) => code === 'tool_saturated');
  // In a closed loop a tool without time left is only suspect, but the throughput is its own.
  if (of === 'concurrency' && full !== undefined) return full.text;
  if (verdict !== 'invalid') return null;
  const isShort = isHopeless || totals.neverSent >= MOSTLY_SHORT * totals.planned;
  const own = reasons.find(({ code }) => OWN.has(code) && (!isShort || NEVER_THE_TARGET.has(code)));
  if (own !== undefined) return own.text;
  return isHopeless || reasons.some(({ code }) => OVERLOAD.has(code))
    ? null
    : (reasons[0]?.text ?? 'The measurement is invalid.');
}
