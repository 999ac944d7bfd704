/**
 * Sends the result so far to an OpenTelemetry receiver (`--otlp`): OTLP/HTTP, as JSON, every ten seconds and at the end.
 * What goes wrong is told once and never stops the run.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createSender } from './otlp-sender.js';

/** @typedef {import('../results/schema.js').Result} Result */
/** @typedef {(ms: number, signal: AbortSignal) => Promise<unknown>} Wait rejects where the signal ends it */
/**
 * @typedef {object} OtlpPusher
 * @property {(result: Result) => void} update sends it, if nothing is under way and the last one is long enough ago
 * @property {(result: Result) => Promise<void>} close sends the last one and waits for it, but not for ever. Never rejects
 */
/**
 * @typedef {import('./otlp-sender.js').SenderOptions & {
 *   clock?: () => number,
 *   wait?: Wait,
 *   random?: () => number,
 * }} OtlpOptions `clock`: ms that never go back; `random`: 0 to 1, for the jitter between tries
 */

const EVERY_MS = 10_000;

/** Results come every two seconds: one that is early by half of this is taken. */
const SLACK_MS = 1000;

/** Where pushes do not arrive, they come less and less often, up to this. */
const LONGEST_PAUSE_MS = 60_000;

/** The end of a run is held up no longer than this, whatever the receiver does. */
const CLOSE_MS = 15_000;
const LAST_TRIES = 3;
const LAST_PAUSE_MS = 1000;

/**
 * @param {OtlpOptions} options
 * @returns {OtlpPusher}
 * @throws {import('../errors.js').PkiLoadError} where the URL or the headers will not do
 */
export function createOtlpPusher({
  clock = () => performance.now(),
  wait = (ms, signal) => sleep(ms, undefined, { signal }),
  random = Math.random,
  ...options
}) {
  const sender = createSender(options);
  /** @type {Promise<void> | null} */
  let underWay = null;
  /** @type {Promise<void> | null} */
  let closing = null;
  let nextAt = Number.NEGATIVE_INFINITY;
  /** By the receiver's word, or because it did not answer. */
  let quietUntil = Number.NEGATIVE_INFINITY;
  let failures = 0;

  /** @param {Result} result */
  async function push(result) {
    nextAt = clock() + EVERY_MS - SLACK_MS;
    const { arrived, retry, retryAfterMs } = await sender.send(result);
    failures = arrived ? 0 : failures + 1;
    if (!retry) return;
    const pauseMs = Math.min(EVERY_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS) * (1 + 0.2 * random());
    quietUntil = clock() + (retryAfterMs ?? pauseMs);
  }

  /** @param {Result} result @param {AbortSignal} signal */
  async function last(result, signal) {
    await underWay;
    const firstMs = sender.wasAskedToWait() ? quietUntil - clock() : 0;
    await deliver(result, { sender, wait, signal, firstMs });
  }

  /** @param {Result} result */
  async function finish(result) {
    const over = new AbortController();
    const tooLate = wait(CLOSE_MS, over.signal).then(
      () => sender.giveUp(0),
      () => {},
    );
    await Promise.race([last(result, over.signal), tooLate]);
    over.abort();
    await sender.close();
  }

  return {
    update(result) {
      if (closing !== null || underWay !== null || clock() < Math.max(nextAt, quietUntil)) return;
      underWay = push(result).finally(() => {
        underWay = null;
      });
    },
    close(result) {
      closing ??= finish(result);
      return closing;
    },
  };
}

/**
 * The last push, tried a few times.
 *
 * @param {Result} result
 * @param {object} how
 * @param {import('./otlp-sender.js').Sender} how.sender
 * @param {Wait} how.wait
 * @param {AbortSignal} how.signal time is over
 * @param {number} how.firstMs to wait before the first try
 */
async function deliver(result, { sender, wait, signal, firstMs }) {
  let pauseMs = firstMs;
  for (let tries = 1; tries <= LAST_TRIES; tries++) {
    if (pauseMs > CLOSE_MS) return sender.giveUp(pauseMs);
    if (pauseMs > 0) await wait(pauseMs, signal).catch(() => {});
    if (signal.aborted) return;
    const { arrived, retry, retryAfterMs } = await sender.send(result);
    if (arrived) return;
    if (!retry) break;
    pauseMs = retryAfterMs ?? LAST_PAUSE_MS * tries;
  }
  sender.giveUp(0);
}
