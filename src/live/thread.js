/**
 * The main thread's side of the live thread. Each event is one message, so that a sending main thread neither draws nor encodes
 * nor writes.
 */
import { MessageChannel, Worker } from 'node:worker_threads';
import { unpackError } from '../common/errors.js';
import { HELPER_LIMITS } from '../engine/thread-memory.js';

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
 * @property {string[]} outs files to be rewritten while a run goes on; of several runs, JSON only
 * @property {{host: string, port: number} | null} metrics
 * @property {string | null} otlp
 * @property {Terminal} terminal standard error
 * @property {boolean} quiet
 */
/** @typedef {{type: 'finish', result: Result} | {type: 'next', summary: Summary | null, plan: Plan | null} | {type: 'abandon'} | {type: 'close'}} RepliedOrder */
/** @typedef {RepliedOrder | {type: 'event', event: RunEvent} | {type: 'ports', ports: MessagePort[]} |
 *   {type: 'begin', zero: TimeZero} | {type: 'resize', columns: number, rows: number}} Order */
/**
 * @typedef {object} Live
 * @property {(event: RunEvent) => void} event
 * @property {LiveHook} hook for `run`
 * @property {(columns: number, rows: number) => void} resize
 * @property {(result: Result) => Promise<void>} finish a run: resolves when drawing and writing have ended
 * @property {(summary: Summary | null, plan?: Plan) => Promise<void>} next announces another run, with its plan if
 *   that differs; `summary` is of the runs before, null where they are no set. Resolves when those are done with
 * @property {() => Promise<void>} abandon after a run that broke off: resolves when drawing and writing have ended
 * @property {() => void} cutShort makes close() stop waiting for metrics
 * @property {() => Promise<void>} close resolves when the last metrics are sent and the thread has ended; may be called again
 */

/** A blocked thread, as on a stopped terminal, is given up after this. */
const REPLY_WITHIN_MS = 30_000;

/** The thread's reply to each order. @type {Record<RepliedOrder['type'], string>} */
const REPLIES = { finish: 'finished', next: 'ready for next', abandon: 'abandoned', close: 'closed' };

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
  const replies = repliesOf(worker, onLost);
  const failure = await replies.started;
  if (failure !== null) {
    await worker.terminate();
    throw failure;
  }
  /** @param {Order} order @param {MessagePort[]} [transfer] */
  const post = (order, transfer = []) => worker.postMessage(order, transfer);
  /** @type {Promise<void> | null} */
  let closing = null;

  function giveUp() {
    replies.giveUp();
    worker.terminate();
  }

  /** @param {RepliedOrder} order */
  async function request(order) {
    const replied = replies.next(REPLIES[order.type]);
    post(order);
    const timer = setTimeout(giveUp, REPLY_WITHIN_MS);
    await replied;
    clearTimeout(timer);
  }

  async function end() {
    await request({ type: 'close' });
    if (replies.hasGivenUp()) return;
    replies.giveUp();
    await worker.terminate();
  }

  return {
    event: (event) => post({ type: 'event', event }),
    hook: {
      ports(count) {
        if (!wantsReports({ ...options, plan }) || replies.isGone()) return [];
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
function wantsReports({ outs, metrics, otlp, plan, quiet }) {
  const judges = plan.requirements.length > 0;
  return outs.length > 0 || metrics !== null || otlp !== null || (judges && !quiet);
}

/** @param {Worker} worker @param {(error: Error) => void} onLost */
function repliesOf(worker, onLost) {
  /** @type {Map<string, () => void>} */
  const awaited = new Map();
  let isGone = false;
  let hasGivenUp = false;
  let hasStarted = false;
  /** @type {(failure: Error | null) => void} */
  let settle = () => {};
  /** @type {Promise<Error | null>} null: it has started */
  const started = new Promise((resolve) => {
    settle = resolve;
  });

  /** @param {Error} error */
  function lose(error) {
    if (isGone) return;
    isGone = true;
    if (hasStarted) onLost(error);
    settle(error);
    for (const resolve of awaited.values()) resolve();
    awaited.clear();
  }

  worker.on('message', ({ type, error }) => {
    if (type === 'failed') lose(unpackError(error));
    else if (type === 'ready') {
      hasStarted = true;
      settle(null);
    } else {
      awaited.get(type)?.();
      awaited.delete(type);
    }
  });
  worker.on('error', (thrown) => lose(unpackError(/** @type {Error} */ (thrown))));
  worker.on('exit', () => {
    if (awaited.size > 0 || !hasStarted) lose(new Error('its thread has ended'));
    isGone = true;
  });
  return {
    started,
    isGone: () => isGone,
    hasGivenUp: () => hasGivenUp,
    /** @param {string} type @returns {Promise<void>} when the thread sends that reply, or is gone */
    next: (type) =>
      new Promise((resolve) => {
        if (isGone) resolve();
        else awaited.set(type, resolve);
      }),
    /** Resolves everything that waits for a reply. */
    giveUp() {
      isGone = true;
      hasGivenUp = true;
      for (const resolve of awaited.values()) resolve();
      awaited.clear();
    },
  };
}
