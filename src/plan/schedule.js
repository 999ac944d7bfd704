/**
 * The open loop's schedule: index -> due time, from the plan alone. It needs no clock, no state shared between
 * shards and no memory for a backlog. Times are from the start of the warm-up.
 */
import { rejectIf } from '../common/errors.js';
import { uniform } from '../common/random.js';
import { shareOf } from './shard-part.js';
/** @import { Line, LoadPlan } from './load.js' */

/**
 * @typedef {object} Schedule
 * @property {number} count of all arrivals; their indexes are 0 .. count-1
 * @property {number} firstMeasured index of the first arrival that is due after the warm-up
 * @property {number} endMs end of the schedule; if --requests ends it, the time when one more would be due
 * @property {(index: number) => number} dueMs never decreases with the index
 */

/** A time this close to a limit counts as at the limit: 1 ns, far above rounding errors. */
export const TOLERANCE_MS = 1e-6;

/** The time of every 1024th Poisson arrival is stored; the others are recomputed when needed. */
const CHECKPOINT = 1024;
/** All Poisson arrivals are computed before the run: 3 s for this many. */
const MAX_POISSON_ARRIVALS = 100_000_000;

/** @param {readonly LoadPlan[]} loads @throws {PkiLoadError} if they have too many Poisson arrivals, together */
export function checkArrivals(loads) {
  let expected = 0;
  for (const load of loads.filter(({ arrivals }) => arrivals === 'poisson')) {
    const { warmupMs, durationMs, requests } = load;
    const profile = createProfile(linesOf(load, Number(load.ratePerSecond)));
    const [most, inTime] = [requests, durationMs].map((limit) => limit ?? Number.POSITIVE_INFINITY);
    expected += Math.min(profile.expected(warmupMs + inTime), profile.expected(warmupMs) + most);
  }
  const message = `--arrivals poisson allows ${MAX_POISSON_ARRIVALS} arrivals, but there would be ${Math.round(expected)}.`;
  rejectIf(expected > MAX_POISSON_ARRIVALS, message, 'Shorten the run, or use --arrivals constant.');
}

/** @param {LoadPlan} load an open loop @returns {Schedule} */
export function createSchedule(load) {
  const { ratePerSecond, warmupMs, durationMs, requests, arrivals, seed } = load;
  if (ratePerSecond === null) throw new TypeError('a closed loop has no schedule');
  const { expected, timeOf } = createProfile(linesOf(load, ratePerSecond));
  const limit = durationMs === null ? Number.POSITIVE_INFINITY : warmupMs + durationMs;
  const expectedTotal = expected(limit - TOLERANCE_MS);
  const process =
    arrivals === 'poisson'
      ? poissonProcess(seed, expectedTotal, expected(warmupMs), requests)
      : constantProcess(expectedTotal, expected(warmupMs - TOLERANCE_MS), requests);
  const { firstMeasured, at } = process;
  // After a pause at the end of a stage, the last arrival may be too late.
  const isLate = process.count > 0 && timeOf(at(process.count - 1)) > limit - TOLERANCE_MS;
  const count = isLate ? process.count - 1 : process.count;
  const isCut = requests !== null && count === firstMeasured + requests;
  return {
    count,
    firstMeasured,
    endMs: isCut ? Math.min(timeOf(at(count - 1) + 1), limit) : limit,
    // Rounding must not move an arrival across the end of the warm-up, where recorders start counting.
    dueMs(index) {
      const ms = timeOf(at(index));
      return index < firstMeasured ? Math.min(ms, warmupMs - TOLERANCE_MS) : Math.max(ms, warmupMs);
    },
  };
}

/**
 * A warm-up before stages has the initial rate of the first stage. Without stages the rate rises linearly from
 * zero over the ramp-up, and then is constant: t² rate / (2 ramp) arrivals, then rate (t - ramp / 2).
 * @param {LoadPlan} load @param {number} rate @returns {Line[]}
 */
export function linesOf({ rampUpMs, warmupMs, stages }, rate) {
  if (stages === null) {
    const constant = { durationMs: Number.POSITIVE_INFINITY, from: rate, to: rate };
    return rampUpMs > 0 ? [{ durationMs: rampUpMs, from: 0, to: rate }, constant] : [constant];
  }
  const lines = stages.flatMap((stage) => stage.lines);
  const [{ from }] = lines;
  return warmupMs > 0 ? [{ durationMs: warmupMs, from, to: from }, ...lines] : lines;
}

/**
 * The planned rate of an open loop, or of its part. Counted arrivals would be up to one more or fewer.
 * @param {LoadPlan} load @param {number} startMs from the start of the measured phase @param {number} endMs
 * @returns {number | null} mean per second; null: a closed loop, or no time
 */
export function offeredBetween(load, startMs, endMs) {
  const { ratePerSecond, warmupMs, shard } = load;
  if (ratePerSecond === null || endMs <= startMs) return null;
  const { expected } = createProfile(linesOf(load, ratePerSecond));
  const arrivals = expected(warmupMs + endMs) - expected(warmupMs + startMs);
  return (arrivals / (endMs - startMs) / (shard?.of ?? 1)) * 1000;
}

