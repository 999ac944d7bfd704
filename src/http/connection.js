/**
 * One HTTP/1.1 connection with one request in flight at most, for the load path. Reports the moment a request goes
 * on the wire, lends the answer's bytes, and never queues, retries or redirects. An HTTP client of its own, on a bare
 * socket: what Node's and other clients do for every request costs several times the CPU time, and some write later than they
 * are asked to.
 */
import { AnswerReader } from './answer-reader.js';
import { createDialler } from './dial.js';
import { describeStrangeAnswer, describeTransportError, transportFailure } from './failures.js';
import { createEncoder } from './request-bytes.js';

export { MAX_BODY_BYTES } from './answer-reader.js';

/** An idle connection is not used again in the last part of the time that the server keeps it for. */
const KEEP_ALIVE_MARGIN_MS = 1000;

/**
 * @param {object} options
 * @param {string} options.origin scheme, host and port
 * @param {import('./tls.js').Tls} options.tls
 * @returns {import('./exchange.js').Connection}
 */
export function createConnection({ origin, tls }) {
  const dial = createDialler(origin, tls);
  const encode = createEncoder(new URL(origin).host);
  const reader = new AnswerReader();
  /** The one in use; what still comes on another is nobody's. @type {import('node:net').Socket | null} */
  let socket = null;
  let connected = false;
  let closed = false;
  /** @type {import('./exchange.js').Exchange | null} */
  let exchange = null;
  let sent = false;
  /** @type {Buffer} */
  let bytes;
  /** `performance.now()` until which the server keeps an idle connection. */
  let keptUntil = Number.POSITIVE_INFINITY;

  /** @param {() => void} onReady @param {(error: Error | null) => void} onGone when it is lost, now or later */
  function connect(onReady, onGone) {
    connected = false;
    keptUntil = Number.POSITIVE_INFINITY;
    const own = dial({
      ready() {
        if (own !== socket) return;
        connected = true;
        onReady();
      },
      read(chunk) {
        if (own === socket) read(chunk);
      },
      gone(error) {
        if (own !== socket) return void own.destroy();
        onGone(error);
      },
    });
    socket = own;
  }

  function hangUp() {
    const old = socket;
    socket = null;
    connected = false;
    old?.destroy();
  }

  /** @param {Buffer} chunk */
  function read(chunk) {
    // Nobody asked for anything: the connection cannot be trusted with the next request.
    if (exchange === null) return hangUp();
    const progress = reader.read(chunk);
    if (progress === 'done') answered();
    else if (progress === 'bad') fail(describeStrangeAnswer(reader.strange).code);
    else if (progress === 'too large') fail('answer_too_large');
  }

  function answered() {
    const told = exchange;
    exchange = null;
    if (!reader.reusable) hangUp();
    else if (reader.keepAliveMs !== null) {
      const margin = Math.min(KEEP_ALIVE_MARGIN_MS, reader.keepAliveMs / 2);
      keptUntil = performance.now() + reader.keepAliveMs - margin;
    }
    told?.onAnswer(reader.status, reader.body);
    if (exchange === null) reader.begin();
  }

  /** @param {string} outcome */
  function fail(outcome) {
    const told = exchange;
    const beforeSent = !sent;
    exchange = null;
    hangUp();
    told?.onFailure(outcome, beforeSent);
  }

  /** @param {Error | null} error */
  function lost(error) {
    if (exchange === null) return hangUp();
    const ending = sent ? reader.end() : 'nothing';
    if (error === null && ending === 'done') return answered();
    if (error === null) return fail(ending === 'truncated' ? 'truncated' : 'connection_reset');
    fail(describeTransportError(error, { headersSeen: ending !== 'nothing' }).code);
  }

  function write() {
    if (exchange === null || socket === null) return;
    sent = true;
    exchange.onSent();
    socket.write(bytes);
  }

  return {
    open(timeoutMs) {
      return new Promise((resolve, reject) => {
        const giveUp = (/** @type {string} */ text, /** @type {unknown} */ cause) => {
          clearTimeout(timer);
          hangUp();
          reject(new Error(text, { cause }));
        };
        const timer = setTimeout(() => giveUp(transportFailure('connect_timeout').text, null), timeoutMs);
        const ready = () => {
          clearTimeout(timer);
          resolve();
        };
        const onGone = (/** @type {Error | null} */ error) => {
          if (connected) return lost(error);
          giveUp(describeTransportError(error ?? { code: 'ECONNRESET' }).text, error);
        };
        hangUp();
        connect(ready, onGone);
      });
    },
    send(request, next) {
      exchange = next;
      sent = false;
      if (closed) return fail('aborted');
      try {
        bytes = encode(request);
      } catch {
        return fail('transport_error');
      }
      reader.begin();
      if (connected && performance.now() < keptUntil) return write();
      hangUp();
      exchange.onDial?.();
      connect(write, lost);
    },
    abort() {
      exchange = null;
      hangUp();
    },
    async close() {
      closed = true;
      exchange = null;
      hangUp();
    },
  };
}
