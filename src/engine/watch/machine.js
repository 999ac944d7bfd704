/**
 * What the process can see of itself and of the machine while it sends: the CPU time of all its threads, how idle the
 * machine was, and for how much of the time anything had to wait for a core.
 */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { LONGEST_TIMER_MS } from '../clock.js';

/**
 * @typedef {object} MachineEnd
 * @property {number} wallMs 0: the measured part was never reached
 * @property {number} processCpuMs user and system time of all threads
 * @property {number} cores
 * @property {number | null} idleShare of all cores; null: not known
 * @property {number | null} pressureShare of the time, in which some thread on this machine was ready to run and had no
 *   core; Linux with PSI only
 */
/** @typedef {{atMs: number, cpuMs: number, cores: {idle: number, all: number}[], pressureMs: number | null}} Reading */

/**
 * Pressure stall information (Documentation/accounting/psi.rst): `some ... total=MICROSECONDS`.
 *
 * @returns {number | null} ms
 */
function pressureMs() {
  try {
    const [, total] = /^some .*total=(\d+)/m.exec(readFileSync('/proc/pressure/cpu', 'latin1')) ?? [];
    return total === undefined ? null : Number(total) / 1000;
  } catch {
    return null;
  }
}

/** @returns {Reading} */
function read() {
  const { user, system } = process.cpuUsage();
  return {
    atMs: performance.now(),
    cpuMs: (user + system) / 1000,
    cores: cpus().map(({ times }) => ({
      idle: times.idle,
      all: times.user + times.nice + times.sys + times.idle + times.irq,
    })),
    pressureMs: pressureMs(),
  };
}

/** @param {Reading} from @param {Reading} to @returns {MachineEnd} */
export function between(from, to) {
  const wallMs = to.atMs - from.atMs;
  const sum = (/** @type {'idle' | 'all'} */ key) =>
    to.cores.reduce((all, core, i) => all + core[key] - (from.cores[i]?.[key] ?? core[key]), 0);
  const all = sum('all');
  return {
    wallMs,
    processCpuMs: to.cpuMs - from.cpuMs,
    cores: to.cores.length,
    idleShare: all > 0 ? sum('idle') / all : null,
    pressureShare:
      to.pressureMs === null || from.pressureMs === null || wallMs <= 0
        ? null
        : Math.min(1, (to.pressureMs - from.pressureMs) / wallMs),
  };
}

/**
 * Only while requests are due: while the run waits for its last responses, any machine is idle.
 *
 * @param {number} inMs when the measured part begins
 * @param {number | null} lengthMs planned length of the measured part; null: it is over when it is ended
 * @returns {() => MachineEnd} ends it, where its time is not over yet
 */
export function watchMachine(inMs, lengthMs) {
  /** @type {Reading | null} */
  let from = null;
  /** @type {Reading | null} */
  let to = null;
  const timers = [setTimeout(() => (from = read()), inMs)];
  if (lengthMs !== null)
    timers.push(setTimeout(() => (to = read()), Math.min(inMs + lengthMs, LONGEST_TIMER_MS)));
  return () => {
    for (const timer of timers) clearTimeout(timer);
    to ??= read();
    return between(from ?? to, to);
  };
}
