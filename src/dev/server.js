/**
 * The embedded PKI server: a small real CA with the API of Vault. For tests only: its keys live in memory, and its token
 * may do everything.
 */
import { randomUUID } from 'node:crypto';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { PkiLoadError, usageError } from '../common/errors.js';
import { TOOL_VERSION } from '../common/version.js';
import { createAuthorities, createServerCertificate } from './certificate.js';
import { json } from './messages.js';
import { createMounts } from './mounts.js';
import { createResponder } from './ocsp-responder.js';
import { ROLES } from './roles.js';
import { createHandler } from './routes.js';
import { createTokens } from './routes-system.js';
import { createCrlBuilder, Store } from './store.js';
/** @import { Authority, IssuerUrls } from './certificate.js' */
/** @import { Ca } from './issuing.js' */
/** @import { Reply } from './messages.js' */
/** @import { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http' */
/** @import { ServerOptions } from 'node:https' */
/** @import { AddressInfo } from 'node:net' */
/** @import { Duplex } from 'node:stream' */

export const DEV_SERVER_NOTICE =
  'This is the embedded PKI server of vault-pki-load, for tests only: its keys and certificates live in memory and are ' +
  'trusted by nobody. Its speed says nothing about Vault.';

/**
 * @typedef {object} DevServerOptions
 * @property {number} [port] 0 takes a free one
 * @property {string} [host] a loopback address unless `allowRemote`
 * @property {boolean} [allowRemote] listen on other addresses too
 * @property {string} [token] random when left out
 * @property {number} [tokenTtlSeconds] 0: never expires
 * @property {string} [mount]
 * @property {'rsa' | 'ec'} [caKeyType] RSA-2048, as Vault's tutorial has it, or P-256
 * @property {boolean | {clientCa?: string}} [tls] HTTPS; with `clientCa` (PEM) clients must show a certificate of it
 *
 * @typedef {object} DevServer
 * @property {string} url without a trailing slash
 * @property {string} token
 * @property {string} caPem the intermediate, which issues and signs OCSP responses
 * @property {string} rootPem also what a TLS client must trust
 * @property {string[]} roles
 * @property {() => Promise<void>} close cuts connections
 */

/** @param {DevServerOptions} [options] @returns {Promise<DevServer>} */
export async function createDevServer(options = {}) {
  const { port = 0, host = '127.0.0.1', mount = 'pki_int', caKeyType = 'rsa', tls = false } = options;
  checkOptions({ ...options, port, host, mount, caKeyType });
  const { root, intermediate } = await createAuthorities(caKeyType);
  const store = new Store();
  const tokens = createTokens({ token: options.token, ttlSeconds: options.tokenTtlSeconds });
  const noUrls = { issuing_certificates: [], ocsp_servers: [], crl_distribution_points: [] };
  /** @type {Ca} */
  const ca = { issuer: intermediate, root, store, urls: noUrls };
  const handler = createHandler({
    mount,
    version: `vault-pki-load-dev/${TOOL_VERSION}`,
    issuerId: randomUUID(),
    mounts: createMounts(),
    tokens,
    ca,
    roles: ROLES,
    crl: createCrlBuilder(intermediate, store),
    ocsp: createResponder(intermediate, store),
  });
  const server = createListener(handler, tls === false ? null : await tlsOptions(root, host, tls));
  const url = await listen(server, port, host, tls !== false);
  ca.urls = urlsAt(`${url}/v1/${mount}`);
  return {
    url,
    token: tokens.token,
    caPem: `${intermediate.pem}\n`,
    rootPem: `${root.pem}\n`,
    roles: Object.keys(ROLES),
    close: () => close(server),
  };
}

/** @param {DevServerOptions & {port: number, host: string, mount: string, caKeyType: string}} options */
function checkOptions({ port, host, allowRemote, mount, caKeyType }) {
  if (allowRemote !== true && !/^(localhost|::1|127(\.\d{1,3}){3})$/.test(host)) {
    throw usageError(
      'dev_host_not_loopback',
      `The embedded server would listen on ${JSON.stringify(host)}, which other machines can reach.`,
      'Use 127.0.0.1, or allow it with --allow-remote (allowRemote).',
    );
  }
  if (!/^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/.test(mount) || /^(sys|auth)(\/|$)/.test(mount)) {
    throw usageError(
      'dev_bad_mount',
      `The mount ${JSON.stringify(mount)} cannot be used.`,
      'Use a name such as pki_int.',
    );
  }
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw usageError(
      'dev_bad_port',
      `The port is ${JSON.stringify(port)}.`,
      'Use 0 to 65535; 0 takes a free one.',
    );
  }
  if (caKeyType !== 'rsa' && caKeyType !== 'ec') {
    throw usageError(
      'dev_bad_ca_key_type',
      `The CA key type is ${JSON.stringify(caKeyType)}.`,
      'Use rsa or ec.',
    );
  }
}

/**
 * @param {Authority} root
 * @param {string} host
 * @param {true | {clientCa?: string}} tls
 * @returns {Promise<ServerOptions>}
 */
async function tlsOptions(root, host, tls) {
  const files = await createServerCertificate(root, host);
  const clientCa = tls === true ? undefined : tls.clientCa;
  return clientCa === undefined
    ? files
    : { ...files, ca: clientCa, requestCert: true, rejectUnauthorized: true };
}

