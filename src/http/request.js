/** Requests outside the measured load, through undici. The load has connections of its own (connection.js). */
import { connect as connectSocket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { PkiLoadError, targetError, usageError } from '../common/errors.js';
import { describeTransportError, transportFailure } from './failures.js';
import { connectOptions } from './tls.js';

/** @import { TransportFailure } from './failures.js' */
/** @import { Tls } from './tls.js' */
/** @import { Socket } from 'node:net' */
/** @import { Client, Dispatcher } from 'undici' */

export { describeTransportError } from './failures.js';

/** @typedef {{status: number, headers: Record<string, string | string[] | undefined>, body: Buffer}} Response */
/**
 * @typedef {{method?: Dispatcher.HttpMethod, path: string, headers?: Record<string, string>, body?: string | Buffer,
 *   timeoutMs?: number, onHead?: () => void}} RequestOptions `timeoutMs`: instead of the requester's; `onHead`: called
 *   when the status and the header fields have arrived
 * @typedef {{origin: string, named: string}} Target
 */

const URL_OPTION = '--url (VAULT_ADDR)';
const MAX_BODY_BYTES = 8 * 1024 * 1024;
const PROBE_TIMEOUT_MS = 2000;

/** Later than this, an idle connection is not reused: the server may be closing it. Shorter hints of servers count. */
const KEEP_IDLE_MS = 4000;

/**
 * @param {string} text
 * @param {string} [name] what to call it in an error
 * @returns {{origin: string, basePath: string}} `basePath` is '' or starts with a slash and does not end with one
 */
export function parseTargetUrl(text, name = '--url') {
  const bad = (/** @type {string} */ why) =>
    usageError('bad_url', `${name} ${why}.`, 'Give a URL such as https://vault.example.com:8200.');
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.username || url?.password) throw bad('holds a user name or password, which Vault does not take');
  const shown = JSON.stringify(text.slice(0, 120));
  if (url === null || !/^https?:\/\//i.test(text.trim()))
    throw bad(`is ${shown}, which is not an http:// or https:// URL`);
  if (url.search || url.hash) throw bad(`is ${shown}, which has a query or fragment`);
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') };
}

/**
 * @param {{origin: string, tls?: Tls, timeoutMs?: number, maxBodyBytes?: number, named?: string}} options
 *   `timeoutMs` bounds one whole request, connecting and body included; `named`: where the address was given, for remedies
 */
export function createRequester({
  origin,
  tls,
  timeoutMs = 10_000,
  maxBodyBytes = MAX_BODY_BYTES,
  named = URL_OPTION,
}) {
  const target = { origin, named };
  const closing = new AbortController();
  /** @type {Promise<Client> | undefined} */
  let client;
  const open = async () => {
    const undici = await import('undici'); // takes 80 ms
    return new undici.Client(origin, {
      connect: { ...connectOptions(tls), timeout: 0 },
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_IDLE_MS,
      keepAliveMaxTimeout: KEEP_IDLE_MS,
      maxResponseSize: maxBodyBytes,
    });
  };
  return {
    /** Without a response, a PkiLoadError with exit code 2. @param {RequestOptions} options @returns {Promise<Response>} */
    async request({ method = 'GET', path, headers, body, timeoutMs: within = timeoutMs, onHead }) {
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), within);
      const signal = AbortSignal.any([deadline.signal, closing.signal]);
      let headersSeen = false;
      try {
        client ??= open();
        const response = await Promise.race([
          (await client).request({ method, path, headers, body, signal }),
          rejectOnAbort(signal),
        ]);
        headersSeen = true;
        onHead?.();
        const bytes = Buffer.from(await response.body.arrayBuffer());
        return checkScheme(target, { status: response.statusCode, headers: response.headers, body: bytes });
      } catch (error) {
        if (error instanceof PkiLoadError) throw error;
        if (closing.signal.aborted) throw asTargetError(target, transportFailure('aborted'));
        throw await explain(error, { ...target, tls, timedOut: deadline.signal.aborted, headersSeen });
      } finally {
        clearTimeout(timer);
      }
    },
    /** Open connections are closed; a request under way fails. */
    async close() {
      closing.abort();
      await (await client)?.destroy();
    },
  };
}

