/** The rate of a run, a stage or an operation: the time it covers, its error bar, and whether the target kept up. */
import { averageOf, meanOf, valueAtRank } from '../common/histogram.js';
import { maxOf, sumArrays, total } from '../common/sums.js';
import { plannedOf } from '../engine/recording/tally.js';
import { meanBar, rateBar } from '../verdict/bars.js';
import { lineThrough, poissonBounds } from '../verdict/statistics.js';
import { timesOf } from './latency.js';

/** @import { Distribution } from '../common/histogram.js' */
/** @import { CellTally } from '../engine/recording/tally.js' */
/** @import { WindowFacts } from '../engine/window.js' */

/**
 * @typedef {object} OwnFacts Facts that neither the tallies nor the engine have
 * @property {Record<string, string>} units of responses, by operation: `certificates`
 * @property {Record<string, string>} meanings by outcome: a sentence
 * @property {number} [toolErrors] see countToolErrors
 * @property {ReturnType<typeof limitsOf>} [limits] of all operations, which share the connections
 * @property {number | null} [concurrency] requests that a closed loop may have in flight; null: unknown
 * @property {boolean} [allOnTime] of an unfinished run: no backlog, nothing dropped, and only successes so far
 * @property {number} [startMs] of a stage, from the start of the measured phase
 * @property {boolean} [isIncomplete] parts of the plan are missing: more may have succeeded
 */
/** @typedef {WindowFacts & OwnFacts} RunFacts */
/** @typedef {{kept: boolean | null, delayMs: number, windowMs: number}} Pace see paceOf */
/** @typedef {{succeeded: number, errors: number, toolErrors: number, all: ReturnType<typeof timesOf>}} Sums `errors`: certainly the target's; `toolErrors`: the others */

/** @param {CellTally[]} operations @param {RunFacts} facts @param {Sums} sums */
export function ratesOf(operations, facts, { succeeded, errors, toolErrors, all }) {
  const pace = paceOf(operations, facts);
  const { kept, windowMs } = pace;
  const isOpen = facts.model === 'open';
  const isConstant = facts.arrivals === 'constant';
  const isEnded = facts.allOnTime === undefined;
  // Open loop: every planned arrival succeeded, and there was no backlog at the end.
  const isDone = kept === true && succeeded > 0 && succeeded === plannedOf(operations, facts).planned;
  const allOnTime = isOpen && (facts.allOnTime ?? isDone);
  const offeredPerSecond = isOpen && isConstant && isEnded ? (facts.offeredPerSecond ?? null) : null;
  const inWindow = perSecond(succeeded, windowMs);
  // The window may hold one constant arrival more or fewer than the rate implies.
  const ratePerSecond = (isDone ? offeredPerSecond : null) ?? inWindow;
  const { slowdown, idle, byTimes } = facts.limits ?? limitsOf(facts, pace, all);
  const inLongRun = byTimes && { low: succeeded * byTimes.low, high: succeeded * byTimes.high };
  const bar = rateBar({
    ...{ perSecond: ratePerSecond, ...fullSeconds(operations, facts, windowMs), offeredPerSecond, succeeded },
    ...possibleRates(operations, facts, { pace, succeeded, ratePerSecond, idle }),
    errors,
    // Otherwise these are among the errors that may be the tool's.
    waited: facts.interrupted ? 0 : sumOf(operations, 'neverSentDue'),
    isOnTime: kept === true && !facts.interrupted,
    errorsPerSecond: perSecond(errors, windowMs),
    // Not over the time until the last success: these requests might have succeeded within the planned one.
    lostPerSecond: perSecond(toolErrors, facts.windowMs),
    unseenPerSecond: isOpen && !isConstant ? perSecond(poissonBounds(0).high, windowMs) : 0,
    isServed: isConstant && allOnTime,
    // By Little's law, the mean number in flight: responses may come in clumps of as many.
    clump: (inWindow * meanOf(all.service.reported)) / 1000,
    slowdown,
    byTimes: inLongRun ?? undefined,
    memorySeconds: isOpen ? 0 : memoryOf(all.service.reported) / 1000,
  });
  const known = facts.isIncomplete ? { ...bar, high: null, tool: null } : bar;
  return { windowMs, ratePerSecond, offeredPerSecond, allOnTime, rateBar: known };
}

