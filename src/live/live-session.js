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
 * @typedef {object} Outlets
 * @property {View} view
 * @property {Pick<ReturnType<typeof import('./files.js').createFiles>, 'write' | 'stop' | 'resume'> | null} files null: none are written
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
 * @param {Pick<ReturnType<typeof import('./set-text.js').createSetText>, 'add' | 'summarise'> | null} [options.set] for files of
 *   several runs
 * @param {Outlets} outlets
 */
export function createLiveSession({ mix, load, command, runs, set = null }, { view, files, server, pusher }) {
  let over = 0;
  /** Of the current or next run. @type {Aim} */
  let aim = { mix, load };
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
  let isBlind = false;
  /** Computed before the run: a Poisson schedule is walked through, which takes time. */
  let schedule = scheduleOf(load);

  /** A result is needed for an outlet, or to judge requirements. */
  const isWanted = () =>
    files !== null || server !== null || pusher !== null || (start?.plan.requirements.length ?? 0) > 0;

  /** @param {{withFiles: boolean}} how */
  function publish({ withFiles }) {
    soon = undefined;
    if (soFar === null || !isWanted()) return;
    const { result: current } = soFar;
    attempt(() => {
      const result = current();
      view.soFar(result);
      server?.update(result);
      pusher?.update(result);
      if (withFiles) files?.write(result);
    });
  }

  /** @param {number} thread @param {Report} report */
  function take(thread, report) {
    attempt(() => soFar?.add(thread, report));
    soon ??= setTimeout(publish, TOGETHER_MS, { withFiles: true });
  }

  /**
   * After a failure nothing is drawn any more; files and servers go on.
   *
   * @param {RunEvent} event
   */
  function draw(event) {
    if (isBlind && (event.type === 'interval' || event.type === 'progress')) return;
    try {
      view.event(event);
    } catch (error) {
      isBlind = true;
      complain(error);
    }
  }

  /** @param {() => void} action an error is a bug; the run and its final result do not depend on the action */
  function attempt(action) {
    try {
      action();
    } catch (error) {
      complain(error);
    }
  }

  /** @param {unknown} error reported once */
  function complain(error) {
    if (hasFailed) return;
    hasFailed = true;
    const { message } = /** @type {Error} */ (error);
    draw({
      type: 'warning',
      text: `The result so far cannot be shown (${message}). Please report it.`,
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
        port.on('message', (/** @type {Report} */ report) => take(thread, report));
      }
    },
    /**
     * Serves and sends an empty result at once. Files keep their content until the first report.
     *
     * @param {TimeZero} zero
     */
    begin(zero) {
      if (start === null) return;
      const known = { mix: aim.mix, start, zero, command, schedule };
      attempt(() => {
        soFar = createResultSoFar(known);
      });
      files?.resume();
      publish({ withFiles: false });
    },
    /**
     * @param {Result} result
     * @returns {Promise<void>} when no file is being written, so that the caller may write the files
     */
    async finish(result) {
      await stopRun();
      draw({ type: 'result', result });
      await view.settled();
      over++;
      last = result;
      set?.add(result);
      server?.update(result);
      // That of the very last run is sent by close().
      if (pusher !== null && over < runs) sent = pusher.finishRun(result);
    },
    /**
     * @param {RunSet['summary'] | null} summary of all finished runs; null: they are no set
     * @param {Aim | null} [other] of the next run, if its plan differs
     * @returns {Promise<void>} when the metrics of the run before are sent
     */
    async next(summary, other = null) {
      if (summary !== null) set?.summarise(summary);
      aim = other ?? aim;
      schedule = scheduleOf(other === null ? loadOfRun(load, over) : other.load);
      await sent;
    },
    /** After a run that broke off. @returns {Promise<void>} when no file is being written */
    async abandon() {
      await stopRun();
      attempt(() => view.close());
      await view.settled();
    },
    /** @returns {Promise<void>} after the last metrics were sent */
    async close() {
      await stopRun();
      attempt(() => view.close());
      await Promise.all([view.settled(), last === null ? null : pusher?.close(last)]);
      await server?.close();
    },
  };
}
