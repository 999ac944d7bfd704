/** One run or several, one after the other: what each of them gave is written before the next begins. */
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT } from '../errors.js';
import { exitCodeOf } from './exit-code.js';
import { appendSummary, print, writeFiles } from './output.js';

/** @typedef {import('../results/schema.js').Result} Result */
/** @typedef {import('./run-options.js').RunSettings} RunSettings */

/** The worst first. An interruption tells more than what was not proven because of it. */
const WORST_FIRST = [EXIT.interrupted, EXIT.invalidMeasurement, EXIT.requirement, EXIT.ok];

/**
 * @param {object} context
 * @param {string} context.name what a set of these runs is called
 * @param {RunSettings} context.settings
 * @param {(run: number) => Promise<Result>} context.runOnce the run of that number, from 0
 * @param {Pick<import('../live/thread.js').Live, 'event' | 'finish'>} context.live
 * @param {AbortSignal} context.stop
 * @returns {Promise<number>} exit code: of the worst of the runs
 */
export async function runAll({ name, settings, runOnce, live, stop }) {
  const { repeat, pauseMs } = settings;
  /** @type {Result[]} */
  const results = [];
  try {
    while (results.length < repeat) {
      if (results.length > 0) await pause(pauseMs, stop);
      if (results.length > 0 && stop.aborted) break;
      if (repeat > 1) live.event({ type: 'notice', text: `Run ${results.length + 1} of ${repeat}:` });
      const result = await runOnce(results.length);
      await live.finish(result);
      results.push(result);
      // What cannot be written is said when it is tried for the last time.
      if (results.length < repeat) await writeFiles(await documentOf(name, results, repeat), settings.out);
    }
  } catch (error) {
    // What the runs before have shown is not lost with the one that could not begin.
    if (results.length > 0) await report(await documentOf(name, results, repeat), settings);
    throw error;
  }
  const [failure] = await report(await documentOf(name, results, repeat), settings);
  if (failure !== undefined) throw failure;
  const codes = results.map(exitCodeOf);
  if (results.length < repeat) codes.push(EXIT.interrupted);
  return WORST_FIRST.find((code) => codes.includes(code)) ?? EXIT.ok;
}

/**
 * @param {number} ms
 * @param {AbortSignal} stop ends it early
 */
async function pause(ms, stop) {
  if (ms > 0) await sleep(ms, undefined, { signal: stop }).catch(() => {});
}

/**
 * @param {string} name
 * @param {Result[]} results at least one
 * @param {number} repeat
 * @returns {Promise<import('../results/document.js').Document>}
 */
async function documentOf(name, results, repeat) {
  if (repeat === 1) return results[0];
  const { makeRunSet } = await import('../results/run-set.js');
  return makeRunSet(name, results);
}

/**
 * @param {import('../results/document.js').Document} document
 * @param {RunSettings} settings
 * @returns {Promise<unknown[]>} why it could not be written somewhere
 */
async function report(document, { out, format, summary }) {
  const failures = await writeFiles(document, out);
  await print(document, format);
  if (summary !== null) failures.push(...(await appendSummary(document, summary)));
  return failures;
}
