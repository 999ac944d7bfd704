/** What a plan has for one of its operations, by the schedule's own arithmetic: how many requests, and how long they take. */
import { scheduleOf } from './due.js';
import { shareOf } from './shard-part.js';

/** @import { LoadPlan } from './load.js' */

/** Of a mix so many indexes are looked at, 50 ns each; of more requests the operation's share is taken to be the same. */
const LOOKED_AT = 1_000_000;

/** @param {LoadPlan} load @returns {number | null} how long the run may take at most, ms; null: not known */
export function longestRunMs(load) {
  const { durationMs, warmupMs, timeoutMs, startAt } = load;
  const waitMs = startAt ? Math.max(0, Date.parse(startAt) - Date.now()) : 0;
  const sendingMs = durationMs === null ? (scheduleOf(load)?.endMs ?? null) : warmupMs + durationMs;
  return sendingMs === null ? null : waitMs + sendingMs + 2 * timeoutMs;
}

/**
 * @param {LoadPlan} load
 * @returns {number | null} how many requests the whole plan has, warm-up and all: their indexes are below it; null: not known, as the
 *   target's answers decide, be it in the warm-up alone
 */
export function allRequests(load) {
  if (load.model === 'open') return /** @type {{count: number}} */ (scheduleOf(load)).count;
  return load.warmupMs > 0 ? null : load.requests;
}

/**
 * @param {LoadPlan} load
 * @param {(index: number) => boolean} [owns] which of them are the operation's; none: all
 * @returns {number | null} about how many requests the run, or this part of it, will send; a closed loop's warm-up not among them; null: as
 *   many as the target answers
 */
export function expectedRequests(load, owns) {
  const all = load.model === 'open' ? allRequests(load) : load.requests;
  if (all === null) return null;
  const ofPart = shareOf(all, load.shard);
  if (owns === undefined) return ofPart;
  const { index: first, of: step } = load.shard ?? { index: 0, of: 1 };
  const looked = Math.min(ofPart, LOOKED_AT);
  let own = 0;
  for (let i = 0; i < looked; i++) if (owns(first + i * step)) own++;
  return looked === 0 ? 0 : Math.round((own / looked) * ofPart);
}
