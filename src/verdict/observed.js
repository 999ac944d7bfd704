/** The tool's observations of its own process and threads -> the basis of the verdict. */
import { hostname, networkInterfaces } from 'node:os';
import { figures, sumHistograms, valueAtRank } from '../common/histogram.js';
import { isLoopback, toIPv4 } from '../common/listen.js';
import { maxOf, total } from '../common/sums.js';
import { addUp } from '../engine/recording/tally.js';
import { mergeBacklogs, worstStall } from '../engine/watch/sender.js';
import { driftsOf } from './trend.js';
/** @import { Second } from '../engine/recording/seconds.js' */
/** @import { CellTally, Tally } from '../engine/recording/tally.js' */
/** @import { ShardEnd } from '../engine/shard.js' */
/** @import { MachineEnd } from '../engine/watch/machine.js' */
/** @import { WindowFacts } from '../engine/window.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Distribution } from '../common/histogram.js' */

/**
 * Counts add up over threads and parts of a plan. Shares are of the worst sender thread's time, and 0 if the run
 * never reached the measured phase; `runQueueShare` is null if unknown.
 * @typedef {Pick<ShardEnd, 'droppedLate' | 'forgone' | 'limited' | 'leftWhileFree' | 'stalledMs' | 'stalledStage' | 'warmupOverlapMs' | 'dialled' | 'handshakes' | 'backlog'>
 *   & Pick<ShardEnd['watch'], 'gc'> & {busyShare: number, spinShare: number, runQueueShare: number | null}} Counted
 */
/** @typedef {Omit<Tally<Distribution>, 'cells'>} Lateness summed over the recorders */
/** @typedef {Counted & Lateness & {machine: ReturnType<typeof machineOf>}} Watched */
/** @typedef {{text: string, remedy: string, grade: 'invalid' | 'remark'}} StartGap parts started at different times */
/** @typedef {ReturnType<typeof observe> & {problems?: string[]}} Observed `problems`: of the bookkeeping */

/** @param {ShardEnd[]} ends of one run @param {Lateness} lateness @param {MachineEnd} machine @returns {Watched} */
export function watchedOf(ends, lateness, machine) {
  const counted = ends.map(({ watch: { gc, wallMs, busyMs, emptySpinMs, runQueueMs }, ...counts }) => {
    const share = (/** @type {number} */ ms) => (wallMs > 0 ? ms / wallMs : 0);
    const runQueueShare = runQueueMs === null ? null : share(runQueueMs);
    return { ...counts, gc, busyShare: share(busyMs), spinShare: share(emptySpinMs), runQueueShare };
  });
  return { ...mergeCounted(counted), ...lateness, machine: machineOf([machine]) };
}

/** @param {Counted[]} parts @returns {Counted} */
export function mergeCounted(parts) {
  const worst = (/** @type {(part: Counted) => number} */ of) => maxOf(parts.map(of), 0);
  return {
    ...addUp(
      parts.map(({ droppedLate, forgone, limited, dialled, handshakes, warmupOverlapMs }) => ({
        droppedLate,
        forgone,
        limited,
        dialled,
        handshakes,
        warmupOverlapMs,
      })),
    ),
    leftWhileFree: parts.some(({ leftWhileFree }) => leftWhileFree),
    stalledMs: worst(({ stalledMs }) => stalledMs),
    stalledStage: worstStall(parts.flatMap(({ stalledStage }) => stalledStage ?? [])),
    gc: { ...addUp(parts.map(({ gc }) => gc)), longestMs: worst(({ gc }) => gc.longestMs) },
    busyShare: worst(({ busyShare }) => busyShare),
    spinShare: worst(({ spinShare }) => spinShare),
    runQueueShare: ifKnown(Math.max, parts, ({ runQueueShare }) => runQueueShare),
    backlog: mergeBacklogs(parts.map(({ backlog }) => backlog)),
  };
}

/** @param {MachineEnd[]} machines one, or one per part; a figure unknown for any of them is null */
export function machineOf(machines) {
  const sum = (/** @type {number[]} */ ...cores) => total(cores);
  const coresOf = (/** @type {MachineEnd} */ { wallMs, processCpuMs }) =>
    wallMs > 0 ? processCpuMs / wallMs : null;
  return {
    /** CPU time as a number of cores. */
    processCores: ifKnown(sum, machines, coresOf),
    idleShare: ifKnown(Math.min, machines, ({ idleShare }) => idleShare),
    pressureShare: ifKnown(Math.max, machines, ({ pressureShare }) => pressureShare),
  };
}

/** @template T @param {typeof Math.max} join @param {T[]} parts @param {(part: T) => number | null} of */
function ifKnown(join, parts, of) {
  const values = parts.map(of);
  return values.length === 0 || values.includes(null) ? null : join(...values.map(Number));
}

/** Outcomes at limits of this machine. */
const AT_LIMITS = ['too_many_open_files', 'no_local_port'];
/** Outcomes that may not be due to the target; of a revocation: the certificates of the run were used up, or had expired. */
const DOUBTFUL = [...AT_LIMITS, 'revoked_again', 'already_expired', 'cut_off', 'tool_late'];

/** @param {Record<string, number>} outcomes */
export const failedAtLimits = (outcomes) => total(AT_LIMITS.map((name) => outcomes[name] ?? 0));

/** Outcomes that may be due to a token that ended: Vault then also revokes the certificates that it leased to it. */
export const OF_ENDED_TOKEN = Object.freeze(['permission_denied', 'status_revoked', 'good_but_revoked']);

