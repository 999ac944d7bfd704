/**
 * Single requests, for the few calls before and after a run, through Node's own HTTP client. The load path has connections of
 * its own.
 */
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { connect as connectSocket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { targetError, usageError } from '../common/errors.js';
import { describeTransportError, transportFailure } from './failures.js';
import { connectOptions } from './tls.js';

/** @import { TransportFailure } from './failures.js' */
/** @import { Tls } from './tls.js' */
/** @import { Socket } from 'node:net' */

export { describeTransportError } from './failures.js';

/** @typedef {{status: number, headers: Record<string, string | string[] | undefined>, body: Buffer}} Answer */
/** @typedef {{method?: string, path: string, headers?: Record<string, string>, body?: string | Buffer, timeoutMs?: number,
 *   onHead?: () => void}} Asked `timeoutMs`: another than the requester's; `onHead`: called once the response's head is read */

/** @typedef {{origin: string, named: string}} Target */

const URL_OPTION = '--url (VAULT_ADDR)';
const MAX_BODY_BYTES = 8 * 1024 * 1024;
const PROBE_TIMEOUT_MS = 2000;

/** An idle connection is not used again later than this: the server may be closing it. Servers' hints count where they are shorter. */
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
  const { Agent, request: open } = origin.startsWith('https:') ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: 1, timeout: KEEP_IDLE_MS, ...connectOptions(tls) });
  const closing = new AbortController();
  return {
    /**
     * @param {Asked} asked
     * @returns {Promise<Answer>} whatever its status; throws a PkiLoadError (exit code 2) without a response
     */
    async request({ method = 'GET', path, headers, body, timeoutMs: within = timeoutMs, onHead }) {
      const deadline = new AbortController();
      const signal = AbortSignal.any([deadline.signal, closing.signal]);
      const progress = { headersSeen: false };
      const timer = setTimeout(() => deadline.abort(), within);
      /** The request gets the cause of a broken response; the message only an end. @type {unknown} */
      let broken = null;
      try {
        const asking = open(origin + path, { agent, method, headers, signal });
        asking.on('error', (error) => {
          broken ??= error;
        });
        // An upgrade is never requested. Node reports none, so the request would wait forever.
        asking.once('upgrade', (_message, socket) => {
          socket.destroy();
          asking.emit('error', Object.assign(new Error('upgrade'), { code: 'HPE_UNEXPECTED_UPGRADE' }));
        });
        if (onHead !== undefined) asking.once('response', onHead);
        asking.end(body);
        const [message] = /** @type {[http.IncomingMessage]} */ (await once(asking, 'response', { signal }));
        progress.headersSeen = true;
        const status = /** @type {number} */ (message.statusCode);
        const bytes = await bodyOf(message, maxBodyBytes);
        if (bytes === null) throw asTargetError(target, transportFailure('answer_too_large'));
        return checkScheme(target, { status, headers: message.headers, body: bytes });
      } catch (error) {
        if (error instanceof Error && error.name === 'PkiLoadError') throw error;
        if (closing.signal.aborted) throw asTargetError(target, transportFailure('aborted'));
        throw await explain(broken ?? error, {
          ...target,
          tls,
          timedOut: deadline.signal.aborted,
          ...progress,
        });
      } finally {
        clearTimeout(timer);
      }
    },
    /** Open connections are ended; a request under way fails. */
    async close() {
      closing.abort();
      agent.destroy();
    },
  };
}

/** @typedef {ReturnType<typeof createRequester>} Requester */

/**
 * @param {http.IncomingMessage} message
 * @param {number} maxBytes
 * @returns {Promise<Buffer | null>} null: larger than that
 */
async function bodyOf(message, maxBytes) {
  /** @type {Buffer[]} */
  const chunks = [];
  let bytes = 0;
  for await (const chunk of message) {
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** @param {unknown} error @param {Target & {tls?: Tls, timedOut: boolean, headersSeen: boolean}} context */
async function explain(error, { origin, named, tls, timedOut, headersSeen }) {
  let failure = describeTransportError(error, { headersSeen });
  if (timedOut) failure = transportFailure((await accepts(origin)) ? 'no_answer' : 'connect_timeout');
  const silentClose = failure.code === 'connection_reset' || failure.code === 'bad_http';
  if (silentClose && origin.startsWith('http:') && (await speaksTls(origin))) {
    failure = transportFailure('wrong_scheme_http_to_https_port');
  }
  if (
    failure.code === 'connection_reset' &&
    origin.startsWith('https:') &&
    (await dropsAfterHandshake(origin, tls))
  ) {
    failure = transportFailure(tls?.cert ? 'client_certificate_refused' : 'client_certificate_required');
  }
  return asTargetError({ origin, named }, failure);
}

/** @param {Target} target @param {TransportFailure} failure whose remedy speaks of --url */
function asTargetError({ origin, named }, { code, text, remedy }) {
  return targetError(code, `${origin} ${text}.`, remedy?.replace(/--url(?: \(VAULT_ADDR\))?/, named));
}

/**
 * Go's and nginx's words for plain HTTP on a TLS port, and nginx's for a missing client certificate.
 *
 * @param {Target} target
 * @param {Answer} answer
 */
function checkScheme(target, answer) {
  if (answer.status !== 400) return answer;
  const text = answer.body.subarray(0, 2048).toString('latin1');
  const name = /HTTP request (?:was sent )?to (?:an )?HTTPS (?:server|port)/i.test(text)
    ? 'wrong_scheme_http_to_https_port'
    : /No required SSL certificate was sent/i.test(text) && 'client_certificate_required';
  if (!name) return answer;
  throw asTargetError(target, transportFailure(name));
}

/** @param {string} origin */
function address(origin) {
  const { hostname, port, protocol } = new URL(origin);
  const fallback = protocol === 'https:' ? 443 : 80;
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || fallback),
    timeout: PROBE_TIMEOUT_MS,
  };
}

/**
 * Servers that drop plain HTTP on a TLS port without a response (Node does) are recognised by one handshake.
 *
 * @param {string} origin
 * @returns {Promise<boolean>}
 */
function speaksTls(origin) {
  return settle(connectTls({ ...address(origin), rejectUnauthorized: false }), 'secureConnect');
}

/**
 * In TLS 1.3 a client learns only after the handshake that its certificate was missed (RFC 8446, 4.4.2.4). A server
 * that closes then, before anything was asked, has little other reason to.
 *
 * @param {string} origin
 * @param {Tls} [tls]
 * @returns {Promise<boolean>}
 */
function dropsAfterHandshake(origin, tls) {
  const socket = connectTls({ ...address(origin), ...connectOptions(tls), rejectUnauthorized: false });
  return new Promise((resolve) => {
    let connected = false;
    const end = (/** @type {boolean} */ outcome) => {
      socket.destroy();
      resolve(outcome);
    };
    socket.once('secureConnect', () => {
      connected = true;
      socket.resume().setTimeout(500);
    });
    socket.once('error', () => end(connected));
    socket.once('end', () => end(connected));
    socket.once('timeout', () => end(false));
  });
}

/** @param {string} origin @returns {Promise<boolean>} whether the port takes a TCP connection */
function accepts(origin) {
  return settle(connectSocket(address(origin)), 'connect');
}

/** @param {Socket} socket @param {string} success @returns {Promise<boolean>} */
function settle(socket, success) {
  return new Promise((resolve) => {
    const end = (/** @type {boolean} */ outcome) => {
      socket.destroy();
      resolve(outcome);
    };
    socket.once(success, () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}
