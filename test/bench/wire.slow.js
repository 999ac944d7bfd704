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

const CALM = { record: true, spin: false, cores: null };
const skip = process.getuid?.() === 0 ? false : 'packet capture needs root';

/** @param {Exchange} exchange @returns {number} ms */
const onWireMs = ({ requestAtNs, responseAtNs }) => Number((responseAtNs ?? 0n) - requestAtNs) / 1e6;

/** @param {string} url @param {Agent} agent */
async function post(url, agent) {
  const sent = request(url, { method: 'POST', agent }).end('question');
  const [response] = await once(sent, 'response');
  await response.resume().toArray();
}

describe('packet capture', { skip }, () => {
  it('contains each request once, with the time that the target held it', () =>
    withTarget({ ...CALM, delayMs: 10 }, async ({ url, arrivals }) => {
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
      const { heldNs } = await arrivals();
      const held = Array.from(heldNs, (ns) => Number(ns) / 1e6).sort((a, b) => a - b);
      // The target takes its timestamps in its own process, not on the wire, and may lose its processor in between.
      for (const [i, ms] of exchanges
        .map(onWireMs)
        .sort((a, b) => a - b)
        .entries())
        assert.ok(ms >= held[i] - 2 && ms >= 9.9, `${ms} ms on the wire, held for ${held[i]}`);
      for (const { requestAtNs } of exchanges) assert.ok(requestAtNs > before && requestAtNs < after);
    }));

  it('times a fragmented request from its last fragment; a missing response is null', () =>
    withTarget({ ...CALM, hangEvery: 2 }, async ({ url }) => {
      const { exchanges } = await withCapture(url, async () => {
        const socket = connect(Number(new URL(url).port), '127.0.0.1').setNoDelay(true);
        await once(socket, 'connect');
        socket.write('POST / HTTP/1.1\r\nHost: x\r\n');
        await sleep(30);
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
      assert.ok(onWireMs(exchanges[0]) < 20);
    }));

  it('stops if the measured work throws', () =>
    withTarget(CALM, ({ url }) =>
      assert.rejects(
        withCapture(url, () => Promise.reject(new Error('no luck'))),
        /no luck/,
      ),
    ));
});
