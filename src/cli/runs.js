/** One run or several, one after the other: what each of them gave is written before the next begins. */
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, PkiLoadError } from '../common/errors.js';
import { unlessStopped } from '../common/stop.js';
import { appendSummary, print, withRemarks, writeFiles } from './output.js';
import { exitCodeOf, withExitCode } from './process.js';

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
 * The worst first. An interruption tells more than what was not proven because of it, and that a target of several could not be
 * measured more than what others showed.
 */
const WORST_FIRST = [
  EXIT.interrupted,
  EXIT.usage,
  EXIT.target,
  EXIT.invalidMeasurement,
  EXIT.requirement,
  EXIT.ok,
];

/**
 * @param {Context} context
 * @returns {Promise<{code: number, results: Result[]}>} exit code: of the worst of the runs
 * @throws {PkiLoadError} where all runs were made but not all could be written; its exit code is theirs, unless that is 0
 */
export async function runAll(context) {
  const { settings, live, report = reportEverywhere } = context;
  const { repeat } = settings;
  /** @type {Result[]} */
  const results = [];
  try {
    await runEach(context, results);
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

/** @param {number[]} codes @returns {number} exit code of several runs together */
export function worstOf(codes) {
  return WORST_FIRST.find((code) => codes.includes(code)) ?? EXIT.ok;
}

/**
 * @param {Context} context
 * @param {Result[]} results is added to
 */
async function runEach(context, results) {
  const { settings, runOnce, live, stop } = context;
  const { repeat, pauseMs, out } = settings;
  for (;;) {
    if (repeat > 1) live.event({ type: 'notice', text: `Run ${results.length + 1} of ${repeat}:` });
    const result = await runOnce(results.length);
    await live.finish(result);
    results.push(result);
    if (results.length === repeat || stop.aborted) return;
    const set = await setOf(context, results);
    // What cannot be written is said when it is tried for the last time.
    await writeFiles(set, out);
    await Promise.all([pause(pauseMs, stop), unlessStopped(live.next(set.summary), stop)]);
    if (stop.aborted) return;
  }
}

/**
 * @param {number} ms
 * @param {AbortSignal} stop ends it early
 */
async function pause(ms, stop) {
  if (ms > 0) await sleep(ms, undefined, { signal: stop }).catch(() => {});
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
