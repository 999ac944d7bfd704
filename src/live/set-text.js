/**
 * The JSON of a set of runs (`--repeat`) of which one goes on. Runs that are over are kept as text, and what they say together comes
 * from whoever has them: rewriting the file while a run goes on then costs no more work than with a single run.
 */
import { makeRunSet } from '../result/runs/run-set.js';

/** @typedef {import('../result/schema.js').Result} Result */
/** @typedef {import('../result/runs/run-set.js').RunSet['summary']} Summary */

/** @param {string} name of the set */
export function createSetText(name) {
  /** @type {Buffer[]} */
  const over = [];
  /** Of those that are over. @type {Summary | null} */
  let summary = null;
  return {
    /** @param {Result} result of a run that is over */
    add(result) {
      over.push(Buffer.from(`${asEntry(result)},\n`));
    },
    /** @param {Summary} ofAll of all runs that are over */
    summarise(ofAll) {
      summary = ofAll;
    },
    /**
     * @param {Result} result of the run that goes on
     * @returns {(string | Buffer)[]} together what the reporter for JSON would make of the set of all of them
     */
    pieces(result) {
      const { runs, ...alone } = makeRunSet(name, [result]);
      const head =
        summary === null
          ? alone
          : { ...alone, summary: withOneMore(summary, alone.summary, over.length + 1) };
      return [
        `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "runs": [\n`,
        ...over,
        `${asEntry(result)}\n  ]\n}\n`,
      ];
    },
  };
}

/**
 * A run that goes on is no sample yet: it is left out.
 *
 * @param {Summary} summary
 * @param {Summary} alone of the run that goes on
 * @param {number} number of that run, from 1
 * @returns {Summary}
 */
function withOneMore(summary, alone, number) {
  const leftOut = alone.leftOut.map((one) => ({ ...one, run: `run ${number}` }));
  return { ...summary, leftOut: [...summary.leftOut, ...leftOut] };
}

/** @param {Result} result */
function asEntry(result) {
  return `    ${JSON.stringify(result, null, 2).replaceAll('\n', '\n    ')}`;
}
