/**
 * Shard k of N: everything that one sending thread does, from opening its connections to its tally. With one
 * thread it runs in the main one, with more in shard-worker.js each; both are the same `Shard` to the caller.
 */
import { cpus } from 'node:os';
import pLimit from 'p-limit';
import { createConnection } from '../http/connection.js';
import { shardOfThread, share } from '../plan/shard-part.js';
import { createStageFinder, spansOf } from '../plan/stages.js';
import { createClock } from './clock.js';
import { choosePacing } from './pacing/alarm.js';
import { arrivalsOf } from './pacing/pacer.js';
import { startPacingThread } from './pacing/pacing-thread.js';
import { startRecorder } from './recording/recorder-thread.js';
import { startSending } from './sending.js';
import { startThread } from './thread.js';
import { pacingWarmUp, warmUp } from './warm-up.js';

/** @import { Tls } from '../http/tls.js' */
/** @import { Mix, MixFixture } from '../operations/mix.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { SecondRow } from './recording/seconds.js' */
/** @import { MessagePort } from 'node:worker_threads' */

/**
 * @typedef {object} ShardInput plain data
 * @property {Plan} plan
 * @property {MixFixture} fixture
 * @property {Tls} tls
 * @property {number | null} measuredMs planned length of the measured part
 * @property {number} shard k
 * @property {number} shards N: of the whole plan, on other machines too (see shard-part.js)
 * @property {MessagePort | null} livePort goes to the recorder, for its reports; null: no live view wants them
 */
/**
 * @typedef {object} ShardState
 * @property {number} sent handed to a connection so far, warm-up included
 * @property {number} inFlight
 * @property {number} waiting due, but without a free connection
 */
/** @typedef {Awaited<ReturnType<typeof startSending>['ended']>} ShardEnd */
/**
 * @typedef {object} Shard
 * @property {() => Promise<string[]>} warm opens connections; returns why connections could not be opened
 * @property {(originNs: bigint) => Promise<ShardEnd>} start sends, from time zero to the last response; rejects when a thread fails
 * @property {() => void} stop sends nothing more, and waits for requests in flight
 * @property {() => void} cutOff ends requests in flight, too
 * @property {() => ShardState} state
 * @property {() => Promise<void>} close
 */

const OPEN_AT_ONCE = 32;

/**
 * @param {Omit<ShardInput, 'shard' | 'shards' | 'livePort'>} input
 * @param {Mix} mix of the plan
 * @param {(row: SecondRow) => void} onSecond
 * @param {MessagePort[]} [livePorts] one for each thread's recorder, which takes it; none: no live view
 * @returns {Promise<Shard[]>}
 * @throws {Error} the reason why one of them could not start; none is left running then
 */
export async function createShards(input, mix, onSecond, livePorts = []) {
  const { threads, shard: part } = input.plan.load;
  const starting = Array.from({ length: threads }, (_, thread) => {
    const livePort = livePorts[thread] ?? null;
    const own = { ...input, ...shardOfThread(part, thread, threads), livePort };
    return threads === 1 ? createShard(own, mix, onSecond) : createRemoteShard(own, onSecond);
  });
  const started = await Promise.allSettled(starting);
  const failed = started.find(({ status }) => status === 'rejected');
  const shards = started.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  if (failed === undefined) return shards;
  await Promise.all(shards.map((shard) => shard.close()));
  throw /** @type {PromiseRejectedResult} */ (failed).reason;
}

/**
 * A shard in a thread of its own: each call is a message, its result the message of that name.
 * @param {ShardInput} input
 * @param {(row: SecondRow) => void} onSecond
 * @returns {Promise<Shard>}
 */
async function createRemoteShard(input, onSecond) {
  let state = { sent: 0, inFlight: 0, waiting: 0 };
  const thread = startThread('sender', new URL('./shard-worker.js', import.meta.url), {
    data: input,
    transfer: [input.livePort],
    limits: {},
    on: {
      second: onSecond,
      state(now) {
        state = now;
      },
    },
  });
  await thread.first('ready');
  /** @param {'warm' | 'start' | 'stop' | 'cutOff'} name @param {unknown[]} parameters */
  const call = (name, ...parameters) => {
    thread.post({ name, parameters });
    return thread.first(name);
  };
  return {
    warm: () => call('warm'),
    start: (originNs) => call('start', originNs),
    stop: () => void call('stop'),
    cutOff: () => void call('cutOff'),
    state: () => state,
    close: thread.stop,
  };
}

/**
 * @param {ShardInput} input
 * @param {Mix} mix of the plan
 * @param {(row: SecondRow) => void} onSecond
 * @returns {Promise<Shard>}
 */
export async function createShard(input, mix, onSecond) {
  const { plan, fixture, tls, measuredMs, shard, shards, livePort } = input;
  const { load } = plan;
  const { request, memberOf } = mix.createRequester(fixture);
  const cells = createCells(plan, measuredMs, mix.members.length);
  const pacing = choosePacing(load, shards, cpus().length, load.threads);
  // First of all, so that its memory is free again when the recorder takes its own.
  if (!load.coldStart) await warmUp(input, request, pacing);
  const recorder = await startRecorder(
    { plan, fixture, shards, measuredMs, livePort },
    cells.count,
    onSecond,
  );
  const thread = pacing.byThread ? await startPacing() : null;
  const connections = Array.from({ length: share(load.concurrency, shard, shards) }, () =>
    createConnection({ origin: fixture.origin, tls }),
  );
  const arrivals = arrivalsOf(load, shard, shards);
  /** @type {ReturnType<typeof startSending> | null} */
  let sending = null;

  function startPacing() {
    const warmUpLoad = load.coldStart ? null : pacingWarmUp(load);
    return startPacingThread(input, pacing.spins !== 'never', warmUpLoad).catch(async (error) => {
      await recorder.stop();
      throw error;
    });
  }

  return {
    async warm() {
      const limit = pLimit(OPEN_AT_ONCE);
      const deadline = performance.now() + load.timeoutMs;
      const open = (/** @type {typeof connections[number]} */ connection) =>
        connection.open(Math.max(1, deadline - performance.now())).then(
          () => [],
          (error) => [String(error.message)],
        );
      const problems = await Promise.all(connections.map((connection) => limit(open, connection)));
      return problems.flat();
    },
    start(originNs) {
      thread?.start(originNs);
      const clock = createClock(originNs);
      const run = { load, arrivals, clock, connections, request, memberOf, cells, recorder, pacing, thread };
      sending = startSending(run);
      const failures = thread === null ? [recorder.failed] : [recorder.failed, thread.failed];
      return Promise.race([sending.ended, ...failures]);
    },
    stop: () => sending?.stop(),
    cutOff: () => sending?.cutOff(),
    state: () => sending?.state() ?? { sent: 0, inFlight: 0, waiting: 0 },
    async close() {
      sending?.close();
      const closing = connections.map((connection) => connection.close());
      await Promise.all([recorder.stop(), thread?.stop(), ...closing]);
    },
  };
}

/**
 * The tally's list of operations: those of the first stage, then those of the next.
 * @param {Pick<Plan, 'load'>} plan
 * @param {number | null} measuredMs
 * @param {number} members
 */
export function createCells({ load }, measuredMs, members) {
  const spans = spansOf(load, measuredMs);
  const stageAt = createStageFinder(spans);
  return {
    count: spans.length * members,
    /** @param {number} intended ms from time zero, in the measured part @param {number} member */
    of: (intended, member) => stageAt(intended - load.warmupMs) * members + member,
  };
}
