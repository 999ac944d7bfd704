/**
 * The open loop's schedule: index -> due time, from the plan alone. No clock, no state shared between shards, no
 * memory for a backlog. Times are milliseconds from the start of the schedule (warm-up included).
 */
import { uniform } from '../common/random.js';
import { createProfile } from './profile.js';

/** @import { LoadPlan } from './load.js' */
/** @import { Segment } from './profile.js' */

/**
 * @typedef {object} Schedule
 * @property {number} count arrivals in all; their indexes are 0 .. count-1
 * @property {number} firstMeasured index of the first arrival that is due after the warm-up
 * @property {number} endMs when the schedule ends: not when its last arrival is due, but when another would be, had
 *   the number of requests not ended it
 * @property {(index: number) => number} dueMs never decreases with the index
 */

/** Due times nearer than this to the end of the schedule count as after it: 1 ns, far above rounding errors. */
const TOLERANCE_MS = 1e-6;

/** Poisson arrivals are found again from one remembered time in so many. */
const CHECKPOINT = 1024;

/** @param {LoadPlan} load an open loop @returns {Schedule} */
export function createSchedule(load) {
  const { ratePerSecond, warmupMs, durationMs, requests } = load;
  if (ratePerSecond === null) throw new TypeError('a closed loop has no schedule');
  const profile = createProfile(segmentsOf(load));
  const limit = durationMs === null ? Number.POSITIVE_INFINITY : warmupMs + durationMs;
  const process =
    load.arrivals === 'poisson'
      ? poissonProcess(
          load.seed,
          profile.expected(limit - TOLERANCE_MS),
          profile.expected(warmupMs),
          requests,
        )
      : constantProcess(
          profile.expected(limit - TOLERANCE_MS),
          profile.expected(warmupMs - TOLERANCE_MS),
          requests,
        );
  const { firstMeasured, at } = process;
  // An arrival after the end of sending, as where a stage ends with a pause, is not planned.
  const isLate = process.count > 0 && profile.timeOf(at(process.count - 1)) > limit - TOLERANCE_MS;
  const count = isLate ? process.count - 1 : process.count;
  /** Rounding must not carry an arrival over the end of the warm-up: recorders go by its time. */
  const dueMs = (/** @type {number} */ index) => {
    const ms = profile.timeOf(at(index));
    return index < firstMeasured ? Math.min(ms, warmupMs - TOLERANCE_MS) : Math.max(ms, warmupMs);
  };
  const isCut = requests !== null && count === firstMeasured + requests;
  const endMs = isCut ? Math.min(profile.timeOf(at(count - 1) + 1), limit) : limit;
  return { count, firstMeasured, endMs, dueMs };
}

/**
 * A warm-up before stages is at the rate at which the first of them begins. Without stages the rate rises linearly from zero
 * over the ramp-up, and then holds: t² rate / (2 ramp) arrivals, then rate (t - ramp / 2).
 *
 * @param {LoadPlan} load
 * @returns {Segment[]}
 */
function segmentsOf({ ratePerSecond, rampUpMs, warmupMs, stages }) {
  const rate = Number(ratePerSecond);
  if (stages === null) {
    const held = { durationMs: Number.POSITIVE_INFINITY, fromPerSecond: rate, toPerSecond: rate };
    return rampUpMs > 0 ? [{ durationMs: rampUpMs, fromPerSecond: 0, toPerSecond: rate }, held] : [held];
  }
  const lines = stages.flatMap((stage) => stage.lines);
  const warmup = { durationMs: warmupMs, from: lines[0].from, to: lines[0].from };
  return [...(warmupMs > 0 ? [warmup] : []), ...lines].map(({ durationMs, from, to }) => ({
    durationMs,
    fromPerSecond: from,
    toPerSecond: to,
  }));
}

/**
 * Arrival i happens when i arrivals are expected: evenly spaced at a constant rate.
 *
 * @param {number} expected up to the end; arrivals before that are in
 * @param {number} expectedInWarmup
 * @param {number | null} requests measured ones at most
 */
function constantProcess(expected, expectedInWarmup, requests) {
  const firstMeasured = expectedInWarmup > 0 ? Math.floor(expectedInWarmup) + 1 : 0;
  const inTime = Number.isFinite(expected) ? Math.floor(expected) + 1 : Number.POSITIVE_INFINITY;
  const count = Math.min(inTime, requests === null ? Number.POSITIVE_INFINITY : firstMeasured + requests);
  return { count, firstMeasured: Math.min(firstMeasured, count), at: (/** @type {number} */ index) => index };
}

/**
 * A Poisson process of rate one: gap j is -ln(u_j), so arrival i is the sum of gaps 0..i. The sum is always taken
 * in the same order, so every shard gets bit for bit the same times; a remembered time every CHECKPOINT arrivals
 * lets any block be found again.
 *
 * @param {number} seed
 * @param {number} expected operational time of the end
 * @param {number} expectedInWarmup operational time at which the warm-up ends
 * @param {number | null} requests
 */
function poissonProcess(seed, expected, expectedInWarmup, requests) {
  /** @type {number[]} */
  const checkpoints = [];
  let firstMeasured = 0;
  let count = 0;
  for (let time = gap(seed, 0); time < expected; time += gap(seed, count)) {
    if (requests !== null && count >= firstMeasured + requests && time >= expectedInWarmup) break;
    if (time < expectedInWarmup) firstMeasured = count + 1;
    if (count % CHECKPOINT === 0) checkpoints.push(time);
    count++;
  }
  const block = new Float64Array(CHECKPOINT);
  let blockStart = -1;
  /** @param {number} start */
  const load = (start) => {
    block[0] = checkpoints[start / CHECKPOINT];
    for (let i = 1; i < CHECKPOINT; i++) block[i] = block[i - 1] + gap(seed, start + i);
    blockStart = start;
  };
  /** @param {number} index */
  const at = (index) => {
    if (count === 0) return 0;
    const start = index - (index % CHECKPOINT);
    if (start !== blockStart) load(start);
    return block[index - start];
  };
  return { count, firstMeasured, at };
}

/** @param {number} seed @param {number} index */
function gap(seed, index) {
  return -Math.log(uniform(seed, index));
}
