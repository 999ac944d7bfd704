import './need-go.js';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTarget } from './target/start.js';

/** @import { TargetStats } from './target/start.js' */

/** @param {number} ms */
const ns = (ms) => ms * 1e6;

/** @param {string} url @param {number} count at once, on a connection each */
const post = (url, count) =>
  Promise.all(Array.from({ length: count }, () => fetch(url, { method: 'POST', body: 'question' })));

/** @param {number[]} values */
const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

/**
 * Hold times minus lateness: the planned delays.
 * @param {Pick<TargetStats, 'heldNs' | 'lateNs'>} spreads
 */
const meanDue = ({ heldNs, lateNs }) => Number(heldNs?.mean) - Number(lateNs?.mean);

/** Without spinning, so that tests do not occupy a core. */
const CALM = { record: true, spin: false, cores: null };

describe('the target of the benches', () => {
  it('counts and records requests, except setup requests', () =>
    withTarget({ ...CALM, skip: 2 }, async ({ url, stats, arrivals }) => {
      const before = process.hrtime.bigint();
      for (let i = 0; i < 5; i++)
        assert.equal(await (await fetch(url, { method: 'POST', body: 'x' })).text(), 'ok');
      const after = process.hrtime.bigint();
      const { requests, connections, heldNs, lateNs } = await stats();
      assert.deepEqual([requests, heldNs?.count, lateNs?.count], [3, 3, 3]);
      const { atNs, connection } = await arrivals();
      assert.equal(atNs.length, 3);
      assert.ok(Math.max(...connection) < connections);
      const times = [before, ...atNs, after];
      assert.deepEqual(
        times,
        [...times].sort((a, b) => Number(a - b)),
        'on the clock of process.hrtime',
      );
      assert.equal((await arrivals()).atNs.length, 0, 'cleared');
      assert.equal((await stats()).requests, 3);
    }));

  it('responds with the bodies of a file in turn', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-test-'));
    const bodiesFile = join(folder, 'bodies');
    const bodies = ['one', '', 'three'].map((body) => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(body.length);
      return Buffer.concat([length, Buffer.from(body)]);
    });
    writeFileSync(bodiesFile, Buffer.concat(bodies));
    try {
      await withTarget({ ...CALM, bodiesFile }, async ({ url }) => {
        const got = [];
        for (let i = 0; i < 4; i++) got.push(await (await fetch(url, { method: 'POST' })).text());
        assert.deepEqual(got, ['one', '', 'three', 'one']);
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('responds after the delay', () =>
    withTarget({ ...CALM, delayMs: 20.5 }, async ({ url, stats }) => {
      await post(url, 5);
      const { heldNs, lateNs } = await stats();
      assert.ok(Number(lateNs?.p50) >= 0);
      // Without its own lateness, each response was due 20.5 ms after its request.
      assert.ok(Math.abs(meanDue({ heldNs, lateNs }) - ns(20.5)) < 1);
    }));

  it('as a single server, handles simultaneous requests one at a time', () =>
    withTarget({ ...CALM, serviceMs: 10 }, async ({ url, stats, arrivals }) => {
      await post(url, 6);
      const spreads = await stats();
      const { atNs } = await arrivals();
      let busyUntil = 0;
      const due = Array.from(atNs, (at) => {
        busyUntil = Math.max(Number(at - atNs[0]), busyUntil) + ns(10);
        return busyUntil - Number(at - atNs[0]);
      });
      assert.ok(Math.abs(meanDue(spreads) - mean(due)) < 1);
    }));

  it('sends no response during a freeze, and all of them afterwards', () =>
    withTarget({ ...CALM, freezeEveryMs: 400, freezeForMs: 200 }, async ({ url, stats, arrivals }) => {
      const posted = [];
      for (let i = 0; i < 100; i++) {
        posted.push(post(url, 1));
        await sleep(10);
      }
      await Promise.all(posted);
      const spreads = await stats();
      const { atNs, heldNs } = await arrivals();
      const into = Array.from(atNs, (at) => Number(at - atNs[0]) % ns(400));
      const rests = into.map((since) => (since >= ns(100) && since < ns(300) ? ns(300) - since : 0));
      assert.ok(rests.some((rest) => rest > 0));
      assert.ok(Math.abs(meanDue(spreads) - mean(rests)) < 1);
      assert.ok(rests.every((rest, i) => Number(heldNs[i]) >= rest));
    }));

  it('hangs on every n-th request', () =>
    withTarget({ ...CALM, hangEvery: 4 }, async ({ url }) => {
      const seen = [];
      for (let i = 0; i < 8; i++) {
        const signal = (i + 1) % 4 === 0 ? AbortSignal.timeout(200) : undefined;
        const response = await fetch(url, { signal }).catch(() => null);
        seen.push(response?.status ?? null);
        await response?.text();
      }
      assert.deepEqual(seen, [200, 200, 200, null, 200, 200, 200, null]);
    }));

  it('reads requests in fragments, and several in one packet', () =>
    withTarget(CALM, async ({ url, stats }) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1').setNoDelay(true);
      await once(socket, 'connect');
      let received = '';
      socket.setEncoding('latin1').on('data', (text) => {
        received += text;
      });
      const request = 'POST / HTTP/1.1\r\nHost: x\r\ncontent-LENGTH: 4\r\n\r\nabcd';
      for (const piece of [request.slice(0, 9), request.slice(9, 50), `${request.slice(50)}${request}`]) {
        socket.write(piece);
        await sleep(20);
      }
      while (received.split('HTTP/1.1 200 OK').length < 3) await once(socket, 'data');
      assert.equal((await stats()).requests, 2);
      socket.destroy();
    }));

  it('reports why it cannot read a file', async () => {
    await assert.rejects(
      withTarget({ ...CALM, bodyFile: '/nonexistent' }, async () => {}),
      /exited with code 1/,
    );
  });
});
