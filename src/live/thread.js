/** The main thread's side of the live thread, which draws, encodes and writes so that a sender need not. */
import { MessageChannel } from 'node:worker_threads';
import { redactedTokens } from '../common/sanitize.js';
import { rejectOnStop } from '../common/stop.js';
import { startThread } from '../engine/thread.js';

/** @import { Plan } from '../plan/plan.js' */
/** @import { Result } from '../result/schema.js' */
/** @import { LiveHook, RunEvent } from '../run.js' */
/** @import { LiveSession } from './live-session.js' */
/** @import { Terminal } from './terminal.js' */

/**
 * Plain data. `command`: without secrets; `runs`: if several, they make a run set; `outs`: files to rewrite during a
 * run, only JSON for several runs; `terminal`: standard error
 * @typedef {{plan: Plan, command: string, runs: number, outs: string[], metrics: {host: string, port: number} | null,
 *   otlp: string | null, terminal: Terminal, quiet: boolean}} LiveOptions
 */
/** @typedef {Awaited<ReturnType<typeof startLive>>} Live */

/** Timeout for a blocked thread, e.g. on a stopped terminal. */
const [REPLY_WITHIN_MS, FLUSH_WITHIN_MS] = [30_000, 1000];

/** @param {LiveOptions} options @param {(error: Error) => void} onLost the thread failed; the run continues @throws {PkiLoadError} */
export async function startLive(options, onLost, replyWithinMs = REPLY_WITHIN_MS) {
  const { outs, metrics, otlp, quiet, plan } = options;
  const hasOutput = outs.length > 0 || metrics !== null || otlp !== null;
  let { requirements } = plan;
  const data = { ...options, tokens: redactedTokens() };
  const thread = startThread('live', new URL('./thread-worker.js', import.meta.url), { data });
  // Only an output can be refused; messages wait for the thread.
  if (hasOutput) await thread.first('ready');
  /** Ends the wait for replies. */
  const ending = new AbortController();
  thread.failed.catch((error) => {
    if (!ending.signal.aborted) onLost(error);
  });
  let requests = 0;
  let hasStalled = false;
  let closing = /** @type {Promise<void> | null} */ (null);

  /** @template {keyof LiveSession} M @param {M} method @param {Parameters<LiveSession[M]>} args */
  const call = (method, ...args) => ({ method, args });

  function end() {
    ending.abort();
    thread.stop();
  }

  /**
   * Resolves when the thread has replied, or is gone.
   * @template {keyof LiveSession} Method @param {Method} method @param {Parameters<LiveSession[Method]>} args
   */
  async function request(method, ...args) {
    const reply = `reply ${requests++}`;
    thread.post({ ...call(method, ...args), reply });
    const timer = setTimeout(() => {
      hasStalled = true;
      end();
    }, replyWithinMs);
    await rejectOnStop(thread.first(reply), ending.signal).catch(() => {});
    clearTimeout(timer);
  }

  /** @type {LiveHook} */
  const hook = {
    ports(count) {
      const isUseful = hasOutput || (!quiet && requirements.length > 0);
      if (!isUseful || ending.signal.aborted || thread.hasEnded()) return [];
      const channels = Array.from({ length: count }, () => new MessageChannel());
      const theirs = channels.map(({ port1 }) => port1);
      thread.post(call('listen', theirs), theirs);
      return channels.map(({ port2 }) => port2);
    },
    begin: (zero) => thread.post(call('begin', zero)),
  };

  return {
    hook,
    /** It did not reply in time, and was ended. A warning may block as it did, so report it last. */
    hasStalled: () => hasStalled,
    /** @param {RunEvent} event */
    event: (event) => thread.post(call('event', event)),
    /** @param {number} columns @param {number} rows */
    resize: (columns, rows) => thread.post(call('resize', columns, rows)),
    /** Resolves when drawing and writing have ended. @param {Result} result of a run */
    finish: (result) => request('finish', result),
    /** Resolves when the metrics of the previous run are sent. @param {Plan} [next] of the next run, if it differs */
    next(next) {
      requirements = next?.requirements ?? requirements;
      return request('next', next ?? null);
    },
    /** Ends a failed run. Resolves when drawing and writing have ended. */
    abandon: () => request('abandon'),
    /** Shows what is left to show, and ends the thread: close() then waits for no metrics. */
    async cutShort() {
      const timer = setTimeout(end, FLUSH_WITHIN_MS);
      await request('flush');
      clearTimeout(timer);
      end();
    },
    /** Resolves when the last metrics are sent and the thread has ended. May be called again. */
    close() {
      closing ??= request('close').then(() => {
        ending.abort();
        return thread.stop();
      });
      return closing;
    },
  };
}
