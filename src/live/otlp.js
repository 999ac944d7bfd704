/**
 * Sends the result so far to an OpenTelemetry receiver (`--otlp`): OTLP/HTTP, as JSON, every ten seconds and at the end.
 * Errors are reported once and never stop a run.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createSender } from './otlp-sender.js';

/** @import { Result } from '../result/schema.js' */
/** @import { SenderOptions, Verdict } from './otlp-sender.js' */

/** @typedef {(ms: number, signal: AbortSignal) => Promise<unknown>} Wait rejects where the signal ends it */
/**
 * @typedef {object} OtlpPusher
 * @property {(result: Result) => void} update sends it, unless another push is under way or too recent
 * @property {(result: Result) => Promise<void>} finishRun sends the last one of a run before another, however recent the
 *   push before; waits a limited time. Never rejects
 * @property {(result: Result) => Promise<void>} close sends the last one, unless it has arrived already; waits a limited time.
 *   Never rejects
 */
/**
 * @typedef {SenderOptions & { onNotice?: (text: string) => void, clock?: () => number, wait?: Wait,
 *   random?: () => number,
 * }} OtlpOptions `clock`: ms that never go back; `random`: 0 to 1, for the jitter between tries
 */

const EVERY_MS = 10_000;

/** Results come every two seconds; one that is early by up to this much is sent. */
const SLACK_MS = 1000;

/** Limit of the growing pause after failed pushes. */
const LONGEST_PAUSE_MS = 60_000;

/** Limit of the last push of all. */
const CLOSE_MS = 15_000;
const LAST_TRIES = 3;
const LAST_PAUSE_MS = 1000;

/** After this time at the end, a notice names the cause of the wait. */
const SILENT_MS = 1000;

/** Limits of the last push of a run before another; the shorter one where the push before failed. */
const BETWEEN_MS = 5000;
const BETWEEN_DOWN_MS = 1000;

/**
 * @param {OtlpOptions} options
 * @returns {OtlpPusher}
 * @throws {PkiLoadError} where the URL or the headers will not do
 */
export function createOtlpPusher({
  onNotice = () => {},
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
  /** The last result of a run that has arrived. @type {Result | null} */
  let delivered = null;
  let nextAt = Number.NEGATIVE_INFINITY;
  /** As the receiver requested, or after a failed push. */
  let quietUntil = Number.NEGATIVE_INFINITY;
  let failures = 0;

  /** @param {Result} result @returns {Promise<Verdict>} */
  async function push(result) {
    nextAt = clock() + EVERY_MS - SLACK_MS;
    const verdict = await sender.send(result);
    failures = verdict.arrived ? 0 : failures + 1;
    if (verdict.retry) {
      const pauseMs = Math.min(EVERY_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS) * (1 + 0.2 * random());
      quietUntil = clock() + (verdict.retryAfterMs ?? pauseMs);
    }
    return verdict;
  }

  /** @param {Promise<unknown>} sending is under way until it is over */
  function begin(sending) {
    const mine = sending.then(() => {
      if (underWay === mine) underWay = null;
    });
    underWay = mine;
  }

  /**
   * Waits for the current push, then sends.
   *
   * @param {Result} result
   * @param {{limitMs: number, tries: number, onTooLate: (askedMs: number) => void, signal: AbortSignal}} how
   */
  async function sendLast(result, { limitMs, tries, onTooLate, signal }) {
    await underWay;
    if (signal.aborted || delivered === result) return;
    const firstMs = sender.wasAskedToWait() ? quietUntil - clock() : 0;
    const arrived = await deliver(() => push(result), { wait, signal, firstMs, limitMs, tries, onTooLate });
    if (arrived) delivered = result;
  }

  /**
   * @param {Result} result
   * @param {{limitMs: number, tries: number, onTooLate: (askedMs: number) => void}} how
   */
  async function sendWithin(result, how) {
    const over = new AbortController();
    const tooLate = wait(how.limitMs, over.signal).then(
      () => how.onTooLate(0),
      () => {},
    );
    const sending = sendLast(result, { ...how, signal: over.signal });
    begin(sending);
    await Promise.race([sending, tooLate]);
    over.abort();
  }

  /** @param {Result} result */
  async function finish(result) {
    const over = new AbortController();
    wait(SILENT_MS, over.signal).then(
      () => onNotice(`Sending the last metrics to ${sender.shown}; Ctrl-C ends without them.`),
      () => {},
    );
    await sendWithin(result, { limitMs: CLOSE_MS, tries: LAST_TRIES, onTooLate: sender.giveUp });
    over.abort();
    await sender.close();
  }

  return {
    update(result) {
      if (closing !== null || underWay !== null || clock() < Math.max(nextAt, quietUntil)) return;
      begin(push(result));
    },
    async finishRun(result) {
      if (closing !== null) return;
      const isDown = failures > 0;
      await sendWithin(result, {
        limitMs: isDown ? BETWEEN_DOWN_MS : BETWEEN_MS,
        tries: isDown ? 1 : LAST_TRIES,
        onTooLate: sender.giveUpRun,
      });
    },
    close(result) {
      closing ??= finish(result);
      return closing;
    },
  };
}

/**
 * A last push, tried a few times.
 *
 * @param {() => Promise<Verdict>} push
 * @param {object} how
 * @param {Wait} how.wait
 * @param {AbortSignal} how.signal aborted when the time is over
 * @param {number} how.firstMs to wait before the first try
 * @param {number} how.limitMs of the pause before a try
 * @param {number} how.tries
 * @param {(askedMs: number) => void} how.onTooLate
 * @returns {Promise<boolean>} whether it arrived
 */
async function deliver(push, { wait, signal, firstMs, limitMs, tries, onTooLate }) {
  let pauseMs = firstMs;
  for (let tried = 1; tried <= tries; tried++) {
    if (pauseMs > limitMs) {
      onTooLate(pauseMs);
      return false;
    }
    if (pauseMs > 0) await wait(pauseMs, signal).catch(() => {});
    if (signal.aborted) return false;
    const { arrived, retry, retryAfterMs } = await push();
    if (arrived) return true;
    if (!retry) break;
    pauseMs = retryAfterMs ?? LAST_PAUSE_MS * tried;
  }
  onTooLate(0);
  return false;
}
