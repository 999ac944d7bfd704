/**
 * Every reason against a measurement, and every remark on one, by its code (meanings: docs/verdicts.md). Invalid:
 * the tool did not offer the requested load, or the counts do not add up. Error bars include the effects of remarks,
 * but for the queue at the target after a stop of the tool.
 */
import { valueAtShare } from '../common/histogram.js';
import { total } from '../common/sums.js';
import { formatCount, formatDuration, formatLatency, formatRate, listFirst } from '../common/units.js';
import { MIN_STALLED_MS } from '../engine/watch/sender.js';
import { percentileBar } from './bars.js';
import { failedAtLimits } from './observed.js';

/** @import { Distribution } from '../common/histogram.js' */
/** @import { Observed } from './observed.js' */

/** @typedef {{grade?: 'invalid' | 'remark', text: string, detail?: string, remedy: string}} Reason default: remark */
/** @typedef {(observed: Observed) => Reason | null} Find null: it does not apply */

/** Share of planned requests that the tool did not send, or that failed at a limit of its machine. */
const NOT_OFFERED = 0.01;
/** Share of requests sent in a different second, or tenth of a second, than they were due in. */
const [OTHER_SECOND, OTHER_TENTH] = [0.05, 0.25];
/** Share of the measured phase in which a closed loop stood still, or was still busy with the warm-up. */
const STALLED = 0.05;
/** A remark is due if the tool may have added both this share and this time to the p99. */
const [LATE_SHARE, LATE_MS] = [0.1, 1];
/** Also if it sent a request this late, and by that share of the p99: the burst that follows makes other requests wait. */
const STOPPED_MS = 100;
/** A machine is full if its idle share is below this, and some thread waits for a core for this share of time. */
const [IDLE, PRESSURE] = [0.05, 0.5];
/**
 * A backlog grows if each quarter's minimum is this many times the previous one's, the last is at least this share of the plan and this many
 * requests, they differ by this many standard deviations, and at the end there are this many times as many as Little's law explains by the
 * shorter responses, at this share of all.
 */
const [GROWTH, GROWN_SHARE, GROWN_MIN, DEVIATIONS, UNEXPLAINED, SHORT] = [1.2, 0.01, 5, 2, 1.2, 0.05];
/** Minimum shares for a remark: of requests that opened a connection first, and of unchecked responses. */
const [CONNECTED_FIRST, UNCHECKED] = [0.01, 0.5];

/** Parts of a plan that a reason names. */
const MAX_PARTS = 3;

/** @satisfies {Record<string, Find>} */
export const REASONS = Object.freeze({
  parts_missing({ missing = [] }) {
    if (missing.length === 0) return null;
    const named = missing.map(({ part, why }) => `${part} (${why})`);
    const text = `The results of these parts of the plan are missing or incomplete: ${listFirst(named, MAX_PARTS)}.`;
    return { grade: 'invalid', text, remedy: 'Repeat the run: the figures are those of the other parts.' };
  },
  nothing_measured({ response, outcomes }) {
    if (response.totalCount > 0 || (outcomes.dropped ?? 0) > 0) return null;
    const text = 'No request was sent in the measured phase.';
    return { grade: 'invalid', text, remedy: 'Use a longer run, or lower --warmup.' };
  },
  load_not_offered: notOffered,
  parts_invalid({ invalid = [] }) {
    if (invalid.length === 0) return null;
    const named = invalid.map(({ part, why }) => `${part}: ${why}`);
    return {
      grade: invalid.every(({ isJudgedOnSum }) => isJudgedOnSum) ? 'remark' : 'invalid',
      text: `The measurement of a part is invalid by itself: ${listFirst(named, MAX_PARTS)}`,
      remedy: 'Remove the cause, and repeat the run.',
    };
  },
  parts_apart: ({ apart }) => apart ?? null,
  parts_ended_apart: ({ endedApart }) => endedApart ?? null,
  bookkeeping({ problems = [] }) {
    if (problems.length === 0) return null;
    const text = `The figures do not add up: ${problems.slice(0, 3).join('; ')}.`;
    return { grade: 'invalid', text, remedy: 'Please report it with the result file.' };
  },
  busy_machine: busyMachine,
  backlog_growing: backlogGrowing,
  still_changing: stillChanging,
  warmup_overlap: warmupOverlap,
  connection_setup({ dialled, sent, plannedConnects }) {
    if (sent === 0 || dialled / sent < plannedConnects + CONNECTED_FIRST) return null;
    const text = `${ofAll(dialled, sent)} requests had to connect first, and their latency includes that.`;
    return { text, remedy: 'Let the target keep connections open for longer, or raise --rate.' };
  },
  connections_rested({ rested, sent, limited = 0 }) {
    if (!isTooMany(rested - limited, sent)) return null;
    const text = `Connections rested after failed connects. They would have sent about ${formatCount(rested)} further requests, which may have failed; ${formatCount(sent)} were sent.`;
    return { text, remedy: 'Use --rate, or only as many connections (--concurrency) as the target accepts.' };
  },
  unchecked({ unchecked, succeeded }) {
    if (unchecked === 0 || unchecked / succeeded < UNCHECKED) return null;
    const text = `${ofAll(unchecked, succeeded)} successful responses came too fast to be checked; only their HTTP status shows success.`;
    return { text, remedy: 'Lower --rate or --concurrency, use --threads, or give the tool more CPU.' };
  },
});

