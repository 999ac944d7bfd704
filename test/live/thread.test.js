/** The live thread itself, with files and a port of this machine: what comes in by messages comes out of it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PkiLoadError } from '../../src/common/errors.js';
import { startLive } from '../../src/live/thread.js';
import { checkResult } from '../../src/result/check/check.js';
import { validateRunSet } from '../../src/result/runs/run-set-schema.js';
import { validateResult } from '../../src/result/schema.js';
import { scratch } from '../cli/support.js';
import { sampleResult } from '../result/sample.js';
import { reportAt, startRun } from './running.js';

/** @import { LiveOptions } from '../../src/live/thread.js' */
/** @import { AddressInfo } from 'node:net' */

/** @param {Partial<LiveOptions>} changes */
function start(changes, replyWithinMs = 30_000) {
  const run = startRun({ durationMs: 20_000, threads: 2 });
  const options = {
    plan: { ...run.start.plan, operation: 'ocsp' },
    command: 'vault-pki-load ocsp',
    runs: 1,
    outs: [],
    metrics: null,
    otlp: null,
    terminal: { isTTY: false },
    quiet: true,
    ...changes,
  };
  const live = startLive(options, (error) => assert.fail(error), replyWithinMs);
  return { run, live };
}

/**
 * @param {string} path
 * @param {(result: any) => boolean} isIt
 * @returns {Promise<any>} what the file holds, once it is that
 */
async function written(path, isIt) {
  for (;;) {
    const result = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
    if (result !== null && isIt(result)) return result;
    await sleep(10);
  }
}

describe('the live thread', () => {
  test("writes the recorders' direct reports, and nothing before the first", async (t) => {
    const file = scratch(t)('r.json');
    const { run, live: starting } = start({ outs: [file] });
    const live = await starting;
    const ports = live.hook.ports(2);
    assert.equal(ports.length, 2);
    live.event(run.start);
    live.hook.begin(run.zero);
    await sleep(300);
    assert.equal(existsSync(file), false, 'what was there is not replaced by nothing');
    for (const [thread, port] of ports.entries()) port.postMessage(reportAt(run, thread, 0, 3000));
    const result = await written(file, ({ totals }) => totals.sent === 60);
    assert.deepEqual(checkResult(validateResult(result), { isFile: true }), []);
    await live.finish(sampleResult([]));
    const last = readFileSync(file, 'utf8');
    await sleep(300);
    assert.equal(readFileSync(file, 'utf8'), last, 'whoever gave the result writes it');
    await Promise.all([live.close(), live.close()]);
    for (const port of ports) port.close();
  });

  test('of several runs writes a set: the finished runs and the current one', async (t) => {
    const file = scratch(t)('r.json');
    const { run, live: starting } = start({ outs: [file], runs: 2 });
    const live = await starting;
    const first = sampleResult([], { command: 'the first' });
    await live.finish(first);
    await live.next();
    const ports = live.hook.ports(2);
    live.event(run.start);
    live.hook.begin(run.zero);
    for (const [thread, port] of ports.entries()) port.postMessage(reportAt(run, thread, 0, 3000));
    const set = await written(file, () => true);
    assert.equal(validateRunSet(set), set);
    assert.deepEqual(
      set.runs.map((/** @type {any} */ { totals, unfinished }) => [totals.sent, unfinished]),
      [
        [0, undefined],
        [60, true],
      ],
    );
    await live.abandon();
    await live.close();
    for (const port of ports) port.close();
  });

  test('can be cut short', { timeout: 300_000 }, async (t) => {
    const silent = createServer();
    t.after(() => silent.close());
    await new Promise((resolve) => silent.listen(0, '127.0.0.1', () => resolve(null)));
    const { port } = /** @type {AddressInfo} */ (silent.address());
    const asked = once(silent, 'connection');
    const { live: starting } = start({ otlp: `http://127.0.0.1:${port}` });
    const live = await starting;
    await live.finish(sampleResult([]));
    let isClosed = false;
    const closed = live.close().then(() => {
      isClosed = true;
    });
    const [socket] = await asked;
    assert.equal(isClosed, false);
    live.cutShort();
    await closed;
    socket.destroy();
  });

  test('is ended, and says so, if it does not reply in time', { timeout: 300_000 }, async (t) => {
    const silent = createServer((socket) => socket.on('error', () => {}).resume());
    t.after(() => silent.close());
    await new Promise((resolve) => silent.listen(0, '127.0.0.1', () => resolve(null)));
    const { port } = /** @type {AddressInfo} */ (silent.address());
    const live = await start({ otlp: `http://127.0.0.1:${port}` }, 200).live;
    assert.equal(live.hasStalled(), false);
    await live.finish(sampleResult([]));
    await live.close();
    assert.equal(live.hasStalled(), true);
  });

  test('requests no reports without an output', async () => {
    const { live } = start({});
    const started = await live;
    assert.deepEqual(started.hook.ports(2), []);
    await started.finish(sampleResult([]));
    await started.close();
  });

  test('does not start if the metrics port is in use: an ordinary error', async (t) => {
    const server = createServer();
    t.after(() => server.close());
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
    const { port } = /** @type {AddressInfo} */ (server.address());
    await assert.rejects(start({ metrics: { host: '127.0.0.1', port } }).live, (error) => {
      assert.ok(error instanceof PkiLoadError);
      assert.equal(error.code, 'metrics_port_in_use');
      return true;
    });
  });
});
