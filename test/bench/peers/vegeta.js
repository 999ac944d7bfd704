/** vegeta: open loop, with as many workers as needed; latency starts when a worker is free. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTimed } from '../timed.js';
import { runPeer, versionOf } from './peer.js';
/** @import { Figures, Job, Peer } from './peer.js' */

/** @type {Peer} */
export const peer = {
  name: 'vegeta',
  available,
  openLoop: (job) => attack(job, [`-rate=${job.ratePerSecond}/s`, `-workers=${job.connections}`]),
  closedLoop: (job) => attack(job, ['-rate=0', `-max-workers=${job.connections}`]),
};

/** A vegeta installed as a Go module cannot print its version; Go can. */
async function available() {
  const version = await versionOf(['vegeta', '-version'], /Version: v?(\d\S*)/);
  if (version !== 'unknown') return version;
  const { stdout } = await runTimed(['sh', '-c', 'go version -m "$(command -v vegeta)"']);
  return /vegeta\/v\d+\s+v(\S+)/.exec(stdout)?.[1] ?? version;
}

/** @param {Job} job @param {string[]} flags @returns {Promise<Figures>} */
async function attack(job, flags) {
  const { url, bodyFile, contentType, headers = {}, seconds, folder } = job;
  const [targets, results] = [join(folder, 'vegeta.txt'), join(folder, 'vegeta.bin')];
  const fields = Object.entries({ 'Content-Type': contentType, ...headers });
  const lines = [`POST ${url}`, ...fields.map(([name, value]) => `${name}: ${value}`), `@${bodyFile}`, ''];
  writeFileSync(targets, lines.join('\n'), { mode: 0o600 });
  const attacked = await runPeer(
    ['vegeta', 'attack', ...flags, `-targets=${targets}`, `-duration=${seconds}s`, `-output=${results}`],
    job,
  );
  const { stdout } = await runPeer(['vegeta', 'report', '-type=json', results], job);
  const { latencies, requests, rate, success } = JSON.parse(stdout);
  const ms = (/** @type {string} */ name) => latencies[name] / 1e6;
  return {
    perSecond: rate * success,
    p50Ms: ms('50th'),
    p90Ms: ms('90th'),
    p95Ms: ms('95th'),
    p99Ms: ms('99th'),
    maxMs: ms('max'),
    failed: Math.round(requests * (1 - success)),
    cpuSeconds: attacked.cpuSeconds,
  };
}
