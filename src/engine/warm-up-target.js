/**
 * Thread entry: sends the same short response to every HTTP request on a free loopback port. Not with node:http2, which aborts
 * the process if its thread is stopped while requests arrive.
 */
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';
import * as wire from '../http/http2-frames.js';

/** @import { AddressInfo, Socket } from 'node:net' */

const { TYPE, FLAG } = wire;
const { isHttp2, tls } = workerData;
const BODY = Buffer.from(workerData.body ?? 'x'.repeat(1024));
const RESPONSE = Buffer.concat([
  Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\n\r\n`),
  BODY,
]);
/** HPACK: `:status: 200`, and `content-length`, not indexed. */
const FIELDS = Buffer.from([0x88, 0x0f, 0x0d, `${BODY.length}`.length, ...Buffer.from(`${BODY.length}`)]);
/** Length of PRI * HTTP/2.0... */
const PREFACE_BYTES = 24;

/** @param {Buffer} bytes of a request so far */
function isComplete(bytes) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(bytes.toString('latin1', 0, end));
  return bytes.length >= end + 4 + Number(length?.[1] ?? 0);
}

/** @param {Buffer} bytes of requests so far @returns {[Buffer, Buffer | null]} the rest, and responses */
const answer = (bytes) => (isComplete(bytes) ? [Buffer.alloc(0), RESPONSE] : [bytes, null]);

/** @param {number} id of a stream @returns {Buffer[]} */
function responseFrames(id) {
  const frames = [wire.frame(TYPE.HEADERS, FLAG.END_HEADERS, id, FIELDS)];
  for (let at = 0; at === 0 || at < BODY.length; at += wire.MAX_FRAME_BYTES) {
    const flags = at + wire.MAX_FRAME_BYTES >= BODY.length ? FLAG.END_STREAM : 0;
    frames.push(wire.frame(TYPE.DATA, flags, id, BODY.subarray(at, at + wire.MAX_FRAME_BYTES)));
  }
  return frames;
}

/** As `answer`, after the preface. @param {Buffer} bytes @returns {[Buffer, Buffer | null]} */
function answerFrames(bytes) {
  const frames = /** @type {Buffer[]} */ ([]);
  let at = 0;
  while (bytes.length - at >= wire.HEAD_BYTES) {
    const length = bytes.readUIntBE(at, 3);
    const [type, flags, id] = [bytes[at + 3], bytes[at + 4], bytes.readUInt32BE(at + 5)];
    if (bytes.length - at < wire.HEAD_BYTES + length) break;
    at += wire.HEAD_BYTES + length;
    if (type === TYPE.SETTINGS && flags === 0) frames.push(wire.frame(TYPE.SETTINGS, FLAG.ACK, 0));
    if (type === TYPE.DATA && length > 0)
      for (const raised of [0, id]) frames.push(wire.numberFrame(TYPE.WINDOW_UPDATE, raised, length));
    const isLast = (flags & FLAG.END_STREAM) !== 0 && (type === TYPE.HEADERS || type === TYPE.DATA);
    if (isLast) frames.push(...responseFrames(id));
  }
  return [Buffer.from(bytes.subarray(at)), frames.length === 0 ? null : Buffer.concat(frames)];
}

/** @param {Socket} socket */
function listen(socket) {
  let pending = /** @type {Buffer} */ (Buffer.alloc(0));
  let isGreeted = !isHttp2;
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    if (!isGreeted && pending.length < PREFACE_BYTES) return;
    if (!isGreeted) {
      pending = pending.subarray(PREFACE_BYTES);
      socket.write(wire.frame(TYPE.SETTINGS, 0, 0));
    }
    isGreeted = true;
    const [rest, response] = isHttp2 ? answerFrames(pending) : answer(pending);
    pending = rest;
    if (response !== null) socket.write(response);
  });
}
const server =
  tls === null
    ? createServer({ noDelay: true }, listen)
    : createTlsServer({ ...tls, noDelay: true, ALPNProtocols: isHttp2 ? ['h2'] : ['http/1.1'] }, listen);
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {AddressInfo} */ (server.address());
  parentPort?.postMessage({ type: 'listening', value: port });
});
