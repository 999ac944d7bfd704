/**
 * Calibration server: responds to OCSP requests after a known delay, and records arrival and response times,
 * so that its own late responses do not count against the load generator. It never spins, to leave the cores
 * to the generator. Its wake-up (tens of microseconds or more) thus counts in the generator's times but not
 * in this recording. It supports only sequential HTTP/1.1 POSTs on each connection.
 */
import { createServer } from 'node:net';
import { startThread } from '../../engine/thread.js';

/** @import { Clock } from '../../engine/clock.js' */
/** @import { Socket } from 'node:net' */

/** ms by arrival; `respondedMs` NaN: never. @returns {{arrivedMs: number[], respondedMs: number[]}} */
const emptyRecording = () => ({ arrivedMs: [], respondedMs: [] });

/** A longer request is not OCSP. */
const MAX_REQUEST_BYTES = 16_384;

/**
 * @param {{clock: Clock, alarm: Pick<AlarmThread, 'set'>,
 *   fetchResponse: (request: Buffer) => Promise<Uint8Array>}} context called for each new request
 */
export function createKnownDelayServer({ clock, alarm, fetchResponse }) {
  /** Whole HTTP responses by OCSP request. @type {Map<string, Buffer>} */
  const responses = new Map();
  /** Most requests are identical, so they need no parsing. @type {{request: Buffer, response: Buffer}} */
  let last = { request: Buffer.alloc(0), response: Buffer.alloc(0) };
  /** By due time, as all requests have the same delay. @type {{dueMs: number, write: () => void}[]} */
  const waiting = [];
  let [delayMs, isAlarmSet] = [0, false];
  let recording = emptyRecording();

  function setAlarm() {
    if (isAlarmSet || waiting.length === 0) return;
    isAlarmSet = true;
    alarm.set(waiting[0].dueMs, () => {
      isAlarmSet = false;
      writeDueBy(clock);
      setAlarm();
    });
  }

  /** @param {() => number} until */
  function writeDueBy(until) {
    while (waiting.length > 0 && waiting[0].dueMs <= until()) waiting.shift()?.write();
  }

  /** @param {Socket} socket @param {Buffer} request @param {number} nowMs */
  function onRequest(socket, request, nowMs) {
    const current = recording;
    const index = current.arrivedMs.push(nowMs) - 1;
    current.respondedMs.push(Number.NaN);
    const respond = (/** @type {Buffer} */ response, /** @type {number} */ fromMs) => {
      const write = () => {
        current.respondedMs[index] = clock();
        socket.write(response);
      };
      if (delayMs === 0) return write();
      waiting.push({ dueMs: fromMs + delayMs, write });
      setAlarm();
    };
    if (request.equals(last.request)) return respond(last.response, nowMs);
    const { body } = /** @type {Post} */ (readPost(request));
    const key = body.toString('latin1');
    const response = responses.get(key);
    if (response !== undefined) {
      last = { request: Buffer.from(request), response };
      return respond(response, nowMs);
    }
    const onBuilt = (/** @type {Buffer} */ built) => {
      responses.set(key, built);
      respond(built, clock());
    };
    fetchResponse(Buffer.from(body))
      .then(httpResponse)
      .then(onBuilt, () => socket.destroy());
  }

  const server = createServer({ noDelay: true }, (socket) => {
    /** @type {Buffer} */
    let rest = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('data', (/** @type {Buffer} */ chunk) => {
      const nowMs = clock();
      if (rest.length === 0 && chunk.equals(last.request)) return onRequest(socket, chunk, nowMs);
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const post = readPost(rest);
      if (post === 'not a request') return void socket.destroy();
      if (post === 'incomplete') return;
      const request = rest.subarray(0, post.length);
      rest = rest.subarray(post.length);
      onRequest(socket, request, nowMs);
    });
  });
  return {
    server,
    /** Responds to waiting requests at once; their alarm stays set. @param {number} nextDelayMs */
    begin(nextDelayMs) {
      writeDueBy(() => Number.POSITIVE_INFINITY);
      responses.clear();
      delayMs = nextDelayMs;
      recording = emptyRecording();
    },
    /** The recording since `begin`. */
    end: () => ({
      arrivedMs: Float64Array.from(recording.arrivedMs),
      respondedMs: Float64Array.from(recording.respondedMs),
    }),
  };
}

/** @typedef {{body: Buffer, length: number}} Post `length`: of the whole request */

/** @param {Buffer} bytes from the start of a request @returns {Post | 'incomplete' | 'not a request'} */
export function readPost(bytes) {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return bytes.length > MAX_REQUEST_BYTES ? 'not a request' : 'incomplete';
  const head = bytes.toString('latin1', 0, headEnd);
  const [, digits] = /\r\ncontent-length: *(\d{1,5})\s*(?:\r\n|$)/i.exec(head) ?? [];
  if (!head.startsWith('POST ') || digits === undefined || Number(digits) > MAX_REQUEST_BYTES)
    return 'not a request';
  const length = headEnd + 4 + Number(digits);
  return bytes.length < length ? 'incomplete' : { body: bytes.subarray(headEnd + 4, length), length };
}

/** @param {Uint8Array} der */
function httpResponse(der) {
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/ocsp-response\r\nContent-Length: ${der.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), der]);
}

/**
 * `isSet`: 1 from the moment a time is set until it is due; `dueMs` is written only while `isSet` is 0
 * @typedef {{isSet: Int32Array, dueMs: Float64Array}} Shared by both threads, one element each
 */
/** @typedef {Awaited<ReturnType<typeof startAlarmThread>>} AlarmThread */

/**
 * Event-loop timers have a resolution of 1 ms; `Atomics.wait` on a separate thread, tens of microseconds.
 * @param {bigint} originNs time zero, by `process.hrtime` @param {() => void} onFailure called if the thread fails
 */
export async function startAlarmThread(originNs, onFailure) {
  const memory = new SharedArrayBuffer(16);
  /** @type {Shared} */
  const shared = { isSet: new Int32Array(memory, 0, 1), dueMs: new Float64Array(memory, 8, 1) };
  /** @type {(() => void) | null} */
  let whenDue = null;
  const onSignal = () => {
    const fire = whenDue;
    whenDue = null;
    fire?.();
  };
  const file = new URL('./alarm-thread-worker.js', import.meta.url);
  const thread = startThread('alarm', file, { data: { originNs, ...shared }, onSignal });
  let isStopped = false;
  thread.failed.catch(() => isStopped || onFailure());
  await thread.first('ready');
  return {
    /** One alarm at a time; it never fires early. @param {number} atMs @param {() => void} onTime */
    set(atMs, onTime) {
      if (whenDue !== null) throw new Error('The alarm is already set.');
      whenDue = onTime;
      shared.dueMs[0] = atMs;
      Atomics.store(shared.isSet, 0, 1);
      Atomics.notify(shared.isSet, 0);
    },
    stop() {
      isStopped = true;
      return thread.stop();
    },
  };
}
