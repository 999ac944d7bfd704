/**
 * autocannon, from npm: a closed loop, or the rate divided among its connections, second by second. Latencies are in
 * whole milliseconds, and corrected for coordinated omission, unless disabled.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runTimed } from '../timed.js';
import { runPeer } from './peer.js';

/** @import { Figures, Job, Peer } from './peer.js' */

const HERE = fileURLToPath(new URL('.', import.meta.url));
const MODULE = `${HERE}node_modules/autocannon`;

/** @type {Promise<string | null> | null} */
let version = null;

/** @type {Peer} */
export const peer = {
  name: 'autocannon',
  available() {
    version ??= install();
    return version;
  },
  openLoop: (job) => attack(job, ['-R', `${job.ratePerSecond}`]),
  closedLoop: (job) => attack(job, []),
};

/** Installs the version in ./package.json on first use, with npm's settings; null if npm fails. */
async function install() {
  const env = /** @type {Record<string, string>} */ (process.env);
  if (!existsSync(MODULE)) await runTimed(['npm', 'install', '--prefix', HERE, '--ignore-scripts'], { env });
  if (!existsSync(MODULE)) return null;
  return JSON.parse(readFileSync(`${MODULE}/package.json`, 'utf8')).version;
}

/** @param {Job} job @param {string[]} flags @returns {Promise<Figures>} */
async function attack(job, flags) {
  const { url, bodyFile, contentType, connections, seconds } = job;
  const raw = job.rawLatencies ? ['--ignoreCoordinatedOmission'] : [];
  const load = ['-c', `${connections}`, '-d', `${seconds}`, ...flags, ...raw];
  const request = ['-m', 'POST', '-i', bodyFile, '-H', `content-type=${contentType}`];
  const { stdout, cpuSeconds } = await runPeer(
    [process.execPath, `${MODULE}/autocannon.js`, ...load, ...request, '--json', '--no-progress', url],
    job,
  );
  const { latency, requests, duration, errors, non2xx } = JSON.parse(stdout);
  return {
    perSecond: requests.total / duration,
    p50Ms: latency.p50,
    p90Ms: latency.p90,
    p95Ms: null,
    p99Ms: latency.p99,
    maxMs: latency.max,
    failed: errors + non2xx,
    cpuSeconds,
  };
}
