/**
 * `--shard K/N`: one plan split over N processes, e.g. on N machines. Part K sends the arrivals whose index i has i mod N = K,
 * and of those its thread t of T the ones with floor(i / N) mod T = t. Both together say i mod (N T) = K + N t: a sending
 * thread is shard K + N t of N T, whatever the number of threads of the other parts.
 */
import { usageError } from '../common/errors.js';
import { formatDuration } from '../common/units.js';

/** @typedef {{index: number, of: number}} ShardPart index from 0 */

/** More parts than connections there can be would leave some without one. */
const MAX_PARTS = 10_000;

/**
 * @param {string} text `0/4` is the first of four, `3/4` the last
 * @param {string} [name] what to call it in an error
 * @returns {ShardPart}
 * @throws {PkiLoadError} code `bad_shard`
 */
export function parseShard(text, name = '--shard') {
  const source = String(text).trim();
  const match = /^(\d{1,9})\/(\d{1,9})$/.exec(source);
  const [index, of] = match === null ? [0, 0] : [Number(match[1]), Number(match[2])];
  const is = `${name} is ${JSON.stringify(source.slice(0, 80))}`;
  if (match === null || of === 0) {
    throw usageError(
      'bad_shard',
      `${is}, which is not a part such as 0/4.`,
      'The first of four parts is 0/4, the last 3/4.',
    );
  }
  if (of > MAX_PARTS) throw usageError('bad_shard', `${is}; there can be at most ${MAX_PARTS} parts.`);
  if (index >= of) {
    throw usageError(
      'bad_shard',
      `${is}, but parts count from 0.`,
      `The first of ${of} is 0/${of}, the last ${of - 1}/${of}.`,
    );
  }
  return { index, of };
}

/**
 * @param {number} total
 * @param {number} shard
 * @param {number} shards
 * @returns {number} the shard's part of a total: how many i from 0 to total - 1 have i mod shards = shard. Parts differ by one
 *   at most and sum to the total
 */
export function share(total, shard, shards) {
  return Math.floor((total + shards - 1 - shard) / shards);
}

/** @param {number} total of the whole plan @param {Readonly<ShardPart> | null} part null: all of it */
export function shareOf(total, part) {
  return part === null ? total : share(total, part.index, part.of);
}

/**
 * What a sending thread of a part is in the whole plan.
 *
 * @param {Readonly<ShardPart> | null} part null: the whole plan
 * @param {number} thread from 0
 * @param {number} threads of this part
 * @returns {{shard: number, shards: number}}
 */
export function shardOfThread(part, thread, threads) {
  const { index, of } = part ?? { index: 0, of: 1 };
  return { shard: index + of * thread, shards: of * threads };
}

/** @param {Readonly<ShardPart>} part @returns {string} `part 0 of 4` */
export function partName({ index, of }) {
  return `part ${index} of ${of}`;
}

/** A token, a certificate or a laptop's patience may not last longer. */
const MOST_AHEAD_MS = 3_600_000;

const TIME_OF_DAY = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?$/;

const EXAMPLES = 'Write it as 14:30:00, or with a date as 2026-01-31T14:30:00Z.';

/**
 * A time of day is that of this machine's time zone, today or, where it is over, tomorrow; a date-time without a zone is of
 * this machine's zone too.
 *
 * @param {string} text
 * @param {number} [nowMs] since 1970
 * @param {string} [name] what to call it in an error
 * @returns {string} ISO 8601, in UTC
 * @throws {PkiLoadError} code `bad_start_at`
 */
export function parseStartAt(text, nowMs = Date.now(), name = '--start-at') {
  const source = String(text).trim();
  const is = `${name} is ${JSON.stringify(source.slice(0, 80))}`;
  const atMs = timeOf(source, nowMs);
  if (Number.isNaN(atMs)) throw usageError('bad_start_at', `${is}, which is not a time.`, EXAMPLES);
  if (atMs <= nowMs) {
    const ago = formatDuration(Math.max(1, nowMs - atMs));
    throw usageError(
      'bad_start_at',
      `${is}, which was ${ago} ago by this machine's clock.`,
      'Give a later time.',
    );
  }
  if (atMs - nowMs > MOST_AHEAD_MS) {
    const ahead = formatDuration(atMs - nowMs);
    throw usageError(
      'bad_start_at',
      `${is}, which is ${ahead} from now by this machine's clock; it may be an hour ahead at most.`,
      'Give a nearer time, or start the command later.',
    );
  }
  return new Date(atMs).toISOString();
}

/** @param {string} source @param {number} nowMs @returns {number} ms since 1970; NaN: it is no time */
function timeOf(source, nowMs) {
  const match = TIME_OF_DAY.exec(source);
  if (match === null) return DATE_TIME.test(source) ? Date.parse(source) : Number.NaN;
  const [hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  if (hours > 23 || minutes > 59 || seconds > 59) return Number.NaN;
  const at = new Date(nowMs);
  at.setHours(hours, minutes, seconds, 0);
  if (at.getTime() <= nowMs) at.setDate(at.getDate() + 1);
  return at.getTime();
}
