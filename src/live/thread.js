/**
 * The main thread's side of the live thread. Each event is one message, so that a sending main thread neither draws nor encodes
 * nor writes.
 */
import { MessageChannel, Worker } from 'node:worker_threads';
import { unpackError } from '../common/errors.js';
import { HELPER_LIMITS } from '../engine/thread.js';

/** @import { Plan } from '../plan/plan.js' */
/** @import { RunSet } from '../result/runs/run-set.js' */
/** @import { Result } from '../result/schema.js' */
/** @import { LiveHook, RunEvent, TimeZero } from '../run.js' */
/** @import { Terminal } from './view.js' */
/** @import { MessagePort } from 'node:worker_threads' */

/** @typedef {RunSet['summary']} Summary */
/**
 * @typedef {object} LiveOptions plain data
 * @property {Plan} plan
 * @property {string} command the command line, for the result; no secrets
 * @property {number} runs more than one make a run set
 * @property {string[]} outs files to be rewritten during a run; of several runs, JSON only
 * @property {{host: string, port: number} | null} metrics
 * @property {string | null} otlp
 * @property {Terminal} terminal standard error
 * @property {boolean} quiet
 */
/** @typedef {{type: 'finish', result: Result} | {type: 'next', summary: Summary | null, plan: Plan | null} | {type: 'abandon'} | {type: 'close'}} RepliedOrder the reply has the same type */
/** @typedef {RepliedOrder | {type: 'event', event: RunEvent} | {type: 'ports', ports: MessagePort[]} |
 *   {type: 'begin', zero: TimeZero} | {type: 'resize', columns: number, rows: number}} Order */
/**
 * @typedef {object} Live
 * @property {(event: RunEvent) => void} event
 * @property {LiveHook} hook for `run`
 * @property {(columns: number, rows: number) => void} resize
 * @property {(result: Result) => Promise<void>} finish a run: resolves when drawing and writing have ended
 * @property {(summary: Summary | null, plan?: Plan) => Promise<void>} next announces another run, with its plan if that
 *   differs; `summary` is of the runs before, null: they are no set. Resolves when the metrics of the run before are sent
 * @property {() => Promise<void>} abandon a failed run: resolves when drawing and writing have ended
 * @property {() => void} cutShort makes close() stop waiting for metrics
 * @property {() => Promise<void>} close resolves when the last metrics are sent and the thread has ended; may be called again
 */

/** A blocked thread, as on a stopped terminal, is given up after this. */
const REPLY_WITHIN_MS = 30_000;

/**
 * @param {LiveOptions} options
 * @param {(error: Error) => void} onLost the thread has failed during a run, which goes on
 * @returns {Promise<Live>}
 * @throws {PkiLoadError} the reason why it cannot start, e.g. a port in use
 */
export async function startLive(options, onLost) {
  let { plan } = options;
  const worker = new Worker(new URL('./thread-worker.js', import.meta.url), {
    workerData: options,
    resourceLimits: HELPER_LIMITS,
  });
  /** By the type of the reply. @type {Map<string, () => void>} */
  const awaited = new Map();
  /** @type {Error[]} */
  const failures = [];
  let isReady = false;
  let isGone = false;

  function endReplies() {
    isGone = true;
    for (const resolve of awaited.values()) resolve();
    awaited.clear();
  }

  /** @param {Error} error */
  function lose(error) {
    if (isGone) return;
    failures.push(error);
    endReplies();
    if (isReady) onLost(error);
  }

  /** @param {string} type @returns {Promise<void>} when the thread has sent that reply, or is gone */
  function replyOf(type) {
    return new Promise((resolve) => {
      if (isGone) resolve();
      else awaited.set(type, resolve);
    });
  }

  worker.on('message', ({ type, error }) => {
    if (type === 'failed') lose(unpackError(error));
    awaited.get(type)?.();
    awaited.delete(type);
  });
  worker.on('error', (thrown) => lose(unpackError(/** @type {Error} */ (thrown))));
  worker.on('exit', () => lose(new Error('its thread has ended')));
  await replyOf('ready');
  if (failures.length > 0) {
    await worker.terminate();
    throw failures[0];
  }
  isReady = true;

  /** @param {Order} order @param {MessagePort[]} [transfer] */
  const post = (order, transfer = []) => worker.postMessage(order, transfer);
  /** @type {Promise<void> | null} */
  let closing = null;

  function giveUp() {
    endReplies();
    worker.terminate();
  }

  /** @param {RepliedOrder} order */
  async function request(order) {
    const replied = replyOf(order.type);
    post(order);
    const timer = setTimeout(giveUp, REPLY_WITHIN_MS);
    await replied;
    clearTimeout(timer);
  }

  async function end() {
    await request({ type: 'close' });
    isGone = true;
    await worker.terminate();
  }

  return {
    event: (event) => post({ type: 'event', event }),
    hook: {
      ports(count) {
        if (isGone || !needsReports({ ...options, plan })) return [];
        const channels = Array.from({ length: count }, () => new MessageChannel());
        const theirs = channels.map(({ port1 }) => port1);
        post({ type: 'ports', ports: theirs }, theirs);
        return channels.map(({ port2 }) => port2);
      },
      begin: (zero) => post({ type: 'begin', zero }),
    },
    resize: (columns, rows) => post({ type: 'resize', columns, rows }),
    finish: (result) => request({ type: 'finish', result }),
    next(summary, other) {
      plan = other ?? plan;
      return request({ type: 'next', summary, plan: other ?? null });
    },
    abandon: () => request({ type: 'abandon' }),
    cutShort: giveUp,
    close() {
      closing ??= end();
      return closing;
    },
  };
}

/** @param {LiveOptions} options */
function needsReports({ outs, metrics, otlp, plan, quiet }) {
  const hasOutlet = outs.length > 0 || metrics !== null || otlp !== null;
  return hasOutlet || (plan.requirements.length > 0 && !quiet);
}