/** @param {Distribution} times @returns {number} their mean at a random moment, ms: longer ones are more likely then */
function memoryOf(times) {
  const mean = meanOf(times);
  return mean > 0 ? averageOf(times, (us) => (us / 1000) ** 2) / mean : 0;
}

/**
 * Requests are assigned to several operations at random, so the arrivals of each are Poisson.
 * @param {CellTally[]} all of the run, or of a stage @param {RunFacts} facts of all
 * @returns {(operation: CellTally) => RunFacts}
 */
export function factsOfEach(all, facts) {
  if (all.length === 1) return () => facts;
  const times = timesOf(all.flatMap(({ outcomes }) => Object.values(outcomes)));
  const limits = limitsOf(facts, paceOf(all, facts), times);
  return (operation) => ({ ...facts, ...plannedOf([operation], facts), arrivals: 'poisson', limits });
}

/**
 * In a closed loop, or with a backlog, the next request waits until a response is read. By Little's law the rate
 * is then requests in flight / response time, which includes the tool's lateness.
 * @param {RunFacts} facts @param {Pace} pace @param {Sums['all']} times
 * @returns {{slowdown: number, idle: number, byTimes: {low: number, high: number} | null}} factors by which the rate might have been higher:
 *   without the tool's lateness, and, in a closed loop, if all its connections had been in use until its end; `byTimes`: bounds of the rate per second
 *   that requests with such times give in the long run, divided by the number of these responses: a few that hang are rare, but each stops its connection
 */
function limitsOf({ model, windowMs: plannedMs, concurrency = null }, { kept, windowMs }, times) {
  const isClosed = model === 'closed';
  const hasBacklog = kept === false || windowMs > plannedMs;
  const { reported, target } = isClosed ? times.response : times.service;
  if ((!isClosed && !hasBacklog) || reported.totalCount === 0) return { slowdown: 1, idle: 1, byTimes: null };
  const { value: mean, low, high } = meanBar({ reported, target: reported });
  const targetMean = meanOf(target);
  const slowdown = targetMean > 0 ? Math.max(1, mean / targetMean) : Number.POSITIVE_INFINITY;
  if (!isClosed || concurrency === null || mean === 0) return { slowdown, idle: 1, byTimes: null };
  const inLongRun = (/** @type {number} */ meanMs) => (concurrency * 1000) / (reported.totalCount * meanMs);
  // With few times, their bound may be below the shortest, and shows nothing.
  const shortest = low > 0 && low >= valueAtRank(reported, 1) ? low : mean;
  const idle = Math.max(1, (inLongRun(mean) * windowMs) / 1000);
  return { slowdown, idle, byTimes: { low: inLongRun(high), high: inLongRun(shortest) } };
}

/** @param {number} count @param {number} ms @returns {number} 0 without time */
const perSecond = (count, ms) => (ms > 0 ? (count / ms) * 1000 : 0);

/**
 * In full seconds; the plan may be far longer than the run.
 * @param {CellTally[]} operations @param {RunFacts} facts @param {number} windowMs of the rate
 */
function fullSeconds(operations, { startMs = 0 }, windowMs) {
  const first = Math.ceil(startMs / 1000);
  const fullSeconds = Math.max(0, Math.floor((startMs + windowMs) / 1000) - first);
  const within = (/** @type {number[]} */ counts) => counts.slice(first, first + fullSeconds);
  return {
    fullSeconds,
    completedPerSecond: within(successesPerSecond(operations)),
    failedPerSecond: within(sumArrays(operations.map(({ perSecond: { failed } }) => failed))),
  };
}

/** Largest growth of the delay, per time, that counts as none. */
const MAX_GROWTH = 0.01;
/** So many responses after the planned end, and at most 1 %, are no backlog. */
const STRAGGLERS = 2;
/** With a larger share of responses after the planned end, the run was too short for its delay to show anything. */
const MAX_AFTER = 1 / 3;

