/**
 * Has V8 compile the sender code before time zero, as cold code is tens of milliseconds late: a short run that
 * is paced, sent and watched like the real one but not recorded. It sends the plan's requests, secrets
 * redacted, to a throwaway server on a thread of this process: the target sees no more load than planned. Over TLS if the
 * target is: code for plain sockets would be discarded at the first request.
 */
import { createConnection } from '../http/connection.js';
import { createStreams } from '../http/http2-connection.js';
import { hasFewRequests } from '../plan/due.js';
import { arrivalsOf } from './pacing/pacer.js';
import { startPacingThread } from './pacing/pacing-thread.js';
import { createRingMemory, openReader, openWriter, SMALL_RING } from './recording/ring.js';
import { startSending } from './sending.js';
import { startThread } from './thread.js';

/** @import { Request } from '../http/exchange.js' */
/** @import { Tls } from '../http/tls.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Pacing } from './pacing/alarm.js' */
/** @import { ShardInput } from './shard.js' */

/** Many, so that a sender and a server on one core need fewer context switches per request. */
const CONNECTIONS = 16;

/** TLS without certificates, between two ends in one process. */
const ANONYMOUS = Object.freeze({ ciphers: 'AECDH-AES128-SHA:@SECLEVEL=0', maxVersion: 'TLSv1.2' });

/** @typedef {{requests: number, perSecond: number, maxMs: number}} Round */
/** @typedef {{request: (index: number) => Request, memberOf: (index: number) => number}} Work of the plan, by index: see startSending */

/**
 * V8 optimises a function after a few thousand calls, for the closures and kinds of numbers it has seen, and
 * discards the code when others follow. `node --trace-deopt` shows it: at the start of a run, nothing of the sender
 * should be among it. Two short rounds show it several closures; then two rounds send fast, and one with gaps.
 * @type {readonly Round[]}
 */
const ROUNDS = [
  { requests: 200, perSecond: 1999, maxMs: 130 },
  { requests: 200, perSecond: 1999, maxMs: 130 },
  { requests: 4000, perSecond: 30_000, maxMs: 250 },
  { requests: 8000, perSecond: 30_000, maxMs: 450 },
  { requests: 2000, perSecond: 9999, maxMs: 220 },
];

/** For few requests: nothing is compiled for them, but caches are filled, and what happens only once has happened. */
const FOR_FEW = ROUNDS.slice(0, 2);

/**
 * For a pacing thread: two short rounds that show V8 several closures, and enough wake-ups for it to compile the code.
 * @type {readonly Round[]}
 */
const PACED = [100, 100, 5000].map((requests) => ({ requests, perSecond: 40_000, maxMs: 200 }));
/** For opening a connection, and for a response in a closed loop. */
const TIMEOUT_MS = 1000;
/** How often the warm-up empties the ring. */
const DISCARD_MS = 5;
/** Lead before the warm-up's time zero: the alarm sets a timer, as before a run. */
const LEAD_NS = 5_000_000n;

/** @param {LoadPlan} load @returns {LoadPlan[]} for the warm-up of a pacing thread */
export const pacingWarmUp = (load) => PACED.map((round) => loadOfRound(load, round));

/**
 * Keeps the kinds of the plan's numbers, and its nulls: V8 discards code when they change.
 * @param {LoadPlan} load @param {Round} round @returns {LoadPlan}
 */
function loadOfRound(load, { requests, perSecond, maxMs }) {
  const isOpen = load.model === 'open';
  const durationMs = isOpen ? (1000 * requests) / perSecond : maxMs;
  return {
    ...load,
    ratePerSecond: isOpen ? perSecond : null,
    durationMs,
    requests: isOpen && load.requests === null ? null : requests,
    rampUpMs: 0,
    warmupMs: 0,
    timeoutMs: isOpen ? maxMs - durationMs : TIMEOUT_MS,
    threads: 1,
    stages: null,
  };
}

/**
 * Headers contain tokens, and bodies may contain secrets: neither may go over a plain connection.
 * @param {(index: number) => Request} request
 * @returns {(index: number) => Request} of the same length; one object per original request
 */
