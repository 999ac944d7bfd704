/** The result of a step -> what it says of its level. */
import { USED_UP } from '../../operations/revoke.js';
import { invalidReasonOf } from '../../result/document.js';

/** @typedef {import('../../result/schema.js').Result} Result */
/** @typedef {import('./search.js').Judged} Judged */

/** The target cannot keep up: the percentiles depend on the length of the run, whatever is required. */
const OVERLOAD = 'backlog_growing';

/** A sender thread that was busy for this share of the time had none left. */
const SATURATED = 0.9;

const NOTHING_LEFT =
  'There were more requests than certificates (--pool): those about certificates that were revoked already say nothing of the target.';

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
  const fault = invalidReasonOf(measurement);
  if (fault !== undefined && (cutShort === null || fault.code !== 'nothing_measured'))
    return { verdict: 'not offered', reason: fault.text };
  const limit = of === 'concurrency' ? ownLimit(measurement) : undefined;
  if (limit !== undefined) return { verdict: 'not offered', reason: limit };
  if (cutShort !== null) return { verdict: 'not met', reason: cutShort, isClear: true };
  const overload = measurement.reasons.find(({ code }) => code === OVERLOAD);
  if (overload !== undefined) return { verdict: 'not met', reason: overload.text, isClear: true };
  const asked = result.requirements.filter((_, i) => isAsked(i));
  const said = (/** @type {Result['requirements'][number]} */ { text, reason }) => `${text}: ${reason}`;
  const missed = asked.find(({ verdict }) => verdict === 'not met');
  if (missed !== undefined) return { verdict: 'not met', reason: said(missed) };
  const unproven = asked.filter(({ verdict }) => verdict === 'not proven');
  if (unproven.length === 0) return { verdict: 'met', reason: asked.map(said).join(' ') };
  const undecided = unproven.find(({ doubt }) => doubt !== 'tool' && doubt !== 'unchecked');
  // Only the tool keeps it from being decided.
  if (undecided === undefined) return { verdict: 'not offered', reason: said(unproven[0]) };
  return { verdict: 'not proven', reason: said(undecided), isStarved: totals.sent < enough };
}

/**
 * @param {Result['measurement']} measurement of a closed loop
 * @returns {string | undefined} the throughput may be the tool's own
 */
function ownLimit({ observed }) {
  const busy = observed?.cpu.senderBusyShare ?? 0;
  if (busy < SATURATED) return undefined;
  return `A sender thread was busy for ${Math.floor(busy * 100)} % of the time: the throughput is the tool's limit, not the target's.`;
}

/** @param {string | null} remedy @returns {Judged} */
function usedUp(remedy) {
  const reason = `${NOTHING_LEFT} ${remedy ?? 'Raise --pool.'}`;
  return { verdict: 'not offered', reason, isClear: remedy !== null };
}
