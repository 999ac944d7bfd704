/** For tests of pushing: time that passes only when a test says so, and a receiver that answers as it is told. */
import { targetError } from '../../src/common/errors.js';
import { sampleResult, spread } from '../result/sample.js';
/** @import { RequestOptions, Response } from '../../src/http/request.js' */

/** @typedef {number | {status: number, headers?: Record<string, string>, body?: unknown} | Error | 'held'} Reply a status alone: with an empty body */

/** The date at which time begins, Unix time in ms. */
export const START_MS = Date.parse('2026-01-02T03:04:05.000Z');

/** A result that a receiver can tell from others. @param {number} number */
export function result(number) {
  return sampleResult([{ outcome: 'good', service: spread(40, 1, 90), lag: 0.1 }], {
    startedAt: new Date(START_MS - 60_000 + number).toISOString(),
  });
}

/** @param {RequestOptions} asked @returns {number} which result it holds */
export function numberOf({ body }) {
  const [{ resource }] = JSON.parse(String(body)).resourceMetrics;
  const id = resource.attributes.find(
    (/** @type {{key: string}} */ { key }) => key === 'service.instance.id',
  );
  return Date.parse(id.value.stringValue) - START_MS + 60_000;
}

/** What is due has happened, and what follows from it. */
export function settle() {
  return new Promise((resolve) => setImmediate(resolve));
}

export function createTime() {
  let elapsedMs = 0;
  /** @type {{at: number, resolve: (value?: unknown) => void}[]} */
  const waiting = [];
  return {
    /** What was waited for so far, ms. @type {number[]} */
    waits: [],
    clock: () => elapsedMs,
    now: () => START_MS + elapsedMs,
    /** @param {number} ms @param {AbortSignal} signal @returns {Promise<unknown>} */
    wait(ms, signal) {
      this.waits.push(ms);
      return new Promise((resolve, reject) => {
        waiting.push({ at: elapsedMs + ms, resolve });
        signal.addEventListener('abort', () => reject(new Error('ended by the signal')), { once: true });
      });
    },
    /** @param {number} ms */
    async pass(ms) {
      elapsedMs += ms;
      for (const { at, resolve } of waiting) if (at <= elapsedMs) resolve();
      await settle();
    },
  };
}

/** @param {...Reply} replies in turn; after them, 200 */
export function createReceiver(...replies) {
  /** @type {((answer: Response) => void)[]} */
  const held = [];
  /** @type {((error: Error) => void)[]} */
  const cut = [];
  return {
    /** @type {RequestOptions[]} */
    asked: [],
    closed: 0,
    /** Answers what is held. @param {Reply} reply */
    async release(reply = 200) {
      for (const resolve of held.splice(0)) resolve(answerOf(reply));
      await settle();
    },
    /** @param {RequestOptions} asked @returns {Promise<Response>} */
    request(asked) {
      this.asked.push(asked);
      const reply = replies.shift() ?? 200;
      if (reply instanceof Error) return Promise.reject(reply);
      if (reply !== 'held') return Promise.resolve(answerOf(reply));
      return new Promise((resolve, reject) => {
        held.push(resolve);
        cut.push(reject);
      });
    },
    async close() {
      this.closed++;
      for (const reject of cut)
        reject(targetError('aborted', 'http://127.0.0.1:4318 got no more time: the request was cancelled.'));
    },
  };
}

/** @param {Reply} reply @returns {Response} */
function answerOf(reply) {
  const {
    status,
    headers = {},
    body = {},
  } = /** @type {{status: number, headers?: Record<string, string>, body?: unknown}} */ (
    typeof reply === 'number' ? { status: reply } : reply
  );
  return { status, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) };
}
