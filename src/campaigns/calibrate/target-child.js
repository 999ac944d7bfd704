/** The calibration target: a known-delay server. The embedded PKI server issues its certificate and signs its one response. */
import { createDevServer } from '../../dev/server.js';
import { createClock } from '../../engine/clock.js';
import { createKnownDelayServer, startAlarmThread } from './known-delay.js';

/** @import { AddressInfo } from 'node:net' */

/** Time between samples of the CPU time. */
const CPU_EVERY_MS = 20;

process.on('disconnect', () => process.exit(0));
// Ctrl-C reaches the whole process group; the parent stops this process after its last request. SIGUSR1 would open a debugger.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1']) process.on(signal, () => {});

const baseNs = process.hrtime.bigint();
const clock = createClock(baseNs);
const { url, token } = await createDevServer({ caKeyType: 'ec' });
// Without the alarm, requests would hang; exiting informs the parent.
const alarm = await startAlarmThread(baseNs, () => process.exit(1));
const { server, begin, end } = createKnownDelayServer({ clock, alarm, fetchResponse });
/** @type {{atMs: number, cpuMs: number}[]} */
let cpu = [];
setInterval(recordCpu, CPU_EVERY_MS);

/** @param {Buffer} body */
async function fetchResponse(body) {
  const headers = { 'content-type': 'application/ocsp-request' };
  const response = await fetch(`${url}/v1/pki_int/ocsp`, { method: 'POST', headers, body });
  return Buffer.from(await response.arrayBuffer());
}

function recordCpu() {
  const { user, system } = process.cpuUsage();
  cpu.push({ atMs: clock(), cpuMs: (user + system) / 1000 });
}

process.on('message', (/** @type {number} */ delayMs) => {
  recordCpu();
  process.send?.({ ...end(), cpu, baseNs });
  cpu = [];
  begin(delayMs);
});

server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {AddressInfo} */ (server.address());
  process.send?.({ ready: { url: `http://127.0.0.1:${port}`, pki: { url, token } } });
});
