/**
 * The server of a calibration: answers OCSP requests after a known delay, and records when each came and when it was
 * answered, so that answers that are late are not laid at the generator. It never spins: the cores are for the generator. So
 * it notices a request only when it has woken, some tens of microseconds after it came or more, and that time is in what
 * the generator reports, but not in this record. It speaks just enough HTTP/1.1 on plain sockets: one POST after the other
 * on each connection.
 */
import { createServer } from 'node:net';
import { createRecording } from './recording.js';

/** @typedef {{socket: import('node:net').Socket, answer: Buffer, index: number, dueMs: number}} Waiting */

/** A longer request is no OCSP request. */
const MAX_REQUEST_BYTES = 16_384;

/**
 * @param {object} context
 * @param {import('../../engine/clock.js').Clock} context.clock
 * @param {Pick<import('./alarm-thread.js').AlarmThread, 'set'>} context.alarm by the same clock
 * @param {(request: Buffer) => Promise<Uint8Array>} context.ask where the answer to a new request comes from; it is
 *   asked once for each
 */
export function createKnownDelayServer({ clock, alarm, ask }) {
  /** Whole HTTP answers by OCSP request. @type {Map<string, Buffer>} */
  const known = new Map();
  /** A load test repeats itself byte for byte, so most requests need no reading. @type {{request: Buffer, answer: Buffer}} */
  let last = { request: Buffer.alloc(0), answer: Buffer.alloc(0) };
  /** In the order of their due times, as the delay is the same for all. @type {Waiting[]} */
  const waiting = [];
  let delayMs = 0;
  let recording = createRecording();
  let alarmIsSet = false;

  function setAlarm() {
    if (alarmIsSet || waiting.length === 0) return;
    alarmIsSet = true;
    alarm.set(waiting[0].dueMs, onTime);
  }
  function onTime() {
    alarmIsSet = false;
    writeDueBy(clock);
    setAlarm();
  }

  /** @param {() => number} until */
  function writeDueBy(until) {
    while (waiting.length > 0 && waiting[0].dueMs <= until()) {
      write(/** @type {Waiting} */ (waiting.shift()));
    }
  }

  /** @param {Waiting} waiting */
  function write({ socket, answer, index }) {
    recording.answered(index, clock());
    socket.write(answer);
  }
  /** @param {import('node:net').Socket} socket @param {Buffer} answer @param {number} index @param {number} now */
  function reply(socket, answer, index, now) {
    const one = { socket, answer, index, dueMs: now + delayMs };
    if (delayMs === 0) return write(one);
    waiting.push(one);
    setAlarm();
  }

  /** @param {import('node:net').Socket} socket @param {Buffer} request @param {number} now */
  function onRequest(socket, request, now) {
    const index = recording.arrived(now);
    if (request.equals(last.request)) return reply(socket, last.answer, index, now);
    const body = /** @type {Post} */ (readPost(request)).body;
    const key = body.toString('latin1');
    const answer = known.get(key);
    if (answer !== undefined) {
      last = { request: Buffer.from(request), answer };
      return reply(socket, answer, index, now);
    }
    ask(Buffer.from(body)).then(
      (der) => {
        known.set(key, httpAnswer(der));
        reply(socket, httpAnswer(der), index, clock());
      },
      () => socket.destroy(),
    );
  }

  const server = createServer({ noDelay: true }, (socket) => {
    /** @type {Buffer} */
    let rest = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('data', (/** @type {Buffer} */ chunk) => {
      const now = clock();
      if (rest.length === 0 && chunk.equals(last.request)) return onRequest(socket, chunk, now);
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const post = readPost(rest);
      if (post === 'no request') return void socket.destroy();
      if (post === 'incomplete') return;
      const request = rest.subarray(0, post.length);
      rest = rest.subarray(post.length);
      onRequest(socket, request, now);
    });
  });
  return {
    server,
    /**
     * Forgets what was recorded; what still waits is answered at once, but for as long as it would have waited the alarm
     * stays set.
     *
     * @param {number} nextDelayMs from the moment a request is noticed to its answer, of all requests from now on
     */
    begin(nextDelayMs) {
      writeDueBy(() => Number.POSITIVE_INFINITY);
      known.clear();
      delayMs = nextDelayMs;
      recording = createRecording();
    },
    /** @returns what was recorded since `begin` */
    end: () => recording.taken(),
  };
}

/** @typedef {{body: Buffer, length: number}} Post `length`: of the whole request */

/**
 * @param {Buffer} bytes from the start of a request
 * @returns {Post | 'incomplete' | 'no request'}
 */
export function readPost(bytes) {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return bytes.length > MAX_REQUEST_BYTES ? 'no request' : 'incomplete';
  const head = bytes.toString('latin1', 0, headEnd);
  const [, digits] = /\r\ncontent-length: *(\d{1,5})\s*(?:\r\n|$)/i.exec(head) ?? [];
  if (!head.startsWith('POST ') || digits === undefined || Number(digits) > MAX_REQUEST_BYTES)
    return 'no request';
  const length = headEnd + 4 + Number(digits);
  return bytes.length < length ? 'incomplete' : { body: bytes.subarray(headEnd + 4, length), length };
}

/** @param {Uint8Array} der */
function httpAnswer(der) {
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/ocsp-response\r\nContent-Length: ${der.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), der]);
}
