/** What each option of load does to a real run, seen in its result. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { cannedOcsp, startFaultProxy } from '../run/support.js';
import { BEHAVIOURS } from '../targets/behaviours.js';
import { devServer, EC, environmentOf, measure, scratch } from './support.js';

/** @import { TestContext } from 'node:test' */

const server = devServer();

/** @param {...string} args */
const issue = (...args) => measure(['issue', ...EC, ...args], { env: environmentOf(server) });
/** @param {...string} args */
const ocsp = (...args) => measure(['ocsp', ...EC, ...args], { env: environmentOf(server) });

/**
 * A responder that answers the question before the run at once, and everything after it as it is told to.
 *
 * @param {TestContext} t
 * @param {string} behaviour
 * @param {number} delayMs
 * @param {...string} args
 */
async function slow(t, behaviour, delayMs, ...args) {
  const { args: subject, response } = cannedOcsp(t);
  const proxy = await startFaultProxy('http://unused');
  t.after(proxy.close);
  proxy.aim(() => true);
  const settings = { body: response.toString('base64') };
  proxy.inject((context) => BEHAVIOURS[proxy.seen.length > 1 ? behaviour : 'ok'](context), {
    ...settings,
    delayMs,
  });
  return measure([...subject, '--ocsp-url', proxy.url, ...args]);
}

describe('load', { concurrency: 3 }, () => {
  for (const threads of ['1', '3']) {
    test(`--requests 37 is exact in a closed loop with ${threads} thread(s)`, async () => {
      const { totals, load } = await ocsp('--requests', '37', '--threads', threads);
      assert.deepEqual([totals.planned, totals.sent, totals.succeeded], [37, 37, 37]);
      assert.equal(load.model, 'closed');
      assert.equal(load.ratePerSecond, null);
    });

    test(`--requests 37 is exact in an open loop with ${threads} thread(s)`, async () => {
      const { totals, load } = await ocsp('--requests', '37', '--rate', '100/s', '--threads', threads);
      assert.deepEqual([totals.planned, totals.sent, totals.succeeded], [37, 37, 37]);
      assert.deepEqual([load.model, load.ratePerSecond], ['open', 100]);
    });
  }

  test('--duration and --requests: the first limit reached ends the run', async () => {
    assert.equal((await ocsp('--rate', '20', '--duration', '1s', '--requests', '7')).totals.planned, 7);
    assert.equal((await ocsp('--rate', '20', '--duration', '1s', '--requests', '700')).totals.planned, 20);
  });

  test('--warmup sends but does not count', async (t) => {
    const kept = scratch(t)('kept');
    const load = ['--rate', '40/s', '--warmup', '1s', '--duration', '1s', '--keep', kept];
    const { totals } = await issue(...load);
    assert.equal(totals.planned, 40);
    assert.equal(totals.sent, 40);
    assert.equal(readFileSync(kept, 'utf8').trim().split('\n').length, 80, 'of the warm-up too');
  });

  test('--ramp-up sends half as many while the rate rises', async () => {
    const { totals, timeline } = await ocsp('--rate', '50/s', '--ramp-up', '2s', '--duration', '3s');
    assert.ok(Math.abs(totals.planned - 100) <= 1, `${totals.planned}`);
    assert.equal(totals.sent, totals.planned);
    assert.ok(timeline[0].sent < timeline[2].sent, JSON.stringify(timeline));
  });

  test('--overflow drop: drops arrivals without a free connection; no other request waits', async (t) => {
    const load = ['--rate', '50/s', '--duration', '2s', '--concurrency', '2', '--overflow', 'drop'];
    const { totals, latencyMs } = await slow(t, 'delay', 400, ...load);
    assert.equal(totals.planned, 100);
    assert.ok(totals.dropped >= 80, `${totals.dropped} dropped`);
    assert.ok(totals.succeeded >= 2, `${totals.succeeded} succeeded`);
    assert.ok(Number(latencyMs.sendLag.p50) < 400);
  });

  test('--overflow queue: sends them late, and counts the wait', async (t) => {
    const load = ['--rate', '20/s', '--duration', '1s', '--concurrency', '2'];
    const { totals, latencyMs } = await slow(t, 'delay', 200, ...load);
    assert.deepEqual([totals.planned, totals.sent, totals.dropped], [20, 20, 0]);
    assert.ok(Number(latencyMs.response.max) > 800, 'ten rounds of 200 ms in 1 s');
    assert.ok(Number(latencyMs.service.p50) < Number(latencyMs.response.max));
  });

  test('a growing backlog ends with the timeout after the last arrival', async (t) => {
    const load = ['--rate', '100/s', '--duration', '1s', '--concurrency', '1', '--timeout', '3s'];
    const { totals, outcomes } = await slow(t, 'delay', 300, ...load);
    assert.equal(totals.planned, 100);
    assert.ok(totals.neverSent >= 80, `${totals.neverSent}`);
    assert.equal(outcomes.never_sent, totals.neverSent);
  });

  for (const timeout of ['--timeout_ms', '--timeout-ms']) {
    test(`${timeout} 2000 gives up after 2 s, with that age`, async (t) => {
      const load = ['--rate', '20/s', '--requests', '10', '--concurrency', '10', timeout, '2000'];
      const { outcomes, outcomeDetails } = await slow(t, 'silent', 0, ...load);
      assert.deepEqual(outcomes, { timeout: 10 });
      // From when a connection took it, so on a busy machine the service time can be shorter.
      assert.ok(Number(outcomeDetails.timeout.latencyMs.response.min) >= 1999);
    });
  }
});

describe('certificates', { concurrency: 2 }, () => {
  test('--keep, then ocsp --serials queries each certificate', async (t) => {
    const path = scratch(t);
    const kept = path('kept.jsonl');
    await issue('--requests', '30', '--keep', kept, '--cn', 'h-{n}.example.com', '--threads', '2');
    await issue('--requests', '10', '--keep', kept);
    const lines = readFileSync(kept, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(new Set(lines.map(({ serial }) => serial)).size, 40, 'appended');
    const result = await ocsp('--serials', kept, '--requests', '80', '--method', 'auto', '--from-aia');
    assert.deepEqual(result.outcomes, { good: 80 });
  });

  /** @type {[string, string][]} */
  const KEYS = [
    ['rsa-2048', 'example-dot-com'],
    ['ec-256', 'example-dot-com-ec'],
    ['ed25519', 'example-dot-com-ed25519'],
  ];
  for (const [keyType, role] of KEYS) {
    test(`--sign with ${keyType} keys`, async () => {
      const csrs = ['--sign', '--key-type', keyType, '--pool', '3', '--cn', 'h-{random}.example.com'];
      const args = ['issue', '--role', role, ...csrs, '--requests', '12', '--threads', '2'];
      const result = await measure(args, { env: environmentOf(server) });
      assert.deepEqual(result.outcomes, { issued: 12 });
      assert.equal(result.verification.passed, 12);
    });
  }
});
