/** Requests outside the measured load, through undici. The load uses connection.js. */
import { PkiLoadError, targetError } from '../common/errors.js';
import { isSocket, originOf, readUrl, withoutSlashAtEnd } from '../common/options.js';
import { describeTransportError, proxyFailure, transportFailure } from './failures.js';
import { timeOfAddress } from './lookup.js';
import { MAX_BODY_BYTES } from './response-reader.js';
import { placeOf, routeOf } from './route.js';
import { connectOptions } from './tls.js';
import { openTunnel, proxyCode } from './tunnel.js';

/** @import { TransportFailure } from './failures.js' */
/** @import { Tls } from './tls.js' */
/** @import { Socket } from 'node:net' */
/** @import { buildConnector, Client, Dispatcher } from 'undici' */

/** @typedef {{status: number, headers: Record<string, string | string[] | undefined>, body: Buffer}} Response */
/**
 * @typedef {{method?: Dispatcher.HttpMethod, path: string, headers?: Record<string, string>, body?: string | Buffer,
 *   timeoutMs?: number, maxBodyBytes?: number, onHead?: () => void}} RequestOptions `timeoutMs` and a lower `maxBodyBytes`
 *   override the requester's; `onHead`: the status and the header fields have arrived
 */

/** Not the package's index, which also loads fetch, WebSocket and mocks: 9 MB and 50 ms. */
const UNDICI_PARTS = ['dispatcher/client', 'api/api-request', 'core/connect'];

/** @returns {Promise<[typeof Client, Client['request'], typeof buildConnector]>} */
async function loadUndici() {
  const parts = await Promise.all(UNDICI_PARTS.map((part) => import(`undici/lib/${part}.js`)));
  return /** @type {any} */ (parts.map((part) => part.default));
}

const URL_OPTION = '--url (VAULT_ADDR)';

/** Of the header, chunk lengths, chunk extensions and trailers: undici limits only some of them. */
const MAX_OVERHEAD_BYTES = 1024 * 1024;

