/** A small HTTP proxy with faults: every host name leads to this machine. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';

/** @import { AddressInfo, Socket } from 'node:net' */

/** @typedef {{fault: ((socket: Socket) => void) | null, log: string[], sockets: number, passwords: (string | undefined)[]}} ProxyState
 *   `fault`: replaces every response; `log`: CONNECT and its authority, or the method and absolute address */

/** @param {{user?: string}} [options] `user`: name and password it asks for */
export async function startProxy({ user } = {}) {
  /** @type {ProxyState} */
  const state = { fault: null, log: [], sockets: 0, passwords: [] };
  /** @type {Set<{destroy: () => void}>} */
  const sockets = new Set();
  const expected = user === undefined ? undefined : `Basic ${Buffer.from(user).toString('base64')}`;
  /** @param {string} line @param {string | undefined} password @param {Socket} socket */
  const refuses = (line, password, socket) => {
    state.log.push(line);
    state.passwords.push(password);
    if (state.fault !== null) state.fault(socket);
    else if (password !== expected) answer(407, 'Proxy-Authenticate: Basic realm="test"\r\n')(socket);
    else return false;
    return true;
  };
  const server = createServer((incoming, response) => {
    const { method, url = '', headers, socket } = incoming;
    const { 'proxy-authorization': password, ...kept } = headers;
    if (refuses(`${method} ${url}`, password, socket)) return;
    const { port, pathname, search } = new URL(url);
    const onward = request({ host: '127.0.0.1', port, method, path: `${pathname}${search}`, headers: kept });
    onward.on('response', (answered) => {
      response.writeHead(Number(answered.statusCode), answered.headers);
      answered.pipe(response);
    });
    onward.on('error', () => socket.destroy());
    incoming.pipe(onward);
  });
  server.on('connect', (incoming, near, head) => {
    const socket = /** @type {Socket} */ (near);
    const { url = '', headers } = incoming;
    if (refuses(`CONNECT ${url}`, headers['proxy-authorization'], socket)) return;
    const far = connect(Number(url.slice(url.lastIndexOf(':') + 1)), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\nVia: 1.1 test\r\n\r\n');
      far.write(head);
      socket.pipe(far).pipe(socket);
    });
    sockets.add(far);
    far.on('error', () => answer(502)(socket));
    far.on('close', () => socket.destroy());
    socket.on('close', () => far.destroy());
    socket.on('error', () => {});
  });
  server.on('connection', (socket) => {
    state.sockets++;
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {AddressInfo} */ (server.address());
  return {
    state,
    port,
    url: `http://${user === undefined ? '' : `${user}@`}127.0.0.1:${port}`,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** @param {number} status @param {string} [fields] */
export const answer =
  (status, fields = '') =>
  (/** @type {Socket} */ socket) => {
    const body = '<html><body>the proxy says no</body></html>';
    const head = `HTTP/1.1 ${status} No\r\nContent-Type: text/html\r\nContent-Length: ${body.length}\r\n`;
    socket.end(`${head}${fields}\r\n${body}`);
  };