/** @param {Observed} observed */
export function judgeMeasurement(observed) {
  const finders = Object.entries(/** @type {Record<string, Find>} */ (REASONS));
  const reasons = finders.flatMap(([code, find]) => {
    const reason = find(observed);
    return reason === null ? [] : [{ code, grade: /** @type {const} */ ('remark'), ...reason }];
  });
  const isInvalid = reasons.some(({ grade }) => grade === 'invalid');
  return { verdict: /** @type {'invalid' | 'valid'} */ (isInvalid ? 'invalid' : 'valid'), reasons };
}

/** @param {number} count @param {number} all */
const ofAll = (count, all) => `${formatCount(count)} of ${formatCount(all)}`;

/** @param {number} count @param {number} all @returns {boolean} the load differs from the requested one */
const isTooMany = (count, all) => count > 0 && count >= NOT_OFFERED * all;

/** @param {Pick<Observed, 'model'>} observed */
function moreCpu({ model }) {
  return `Give the tool more CPU, lower ${model === 'open' ? '--rate' : '--concurrency'}, or use --threads.`;
}

/** If the target could not keep up either, backlogGrowing is the remark instead. @type {Find} */
function notOffered(observed) {
  const {
    planned,
    sent,
    neverSent,
    forgone,
    limited = 0,
    droppedLate,
    stalledMs,
    windowMs,
    model,
  } = observed;
  const { second, tenth } = observed.displaced;
  const hasLeft = !observed.interrupted && observed.leftWhileFree && neverSent >= NOT_OFFERED * planned;
  const isSecond = second > OTHER_SECOND * sent;
  const isDisplaced = model === 'open' && sent > 0 && (isSecond || tenth > OTHER_TENTH * sent);
  const moved = ofAll(Math.round(isSecond ? second : tenth), sent);
  const failed = failedAtLimits(observed.outcomes) + limited;
  const isStalled = model === 'closed' && stalledMs >= MIN_STALLED_MS && stalledMs > STALLED * windowMs;
  const stage = model === 'closed' ? (observed.stalledStage ?? null) : null;
  const isForgone = isTooMany(forgone, planned) && !isTooMany(neverSent - forgone, planned);
  const late = [
    hasLeft && `${ofAll(neverSent, planned)} planned requests were not sent although connections were free.`,
    isForgone &&
      `The tool was late, so up to ${ofAll(forgone, planned)} planned requests found no free connection in time.`,
    isTooMany(droppedLate, planned) &&
      `The tool was late and dropped ${ofAll(droppedLate, planned)} arrivals, which never reached the target.`,
    isStalled &&
      `The tool stood still for ${formatDuration(stalledMs)} of ${formatDuration(windowMs)}, so the target received a lower load.`,
    stage !== null &&
      stage.stalledMs > STALLED * stage.windowMs &&
      `The tool stood still for ${formatDuration(stage.stalledMs)} of ${formatDuration(stage.windowMs)} in stage ${stage.stage}, so the target received a lower load.`,
    isDisplaced &&
      `The tool was late and sent about ${moved} requests in a different ${isSecond ? 'second' : 'tenth of a second'} than planned, so the target received a different load.`,
  ].find((text) => text !== false);
  if (late !== undefined) return { grade: 'invalid', text: late, remedy: moreCpu(observed) };
  const { revoked_again: again = 0, already_expired: expired = 0 } = observed.outcomes;
  if (isTooMany(again + expired, sent)) {
    const text =
      again >= expired
        ? `${ofAll(again, sent)} requests came when all certificates of the run were revoked, and revoked one again.`
        : `${ofAll(expired, sent)} requests came when their certificate had expired, and could not revoke it.`;
    const remedy =
      again >= expired
        ? 'Raise --pool, or limit the run with --requests, without --warmup.'
        : 'Use a role with a longer max_ttl, or a shorter run.';
    return { grade: 'invalid', text, remedy };
  }
  if (!isTooMany(failed, sent + limited)) return null;
  return {
    grade: 'invalid',
    text: `${ofAll(failed, sent + limited)} requests failed${limited > 0 ? ', or could not be sent,' : ''} because the machine that sends them had no file descriptor or local port left.`,
    remedy:
      'Raise ulimit -n (open files), lower --concurrency or the rate of new connections, or use several --local-address.',
  };
}

