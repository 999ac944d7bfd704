/** Merges the recorders' reports during a run, and shows, writes and sends the result so far. */
import { loadMix } from '../operations/mix.js';
import { scheduleOf } from '../plan/due.js';
import { loadOfRun } from '../plan/load.js';
import { createResultSoFar, withoutVerdicts } from './result-so-far.js';

/** @import { Report } from '../engine/recording/recorder.js' */
/** @import { Mix } from '../operations/mix.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { Result } from '../result/schema.js' */
/** @import { RunEvent, StartEvent, TimeZero } from '../run.js' */
/** @import { createFiles } from './files.js' */
/** @import { MetricsServer } from './metrics-server.js' */
/** @import { OtlpPusher } from './otlp.js' */
/** @import { View } from './view.js' */
/** @import { MessagePort } from 'node:worker_threads' */

/** @typedef {ReturnType<typeof createLiveSession>} LiveSession */
/** @typedef {Pick<MessagePort, 'close'> & {on: (event: 'message', call: (report: any) => void) => any}} ReportPort */
/** @typedef {{view: View, files: Omit<ReturnType<typeof createFiles>, 'prepare'> | null, pusher: OtlpPusher | null,
 *   server: Omit<MetricsServer, 'address'> | null}} Outputs null: not requested */

/** Recorders report at about the same time; reports within this time are merged into one result. */
const MERGE_WINDOW_MS = 150;

/** @param {{mix: Mix, load: Plan['load'], command: string}} first run @param {Outputs} outputs */
export function createLiveSession({ mix, load, command }, { view, files, server, pusher }) {
  const hasOutput = files !== null || server !== null || pusher !== null;
  let finishedRuns = 0;
  /** Of the current or next run. */
  let currentMix = mix;
  /** Computed before the run: counting Poisson arrivals takes time. */
  let schedule = scheduleOf(load);
  let start = /** @type {StartEvent | null} */ (null);
  let soFar = /** @type {ReturnType<typeof createResultSoFar> | null} */ (null);
  let listening = /** @type {ReportPort[]} */ ([]);
  /** @type {NodeJS.Timeout | undefined} */
  let publishTimer;
  /** Resolves when the last metrics of the previous run are sent. @type {Promise<void> | undefined} */
  let sent;
  let hasFailed = false;

  /** Reports the first error, which is a bug; the run continues without it. @param {() => void} action */
  function attempt(action) {
    try {
      action();
    } catch (error) {
      if (hasFailed) return;
      hasFailed = true;
      const { message } = /** @type {Error} */ (error);
      draw({ type: 'warning', text: `Cannot show the result so far (${message}). Please report this bug.` });
    }
  }

  const draw = (/** @type {RunEvent} */ event) => attempt(() => view.event(event));

  /** @param {boolean} withFiles */
  function publish(withFiles) {
    publishTimer = undefined;
    const current = soFar;
    if (current === null || (!hasOutput && start?.plan.requirements.length === 0)) return;
    attempt(() => {
      const result = current.result();
      view.soFar(result);
      const outside = withoutVerdicts(result);
      server?.update(outside);
      pusher?.update(outside);
      if (withFiles) files?.write(outside);
    });
  }

  async function stopRun() {
    clearTimeout(publishTimer);
    publishTimer = undefined;
    soFar = null;
    for (const port of listening) port.close();
    listening = [];
    await files?.stop();
  }

  async function abandon() {
    await stopRun();
    attempt(view.close);
    await view.settled();
  }

  return {
    /** @param {RunEvent} event */
    event(event) {
      if (event.type === 'start') start = event;
      draw(event);
    },
    resize: view.resize,
    /** Resolves when all that was drawn so far is written. */
    flush: view.settled,
    /** @param {ReportPort[]} ports one per recorder */
    listen(ports) {
      listening = ports;
      for (const [thread, port] of ports.entries()) {
        port.on('message', (/** @type {Report} */ report) => {
          attempt(() => soFar?.add(thread, report));
          publishTimer ??= setTimeout(publish, MERGE_WINDOW_MS, true);
        });
      }
    },
    /** Serves and sends an empty result; files stay as they are until the first report. @param {TimeZero} zero */
    begin(zero) {
      if (start === null) return;
      const run = { mix: currentMix, start, zero, command, schedule };
      attempt(() => {
        soFar = createResultSoFar(run);
      });
      publish(false);
    },
    /** Resolves when no file is being written, so that the caller may write them. @param {Result} result */
    async finish(result) {
      await stopRun();
      draw({ type: 'result', result });
      await view.settled();
      finishedRuns++;
      files?.add(result);
      server?.update(result);
      sent = pusher?.finish(result);
    },
    /** Resolves when the metrics of the previous run are sent. @param {Plan | null} [plan] the next, if it differs */
    async next(plan = null) {
      if (plan !== null) currentMix = await loadMix(plan);
      schedule = scheduleOf(plan?.load ?? loadOfRun(load, finishedRuns));
      await sent;
    },
    /** After a failed run. Resolves when no file is being written. */
    abandon,
    /** Resolves when the last metrics are sent. */
    async close() {
      await abandon();
      await sent;
      await pusher?.close();
      await server?.close();
    },
  };
}
