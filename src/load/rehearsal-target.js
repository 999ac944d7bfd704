/** Thread entry: answers every HTTP request on a free loopback port with the same short answer. */
import { createServer } from 'node:http';
import { parentPort } from 'node:worker_threads';

const ANSWER = Buffer.alloc(1024, 'x');

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'Content-Length': ANSWER.length }).end(ANSWER);
});
server.listen(0, '127.0.0.1', () => {
  parentPort?.postMessage(/** @type {import('node:net').AddressInfo} */ (server.address()).port);
});
