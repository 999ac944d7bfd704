/** wrk: closed loop only, whole seconds; its latencies exclude the wait for a connection. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runPeer, versionOf } from './peer.js';

/** @import { Peer } from './peer.js' */

/** Percentiles are in microseconds. */
const SCRIPT = `
local file = assert(io.open(os.getenv("BODY_FILE"), "rb"))
wrk.method = "POST"
wrk.body = file:read("*a")
wrk.headers["Content-Type"] = os.getenv("CONTENT_TYPE")
file:close()
function done(summary, latency, requests)
  local e = summary.errors
  local failed = e.connect + e.read + e.write + e.status + e.timeout
  local p = function(share) return latency:percentile(share) / 1000 end
  io.write(string.format('\\nJSON{"responses":%d,"us":%d,"failed":%d,"p50":%f,"p90":%f,"p95":%f,"p99":%f,"max":%f}\\n',
    summary.requests, summary.duration, failed, p(50), p(90), p(95), p(99), latency.max / 1000))
end
`;

/** @type {Peer} */
export const peer = {
  name: 'wrk',
  available: () => versionOf(['wrk', '-v'], /wrk (?:\w+\/)?([\d.]+)/),
  async closedLoop(job) {
    const { url, bodyFile, contentType, connections, seconds, folder } = job;
    const script = join(folder, 'wrk.lua');
    writeFileSync(script, SCRIPT);
    const load = ['-t', '1', '-c', `${connections}`, '-d', `${Math.ceil(seconds)}s`];
    const env = { BODY_FILE: bodyFile, CONTENT_TYPE: contentType };
    const { stdout, cpuSeconds } = await runPeer(['wrk', ...load, '-s', script, url], job, env);
    const { responses, us, failed, ...latency } = JSON.parse(stdout.slice(stdout.indexOf('JSON{') + 4));
    return {
      perSecond: responses / (us / 1e6),
      p50Ms: latency.p50,
      p90Ms: latency.p90,
      p95Ms: latency.p95,
      p99Ms: latency.p99,
      maxMs: latency.max,
      failed,
      cpuSeconds,
    };
  },
};