/**
 * `windowMs`: the time over which rates are computed. Closed loop: its length (engine/window.js), or until the last
 * success if that is later; for a stage the planned time, if it passes on at most two more requests than it took over.
 * Open loop: the planned time; unless the target kept up, also the time until the last success.
 *
 * `kept`: an open loop's target kept up if all was done by the planned end. Otherwise it did if the delay did not
 * grow, and no more requests were in flight at the end than by Little's law: rate x delay, here twice that plus two.
 * null: the responses are too few or too uneven to show it. `delayMs`: the first; 0 if it does not matter.
 * @param {CellTally[]} operations @param {RunFacts} facts @returns {Pace}
 */
export function paceOf(operations, { model, startMs = 0, windowMs, interrupted }) {
  const lastSuccessMs = maxOf(
    operations.map((one) => one.lastSuccessMs),
    windowMs,
  );
  const after = sumOf(operations, 'successesAfter');
  const late = { kept: false, delayMs: 0, windowMs: lastSuccessMs };
  const onTime = { kept: true, delayMs: 0, windowMs };
  if (model === 'closed') {
    const carriedOver = carriedOverTo(operations);
    const isPassedOn = carriedOver > 0 && after <= carriedOver + 2 && !interrupted;
    return { ...late, windowMs: isPassedOn ? windowMs : lastSuccessMs };
  }
  if (sumOf(operations, 'neverSentDue') > 0) return { ...late, delayMs: growthOf(operations).delayMs };
  if (lastSuccessMs === windowMs) return onTime;
  const succeeded = total(successesPerSecond(operations));
  if (!interrupted && after <= Math.min(STRAGGLERS, succeeded / 100)) return onTime;
  const { isShown, isExcluded, delayMs, most } = growthOf(operations);
  if (isShown && !isSettling(operations, { startMs, windowMs, after })) return { ...late, delayMs };
  // The first requests fill a queue that is served after the end: if a target refuses others, that is not its rate.
  const isExplained = after <= Math.min(most, MAX_AFTER * succeeded) && !hasFailures(operations);
  return isExcluded && isExplained && !interrupted ? onTime : { ...late, kept: null };
}

/**
 * At first the delay grows even if the target keeps up, until the first slow responses come. But then response times
 * do not depend on when a request is due, so the number in flight follows from them. With a backlog, later requests take
 * longer: more are in flight at the end, or fewer at half time.
 * @param {CellTally[]} operations @param {{startMs: number, windowMs: number, after: number}} span `after`: successes after it
 */
function isSettling(operations, { startMs, windowMs, after }) {
  const outcomes = operations.flatMap((one) => Object.values(one.outcomes));
  const times = timesOf(outcomes.filter(({ success }) => success)).response.reported;
  const groupsUntil = (/** @type {'due' | 'done'} */ key, /** @type {number} */ atMs) =>
    groupsOf(operations, key).filter(({ ms }) => ms <= atMs);
  const boundsAt = (/** @type {number} */ atMs) => {
    const inFlight = (/** @type {number} */ dueMs) =>
      averageOf(times, (us) => Number(dueMs + us / 1000 > atMs));
    return poissonBounds(total(groupsUntil('due', atMs).map(({ weight, ms }) => weight * inFlight(ms))));
  };
  const halfMs = startMs + windowMs / 2;
  const atHalf = sumOf(groupsUntil('due', halfMs), 'weight') - sumOf(groupsUntil('done', halfMs), 'weight');
  return after <= boundsAt(startMs + windowMs).high && atHalf >= boundsAt(halfMs).low;
}

/** @param {CellTally[]} operations */
const carriedOverTo = (operations) => total(operations.map(({ carriedOver = 0 }) => carriedOver));

/** @param {CellTally[]} operations */
const hasFailures = (operations) =>
  operations.some(
    ({ dropped, outcomes }) => dropped > 0 || Object.values(outcomes).some(({ success }) => !success),
  );

/**
 * A rate may count the requests in flight at its end in several ways. `least`: not those done after the planned end, but
 * for as many as a stage took over. `most`: in a closed loop, if all connections had been in use until its end; in an
 * open loop, without the first delay, or within the plan if the target may have kept up.
 * @param {CellTally[]} operations @param {RunFacts} facts
 * @param {{pace: Pace, succeeded: number, ratePerSecond: number, idle: number}} rate
 */
