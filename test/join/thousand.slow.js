/** Part 0 of 1,001 parts: its memory, and its time from the last answer to the verdict. The others only speak the protocol. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { keyOf } from '../../src/join/wire.js';
import { readDocument } from '../../src/result/read-document.js';
import { syntheticRun } from '../synthetic-run.js';
import { freePort } from '../vault/start.js';
import { foundAt, planFor, startCounting, startFake } from './support.js';

/** @import { Result } from '../../src/result/schema.js' */

const PROGRAM = fileURLToPath(new URL('../../bin/vault-pki-load.js', import.meta.url));
const SECRET = 'a secret of the test';
const MAX_MB = 300;
const COUNT = Number(process.env.SIMULATED_PARTS ?? 1000);

test(`${COUNT} parts cost part 0 less than ${MAX_MB} MB`, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'vpl-thousand-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const of = COUNT + 1;
  const { url } = await startCounting(t);
  const load = { rate: 2 * of, duration: '10s', concurrency: 10_000, seed: 1 };
  const plan = await planFor(url, load);
  const port = await freePort();
  const flags = Object.entries({ ...load, url, path: '/r/{n}', token: 'none' }).flatMap(([name, value]) => [
    `--${name}`,
    `${value}`,
  ]);
  const meeting = [
    '--join',
    `127.0.0.1:${port}`,
    '--shard',
    `0/${of}`,
    '--out',
    join(folder, 'whole.json'),
    '--require',
    'p50<10s',
  ];
  const child = spawn(process.execPath, [PROGRAM, 'http', '--cold-start', ...flags, ...meeting], {
    env: { PATH: process.env.PATH, HOME: folder, VAULT_PKI_LOAD_JOIN_SECRET: SECRET },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  let [peakMb, cpuMs, cpuAtLastMs] = [0, 0, 0];
  const polling = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      const [, ...fields] = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
      // utime and stime, in hundredths of a second.
      cpuMs = 10 * (Number(fields[10]) + Number(fields[11]));
      peakMb = Math.max(peakMb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    } catch {}
  }, 50);
  t.after(() => clearInterval(polling));
  const ended = once(child, 'exit');

  const required = { ...plan, requirements: ['p50<10s'] };
  const whole = await planFor(url, { ...load, require: ['p50<10s'] });
  const resultOf = (/** @type {number} */ index) => {
    const shard = { index, of };
    const made = syntheticRun({
      load: { ...plan.load, shard },
      weights: { http: 1 },
      requirements: ['p50<10s'],
    });
    const target = { url, product: null, version: null };
    return { ...made, target, plan: { ...required, load: { ...plan.load, shard } } };
  };
  let [lastMs, bytes] = [0, 0];
  const key = keyOf(SECRET);
  const parts = Array.from({ length: COUNT }, (_, i) => {
    const index = i + 1;
    const result = JSON.parse(JSON.stringify(resultOf(index)));
    return { index, result };
  });
  bytes = JSON.stringify(parts[0].result).length;
  while (!stderr.includes('listens')) await sleep(20);
  const phases = /** @type {Record<string, string>} */ ({
    prepare: 'prepared',
    run: 'ready',
    connect: 'connected',
  });
  const join_ = ({ index, result } = parts[0]) => {
    let isIn = false;
    let timer = /** @type {NodeJS.Timeout | undefined} */ (undefined);
    const fake = startFake(
      t,
      { host: '127.0.0.1', port },
      { index, of, seed: load.seed },
      ({ type, task, wallMs }, send, socket) => {
        if (type === 'welcome')
          send({ type: 'plans', plans: [whole], series: { '--repeat': 1, '--find-max-rate': false } });
        if (type === 'admitted') {
          isIn = true;
          timer = setInterval(send, 1000, { type: 'ping', at: 0 });
          socket.on('close', () => clearInterval(timer));
        }
        if (phases[type] !== undefined)
          send({ type: 'reached', task, phase: phases[type], roundTripMs: 1, found: foundAt(url) });
        if (type === 'start')
          setTimeout(() => {
            send({ type: 'result', task, result: { ...result, startedAt: new Date(wallMs).toISOString() } });
            lastMs = performance.now();
            cpuAtLastMs = cpuMs;
          }, 10_500);
      },
      key,
    );
    fake.socket.on('close', () => {
      if (!isIn) setTimeout(join_, 200 + 800 * Math.random(), { index, result });
    });
  };
  for (const part of parts) join_(part);
  await ended;
  const tookMs = performance.now() - lastMs;
  const { totals, measurement, merged } = /** @type {Result} */ (
    await readDocument(join(folder, 'whole.json'))
  );
  t.diagnostic(
    `peak ${peakMb.toFixed(0)} MB; ${tookMs.toFixed(0)} ms from the last result to the exit, ${cpuMs - cpuAtLastMs} ms of CPU time; a result has ${bytes} bytes; ${measurement.verdict}`,
  );
  assert.deepEqual([totals.planned, merged?.length], [20 * of, of]);
  assert.ok(peakMb < MAX_MB, `${peakMb} MB`);
});
