/**
 * The server of a calibration: answers OCSP requests after a known delay, and records when each came and when it was
 * answered, so that answers that are late are not laid at the generator. It never spins: the cores are for the generator. So
 * it notices a request only when it has woken, some tens of microseconds after it came or more, and that time is in what
 * the generator reports, but not in this record. It speaks just enough HTTP/1.1 on plain sockets: one POST after the other
 * on each connection.
 */

import { once } from 'node:events';
import { createServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import { HELPER_LIMITS } from '../../engine/thread.js';

/** @import { Clock } from '../../engine/clock.js' */
/** @import { Socket } from 'node:net' */

/** @typedef {{socket: Socket, answer: Buffer, index: number, dueMs: number}} Waiting */

/** A longer request is no OCSP request. */
const MAX_REQUEST_BYTES = 16_384;

/**
 * @param {object} context
 * @param {Clock} context.clock
 * @param {Pick<AlarmThread, 'set'>} context.alarm by the same clock
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
  /** @param {Socket} socket @param {Buffer} answer @param {number} index @param {number} now */
  function reply(socket, answer, index, now) {
    const one = { socket, answer, index, dueMs: now + delayMs };
    if (delayMs === 0) return write(one);
    waiting.push(one);
    setAlarm();
  }

  /** @param {Socket} socket @param {Buffer} request @param {number} now */
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
     * Forgets the recording; waiting requests are answered at once, but for as long as they would have waited the alarm
     * stays set.
     * @param {number} nextDelayMs from the moment a request is noticed to its answer, of all requests from now on
     */
    begin(nextDelayMs) {
      writeDueBy(() => Number.POSITIVE_INFINITY);
      known.clear();
      delayMs = nextDelayMs;
      recording = createRecording();
    },
    /** @returns the recording since `begin` */
    end: () => recording.taken(),
  };
}

/** @typedef {{body: Buffer, length: number}} Post `length`: of the whole request */

/** @param {Buffer} bytes from the start of a request @returns {Post | 'incomplete' | 'no request'} */
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

/**
 * @typedef {object} Recorded milliseconds on the server's clock, in order of arrival
 * @property {Float64Array} arrivedMs when the server noticed it
 * @property {Float64Array} answeredMs NaN: never
 */

const FIRST_CAPACITY = 4096;

export function createRecording() {
  let count = 0;
  let columns = [1, 2].map(() => new Float64Array(FIRST_CAPACITY));

  function grow() {
    columns = columns.map((column) => {
      const longer = new Float64Array(2 * column.length);
      longer.set(column);
      return longer;
    });
  }
  return {
    /** @param {number} nowMs @returns {number} the request's number */
    arrived(nowMs) {
      if (count === columns[0].length) grow();
      const [arrived, answered] = columns;
      arrived[count] = nowMs;
      answered[count] = Number.NaN;
      return count++;
    },
    /** @param {number} index @param {number} nowMs */
    answered(index, nowMs) {
      columns[1][index] = nowMs;
    },
    /** @returns {Recorded} */
    taken() {
      const [arrivedMs, answeredMs] = columns.map((column) => column.slice(0, count));
      return { arrivedMs, answeredMs };
    },
  };
}

/**
 * @typedef {object} Shared of both threads
 * @property {Int32Array} isSet one element; 1 from the moment a time is set until the thread has seen it pass
 * @property {Float64Array} dueMs one element, written only while `isSet` is 0
 */
/** @typedef {Awaited<ReturnType<typeof startAlarmThread>>} AlarmThread */

/**
 * @param {bigint} originNs zero of all its times, on the machine's monotonic clock (`process.hrtime`)
 * @param {() => void} onDeath is called if the thread ends and was not stopped: nothing will ring any more
 */
export async function startAlarmThread(originNs, onDeath) {
  const memory = new SharedArrayBuffer(16);
  /** @type {Shared} */
  const shared = { isSet: new Int32Array(memory, 0, 1), dueMs: new Float64Array(memory, 8, 1) };
  const { isSet, dueMs } = shared;
  const worker = new Worker(new URL('./alarm-thread-worker.js', import.meta.url), {
    workerData: { originNs, ...shared },
    resourceLimits: HELPER_LIMITS,
  });
  worker.on('error', () => {}).once('exit', onDeath);
  await once(worker, 'message');
  /** @type {(() => void) | null} */
  let whenDue = null;
  worker.on('message', () => {
    const ring = whenDue;
    whenDue = null;
    ring?.();
  });
  return {
    /**
     * @param {number} atMs
     * @param {() => void} onTime is called once, never before that time; until then nothing else can be set
     */
    set(atMs, onTime) {
      if (whenDue !== null) throw new Error('The alarm is set already.');
      whenDue = onTime;
      dueMs[0] = atMs;
      Atomics.store(isSet, 0, 1);
      Atomics.notify(isSet, 0);
    },
    async stop() {
      worker.off('exit', onDeath);
      await worker.terminate();
    },
  };
}
