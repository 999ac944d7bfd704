/**
 * Carries samples from the sender thread to the recorder thread in a shared-memory ring. A sample costs the
 * sender a few stores and a copy of the response, but no allocation. One writer, one reader.
 */
import { TRANSPORT_CODES } from '../../http/failures.js';

/** @typedef {ReturnType<typeof readSample>} Sample */
/** @typedef {ReturnType<typeof createRingMemory>} RingMemory plain data; shared by all threads that have it */
/**
 * @typedef {object} Tail the sender's last message
 * @property {number} endedMs
 * @property {number} next first index neither sent nor dropped
 * @property {number} waiting number of due indexes from `next` on
 * @property {number} carriedMs upper bound, in ms, of the wait that the tool's lateness added to each
 * @property {number[]} dropped in the measured phase, by cell of the tally
 * @property {number[]} rested by cell: estimate of the requests that resting connections would have sent
 */

const FIELDS = 17;
/** Powers of two. */
const SIZE = Object.freeze({ samples: 1 << 15, bytes: 1 << 23 });
/** Enough for a warm-up. */
export const SMALL_RING = Object.freeze({ samples: 1 << 11, bytes: 1 << 18 });
/** Positions in `control`, as Int32; byte counts are unsigned and wrap, as the sample counts do. */
const [WRITTEN, TAKEN, BYTES_RELEASED, WATERMARK, ENDED, SLEEP, SKIP_BODIES] = [0, 1, 2, 3, 4, 5, 6];
const TAIL_OFFSET = 64;
/** Numbers in the Tail before those of each cell. */
const TAIL_HEAD = 4;
/** The watermark is stored in units of 10 ms, so that an Int32 can hold 248 days. */
const WATERMARK_UNIT_MS = 10;
/** In place of a body length. */
const NO_BODY = -1;
const SAME_BODY = -2;
/** Of a request that kept its connection, and whose response is missing. */
export const NO_PHASES = Object.freeze({ connect: 0, tls: 0, firstByte: 0, transfer: 0 });
/** Values of `failure`: the engine's own and those of a connection. */
export const FAILURES = Object.freeze(['timeout', 'tool_late', 'cut_off', 'never_sent', ...TRANSPORT_CODES]);
const FAILURE_INDEX = new Map(FAILURES.map((name, i) => [name, i]));

/** @param {{samples: number, bytes: number}} [size] powers of two @param {number} [cells] of the tally */
export function createRingMemory({ samples, bytes } = SIZE, cells = 1) {
  return {
    /** Counters (see the constants above), then the Tail. */
    control: new SharedArrayBuffer(TAIL_OFFSET + (TAIL_HEAD + 2 * cells) * 8),
    /** FIELDS doubles per sample. */
    numbers: new SharedArrayBuffer(samples * FIELDS * 8),
    /** Bodies, each in one piece. */
    bytes: new SharedArrayBuffer(bytes),
  };
}

/** @param {RingMemory} memory */
function openMemory(memory) {
  const numbers = new Float64Array(memory.numbers);
  return {
    control: new Int32Array(memory.control, 0, TAIL_OFFSET / 4),
    tail: new Float64Array(memory.control, TAIL_OFFSET),
    numbers,
    samples: numbers.length / FIELDS,
    bytes: Buffer.from(memory.bytes),
  };
}

/** @param {RingMemory} memory */
export function openWriter(memory) {
  const { control, tail, numbers, samples, bytes } = openMemory(memory);
  /** Samples that did not fit into the ring, without bodies. @type {Sample[]} */
  let spilled = [];
  /** Index of the first spilled sample not yet in the ring. */
  let spilledFrom = 0;
  let written = 0;
  let bytesWritten = 0;
  /** The last stored body, not yet overwritten. */
  const last = { at: 0, length: 0 };

  const unread = () => (written - Atomics.load(control, TAKEN)) | 0;

  /** At `last.at`. @param {Uint8Array} body @returns {number} length, SAME_BODY, or NO_BODY: no room */
  function store(body) {
    const { length } = body;
    if (length === last.length && bytes.compare(body, 0, length, last.at, last.at + length) === 0) {
      return SAME_BODY;
    }
    const at = bytesWritten % bytes.length;
    const skipped = at + length > bytes.length ? bytes.length - at : 0;
    const used = (bytesWritten - Atomics.load(control, BYTES_RELEASED)) >>> 0;
    if (used + skipped + length > bytes.length) return NO_BODY;
    last.at = skipped > 0 ? 0 : at;
    last.length = length;
    bytes.set(body, last.at);
    bytesWritten = (bytesWritten + skipped + length) >>> 0;
    return length;
  }

  /** @param {Sample} sample */
  function write(sample) {
    const to = (written & (samples - 1)) * FIELDS;
    numbers[to] = sample.operation;
    numbers[to + 1] = sample.index;
    numbers[to + 2] = sample.intended;
    numbers[to + 3] = sample.sent;
    numbers[to + 4] = sample.done;
    numbers[to + 5] = sample.sendLateMs;
    numbers[to + 6] = sample.failure === null ? -1 : indexOfFailure(sample.failure);
    numbers[to + 7] = sample.status;
    numbers[to + 8] = sample.body === null ? NO_BODY : store(sample.body);
    numbers[to + 9] = last.at;
    numbers[to + 10] = sample.carriedMs;
    numbers[to + 11] = sample.readLateMs;
    numbers[to + 12] = sample.connect;
    numbers[to + 13] = sample.tls;
    numbers[to + 14] = sample.firstByte;
    numbers[to + 15] = sample.transfer;
    numbers[to + 16] = sample.receivedAt;
    written = (written + 1) | 0;
    Atomics.store(control, WRITTEN, written);
  }

  /** @returns {boolean} whether all samples so far are in the ring */
  function unspill() {
    if (spilled.length === 0) return true;
    while (spilledFrom < spilled.length && unread() < samples) write(spilled[spilledFrom++]);
    if (spilledFrom < spilled.length) return false;
    spilled = [];
    spilledFrom = 0;
    return true;
  }

  return {
    /** @param {Sample} sample */
    add(sample) {
      if (unspill() && unread() < samples) write(sample);
      else spilled.push({ ...sample, body: null });
    },
    /** @param {number} ms all samples done before it have been added */
    advanceWatermark(ms) {
      if (unspill()) Atomics.store(control, WATERMARK, Math.floor(ms / WATERMARK_UNIT_MS));
    },
    /** From now on, the reader leaves out the bodies, so that they are not checked. */
    skipBodies: () => void Atomics.store(control, SKIP_BODIES, 1),
    /** @returns {number} samples not yet taken by the reader */
    behind: () => unread() + spilled.length - spilledFrom,
    /** Call it last. @param {Tail} tail @returns {boolean} false: try again, the ring is full */
    end({ endedMs, next, waiting, carriedMs, dropped, rested }) {
      if (!unspill()) return false;
      tail.set([endedMs, next, waiting, carriedMs, ...dropped, ...rested]);
      Atomics.store(control, ENDED, 1);
      return true;
    },
  };
}

