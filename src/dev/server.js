/** The embedded PKI server: a small CA with Vault's API. For tests only: keys in memory, a root token for every request. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createSecureServer } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { usageError } from '../common/errors.js';
import { closeAtOnce, isLoopback, listen } from '../common/listen.js';
import { TOOL_VERSION } from '../common/version.js';
import { createAuthorities, createServerCertificate } from './certificate.js';
import { urlExtensions } from './issuing.js';
import { ROLES } from './roles.js';
import { createHandler, json } from './routes.js';
import { createPki } from './routes-pki.js';
import { createMounts, isMountPath, systemRoutes } from './routes-system.js';
import { Store } from './status.js';
/** @import { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http' */
/** @import { Socket } from 'node:net' */
/** @import { Duplex } from 'node:stream' */
/** @import { Reply, Request } from './routes.js' */

export const DEV_SERVER_NOTICE =
  'This is the embedded PKI server of vault-pki-load, for tests only: it keeps its keys and certificates in memory, and ' +
  'no client trusts them. Its speed says nothing about Vault.';

/**
 * @typedef {object} DevServerOptions
 * @property {number} [port] 0: any free port
 * @property {string} [host] a loopback address, unless `allowRemote`
 * @property {boolean} [allowRemote] listen on other addresses too
 * @property {string} [token] random if omitted
 * @property {string} [mount]
 * @property {'rsa' | 'ec'} [caKeyType] RSA-2048, as in Vault's tutorial, or P-256
 * @property {boolean} [tls] HTTPS, and HTTP/2
 * @typedef {Awaited<ReturnType<typeof createDevServer>>} DevServer
 */

/** @param {DevServerOptions} [options] */
export async function createDevServer(options = {}) {
  const { port = 0, host = '127.0.0.1', mount = 'pki_int', caKeyType = 'rsa', tls = false } = options;
  checkOptions(host, options.allowRemote, mount);
  const { root, intermediate } = await createAuthorities(caKeyType);
  const version = `vault-pki-load-dev/${TOOL_VERSION}`;
  const token = options.token ?? `dev-only-token-${randomBytes(12).toString('hex')}`;
  const mounts = createMounts(version);
  const serverState = { version, token, mounts };
  const server = createListener(
    createHandler(serverState, systemRoutes(serverState)),
    tls ? await createServerCertificate(root, host) : null,
  );
  const address = await listen(server, { host, port }, 'The embedded server', 'dev');
  const url = `${tls ? 'https' : 'http'}://${address}`;
  const ca = { issuer: intermediate, root, store: new Store(), urls: urlExtensions(`${url}/v1/${mount}`) };
  const description = 'embedded PKI server of vault-pki-load: for tests only';
  const ttls = { default: 768 * 3600, max: 5 * 365 * 86_400 };
  mounts.add('mounts', mount, { type: 'pki', routes: createPki(ca), description }, ttls);
  return {
    url,
    token,
    /** PEM, to trust the server; null without TLS. */
    caFile: tls ? keepUntilExit(root.pem) : null,
    caPem: intermediate.pem,
    rootPem: root.pem,
    roles: Object.keys(ROLES),
    close: () => closeAtOnce(server),
  };
}

/** @param {string} text @returns {string} path of a file with it */
function keepUntilExit(text) {
  const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-dev-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'ca.pem');
  writeFileSync(path, text);
  return path;
}

/** @param {string} host @param {boolean | undefined} allowRemote @param {string} mount */
function checkOptions(host, allowRemote, mount) {
  if (allowRemote !== true && !isLoopback(host)) {
    const message = `The embedded server would listen on ${JSON.stringify(host)}, which is not a loopback address.`;
    const remedy = 'Use 127.0.0.1, ::1 or localhost, or allow it with --allow-remote (allowRemote).';
    throw usageError('dev_host_not_loopback', message, remedy);
  }
  if (!isMountPath(mount)) {
    const message = `The mount ${JSON.stringify(mount)} cannot be used.`;
    throw usageError('dev_bad_mount', message, 'Use a name such as pki_int.');
  }
}

