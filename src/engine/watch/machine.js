/**
 * The machine while the process sends: the CPU time of all the process's threads, how idle the machine was, and for how much
 * of the time any thread waited for a core.
 */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { LONGEST_TIMER_MS } from '../clock.js';

/** @typedef {ReturnType<typeof between>} MachineEnd */
/** @typedef {ReturnType<typeof read>} Reading */

/** Pressure stall information (Documentation/accounting/psi.rst): `some ... total=MICROSECONDS`. */
function readPressureMs() {
  try {
    const [, total] = /^some .*total=(\d+)/m.exec(readFileSync('/proc/pressure/cpu', 'latin1')) ?? [];
    return total === undefined ? null : Number(total) / 1000;
  } catch {
    return null;
  }
}

function read() {
  const { user, system } = process.cpuUsage();
  return {
    atMs: performance.now(),
    cpuMs: (user + system) / 1000,
    cores: cpus().map(({ times: { idle, user, nice, sys, irq } }) => ({
      idle,
      all: user + nice + sys + idle + irq,
    })),
    pressureMs: readPressureMs(),
  };
}

/** @param {Reading} from @param {Reading} to */
export function between(from, to) {
  const wallMs = to.atMs - from.atMs;
  const sum = (/** @type {'idle' | 'all'} */ key) =>
    to.cores.reduce((all, core, i) => all + core[key] - (from.cores[i]?.[key] ?? core[key]), 0);
  const all = sum('all');
  const isPressureKnown = to.pressureMs !== null && from.pressureMs !== null && wallMs > 0;
  return {
    /** 0: the measured part was never reached. */
    wallMs,
    /** User and system time of all threads. */
    processCpuMs: to.cpuMs - from.cpuMs,
    cores: to.cores.length,
    /** Of all cores; null: not known. */
    idleShare: all > 0 ? sum('idle') / all : null,
    /** Of the time, in which some thread on this machine was ready to run and had no core; Linux with PSI only. */
    pressureShare: isPressureKnown
      ? Math.min(1, (Number(to.pressureMs) - Number(from.pressureMs)) / wallMs)
      : null,
  };
}

/**
 * Only while requests are due: while the run waits for its last responses, any machine is idle.
 * @param {number} inMs when the measured part begins
 * @param {number | null} lengthMs planned length of the measured part; null: it is over when the watch is ended
 * @returns {() => MachineEnd} ends the watch, where its time is not over yet
 */
export function watchMachine(inMs, lengthMs) {
  /** @type {Reading | null} */
  let from = null;
  /** @type {Reading | null} */
  let to = null;
  const begin = setTimeout(() => {
    from = read();
  }, inMs);
  const endMs = lengthMs === null ? LONGEST_TIMER_MS : Math.min(inMs + lengthMs, LONGEST_TIMER_MS);
  const end = setTimeout(() => {
    to ??= read();
  }, endMs);
  return () => {
    clearTimeout(begin);
    clearTimeout(end);
    to ??= read();
    return between(from ?? to, to);
  };
}