/**
 * @param {Server} server
 * @param {number} port
 * @param {string} host
 * @param {boolean} secure
 * @returns {Promise<string>} its URL
 */
function listen(server, port, host, secure) {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, port, host)));
    server.listen({ port, host }, () => {
      const address = /** @type {AddressInfo} */ (server.address());
      resolve(`${secure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${address.port}`);
    });
  });
}

/** @param {Error & {code?: string}} error @param {number} port @param {string} host */
function listenError(error, port, host) {
  const known = /** @type {Record<string, [string, string, string]>} */ ({
    EADDRINUSE: [
      'dev_port_in_use',
      'something else listens there',
      'Choose another port, or 0 for a free one.',
    ],
    EACCES: ['dev_port_forbidden', 'this user may not use that port', 'Choose a port above 1023.'],
    EADDRNOTAVAIL: ['dev_host_unknown', 'this machine has no such address', 'Use 127.0.0.1.'],
  });
  const [code, why, remedy] = known[error.code ?? ''] ?? ['dev_listen_failed', error.message, undefined];
  const message = `The embedded server cannot listen on ${host}:${port}: ${why}.`;
  return new PkiLoadError(code, message, { remedy, cause: error });
}

/** @param {string} base of the mount @returns {IssuerUrls} */
const urlsAt = (base) => ({
  issuing_certificates: [`${base}/ca`],
  ocsp_servers: [`${base}/ocsp`],
  crl_distribution_points: [`${base}/crl`],
});

/** @param {Server} server @returns {Promise<void>} */
function close(server) {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Largest request body. Vault takes 32 MiB; nothing here needs a hundredth of that. */
export const MAX_BODY = 1024 * 1024;

/** Idle connections are kept longer than any client keeps them, so that the client is the one to close. */
const KEEP_ALIVE_MS = 300_000;

/**
 * @typedef {import('./routes.js').Request} Request
 * @typedef {Reply} Reply
 * @typedef {(request: Request) => Promise<Reply>} Handler never rejects
 */

/** @param {Handler} handler @param {ServerOptions | null} tls null for plain HTTP @returns {Server} */
export function createListener(handler, tls) {
  const options = { keepAliveTimeout: KEEP_ALIVE_MS };
  /** @type {RequestListener} */
  const listener = (request, response) => collect(request, response, handler);
  const server = tls === null ? createHttp(options, listener) : createHttps({ ...options, ...tls }, listener);
  server.on('clientError', (error, socket) => onClientError(error, socket, handler));
  return server;
}

/** @param {IncomingMessage} request @param {ServerResponse} response @param {Handler} handler */
function collect(request, response, handler) {
  /** @type {Buffer[]} */
  const chunks = [];
  let size = 0;
  request.on('error', () => response.destroy());
  request.on('data', (/** @type {Buffer} */ chunk) => {
    size += chunk.length;
    if (size <= MAX_BODY) chunks.push(chunk);
    else if (!response.headersSent)
      write(response, json(413, { errors: ['http: request body too large'] }), true);
  });
  request.on('end', () => {
    if (size > MAX_BODY) return;
    const { method = '', url = '', headers } = request;
    const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    handler({ method, url, headers, body })
      .then((reply) => write(response, reply, false))
      .catch(() => response.destroy());
  });
}

/** @param {ServerResponse} response @param {Reply} reply @param {boolean} close */
function write(response, reply, close) {
  response.writeHead(reply.status, headersOf(reply, close));
  response.end(reply.body);
}

/** @param {Reply} reply @param {boolean} close @returns {Record<string, string | number>} */
function headersOf({ type, body, headers }, close) {
  return {
    'Cache-Control': 'no-store',
    ...(type === '' ? {} : { 'Content-Type': type }),
    'Content-Length': Buffer.byteLength(body),
    ...headers,
    ...(close ? { Connection: 'close' } : {}),
  };
}

/**
 * @param {Error & {code?: string, rawPacket?: Buffer}} error
 * @param {Duplex} socket
 * @param {Handler} handler
 */
async function onClientError(error, socket, handler) {
  socket.on('error', () => socket.destroy());
  if (!error.code?.startsWith('HPE_') || !socket.writable) {
    socket.destroy();
    return;
  }
  const request = readList(error.rawPacket);
  const reply = request === null ? json(400, { errors: ['400 Bad Request'] }) : await handler(request);
  const head = Object.entries(headersOf(reply, true)).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${reply.status} ${reply.status < 300 ? 'OK' : 'Error'}\r\n${head.join('')}\r\n`);
  socket.end(reply.body);
}

/**
 * A `LIST` request has no body and fits one packet: read by hand, its connection is closed after the answer.
 *
 * @param {Buffer} [packet]
 * @returns {Request | null}
 */
function readList(packet) {
  const text = packet?.toString('latin1') ?? '';
  const match = /^LIST (\S+) HTTP\/1\.1\r\n([\s\S]*?)\r\n\r\n/.exec(text);
  if (match === null) return null;
  /** @type {Record<string, string>} */
  const headers = {};
  for (const line of match[2].split('\r\n')) {
    const at = line.indexOf(':');
    if (at > 0) headers[line.slice(0, at).trim().toLowerCase()] = line.slice(at + 1).trim();
  }
  return { method: 'LIST', url: match[1], headers, body: Buffer.alloc(0) };
}
