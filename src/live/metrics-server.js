/** Serves the result so far to Prometheus (`--metrics`), as text exposition 0.0.4, at /metrics. */
import { createServer } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
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

/** Only this machine can read the metrics there. */
const DEFAULT_HOST = '127.0.0.1';

const MAX_PORT = 65_535;

const PATH = '/metrics';
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Further ones are refused. */
const MAX_CONNECTIONS = 32;

/** A connection silent for this long within a request or response is closed. */
const SILENCE_MS = 20_000;

/** Of one request: its head, all of it, and the response to it. */
const REQUEST_MS = 10_000;
const RESPONSE_MS = 30_000;
const MAX_HEADER_BYTES = 8192;

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
 * @param {string} text `9464`, `:9464`, `127.0.0.1:9464`, `[::1]:9464`, `localhost:9464`; port 0 takes a free one. A port
 *   alone listens on the loopback address; `0.0.0.0:9464` lets other machines read
 * @returns {{host: string, port: number}} an IPv6 host without its brackets
 * @throws {PkiLoadError} code `bad_listen_address`
 */
export function parseListenAddress(text) {
  const [, ipv6, name, digits] = /^(?:(?:\[(.+)\]|(\w(?:[\w.-]*\w)?)?):)?(\d+)$/.exec(text.trim()) ?? [];
  const isHost = ipv6 !== undefined ? isIPv6(ipv6) : !/^[\d.]+$/.test(name ?? '') || isIP(name) !== 0;
  if (digits !== undefined && Number(digits) <= MAX_PORT && isHost) {
    return { host: ipv6 ?? name ?? DEFAULT_HOST, port: Number(digits) };
  }
  throw usageError(
    'bad_listen_address',
    `--metrics is ${JSON.stringify(text.slice(0, 80))}, which is not a port or an address with a port.`,
    'Write it as 9464, 127.0.0.1:9464 or [::1]:9464.',
  );
}

/**
 * @param {{host: string, port: number}} where see parseListenAddress
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
  const limits = {
    ...{ keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS },
    ...{ maxHeaderSize: MAX_HEADER_BYTES, connectionsCheckingInterval: 1000 },
  };
  const server = createServer(limits, (request, response) => {
    const timer = setTimeout(() => request.socket.destroy(), RESPONSE_MS).unref();
    response.once('close', () => clearTimeout(timer));
    if (isOwnHost(request, host)) respond(request, response, exposition);
    else reply(response, 421, 'These metrics are served under the address of --metrics only.\n');
  });
  server.maxConnections = MAX_CONNECTIONS;
  // Idle connections make room for new ones.
  server.on('drop', () => server.closeIdleConnections());
  server.timeout = SILENCE_MS;
  await listen(server, host, port);
  // A connection that cannot be accepted (no file descriptor left) does not end the run.
  server.on('error', () => {});
  return {
    address: joined(host, /** @type {AddressInfo} */ (server.address()).port),
    update(next) {
      result = next;
      text = null;
    },
    close: () =>
      new Promise((resolve) => {
        // The callback gets an error if the server was closed before.
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** All addresses of this machine: then every name of it will do, as the user lets others read. */
const EVERYWHERE = ['0.0.0.0', '::'];

/**
 * Against DNS rebinding: a page in a browser on this machine cannot read the metrics under a name of its own.
 * @param {IncomingMessage} request
 * @param {string} host see parseListenAddress
 */
function isOwnHost({ headers, socket }, host) {
  if (headers.host === undefined || EVERYWHERE.includes(host)) return true;
  const name = headers.host
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  const isLoopback = name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
  return isLoopback || name === host.toLowerCase() || name === socket.localAddress;
}

/** @param {IncomingMessage} request @param {ServerResponse} response @param {() => string} exposition */
function respond(request, response, exposition) {
  const { method, url = '' } = request;
  // The body of a request is discarded.
  request.resume();
  if (url.split('?', 1)[0] !== PATH) return reply(response, 404, `Metrics are at ${PATH}.\n`);
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    return reply(response, 405, 'Metrics are only read: GET or HEAD.\n');
  }
  try {
    reply(response, 200, exposition(), CONTENT_TYPE);
  } catch {
    reply(response, 500, 'The metrics could not be written.\n');
  }
}

/** @param {ServerResponse} response @param {number} status @param {string} text @param {string} [type] */
function reply(response, status, text, type = 'text/plain; charset=utf-8') {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(text);
}

/** @param {Server} server @param {string} host @param {number} port @returns {Promise<void>} */
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

const LOOPBACK = 'Use 127.0.0.1 or [::1].';

/** @type {Record<string, [code: string, why: string, remedy: string]>} */
const LISTEN_ERRORS = {
  EADDRINUSE: ['metrics_port_in_use', 'the port is in use', 'Choose another port, or 0 for a free one.'],
  EACCES: ['metrics_port_forbidden', 'this user may not use that port', 'Choose a port above 1023.'],
  EADDRNOTAVAIL: ['metrics_host_unknown', 'this machine has no such address', LOOPBACK],
  EAFNOSUPPORT: ['metrics_host_unknown', 'this machine has no addresses of that kind', LOOPBACK],
  ENOTFOUND: ['metrics_host_unknown', 'the name has no address', LOOPBACK],
  EAI_AGAIN: ['metrics_host_unknown', 'the name has no address', LOOPBACK],
};

/** @param {NodeJS.ErrnoException} error @param {string} host @param {number} port */
function listenError(error, host, port) {
  const why = error.code ?? error.message;
  const [code, reason, remedy] = LISTEN_ERRORS[why] ?? [
    'metrics_listen_failed',
    why,
    'Choose another address.',
  ];
  return usageError(code, `--metrics cannot listen on ${joined(host, port)}: ${reason}.`, remedy, error);
}

/** @param {string} host @param {number} port */
function joined(host, port) {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
