/** The interface of adapters of other load generators. */
import { runTimed } from '../timed.js';
/** @import { Ended } from '../timed.js' */

/**
 * @typedef {object} Job
 * @property {string} url
 * @property {string} bodyFile posted with every request
 * @property {string} contentType
 * @property {Record<string, string>} [headers] additional; only vegeta sends them
 * @property {number} connections
 * @property {number} seconds
 * @property {string} folder to write scripts and results into
 * @property {number} [expectedMs] lower bound of latencies, for histograms whose resolution falls with the distance from it
 * @property {boolean} [rawLatencies] without correction for coordinated omission, if the tool allows it
 * @property {string | null} cores list for `taskset -c`
 */
/** @typedef {Job & {ratePerSecond: number}} OpenJob */
/**
 * @typedef {object} Figures as the peer reports them; null: not reported
 * @property {number} perSecond responses
 * @property {number | null} p50Ms
 * @property {number | null} p90Ms
 * @property {number | null} p95Ms
 * @property {number | null} p99Ms
 * @property {number | null} maxMs
 * @property {number} failed
 * @property {number} cpuSeconds of the whole process, including startup
 */
/**
 * @typedef {object} Peer
 * @property {string} name
 * @property {() => Promise<string | null>} available its version; null: not installed
 * @property {(connections: number) => number} [setupRequests] sent before the load; default: none
 * @property {(requests: number) => number} [scheduleEach] set if each connection has its own schedule: factor of its
 *   gaps compared with the rate, by number of requests
 * @property {(job: OpenJob) => Promise<Figures>} [openLoop] omitted: no open loop
 * @property {(job: Job) => Promise<Figures>} closedLoop
 */

/**
 * @param {string[]} command that prints a version
 * @param {RegExp} version its first group
 * @returns {Promise<string | null>} null: not installed
 */
export async function versionOf(command, version) {
  const { stdout, stderr, code } = await runTimed(command);
  if (code === 127) return null;
  return version.exec(stdout + stderr)?.[1] ?? 'unknown';
}

/**
 * @param {string[]} command
 * @param {Job} job
 * @param {Record<string, string>} [env]
 * @returns {Promise<Ended>}
 * @throws {Error} if its exit code is not 0
 */
export async function runPeer(command, { seconds, cores }, env = {}) {
  const ended = await runTimed(command, { env, cores, limitSeconds: 3 * seconds + 30 });
  if (ended.code !== 0) {
    throw new Error(
      `${command.slice(0, 3).join(' ')} exited with code ${ended.code}: ${ended.stderr.slice(-500)}`,
    );
  }
  return ended;
}
