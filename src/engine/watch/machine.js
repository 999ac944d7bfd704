/** Observes the machine while the process sends: CPU time of its threads, idle time, and waits for a core. */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { total } from '../../common/sums.js';
import { MAX_TIMER_MS, timerMs } from '../../common/timers.js';

/** A watch begins this early: reading the counters takes up to 1 ms, which would delay the first request. */
export const BEGIN_EARLY_MS = 5;

/** @typedef {ReturnType<typeof diffReadings>} MachineEnd */
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
  const times = cpus().map((core) => core.times);
  return {
    atMs: performance.now(),
    cpuMs: (user + system) / 1000,
    cores: times.length,
    /** Of all cores. */
    idleMs: total(times.map(({ idle }) => idle)),
    coreMs: total(times.flatMap(Object.values)),
    pressureMs: readPressureMs(),
  };
}

/** @param {Reading} from @param {Reading} to */
export function diffReadings(from, to) {
  const wallMs = to.atMs - from.atMs;
  const coreMs = to.coreMs - from.coreMs;
  const pressureMs = (to.pressureMs ?? Number.NaN) - (from.pressureMs ?? Number.NaN);
  return {
    /** 0: the run never reached the measured phase. */
    wallMs,
    /** User and system time of all threads. */
    processCpuMs: to.cpuMs - from.cpuMs,
    cores: to.cores,
    /** Across all cores; null: unknown. */
    idleShare: coreMs > 0 ? (to.idleMs - from.idleMs) / coreMs : null,
    /** Share of time with a runnable thread waiting for a core; Linux with PSI only. */
    pressureShare: Number.isNaN(pressureMs) || wallMs <= 0 ? null : Math.min(1, pressureMs / wallMs),
  };
}

/**
 * Covers only the time in which requests are due: while a run waits for its last responses, the machine
 * is idle anyway.
 * @param {number} delayMs until the measured phase begins
 * @param {number | null} lengthMs planned length of the measured phase; null: the caller ends the watch
 * @returns {() => MachineEnd} ends the watch, unless it has already ended
 */
export function watchMachine(delayMs, lengthMs) {
  /** @type {Reading | undefined} */
  let from;
  /** @type {Reading | undefined} */
  let to;
  const begin = setTimeout(
    () => {
      from = read();
    },
    timerMs(delayMs - BEGIN_EARLY_MS),
  );
  const readEnd = () => {
    to ??= read();
    return to;
  };
  const end = setTimeout(readEnd, timerMs(delayMs + (lengthMs ?? MAX_TIMER_MS)));
  return () => {
    clearTimeout(begin);
    clearTimeout(end);
    const last = readEnd();
    return diffReadings(from ?? last, last);
  };
}
