/**
 * The main thread's end of the live thread: events go there with a message each, so that the thread that may be sending neither
 * draws nor encodes nor writes.
 */
import { MessageChannel, Worker } from 'node:worker_threads';
import { unpackError } from '../common/errors.js';
import { HELPER_LIMITS } from '../engine/thread-memory.js';

/** @typedef {import('node:worker_threads').MessagePort} MessagePort */
/** @typedef {import('../result/schema.js').Result} Result */
/** @typedef {import('../result/runs/run-set.js').RunSet['summary']} Summary */
/**
 * @typedef {object} LiveOptions plain data
 * @property {import('../plan/plan.js').Plan} plan
 * @property {string} command the command line, for the result; no secrets
 * @property {number} runs one after the other; more than one make a run set
 * @property {string[]} outs files to be rewritten while a run goes on; of several runs, JSON only
 * @property {{host: string, port: number} | null} metrics
 * @property {string | null} otlp
 * @property {import('./view.js').Terminal} terminal standard error
 * @property {boolean} quiet
 */
/** @typedef {{type: 'finish', result: Result} | {type: 'next', summary: Summary | null, plan: import('../plan/plan.js').Plan | null} | {type: 'abandon'} | {type: 'close'}} AnsweredOrder */
/** @typedef {AnsweredOrder | {type: 'event', event: import('../run.js').RunEvent} | {type: 'ports', ports: MessagePort[]} |
 *   {type: 'begin', zero: import('../run.js').TimeZero} | {type: 'resize', columns: number, rows: number}} Order */
/**
 * @typedef {object} Live
 * @property {(event: import('../run.js').RunEvent) => void} event
 * @property {import('../run.js').LiveHook} hook for `run`
 * @property {(columns: number, rows: number) => void} resize
 * @property {(result: Result) => Promise<void>} finish a run: resolves when nothing of it is drawn or written any more
 * @property {(summary: Summary | null, plan?: import('../plan/plan.js').Plan) => Promise<void>} next another run comes, of that plan where it
 *   is another; `summary` is of those before it, null where they are no set. Resolves when nothing of them is under way any more
 * @property {() => Promise<void>} abandon the run that goes on has broken off: resolves when nothing of it is drawn or written any more
 * @property {() => void} cutShort close() does not wait for metrics any longer
 * @property {() => Promise<void>} close resolves when the last metrics were sent and the thread is gone; may be called again
 */

/** A thread that is held up, by a terminal that was stopped say, is not waited for any longer. */
const ANSWER_WITHIN_MS = 30_000;

/** What the thread says when it has done so. @type {Record<AnsweredOrder['type'], string>} */
const ANSWERS = { finish: 'finished', next: 'ready for next', abandon: 'abandoned', close: 'closed' };

/**
 * @param {LiveOptions} options
 * @param {(error: Error) => void} onLost the thread has failed while a run went on, which goes on without it
 * @returns {Promise<Live>}
 * @throws {import('../common/errors.js').PkiLoadError} what keeps it from starting, e.g. a port that is taken
 */
export async function startLive(options, onLost) {
  let { plan } = options;
  const worker = new Worker(new URL('./thread-worker.js', import.meta.url), {
    workerData: options,
    resourceLimits: HELPER_LIMITS,
  });
  const answers = answersOf(worker, onLost);
  const failure = await answers.started;
  if (failure !== null) {
    await worker.terminate();
    throw failure;
  }
  /** @param {Order} order @param {MessagePort[]} [transfer] */
  const post = (order, transfer = []) => worker.postMessage(order, transfer);
  /** @type {Promise<void> | null} */
  let closing = null;

  /** It may never come back from what holds it up, but then it does nothing else either. */
  function giveUp() {
    answers.giveUp();
    worker.terminate();
  }

  /** @param {AnsweredOrder} order */
  async function ask(order) {
    const answered = answers.next(ANSWERS[order.type]);
    post(order);
    const timer = setTimeout(giveUp, ANSWER_WITHIN_MS);
    await answered;
    clearTimeout(timer);
  }

  async function end() {
    await ask({ type: 'close' });
    if (answers.hasGivenUp()) return;
    answers.giveUp();
    await worker.terminate();
  }

  return {
    event: (event) => post({ type: 'event', event }),
    hook: {
      ports(count) {
        if (!wantsReports({ ...options, plan }) || answers.isGone()) return [];
        const channels = Array.from({ length: count }, () => new MessageChannel());
        const theirs = channels.map(({ port1 }) => port1);
        post({ type: 'ports', ports: theirs }, theirs);
        return channels.map(({ port2 }) => port2);
      },
      begin: (zero) => post({ type: 'begin', zero }),
    },
    resize: (columns, rows) => post({ type: 'resize', columns, rows }),
    finish: (result) => ask({ type: 'finish', result }),
    next(summary, other) {
      plan = other ?? plan;
      return ask({ type: 'next', summary, plan: other ?? null });
    },
    abandon: () => ask({ type: 'abandon' }),
    cutShort: giveUp,
    close() {
      closing ??= end();
      return closing;
    },
  };
}

/**
 * Without any of these the recorders need not report.
 *
 * @param {LiveOptions} options
 */
function wantsReports({ outs, metrics, otlp, plan, quiet }) {
  const judges = plan.requirements.length > 0;
  return outs.length > 0 || metrics !== null || otlp !== null || (judges && !quiet);
}

/** @param {Worker} worker @param {(error: Error) => void} onLost */
function answersOf(worker, onLost) {
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
    /** @param {string} type @returns {Promise<void>} when the thread says so, or is gone */
    next: (type) =>
      new Promise((resolve) => {
        if (isGone) resolve();
        else awaited.set(type, resolve);
      }),
    /** Whoever waits for an answer goes on without. */
    giveUp() {
      isGone = true;
      hasGivenUp = true;
      for (const resolve of awaited.values()) resolve();
      awaited.clear();
    },
  };
}