/** Note on each operation with such outcomes. */
export const TOKEN_ENDED =
  'The token had ended by the end of the run (expired, revoked or used up), so permission_denied, and the revocation of certificates leased to it, may be due to that, not to the target.';

/**
 * @param {CellTally} operation @param {{interrupted: boolean}} facts
 * @returns {string[]} its outcomes that may not be due to the target: what still waited for a connection when the user stopped the run might have succeeded
 */
export const doubtfulOf = ({ verification: { notes } }, { interrupted }) => [
  ...DOUBTFUL,
  ...(notes.includes(TOKEN_ENDED) ? OF_ENDED_TOKEN : []),
  ...(interrupted ? ['never_sent'] : []),
];

/**
 * Most requests that may have missed the target because the tool was late. After an interruption, `forgone` is part of the requests
 * that were left waiting, which each block counts itself.
 * @param {Pick<Counted, 'droppedLate' | 'forgone'>} watched @param {{interrupted: boolean}} facts
 */
export const countToolErrors = ({ droppedLate, forgone }, { interrupted }) =>
  droppedLate + (interrupted ? 0 : forgone);

/**
 * @param {object} run @param {LoadPlan} run.load @param {CellTally[]} run.operations
 * @param {{totals: Record<'planned' | 'neverSent' | 'sent' | 'succeeded', number>, verification: {unchecked: number},
 *   outcomes: Record<string, number>}} run.block of the result
 * @param {Pick<WindowFacts, 'windowMs' | 'interrupted'>} run.facts @param {Second[]} run.seconds
 * @param {Watched} run.watched @param {boolean} run.targetIsLocal on this machine @param {StartGap | null} [run.apart]
 * @param {Omit<StartGap, 'grade'> | null} [run.endedApart] parts of a closed loop ended at different times
 * @param {{part: string, why: string}[]} [run.missing] parts of the plan without a result
 * @param {{part: string, why: string, isJudgedOnSum: boolean}[]} [run.invalid] parts whose own measurement is invalid; what
 *   makes it so may have been judged on the sum of all parts
 * @param {string[]} [run.busyParts] parts whose own machine was busy; undefined: there is one machine
 */
export function observe({ load, operations, block, facts, seconds, watched, targetIsLocal, ...parts }) {
  const { planned, neverSent, sent, succeeded } = block.totals;
  const outcomes = operations.flatMap((operation) => Object.values(operation.outcomes));
  /** @param {'response' | 'ownResponse'} series @returns {Distribution} */
  const sumOf = (series) => sumHistograms(outcomes.map(({ latency }) => latency[series]));
  return {
    ...watched,
    ...{
      model: load.model,
      ...warmupEnd(load, facts.windowMs),
      // All requests of a new HTTP/2 connection may wait for it.
      plannedConnects: load.requestsPerConnection
        ? Math.min(1, (load.streamsPerConnection ?? 1) / load.requestsPerConnection)
        : 0,
      interrupted: facts.interrupted,
      windowMs: facts.windowMs,
      planned,
      neverSent,
      sent,
      succeeded,
      rested: total(operations.map(({ rested }) => rested)),
    },
    ...{ unchecked: block.verification.unchecked, outcomes: block.outcomes, targetIsLocal, ...parts },
    /** Of all due requests. */
    response: sumOf('response'),
    /** The same, minus the time that the tool's own lateness may have added. */
    ownResponse: sumOf('ownResponse'),
    ...driftsOf(load, facts, seconds),
  };
}

/** @param {LoadPlan} load @param {number} windowMs @returns what a stall that began in the warm-up is compared with */
function warmupEnd({ stages, concurrency }, windowMs) {
  if (stages === null) return { concurrency, firstMs: windowMs };
  const [{ lines }] = stages;
  const durationMs = total(lines.map((line) => line.durationMs));
  return { concurrency: Math.max(1, lines[0].from), firstMs: Math.min(windowMs, durationMs) };
}

/** @param {Observed} observed as in a result */
export function describeObserved(observed) {
  const { gc, machine, backlog, forgone, limited, droppedLate, leftWhileFree, displaced } = observed;
  const { stalledMs, stalledStage, warmupOverlapMs } = observed;
  return {
    ...{ forgone, limited, droppedLate, leftWhileFree, stalledMs, stalledStage, warmupOverlapMs, displaced },
    lagMs: spread(observed.lag),
    readLateMs: spread(observed.readLate),
    ownResponseMs: spread(observed.ownResponse),
    gc,
    cpu: {
      processCores: machine.processCores,
      senderBusyShare: observed.busyShare,
      senderSpinShare: observed.spinShare,
      senderRunQueueShare: observed.runQueueShare,
      machineIdleShare: machine.idleShare,
      machinePressureShare: machine.pressureShare,
    },
    connectionSetups: observed.dialled,
    handshakes: observed.handshakes,
    backlogShare: backlog.looks === 0 ? 0 : backlog.waitingLooks / backlog.looks,
  };
}

/** @param {Distribution} histogram */
function spread(histogram) {
  const count = histogram.totalCount;
  return { count, min: count === 0 ? null : valueAtRank(histogram, 1), ...figures(histogram) };
}

/** @param {string} url @returns {boolean} its host is a name or address of this machine */
export function isThisMachine(url) {
  const host = toIPv4(new URL(url).hostname.replace(/^\[|\]$/g, '').toLowerCase());
  // No host: a Unix socket.
  if (['', 'localhost'].includes(host) || host.endsWith('.localhost') || host === hostname().toLowerCase())
    return true;
  if (isLoopback(host) || ['0.0.0.0', '::'].includes(host)) return true;
  try {
    return Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === host));
  } catch {
    // Some sandboxes do not report network interfaces.
    return false;
  }
}