/**
 * Times in ms from time zero.
 * @param {Float64Array} numbers @param {number} from
 * @param {Uint8Array | null} body null: not kept (no response, or the recorder could not keep up)
 */
function readSample(numbers, from, body) {
  const failure = numbers[from + 6];
  return {
    /** Position in the plan's list of operations. */
    operation: numbers[from],
    index: numbers[from + 1],
    /** Due time; in a closed loop, when its connection became free. */
    intended: numbers[from + 2],
    /** When it was on the wire; if never, or if it had to open its connection, when a connection took it. */
    sent: numbers[from + 3],
    /** Last byte of the response, or when the tool gave up. */
    done: numbers[from + 4],
    /** How late the tool itself sent it, excluding the wait for a free connection. */
    sendLateMs: numbers[from + 5],
    /** Part of its wait for a connection caused by late sends or reads of earlier requests. */
    carriedMs: numbers[from + 10],
    /** Upper bound of the time until the tool read the response. */
    readLateMs: numbers[from + 11],
    /** Of a complete response, ms, 0: none: TCP handshake, TLS handshake, from the request on the wire to the first byte, rest. */
    connect: numbers[from + 12],
    tls: numbers[from + 13],
    firstByte: numbers[from + 14],
    transfer: numbers[from + 15],
    /** `done` by the wall clock, epoch ms: responses are checked later. */
    receivedAt: numbers[from + 16],
    /** Outcome if the response is missing or incomplete; null: complete. */
    failure: failure < 0 ? null : FAILURES[failure],
    /** HTTP status; 0 without a response. */
    status: numbers[from + 7],
    body,
  };
}

/** @param {RingMemory} memory */
export function openReader(memory) {
  const { control, tail, numbers, samples, bytes } = openMemory(memory);
  let taken = 0;
  /** The last body, in place: its space is freed when the reader takes the next one. */
  let last = bytes.subarray(0, 0);
  /** Byte count up to its end. */
  let bytesTaken = 0;

  /** @param {number} from @returns {Uint8Array | null} */
  function bodyAt(from) {
    const length = numbers[from + 8];
    if (length === NO_BODY) return null;
    if (length === SAME_BODY) return last;
    const at = numbers[from + 9];
    const place = bytesTaken % bytes.length;
    const start = bytesTaken + (place === at ? 0 : bytes.length - place);
    Atomics.store(control, BYTES_RELEASED, start);
    bytesTaken = (start + length) >>> 0;
    last = bytes.subarray(at, at + length);
    return last;
  }

  return {
    /** @param {(sample: Sample) => void} visit `body` is valid only until the next call @returns samples taken */
    take(visit) {
      const count = (Atomics.load(control, WRITTEN) - taken) | 0;
      for (let i = 0; i < count; i++) {
        const from = (taken & (samples - 1)) * FIELDS;
        const body = bodyAt(from);
        const sample = readSample(numbers, from, Atomics.load(control, SKIP_BODIES) === 0 ? body : null);
        taken = (taken + 1) | 0;
        Atomics.store(control, TAKEN, taken);
        visit(sample);
      }
      return count;
    },
    /** Read before `take`. @returns {number} ms: all samples done before it are in the ring */
    watermarkMs: () => Atomics.load(control, WATERMARK) * WATERMARK_UNIT_MS,
    /** Read before `take`. @returns {Tail | null} null: the sender has not ended */
    tail() {
      if (Atomics.load(control, ENDED) === 0) return null;
      const [endedMs, next, waiting, carriedMs, ...counts] = tail;
      const cells = counts.length / 2;
      return {
        endedMs,
        next,
        waiting,
        carriedMs,
        dropped: counts.slice(0, cells),
        rested: counts.slice(cells),
      };
    },
    /** Blocks this thread. @param {number} ms */
    sleep: (ms) => Atomics.wait(control, SLEEP, 0, ms),
  };
}

/** @param {string} name */
function indexOfFailure(name) {
  const index = FAILURE_INDEX.get(name);
  if (index === undefined) throw new RangeError(`the failure "${name}" is not in FAILURES`);
  return index;
}
