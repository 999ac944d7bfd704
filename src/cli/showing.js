/** Shows, writes and serves a run in progress: on the live thread, or as lines of a log once that is lost. */
import { pauseFor } from '../campaigns/repeat.js';
import { EXIT } from '../common/errors.js';
import { unlessStopped } from '../common/stop.js';
import { startLive } from '../live/thread.js';
import { createProgress } from '../live/view.js';
import { reporterForFile } from '../report/index.js';
import { makeRunSet } from '../result/runs/run-set.js';
import { report, withRemarks, writeFiles } from './output.js';
import { endWith, exitCodeOf, onInterrupt, textOf, worstOf } from './process.js';
/** @import { Plan } from '../plan/plan.js' */
/** @import { Result } from '../result/schema.js' */
/** @import { RunSettings } from './run-options.js' */
/** @import { Interrupt } from './process.js' */
/** @import { WriteStream } from 'node:tty' */

/** @typedef {Awaited<ReturnType<typeof startShowing>>} Showing close it */

/**
 * @param {Plan} plan of the first run
 * @param {Pick<RunSettings, 'out' | 'metrics' | 'otlp' | 'quiet' | 'repeat' | 'command'>} settings
 * @param {Interrupt} interrupt
 * @param {{stderr?: WriteStream, env?: NodeJS.ProcessEnv, start?: typeof startLive}} [system]
 */
export async function startShowing(
  plan,
  { out, metrics, otlp, quiet, repeat, command },
  interrupt,
  { stderr = process.stderr, env = process.env, start = startLive } = {},
) {
  const isSilent = quiet && out.length === 0 && metrics === null && otlp === null;
  const isTTY = Boolean(stderr.isTTY) && env.TERM !== 'dumb';
  const { columns, rows } = stderr;
  /** Instead of the thread, if there is none or it is lost. */
  let lines = isSilent ? createProgress({ stream: stderr, quiet }) : null;
  const options = {
    ...{ plan, command, metrics, otlp, quiet, runs: repeat },
    // In one of several runs only JSON is rewritten: other forms show all runs together, and are written between them.
    outs: repeat === 1 ? out : out.filter((path) => reporterForFile(path).name === 'json'),
    terminal: { isTTY, columns, rows, color: isTTY && !env.NO_COLOR },
  };
  const live = isSilent
    ? null
    : await start(options, ({ message }) => {
        lines = createProgress({ stream: stderr, quiet });
        const text = `The run cannot be shown, written or served as before (${message}); it goes on, and its result is written at the end.`;
        lines.event({ type: 'warning', text });
      });
  /** @type {import('../run.js').RunOptions['onEvent'] & {}} */
  const event = (one) => {
    // finish() shows the result.
    if (one.type !== 'result') (lines ?? live)?.event(one);
  };
  const warn = (/** @type {string} */ text) => event({ type: 'warning', text });
  const onResize = () => live?.resize(stderr.columns, stderr.rows);
  stderr.on('resize', onResize);
  interrupt.attach(warn);
  return {
    event,
    warn,
    hook: live?.hook,
    finish: async (/** @type {Result} */ result) => live?.finish(result),
    /** @type {import('../live/thread.js').Live['next']} */
    next: async (...args) => live?.next(...args),
    abandon: async () => live?.abandon(),
    /** Sends the last metrics, unless a signal comes. */
    async close() {
      stderr.off('resize', onResize);
      interrupt.over(() => live?.cutShort());
      if (interrupt.cutOff.aborted) live?.cutShort();
      await live?.close();
    },
  };
}

/**
 * For measurements that are not runs: their progress on this thread, until they have ended.
 * @template T
 * @param {boolean} quiet
 * @param {(how: {onEvent: ReturnType<typeof createProgress>['event'], close: () => void, interrupt: Interrupt}) => Promise<T>} act
 */
export async function withProgress(quiet, act) {
  const { stderr } = process;
  const progress = createProgress({ stream: stderr, isTTY: stderr.isTTY, columns: stderr.columns, quiet });
  const interrupt = onInterrupt(process);
  interrupt.attach((text) => progress.event({ type: 'warning', text }));
  try {
    return await act({ onEvent: progress.event, close: progress.close, interrupt });
  } finally {
    progress.close();
    interrupt.release();
  }
}

/**
 * Repeats the run of one plan and reports it.
 * @param {object} context
 * @param {string} context.name of a set of these runs
 * @param {RunSettings} context.settings
 * @param {(run: number) => Promise<Result>} context.runOnce the run of that number, from 0
 * @param {Pick<Showing, 'event' | 'warn' | 'finish' | 'next' | 'abandon'>} context.live
 * @param {AbortSignal} context.stop
 * @param {readonly string[]} [context.remarks] see withRemarks
 * @param {typeof report} [context.reportTo]
 * @returns {Promise<number>} exit code of the worst run
 * @throws {PkiLoadError} if not everything could be written; its exit code is that of the runs, unless that is 0
 */
export async function runRepeatedly({
  name,
  settings,
  runOnce,
  live,
  stop,
  remarks = [],
  reportTo = report,
}) {
  const { repeat, pauseMs, out } = settings;
  /** @type {Result[]} */
  const results = [];
  const setSoFar = () => withRemarks(makeRunSet(name, results), remarks);
  const reportAll = () => reportTo(repeat === 1 ? withRemarks(results[0], remarks) : setSoFar(), settings);
  try {
    for (;;) {
      if (repeat > 1) live.event({ type: 'notice', text: `Run ${results.length + 1} of ${repeat}:` });
      const result = await runOnce(results.length);
      await live.finish(result);
      results.push(result);
      if (results.length === repeat || stop.aborted) break;
      const set = setSoFar();
      // The last attempt reports files that cannot be written.
      await writeFiles(set, out);
      await Promise.all([pauseFor(pauseMs, stop), unlessStopped(live.next(set.summary), stop)]);
      if (stop.aborted) break;
    }
  } catch (error) {
    if (results.length > 0) {
      // The live thread stops writing files, so the results of the runs before can be written here.
      await live.abandon();
      for (const failure of await reportAll()) live.warn(textOf(failure));
    }
    throw error;
  }
  const codes = results.map(exitCodeOf);
  if (results.length < repeat) codes.push(EXIT.interrupted);
  return endWith(worstOf(codes), await reportAll(), live.warn);
}
