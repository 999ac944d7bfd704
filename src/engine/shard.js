/**
 * Shard k of N: one sender, from opening its connections to its tally. A single shard runs on the main thread;
 * several run in their own shard-worker.js each, behind the same interface.
 */
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { timerMs } from '../common/timers.js';
import { createConnection } from '../http/connection.js';
import { createStreams } from '../http/http2-connection.js';
import { createRotation } from '../http/lookup.js';
import { tlsInRotation } from '../http/tls.js';
import { shardOfThread, share } from '../plan/shard-part.js';
import { createStageFinder, stageTimesOf } from '../plan/stages.js';
import { choosePacing } from './pacing/alarm.js';
import { arrivalsOf } from './pacing/pacer.js';
import { startPacingThread } from './pacing/pacing-thread.js';
import { createRingMemory, openWriter } from './recording/ring.js';
import { startSending } from './sending.js';
import { startThread } from './thread.js';
import { pacingWarmUp, warmUp } from './warm-up.js';

/** @import { Handshakes } from '../http/connection.js' */
/** @import { Route } from '../http/route.js' */
/** @import { Tls } from '../http/tls.js' */
/** @import { Mix, MixFixture } from '../operations/mix.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { RingMemory, Tail } from './recording/ring.js' */
/** @import { SecondRow } from './recording/seconds.js' */
/** @import { RecorderEnd } from './sending.js' */
/** @import { MessagePort } from 'node:worker_threads' */

/**
 * @typedef {object} ShardInput plain data
 * @property {Plan} plan
 * @property {MixFixture} fixture
 * @property {Tls} tls
 * @property {Route} route to the fixture's origin
 * @property {number | null} measuredMs planned length of the measured phase
 * @property {number} shard k
 * @property {number} shards N: of the whole plan, including other machines (see shard-part.js)
 * @property {MessagePort | null} livePort for the recorder's reports; null: no live view
 */
/** @typedef {Omit<ShardInput, 'tls' | 'route'> & {ring: RingMemory}} RecorderInput */
/** @typedef {Awaited<ReturnType<typeof startSending>['ended']> & {handshakes: Handshakes}} ShardEnd */
/** @typedef {Awaited<ReturnType<typeof createShard>>} Shard */

const OPEN_AT_ONCE = 32;
const RETRY_MS = 5;
/** `sent`: including the warm-up; `waiting`: due, without a free connection. */
const NOTHING_SENT = Object.freeze({ sent: 0, inFlight: 0, waiting: 0 });

/**
 * @param {Omit<ShardInput, 'shard' | 'shards' | 'livePort'>} input @param {Mix} mix of the plan
 * @param {(row: SecondRow) => void} onSecond
 * @param {MessagePort[]} [livePorts] one for each thread's recorder; none: no live view
 * @returns {Promise<Shard[]>}
 * @throws {Error} of the shard that could not start; the others are stopped
 */
export async function createShards(input, mix, onSecond, livePorts = []) {
  const { threads, shard: part } = input.plan.load;
  const starting = Array.from({ length: threads }, (_, thread) => {
    const data = { ...input, ...shardOfThread(part, thread, threads), livePort: livePorts[thread] ?? null };
    return threads === 1 ? createShard(data, mix, onSecond) : createRemoteShard(data, onSecond);
  });
  const started = await Promise.allSettled(starting);
  const failed = started.find((result) => result.status === 'rejected');
  const shards = started.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  if (failed === undefined) return shards;
  await Promise.all(shards.map((shard) => shard.close()));
  throw failed.reason;
}

/**
 * A shard in its own thread: each call is a message, and its result a reply of the same name.
 * @param {ShardInput} input @param {(row: SecondRow) => void} onSecond @returns {Promise<Shard>}
 */
async function createRemoteShard(input, onSecond) {
  let state = NOTHING_SENT;
  const onState = (/** @type {typeof state} */ now) => {
    state = now;
  };
  const thread = startThread('sender', new URL('./shard-worker.js', import.meta.url), {
    data: input,
    port: input.livePort,
    limits: {},
    on: { second: onSecond, state: onState },
  });
  await thread.first('ready');
  /** @param {'connect' | 'start' | 'stop' | 'cutOff'} name @param {unknown[]} parameters */
  const call = (name, ...parameters) => {
    thread.post({ name, parameters });
    return thread.first(name);
  };
  return {
    connect: () => call('connect'),
    start: (originNs) => call('start', originNs),
    stop: () => void call('stop'),
    cutOff: () => void call('cutOff'),
    state: () => state,
    close: thread.stop,
  };
}

