/** A raw loopback server with any behaviour, and a record of the events of an exchange. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { createConnection } from '../../src/http/connection.js';

/** @import { Connection, Request } from '../../src/http/exchange.js' */
/** @import { AddressInfo, Server as NetServer, Socket } from 'node:net' */
/** @import { TlsOptions } from 'node:tls' */

/** First octet of a client that speaks TLS: an HTTP server has no use for it. */
const TLS_HANDSHAKE = 0x16;

/** @typedef {(socket: Socket, head: string) => void} Behaviour called for each request whose head has come */

/**
 * @param {Behaviour} behave
 * @param {number} [port]
 * @param {TlsOptions} [tls] certificate and key; none: plain TCP
 */
export async function startRaw(behave, port = 0, tls) {
  /** @type {Set<Socket>} */
  const sockets = new Set();
  const state = { behave, connections: 0, requests: 0 };
  const listen = (/** @type {Socket} */ socket) => {
    state.connections++;
    sockets.add(socket);
    let text = '';
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      if (chunk[0] === TLS_HANDSHAKE) return void socket.destroy();
      text += chunk.toString('latin1');
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        const head = text.slice(0, end);
        const bodyBytes = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
        if (text.length < end + 4 + bodyBytes) return;
        text = text.slice(end + 4 + bodyBytes);
        state.requests++;
        state.behave(socket, head);
      }
    });
  };
  /** @type {NetServer} */
  const server = tls === undefined ? createServer(listen) : createTlsServer(tls, listen);
  server.on('tlsClientError', () => {});
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = /** @type {AddressInfo} */ (server.address());
  return {
    state,
    sockets,
    port: address.port,
    origin: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${address.port}`,
    async stop() {
      if (!server.listening) return;
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** @param {string | Buffer} body @param {string} [head] more lines, each with its line break */
export function whole(body, head = '') {
  const bytes = Buffer.from(body);
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\n${head}Content-Length: ${bytes.length}\r\n\r\n`),
    bytes,
  ]);
}

/** @param {string} origin */
export function connectTo(origin) {
  return createConnection({ origin, tls: { rejectUnauthorized: true } });
}

/** @typedef {{sent: number, written: number, ends: number, answer: {status: number, body: Buffer} | null, failure: string | null, beforeSent: boolean | null, sentFirst: boolean}} Events */

/**
 * One exchange, until it ends or, where it never does, until `give up` says so.
 *
 * @param {Connection} connection
 * @param {Partial<Request>} [request]
 * @returns {{events: Events, ended: Promise<Events>}}
 */
export function exchange(connection, request = {}) {
  /** @type {Events} */
  const events = {
    sent: 0,
    written: 0,
    ends: 0,
    answer: null,
    failure: null,
    beforeSent: null,
    sentFirst: true,
  };
  const ended = new Promise((resolve) => {
    const end = () => {
      events.ends++;
      resolve(events);
    };
    connection.send(
      { method: 'GET', path: '/a', headers: {}, body: null, ...request },
      {
        onSent() {
          events.sent++;
          if (events.ends > 0) events.sentFirst = false;
        },
        onWritten() {
          events.written++;
        },
        onResponse(status, body) {
          events.answer = { status, body: Buffer.from(body) };
          end();
        },
        onFailure(failure, beforeSent) {
          Object.assign(events, { failure, beforeSent });
          end();
        },
      },
    );
  });
  return { events, ended };
}
