/** Reasons against a measurement that lie with the tool, or with the machine that it runs on. */
import { valueAtShare } from '../../histogram.js';
import { formatCount } from '../../units.js';

/** @typedef {import('./observed.js').Observed} Observed */
/** @typedef {import('./judge.js').Reason} Reason */
/** @typedef {(observed: Observed) => Reason | null} Rule */

/** A sending thread that was busy for so much of the time had none left. */
const SATURATED = 0.9;

/** A backlog that was there for less of the time, or added less to p99, decides nothing. */
const BACKLOG_SHARE = 0.05;
const WAIT_ADDS = 0.1;

/** Of a sending thread's time in the kernel's run queue; less counts where it waited longer than it worked. */
const STARVED = 0.05;
const STARVED_IDLE = 0.02;

/** A machine that is idle for less is full; the tool has a part in it when it took so much of all cores. */
const IDLE = 0.05;
const TOOL_PART = 0.2;

/** Cores full with one thread each are no competition: somebody had to wait for so much of the time. */
const PRESSURE = 0.1;

/** In an open loop a target that others starve is as slow as an overloaded one, whatever the tool took. */
const PRESSURE_OF_OTHERS = 0.5;

/** Arrivals that may be dropped late without a word. */
const DROPPED = 0.01;

/** Failures at limits of this machine: any is suspect, from here on it is no measurement of the target. */
const LIMITED_INVALID = 0.01;
const LIMITS = /** @type {const} */ (['too_many_open_files', 'no_local_port']);

/** @type {Rule[]} */
export const TOOL_RULES = [toolSaturated, cpuStarved, machineSaturated, droppedTooLate, localLimits];

/** @type {Rule} */
function toolSaturated({ busyShare, model, backlog, response, service, threads }) {
  if (busyShare < SATURATED || response.totalCount === 0) return null;
  const percent = Math.floor(busyShare * 100);
  const more = threads === 1 ? 'use --threads' : 'raise --threads';
  if (model === 'closed') {
    return {
      grade: 'suspect',
      code: 'tool_saturated',
      text: `A sending thread was busy for ${percent} % of the time: the throughput is the tool's limit, not the target's.`,
      remedy: `Give the tool more CPU, ${more}, or lower --concurrency.`,
    };
  }
  const waited = backlog.looks > 0 && backlog.waitingLooks / backlog.looks >= BACKLOG_SHARE;
  const ofService = service.totalCount === 0 ? 0 : valueAtShare(service, 0.99);
  if (!waited || valueAtShare(response, 0.99) <= (1 + WAIT_ADDS) * ofService) return null;
  return {
    grade: 'invalid',
    code: 'tool_saturated',
    text: `A sending thread was busy for ${percent} % of the time while requests waited for a free connection: the wait may be the tool's, not the target's.`,
    remedy: `Lower --rate, ${more}, or give the tool more CPU.`,
  };
}

/** @type {Rule} */
function cpuStarved({ runQueueShare, busyShare }) {
  if (runQueueShare === null || runQueueShare < STARVED_IDLE) return null;
  if (runQueueShare < STARVED && runQueueShare <= busyShare) return null;
  return {
    grade: 'suspect',
    code: 'cpu_starved',
    text: `A sending thread was ready to run but had no core for ${Math.round(runQueueShare * 100)} % of the time: other programs or threads ran on the tool's cores.`,
    remedy: 'End what else runs on this machine, give the tool cores of its own, or run it elsewhere.',
  };
}

/** @type {Rule} */
function machineSaturated({ machine, targetIsLocal, spinShare, threads, model }) {
  const { idleShare, pressureShare, processCpuMs, wallMs, cores } = machine;
  if (!targetIsLocal || wallMs <= 0 || idleShare === null || idleShare >= IDLE) return null;
  const part = processCpuMs / (wallMs * cores);
  const ours = part >= TOOL_PART && (pressureShare ?? 1) >= PRESSURE;
  const others = model === 'open' && (pressureShare ?? 0) >= PRESSURE_OF_OTHERS;
  if (!ours && !others) return null;
  const spun = ours && threads * spinShare * wallMs > 0.5 * processCpuMs;
  const how = spun ? ', most of it spun away while it waited for the next send' : '';
  return {
    grade: 'suspect',
    code: 'machine_saturated',
    text: `The machine had no core to spare and the target is on it; the tool took ${Math.round(part * 100)} %${how}. What the target waited for a core is in its latency.`,
    remedy: spun
      ? 'Use --pacing sleep, or run the tool on another machine than the target.'
      : 'Run the tool on another machine than the target, or on cores of its own, and end what else runs.',
  };
}

/** @type {Rule} */
function droppedTooLate({ droppedLate, planned }) {
  if (droppedLate === 0 || droppedLate / planned < DROPPED) return null;
  return {
    grade: 'invalid',
    code: 'dropped_late',
    text: `${formatCount(droppedLate)} of ${formatCount(planned)} arrivals were dropped because the tool itself was late.`,
    remedy: 'Give the tool more CPU, lower --rate, or use --threads.',
  };
}

/** @type {Rule} */
function localLimits({ outcomes, sent }) {
  const count = LIMITS.reduce((sum, name) => sum + (outcomes[name] ?? 0), 0);
  if (count === 0) return null;
  return {
    grade: count / sent >= LIMITED_INVALID ? 'invalid' : 'suspect',
    code: 'local_limits',
    text: `${formatCount(count)} of ${formatCount(sent)} requests failed because this machine had no open file or local port left for them.`,
    remedy: 'Raise the limit of open files (ulimit -n), lower --concurrency, or wait for TIME_WAIT to pass.',
  };
}