/** @type {Find} */
function busyMachine(observed) {
  const { response, ownResponse, targetIsLocal, machine, model, lag, readLate, stalledMs } = observed;
  if (response.totalCount === 0) return null;
  const { value, tool } = percentileBar({ reported: response, target: ownResponse }, 0.99);
  const isLate = tool >= LATE_MS && tool > LATE_SHARE * value;
  const isFull = targetIsLocal && (machine.idleShare ?? 1) < IDLE && (machine.pressureShare ?? 0) >= PRESSURE;
  const isOpen = model === 'open';
  const latestMs = isOpen ? lag.maxValue / 1000 : stalledMs;
  const isStopped = latestMs >= STOPPED_MS && latestMs > LATE_SHARE * value;
  if (!isLate && !isFull && !isStopped) return null;
  const latest = formatLatency(latestMs);
  const effect = [
    isLate && `up to ${formatLatency(tool)} of the p99 may be this tool's own lateness`,
    isStopped &&
      (isOpen ? `the tool sent requests up to ${latest} late` : `the tool stood still for ${latest}`),
    'the target, which shares it, had to wait for a core',
  ].find((text) => text !== false);
  const countedMs = total([lag, readLate].map(p99Of));
  const isIdle = observed.runQueueShare !== null && observed.busyShare < IDLE_BELOW;
  const known = causeOf(observed);
  const isWokenLate = known === null && isIdle && isLate && !isFull && !isStopped && 2 * countedMs < tool;
  const cause = isWokenLate ? WOKEN_LATE : known;
  const burst = `After up to ${latest} it sent the late requests at once: their wait for each other at the target counts as the target's.`;
  const shared = 'The target shares this machine, and its latency includes its waits for a core.';
  const detail = [isStopped && isOpen && burst, isFull && (isLate || isStopped) && shared, cause]
    .filter(Boolean)
    .join(' ');
  const remedy = isFull
    ? 'Run the tool on another machine, or stop other programs.'
    : isWokenLate
      ? 'Use a machine whose cores are its own.'
      : moreCpu(observed);
  return { text: `${whichBusy(observed)}: ${effect}.`, ...(detail !== '' && { detail }), remedy };
}

/** @param {Observed} observed @returns {string} */
function whichBusy({ busyParts }) {
  if (busyParts === undefined) return 'This machine was busy';
  const [machine, was] = busyParts.length === 1 ? ['machine', 'was'] : ['machines', 'were'];
  return `The ${machine} of ${listFirst(busyParts, MAX_PARTS)} ${was} busy`;
}

