/** The handler on a socket: bounded bodies, and Vault's `LIST`, which Node's HTTP parser does not know. */
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { json } from './replies.js';

/** Largest request body. Vault takes 32 MiB; nothing here needs a hundredth of that. */
export const MAX_BODY = 1024 * 1024;

/** Idle connections are kept longer than any client keeps them, so that the client is the one to close. */
const KEEP_ALIVE_MS = 300_000;

/**
 * @typedef {import('./routes.js').Request} Request
 * @typedef {import('./replies.js').Reply} Reply
 * @typedef {(request: Request) => Promise<Reply>} Handler never rejects
 */

/**
 * @param {Handler} handler
 * @param {import('node:https').ServerOptions | null} tls null for plain HTTP
 * @returns {import('node:http').Server}
 */
export function createListener(handler, tls) {
  const options = { keepAliveTimeout: KEEP_ALIVE_MS };
  /** @type {import('node:http').RequestListener} */
  const listener = (request, response) => collect(request, response, handler);
  const server = tls === null ? createHttp(options, listener) : createHttps({ ...options, ...tls }, listener);
  server.on('clientError', (error, socket) => onClientError(error, socket, handler));
  return server;
}

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 * @param {Handler} handler
 */
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

/**
 * @param {import('node:http').ServerResponse} response
 * @param {Reply} reply
 * @param {boolean} close
 */
function write(response, reply, close) {
  response.writeHead(reply.status, headersOf(reply, close));
  response.end(reply.body);
}

/**
 * @param {Reply} reply
 * @param {boolean} close
 * @returns {Record<string, string | number>}
 */
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
 * @param {import('node:stream').Duplex} socket
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
