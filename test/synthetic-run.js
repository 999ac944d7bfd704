/** Runs that never were: results made by the code that makes those of real runs, from samples that follow from the plan's seed. */
import { uniform } from '../src/common/random.js';
import { arrivalsOf } from '../src/engine/pacing/pacer.js';
import { createRecorder } from '../src/engine/recording/recorder.js';
import { createSeconds } from '../src/engine/recording/seconds.js';
import { createCells } from '../src/engine/shard.js';
import { plannedWindow } from '../src/engine/window.js';
import { createChooser } from '../src/operations/request-parts.js';
import { parseRequirement } from '../src/plan/requirements.js';
import { shardOfThread } from '../src/plan/shard-part.js';
import { conclude } from '../src/result/conclude.js';
import { load as loadOf } from './engine/load-plan.js';
import { classify, sample } from './engine/recording.js';

/** @import { Sample } from '../src/engine/recording/ring.js' */
/** @import { ShardEnd } from '../src/engine/shard.js' */
/** @import { LoadPlan } from '../src/plan/load.js' */
/** @import { Plan } from '../src/plan/plan.js' */
/** @import { Result } from '../src/result/schema.js' */

/**
 * @typedef {object} Synthetic
 * @property {Partial<LoadPlan>} load
 * @property {number} [unsent] of the last arrivals of the whole plan: never sent
 * @property {(string | [text: string, scope: {operation?: string, stage?: string}])[]} [requirements]
 * @property {Record<string, number>} [weights] of several operations; one, `synthetic`
 * @property {(sample: Sample, operation: string) => Sample} [change] what came of a request otherwise
 * @property {number} [stoppedMs] when it was interrupted, from time zero
 * @property {string} [startedAt]
 * @property {Record<string, any>} [options] the operation's own
 * @property {Partial<ShardEnd>} [end] what the threads say otherwise
 */

/** What becomes of a request, and up to which random number. @type {[number, string | {failure: string}][]} */
const FATES = [
  [0.85, 'good'],
  [0.9, 'bad'],
  [0.95, 'refused'],
  [1, { failure: 'timeout' }],
];

/** Arrivals that were never sent are given up so long after the last one was due. */
const GIVE_UP_MS = 1000;

/** Of a closed loop: a request every so often. */
const CLOSED_GAP_MS = 20;

/** @param {Synthetic} given @returns {Result} of the whole plan, or of the part that `load.shard` names */
export function syntheticRun({
  load: changes,
  unsent = 0,
  requirements = [],
  options = {},
  end = {},
  weights = { synthetic: 1 },
  change = (sample) => sample,
  stoppedMs = Number.POSITIVE_INFINITY,
  ...more
}) {
  const load = loadOf(changes);
  const names = Object.keys(weights);
  const memberOf = names.length === 1 ? () => 0 : createChooser(Object.values(weights), load.seed);
  const window = plannedWindow(load, { count: names.length, memberOf });
  const cells = createCells({ load }, window.windowMs, names.length);
  const seconds = createSeconds(load);
  const ends = Array.from({ length: load.threads }, (_, thread) => {
    const { samples, waiting, ...sent } = sendAll({ load, memberOf, unsent, stoppedMs }, thread);
    const recorder = createRecorder({
      operations: names.map((name) => ({ name, classify })),
      warmupMs: load.warmupMs,
      stages: load.stages,
      shards: shardOfThread(load.shard, thread, load.threads).shards,
      measuredMs: window.windowMs,
      onSecond: (row) => seconds.add(row),
    });
    const all = [...samples.map((one) => change(one, names[one.operation])), ...waiting];
    for (const one of all.sort((a, b) => a.done - b.done)) recorder.record(one);
    for (const [intended, member] of sent.dropped)
      recorder.addUnsent(cells.of(intended, member), { dropped: 1, rested: 0 });
    const endedMs = samples.reduce((latest, { done }) => Math.max(latest, done), 0);
    return {
      ...endOf(),
      tally: recorder.finish(),
      endedMs,
      sent: sent.fired,
      neverSent: sent.left,
      next: sent.next,
      ...end,
    };
  });
  seconds.closeAll();
  const startedAt = new Date(more.startedAt ?? '2026-01-02T03:04:05.000Z');
  const machine = { wallMs: 6000, processCpuMs: 900, cores: 2, idleShare: 0.8, pressureShare: 0.01 };
  return conclude({
    plan: planOf(load, requirements, options),
    mix: /** @type {any} */ ({
      members: names.map((name) => ({ name })),
      memberOf,
      units: Object.fromEntries(names.map((name) => [name, 'answers'])),
      outcomes: { bad: 'not what was asked for', refused: 'the target refused' },
    }),
    window,
    target: { url: 'http://192.0.2.1:8200', product: 'Vault', version: '1.21.1' },
    command: `vault-pki-load synthetic${load.shard === null ? '' : ` --shard ${load.shard.index}/${load.shard.of}`}`,
    seconds: seconds.rows,
    sendResult: { ends, startedAt, startedAtNs: 5_000_000_000n, stoppedMs, machine },
  });
}

