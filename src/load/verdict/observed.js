/** What the shards and the process observed of themselves -> what the verdict is judged on, and what the result says of it. */
import { hostname, networkInterfaces } from 'node:os';
import { sumHistograms, valueAtRank, valueAtShare } from '../../histogram.js';
import { total } from '../../results/merge.js';
import { mergeBacklogs } from '../watch/backlog.js';

/** @typedef {import('../../histogram.js').Histogram} Histogram */
/**
 * @typedef {object} Observed
 * @property {'open' | 'closed'} model
 * @property {number} threads
 * @property {boolean} interrupted
 * @property {number} planned
 * @property {number} neverSent
 * @property {number} sent
 * @property {number} succeeded
 * @property {number} unchecked answers of success that were not checked
 * @property {Record<string, number>} outcomes
 * @property {number} droppedLate arrivals dropped because the tool looked too late
 * @property {boolean} leftWhileFree the tool gave up on part of the plan although connections were free
 * @property {number} dialled requests that had to open a connection first
 * @property {Histogram} response of every request that was due
 * @property {Histogram} unlagged the same requests, had the tool never been late
 * @property {Histogram} service
 * @property {Histogram} lag how late the tool was, waiting for a free connection left out
 * @property {import('../recording/recorder.js').Displaced} displaced
 * @property {Histogram} reaction how late the sender threads read bytes that came at random times
 * @property {{count: number, totalMs: number, longestMs: number}} gc of all sending threads; the longest of any
 * @property {number} busyShare of the busiest sending thread's time; 0 where the measured part was not reached
 * @property {number} spinShare of its time, spun without any work: of the thread that spun most
 * @property {number | null} runQueueShare of the time of the thread that stood in the run queue longest
 * @property {import('../watch/machine.js').MachineEnd} machine
 * @property {boolean} targetIsLocal on this machine
 * @property {import('../watch/backlog.js').BacklogEnd} backlog
 * @property {import('./window.js').RunDrift | null} latencyDrift of the median second by second; null: none found
 * @property {import('./window.js').RunDrift | null} rateDrift of the successes, in a closed loop
 */

/**
 * @param {import('../shard.js').ShardEnd[]} ends
 * @returns {Pick<Observed, 'droppedLate' | 'leftWhileFree' | 'dialled' | 'reaction' | 'gc' | 'busyShare' | 'spinShare' | 'runQueueShare' | 'backlog'>}
 */
export function mergeWatches(ends) {
  const watches = ends.map(({ watch }) => watch);
  const worst = (/** @type {(watch: import('../watch/sender.js').WatchEnd) => number} */ ms) =>
    Math.max(0, ...watches.map((watch) => (watch.wallMs > 0 ? ms(watch) / watch.wallMs : 0)));
  return {
    droppedLate: total(ends.map(({ droppedLate }) => droppedLate)),
    leftWhileFree: ends.some(({ leftWhileFree }) => leftWhileFree),
    dialled: total(ends.map(({ dialled }) => dialled)),
    reaction: sumHistograms(watches.map(({ reaction }) => reaction)),
    gc: {
      count: total(watches.map(({ gc }) => gc.count)),
      totalMs: total(watches.map(({ gc }) => gc.totalMs)),
      longestMs: Math.max(0, ...watches.map(({ gc }) => gc.longestMs)),
    },
    busyShare: worst(({ busyMs }) => busyMs),
    spinShare: worst(({ emptySpinMs }) => emptySpinMs),
    runQueueShare: watches.some(({ runQueueMs }) => runQueueMs === null)
      ? null
      : worst(({ runQueueMs }) => Number(runQueueMs)),
    backlog: mergeBacklogs(ends.map(({ backlog }) => backlog)),
  };
}

/**
 * @param {Observed} observed
 * @returns {NonNullable<import('../../results/schema.js').Measurement['observed']>}
 */
export function describeObserved(observed) {
  const { lag, reaction, unlagged, gc, machine, backlog } = observed;
  return {
    lagMs: spread(lag),
    reactionMs: spread(reaction),
    unlaggedMs: spread(unlagged),
    gc,
    cpu: {
      processCores: machine.wallMs > 0 ? machine.processCpuMs / machine.wallMs : null,
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

/** @returns {string[]} none where the system does not tell, as in some sandboxes */
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
