/** The threads' and the process's observations of themselves -> the basis of the verdict, and its block in the result. */
import { hostname, networkInterfaces } from 'node:os';
import { figures, sumHistograms, valueAtRank } from '../common/histogram.js';
import { total } from '../common/sums.js';
import { mergeBacklogs } from '../engine/watch/sender.js';
import { driftsOf } from './trend.js';
/** @import { Second } from '../engine/recording/seconds.js' */
/** @import { CellTally, Tally } from '../engine/recording/tally.js' */
/** @import { ShardEnd } from '../engine/shard.js' */
/** @import { MachineEnd } from '../engine/watch/machine.js' */
/** @import { BacklogEnd } from '../engine/watch/sender.js' */
/** @import { WindowFacts } from '../engine/window.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Measurement } from './measurement-schema.js' */
/** @import { Histogram } from 'hdr-histogram-js' */

/**
 * Counts of the senders: they add up over threads, and over the parts of a plan.
 * @typedef {object} Counted
 * @property {number} droppedLate arrivals dropped because the tool was late
 * @property {number} forgone requests that were due and never sent, and would have been had the tool never been late, at most
 * @property {boolean} leftWhileFree the tool gave up on part of the plan although connections were free
 * @property {number} dialled requests that had to open a connection first
 * @property {{count: number, totalMs: number, longestMs: number}} gc of all sending threads; the longest of any
 * @property {number} busyShare of the busiest sending thread's time; 0 where the measured part was not reached
 * @property {number} spinShare of its time, spun without any work: of the thread that spun most
 * @property {number | null} runQueueShare of the time of the thread that stood in the run queue longest
 * @property {BacklogEnd} backlog
 */
/** @typedef {Omit<Tally, 'operations'>} Late as recorders add it up */
/** @typedef {Counted & Late & {machine: ReturnType<typeof machineOf>}} Watched */
/**
 * @typedef {object} Served
 * @property {'open' | 'closed'} model
 * @property {boolean} interrupted
 * @property {number} planned
 * @property {number} neverSent
 * @property {number} sent
 * @property {number} succeeded
 * @property {number} unchecked responses of success that were not checked
 * @property {Record<string, number>} outcomes
 * @property {Histogram} response of every request that was due
 * @property {Histogram} ownResponse the same, less what the tool's own lateness may have added
 * @property {boolean} targetIsLocal on this machine
 * @property {{text: string, remedy: string, grade: 'invalid' | 'remark'} | null} [apart] of merged parts: they did not send at the same time
 * @property {string[]} [problems] of the bookkeeping
 */
/** @typedef {Watched & Served & ReturnType<typeof driftsOf>} Observed */

/** @param {ShardEnd[]} ends of one run @param {Late} late @param {MachineEnd} machine @returns {Watched} */
export function watchedOf(ends, late, machine) {
  const share = (/** @type {number} */ ms, /** @type {number} */ of) => (of > 0 ? ms / of : 0);
  const counted = ends.map(({ watch: { gc, wallMs, busyMs, emptySpinMs, runQueueMs }, ...counts }) => ({
    ...counts,
    gc,
    busyShare: share(busyMs, wallMs),
    spinShare: share(emptySpinMs, wallMs),
    runQueueShare: runQueueMs === null ? null : share(runQueueMs, wallMs),
  }));
  return { ...mergeCounted(counted), ...late, machine: machineOf([machine]) };
}

/** @param {Counted[]} parts @returns {Counted} counts added, shares those of the worst */
export function mergeCounted(parts) {
  const sum = (/** @type {(part: Counted) => number} */ of) => total(parts.map(of));
  const worst = (/** @type {(part: Counted) => number} */ of) => Math.max(0, ...parts.map(of));
  return {
    droppedLate: sum(({ droppedLate }) => droppedLate),
    forgone: sum(({ forgone }) => forgone),
    leftWhileFree: parts.some(({ leftWhileFree }) => leftWhileFree),
    dialled: sum(({ dialled }) => dialled),
    gc: {
      count: sum(({ gc }) => gc.count),
      totalMs: sum(({ gc }) => gc.totalMs),
      longestMs: worst(({ gc }) => gc.longestMs),
    },
    busyShare: worst(({ busyShare }) => busyShare),
    spinShare: worst(({ spinShare }) => spinShare),
    runQueueShare: ifKnown(Math.max, parts, ({ runQueueShare }) => runQueueShare),
    backlog: mergeBacklogs(parts.map(({ backlog }) => backlog)),
  };
}

