/** Current memory and CPU time of a process and its descendants, from Linux's /proc (proc(5)). */
import { readdirSync, readFileSync } from 'node:fs';

/** Of utime and stime: USER_HZ, always 100 for programs on Linux. */
const TICKS_PER_SECOND = 100;
const MB = 1e6;

/**
 * @typedef {object} Usage
 * @property {number} processes
 * @property {number} residentMb megabytes (10^6 bytes) in memory now, summed; shared memory counts for each process
 * @property {number} highestMb the highest peak of a single process so far
 * @property {number} cpuSeconds user and system time, including finished threads and awaited children
 */

/** @param {number} pid @returns {Usage | null} null: it has exited */
export function readTree(pid) {
  const own = readProcess(pid);
  if (own === null) return null;
  const sum = { processes: 1, ...own };
  for (const child of childrenOf(pid)) {
    const theirs = readTree(child);
    if (theirs === null) continue;
    sum.processes += theirs.processes;
    sum.residentMb += theirs.residentMb;
    sum.highestMb = Math.max(sum.highestMb, theirs.highestMb);
    sum.cpuSeconds += theirs.cpuSeconds;
  }
  return sum;
}

/** @param {number} pid */
function readProcess(pid) {
  const status = read(`/proc/${pid}/status`);
  const stat = read(`/proc/${pid}/stat`);
  const rss = /^VmRSS:\s+(\d+) kB/m.exec(status);
  const highest = /^VmHWM:\s+(\d+) kB/m.exec(status);
  // A zombie has no memory.
  if (rss === null || highest === null || stat === '') return null;
  // The name in parentheses may contain any character; the state, the third field, follows it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).map(Number);
  return {
    residentMb: (Number(rss[1]) * 1024) / MB,
    highestMb: (Number(highest[1]) * 1024) / MB,
    cpuSeconds: ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND,
  };
}

/** @param {number} pid @returns {number[]} children of any of its threads */
export function childrenOf(pid) {
  return list(`/proc/${pid}/task`).flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
}

/** @param {string} path @returns {string} empty if the process has exited */
function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** @param {string} path @returns {string[]} */
function list(path) {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
