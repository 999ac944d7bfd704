/** The kernel's count of how long a thread waited for a core. */
import { closeSync, openSync, readSync } from 'node:fs';

/**
 * Linux counts how long each thread ran and how long it waited for a core
 * (Documentation/scheduler/sched-stats.rst): the second of three numbers, in nanoseconds.
 * @returns {{readMs: () => number, close: () => void} | null} for the calling thread; null: unavailable
 */
export function openRunQueue() {
  try {
    const file = openSync('/proc/thread-self/schedstat', 'r');
    const bytes = Buffer.alloc(64);
    let isOpen = true;
    let waitedMs = 0;
    const readMs = () => {
      if (!isOpen) return waitedMs;
      const length = readSync(file, bytes, 0, bytes.length, 0);
      const [ranNs, waitedNs] = bytes.toString('latin1', 0, length).split(' ', 2);
      // A kernel without scheduler statistics reports zeros.
      waitedMs = Number(ranNs) > 0 ? Number(waitedNs) / 1e6 : Number.NaN;
      return waitedMs;
    };
    const close = () => {
      if (isOpen) closeSync(file);
      isOpen = false;
    };
    if (!Number.isNaN(readMs())) return { readMs, close };
    close();
  } catch {
    // Not Linux: no such file.
  }
  return null;
}
