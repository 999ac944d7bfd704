/** Runs a plan and shows its progress: on the live thread, or as plain lines if that thread is lost. */
import { EXIT } from '../common/errors.js';
import { pauseFor, waitUnlessStopped } from '../common/stop.js';
import { startLive } from '../live/thread.js';
import { createView } from '../live/view.js';
import { reporterForFile } from '../report/index.js';
import { createRunSet } from '../result/runs/run-set.js';
import { withRemarks, writeFiles, writeReports } from './output.js';
import { endWith, exitCodeOf, failAtExit, textOf, worstOf } from './process.js';

/** @import { Live } from '../live/thread.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { Result } from '../result/schema.js' */
/** @import { RunEvent } from '../run.js' */
/** @import { RunContext, RunSettings } from './operation.js' */
/** @import { Interrupt } from './process.js' */
/** @import { WriteStream } from 'node:tty' */

/** @typedef {Awaited<ReturnType<typeof startLiveSession>>} LiveSession the caller closes it */

/**
 * @param {Plan} plan of the first run
 * @param {Pick<RunSettings, 'out' | 'metrics' | 'otlp' | 'quiet' | 'repeat' | 'command'>} settings
 * @param {Interrupt} interrupt
 * @param {{stderr?: WriteStream, env?: NodeJS.ProcessEnv, start?: typeof startLive, fail?: () => void}} [system]
 */
export async function startLiveSession(plan, settings, interrupt, system = {}) {
  const { out, metrics, otlp, quiet, repeat, command } = settings;
  const { stderr = process.stderr, env = process.env, start = startLive } = system;
  const { fail = () => failAtExit(process) } = system;
  const isTTY = Boolean(stderr.isTTY) && env.TERM !== 'dumb';
  const { columns, rows } = stderr;
  const options = {
    ...{ plan, command, metrics, otlp, quiet, runs: repeat },
    // With several runs, only JSON is rewritten during a run; the other formats are written between runs.
    outs: repeat === 1 ? out : out.filter((path) => reporterForFile(path).name === 'json'),
    terminal: { isTTY, columns, rows, color: isTTY && !env.NO_COLOR },
  };
  /** Replaces the thread if it was not started or is lost. @type {ReturnType<typeof createView> | null} */
  let lines = null;
  const useLines = () => {
    lines = createView({ write: (text) => stderr.write(text), terminal: { isTTY: false }, quiet });
  };
  const onLost = (/** @type {Error} */ { message }) => {
    useLines();
    const text = `Progress, files and metrics are no longer updated (${message.replace(/\.$/, '')}).`;
    warn(`${text} The run continues, and writes its result at the end.`);
  };
  const isSilent = quiet && out.length === 0 && metrics === null && otlp === null;
  /** Clean-up of the last run. @type {Promise<unknown>} */
  let closing = Promise.resolve();
  const live = isSilent ? useLines() : await start(options, onLost);
  /** @param {RunEvent} shown */
  function event(shown) {
    if (shown.type === 'warning' && shown.isFailure) fail();
    // finish() shows the result.
    if (shown.type !== 'result') (lines ?? live)?.event(shown);
  }
  const warn = (/** @type {string} */ text) => event({ type: 'warning', text });
  const onResize = () => live?.resize(stderr.columns, stderr.rows);
  stderr.on('resize', onResize);
  interrupt.attach(warn);
  return {
    event,
    warn,
    hook: live?.hook,
    finish: async (/** @type {Result} */ result) => live?.finish(result),
    /** @type {Live['next']} */
    next: (...args) => closing.then(() => live?.next(...args)),
    abandon: async () => live?.abandon(),
    /** The next run waits for it, but not a report. @param {Promise<unknown>} promise */
    onClosing(promise) {
      closing = promise.catch((error) => warn(textOf(error)));
    },
    /** Waits for the clean-up, which a second signal ends; then sends the last metrics, unless a signal arrives. */
    async close() {
      interrupt.attach(warn, 'Removing what the tool created. Press Ctrl-C again to stop waiting.');
      await closing;
      stderr.off('resize', onResize);
      interrupt.onNextSignal(() => live?.cutShort());
      if (interrupt.cutOff.aborted) await live?.cutShort();
      await live?.close();
      if (!live?.hasStalled()) return;
      useLines();
      const missing = 'Progress, files and metrics were not updated after that; the results are complete.';
      warn(`The live view did not respond in time and was ended. ${missing}`);
    },
  };
}

/**
 * Runs a plan `repeat` times and reports the results.
 * @param {Pick<RunContext, 'settings' | 'remarks'> & {name: string, runOnce: (run: number) => Promise<Result>, stop: AbortSignal, broken?: AbortSignal,
 *   live: Pick<LiveSession, 'event' | 'warn' | 'finish' | 'next' | 'abandon'>, reportTo?: typeof writeReports}} context `name`: of the set of
 *   runs; `runOnce`: executes the run with this number, from 0; `broken`: the next run will throw
 * @returns {Promise<number>} exit code of the worst run
 * @throws {PkiLoadError} if an output could not be written; its exit code is that of the runs, unless that is 0
 */
export async function runRepeatedly(context) {
  const { name, settings, runOnce, live, stop, broken, remarks = [], reportTo = writeReports } = context;
  const { repeat, pauseMs, out } = settings;
  /** @type {Result[]} */
  const results = [];
  const setSoFar = () => {
    const missing = results.length < repeat ? [`Only ${results.length} of ${repeat} runs ended.`] : [];
    return withRemarks(createRunSet(name, results, repeat), [...remarks, ...missing]);
  };
  const reportAll = () => reportTo(repeat === 1 ? withRemarks(results[0], remarks) : setSoFar(), settings);
  try {
    for (;;) {
      if (repeat > 1) live.event({ type: 'notice', text: `Run ${results.length + 1} of ${repeat}:` });
      const result = await runOnce(results.length);
      await live.finish(result);
      results.push(result);
      if (results.length === repeat || stop.aborted) break;
      // The final write reports files that cannot be written.
      await writeFiles(setSoFar(), out);
      await waitUnlessStopped(live.next(), stop);
      await pauseFor(pauseMs, stop, broken);
      if (stop.aborted) break;
    }
  } catch (error) {
    if (results.length > 0) {
      // Once the live thread no longer writes files, write the earlier results here.
      await live.abandon();
      for (const failure of await reportAll()) live.warn(textOf(failure));
    }
    throw error;
  }
  const codes = results.map(exitCodeOf);
  if (results.length < repeat) codes.push(EXIT.interrupted);
  return endWith(worstOf(codes), await reportAll(), live.warn);
}
