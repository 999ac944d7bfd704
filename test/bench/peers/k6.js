/** k6: open loop with up to ten times the requested connections; latency starts when a virtual user is free. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runPeer, versionOf } from './peer.js';

/** @import { Figures, Job, Peer } from './peer.js' */

const SCRIPT = `
import http from 'k6/http';
const body = open(__ENV.BODY_FILE, 'b');
const params = { headers: { 'Content-Type': __ENV.CONTENT_TYPE }, responseType: 'none' };
export const options = {
  scenarios: { load: JSON.parse(__ENV.SCENARIO) },
  summaryTrendStats: ['med', 'p(90)', 'p(95)', 'p(99)', 'max'],
};
export default () => { http.post(__ENV.TARGET, body, params); };
export const handleSummary = ({ metrics }) => ({ stdout: JSON.stringify(metrics) });
`;

/** @type {Peer} */
export const peer = {
  name: 'k6',
  available: () => versionOf(['k6', 'version'], /k6 v(\S+)/),
  openLoop: (job) =>
    run(job, {
      executor: 'constant-arrival-rate',
      rate: job.ratePerSecond,
      timeUnit: '1s',
      duration: `${job.seconds}s`,
      preAllocatedVUs: job.connections,
      maxVUs: 10 * job.connections,
    }),
  closedLoop: (job) =>
    run(job, { executor: 'constant-vus', vus: job.connections, duration: `${job.seconds}s` }),
};

/** @param {Job} job @param {Record<string, unknown>} scenario @returns {Promise<Figures>} */
async function run(job, scenario) {
  const { url, bodyFile, contentType, folder } = job;
  const script = join(folder, 'k6.js');
  writeFileSync(script, SCRIPT);
  const env = {
    TARGET: url,
    BODY_FILE: bodyFile,
    CONTENT_TYPE: contentType,
    SCENARIO: JSON.stringify(scenario),
    K6_NO_USAGE_REPORT: 'true',
  };
  const command = ['k6', 'run', '--quiet', '--no-color', '--address', '', script];
  const { stdout, cpuSeconds } = await runPeer(command, job, env);
  const metrics = JSON.parse(stdout);
  const latency = metrics.http_req_duration.values;
  return {
    perSecond: metrics.http_reqs.values.count / job.seconds,
    p50Ms: latency.med,
    p90Ms: latency['p(90)'],
    p95Ms: latency['p(95)'],
    p99Ms: latency['p(99)'],
    maxMs: latency.max,
    failed: metrics.http_req_failed.values.passes,
    cpuSeconds,
  };
}
