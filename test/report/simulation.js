/** Results of runs that might have been: arrivals queue for connections, and the tool's own recorder counts what comes of them. */

import { uniform } from '../../src/common/random.js';
import { createRecorder } from '../../src/engine/recording/recorder.js';
import { NO_PHASES } from '../../src/engine/recording/ring.js';
import { createSeconds } from '../../src/engine/recording/seconds.js';
import { mergeTallies } from '../../src/engine/recording/tally.js';
import { parseRequirement } from '../../src/plan/requirements.js';
import { buildBlock, buildTimeline, buildView, measure } from '../../src/result/build.js';
import { judgeRequirement } from '../../src/result/requirements/judge.js';
import { openLoad, sampleResult } from '../result/sample.js';
import { manyInSecond, manyOperations } from './many-times.js';
/** @import { Sample } from '../../src/engine/recording/ring.js' */
/** @import { LoadPlan } from '../../src/plan/load.js' */
/** @import { Result } from '../../src/result/schema.js' */

/**
 * @typedef {object} Story
 * @property {Partial<Result['load']>} [load]
 * @property {(index: number, sentMs: number) => number} serviceMs longer than the time-out is a time-out
 * @property {(index: number) => string | null} [failureOf] its outcome where it fails; null: it succeeds
 * @property {(index: number) => number} [lagMs] how late the tool itself is
 * @property {number} [times] a power of two: each request stands for so many alike, as if so many such shards had run side by side
 * @property {string} [command]
 * @property {string} [success] the outcome of what succeeds
 * @property {string[]} [require] judged as after a run
 * @property {Record<string, string>} [meanings]
 * @property {Partial<Result>} [changes]
 */

/** @param {Story} story @returns {Result} */
export function simulate({
  times = 1,
  require = [],
  command = 'ocsp',
  meanings = {},
  changes = {},
  ...story
}) {
  const load = openLoad(story.load);
  const { samples, dueMs } = queue(load, story);
  const { cells: recorded, seconds } = record(samples, command, load, story);
  const operations = recorded.map((operation) => manyOperations(operation, times));
  const { facts, dueIn } = factsOf({ samples, dueMs, load, command, meanings, times });
  const block = buildBlock(operations, facts);
  const offered = { ...load, ratePerSecond: load.ratePerSecond === null ? null : load.ratePerSecond * times };
  const plan = /** @type {LoadPlan} */ ({
    ...offered,
    shard: null,
    startAt: null,
  });
  const view = buildView(measure(operations, facts), plan, changes.measurement?.verdict !== 'invalid');
  const rows = seconds.map((row) => manyInSecond(row, times));
  return sampleResult([], {
    command,
    load: offered,
    durationSeconds: Math.max(facts.endedMs, facts.windowMs) / 1000,
    ...block,
    operations: { [command]: { ...block, unit: facts.units[command] } },
    timeline: buildTimeline(operations, rows, dueIn),
    requirements: require.map((text) => judgeRequirement(parseRequirement(text), view)),
    ...changes,
  });
}

/**
 * First come, first served; after the planned end those that wait are sent for as long as a time-out.
 *
 * @param {Result['load']} load
 * @param {Pick<Story, 'serviceMs' | 'lagMs'>} story
 * @returns {{samples: Sample[], dueMs: number[]}} samples in the order they were done
 */
function queue(
  { ratePerSecond, concurrency, durationMs, requests, timeoutMs },
  { serviceMs, lagMs = usualLag },
) {
  const endMs = durationMs ?? Number.POSITIVE_INFINITY;
  const free = new Float64Array(concurrency);
  /** @type {Sample[]} */
  const samples = [];
  /** @type {number[]} */
  const dueMs = [];
  for (let index = 0; index < (requests ?? Number.POSITIVE_INFINITY); index++) {
    const slot = earliest(free);
    const intended = ratePerSecond === null ? free[slot] : (index * 1000) / ratePerSecond;
    if (intended >= endMs) break;
    dueMs.push(intended);
    const lag = lagMs(index);
    const sent = Math.max(intended, free[slot]) + lag;
    if (sent >= endMs + timeoutMs) {
      samples.push(sampleOf(index, intended, 0, 0, 0, 'never_sent'));
      continue;
    }
    const service = serviceMs(index, sent);
    free[slot] = sent + Math.min(service, timeoutMs);
    samples.push(sampleOf(index, intended, sent, free[slot], lag, service >= timeoutMs ? 'timeout' : null));
  }
  const lastMs = Math.max(...free);
  for (const sample of samples) if (sample.failure === 'never_sent') sample.done = sample.sent = lastMs;
  return { samples: samples.sort((a, b) => a.done - b.done), dueMs };
}