/** @typedef {ReturnType<typeof createRequester>} Requester */

/** undici heeds a signal only once the request has a connection. @param {AbortSignal} signal @returns {Promise<never>} */
function rejectOnAbort(signal) {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** @param {unknown} error @param {Target & {tls?: Tls, timedOut: boolean, headersSeen: boolean}} context */
async function explain(error, { origin, named, tls, timedOut, headersSeen }) {
  const isTls = origin.startsWith('https:');
  let { code } = describeTransportError(error, { headersSeen });
  if (timedOut) code = (await acceptsConnection(origin)) ? 'no_answer' : 'connect_timeout';
  if (!isTls && ['connection_reset', 'bad_http'].includes(code) && (await speaksTls(origin)))
    code = 'wrong_scheme_http_to_https_port';
  if (isTls && code === 'connection_reset' && (await dropsAfterHandshake(origin, tls)))
    code = 'client_certificate_required';
  return asTargetError({ origin, named }, transportFailure(code));
}

/** @param {Target} target @param {TransportFailure} failure whose remedy speaks of --url */
function asTargetError({ origin, named }, { code, text, remedy }) {
  return targetError(code, `${origin} ${text}.`, remedy?.replace(/--url(?: \(VAULT_ADDR\))?/, named));
}

/** Of Go and nginx for plain HTTP on a TLS port; of nginx for a missing client certificate. @type {[RegExp, string][]} */
const TEXTS_OF_400 = [
  [/HTTP request (?:was sent )?to (?:an )?HTTPS (?:server|port)/i, 'wrong_scheme_http_to_https_port'],
  [/No required SSL certificate was sent/i, 'client_certificate_required'],
];

/** @param {Target} target @param {Response} response */
function checkScheme(target, response) {
  const text = response.status === 400 ? response.body.subarray(0, 2048).toString('latin1') : '';
  const found = TEXTS_OF_400.find(([pattern]) => pattern.test(text));
  if (found === undefined) return response;
  throw asTargetError(target, transportFailure(found[1]));
}

/** @param {string} origin */
function address(origin) {
  const { hostname, port, protocol } = new URL(origin);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  const host = hostname.replace(/^\[|\]$/g, '');
  return { host, port: Number(port || defaultPort), timeout: PROBE_TIMEOUT_MS };
}

/** @param {string} origin */
const acceptsConnection = (origin) => firstEvent(connectSocket(address(origin)), { connect: true });

/** For a server that drops plain HTTP on a TLS port without a response, as Node does. @param {string} origin */
const speaksTls = (origin) =>
  firstEvent(connectTls({ ...address(origin), rejectUnauthorized: false }), { secureConnect: true });

/**
 * In TLS 1.3 a client learns only after the handshake that its certificate is missing (RFC 8446, 4.4.2.4). A server
 * that closes then, before any request, has little other reason to.
 *
 * @param {string} origin
 * @param {Tls} [tls]
 */
async function dropsAfterHandshake(origin, tls) {
  const socket = connectTls({ ...address(origin), ...connectOptions(tls), rejectUnauthorized: false });
  let isConnected = false;
  socket.once('secureConnect', () => {
    isConnected = true;
    socket.resume().setTimeout(500);
  });
  const isClosed = await firstEvent(socket, { error: true, end: true });
  return isClosed && isConnected;
}

/** `outcomes`: by event. @param {Socket} socket @param {Record<string, boolean>} outcomes @returns {Promise<boolean>} */
function firstEvent(socket, outcomes) {
  return new Promise((resolve) => {
    for (const [event, outcome] of Object.entries({ error: false, timeout: false, ...outcomes })) {
      socket.once(event, () => {
        socket.destroy();
        resolve(outcome);
      });
    }
  });
}
