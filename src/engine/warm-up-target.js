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
/** RFC 7541, appendix B. */
const DIGITS = '00000 00001 00010 011001 011010 011011 011100 011101 011110 011111'.split(' ');

/** @param {number} number in Huffman code (RFC 7541, 5.2) @returns {number[]} with its length */
function huffmanOf(number) {
  const bits = Array.from(`${number}`, (digit) => DIGITS[Number(digit)]).join('');
  const bytes = (bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '1'), 2));
  return [0x80 | bytes.length, ...bytes];
}

/** @param {string} text @returns {number[]} with its length */
const textOf = (text) => [text.length, ...Buffer.from(text)];

/** HPACK, as servers use it; `content-length` in Huffman code and as text. */
const [STATUS_200, CONTENT_TYPE, NEW_NAME, CONTENT_LENGTH, TABLE_SIZE_0] = [0x88, 0x5f, 0x40, 0x5c, 0x20];
const CONTENT_LENGTH_NOT_INDEXED = [0x0f, 0x0d];
const FIELDS = [
  [
    ...[STATUS_200, CONTENT_TYPE, ...textOf('application/json'), NEW_NAME, ...textOf('x-name')],
    ...[...textOf('value'), CONTENT_LENGTH, ...huffmanOf(BODY.length)],
  ],
  [TABLE_SIZE_0, STATUS_200, ...CONTENT_LENGTH_NOT_INDEXED, ...textOf(`${BODY.length}`)],
].map((bytes) => Buffer.from(bytes));
/** Responses come in one part, or in two: these bytes later, from the end of the head, or within the body. */
const BODY_BYTES = BODY.length + (isHttp2 ? wire.HEAD_BYTES : 0);
const LATER_BYTES = [0, BODY_BYTES, 0, Math.ceil(BODY.length / 2)];
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
  const frames = [wire.frame(TYPE.HEADERS, FLAG.END_HEADERS, id, FIELDS[(id >> 1) % FIELDS.length])];
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
  let responses = 0;
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
    if (response === null) return;
    const first = response.length - LATER_BYTES[responses++ % LATER_BYTES.length];
    socket.write(response.subarray(0, first));
    const second = response.subarray(first);
    if (second.length === 0) return;
    // At once, the client might read both together; over HTTP/2, other responses may follow.
    if (isHttp2) socket.write(second);
    else setImmediate(() => socket.write(second));
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
