/**
 * The seconds of a run, as the shards hand them in: a second is whole when every shard has handed in its row. Each is added
 * up once, when it is whole: nothing is left for the end.
 */
import { mergeSeconds } from './merge.js';

/** @typedef {import('./merge.js').Second} Second */
/** @typedef {import('../load/recording/recorder.js').SecondRow} SecondRow */

/**
 * @param {number} shards that hand in rows
 */
export function createSeconds(shards) {
  /** @type {SecondRow[][]} */
  const open = [];
  /** @type {Second[]} */
  const rows = [];
  /** @type {Record<string, number>} */
  const errors = {};
  const sums = { succeeded: 0, failed: 0 };

  function closeNext() {
    const row = mergeSeconds(rows.length, open[rows.length] ?? []);
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
    /** @param {SecondRow} row of one shard; each shard's come in order */
    add(row) {
      open[row.second] ??= [];
      open[row.second].push(row);
      while (open[rows.length]?.length === shards) closeNext();
    },
    /**
     * @param {SecondRow[]} [unfinished] of single shards: their seconds that go on
     * @returns {Second[]} whole ones, and what there is of the others; nothing is closed by it
     */
    soFar(unfinished = []) {
      const end = Math.max(open.length, ...unfinished.map(({ second }) => second + 1));
      const tail = Array.from({ length: Math.max(0, end - rows.length) }, (_, i) => {
        const second = rows.length + i;
        return mergeSeconds(second, [
          ...(open[second] ?? []),
          ...unfinished.filter((row) => row.second === second),
        ]);
      });
      return [...rows, ...tail];
    },
    /** At the end: shards that finished earlier have handed in fewer rows. */
    closeAll() {
      while (rows.length < open.length) closeNext();
    },
  };
}
