/** What an adapter of another load generator is: asked in its own way, answering in ours. */
import { runTimed } from '../timed.js';
/** @import { Ended } from '../timed.js' */

/**
 * @typedef {object} Job
 * @property {string} url
 * @property {string} bodyFile posted with every request
 * @property {string} contentType
 * @property {Record<string, string>} [headers] more of them; only vegeta sends them
 * @property {number} connections
 * @property {number} seconds
 * @property {string} folder to write scripts and results into
 * @property {number} [expectedMs] no answer comes sooner: for histograms whose resolution falls with the distance from it
 * @property {boolean} [rawLatencies] as measured: not corrected for coordinated omission, where that can be had
 * @property {string | null} cores to run on, as `taskset -c` takes them
 */
/** @typedef {Job & {ratePerSecond: number}} OpenJob */
/**
 * @typedef {object} Figures as the peer reports them; null: it does not say
 * @property {number} perSecond answers
 * @property {number | null} p50Ms
 * @property {number | null} p90Ms
 * @property {number | null} p95Ms
 * @property {number | null} p99Ms
 * @property {number | null} maxMs
 * @property {number} failed
 * @property {number} cpuSeconds of the whole process, start included
 */
/**
 * @typedef {object} Peer
 * @property {string} name
 * @property {() => Promise<string | null>} available its version; null: it is not on this machine
 * @property {(connections: number) => number} [setupRequests] sent before the load; none when left out
 * @property {(requests: number) => number} [scheduleEach] each of its connections has a schedule of its own, whose gaps are
 *   so many times those of the rate where it is this long
 * @property {(job: OpenJob) => Promise<Figures>} [openLoop] left out: it has no open loop
 * @property {(job: Job) => Promise<Figures>} closedLoop
 */

/**
 * @param {string[]} command that prints a version
 * @param {RegExp} version its first group
 * @returns {Promise<string | null>} null: there is no such program
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
 * @throws {Error} where it ended with anything but 0
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
