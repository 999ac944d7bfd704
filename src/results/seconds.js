/** The seconds of a run, as the shards hand them in: a second is whole when every shard has handed in its row. */
import { mergeSeconds } from './merge.js';

/** @typedef {ReturnType<typeof mergeSeconds>} Second */

/**
 * @param {number} shards
 */
export function createSeconds(shards) {
  /** @type {import('../load/recording/recorder.js').SecondRow[][]} */
  const open = [];
  /** @type {Second[]} */
  const rows = [];
  /** @type {Record<string, number>} */
  const errors = {};
  const sums = { succeeded: 0, failed: 0 };

  function closeNext() {
    const row = mergeSeconds(open[rows.length]);
    open[rows.length] = [];
    rows.push(row);
    sums.succeeded += row.succeeded;
    sums.failed += row.failed;
    for (const [name, count] of Object.entries(row.failures)) errors[name] = (errors[name] ?? 0) + count;
  }

  return {
    /** Whole seconds, in order. */
    rows,
    /** Failures so far, by outcome. */
    errors,
    sums,
    /** @param {import('../load/recording/recorder.js').SecondRow} row of one shard; each shard's come in order */
    add(row) {
      open[row.second] ??= [];
      open[row.second].push(row);
      while (open[rows.length]?.length === shards) closeNext();
    },
    /** At the end: shards that finished earlier have handed in fewer rows. */
    closeAll() {
      while (rows.length < open.length) closeNext();
    },
  };
}
