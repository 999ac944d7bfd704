/** How a run is shown, written and served while it goes on: by the live thread, and where that is lost, as lines of a log. */

import { repeatRun } from '../campaigns/repeat.js';
import { EXIT, PkiLoadError } from '../common/errors.js';
import { startLive } from '../live/thread.js';
import { createProgress } from '../live/view.js';
import { reporterForFile } from '../report/index.js';
import { appendSummary, print, withRemarks, writeFiles } from './output.js';
import { exitCodeOf, onInterrupt, withExitCode, worstOf } from './process.js';
/** @import { Plan } from '../plan/plan.js' */
/** @import { Document } from '../result/document.js' */
/** @import { Result } from '../result/schema.js' */
/** @import { LiveHook } from '../run.js' */
/** @import { RunSettings } from './run-options.js' */
/** @import { WriteStream } from 'node:tty' */

/** @typedef {Omit<import('../live/thread.js').Live, 'hook'> & {hook?: LiveHook}} Live */

/**
 * @param {Plan} plan
 * @param {RunSettings} settings
 * @param {string} command the command line, for the result
 * @param {{stderr?: WriteStream, env?: NodeJS.ProcessEnv, start?: typeof startLive}} [system]
 * @returns {Promise<Live>} on a thread of its own, where there is anything to do but to warn
 */
export async function startShowing(
  plan,
  { out, metrics, otlp, quiet, repeat },
  command,
  { stderr = process.stderr, env = process.env, start = startLive } = {},
) {
  if (quiet && out.length === 0 && metrics === null && otlp === null) return showWarnings(stderr);
  const isTTY = Boolean(stderr.isTTY) && env.TERM !== 'dumb';
  const { columns, rows } = stderr;
  /** Instead of the thread, once it is lost. @type {ReturnType<typeof createProgress> | null} */
  let lines = null;
  const live = await start(
    {
      plan,
      command,
      runs: repeat,
      outs: repeat === 1 ? out : out.filter(isJson),
      metrics,
      otlp,
      terminal: { isTTY, columns, rows, color: isTTY && !env.NO_COLOR },
      quiet,
    },
    ({ message }) => {
      lines = createProgress({ stream: stderr, quiet });
      const what = `How the run goes cannot be shown, written or served as before (${message})`;
      lines.event({ type: 'warning', text: `${what}; it goes on, and its result is written at the end.` });
    },
  );
  return { ...live, event: (event) => (lines ?? live).event(event) };
}

/**
 * While one of several runs goes on, only JSON is rewritten: it holds all that other forms show, and those are made of all runs
 * between them.
 *
 * @param {string} path
 */
function isJson(path) {
  return reporterForFile(path).name === 'json';
}

/** @param {NodeJS.WritableStream} stream @returns {Live} */
function showWarnings(stream) {
  const { event, close } = createProgress({ stream, quiet: true });
  const nothing = async () => {};
  return {
    event,
    resize() {},
    finish: nothing,
    next: nothing,
    abandon: nothing,
    cutShort() {},
    close: async () => close(),
  };
}

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
      // The live thread stops writing files, so the results of the runs before can be written here.
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

/** @param {Context} context @param {Result[]} results at least one @returns {Promise<Document>} */
async function documentOf(context, results) {
  const { settings, remarks = [] } = context;
  return settings.repeat === 1 ? withRemarks(results[0], remarks) : setOf(context, results);
}

/** @param {Context} context @param {Result[]} results at least one */
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

/** @param {unknown} failure @param {Context['live']} live */
function warnOf(failure, live) {
  const text = failure instanceof PkiLoadError ? failure.full : String(failure);
  live.event({ type: 'warning', text });
}

/**
 * Shows what goes on until it is over, and hears signals meanwhile.
 *
 * @template T
 * @param {Parameters<typeof startShowing>} shown
 * @param {AbortController | undefined} heard see onInterrupt
 * @param {(live: Live, signals: {stop: AbortSignal, cutOff: AbortSignal}) => Promise<T>} act
 * @returns {Promise<T>}
 */
export async function whileShown([plan, settings, command], heard, act) {
  const live = await startShowing(plan, settings, command);
  const { stderr } = process;
  const onResize = () => live.resize(stderr.columns, stderr.rows);
  stderr.on('resize', onResize);
  const interrupt = onInterrupt(process, (text) => live.event({ type: 'warning', text }), heard);
  try {
    return await act(live, interrupt);
  } finally {
    stderr.off('resize', onResize);
    // All is reported: a signal now only skips the last metrics.
    interrupt.over(live.cutShort);
    if (interrupt.cutOff.aborted) live.cutShort();
    await live.close();
    interrupt.release();
  }
}
