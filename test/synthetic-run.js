/** Runs that never were: results made by the code that makes those of real runs, from samples that follow from the plan's seed. */
import { conclude } from '../src/conclude.js';
import { createHistogram, encodeHistogram, recordMs } from '../src/histogram.js';
import { arrivalsOf } from '../src/load/pacing/arrivals.js';
import { createRecorder } from '../src/load/recording/recorder.js';
import { plannedWindow } from '../src/load/verdict/window.js';
import { uniform } from '../src/random.js';
import { parseRequirement } from '../src/results/requirements/requirements.js';
import { createRunSeconds } from '../src/results/seconds.js';
import { shardOfThread } from '../src/shard-part.js';
import { load as loadOf } from './load/load-plan.js';
import { classify, sample } from './load/recording.js';

/** @typedef {import('../src/plan.js').LoadPlan} LoadPlan */
/** @typedef {import('../src/results/schema.js').Result} Result */
/**
 * @typedef {object} Synthetic
 * @property {Partial<LoadPlan>} load
 * @property {number} [unsent] of the last arrivals of the whole plan: never sent
 * @property {string[]} [requirements]
 * @property {string} [startedAt]
 * @property {Record<string, any>} [options] the operation's own
 * @property {Partial<import('../src/load/shard.js').ShardEnd>} [end] what the threads say otherwise
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

/**
 * @param {Synthetic} given
 * @returns {Result} of the whole plan, or of the part that `load.shard` names
 */
export function syntheticRun({
  load: changes,
  unsent = 0,
  requirements = [],
  options = {},
  end = {},
  ...more
}) {
  const load = loadOf(changes);
  const window = plannedWindow(load);
  const seconds = createRunSeconds(load);
  const ends = Array.from({ length: load.threads }, (_, thread) => {
    const { samples, waiting, ...sent } = sendAll(load, thread, unsent);
    const recorder = createRecorder({
      operations: [{ name: 'synthetic', classify }],
      warmupMs: load.warmupMs,
      shards: shardOfThread(load.shard, thread, load.threads).shards,
      measuredMs: window.windowMs,
      onSecond: (row) => seconds.add(row),
    });
    for (const one of [...samples, ...waiting]) recorder.record(one);
    recorder.addDropped(0, sent.dropped);
    const endedMs = samples.reduce((latest, { done }) => Math.max(latest, done), 0);
    return {
      ...endOf(),
      snapshot: recorder.finish(),
      endedMs,
      fired: sent.fired,
      left: waiting.length,
      next: waiting[0]?.index ?? Number.MAX_SAFE_INTEGER,
      ...end,
    };
  });
  seconds.closeAll();
  const startedAt = new Date(more.startedAt ?? '2026-01-02T03:04:05.000Z');
  const machine = { wallMs: 6000, processCpuMs: 900, cores: 2, idleShare: 0.8, pressureShare: 0.01 };
  return conclude({
    plan: planOf(load, requirements, options),
    mix: /** @type {any} */ ({
      things: { synthetic: 'answers' },
      outcomes: { bad: 'not what was asked for', refused: 'the target refused' },
    }),
    window,
    target: { url: 'http://192.0.2.1:8200', product: 'Vault', version: '1.21.1' },
    command: `vault-pki-load synthetic${load.shard === null ? '' : ` --shard ${load.shard.index}/${load.shard.of}`}`,
    seconds: seconds.rows,
    sent: { ends, startedAt, startedAtNs: 5_000_000_000n, stoppedMs: Number.POSITIVE_INFINITY, machine },
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
    syntheticRun({
      ...given,
      load: { ...given.load, threads: count, shard: { index, of: threads.length } },
    }),
  );
}

/**
 * @param {LoadPlan} load
 * @param {string[]} requirements
 * @param {Record<string, any>} options
 * @returns {import('../src/plan.js').Plan}
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
    requirements: requirements.map((text) => parseRequirement(text)),
  };
}

/**
 * @param {LoadPlan} load
 * @param {number} thread
 * @param {number} unsent
 */
function sendAll(load, thread, unsent) {
  const place = shardOfThread(load.shard, thread, load.threads);
  const { schedule, shard, shards } = arrivalsOf(load, place.shard, place.shards);
  const count = schedule === null ? Number(load.requests) : schedule.count;
  /** @type {import('../src/load/recording/ring.js').Sample[]} */
  const samples = [];
  /** @type {import('../src/load/recording/ring.js').Sample[]} */
  const waiting = [];
  let dropped = 0;
  for (let index = shard; index < count; index += shards) {
    const draw = (/** @type {number} */ stream) => uniform(load.seed, index, 50 + stream);
    const intended = schedule === null ? index * CLOSED_GAP_MS : schedule.dueMs(index);
    if (schedule !== null && index >= count - unsent) {
      const givenUp = schedule.endMs + GIVE_UP_MS;
      waiting.push(sample(intended, givenUp, { failure: 'never_sent' }, { index, sent: givenUp }));
    } else if (load.overflow === 'drop' && draw(0) < 0.05) {
      if (intended >= load.warmupMs) dropped++;
    } else {
      const sent = intended + (draw(1) < 0.3 ? 400 * draw(2) : 0);
      const done = sent + 0.4 - 40 * Math.log(draw(3));
      const fate = draw(4);
      const [, what] = FATES.find(([upTo]) => fate < upTo) ?? FATES[0];
      samples.push(sample(intended, done, what, { index, sent }));
    }
  }
  samples.sort((a, b) => a.done - b.done);
  const fired = samples.filter(({ intended }) => intended >= load.warmupMs).length;
  return { samples, waiting, dropped, fired };
}

/** What a thread says that was never late. */
function endOf() {
  const looks = createHistogram();
  for (let i = 0; i < 300; i++) recordMs(looks, 0.05);
  const reaction = encodeHistogram(looks);
  return {
    kept: [],
    droppedLate: 0,
    dialled: 0,
    leftWhileFree: false,
    watch: {
      reaction,
      starved: reaction,
      gc: { count: 2, totalMs: 3, longestMs: 2 },
      wallMs: 6000,
      busyMs: 600,
      emptySpinMs: 0,
      runQueueMs: 6,
    },
    backlog: { looks: 10, waitingLooks: 1, quarterMins: [0, 1, 0, 1], atEnd: 1 },
  };
}