function possibleRates(
  operations,
  facts,
  { pace: { kept, delayMs, windowMs }, succeeded, ratePerSecond, idle },
) {
  if (kept === true || windowMs === 0) return {};
  const after = Math.max(0, sumOf(operations, 'successesAfter') - carriedOverTo(operations));
  const inWindow = perSecond(succeeded - after, facts.windowMs);
  const openMs = kept === null ? facts.windowMs : Math.max(windowMs - delayMs, windowMs / 10);
  // While the last backlog of one node is worked off, others may be idle: the rate of the planned time may be the true one.
  const most =
    facts.model === 'closed' ? ratePerSecond * idle : Math.max(inWindow, perSecond(succeeded, openMs));
  return {
    least: facts.windowMs > 0 ? Math.min(ratePerSecond, inWindow) : ratePerSecond,
    most: Math.max(ratePerSecond, most),
  };
}

/**
 * The delay is the time from when the n-th request was due to when the n-th success was done, whichever request that
 * was: a target that serves a share 1/(1 + g) of the offered rate lets it grow by g per time, in whatever order it serves.
 * @param {CellTally[]} operations
 * @returns {{delayMs: number, isShown: boolean, isExcluded: boolean, most: number}} `delayMs`: at first; `most`: in
 *   flight without a backlog
 */
export function growthOf(operations) {
  const [due, done] = /** @type {const} */ (['due', 'done']).map((key) =>
    rankTimes(groupsOf(operations, key)),
  );
  const dueAt = through(due);
  const points = done.map(({ weight, rank, ms }) => ({ weight, x: dueAt(rank), y: ms - dueAt(rank) }));
  const { slope, at } = lineThrough(points);
  const [first, last] = [points[0]?.x ?? 0, points.at(-1)?.x ?? 0];
  const sent = total(done.map(({ weight }) => weight));
  // Due at about the same time, they show no line.
  const delayMs = Math.max(0, last > first ? at(first) : (points[0]?.y ?? 0));
  const inFlight = last > first ? (sent / (last - first)) * delayMs : Infinity;
  return {
    ...{ delayMs, isShown: slope.low > MAX_GROWTH, isExcluded: slope.high <= MAX_GROWTH },
    most: STRAGGLERS + 2 * inFlight,
  };
}

/** @param {CellTally[]} operations @param {'due' | 'done'} key @returns {{weight: number, ms: number}[]} successes: numbers and mean times */
function groupsOf(operations, key) {
  const parts = operations.map(({ successTimes }) => successTimes[key]);
  const sumMs = sumArrays(parts.map((part) => part.sumMs));
  const counts = sumArrays(parts.map(({ count }) => count));
  return counts.flatMap((weight, i) => (weight > 0 ? { weight, ms: sumMs[i] / weight } : []));
}

/** @param {{weight: number, ms: number}[]} groups of requests: their number and mean time @returns in order, with the mean rank */
function rankTimes(groups) {
  let before = 0;
  return groups
    .toSorted((a, b) => a.ms - b.ms)
    .map(({ weight, ms }) => {
      before += weight;
      return { weight, ms, rank: before - weight / 2 };
    });
}

/** @param {{rank: number, ms: number}[]} points in order @returns {(rank: number) => number} lines between them, and beyond; for ranks in order */
function through(points) {
  let i = 1;
  return (rank) => {
    while (i < points.length - 1 && points[i].rank < rank) i++;
    const [a, b] = [points[i - 1], points[i]];
    return b === undefined ? a.ms : a.ms + ((rank - a.rank) / (b.rank - a.rank)) * (b.ms - a.ms);
  };
}

/** @template {string} Key @param {readonly Record<Key, number>[]} of @param {Key} key */
export const sumOf = (of, key) => total(of.map((one) => one[key]));

/** @param {CellTally[]} operations */
export const successesPerSecond = (operations) =>
  sumArrays(operations.map(({ perSecond }) => perSecond.succeeded));
