/**
 * Entry of a calibration's target process: the known-delay server, and behind it the embedded PKI server, which issues
 * the certificate that is asked about and signs the one answer that is then repeated. Driven by target.js.
 */
import { createDevServer } from '../../dev/server.js';
import { createClock } from '../../engine/clock.js';
import { createKnownDelayServer, startAlarmThread } from './known-delay.js';

/** @import { Order } from './target.js' */
/** @import { AddressInfo } from 'node:net' */

/** How often the CPU time that this process has taken is noted. */
const CPU_EVERY_MS = 20;

process.on('disconnect', () => process.exit(0));
// Ctrl-C reaches the whole process group; the parent ends this process when it has ended its own requests.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

const baseNs = process.hrtime.bigint();
const clock = createClock(baseNs);
const pki = await createDevServer({ caKeyType: 'ec' });
// What waits would wait for ever; the parent learns of it by the end of this process.
const alarm = await startAlarmThread(baseNs, () => process.exit(1));
const { server, begin, end } = createKnownDelayServer({ clock, alarm, ask });
/** @type {{atMs: number, cpuMs: number}[]} */
let cpu = [];
const noting = setInterval(noteCpu, CPU_EVERY_MS);

/** @param {Buffer} request */
async function ask(request) {
  const answer = await fetch(`${pki.url}/v1/pki_int/ocsp`, {
    method: 'POST',
    headers: { 'content-type': 'application/ocsp-request' },
    body: request,
  });
  return Buffer.from(await answer.arrayBuffer());
}

function noteCpu() {
  const { user, system } = process.cpuUsage();
  cpu.push({ atMs: clock(), cpuMs: (user + system) / 1000 });
}

process.on('message', (/** @type {Order} */ order) => {
  if (order.begin !== undefined) {
    cpu = [];
    begin(order.begin);
    process.send?.({ begun: true });
  } else {
    noteCpu();
    process.send?.({ seen: { ...end(), cpu, baseNs } });
  }
});

server.on('error', ({ message }) => {
  clearInterval(noting);
  process.send?.({ failed: message });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {AddressInfo} */ (server.address());
  const { url, token } = pki;
  process.send?.({ ready: { url: `http://127.0.0.1:${port}`, pki: { url, token } } });
});
