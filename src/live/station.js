/** Where everything about a run that goes on comes together, to be shown, written and sent: what the live thread does. */
import { loadOfRun } from '../plan-load.js';
import { createResultSoFar, scheduleOf } from './result-so-far.js';

/** @typedef {import('../results/schema.js').Result} Result */
/** @typedef {Pick<import('node:worker_threads').MessagePort, 'close'> & {on: (event: 'message', listener: (report: any) => void) => unknown}} ReportPort */
/**
 * @typedef {object} Outlets
 * @property {import('./view.js').View} view
 * @property {Pick<ReturnType<typeof import('./files.js').createFiles>, 'write' | 'stop' | 'resume'> | null} files null: none are written
 * @property {Pick<import('./metrics-server.js').MetricsServer, 'update' | 'close'> | null} server
 * @property {import('./otlp.js').OtlpPusher | null} pusher
 */

/** Recorders report at about the same time: what comes so soon after the first is waited for. */
const TOGETHER_MS = 150;

/**
 * @param {object} options
 * @param {import('../operations/index.js').Operation} options.operation
 * @param {import('../plan.js').LoadPlan} options.load of the first run
 * @param {string} options.command
 * @param {number} options.runs that there will be, one after the other
 * @param {Outlets} outlets
 */
export function createStation({ operation, load, command, runs }, { view, files, server, pusher }) {
  /** Results of the runs that are over. @type {Result[]} */
  const finished = [];
  /** @type {import('../run.js').StartEvent | null} */
  let start = null;
  /** @type {ReturnType<typeof createResultSoFar> | null} */
  let soFar = null;
  /** @type {ReportPort[]} */
  let listening = [];
  /** @type {NodeJS.Timeout | undefined} */
  let soon;
  let hasFailed = false;
  /** Of the run that goes on or comes next: a Poisson one is walked through, which is not to fall into the run. */
  let schedule = scheduleOf(load);

  /** Without an outlet for a result there are still requirements to be judged, or there are none. */
  const isWanted = () =>
    files !== null || server !== null || pusher !== null || (start?.plan.requirements.length ?? 0) > 0;

  function publish() {
    soon = undefined;
    if (soFar === null || !isWanted()) return;
    try {
      const result = soFar.result();
      view.soFar(result);
      server?.update(result);
      pusher?.update(result);
      if (files !== null) documentOf([...finished, result]).then(files.write, complain);
    } catch (error) {
      complain(error);
    }
  }

  /** @param {unknown} error a fault of ours; the run goes on, and its final result does not depend on this */
  function complain(error) {
    if (hasFailed) return;
    hasFailed = true;
    const { message } = /** @type {Error} */ (error);
    view.event({
      type: 'warning',
      text: `What was measured so far cannot be shown (${message}). Please report it.`,
    });
  }

  /** @param {Result[]} results */
  async function documentOf(results) {
    if (runs === 1) return results[0];
    const { makeRunSet } = await import('../results/run-set.js');
    return makeRunSet(operation.name, results);
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
      view.event(event);
    },
    /** @param {ReportPort[]} ports one of each recorder */
    listen(ports) {
      listening = ports;
      for (const [thread, port] of ports.entries()) {
        port.on('message', (/** @type {import('./result-so-far.js').Report} */ report) => {
          soFar?.add(thread, report);
          soon ??= setTimeout(publish, TOGETHER_MS);
        });
      }
    },
    /** An empty result is there at once. @param {import('../run.js').TimeZero} zero */
    begin(zero) {
      if (start === null) return;
      soFar = createResultSoFar({ operation, start, zero, command, schedule });
      files?.resume();
      publish();
    },
    /**
     * The run is over.
     *
     * @param {Result} result
     * @returns {Promise<void>} when no file is written any more: whoever gave the result may write them
     */
    async finish(result) {
      await stopRun();
      view.event({ type: 'result', result });
      await view.settled();
      finished.push(result);
      if (finished.length < runs) schedule = scheduleOf(loadOfRun(load, finished.length));
      server?.update(result);
      pusher?.update(result);
    },
    /** @returns {Promise<void>} after the last metrics were sent */
    async close() {
      await stopRun();
      view.close();
      await view.settled();
      const last = finished.at(-1);
      if (pusher !== null && last !== undefined) await pusher.close(last);
      await server?.close();
    },
  };
}
