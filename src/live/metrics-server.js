/** Serves the result so far to Prometheus (`--metrics`), as text exposition 0.0.4, at /metrics. */
import { createServer } from 'node:http';
import { usageError } from '../common/errors.js';
import { TOOL_VERSION } from '../common/version.js';
import { render } from '../report/data/prometheus.js';

/** @import { Result } from '../result/schema.js' */
/** @import { IncomingMessage, Server, ServerResponse } from 'node:http' */
/** @import { AddressInfo } from 'node:net' */

/**
 * @typedef {object} MetricsServer
 * @property {string} address with the port it got: `127.0.0.1:9464`, `[::1]:9464`
 * @property {(result: Result) => void} update replaces the served result; cheap, as the text is made on request
 * @property {() => Promise<void>} close cuts connections without waiting. May be called again
 */

const PATH = '/metrics';
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Further ones are refused. */
const MOST_CONNECTIONS = 32;

/** A connection silent for this long within a request or response is closed. */
const SILENCE_MS = 20_000;

/** An idle connection may wait for the next scrape, which comes every 60 s as a rule. */
const KEEP_ALIVE_MS = 75_000;

/** Served before the first result. */
const BEFORE_FIRST = [
  '# HELP vault_pki_load_info The load tester that serves these metrics; constant 1.',
  '# TYPE vault_pki_load_info gauge',
  `vault_pki_load_info{version="${TOOL_VERSION}"} 1`,
  '',
].join('\n');

/**
 * @param {{host: string, port: number}} where as parseListenAddress gives it; port 0 takes a free one
 * @returns {Promise<MetricsServer>} once it listens
 * @throws {PkiLoadError} when it cannot listen
 */
export async function createMetricsServer({ host, port }) {
  /** @type {Result | null} */
  let result = null;
  /** Of `result`; null until the next request. @type {string | null} */
  let text = BEFORE_FIRST;
  const exposition = () => {
    text ??= render(/** @type {Result} */ (result));
    return text;
  };
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) =>
    answer(request, response, exposition),
  );
  server.maxConnections = MOST_CONNECTIONS;
  server.timeout = SILENCE_MS;
  await listen(server, host, port);
  // A connection that cannot be taken (no file left) is the scraper's loss, not the run's.
  server.on('error', () => {});
  const listening = /** @type {AddressInfo} */ (server.address());
  return {
    address: join(host, listening.port),
    update(next) {
      result = next;
      text = null;
    },
    close: () => close(server),
  };
}

/** @param {IncomingMessage} request @param {ServerResponse} response @param {() => string} exposition */
function answer(request, response, exposition) {
  const { method, url = '' } = request;
  // The body of a request is discarded.
  request.resume();
  if (url.split('?', 1)[0] !== PATH) return reply(response, 404, `Metrics are at ${PATH}.\n`);
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    return reply(response, 405, 'Metrics are only read: GET or HEAD.\n');
  }
  let text;
  try {
    text = exposition();
  } catch {
    return reply(response, 500, 'The metrics could not be written.\n');
  }
  reply(response, 200, text, CONTENT_TYPE);
}

/**
 * @param {ServerResponse} response to a HEAD request, Node leaves the body out
 * @param {number} status
 * @param {string} text
 * @param {string} [type]
 */
function reply(response, status, text, type = 'text/plain; charset=utf-8') {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(text);
}

/**
 * @param {Server} server
 * @param {string} host
 * @param {number} port
 * @returns {Promise<void>}
 */
function listen(server, host, port) {
  return new Promise((resolve, reject) => {
    const onError = (/** @type {NodeJS.ErrnoException} */ error) => reject(listenError(error, host, port));
    server.once('error', onError);
    server.listen({ host, port }, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

/** @type {Record<string, [code: string, why: string, remedy: string]>} */
const LISTEN_ERRORS = {
  EADDRINUSE: [
    'metrics_port_in_use',
    'something else listens there',
    'Choose another port, or 0 for a free one.',
  ],
  EACCES: ['metrics_port_forbidden', 'this user may not use that port', 'Choose a port above 1023.'],
  EADDRNOTAVAIL: ['metrics_host_unknown', 'this machine has no such address', 'Use 127.0.0.1 or [::1].'],
  EAFNOSUPPORT: [
    'metrics_host_unknown',
    'this machine has no addresses of that kind',
    'Use 127.0.0.1 or [::1].',
  ],
  ENOTFOUND: ['metrics_host_unknown', 'no address is known for that name', 'Use 127.0.0.1 or [::1].'],
  EAI_AGAIN: ['metrics_host_unknown', 'no address is known for that name', 'Use 127.0.0.1 or [::1].'],
};

/** @param {NodeJS.ErrnoException} error @param {string} host @param {number} port */
function listenError(error, host, port) {
  const [code, why, remedy] = LISTEN_ERRORS[error.code ?? ''] ?? [
    'metrics_listen_failed',
    error.code ?? error.message,
    'Choose another address.',
  ];
  return usageError(code, `--metrics cannot listen on ${join(host, port)}: ${why}.`, remedy, error);
}

/** @param {string} host @param {number} port */
function join(host, port) {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** @param {Server} server @returns {Promise<void>} */
function close(server) {
  return new Promise((resolve) => {
    // The callback gets an error if the server was closed before.
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
