/** Thread entry: sends the same short response to every HTTP request on a free loopback port. */
import { createServer as createHttp2, createSecureServer as createHttp2OverTls } from 'node:http2';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';

/** @import { Http2ServerResponse } from 'node:http2' */
/** @import { AddressInfo, Server, Socket } from 'node:net' */

const BODY = Buffer.from(workerData.body ?? 'x'.repeat(1024));
const RESPONSE = Buffer.concat([
  Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\n\r\n`),
  BODY,
]);

/** @param {Buffer} bytes of a request so far */
function isComplete(bytes) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(bytes.toString('latin1', 0, end));
  return bytes.length >= end + 4 + Number(length?.[1] ?? 0);
}

/** HTTP/1.1 */
const listen = (/** @type {Socket} */ socket) => {
  let pending = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    if (!isComplete(pending)) return;
    pending = Buffer.alloc(0);
    socket.write(RESPONSE);
  });
};
const { isHttp2, tls } = workerData;
/** With fields that servers send. */
const FIELDS = { 'content-type': 'application/octet-stream', 'content-length': BODY.length };
const respond = (/** @type {unknown} */ _, /** @type {Http2ServerResponse} */ response) =>
  void response.writeHead(200, FIELDS).end(BODY);
/** @type {Server} */
const server = isHttp2
  ? tls === null
    ? createHttp2(respond)
    : createHttp2OverTls(tls, respond)
  : tls === null
    ? createServer({ noDelay: true }, listen)
    : createTlsServer({ ...tls, noDelay: true }, listen);
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {AddressInfo} */ (server.address());
  parentPort?.postMessage({ type: 'listening', value: port });
});
