/** Waits that a stop signal ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, PkiLoadError } from './errors.js';

export const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/** Without handlers, a signal ends the process, even while work blocks this thread. @returns {() => void} restores them */
export function removeSignalHandlers() {
  const handlers = SIGNALS.map((signal) => /** @type {const} */ ([signal, process.listeners(signal)]));
  for (const [signal] of handlers) process.removeAllListeners(signal);
  return () => {
    for (const [signal, listeners] of handlers)
      for (const listener of listeners) process.on(signal, listener);
  };
}

/** After the first signal: calls in flight, and removals, have this long. */
export const [LAST_CALLS_MS, REMOVALS_MS] = [5000, 30_000];

/** @param {Promise<unknown>} promise @param {AbortSignal} stop @returns {Promise<void>} also when `stop` aborts */
export async function waitUnlessStopped(promise, stop) {
  await rejectOnStop(promise, stop).catch((error) => {
    if (!stop.aborted) throw error;
  });
}

/** @param {number} ms @param {(AbortSignal | undefined)[]} stops end the pause early */
export async function pauseFor(ms, ...stops) {
  const signal = AbortSignal.any(stops.filter((stop) => stop !== undefined));
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => {});
}

/**
 * @param {AbortSignal | undefined} signal @param {number} ms
 * @returns {{ signal: AbortSignal, close: () => void }} a signal aborted this long after the given one; `close` when no longer needed
 */
export function delayedSignal(signal, ms) {
  const delayed = new AbortController();
  const onAbort = () => void setTimeout(() => delayed.abort(), ms).unref();
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  return { signal: delayed.signal, close: () => signal?.removeEventListener('abort', onAbort) };
}

/**
 * Stops waiting without cancelling the work, so the user need not wait until a silent target times out.
 * @template T @param {Promise<T>} promise @param {AbortSignal} stop
 * @param {() => Error} [error] creates the error to throw when `stop` aborts @returns {Promise<T>}
 */
export function rejectOnStop(promise, stop, error = interruptedError) {
  return new Promise((resolve, reject) => {
    const onStop = () => reject(error());
    if (stop.aborted) onStop();
    stop.addEventListener('abort', onStop, { once: true });
    promise.then(resolve, reject).finally(() => stop.removeEventListener('abort', onStop));
  });
}

export function interruptedError(message = 'Interrupted before anything was sent.') {
  return new PkiLoadError('interrupted', message, { exitCode: EXIT.interrupted });
}
