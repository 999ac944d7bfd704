/**
 * The JSON of a set of runs (`--repeat`) during one of them. Finished runs are kept as text, and their summary comes from the main
 * thread, so rewriting the file costs no more than for a single run.
 */
import { makeRunSet } from '../result/runs/run-set.js';
/** @import { RunSet } from '../result/runs/run-set.js' */
/** @import { Result } from '../result/schema.js' */

/** @typedef {RunSet['summary']} Summary */

/** @param {string} name of the set */
export function createSetText(name) {
  /** @type {Buffer[]} */
  const over = [];
  /** Of the finished runs. @type {Summary | null} */
  let summary = null;
  return {
    /** @param {Result} result of a finished run */
    add(result) {
      over.push(Buffer.from(`${asEntry(result)},\n`));
    },
    /** @param {Summary} ofAll of all finished runs */
    summarise(ofAll) {
      summary = ofAll;
    },
    /**
     * @param {Result} result of the current run
     * @returns {(string | Buffer)[]} together, the text that the JSON reporter would write for the whole set
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
 * The current run is no sample yet: it is left out.
 *
 * @param {Summary} summary
 * @param {Summary} alone of the current run
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
