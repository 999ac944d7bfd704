/**
 * Warms the sending code before time zero: a run of its own, paced, sent and watched as the real one will be, whose responses
 * nobody records. The requests are the plan's, with their secrets redacted, but they go to a throw-away server on a thread of
 * this process, never to the target: cold code is tens of milliseconds late, and the target must see no more load than the plan allows. What V8 compiles
 * now, it need not compile on the target's core, or on the sender's, while the run is measured.
 */
import { Worker } from 'node:worker_threads';
import { createConnection } from '../http/connection.js';
import { createClock } from './clock.js';
import { arrivalsOf } from './pacing/pacer.js';
import { startPacingThread } from './pacing/thread.js';
import { createRingMemory, openReader, SMALL_RING } from './recording/ring.js';
import { openRecording } from './recording/thread.js';
import { startSending } from './sending.js';
import { HELPER_LIMITS } from './thread-memory.js';
import { partOf } from './warm-up-load.js';

/** @import { Connection, Request } from '../http/exchange.js' */
/** @import { Pacing } from './pacing/choose.js' */
/** @import { ShardInput } from './shard.js' */

/** Many, so that a sender and a server on one core change places once for as many requests. */
const CONNECTIONS = 16;

/**
 * V8 compiles a function for good after some thousand calls, and for the closure that it has seen so far: its code would be
 * thrown away when the real run comes with its own. From the first parts, short ones, it learns that there are more; then
 * there is haste, then time again between the requests, for what happens then.
 */
const PARTS = Object.freeze([
  { requests: 200, perSecond: 1999, longestMs: 130 },
  { requests: 200, perSecond: 1999, longestMs: 130 },
  { requests: 4000, perSecond: 30_000, longestMs: 250 },
  { requests: 8000, perSecond: 30_000, longestMs: 450 },
  { requests: 2000, perSecond: 9999, longestMs: 220 },
]);
const TIMEOUT_MS = 1000;

/** What went into the ring is taken out again so often. */
const FORGET_MS = 5;

/** A warm-up has one cell for all operations and stages. */
const ONE_CELL = Object.freeze({ count: 1, of: () => 0 });

/** Until the warm-up's time zero: longer than its alarm needs. */
const LEAD_NS = 2_000_000n;

/**
 * Where it fails, for want of open files say, the run is none the worse: what cold code costs is in the send lag, which the
 * verdict looks at.
 *
 * @param {ShardInput} input
 * @param {(index: number) => Request} request
 * @param {Pacing} pacing
 */
export async function warmUp(input, request, pacing) {
  await sendAll(input, redacted(request), pacing).catch(() => {});
}

/**
 * Tokens are in headers, and whatever an operation sends may be in bodies: neither goes over a plain connection.
 *
 * @param {(index: number) => Request} request
 * @returns {(index: number) => Request} requests of the same length, the same for the same
 */
export function redacted(request) {
  /** @type {WeakMap<object, any>} */
  const known = new WeakMap();
  /**
   * @template {object} T
   * @param {T} original
   * @param {(original: T) => T} make
   * @returns {T}
   */
  const once = (original, make) => {
    if (!known.has(original)) known.set(original, make(original));
    return known.get(original);
  };
  const redact = (/** @type {string} */ text) => 'x'.repeat(text.length);
  return (index) =>
    once(request(index), ({ method, path, headers, body }) => ({
      method,
      path,
      headers: once(headers, () =>
        Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, redact(value)])),
      ),
      body: typeof body === 'string' ? redact(body) : body && new Uint8Array(body.length),
    }));
}

/** @param {ShardInput} input @param {(index: number) => Request} request @param {Pacing} pacing */
async function sendAll(input, request, pacing) {
  const target = new Worker(new URL('./warm-up-target.js', import.meta.url), {
    workerData: input.fixture.firstAnswer?.body ?? null,
    resourceLimits: HELPER_LIMITS,
  });
  try {
    const port = await new Promise((resolve, reject) =>
      target.once('message', resolve).once('error', reject),
    );
    // Held until the end: V8 forgets a closure that is gone, and takes the next one for the only one again.
    const held = [];
    const other = (/** @type {number} */ index) => request(index);
    for (const part of PARTS) {
      const connections = Array.from({ length: CONNECTIONS }, () =>
        createConnection({ origin: `http://127.0.0.1:${port}`, tls: { rejectUnauthorized: true } }),
      );
      await Promise.all(connections.map((connection) => connection.open(TIMEOUT_MS)));
      const own = {
        ...input,
        plan: { ...input.plan, load: partOf(input.plan.load, part) },
        shard: 0,
        shards: 1,
      };
      held.push(await send(own, connections, held.length % 2 === 0 ? request : other, pacing));
      await Promise.all(connections.map((connection) => connection.close()));
    }
  } finally {
    await target.terminate();
  }
}

/**
 * @param {ShardInput} input
 * @param {Connection[]} connections
 * @param {(index: number) => Request} request
 * @param {Pacing} pacing
 */
async function send(input, connections, request, { byThread, spins }) {
  const { load } = input.plan;
  const thread = byThread
    ? await startPacingThread(input, { spins: spins !== 'never', warmsUp: false })
    : null;
  const origin = process.hrtime.bigint() + LEAD_NS;
  const arrivals = arrivalsOf(load, 0, 1);
  thread?.start(origin);
  const ring = createRingMemory(SMALL_RING);
  const reader = openReader(ring);
  const { end, ...writing } = openRecording(ring);
  const forgetting = setInterval(() => reader.take(() => {}), FORGET_MS);
  /** @type {ReturnType<typeof startSending> | null} */
  let sending = null;
  await new Promise((resolve) => {
    sending = startSending({
      input,
      arrivals,
      clock: createClock(origin),
      connections,
      request,
      memberOf: () => 0,
      cells: ONE_CELL,
      recorder: { ...writing, finish: async () => /** @type {any} */ ({}) },
      pacing: thread,
      spins,
      end: { settle: resolve },
    });
  });
  clearInterval(forgetting);
  await thread?.stop();
  return sending;
}
