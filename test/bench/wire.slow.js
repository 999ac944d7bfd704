import './need-go.js';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTarget } from './target/start.js';
import { withCapture } from './wire.js';

/** @import { Exchange } from './wire.js' */

const DELAY_MS = 10;
const CALM = { record: true, spin: false, cores: null };
const skip = process.getuid?.() === 0 ? false : 'packet capture needs root';

/** Packets have the kernel's real time, converted to monotonic time. */
const CLOCKS_DIFFER_NS = 500_000n;

/** @param {Exchange} exchange */
const onWireNs = ({ requestAtNs, responseAtNs }) => (responseAtNs ?? 0n) - requestAtNs;

/**
 * Each request and each response was on the wire before the target knew of it: true however late the target runs.
 * @param {bigint[]} onWireAt @param {bigint[]} inTargetAt
 */
function assertEarlier(onWireAt, inTargetAt) {
  const [first, second] = [onWireAt, inTargetAt].map((times) => times.toSorted((a, b) => (a < b ? -1 : 1)));
  for (const [i, at] of first.entries())
    assert.ok(at <= second[i] + CLOCKS_DIFFER_NS, `${at} ns on the wire, ${second[i]} ns in the target`);
}

/** @param {string} url @param {Agent} agent */
async function post(url, agent) {
  const sent = request(url, { method: 'POST', agent }).end('question');
  const [response] = await once(sent, 'response');
  await response.resume().toArray();
}

describe('packet capture', { skip }, () => {
  it('contains each request once, with the time that the target held it', () =>
    withTarget({ ...CALM, delayMs: DELAY_MS }, async ({ url, arrivals }) => {
      const agents = Array.from({ length: 3 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
      const before = process.hrtime.bigint();
      const { exchanges } = await withCapture(url, () =>
        Promise.all(
          agents.map(async (agent) => {
            for (let i = 0; i < 4; i++) await post(url, agent);
          }),
        ),
      );
      const after = process.hrtime.bigint();
      for (const agent of agents) agent.destroy();
      assert.equal(exchanges.length, 12);
      assert.equal(new Set(exchanges.map(({ port }) => port)).size, 3);
      const { atNs, heldNs } = await arrivals();
      assertEarlier(
        exchanges.map(({ requestAtNs }) => requestAtNs),
        Array.from(atNs),
      );
      assertEarlier(
        exchanges.map(({ responseAtNs }) => responseAtNs ?? 0n),
        Array.from(atNs, (at, i) => at + heldNs[i]),
      );
      for (const exchange of exchanges)
        assert.ok(onWireNs(exchange) + CLOCKS_DIFFER_NS >= BigInt(DELAY_MS * 1e6));
      for (const { requestAtNs } of exchanges) assert.ok(requestAtNs > before && requestAtNs < after);
    }));

  it('times a fragmented request from its last fragment; a missing response is null', () =>
    withTarget({ ...CALM, hangEvery: 2 }, async ({ url }) => {
      let lastFragmentNs = 0n;
      const { exchanges } = await withCapture(url, async () => {
        const socket = connect(Number(new URL(url).port), '127.0.0.1').setNoDelay(true);
        await once(socket, 'connect');
        socket.write('POST / HTTP/1.1\r\nHost: x\r\n');
        await sleep(30);
        lastFragmentNs = process.hrtime.bigint();
        socket.write('Content-Length: 0\r\n\r\n');
        await once(socket, 'data');
        socket.write('POST / HTTP/1.1\r\nHost: x\r\n\r\n');
        await sleep(30);
        socket.destroy();
      });
      assert.deepEqual(
        exchanges.map(({ responseAtNs }) => responseAtNs === null),
        [false, true],
      );
      assert.ok(exchanges[0].requestAtNs + CLOCKS_DIFFER_NS >= lastFragmentNs);
    }));

  it('stops if the measured work throws', () =>
    withTarget(CALM, ({ url }) =>
      assert.rejects(
        withCapture(url, () => Promise.reject(new Error('no luck'))),
        /no luck/,
      ),
    ));
});
