/** Thread entry: answers every HTTP request on a free loopback port with the same short response. */
import { createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/** @import { AddressInfo } from 'node:net' */

const BODY = Buffer.from(workerData ?? 'x'.repeat(1024));
const HEAD = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\n\r\n`);
const ANSWER = Buffer.concat([HEAD, BODY]);

/** @param {Buffer} bytes of a request so far @returns {boolean} it is whole */
function isWhole(bytes) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(bytes.toString('latin1', 0, end));
  return bytes.length >= end + 4 + Number(length?.[1] ?? 0);
}

const server = createServer({ noDelay: true }, (socket) => {
  let pending = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    const bytes = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    const isComplete = isWhole(bytes);
    pending = isComplete ? Buffer.alloc(0) : Buffer.from(bytes);
    if (isComplete) socket.write(ANSWER);
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {AddressInfo} */ (server.address());
  parentPort?.postMessage({ type: 'listening', value: port });
});