/** Largest request body, bytes. Vault accepts 32 MiB. */
export const MAX_BODY = 1024 * 1024;

/** `keepAliveTimeout`: longer than clients keep idle connections, so that the client closes first. */
const LIMITS = { keepAliveTimeout: 300_000, requestTimeout: 60_000 };

/** Twice the most that a run opens: a run may start while the connections of another close. */
const MAX_CONNECTIONS = 20_000;

/** @typedef {(request: Request) => Promise<Reply>} Handler never rejects */

/** @param {Handler} handler @param {object | null} tls null for plain HTTP @returns {Server} */
function createListener(handler, tls) {
  /** @type {RequestListener} */
  const listener = (request, response) => void respond(request, response, handler);
  const server = tls === null ? createHttp(LIMITS, listener) : createTlsListener(tls, listener);
  server.maxConnections = MAX_CONNECTIONS;
  server.on('clientError', (error, socket) => respondToList(error, socket, handler));
  return server;
}

/** @param {object} tls @param {RequestListener} listener @returns {Server} HTTP/2 and 1.1, with requests and responses as of the latter */
function createTlsListener(tls, listener) {
  const sockets = /** @type {Set<Socket>} */ (new Set());
  const server = /** @type {any} */ (createSecureServer({ ...LIMITS, ...tls, allowHTTP1: true }));
  server.on('request', listener).on('secureConnection', (/** @type {Socket} */ socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.closeAllConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
  return server;
}

/** @param {IncomingMessage} request @param {ServerResponse} response @param {Handler} handler */
async function respond(request, response, handler) {
  try {
    let [body, size] = [Buffer.alloc(0), 0];
    for await (const chunk of request) {
      const end = size + chunk.length;
      if (end > MAX_BODY)
        return write(response, json(413, { errors: ['http: request body too large'] }), true);
      // Not a list of chunks: each may be a single byte.
      if (end > body.length) body = Buffer.concat([body], Math.max(end, 2 * body.length));
      body.set(chunk, size);
      size = end;
    }
    const { method = '', url = '', headers } = request;
    write(response, await handler({ method, url, headers, body: body.subarray(0, size) }), false);
  } catch {
    response.destroy();
  }
}

/** @param {ServerResponse} response @param {Reply} reply @param {boolean} isLast of its connection */
function write(response, reply, isLast) {
  response.writeHead(reply.status, headersOf(reply, isLast));
  response.end(reply.body);
}

/** @param {Reply} reply @param {boolean} isLast @returns {Record<string, string | number>} */
const headersOf = ({ type, body, headers }, isLast) => ({
  ...{ 'Cache-Control': 'no-store', 'Content-Length': Buffer.byteLength(body) },
  ...(type === '' ? {} : { 'Content-Type': type }),
  ...headers,
  ...(isLast ? { Connection: 'close' } : {}),
});

/**
 * Node.js cannot parse the method `LIST`. This parses such a request, which has no body and fits in one packet, and
 * closes the connection after the response.
 * @param {Error & {code?: string, rawPacket?: Buffer}} error @param {Duplex} socket @param {Handler} handler
 */
async function respondToList(error, socket, handler) {
  socket.on('error', () => socket.destroy());
  if (!error.code?.startsWith('HPE_') || !socket.writable) return void socket.destroy();
  const packet = error.rawPacket?.toString('latin1') ?? '';
  const [, url, lines = ''] = /^LIST (\S+) HTTP\/1\.1\r\n([\s\S]*?)\r\n\r\n/.exec(packet) ?? [];
  const fields = lines.matchAll(/^([^:\r\n]*):(.*)$/gm);
  const headers = Object.fromEntries(
    Array.from(fields, ([, name, value]) => [name.toLowerCase(), value.trim()]),
  );
  const reply =
    url === undefined
      ? json(400, { errors: ['400 Bad Request'] })
      : await handler({ method: 'LIST', url, headers, body: Buffer.alloc(0) });
  const head = Object.entries(headersOf(reply, true)).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${reply.status} ${reply.status < 300 ? 'OK' : 'Error'}\r\n${head.join('')}\r\n`);
  socket.end(reply.body);
}
