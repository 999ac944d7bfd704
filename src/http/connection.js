/**
 * One HTTP/1.1 connection with one request in flight at most, for the load path. Reports the moment a request goes
 * on the wire, lends the answer's bytes from a buffer that is used again, and never queues, retries or redirects.
 */
import { buildConnector, Client } from 'undici';
import { describeTransportError, transportFailure } from './failures.js';
import { connectOptions } from './tls.js';

/** A longer answer ends the request with `answer_too_large`: no right one comes near it. */
export const MAX_BODY_BYTES = 1024 * 1024;
const FIRST_BUFFER_BYTES = 16 * 1024;

/** Nothing of undici's own may end an idle connection or a slow request: deadlines are the slots' affair. */
const PATIENCE_MS = 3_600_000;

/**
 * @param {object} options
 * @param {string} options.origin scheme, host and port
 * @param {import('./tls.js').Tls} options.tls
 * @returns {import('../load/slots.js').Connection}
 */
export function createConnection({ origin, tls }) {
  const connect = buildConnector({ ...connectOptions(tls), allowH2: false, timeout: PATIENCE_MS });
  /** A socket that was connected beforehand and has carried no request yet. @type {import('node:net').Socket | null} */
  let spare = null;
  /** Sockets that are not connected yet. undici would leave them to the operating system's patience: two minutes. */
  const dialling = /** @type {Set<import('node:net').Socket>} */ (new Set());
  let current = createLine();

  /** A client and its handler belong together: after an abort both are left behind, with all that still comes. */
  function createLine() {
    const client = new Client(origin, {
      connect: takeSpareOrConnect,
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: PATIENCE_MS,
      keepAliveMaxTimeout: PATIENCE_MS,
    });
    return { client, handler: createHandler() };
  }

  /** @type {import('undici').buildConnector.connector} */
  function takeSpareOrConnect(options, callback) {
    const socket = spare;
    spare = null;
    if (socket === null || socket.destroyed || !socket.writable) return void dial(options, callback);
    queueMicrotask(() => callback(null, socket));
  }

  /** @type {(...given: Parameters<import('undici').buildConnector.connector>) => import('node:net').Socket} */
  function dial(options, callback) {
    // What undici's types leave out: a connector returns the socket that it connects.
    const socket = /** @type {import('node:net').Socket} */ (
      /** @type {unknown} */ (
        connect(options, (...result) => {
          dialling.delete(socket);
          callback(...result);
        })
      )
    );
    dialling.add(socket);
    return socket;
  }
  function hangUp() {
    for (const socket of dialling) socket.destroy(new Error('given up'));
  }

  return {
    open(timeoutMs) {
      const { protocol, host, hostname, port } = new URL(origin);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new Error(transportFailure('connect_timeout').text));
          hangUp();
        }, timeoutMs);
        dial({ hostname: hostname.replace(/^\[|\]$/g, ''), host, protocol, port }, (error, socket) => {
          clearTimeout(timer);
          if (error !== null) return reject(new Error(describeTransportError(error).text, { cause: error }));
          spare = /** @type {import('node:net').Socket} */ (socket);
          resolve();
        });
      });
    },
    send(request, exchange) {
      current.handler.begin(exchange);
      current.client.dispatch(
        /** @type {import('undici').Dispatcher.DispatchOptions} */ (request),
        current.handler,
      );
    },
    abort() {
      const { client, handler } = current;
      handler.forget();
      current = createLine();
      client.destroy().catch(() => {});
      hangUp();
    },
    async close() {
      spare?.destroy();
      current.handler.forget();
      hangUp();
      await current.client.destroy();
    },
  };
}

function createHandler() {
  /** @type {import('../load/slots.js').Exchange | null} */
  let exchange = null;
  let sent = false;
  let status = 0;
  let length = 0;
  let buffer = Buffer.allocUnsafeSlow(FIRST_BUFFER_BYTES);

  /** @param {Buffer} chunk */
  function append(chunk) {
    if (length + chunk.length > buffer.length) {
      const grown = Buffer.allocUnsafeSlow(
        Math.min(MAX_BODY_BYTES, Math.max(buffer.length * 2, length + chunk.length)),
      );
      buffer.copy(grown, 0, 0, length);
      buffer = grown;
    }
    chunk.copy(buffer, length);
    length += chunk.length;
  }
  /** @param {string} outcome */
  function fail(outcome) {
    const told = exchange;
    exchange = null;
    told?.onFailure(outcome, !sent);
  }

  return {
    /** @param {import('../load/slots.js').Exchange} next */
    begin(next) {
      exchange = next;
      sent = false;
      status = 0;
      length = 0;
    },
    forget() {
      exchange = null;
    },
    // undici calls this in the same turn in which it writes the request to the socket.
    onRequestStart() {
      sent = true;
      exchange?.onSent();
    },
    /** @param {unknown} _controller @param {number} statusCode */
    onResponseStart(_controller, statusCode) {
      status = statusCode;
      length = 0;
    },
    /** @param {import('undici').Dispatcher.DispatchController} controller @param {Buffer} chunk */
    onResponseData(controller, chunk) {
      if (exchange === null) return;
      if (length + chunk.length <= MAX_BODY_BYTES) return append(chunk);
      const told = exchange;
      exchange = null;
      controller.abort(new Error('answer too large'));
      told.onFailure('answer_too_large', false);
    },
    onResponseEnd() {
      const told = exchange;
      exchange = null;
      told?.onAnswer(status, buffer.subarray(0, length));
    },
    /** @param {unknown} _controller @param {Error} error */
    onResponseError(_controller, error) {
      fail(describeTransportError(error, { headersSeen: status !== 0 }).code);
    },
  };
}