/**
 * The parts of the same plan, each as its own process would have it.
 *
 * @param {Synthetic} given
 * @param {number[]} threads of each part
 * @returns {Result[]} part 0 first
 */
export function syntheticParts(given, threads) {
  return threads.map((count, index) =>
    syntheticRun({ ...given, load: { ...given.load, threads: count, shard: { index, of: threads.length } } }),
  );
}

/**
 * @param {LoadPlan} load
 * @param {NonNullable<Synthetic['requirements']>} requirements
 * @param {Record<string, any>} options
 * @returns {Plan}
 */
function planOf(load, requirements, options) {
  const tls = { caCert: null, caPath: null, clientCert: null, clientKey: null, serverName: null };
  return {
    operation: 'synthetic',
    dev: false,
    target: {
      url: 'http://192.0.2.1:8200',
      mount: 'pki',
      namespace: null,
      tls: { ...tls, skipVerify: false },
    },
    load,
    options: { role: 'web', keep: null, ...options },
    mix: null,
    requirements: requirements.map((one) => {
      if (typeof one === 'string') return parseRequirement(one);
      const [text, scope] = one;
      return { ...parseRequirement(text), ...scope, text: `${Object.values(scope).join(' in ')}: ${text}` };
    }),
  };
}

/**
 * @param {{load: LoadPlan, memberOf: (index: number) => number, unsent: number, stoppedMs: number}} run
 * @param {number} thread
 */
function sendAll({ load, memberOf, unsent, stoppedMs }, thread) {
  const place = shardOfThread(load.shard, thread, load.threads);
  const { schedule, shard, shards } = arrivalsOf(load, place.shard, place.shards);
  const count = schedule === null ? Number(load.requests) : schedule.count;
  /** @type {Sample[]} */
  const samples = [];
  /** @type {Sample[]} */
  const waiting = [];
  /** @type {[intended: number, member: number][]} */
  const dropped = [];
  let next = shard;
  let left = 0;
  for (let index = shard; index < count; index += shards) {
    const draw = (/** @type {number} */ stream) => uniform(load.seed, index, 50 + stream);
    const intended = schedule === null ? index * CLOSED_GAP_MS : schedule.dueMs(index);
    const operation = memberOf(index);
    const isLeft = intended >= stoppedMs || (schedule !== null && index >= count - unsent);
    if (isLeft && intended >= load.warmupMs) left++;
    if (!isLeft) next = index + shards;
    if (intended >= stoppedMs) continue;
    if (isLeft && schedule !== null) {
      const givenUp = schedule.endMs + GIVE_UP_MS;
      waiting.push(sample(intended, givenUp, { failure: 'never_sent' }, { index, operation, sent: givenUp }));
    } else if (load.overflow === 'drop' && draw(0) < 0.05) {
      if (intended >= load.warmupMs) dropped.push([intended, operation]);
    } else {
      const sent = intended + (draw(1) < 0.3 ? 400 * draw(2) : 0);
      const done = sent + 0.4 - 40 * Math.log(draw(3));
      const fate = draw(4);
      const [, what] = FATES.find(([upTo]) => fate < upTo) ?? FATES[0];
      samples.push(sample(intended, done, what, { index, operation, sent }));
    }
  }
  samples.sort((a, b) => a.done - b.done);
  const fired = samples.filter(({ intended }) => intended >= load.warmupMs).length;
  return { samples, waiting, dropped, fired, left, next };
}

/** What a thread says that was never late. */
function endOf() {
  return {
    kept: [],
    droppedLate: 0,
    forgone: 0,
    limited: 0,
    stalledMs: 0,
    stalledStage: null,
    warmupOverlapMs: 0,
    dialled: 0,
    handshakes: {},
    leftWhileFree: false,
    watch: {
      gc: { count: 2, totalMs: 3, longestMs: 2 },
      wallMs: 6000,
      busyMs: 600,
      emptySpinMs: 0,
      runQueueMs: 6,
    },
    backlog: { looks: 10, waitingLooks: 1, quarterMins: [0, 1, 0, 1], atEnd: 1 },
  };
}

/** Bars also depend on how many threads looked at their own lateness. @param {any} value @returns {any} */
export const withoutBars = (value) =>
  JSON.parse(
    JSON.stringify(value, (key, one) => (/^(bars|bar|low|high|doubt)$/.test(key) ? undefined : one)),
  );
