/**
 * Shard k of N: everything that one sending thread does, from opening its connections to its tally. With one
 * thread it runs in the main one, with more in shard-worker.js; the code is the same.
 */

import { cpus } from 'node:os';
import pLimit from 'p-limit';
import { createConnection } from '../http/connection.js';
import { loadMix } from '../operations/mix.js';
import { share } from '../plan/shard-part.js';
import { createStageFinder, spansOf } from '../plan/stages.js';
import { createClock } from './clock.js';
import { choosePacing } from './pacing/choose.js';
import { arrivalsOf } from './pacing/pacer.js';
import { startPacingThread } from './pacing/thread.js';
import { startRecorder } from './recording/thread.js';
import { startSending } from './sending.js';
import { warmUp } from './warm-up.js';

/** @import { Tls } from '../http/tls.js' */
/** @import { Kept } from '../operations/index.js' */
/** @import { MixFixture } from '../operations/mix.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { Pacing } from './pacing/choose.js' */
/** @import { PackedTally } from './recording/recorder.js' */
/** @import { SecondRow } from './recording/seconds.js' */
/** @import { BacklogEnd, WatchEnd } from './watch/sender.js' */
/** @import { MessagePort } from 'node:worker_threads' */

/**
 * @typedef {object} ShardInput plain data
 * @property {Plan} plan
 * @property {MixFixture} fixture
 * @property {Tls} tls
 * @property {number | null} measuredMs planned length of the measured part
 * @property {number} shard k
 * @property {number} shards N: of the whole plan, on other machines too (see shard-part.js)
 */
/**
 * @typedef {object} ShardEvents
 * @property {(row: SecondRow) => void} onSecond
 * @property {MessagePort | null} livePort goes to the recorder, for its reports; null: no live wants them
 */
/**
 * @typedef {object} ShardState
 * @property {number} sent handed to a connection so far, warm-up included
 * @property {number} inFlight
 * @property {number} waiting due, but without a free connection
 */
/**
 * @typedef {object} ShardEnd
 * @property {PackedTally} tally
 * @property {(Kept | null)[]} kept by each operation of the plan
 * @property {number} endedMs when the last response was in, from time zero
 * @property {number} fired requests of the measured part that were handed to a connection, as the sender counted them
 * @property {number} left requests of the measured part that were planned, and neither handed out nor dropped
 * @property {number} next the first index that was neither handed out nor dropped
 * @property {number} droppedLate arrivals dropped so long after they were due that the tool itself was late
 * @property {number} forgone requests that were due and never sent, and would have been had the tool never been late, at most
 * @property {number} dialled requests of the measured part that had to open a connection first
 * @property {boolean} leftWhileFree it gave up on the rest of the plan although connections had been free for long
 * @property {WatchEnd} watch
 * @property {BacklogEnd} backlog
 */
/**
 * @typedef {object} Shard
 * @property {() => Promise<string[]>} warm opens connections; returns why connections could not be opened
 * @property {(originNs: bigint) => void} start
 * @property {() => void} stop sends nothing more, and waits for requests in flight
 * @property {() => void} cutOff ends requests in flight, too
 * @property {() => ShardState} state
 * @property {Promise<ShardEnd>} ended
 * @property {() => Promise<void>} close
 */

const OPEN_AT_ONCE = 32;

/** @param {ShardInput} input @param {ShardEvents} events @returns {Promise<Shard>} */
export async function createShard(input, { onSecond, livePort }) {
  const { plan, fixture, tls, measuredMs, shard, shards } = input;
  const mix = await loadMix(plan);
  const { request, memberOf } = mix.createRequester(fixture);
  const cells = createCells(plan, measuredMs, mix.members.length);
  const pacingPlan = choosePacing(plan.load, shards, cpus().length, plan.load.threads);
  // First of all, so that its memory is free again when the recorder takes its own.
  if (!plan.load.coldStart) await warmUp(input, request, pacingPlan);
  const recorder = await startRecorder({
    plan,
    fixture,
    cells: cells.count,
    shards,
    measuredMs,
    livePort,
    onSecond,
  });
  const count = share(plan.load.concurrency, shard, shards);
  const connections = Array.from({ length: count }, () => createConnection({ origin: fixture.origin, tls }));
  const { byThread, spins } = pacingPlan;
  const pacing = byThread ? await startPacing(input, spins, recorder) : null;
  const arrivals = arrivalsOf(plan.load, shard, shards);
  const end = withEnd();
  for (const failed of [recorder.ended, pacing?.failed]) {
    failed?.catch((error) => end.settle(Promise.reject(error)));
  }
  /** @type {ReturnType<typeof startSending> | null} */
  let sending = null;

  return {
    async warm() {
      const limit = pLimit(OPEN_AT_ONCE);
      const deadline = performance.now() + plan.load.timeoutMs;
      /** @type {string[]} */
      const problems = [];
      await Promise.all(
        connections.map((connection) =>
          limit(() => connection.open(Math.max(1, deadline - performance.now()))).catch((error) => {
            problems.push(String(error.message));
          }),
        ),
      );
      return problems;
    },
    start(originNs) {
      pacing?.start(originNs);
      sending = startSending({
        input,
        arrivals,
        clock: createClock(originNs),
        connections,
        request,
        memberOf,
        cells,
        recorder,
        pacing,
        spins,
        end,
      });
    },
    stop: () => sending?.stop(),
    cutOff: () => sending?.cutOff(),
    state: () => sending?.state() ?? { sent: 0, inFlight: 0, waiting: 0 },
    ended: end.promise,
    async close() {
      sending?.close();
      await Promise.all([
        recorder.terminate(),
        pacing?.stop(),
        ...connections.map((connection) => connection.close()),
      ]);
    },
  };
}

/**
 * @param {ShardInput} input
 * @param {Pacing['spins']} spins
 * @param {{terminate: () => Promise<void>}} recorder ended where the thread cannot be started
 */
async function startPacing(input, spins, recorder) {
  try {
    return await startPacingThread(input, {
      spins: spins !== 'never',
      warmsUp: !input.plan.load.coldStart,
    });
  } catch (error) {
    await recorder.terminate();
    throw error;
  }
}

/**
 * The tally's list of operations: those of the first stage, then those of the next.
 *
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

/** @typedef {Pick<ReturnType<typeof withEnd>, 'settle'>} End */
function withEnd() {
  /** @type {(value: ShardEnd | Promise<ShardEnd>) => void} */
  let settle = () => {};
  /** @type {Promise<ShardEnd>} */
  const promise = new Promise((resolve) => {
    settle = resolve;
  });
  promise.catch(() => {});
  return { promise, settle };
}
