/**
 * fortio: a rate is shared among its connections, each with its own schedule, which it catches up with;
 * latencies are service times. It sends one request on each connection before the load.
 */
import { runPeer, versionOf } from './peer.js';
/** @import { Figures, Job, Peer } from './peer.js' */

/** @type {Peer} */
export const peer = {
  name: 'fortio',
  available: () => versionOf(['fortio', 'version'], /([\d.]+)/),
  setupRequests: (connections) => connections,
  /** The first request is due at the start and the last at the end. */
  scheduleEach: (requests) => requests / (requests - 1),
  openLoop: (job) => load(job, ['-qps', `${job.ratePerSecond}`, '-uniform']),
  closedLoop: (job) => load(job, ['-qps', '0']),
};

/** @param {Job} job @param {string[]} flags @returns {Promise<Figures>} */
async function load(job, flags) {
  const { url, bodyFile, contentType, connections, seconds } = job;
  const request = ['-payload-file', bodyFile, '-content-type', contentType];
  // Its buckets grow with the distance from the offset: 10 us wide at first, 0.1 s after 100 ms.
  const offset = job.expectedMs === undefined ? [] : ['-offset', `${job.expectedMs}ms`];
  const report = ['-p', '50,90,95,99', '-r', '0.00001', ...offset, '-json', '-', '-quiet'];
  const { stdout, cpuSeconds } = await runPeer(
    ['fortio', 'load', '-c', `${connections}`, '-t', `${seconds}s`, ...flags, ...request, ...report, url],
    job,
  );
  const { DurationHistogram: histogram, ActualQPS: perSecond, RetCodes: codes } = JSON.parse(stdout);
  const ms = (/** @type {number} */ wanted) =>
    histogram.Percentiles.find((/** @type {{Percentile: number}} */ one) => one.Percentile === wanted).Value *
    1000;
  return {
    perSecond,
    p50Ms: ms(50),
    p90Ms: ms(90),
    p95Ms: ms(95),
    p99Ms: ms(99),
    maxMs: histogram.Max * 1000,
    failed: histogram.Count - (codes[200] ?? 0),
    cpuSeconds,
  };
}