/** A busier sender hardly sleeps. */
const IDLE_BELOW = 0.5;
const WOKEN_LATE =
  'The sender was late by less, but other threads of the tool were woken late: the cores of a virtual machine wake up late if its host is busy.';

/** @param {Distribution} late */
const p99Of = (late) => (late.totalCount === 0 ? 0 : valueAtShare(late, 0.99));

/** @param {Observed} observed @returns {string | null} a sentence */
function causeOf({ gc, runQueueShare, busyShare }) {
  const queued = runQueueShare ?? 0;
  if (queued >= 0.01)
    return `The sender waited for a CPU core for ${(queued * 100).toPrecision(2)} % of the time.`;
  if (busyShare >= 0.9) return `The sender was busy for ${Math.floor(busyShare * 100)} % of the time.`;
  if (gc.longestMs < LATE_MS) return null;
  return `The sender collected garbage for up to ${formatDuration(gc.longestMs)}.`;
}

/** @type {Find} */
function backlogGrowing({ backlog, planned, neverSent, interrupted, leftWhileFree, forgone, ...seen }) {
  const remedy = 'Lower --rate to a level the target can sustain, or raise --concurrency.';
  if (!interrupted && !leftWhileFree && isTooMany(neverSent - forgone, planned)) {
    const text = `${ofAll(neverSent, planned)} planned requests still waited for a free connection when the run ended: the target did not keep up, and the percentiles depend on the length of the run.`;
    return { text, remedy };
  }
  const [, second, third, last] = backlog.quarterMins;
  if (second === null || third === null || last === null) return null;
  // The numbers in flight of a target without a queue are about Poisson distributed.
  const isClear = last - second >= DEVIATIONS * Math.sqrt(second + last);
  const isMore = second > 0 && third >= GROWTH * second && last >= GROWTH * third && isClear;
  if (!isMore || last < Math.max(GROWN_MIN, GROWN_SHARE * planned)) return null;
  // Also without a queue the number in flight rises until the first response. With one, the first requests take the shortest time.
  const shortMs = seen.response.totalCount > 0 ? valueAtShare(seen.response, SHORT) : 0;
  const explained = seen.windowMs > 0 ? (planned * shortMs) / seen.windowMs : 0;
  if (backlog.atEnd <= UNEXPLAINED * explained) return null;
  const text = `The backlog was still growing when the last requests came due: ${formatCount(backlog.atEnd)} had no response yet, and the percentiles depend on the length of the run.`;
  return { text, remedy };
}

/** An open loop also counts the requests that came due meanwhile. @type {Find} */
function warmupOverlap({ model, warmupOverlapMs, concurrency, response, firstMs }) {
  const ms = warmupOverlapMs / concurrency;
  if (model === 'open' || response.totalCount === 0 || ms <= response.maxValue / 1000) return null;
  const text = `The connections were still busy with requests of the warm-up for the first ${formatDuration(ms)} of the measured phase, on average: longer than with any request that counts.`;
  const grade = ms > STALLED * firstMs ? 'invalid' : 'remark';
  return { grade, text, remedy: 'Use a longer --warmup, or repeat the run.' };
}

/** @type {Find} */
function stillChanging({ latencyDrift, rateDrift }) {
  const drift = latencyDrift ?? rateDrift;
  if (drift === null) return null;
  const { stage, from, to } = drift;
  const where = stage === undefined ? 'over the run' : `in stage ${stage}`;
  const change =
    drift === latencyDrift
      ? `the median response time went from ${formatDuration(from)} to ${formatDuration(to)}`
      : `the rate went from ${formatRate(from)} to ${formatRate(to)}`;
  const [before, longer] =
    stage === undefined ? ['Raise --warmup', '--duration'] : ['Add a stage before it', 'lengthen it'];
  const remedy = `${before} for the target to settle, or ${longer} to cover the whole change.`;
  const text = `The target had not settled: ${change} ${where}, so the figures depend on when the run ended.`;
  return { text, remedy };
}