/** @param {ShardInput} input @param {Mix} mix of the plan @param {(row: SecondRow) => void} onSecond */
export async function createShard(input, mix, onSecond) {
  const { plan, fixture, tls, route, measuredMs, shard, shards } = input;
  const { load } = plan;
  const request = mix.createRequester(fixture);
  const cells = createCells(plan, measuredMs, mix.members.length);
  const pacing = choosePacing(load, shards, cpus().length, load.threads);
  // Warm up first, so that the warm-up's memory is free before the recorder allocates its own.
  if (!load.coldStart) await warmUp(input, { request, memberOf: mix.memberOf }, pacing);
  const recorder = await startRecorder(input, cells.count, onSecond);
  const warmUpLoads = load.coldStart ? [] : pacingWarmUp(load);
  const starting = pacing.byThread ? startPacingThread(input, pacing.spins !== 'never', warmUpLoads) : null;
  starting?.catch(recorder.stop);
  const thread = await starting;
  const handshakes = /** @type {Handshakes} */ ({});
  const { requestsPerConnection: maxRequests, resumesTls: resumes, streamsPerConnection } = load;
  const rotation =
    load.resolveEveryMs === null
      ? null
      : createRotation({ everyMs: load.resolveEveryMs, first: shard, onAnswer: keepOnly });
  const lookup = rotation?.lookup;
  const { timeoutMs } = load;
  const dialling = { origin: fixture.origin, route, maxRequests, resumes, handshakes, lookup, timeoutMs };
  const variants = tlsInRotation(tls);
  const rotates = rotation !== null || load.localAddresses.length > 1 || variants.length > 1;
  const inFlight = share(load.concurrency, shard, shards);
  const streams = streamsPerConnection ?? 1;
  /** HTTP/2: one for each stream. */
  const connections = Array.from({ length: Math.ceil(inFlight / streams) }, (_, i) => {
    // Counted in this part: the addresses and certificates are its own, or the same in all parts.
    const { index: part, of } = load.shard ?? { index: 0, of: 1 };
    const index = part + Math.floor((shard + i * shards) / of);
    const localAddress = load.localAddresses[index % load.localAddresses.length];
    const options = { ...dialling, tls: variants[index % variants.length], localAddress };
    if (streamsPerConnection === null) return createConnection(options);
    return createStreams({ ...options, streams: Math.min(streams, inFlight - i * streams) });
  }).flat();
  function keepOnly(/** @type {ReadonlySet<string>} */ addresses) {
    for (const connection of connections) connection.keepOnly(addresses);
  }
  // Computing Poisson arrivals takes time, so do it before time zero.
  const arrivals = arrivalsOf(load, shard, shards);
  let sending = /** @type {ReturnType<typeof startSending> | null} */ (null);

  return {
    /** Opens the connections, unless each request opens its own. @returns {Promise<string[]>} one message per failed connection */
    async connect() {
      if (load.requestsPerConnection === 1) return [];
      const limit = pLimit(OPEN_AT_ONCE);
      const deadline = performance.now() + load.timeoutMs;
      const open = (/** @type {typeof connections[number]} */ connection) =>
        connection.open(timerMs(Math.max(1, deadline - performance.now()))).then(
          () => [],
          (error) => [String(error.message)],
        );
      const first = connections.filter((_, i) => i % streams === 0);
      const problems = await Promise.all(first.map((connection) => limit(open, connection)));
      return problems.flat();
    },
    /** @param {bigint} originNs time zero @returns {Promise<ShardEnd>} rejects when a thread fails */
    start(originNs) {
      thread?.start(originNs);
      const context = {
        connections,
        rotates,
        request,
        memberOf: mix.memberOf,
        cells,
        recorder,
        pacing,
        thread,
      };
      sending = startSending({ load, arrivals, originNs, ...context });
      const ended = sending.ended.then((end) => ({ ...end, handshakes }));
      return Promise.race([ended, recorder.failed, ...(thread === null ? [] : [thread.failed])]);
    },
    /** Stops sending and waits for requests in flight. */
    stop: () => sending?.stop(),
    /** Also aborts requests in flight. */
    cutOff: () => sending?.cutOff(),
    state: () => sending?.state() ?? NOTHING_SENT,
    async close() {
      sending?.close();
      rotation?.close();
      const closing = connections.map((connection) => connection.close());
      await Promise.all([recorder.stop(), thread?.stop(), ...closing]);
    },
  };
}

/**
 * The sender's end of the recorder thread: samples go through the ring; seconds and the tally come back.
 * @param {ShardInput} input @param {number} cells of the tally @param {(row: SecondRow) => void} onSecond
 */
async function startRecorder({ tls, route, ...input }, cells, onSecond) {
  const ring = createRingMemory(undefined, cells);
  const { end, ...writing } = openWriter(ring);
  const { first, failed, stop, hasEnded } = startThread(
    'recorder',
    new URL('./recording/recorder-worker.js', import.meta.url),
    { data: { ...input, ring }, port: input.livePort, on: { second: onSecond } },
  );
  await first('ready');
  return {
    ...writing,
    failed,
    stop,
    /** @param {Tail} tail @returns {Promise<RecorderEnd>} once all samples are recorded */
    async finish(tail) {
      while (!hasEnded() && !end(tail)) await sleep(RETRY_MS);
      return first('end');
    },
  };
}

/**
 * The cells of the tally: all operations of the first stage, then of the next, etc.
 * @param {Pick<Plan, 'load'>} plan @param {number | null} measuredMs @param {number} members
 */
export function createCells({ load }, measuredMs, members) {
  const spans = stageTimesOf(load, measuredMs);
  const stageAt = createStageFinder(spans);
  return {
    count: spans.length * members,
    /** @param {number} intended ms from time zero, in the measured phase @param {number} member */
    of: (intended, member) => stageAt(intended - load.warmupMs) * members + member,
  };
}
