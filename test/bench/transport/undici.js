/**
 * The interface of src/http/connection.js on undici's Client: one socket, one request at a time. For the bench alone;
 * loader.js puts it in place of the load's own connections.
 */
import { Client } from 'undici';
import { describeTransportError, transportFailure } from '../../../src/http/failures.js';
import { MAX_BODY_BYTES } from '../../../src/http/response-reader.js';
import { connectOptions } from '../../../src/http/tls.js';

/** @import { Connection, Exchange } from '../../../src/http/exchange.js' */
/** @import { Tls } from '../../../src/http/tls.js' */
/** @import { Dispatcher } from 'undici' */

/** @param {{origin: string, tls: Tls}} options @returns {Connection} */
export function createConnection({ origin, tls }) {
  const client = new Client(origin, {
    connect: /** @type {any} */ (connectOptions(tls, new URL(origin).hostname)),
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: MAX_BODY_BYTES,
  });
  /** @type {Dispatcher.DispatchController | null} of the current request, once written */
  let controller = null;
  /** Requests given up are no longer current. @type {Exchange | null} */
  let current = null;

  /** @param {Exchange} exchange @returns {Dispatcher.DispatchHandler} */
  function handle(exchange) {
    let status = 0;
    /** @type {Buffer[]} */
    const chunks = [];
    let isSent = false;
    /** undici must have left its parser before the next request. @param {() => void} report */
    const end = (report) => {
      if (exchange !== current) return;
      current = null;
      controller = null;
      queueMicrotask(report);
    };
    return {
      // In the same call undici writes the request to the socket.
      onRequestStart(ofRequest) {
        if (exchange !== current) return void ofRequest.abort(new Error('given up'));
        controller = ofRequest;
        isSent = true;
        exchange.onSent();
      },
      onResponseStart(_, code) {
        status = code;
      },
      onResponseData(_, chunk) {
        chunks.push(chunk);
      },
      onResponseEnd() {
        end(() => exchange.onResponse(status, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
      },
      onResponseError(_, error) {
        const { code } = describeTransportError(error, status !== 0);
        end(() => exchange.onFailure(code, !isSent));
      },
    };
  }

  function abort() {
    current = null;
    controller?.abort(new Error('given up'));
    controller = null;
  }

  return {
    isOpen: () => client.stats.connected,
    // undici connects with the first request.
    open: () => Promise.resolve(),
    send({ method, path, headers, body }, exchange) {
      current = exchange;
      if (client.destroyed) {
        current = null;
        return exchange.onFailure(transportFailure('aborted').code, true);
      }
      const request = { method: /** @type {Dispatcher.HttpMethod} */ (method), path, headers, body };
      client.dispatch(/** @type {Dispatcher.DispatchOptions} */ (request), handle(exchange));
    },
    abort,
    async close() {
      abort();
      await client.destroy();
    },
  };
}
