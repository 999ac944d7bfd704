/** What a process and its descendants take at this moment, from Linux's /proc (proc(5)). */
import { readdirSync, readFileSync } from 'node:fs';

/** Of utime and stime: USER_HZ, which Linux keeps at 100 for programs whatever its own clock. */
const TICKS_PER_SECOND = 100;
const MB = 1e6;

/**
 * @typedef {object} Taken
 * @property {number} processes
 * @property {number} residentMb megabytes (10^6 bytes) in memory now, summed; what processes share counts for each
 * @property {number} highestMb the most that any one of them has had in memory so far
 * @property {number} cpuSeconds user and system time, ended threads and awaited children included
 */

/** @param {number} pid @returns {Taken | null} null: it has ended */
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
  // A process that has ended and is not awaited yet has no memory any more.
  if (rss === null || highest === null || stat === '') return null;
  // The name in parentheses may hold anything; after it come state, the third field, and so on.
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

/** @param {string} path @returns {string} empty where the process has ended */
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
