/**
 * `--shard K/N`: one plan split over N processes, e.g. on N machines. Part K sends the arrivals i with i mod N = K,
 * and thread t of its T threads those with floor(i / N) mod T = t. Together, i mod (N T) = K + N t: a sender
 * thread is shard K + N t of N T. The number of threads may differ between parts.
 */
import { quote, usageError } from '../common/errors.js';
import { formatDuration } from '../common/units.js';

/** @typedef {{index: number, of: number}} ShardPart index from 0 */

/** --concurrency is at most 10,000, and each part needs a connection. */
export const MAX_PARTS = 10_000;

/**
 * @param {string} text `0/4` is the first of four @param {string} [name] of its source
 * @returns {ShardPart} @throws {PkiLoadError} code `bad_shard`
 */
export function parseShard(text, name = '--shard') {
  const bad = (/** @type {string} */ problem, /** @type {string} */ remedy) =>
    usageError('bad_shard', `${name} is ${quote(text)}, ${problem}.`, remedy);
  const match = /^(\d{1,9})\/(\d{1,9})$/.exec(text.trim());
  const [index, of] = (match ?? []).slice(1).map(Number);
  if (match === null || of === 0)
    throw bad('which is not a part such as 0/4', 'The first of four parts is 0/4, the last 3/4.');
  if (of > MAX_PARTS) throw bad(`but there can be at most ${MAX_PARTS} parts`, 'Use fewer parts.');
  if (index < of) return { index, of };
  throw bad('but parts are numbered from 0', `The first of ${of} is 0/${of}, the last ${of - 1}/${of}.`);
}

/** How many i from 0 to total - 1 have i mod shards = shard. @param {number} total @param {number} shard @param {number} shards */
export const share = (total, shard, shards) => Math.floor((total + shards - 1 - shard) / shards);

/** @param {number} total of the whole plan @param {Readonly<ShardPart> | null} part null: all of it */
export const shareOf = (total, part) => (part === null ? total : share(total, part.index, part.of));

/** Of the whole plan. @param {Readonly<ShardPart> | null} part @param {number} thread from 0 @param {number} threads */
export function shardOfThread(part, thread, threads) {
  const { index, of } = part ?? { index: 0, of: 1 };
  return { shard: index + of * thread, shards: of * threads };
}

/** @param {Readonly<ShardPart>} part @returns {string} `part 0 of 4` */
export const partName = ({ index, of }) => `part ${index} of ${of}`;

/** Tokens and certificates may expire while the run waits. */
const MAX_AHEAD_MS = 3_600_000;

const TIME_OF_DAY = /^(?:[01]?\d|2[0-3])(?::[0-5]\d){1,2}$/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?$/;

/**
 * A time without a zone is in this machine's zone. A time of day is today or, if it has passed, tomorrow.
 * @param {string} text @param {number} [nowMs] since 1970 @returns {string} ISO 8601, in UTC
 * @throws {PkiLoadError} code `bad_start_at`
 */
export function parseStartAt(text, nowMs = Date.now()) {
  const bad = (/** @type {string} */ problem, /** @type {string} */ remedy) =>
    usageError('bad_start_at', `--start-at is ${quote(text)}, which ${problem}.`, remedy);
  const atMs = timeOf(text.trim(), nowMs);
  if (Number.isNaN(atMs)) throw bad('is not a time', 'Use a time such as 14:30:00 or 2026-01-31T14:30:00Z.');
  const difference = formatDuration(Math.max(1, Math.abs(atMs - nowMs)));
  if (atMs <= nowMs) throw bad(`was ${difference} ago by this machine's clock`, 'Use a later time.');
  if (atMs - nowMs <= MAX_AHEAD_MS) return new Date(atMs).toISOString();
  const problem = `is ${difference} from now by this machine's clock; it can be at most an hour ahead`;
  throw bad(problem, 'Use an earlier time, or start the command later.');
}

/** @param {string} source @param {number} nowMs @returns {number} ms since 1970; NaN: not a time */
function timeOf(source, nowMs) {
  if (!TIME_OF_DAY.test(source)) return DATE_TIME.test(source) ? Date.parse(source) : Number.NaN;
  const [hours, minutes, seconds = 0] = source.split(':').map(Number);
  const at = new Date(nowMs);
  at.setHours(hours, minutes, seconds, 0);
  if (at.getTime() <= nowMs) at.setDate(at.getDate() + 1);
  return at.getTime();
}
