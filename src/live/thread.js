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
/** @import { LiveHook, RunEvent } from '../run.js' */
/** @import { LiveSession } from './live-session.js' */
/** @import { Terminal } from './terminal.js' */
/** @import { MessagePort } from 'node:worker_threads' */

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
/** @typedef {Awaited<ReturnType<typeof startLive>>} Live */

/** A blocked thread, as on a stopped terminal, is given up after this. */
const REPLY_WITHIN_MS = 30_000;

/**
 * @param {LiveOptions} options
 * @param {(error: Error) => void} onLost the thread has failed during a run, which goes on
 * @throws {PkiLoadError} the reason why it cannot start, e.g. a port in use
 */
export async function startLive(options, onLost) {
  let { requirements } = options.plan;
  const worker = new Worker(new URL('./thread-worker.js', import.meta.url), {
    workerData: options,
    resourceLimits: HELPER_LIMITS,
  });
  /** By the method that a reply is awaited of. @type {Map<string, () => void>} */
  const awaited = new Map();
  /** @type {Error | null} */
  let failure = null;
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
    failure = error;
    endReplies();
    if (isReady) onLost(error);
  }

  /** @param {string} method @returns {Promise<void>} when the thread has replied to it, or is gone */
  function replyTo(method) {
    return new Promise((resolve) => {
      if (isGone) resolve();
      else awaited.set(method, resolve);
    });
  }

  worker.on('message', ({ done, error }) => {
    if (error !== undefined) return lose(unpackError(error));
    awaited.get(done)?.();
    awaited.delete(done);
  });
  worker.on('error', (thrown) => lose(unpackError(/** @type {Error} */ (thrown))));
  worker.on('exit', () => lose(new Error('its thread has ended')));
  await replyTo('ready');
  if (failure !== null) {
    await worker.terminate();
    throw failure;
  }
  isReady = true;
  /** @type {Promise<void> | null} */
  let closing = null;

  /**
   * @template {keyof LiveSession} Method
   * @param {Method} method @param {Parameters<LiveSession[Method]>} args @param {MessagePort[]} [transfer]
   */
  function post(method, args, transfer = []) {
    worker.postMessage({ method, args }, transfer);
  }

  function giveUp() {
    endReplies();
    worker.terminate();
  }

  /** @type {(...call: Parameters<typeof post>) => Promise<void>} */
  async function request(method, args) {
    const replied = replyTo(method);
    post(method, args);
    const timer = setTimeout(giveUp, REPLY_WITHIN_MS);
    await replied;
    clearTimeout(timer);
  }

  async function end() {
    await request('close', []);
    isGone = true;
    await worker.terminate();
  }

  /** @type {LiveHook} */
  const hook = {
    ports(count) {
      const { outs, metrics, otlp, quiet } = options;
      const hasOutlet = outs.length > 0 || metrics !== null || otlp !== null;
      if (isGone || (!hasOutlet && (quiet || requirements.length === 0))) return [];
      const channels = Array.from({ length: count }, () => new MessageChannel());
      const theirs = channels.map(({ port1 }) => port1);
      post('listen', [theirs], theirs);
      return channels.map(({ port2 }) => port2);
    },
    begin: (zero) => post('begin', [zero]),
  };

  return {
    /** For `run`. */
    hook,
    /** @param {RunEvent} event */
    event: (event) => post('event', [event]),
    /** @param {number} columns @param {number} rows */
    resize: (columns, rows) => post('resize', [columns, rows]),
    /** Resolves when drawing and writing have ended. @param {Result} result of a run */
    finish: (result) => request('finish', [result]),
    /**
     * Announces another run. Resolves when the metrics of the run before are sent.
     * @param {RunSet['summary'] | null} summary of the runs before; null: they are no set
     * @param {Plan} [plan] of the next run, if it differs
     */
    next(summary, plan) {
      requirements = plan?.requirements ?? requirements;
      return request('next', [summary, plan ?? null]);
    },
    /** Ends a failed run. Resolves when drawing and writing have ended. */
    abandon: () => request('abandon', []),
    /** Makes close() stop waiting for metrics. */
    cutShort: giveUp,
    /** Resolves when the last metrics are sent and the thread has ended. May be called again. */
    close() {
      closing ??= end();
      return closing;
    },
  };
}
