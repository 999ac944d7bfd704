/**
 * `--shard K/N`: one plan split over N processes, e.g. on N machines. Part K sends the arrivals whose index i has i mod N = K,
 * and of those its thread t of T the ones with floor(i / N) mod T = t. Both together say i mod (N T) = K + N t: a sending
 * thread is shard K + N t of N T, whatever the number of threads of the other parts.
 */
import { usageError } from '../common/errors.js';

/** @typedef {{index: number, of: number}} ShardPart index from 0 */

/** More parts than connections there can be would leave some without one. */
const MAX_PARTS = 10_000;

/**
 * @param {string} text `0/4` is the first of four, `3/4` the last
 * @param {string} [name] what to call it in an error
 * @returns {ShardPart}
 * @throws {import('../common/errors.js').PkiLoadError} code `bad_shard`
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

/**
 * @param {number} total of the whole plan
 * @param {Readonly<ShardPart> | null} part null: all of it
 */
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

/**
 * @param {Readonly<ShardPart>} part
 * @returns {string} `part 0 of 4`
 */
export function partName({ index, of }) {
  return `part ${index} of ${of}`;
}
