/** Machine and versions that the figures depend on. */
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';

/** @returns {Record<string, string | number>} */
export function describeMachine() {
  const [first] = cpus();
  return {
    date: new Date().toISOString(),
    commit: commit(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: first?.model ?? 'unknown',
    cpus: cpus().length,
    memoryGiB: Number((totalmem() / 2 ** 30).toFixed(1)),
    loadBefore: Number(loadavg()[0].toFixed(2)),
  };
}

function commit() {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}
