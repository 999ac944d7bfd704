/**
 * A target that freezes for 500 ms in every 2.5 s. An arrival at a random time waits for x with P(latency > x) =
 * 0.2 (1 - x / 500 ms), so the p95 is 375 ms, whatever the number of connections; what differs is where the time goes.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { measure, runCli } from '../cli/support.js';
import { startTarget } from '../targets/start.js';
import { cannedOcsp } from './support.js';

/** @import { Target } from '../targets/start.js' */

const FOUR_PERIODS = '10s';

/** @param {{after: (fn: () => any) => void}} t */
async function frozen(t) {
  const { args, response } = cannedOcsp(t);
  const target = await startTarget({ behaviour: 'freeze', periodMs: 2500, freezeMs: 500, body: response });
  t.after(() => target.stop());
  return { target, args: [...args, '--ocsp-url', target.url] };
}

/** @param {Target} target @returns {Promise<number>} ms: what it held any request for at most */
async function longestHeld(target) {
  const held = (await target.arrivals()).map(
    ({ atNs, answeredNs }) => Number((answeredNs ?? atNs) - atNs) / 1e6,
  );
  return Math.max(...held);
}

/**
 * Not less than what is known, but for what is counted in whole requests; more where a machine with other things to do
 * wakes the target late: the bench named freeze holds it to a few percent on a quiet one.
 * @param {number | null} ms
 * @param {number} wanted
 */
function assertAbout(ms, wanted) {
  assert.ok(ms !== null && ms >= 0.95 * wanted && ms <= 1.3 * wanted, `${ms} ms instead of ${wanted} ms`);
}

describe('a freeze of 500 ms every 2.5 s', { concurrency: 3 }, () => {
  const open = ['--rate', '50/s', '--duration', FOUR_PERIODS];

  test('open loop, enough connections: the wait is in the service time', async (t) => {
    const { args, target } = await frozen(t);
    const result = await measure([...args, ...open, '--concurrency', '100']);
    const { response, service, sendLag } = result.latencyMs;
    assert.equal(result.totals.succeeded, 500);
    assertAbout(response.p95, 375);
    assertAbout(service.p95, 375);
    // A machine with other things to do wakes the target late, never early: a freeze is as long as it was.
    const longest = await longestHeld(target);
    assert.ok(longest > 475, `held for ${longest}`);
    assertAbout(response.max, longest);
    assert.ok(Number(response.p50) < 187, `p50 ${response.p50}`);
    assert.ok(Number(sendLag.p95) < 187, `send lag ${sendLag.p95}`);
  });

  test('open loop, five connections: the wait is in the send lag and the response time', async (t) => {
    const { args } = await frozen(t);
    const result = await measure([...args, ...open, '--concurrency', '5']);
    const { response, service, sendLag } = result.latencyMs;
    assert.equal(result.totals.succeeded, 500);
    assertAbout(response.p95, 375);
    // The first five of each freeze are on the wire: the next is sent 400 ms late, and each after it 20 ms less.
    assertAbout(sendLag.p95, 275);
    assert.ok(Number(service.p95) < 187, `service ${service.p95}`);
    assert.equal(result.totals.neverSent, 0);
  });

  test('closed loop: the freeze hardly shows, and the report notes that', async (t) => {
    const { args } = await frozen(t);
    const { stdout } = await runCli([...args, '--concurrency', '2', '--duration', '3s', '--quiet']);
    assert.match(stdout, /A closed loop hides waiting/);
    const [, p99, unit] = /^response +(?:[\d.]+ \S+ +){4}([\d.]+) (\S+)/m.exec(stdout) ?? [];
    assert.ok(unit === 'µs' || (unit === 'ms' && Number(p99) < 250), stdout);
  });
});
