/**
 * Assigns processors: the target, which spins, has the last one, and the load generator the others, as if on two machines.
 * Without `taskset`, or with one processor, nothing is pinned.
 */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * @typedef {object} Cores lists for `taskset -c`; null: not pinned
 * @property {string | null} target
 * @property {string | null} generator
 * @property {string | null} one of the generator's
 */

/** @returns {Cores} */
export function shareCores() {
  const allowed = allowedCores();
  if (allowed.length < 2) return { target: null, generator: null, one: null };
  return { target: `${allowed.at(-1)}`, generator: allowed.slice(0, -1).join(','), one: `${allowed[0]}` };
}

/** @returns {number[]} processors this process may run on; empty if this cannot be read or set */
function allowedCores() {
  const { status, stdout } = spawnSync('taskset', ['-cp', `${process.pid}`], { encoding: 'utf8' });
  const list = status === 0 ? /: ([\d,-]+)\s*$/.exec(stdout) : null;
  if (list === null || availableParallelism() < 2) return [];
  return list[1].split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

/** @param {string | null} cores @param {string[]} command @returns {string[]} the command, pinned */
export function pinned(cores, command) {
  return cores === null ? command : ['taskset', '-c', cores, ...command];
}