/**
 * How many requests a closed loop, or its part, may have in flight.
 * @param {LoadPlan} load @param {number} startMs from the start of the measured phase @param {number} endMs
 * @returns {number | null} the mean, rounded up; null: an open loop
 */
export function inFlightBetween(load, startMs, endMs) {
  const { model, stages, concurrency, warmupMs, shard } = load;
  if (model === 'open') return null;
  if (stages === null || endMs <= startMs) return shareOf(concurrency, shard);
  // Here the profile's rate is a number of requests in flight.
  const { expected } = createProfile(linesOf(load, concurrency));
  const seconds = (endMs - startMs) / 1000;
  const mean = (expected(warmupMs + endMs) - expected(warmupMs + startMs)) / seconds;
  return shareOf(Math.ceil(mean - TOLERANCE_MS), shard);
}

/**
 * Arrival i is due when the profile expects i arrivals: at a constant rate, they are evenly spaced.
 * @param {number} expected up to the end @param {number} expectedInWarmup @param {number | null} requests maximum
 */
function constantProcess(expected, expectedInWarmup, requests) {
  const firstMeasured = expectedInWarmup > 0 ? Math.floor(expectedInWarmup) + 1 : 0;
  const inTime = Number.isFinite(expected) ? Math.floor(expected) + 1 : Number.POSITIVE_INFINITY;
  const count = Math.min(inTime, requests === null ? Number.POSITIVE_INFINITY : firstMeasured + requests);
  return { count, firstMeasured: Math.min(firstMeasured, count), at: (/** @type {number} */ index) => index };
}

/**
 * A Poisson process of rate one: gap j is -ln(u_j), and arrival i the sum of gaps 0..i. The order of summation is
 * fixed, so every shard computes the same times; any block can be recomputed from its checkpoint.
 * @param {number} seed
 * @param {number} expected operational time of the end @param {number} expectedInWarmup that of the warm-up's end
 * @param {number | null} requests maximum number of measured arrivals
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
const gap = (seed, index) => -Math.log(uniform(seed, index));

/** @typedef {{startMs: number, endMs: number, before: number, rate: number, slope: number}} Part rates per ms, `slope` per ms² */

/** All of V8's kind for fractions: if a fraction followed after integers, V8 would discard compiled code. @type {Part} */
const FRACTIONS = {
  startMs: Number.NaN,
  endMs: Number.NaN,
  before: Number.NaN,
  rate: Number.NaN,
  slope: Number.NaN,
};

/** A rate over time, as straight lines. @param {readonly Line[]} lines at least one; the last may never end */
export function createProfile(lines) {
  /** @type {Part[]} */
  const parts = [];
  let [startMs, before] = [0, 0];
  for (const { durationMs, from, to } of lines) {
    const slope = Number.isFinite(durationMs) ? (to - from) / 1000 / durationMs : 0;
    const endMs = startMs + durationMs;
    const part = Object.assign({ ...FRACTIONS }, { startMs, endMs, before, rate: from / 1000, slope });
    parts.push(part);
    startMs = part.endMs;
    before += arrivalsIn(part, durationMs);
  }
  const [endMs, total] = [startMs, before];
  const starts = parts.map((part) => part.startMs);
  const counts = parts.map((part) => part.before);
  /** Result of the last search: the next one is usually near it. */
  let near = 0;

  /** @param {readonly number[]} bounds ascending @param {number} value @returns {Part} the last with bound <= value */
  function partAt(bounds, value) {
    while (near > 0 && bounds[near] > value) near--;
    while (near + 1 < bounds.length && bounds[near + 1] <= value) near++;
    return parts[near];
  }

  return {
    endMs,
    /** Arrivals before `ms`; all from the end on. @param {number} ms */
    expected(ms) {
      if (ms <= 0) return 0;
      if (ms >= endMs) return total;
      const part = partAt(starts, ms);
      return part.before + arrivalsIn(part, ms - part.startMs);
    },
    /** When this many are expected; in a pause, its end; Infinity: never. @param {number} arrivals */
    timeOf(arrivals) {
      if (arrivals > total) return Number.POSITIVE_INFINITY;
      const part = partAt(counts, Math.max(0, arrivals));
      return timeIn(part, Math.max(0, arrivals) - part.before);
    },
    /** Where two lines meet, the rate of the later one; 0 from the end on. @param {number} ms */
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
 * The smaller solution of a = r t + s t²/2, as 2a / (r + sqrt(r² + 2 s a)), which loses no digits if s is small.
 * @param {Part} part @param {number} arrivals since its start
 * @returns {number} ms; at most its end: rounding must not move it into the next part
 */
function timeIn({ startMs, endMs, rate, slope }, arrivals) {
  if (rate === 0 && slope === 0) return endMs;
  if (arrivals === 0) return startMs;
  if (slope === 0) return Math.min(startMs + arrivals / rate, endMs);
  const root = Math.sqrt(Math.max(0, rate * rate + 2 * slope * arrivals));
  return Math.min(startMs + (2 * arrivals) / (rate + root), endMs);
}