const TOO_LARGE = Object.assign(new Error(), { code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' });

/** Idle connections are not reused after this time, or the server's if shorter: the server may be closing them. */
const KEEP_IDLE_MS = 4000;

/** `basePath`: '' or `/path`, without a trailing slash. @param {string} text @param {string} [name] of its option */
export function parseTargetUrl(text, name = '--url') {
  const url = withoutSlashAtEnd(readUrl(text, name, true));
  return { origin: originOf(url), basePath: isSocket(url) ? '' : withoutSlashAtEnd(new URL(url).pathname) };
}

/**
 * @param {{origin: string, tls?: Tls, timeoutMs?: number, maxBodyBytes?: number, urlOption?: string}} options
 *   `timeoutMs`: from connecting to the end of the body; `urlOption`: the option that gives the address, for remedies
 */
export function createRequester(options) {
  const { origin, tls, timeoutMs = 10_000, maxBodyBytes = MAX_BODY_BYTES, urlOption = URL_OPTION } = options;
  const route = routeOf(origin, tls?.network);
  const { proxy, tunnelTo } = route;
  const isAbsolute = proxy !== null && tunnelTo === null;
  const credentials = isAbsolute && proxy.authorization ? { 'proxy-authorization': proxy.authorization } : {};
  /** Puts `urlOption` in place of --url in the remedy. @param {TransportFailure} failure */
  const asTargetError = ({ code, text, remedy }) =>
    targetError(code, `${origin} ${text}.`, remedy?.replace(/--url(?: \(VAULT_ADDR\))?/, urlOption));
  /** @type {Promise<{client: Client, request: Client['request']}> | undefined} */
  let opened;
  /**
   * The last connection, its bytes before the current response, and whether it waits for a proxy or a TLS handshake.
   * @type {{socket?: Socket, before: number, atProxy: boolean, inHandshake: boolean, error?: Error}}
   */
  const wire = { before: 0, atProxy: proxy !== null, inHandshake: false };
  const open = async () => {
    const [Client, request, buildConnector] = await loadUndici();
    const { path: socketPath, host: hostname, port } = /** @type {any} */ (route.address);
    const common = {
      ...connectOptions(tls, placeOf(origin).host),
      timeout: timeoutMs,
      ...timeOfAddress(timeoutMs),
    };
    const dial = buildConnector({ ...common, ...(socketPath && { socketPath }) });
    const watch = (/** @type {any} */ socket) => {
      Object.assign(wire, { socket, before: 0, inHandshake: origin.startsWith('https:'), error: undefined });
      socket.once('secureConnect', () => (wire.inHandshake = false));
      socket.on('error', (/** @type {Error} */ error) => (wire.error ??= error)); // undici may report a later one in place of a TLS alert
      const max = maxBodyBytes + MAX_OVERHEAD_BYTES;
      socket.on('readable', () => socket.bytesRead - wire.before > max && socket.destroy(TOO_LARGE));
    };
    const client = new Client(isSocket(origin) ? 'http://localhost' : origin, {
      connect(options, callback) {
        wire.atProxy = proxy !== null;
        if (tunnelTo === null) {
          const address = { ...options, ...(hostname && { hostname, port: String(port) }) };
          const blame = (/** @type {Error | null} */ error) =>
            isAbsolute && error ? proxyFailure(error, 'PROXY_UNREACHABLE') : error;
          const end = (/** @type {any[]} */ ...[error, socket]) => callback(blame(error), socket);
          return watch(dial(address, end));
        }
        const proxyAddress = { host: hostname, port, noDelay: true, ...timeOfAddress(timeoutMs) };
        const socket = openTunnel(route, proxyAddress, (error) => {
          if (error !== null) return callback(error, null);
          wire.atProxy = false;
          if (options.protocol === 'https:') return watch(dial({ ...options, httpSocket: socket }, callback));
          watch(socket);
          callback(null, socket);
        });
        wire.socket = socket;
      },
      // Some proxies (tinyproxy) close a connection after a response without announcing it.
      pipelining: isAbsolute ? 0 : 1,
      ...{ headersTimeout: 0, bodyTimeout: 0, maxResponseSize: maxBodyBytes },
      ...{ keepAliveTimeout: KEEP_IDLE_MS, keepAliveMaxTimeout: KEEP_IDLE_MS },
    });
    return { client, request };
  };
  return {
    /** @param {RequestOptions} options @returns {Promise<Response>} @throws {PkiLoadError} exit code 2: no response */
    async request({
      method = 'GET',
      path,
      headers,
      body,
      timeoutMs: limitMs = timeoutMs,
      onHead,
      ...limits
    }) {
      opened ??= open();
      const { client, request } = await opened;
      const canceller = new AbortController();
      /** @type {NodeJS.Timeout | undefined} */
      let timer;
      // undici ignores a signal until the request has a connection.
      const overdue = /** @type {Promise<never>} */ (
        new Promise((_, reject) => {
          timer = setTimeout(() => {
            const late =
              wire.inHandshake && !wire.socket?.connecting ? 'tls_handshake_timeout' : 'connect_timeout';
            const code = client.stats.connected ? 'no_response' : wire.atProxy ? 'proxy_timeout' : late;
            reject(asTargetError(transportFailure(code, proxy)));
            canceller.abort();
          }, limitMs);
        })
      );
      let headersSeen = false;
      const exchange = async () => {
        const response = await request.call(client, {
          ...{ method, path: isAbsolute ? `${origin}${path}` : path, body, signal: canceller.signal },
          headers: { ...headers, ...credentials },
        });
        headersSeen = true;
        onHead?.();
        const chunks = [];
        let length = 0;
        for await (const chunk of response.body) {
          length += chunk.length;
          if (length > (limits.maxBodyBytes ?? maxBodyBytes)) throw TOO_LARGE;
          chunks.push(chunk);
        }
        const bytes = Buffer.concat(chunks);
        wire.before = wire.socket?.bytesRead ?? 0;
        const { statusCode: status, headers: fields } = response;
        const code = codeOf400(status, bytes);
        if (code !== undefined) throw asTargetError(transportFailure(code));
        if (isAbsolute && isProxyPage(status, fields)) throw proxyFailure(null, proxyCode(status), status);
        return { status, headers: fields, body: bytes };
      };
      try {
        return await Promise.race([overdue, exchange()]);
      } catch (error) {
        if (error instanceof PkiLoadError) throw error;
        const isProxy = /^PROXY_/.test(/** @type {any} */ (error).code);
        const first = isProxy ? error : (wire.error ?? error);
        throw asTargetError(describeTransportError(first, headersSeen, wire.inHandshake, proxy));
      } finally {
        clearTimeout(timer);
      }
    },
    /** Open connections are closed; a request in flight fails. */
    async close() {
      await (await opened)?.client.destroy();
      wire.socket?.destroy(); // undici does not end an unfinished handshake
    },
  };
}

/** @typedef {ReturnType<typeof createRequester>} Requester */

/** Go and nginx: plain HTTP on a TLS port; nginx: no client certificate. @type {[RegExp, string][]} */
const MESSAGES_OF_400 = [
  [/HTTP request (?:was sent )?to (?:an )?HTTPS (?:server|port)/i, 'wrong_scheme_http_to_https_port'],
  [/No required SSL certificate was sent/i, 'client_certificate_required'],
];

/** @param {number} status @param {Buffer} body @returns {string | undefined} code of the failure that a 400 reports */
const codeOf400 = (status, body) =>
  MESSAGES_OF_400.find(([pattern]) => status === 400 && pattern.test(body.toString('latin1', 0, 2048)))?.[1];

/**
 * A proxy's own response to a request in absolute form: it asks for a password, or has a page for people, which neither
 * Vault nor an OCSP responder sends.
 * @param {number} status @param {Response['headers']} headers
 */
const isProxyPage = (status, headers) =>
  status === 407 ||
  ([403, 500, 502, 503, 504].includes(status) && /^text\/html/i.test(String(headers['content-type'])));
