/** The threads' and the process's observations of themselves -> the basis of the verdict, and its block in the result. */
import { hostname, networkInterfaces } from 'node:os';
import { sumHistograms, valueAtRank, valueAtShare } from '../common/histogram.js';
import { total } from '../common/sums.js';
import { mergeBacklogs } from '../engine/watch/sender.js';
import { driftsOf } from './trend.js';
/** @import { Second } from '../engine/recording/seconds.js' */
/** @import { CellTally } from '../engine/recording/tally.js' */
/** @import { ShardEnd } from '../engine/shard.js' */
/** @import { MachineEnd } from '../engine/watch/machine.js' */
/** @import { BacklogEnd } from '../engine/watch/sender.js' */
/** @import { WindowFacts } from '../engine/window.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Measurement } from './measurement-schema.js' */
/** @import { RunDrift } from './trend.js' */
/** @import { Histogram } from 'hdr-histogram-js' */

/**
 * @typedef {object} Observed
 * @property {'open' | 'closed'} model
 * @property {boolean} interrupted
 * @property {number} planned
 * @property {number} neverSent
 * @property {number} sent
 * @property {number} succeeded
 * @property {number} unchecked responses of success that were not checked
 * @property {Record<string, number>} outcomes
 * @property {number} droppedLate arrivals dropped because the tool was late
 * @property {boolean} leftWhileFree the tool gave up on part of the plan although connections were free
 * @property {number} dialled requests that had to open a connection first
 * @property {Histogram} response of every request that was due
 * @property {Histogram} ownResponse the same, less what the tool's own lateness may have added
 * @property {Histogram} lag how late the tool was, waiting for a free connection left out
 * @property {Histogram} readLate how late responses were read, at most
 * @property {number} forgone requests that were due and never sent, and would have been had the tool never been late, at most
 * @property {{second: number, tenth: number}} displaced requests that the tool sent in another second, and in another tenth of one,
 *   than they were due
 * @property {{count: number, totalMs: number, longestMs: number}} gc of all sending threads; the longest of any
 * @property {number} busyShare of the busiest sending thread's time; 0 where the measured part was not reached
 * @property {number} spinShare of its time, spun without any work: of the thread that spun most
 * @property {number | null} runQueueShare of the time of the thread that stood in the run queue longest
 * @property {{processCores: number | null, idleShare: number | null, pressureShare: number | null}} machine CPU time as a number of
 *   cores, and shares of time; null: not known
 * @property {boolean} targetIsLocal on this machine
 * @property {BacklogEnd} backlog
 * @property {RunDrift | null} latencyDrift of the median second by second; null: none found
 * @property {RunDrift | null} rateDrift of the successes, in a closed loop
 * @property {{text: string, remedy: string, grade: 'invalid' | 'remark'} | null} [apart] of merged parts: they did not send at the same time
 * @property {string[]} [problems] of the bookkeeping
 */

/**
 * What senders count: adds up over threads, and over the parts of a plan.
 *
 * @typedef {Pick<Observed, 'droppedLate' | 'forgone' | 'leftWhileFree' | 'dialled' | 'gc' | 'busyShare' | 'spinShare' | 'runQueueShare' |
 *   'backlog'>} Counted
 */
/** @typedef {Pick<Observed, 'lag' | 'readLate' | 'displaced'>} Late as recorders add it up */
/** @typedef {Counted & Late & Pick<Observed, 'machine'>} Watched */

/**
 * @param {ShardEnd[]} ends of one run
 * @param {Late} late
 * @param {MachineEnd} machine
 * @returns {Watched}
 */
export function watchedOf(ends, late, machine) {
  const share = (/** @type {number} */ ms, /** @type {number} */ of) => (of > 0 ? ms / of : 0);
  const counted = ends.map(({ watch, backlog, droppedLate, forgone, leftWhileFree, dialled }) => ({
    droppedLate,
    forgone,
    leftWhileFree,
    dialled,
    gc: watch.gc,
    busyShare: share(watch.busyMs, watch.wallMs),
    spinShare: share(watch.emptySpinMs, watch.wallMs),
    runQueueShare: watch.runQueueMs === null ? null : share(watch.runQueueMs, watch.wallMs),
    backlog,
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
    runQueueShare: known(
      parts.map(({ runQueueShare }) => runQueueShare),
      Math.max,
    ),
    backlog: mergeBacklogs(parts.map(({ backlog }) => backlog)),
  };
}

/** @param {MachineEnd[]} machines one, or one of each part @returns {Observed['machine']} */
export function machineOf(machines) {
  return {
    processCores: known(
      machines.map(({ wallMs, processCpuMs }) => (wallMs > 0 ? processCpuMs / wallMs : null)),
      (...cores) => total(cores),
    ),
    idleShare: known(
      machines.map(({ idleShare }) => idleShare),
      Math.min,
    ),
    pressureShare: known(
      machines.map(({ pressureShare }) => pressureShare),
      Math.max,
    ),
  };
}

/**
 * @param {(number | null)[]} values
 * @param {(...values: number[]) => number} of
 * @returns {number | null} null where one of them is not known
 */
function known(values, of) {
  const numbers = values.filter((value) => value !== null);
  return numbers.length < values.length || numbers.length === 0 ? null : of(...numbers);
}

/** Outcomes that are failures of this machine, not of the target. */
const LIMITS = /** @type {const} */ (['too_many_open_files', 'no_local_port']);

/**
 * @param {Record<string, number>} outcomes
 * @returns {number} requests that failed at limits of this machine
 */
export function failedAtLimits(outcomes) {
  return LIMITS.reduce((sum, name) => sum + (outcomes[name] ?? 0), 0);
}

/**
 * @param {CellTally[]} operations
 * @param {Pick<Counted, 'droppedLate' | 'forgone'>} watched
 * @returns {number} errors that are the tool's or its machine's, not the target's, at most
 */
export function ownLossesOf(operations, { droppedLate, forgone }) {
  const outcomes = operations.flatMap((operation) => Object.entries(operation.outcomes));
  const counts = outcomes.map(([name, { count }]) => failedAtLimits({ [name]: count }));
  return droppedLate + forgone + total(counts);
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
  if (count === 0) return { count, min: null, p50: null, p99: null, max: null };
  return {
    count,
    min: valueAtRank(histogram, 1),
    p50: valueAtShare(histogram, 0.5),
    p99: valueAtShare(histogram, 0.99),
    max: histogram.maxValue / 1000,
  };
}

/** @returns {string[]} none where the system does not report them, as in some sandboxes */
function ownAddresses() {
  try {
    return Object.values(networkInterfaces()).flatMap((own) => own?.map(({ address }) => address) ?? []);
  } catch {
    return [];
  }
}

/**
 * @param {string} url
 * @returns {boolean} it names this machine: by a loopback address, by one of its own, or by its name
 */
export function isThisMachine(url) {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || host.endsWith('.localhost') || host === hostname().toLowerCase()) return true;
  if (/^(127\.|0\.0\.0\.0$|::1?$|::ffff:7f)/.test(host)) return true;
  return ownAddresses().includes(host);
}
