/** When time zero is: as soon as possible, or at the time that all parts of a plan were given (`--start-at`). */
import { setTimeout as sleep } from 'node:timers/promises';
import { usageError } from '../common/errors.js';
import { formatDuration } from '../common/units.js';

/** Time between the agreement on time zero and time zero. */
const LEAD_MS = 30;

/** Connections are opened so long before: long enough for many, too short for a server to close an idle one. */
const OPEN_BEFORE_MS = 5000;

/**
 * @param {string | null} startAt ISO 8601; null: as soon as possible
 * @param {number} [nowMs] since 1970
 * @returns {string | null} a notice of a long wait; null: none
 */
export function describeWait(startAt, nowMs = Date.now()) {
  const ms = startAt === null ? 0 : Date.parse(startAt) - nowMs;
  return ms > OPEN_BEFORE_MS ? `Waiting until ${startAt}, for ${formatDuration(ms)}.` : null;
}

/**
 * @param {string | null} startAt ISO 8601; null: as soon as possible
 * @param {AbortSignal} signal ends the wait early, without a word
 * @returns {Promise<void>} when it is time to open connections
 */
export async function untilConnecting(startAt, signal) {
  const ms = startAt === null ? 0 : Date.parse(startAt) - OPEN_BEFORE_MS - Date.now();
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => {});
}

/**
 * @param {string | null} startAt
 * @param {number} [nowMs] since 1970
 * @returns {number} ms from now to time zero
 * @throws {PkiLoadError} code `start_at_missed`
 */
export function leadMs(startAt, nowMs = Date.now()) {
  if (startAt === null) return LEAD_MS;
  const ms = Date.parse(startAt) - nowMs;
  if (ms >= LEAD_MS) return ms;
  throw usageError(
    'start_at_missed',
    `The time of --start-at, ${startAt}, was over before everything was ready; nothing was sent.`,
    'Give all parts a later time: checks, certificate requests and connections come first.',
  );
}
