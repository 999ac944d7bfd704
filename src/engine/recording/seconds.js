/**
 * The seconds of a run, as the shards hand them in: a second is whole when every shard has handed in its row. Each is added
 * up once, when it is whole: nothing is left for the end.
 */
import { mergeSeconds } from './merge.js';
import { createSpans } from './spans.js';

/** @typedef {import('./merge.js').Second} Second */
/** @typedef {import('./recorder.js').SecondRow} SecondRow */

/**
 * Those of a run. A part of a plan keeps a histogram of each second, so that other parts' can be added to it; a single
 * thread's recorder has joined them already.
 *
 * @param {Pick<import('../../plan/plan.js').LoadPlan, 'threads' | 'shard'>} load
 */
export function createRunSeconds({ threads, shard }) {
  return createSeconds(threads, { joins: threads > 1 && shard === null });
}

/**
 * @param {number} shards that hand in rows
 * @param {{joins?: boolean}} [options] `joins`: in a long run, several seconds share a histogram (see spans.js)
 */
export function createSeconds(shards, { joins = false } = {}) {
  const spans = joins ? createSpans() : null;
  /** @type {SecondRow[][]} */
  const open = [];
  /** @type {Second[]} */
  const rows = [];
  /** @type {Record<string, number>} */
  const errors = {};
  const sums = { succeeded: 0, failed: 0 };

  function closeNext() {
    const merged = mergeSeconds(rows.length, open[rows.length] ?? []);
    // Send lags are kept second by second for other parts to be added to, and then nothing is joined.
    const row =
      spans === null ? merged : { ...merged, ...spans.add(merged.second, merged.histogram), lag: null };
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
      if (spans?.isOpen()) Object.assign(rows[rows.length - 1], spans.end());
    },
  };
}