/** @param {MachineEnd[]} machines one, or one of each part; CPU time as a number of cores, and shares of time; null: not known */
export function machineOf(machines) {
  const sum = (/** @type {number[]} */ ...cores) => total(cores);
  return {
    processCores: ifKnown(sum, machines, ({ wallMs, processCpuMs }) =>
      wallMs > 0 ? processCpuMs / wallMs : null,
    ),
    idleShare: ifKnown(Math.min, machines, ({ idleShare }) => idleShare),
    pressureShare: ifKnown(Math.max, machines, ({ pressureShare }) => pressureShare),
  };
}

/**
 * @template T
 * @param {(...values: number[]) => number} join
 * @param {T[]} parts
 * @param {(part: T) => number | null} of
 * @returns {number | null} null where it is not known of one of them
 */
function ifKnown(join, parts, of) {
  const values = parts.map(of);
  return values.length === 0 || values.includes(null) ? null : join(...values.map(Number));
}

/** @param {Record<string, number>} outcomes @returns {number} requests that failed at limits of this machine, not at the target */
export function failedAtLimits({ too_many_open_files: noFile = 0, no_local_port: noPort = 0 }) {
  return noFile + noPort;
}

/**
 * @param {CellTally[]} operations
 * @param {Pick<Counted, 'droppedLate' | 'forgone'>} watched
 * @returns {number} errors that are the tool's or its machine's, not the target's, at most
 */
export function ownLossesOf(operations, { droppedLate, forgone }) {
  const outcomes = operations.flatMap((operation) => Object.entries(operation.outcomes));
  return (
    droppedLate + forgone + total(outcomes.map(([name, { count }]) => failedAtLimits({ [name]: count })))
  );
}

/**
 * @param {object} run
 * @param {LoadPlan} run.load
 * @param {CellTally[]} run.operations
 * @param {{totals: {planned: number, neverSent: number, sent: number, succeeded: number}, verification: {unchecked: number},
 *   outcomes: Record<string, number>}} run.block of the result
 * @param {WindowFacts} run.facts
 * @param {Second[]} run.seconds
 * @param {Watched} run.watched
 * @param {boolean} run.targetIsLocal
 * @param {Observed['apart']} [run.apart]
 * @returns {Observed}
 */
export function observe({ load, operations, block, facts, seconds, watched, targetIsLocal, apart }) {
  const { planned, neverSent, sent, succeeded } = block.totals;
  const outcomes = operations.flatMap((operation) => Object.values(operation.outcomes));
  const all = (/** @type {'response' | 'ownResponse'} */ series) =>
    sumHistograms(outcomes.map(({ latency }) => latency[series]));
  return {
    ...watched,
    model: load.model,
    interrupted: facts.interrupted,
    planned,
    neverSent,
    sent,
    succeeded,
    unchecked: block.verification.unchecked,
    outcomes: block.outcomes,
    response: all('response'),
    ownResponse: all('ownResponse'),
    ...driftsOf(load, facts, seconds),
    targetIsLocal,
    apart,
  };
}

/** @param {Observed} observed @returns {NonNullable<Measurement['observed']>} */
export function describeObserved(observed) {
  const { lag, readLate, ownResponse, gc, machine, backlog } = observed;
  return {
    lagMs: spread(lag),
    readLateMs: spread(readLate),
    ownResponseMs: spread(ownResponse),
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
    backlogShare: backlog.looks === 0 ? 0 : backlog.waitingLooks / backlog.looks,
  };
}

/** @param {Histogram} histogram */
function spread(histogram) {
  const count = histogram.totalCount;
  return { count, min: count === 0 ? null : valueAtRank(histogram, 1), ...figures(histogram) };
}

/** @returns {string[]} none where the system does not report them, as in some sandboxes */
function ownAddresses() {
  try {
    return Object.values(networkInterfaces()).flatMap((own) => own?.map(({ address }) => address) ?? []);
  } catch {
    return [];
  }
}

/** @param {string} url @returns {boolean} it names this machine: by a loopback address, by one of its own, or by its name */
export function isThisMachine(url) {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || host.endsWith('.localhost') || host === hostname().toLowerCase()) return true;
  if (/^(127\.|0\.0\.0\.0$|::1?$|::ffff:7f)/.test(host)) return true;
  return ownAddresses().includes(host);
}
