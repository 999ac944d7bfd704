/** Serves the result so far to Prometheus (`--metrics`), as text exposition 0.0.4, at /metrics. */
import { createServer } from 'node:http';
import { closeAtOnce, isLoopback, listen, parseAddress } from '../common/listen.js';
import { render } from '../report/data/prometheus.js';

/** @import { Result } from '../result/schema.js' */
/** @import { IncomingMessage, RequestListener } from 'node:http' */

/** @typedef {Awaited<ReturnType<typeof createMetricsServer>>} MetricsServer */

/** Listens on all addresses, and accepts any host name. */
const ALL_ADDRESSES = ['0.0.0.0', '::'];
const PATH = '/metrics';
const TEXT = 'text/plain; charset=utf-8';
const EXPOSITION = 'text/plain; version=0.0.4; charset=utf-8';
const MAX_CONNECTIONS = 32;
/** A connection idle for this long within a request or response is closed. */
const SILENCE_MS = 20_000;

const LIMITS = {
  ...{ headersTimeout: 10_000, requestTimeout: 10_000 },
  ...{ maxHeaderSize: 8192, connectionsCheckingInterval: 1000 },
};

/** @param {string} text see parseAddress; with `0.0.0.0:9464` other machines can read the metrics */
export const parseListenAddress = (text) => parseAddress('--metrics', text);

/** @param {{host: string, port: number}} where see parseListenAddress @throws {PkiLoadError} if it cannot listen */
export async function createMetricsServer(where) {
  /** Not rendered yet. @type {Result | null} */
  let unrendered = null;
  /** Empty before the first result. */
  let rendered = '';
  const exposition = () => {
    if (unrendered !== null) rendered = render(unrendered);
    unrendered = null;
    return rendered;
  };
  /** @type {RequestListener} */
  const listener = (request, response) => {
    const onEnd = () => {
      const { status, text, type = TEXT, headers } = respond(request, where.host, exposition);
      response.writeHead(status, {
        ...{ 'Content-Type': type, 'Content-Length': Buffer.byteLength(text), ...headers },
        ...{ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', Connection: 'close' },
      });
      response.end(text);
    };
    // Closing before the whole request is read would reset the connection, and with it the response.
    request.on('end', onEnd).resume();
  };
  const server = createServer(LIMITS, listener);
  server.on('checkExpectation', listener); // Node's own response does not close the connection
  server.maxConnections = MAX_CONNECTIONS;
  // A client could pipeline thousands of requests, which would delay the live view. Node itself does not close then.
  server.maxRequestsPerSocket = 1;
  server.timeout = SILENCE_MS;
  const address = await listen(server, where, '--metrics', 'metrics');
  // Failing to accept a connection (no file descriptor left) must not end the run.
  server.on('error', () => {});
  return {
    /** With the actual port: `127.0.0.1:9464`, `[::1]:9464`. */
    address,
    /** The text is rendered on request, once. @param {Result} result */
    update(result) {
      unrendered = result;
    },
    close: () => closeAtOnce(server),
  };
}

/**
 * @param {IncomingMessage} request @param {string} host see parseListenAddress @param {() => string} exposition
 * @returns {{status: number, text: string, type?: string, headers?: Record<string, string>}}
 */
function respond(request, host, exposition) {
  const { method = '', url = '' } = request;
  if (!isOwnHost(request, host))
    return { status: 421, text: 'These metrics are served only at the address given by --metrics.\n' };
  if (url.split('?', 1)[0] !== PATH) return { status: 404, text: `Metrics are at ${PATH}.\n` };
  if (!['GET', 'HEAD'].includes(method)) {
    const text = 'Metrics are read-only: use GET or HEAD.\n';
    return { status: 405, text, headers: { Allow: 'GET, HEAD' } };
  }
  try {
    return { status: 200, text: exposition(), type: EXPOSITION };
  } catch {
    return { status: 500, text: 'The metrics could not be rendered.\n' };
  }
}

/**
 * Prevents DNS rebinding: a page in a browser on this machine cannot read the metrics under its own host name.
 * @param {IncomingMessage} request @param {string} host see parseListenAddress
 */
function isOwnHost({ headers, socket }, host) {
  if (headers.host === undefined || ALL_ADDRESSES.includes(host)) return true;
  const name = headers.host
    .toLowerCase()
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1');
  return isLoopback(name) || name === host.toLowerCase() || name === socket.localAddress;
}
