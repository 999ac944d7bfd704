/** Combines the recorders' reports during a run, and shows, writes and sends the result so far. */
import { scheduleOf } from '../plan/due.js';
import { loadOfRun } from '../plan/load.js';
import { createResultSoFar } from './result-so-far.js';

/** @import { Report } from '../engine/recording/recorder.js' */
/** @import { Mix } from '../operations/mix.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { RunSet } from '../result/runs/run-set.js' */
/** @import { Result } from '../result/schema.js' */
/** @import { RunEvent, StartEvent, TimeZero } from '../run.js' */
/** @import { MetricsServer } from './metrics-server.js' */
/** @import { OtlpPusher } from './otlp.js' */
/** @import { View } from './view.js' */
/** @import { MessagePort } from 'node:worker_threads' */

/** @typedef {Pick<MessagePort, 'close'> & {on: (event: 'message', listener: (report: any) => void) => unknown}} ReportPort */
/**
 * @typedef {object} Outlets null: not requested
 * @property {View} view
 * @property {Omit<ReturnType<typeof import('./files.js').createFiles>, 'prepare'> | null} files
 * @property {Pick<MetricsServer, 'update' | 'close'> | null} server
 * @property {OtlpPusher | null} pusher
 */

/** @typedef {{mix: Mix, load: LoadPlan}} Aim */

/** Recorders report at about the same time; reports within this time make one result. */
const TOGETHER_MS = 150;

/**
 * @param {object} options
 * @param {Mix} options.mix
 * @param {LoadPlan} options.load of the first run
 * @param {string} options.command
 * @param {number} options.runs in all
 * @param {() => void} [options.collect] after each result so far
 * @param {Outlets} outlets
 */
export function createLiveSession(
  { mix, load, command, runs, collect = () => {} },
  { view, files, server, pusher },
) {
  let finishedRuns = 0;
  /** Of the current or next run. @type {Aim} */
  let aim = { mix, load };
  /** Computed before the run: a Poisson schedule is walked through, which takes time. */
  let schedule = scheduleOf(load);
  /** Of the last finished run. @type {Result | null} */
  let last = null;
  /** @type {StartEvent | null} */
  let start = null;
  /** @type {ReturnType<typeof createResultSoFar> | null} */
  let soFar = null;
  /** @type {ReportPort[]} */
  let listening = [];
  /** @type {NodeJS.Timeout | undefined} */
  let soon;
  /** Settles the last metrics of the run before. @type {Promise<void>} */
  let sent = Promise.resolve();
  let hasFailed = false;

  /** @param {() => void} action an error is a bug, reported once; the run and its final result do not depend on the action */
  function attempt(action) {
    try {
      action();
    } catch (error) {
      if (hasFailed) return;
      hasFailed = true;
      const { message } = /** @type {Error} */ (error);
      draw({ type: 'warning', text: `The result so far cannot be shown (${message}). Please report it.` });
    }
  }

  /** @param {RunEvent} event */
  function draw(event) {
    attempt(() => view.event(event));
  }

  /** @param {{withFiles: boolean}} how */
  function publish({ withFiles }) {
    soon = undefined;
    const hasOutlet = files !== null || server !== null || pusher !== null;
    if (soFar === null || (!hasOutlet && start?.plan.requirements.length === 0)) return;
    const { result: current } = soFar;
    attempt(() => {
      const result = current();
      collect();
      view.soFar(result);
      server?.update(result);
      pusher?.update(result);
      if (withFiles) files?.write(result);
    });
  }

  async function stopRun() {
    clearTimeout(soon);
    soon = undefined;
    soFar = null;
    for (const port of listening) port.close();
    listening = [];
    await files?.stop();
  }

  return {
    /** @param {RunEvent} event */
    event(event) {
      if (event.type === 'start') start = event;
      draw(event);
    },
    /** @param {ReportPort[]} ports one of each recorder */
    listen(ports) {
      listening = ports;
      for (const [thread, port] of ports.entries()) {
        port.on('message', (/** @type {Report} */ report) => {
          attempt(() => soFar?.add(thread, report));
          soon ??= setTimeout(publish, TOGETHER_MS, { withFiles: true });
        });
      }
    },
    /** Serves and sends an empty result at once. Files keep their content until the first report. @param {TimeZero} zero */
    begin(zero) {
      if (start === null) return;
      const known = { mix: aim.mix, start, zero, command, schedule };
      attempt(() => {
        soFar = createResultSoFar(known);
      });
      files?.resume();
      publish({ withFiles: false });
    },
    /** Resolves when no file is being written: then the caller may write the files. @param {Result} result */
    async finish(result) {
      await stopRun();
      draw({ type: 'result', result });
      await view.settled();
      finishedRuns++;
      last = result;
      files?.add(result);
      server?.update(result);
      // close() sends the result of the very last run.
      if (pusher !== null && finishedRuns < runs) sent = pusher.finishRun(result);
    },
    /**
     * Resolves when the metrics of the run before are sent.
     * @param {RunSet['summary'] | null} summary of all finished runs; null: they are no set
     * @param {Aim | null} [other] of the next run, if its plan differs
     */
    async next(summary, other = null) {
      if (summary !== null) files?.summarise(summary);
      aim = other ?? aim;
      schedule = scheduleOf(other === null ? loadOfRun(load, finishedRuns) : other.load);
      await sent;
    },
    /** After a failed run. Resolves when no file is being written. */
    async abandon() {
      await stopRun();
      attempt(() => view.close());
      await view.settled();
    },
    /** Resolves when the last metrics are sent. */
    async close() {
      await stopRun();
      attempt(() => view.close());
      await Promise.all([view.settled(), last === null ? null : pusher?.close(last)]);
      await server?.close();
    },
  };
}
