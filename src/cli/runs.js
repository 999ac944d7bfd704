/** One run or several, one after the other: what each of them gave is written before the next begins. */
import { repeatRun } from '../campaigns/repeat.js';
import { EXIT, PkiLoadError } from '../common/errors.js';
import { appendSummary, print, withRemarks, writeFiles } from './output.js';
import { exitCodeOf, withExitCode, worstOf } from './process.js';

/** @typedef {import('../result/document.js').Document} Document */
/** @typedef {import('../result/schema.js').Result} Result */
/** @typedef {import('./run-options.js').RunSettings} RunSettings */
/**
 * @typedef {object} Context
 * @property {string} name what a set of these runs is called
 * @property {RunSettings} settings
 * @property {(run: number) => Promise<Result>} runOnce the run of that number, from 0
 * @property {Pick<import('../live/thread.js').Live, 'event' | 'finish' | 'next' | 'abandon'>} live
 * @property {AbortSignal} stop
 * @property {readonly string[]} [remarks] see withRemarks
 * @property {(document: Document, settings: RunSettings) => Promise<unknown[]>} [report] gives why something could not be written
 */

/**
 * @param {Context} context
 * @returns {Promise<{code: number, results: Result[]}>} exit code: of the worst of the runs
 * @throws {PkiLoadError} where all runs were made but not all could be written; its exit code is theirs, unless that is 0
 */
export async function runAll(context) {
  const { settings, live, report = reportEverywhere } = context;
  const { repeat, pauseMs, out } = settings;
  /** @type {Result[]} */
  const results = [];
  const between = async () => {
    const set = await setOf(context, results);
    // The last attempt reports files that cannot be written.
    await writeFiles(set, out);
    return set.summary;
  };
  try {
    await repeatRun({ ...context, repeat, pauseMs, results, between });
  } catch (error) {
    if (results.length > 0) {
      // Nobody else writes files then: what the runs before have shown is not lost with the one that could not begin, or broke off.
      await live.abandon();
      for (const failure of await report(await documentOf(context, results), settings)) warnOf(failure, live);
    }
    throw error;
  }
  const failures = await report(await documentOf(context, results), settings);
  const codes = results.map(exitCodeOf);
  if (results.length < repeat) codes.push(EXIT.interrupted);
  const worst = worstOf(codes);
  if (failures.length === 0) return { code: worst, results };
  for (const failure of failures.slice(1)) warnOf(failure, live);
  throw withExitCode(failures[0], worst);
}

/**
 * @param {Context} context
 * @param {Result[]} results at least one
 * @returns {Promise<Document>}
 */
async function documentOf(context, results) {
  const { settings, remarks = [] } = context;
  return settings.repeat === 1 ? withRemarks(results[0], remarks) : setOf(context, results);
}

/**
 * @param {Context} context
 * @param {Result[]} results at least one
 */
async function setOf({ name, remarks = [] }, results) {
  const { makeRunSet } = await import('../result/runs/run-set.js');
  return withRemarks(makeRunSet(name, results), remarks);
}

/**
 * @param {Document} document
 * @param {RunSettings} settings
 * @returns {Promise<unknown[]>} why it could not be written somewhere
 */
async function reportEverywhere(document, { out, format, summary }) {
  const failures = await writeFiles(document, out);
  await print(document, format);
  if (summary !== null) failures.push(...(await appendSummary(document, summary)));
  return failures;
}

/**
 * @param {unknown} failure
 * @param {Context['live']} live
 */
function warnOf(failure, live) {
  const text = failure instanceof PkiLoadError ? failure.full : String(failure);
  live.event({ type: 'warning', text });
}
