/** The plan's own arithmetic for one of its operations: how many requests, and how long they take. */
import { scheduleOf } from './due.js';
import { shareOf } from './shard-part.js';

/** @import { LoadPlan } from './load.js' */

/** Of a mix so many indexes are counted, 50 ns each; of more requests the operation's share is taken to be the same. */
const MAX_COUNTED = 1_000_000;

/** @param {LoadPlan} load @returns {number | null} the longest that the run may take, ms; null: not known */
export function longestRunMs(load) {
  const { durationMs, warmupMs, timeoutMs, startAt } = load;
  const waitMs = startAt ? Math.max(0, Date.parse(startAt) - Date.now()) : 0;
  const sendingMs = durationMs === null ? (scheduleOf(load)?.endMs ?? null) : warmupMs + durationMs;
  return sendingMs === null ? null : waitMs + sendingMs + 2 * timeoutMs;
}

/**
 * @param {LoadPlan} load
 * @returns {number | null} requests of the whole plan, warm-up included: their indexes are below it; null: not known,
 *   as the target's responses decide
 */
export function allRequests(load) {
  return scheduleOf(load)?.count ?? (load.warmupMs > 0 ? null : load.requests);
}

/**
 * @param {LoadPlan} load @param {(index: number) => boolean} [owns] which of them are the operation's; none: all
 * @returns {number | null} about how many requests the run, or this part of it, will send, without a closed loop's
 *   warm-up; null: as many as the target answers
 */
export function expectedRequests(load, owns) {
  const all = scheduleOf(load)?.count ?? load.requests;
  if (all === null) return null;
  const ofPart = shareOf(all, load.shard);
  if (owns === undefined || ofPart === 0) return ofPart;
  const { index: first, of: step } = load.shard ?? { index: 0, of: 1 };
  const counted = Math.min(ofPart, MAX_COUNTED);
  let own = 0;
  for (let i = 0; i < counted; i++) if (owns(first + i * step)) own++;
  return Math.round((own / counted) * ofPart);
}