export function redactRequests(request) {
  const redact = (/** @type {string} */ text) => 'x'.repeat(text.length);
  const headersOf = memoize((/** @type {Request['headers']} */ headers) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, redact(value)])),
  );
  const requestOf = memoize((/** @type {Request} */ { method, path, headers, body }) => ({
    method,
    path,
    headers: headersOf(headers),
    body: typeof body === 'string' ? redact(body) : body && emptied(body),
  }));
  return (index) => requestOf(request(index));
}

/** V8 discards code when another class of array follows. @param {Uint8Array} body */
const emptied = (body) => (body instanceof Buffer ? Buffer.alloc(body.length) : new Uint8Array(body.length));

/** @template {object} T, U @param {(original: T) => U} make @returns {(original: T) => U} */
function memoize(make) {
  /** @type {WeakMap<T, U>} */
  const copies = new WeakMap();
  return (original) => {
    const copy = copies.get(original) ?? make(original);
    copies.set(original, copy);
    return copy;
  };
}

/**
 * Ignores failures, e.g. too many open files: the verdict on the measurement covers the send lag that cold code causes.
 * @param {ShardInput} input @param {Work} work @param {Pacing} pacing
 */
export async function warmUp(input, { request, memberOf }, pacing) {
  const target = startThread('warm-up', new URL('./warm-up-target.js', import.meta.url), {
    data: {
      body: input.fixture.firstResponse?.body ?? null,
      isHttp2: isHttp2(input),
      tls: isTls(input) ? ANONYMOUS : null,
    },
  });
  try {
    const origin = `${isTls(input) ? 'https' : 'http'}://127.0.0.1:${await target.first('listening')}`;
    await sendAll(origin, input, { request: redactRequests(request), memberOf }, pacing);
  } catch {
    // A failed warm-up does not stop the run.
  } finally {
    await target.stop();
  }
}

/** @param {ShardInput} input */
const isTls = ({ fixture: { origin } }) => origin.startsWith('https:');

/** @param {ShardInput} input */
const isHttp2 = ({ plan }) => plan.load.streamsPerConnection !== null;

/**
 * @param {string} origin @param {ShardInput} input @param {Work} work @param {Pacing} pacing
 */
async function sendAll(origin, input, { request, memberOf }, pacing) {
  // Kept until the end: V8 forgets a collected closure and specialises on the next one again.
  const senders = [];
  const other = (/** @type {number} */ index) => request(index);
  for (const round of hasFewRequests(input.plan.load) ? FOR_FEW : ROUNDS) {
    const options = { origin, tls: /** @type {Tls} */ ({ rejectUnauthorized: false, ...ANONYMOUS }) };
    const connections = isHttp2(input)
      ? createStreams({ ...options, streams: CONNECTIONS })
      : Array.from({ length: CONNECTIONS }, () => createConnection(options));
    await Promise.all(connections.map((connection) => connection.open(TIMEOUT_MS)));
    const load = loadOfRound(input.plan.load, round);
    const whole = { plan: { ...input.plan, load }, shard: 0, shards: 1 };
    const thread = pacing.byThread ? await startPacingThread(whole, pacing.spins !== 'never', []) : null;
    const originNs = process.hrtime.bigint() + LEAD_NS;
    thread?.start(originNs);
    const ring = createRingMemory(SMALL_RING);
    const reader = openReader(ring);
    const discarding = setInterval(() => reader.take(() => {}), DISCARD_MS);
    const sender = startSending({
      load,
      arrivals: arrivalsOf(load, 0, 1),
      originNs,
      connections,
      request: senders.length % 2 === 0 ? request : other,
      memberOf,
      cells: { count: 1, of: () => 0 },
      recorder: { ...openWriter(ring), finish: async () => /** @type {any} */ ({}) },
      pacing,
      thread,
    });
    senders.push(sender);
    await sender.ended;
    clearInterval(discarding);
    await Promise.all([thread?.stop(), ...connections.map((connection) => connection.close())]);
  }
}
