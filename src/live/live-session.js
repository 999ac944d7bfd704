/** Where everything about a run that goes on comes together, to be shown, written and sent: what the live thread does. */
import { scheduleOf } from '../plan/due.js';
import { loadOfRun } from '../plan/load.js';
import { createResultSoFar } from './result-so-far.js';

/** @typedef {import('../result/schema.js').Result} Result */
/** @typedef {Pick<import('node:worker_threads').MessagePort, 'close'> & {on: (event: 'message', listener: (report: any) => void) => unknown}} ReportPort */
/**
 * @typedef {object} Outlets
 * @property {import('./view.js').View} view
 * @property {Pick<ReturnType<typeof import('./files.js').createFiles>, 'write' | 'stop' | 'resume'> | null} files null: none are written
 * @property {Pick<import('./metrics-server.js').MetricsServer, 'update' | 'close'> | null} server
 * @property {import('./otlp.js').OtlpPusher | null} pusher
 */

/** @typedef {{mix: import('../operations/mix.js').Mix, load: import('../plan/plan.js').LoadPlan}} Aim */

/** Recorders report at about the same time: what comes so soon after the first is waited for. */
const TOGETHER_MS = 150;

/**
 * @param {object} options
 * @param {import('../operations/mix.js').Mix} options.mix
 * @param {import('../plan/plan.js').LoadPlan} options.load of the first run
 * @param {string} options.command
 * @param {number} options.runs that there will be, one after the other
 * @param {Pick<ReturnType<typeof import('./set-text.js').createSetText>, 'add' | 'summarise'> | null} [options.set] what files show
 *   of the runs that are over; null: nothing
 * @param {Outlets} outlets
 */
export function createLiveSession({ mix, load, command, runs, set = null }, { view, files, server, pusher }) {
  let over = 0;
  /** What the run that goes on or comes next is of. @type {Aim} */
  let aim = { mix, load };
  /** Of the runs that are over. @type {Result | null} */
  let last = null;
  /** @type {import('../run.js').StartEvent | null} */
  let start = null;
  /** @type {ReturnType<typeof createResultSoFar> | null} */
  let soFar = null;
  /** @type {ReportPort[]} */
  let listening = [];
  /** @type {NodeJS.Timeout | undefined} */
  let soon;
  /** The last metrics of the run before have arrived, or are given up. @type {Promise<void>} */
  let sent = Promise.resolve();
  let hasFailed = false;
  let isBlind = false;
  /** Of the run that goes on or comes next: a Poisson one is walked through, which is not to fall into the run. */
  let schedule = scheduleOf(load);

  /** Without an outlet for a result there are still requirements to be judged, or there are none. */
  const isWanted = () =>
    files !== null || server !== null || pusher !== null || (start?.plan.requirements.length ?? 0) > 0;

  /** @param {{withFiles: boolean}} how */
  function publish({ withFiles }) {
    soon = undefined;
    if (soFar === null || !isWanted()) return;
    try {
      const result = soFar.result();
      view.soFar(result);
      server?.update(result);
      pusher?.update(result);
      if (withFiles) files?.write(result);
    } catch (error) {
      complain(error);
    }
  }

  /** @param {number} thread @param {import('./result-so-far.js').Report} report */
  function take(thread, report) {
    try {
      soFar?.add(thread, report);
    } catch (error) {
      complain(error);
    }
    soon ??= setTimeout(publish, TOGETHER_MS, { withFiles: true });
  }

  /**
   * What fails to be drawn is not drawn again; files and servers go on.
   *
   * @param {import('../run.js').RunEvent} event
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

  /** @param {unknown} error a fault of ours; the run goes on, and its final result does not depend on this */
  function complain(error) {
    if (hasFailed) return;
    hasFailed = true;
    const { message } = /** @type {Error} */ (error);
    draw({
      type: 'warning',
      text: `What was measured so far cannot be shown (${message}). Please report it.`,
    });
  }

  function leave() {
    try {
      view.close();
    } catch (error) {
      complain(error);
    }
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
    /** @param {import('../run.js').RunEvent} event */
    event(event) {
      if (event.type === 'start') start = event;
      draw(event);
    },
    /** @param {ReportPort[]} ports one of each recorder */
    listen(ports) {
      listening = ports;
      for (const [thread, port] of ports.entries()) {
        port.on('message', (/** @type {import('./result-so-far.js').Report} */ report) =>
          take(thread, report),
        );
      }
    },
    /**
     * An empty result is served and sent at once. Files keep what they hold until there is something to take its place.
     *
     * @param {import('../run.js').TimeZero} zero
     */
    begin(zero) {
      if (start === null) return;
      try {
        soFar = createResultSoFar({ mix: aim.mix, start, zero, command, schedule });
      } catch (error) {
        complain(error);
      }
      files?.resume();
      publish({ withFiles: false });
    },
    /**
     * The run is over.
     *
     * @param {Result} result
     * @returns {Promise<void>} when no file is written any more: whoever gave the result may write them
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
     * Another run comes.
     *
     * @param {import('../result/runs/run-set.js').RunSet['summary'] | null} summary of all that are over; null: they are no set
     * @param {Aim | null} [other] what it is of, where that is another plan than those before
     * @returns {Promise<void>} when nothing of what is over is under way any more
     */
    async next(summary, other = null) {
      if (summary !== null) set?.summarise(summary);
      aim = other ?? aim;
      schedule = scheduleOf(other === null ? loadOfRun(load, over) : other.load);
      await sent;
    },
    /**
     * The run that goes on has broken off.
     *
     * @returns {Promise<void>} when no file is written any more
     */
    async abandon() {
      await stopRun();
      leave();
      await view.settled();
    },
    /** @returns {Promise<void>} after the last metrics were sent */
    async close() {
      await stopRun();
      leave();
      await Promise.all([view.settled(), last === null ? null : pusher?.close(last)]);
      await server?.close();
    },
  };
}
