/**
 * The open loop's schedule: index -> due time, from the plan alone. No clock, no state shared between shards, no
 * memory for a backlog. Times are from the start of the warm-up.
 */
import { uniform } from '../common/random.js';
/** @import { Line, LoadPlan } from './load.js' */

/**
 * @typedef {object} Schedule
 * @property {number} count arrivals in all; their indexes are 0 .. count-1
 * @property {number} firstMeasured index of the first arrival that is due after the warm-up
 * @property {number} endMs end of the schedule: the time when another arrival would be due, had the number of
 *   requests not ended it
 * @property {(index: number) => number} dueMs never decreases with the index
 */

/** A time that is earlier than a limit by less than this counts as at the limit: 1 ns, far above rounding errors. */
export const TOLERANCE_MS = 1e-6;

/** The time of every 1024th Poisson arrival is remembered; those after it are computed again. */
const CHECKPOINT = 1024;

/** @param {LoadPlan} load an open loop @returns {Schedule} */
export function createSchedule(load) {
  const { ratePerSecond, warmupMs, durationMs, requests, arrivals, seed } = load;
  if (ratePerSecond === null) throw new TypeError('a closed loop has no schedule');
  const { expected, timeOf } = createProfile(linesOf(load, ratePerSecond));
  const limit = durationMs === null ? Number.POSITIVE_INFINITY : warmupMs + durationMs;
  const inAll = expected(limit - TOLERANCE_MS);
  const process =
    arrivals === 'poisson'
      ? poissonProcess(seed, inAll, expected(warmupMs), requests)
      : constantProcess(inAll, expected(warmupMs - TOLERANCE_MS), requests);
  const { firstMeasured, at } = process;
  // An arrival after the end of sending, as where a stage ends with a pause, is not planned.
  const isLate = process.count > 0 && timeOf(at(process.count - 1)) > limit - TOLERANCE_MS;
  const count = isLate ? process.count - 1 : process.count;
  const isCut = requests !== null && count === firstMeasured + requests;
  return {
    count,
    firstMeasured,
    endMs: isCut ? Math.min(timeOf(at(count - 1) + 1), limit) : limit,
    // Rounding must not carry an arrival over the end of the warm-up: recorders go by its time.
    dueMs(index) {
      const ms = timeOf(at(index));
      return index < firstMeasured ? Math.min(ms, warmupMs - TOLERANCE_MS) : Math.max(ms, warmupMs);
    },
  };
}

/**
 * A warm-up before stages is at the rate at which the first of them begins. Without stages the rate rises linearly from
 * zero over the ramp-up, and then holds: t² rate / (2 ramp) arrivals, then rate (t - ramp / 2).
 * @param {LoadPlan} load @param {number} rate @returns {Line[]}
 */
export function linesOf({ rampUpMs, warmupMs, stages }, rate) {
  if (stages === null) {
    const held = { durationMs: Number.POSITIVE_INFINITY, from: rate, to: rate };
    return rampUpMs > 0 ? [{ durationMs: rampUpMs, from: 0, to: rate }, held] : [held];
  }
  const lines = stages.flatMap((stage) => stage.lines);
  const [{ from }] = lines;
  return warmupMs > 0 ? [{ durationMs: warmupMs, from, to: from }, ...lines] : lines;
}

/**
 * Arrival i happens when i arrivals are expected: evenly spaced at a constant rate.
 * @param {number} expected up to the end @param {number} expectedInWarmup @param {number | null} requests measured ones at most
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
 * @param {number} seed
 * @param {number} expected operational time of the end @param {number} expectedInWarmup that of the warm-up's end
 * @param {number | null} requests measured ones at most
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
  /** @param {number} index */
  const at = (index) => {
    if (count === 0) return 0;
    const start = index - (index % CHECKPOINT);
    if (start !== blockStart) {
      block[0] = checkpoints[start / CHECKPOINT];
      for (let i = 1; i < CHECKPOINT; i++) block[i] = block[i - 1] + gap(seed, start + i);
      blockStart = start;
    }
    return block[index - start];
  };
  return { count, firstMeasured, at };
}

/** @param {number} seed @param {number} index */
function gap(seed, index) {
  return -Math.log(uniform(seed, index));
}

/** @typedef {{startMs: number, endMs: number, before: number, rate: number, slope: number}} Part rates per ms, `slope` per ms² */

/** A rate over time, in straight lines. @param {readonly Line[]} lines at least one; the last may never end */
export function createProfile(lines) {
  /** @type {Part[]} */
  const parts = [];
  let [startMs, before] = [0, 0];
  for (const { durationMs, from, to } of lines) {
    const slope = Number.isFinite(durationMs) ? (to - from) / 1000 / durationMs : 0;
    const part = { startMs, endMs: startMs + durationMs, before, rate: from / 1000, slope };
    parts.push(part);
    startMs = part.endMs;
    before += arrivalsIn(part, durationMs);
  }
  const [endMs, total] = [startMs, before];
  const starts = parts.map((part) => part.startMs);
  const counts = parts.map((part) => part.before);
  /** Index of the last search: the next is near it. */
  let near = 0;

  /** @param {readonly number[]} bounds ascending @param {number} value @returns {Part} the last one whose bound is at most `value` */
  function partAt(bounds, value) {
    while (near > 0 && bounds[near] > value) near--;
    while (near + 1 < bounds.length && bounds[near + 1] <= value) near++;
    return parts[near];
  }

  return {
    endMs,
    /** Arrivals before `ms`; those of the whole from the end on. @param {number} ms */
    expected(ms) {
      if (ms <= 0) return 0;
      if (ms >= endMs) return total;
      const part = partAt(starts, ms);
      return part.before + arrivalsIn(part, ms - part.startMs);
    },
    /**
     * When that many are expected: where nothing is due for a while, the end of that while. Infinity where there are never that many.
     * @param {number} arrivals
     */
    timeOf(arrivals) {
      if (arrivals > total) return Number.POSITIVE_INFINITY;
      const part = partAt(counts, Math.max(0, arrivals));
      return timeIn(part, Math.max(0, arrivals) - part.before);
    },
    /** Of the later line where two meet; 0 from the end on. @param {number} ms */
    ratePerSecond(ms) {
      if (ms < 0 || ms >= endMs) return 0;
      const part = partAt(starts, ms);
      return (part.rate + part.slope * (ms - part.startMs)) * 1000;
    },
  };
}

/** @param {Part} part @param {number} ms since its start */
function arrivalsIn({ rate, slope }, ms) {
  if (ms === Number.POSITIVE_INFINITY) return rate > 0 ? ms : 0;
  return (rate + (slope * ms) / 2) * ms;
}

/**
 * Of a = r t + s t²/2 the smaller solution, in the form that loses no digits where s is small: 2a / (r + sqrt(r² + 2 s a)).
 * @param {Part} part @param {number} arrivals since its start
 * @returns {number} ms; at most its end: rounding must not carry it into the next
 */
function timeIn({ startMs, endMs, rate, slope }, arrivals) {
  if (rate === 0 && slope === 0) return endMs;
  if (arrivals === 0) return startMs;
  if (slope === 0) return Math.min(startMs + arrivals / rate, endMs);
  const root = Math.sqrt(Math.max(0, rate * rate + 2 * slope * arrivals));
  return Math.min(startMs + (2 * arrivals) / (rate + root), endMs);
}