/** @param {Float64Array} free @returns {number} */
function earliest(free) {
  let slot = 0;
  for (let i = 1; i < free.length; i++) if (free[i] < free[slot]) slot = i;
  return slot;
}

const BODY = new Uint8Array(0);

/**
 * @param {number} index
 * @param {number} intended
 * @param {number} sent
 * @param {number} done
 * @param {number} lag
 * @param {string | null} failure
 * @returns {Sample}
 */
function sampleOf(index, intended, sent, done, lag, failure) {
  return {
    operation: 0,
    index,
    intended,
    sent,
    done,
    sendLateMs: lag,
    carriedMs: 0,
    readLateMs: 0,
    receivedAt: 0,
    ...NO_PHASES,
    failure,
    status: 200,
    body: BODY,
  };
}

/**
 * @param {Sample[]} samples
 * @param {string} command
 * @param {Result['load']} load
 * @param {Pick<Story, 'failureOf' | 'success'>} story
 */
function record(samples, command, { durationMs }, { failureOf = () => null, success = 'good' }) {
  const seconds = createSeconds({ threads: 1, shard: null });
  const good = /** @type {const} */ ({ outcome: success, success: true, verification: 'passed' });
  const recorder = createRecorder({
    operations: [
      {
        name: command,
        classify: (_status, _body, index) => {
          const outcome = failureOf(index);
          return outcome === null ? good : { outcome, success: false, verification: null };
        },
      },
    ],
    warmupMs: 0,
    shards: 1,
    measuredMs: durationMs,
    onSecond: (row) => seconds.add(row),
  });
  for (const sample of samples) recorder.record(sample);
  if (durationMs !== null) recorder.advance(durationMs);
  const tally = recorder.finish();
  seconds.closeAll();
  return { ...mergeTallies([tally]), seconds: seconds.rows };
}

/**
 * @param {{samples: Sample[], dueMs: number[], load: Result['load'], command: string, meanings: Record<string, string>,
 *   times: number}} run
 */
function factsOf({ samples, dueMs, load, command, meanings, times }) {
  const waiting = samples.filter(({ failure }) => failure === 'never_sent').length;
  const planned = load.model === 'open' ? dueMs.length : samples.length;
  const endedMs = samples.at(-1)?.done ?? 0;
  const due = new Map();
  for (const ms of dueMs) due.set(Math.floor(ms / 1000), (due.get(Math.floor(ms / 1000)) ?? 0) + times);
  return {
    facts: {
      planned: planned * times,
      neverSent: waiting * times,
      windowMs: load.durationMs ?? endedMs,
      offeredPerSecond:
        load.model === 'open' ? (planned * times * 1000) / (load.durationMs ?? endedMs) : null,
      concurrency: load.model === 'closed' ? load.concurrency : null,
      endedMs,
      model: load.model,
      arrivals: load.arrivals,
      warmupMs: 0,
      timeoutMs: load.timeoutMs,
      interrupted: false,
      units: { [command]: command === 'ocsp' ? 'OCSP responses' : 'certificates' },
      meanings,
    },
    /** @param {number} seconds */
    dueIn: (seconds) => Array.from({ length: seconds }, (_, second) => due.get(second) ?? 0),
  };
}

/**
 * Log-normal, as latencies are.
 *
 * @param {number} median
 * @param {number} [spread] of the logarithm
 * @returns {(index: number) => number}
 */
export function noise(median, spread = 0.4) {
  return (index) => {
    const [u, v] = [uniform(7, index), uniform(7, index, 1)];
    return median * Math.exp(spread * Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v));
  };
}

/** @param {number} index */
function usualLag(index) {
  return 0.02 + 0.06 * uniform(1, index, 2) ** 6;
}
