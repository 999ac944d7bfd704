/** Joined parts as processes of their own, on a target of known capacity: what searches find, several runs, and metrics. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readDocument } from '../../src/result/read-document.js';
import { freePort } from '../vault/start.js';
import { scratch, serve, startCli } from './support.js';

/** @import { Search } from '../../src/result/search/search-schema.js' */
/** @import { RunSet } from '../../src/result/runs/run-set-schema.js' */
/** @import { TestContext } from 'node:test' */

const [PER_SECOND, PARTS] = [50, 2];

/** Responds to one request after the other, at most 50 a second, whatever the lateness of its timers. @param {TestContext} t */
async function startTarget(t) {
  const state = { requests: 0 };
  let freeMs = 0;
  const url = await serve(t, async (request, response) => {
    const health = { initialized: true, sealed: false, standby: false, version: '1.21.1' };
    if (request.url?.startsWith('/r/')) {
      state.requests++;
      freeMs = Math.max(performance.now(), freeMs) + 1000 / PER_SECOND;
      await sleep(freeMs - performance.now());
    }
    response.end(JSON.stringify(health));
  });
  return { url, state };
}

/** @param {string} url @param {string[]} args @param {string} out @param {Record<number, string[]>} [own] args of a part */
async function startParts(url, args, out, own = {}) {
  const meeting = ['--join', `127.0.0.1:${await freePort()}`, '--out', out];
  return Array.from({ length: PARTS }, (_, part) => {
    const shard = ['--shard', `${part}/${PARTS}`, ...(own[part] ?? [])];
    const target = ['http', '--url', url, '--path', '/r/{n}', '--token', 'none'];
    const env = { VAULT_PKI_LOAD_JOIN_SECRET: 'a secret of the test' };
    return startCli([...target, ...args, ...meeting, ...shard], { env });
  });
}

test('two joined parts find the rate that the target can bear', async (t) => {
  const [{ url }, out] = [await startTarget(t), scratch(t)('search.json')];
  const args = '--find-max-rate --rate 40 --duration 2s --pause 500ms --require p90<60ms'.split(' ');
  const parts = await startParts(url, args, out);
  const [leader, member] = await Promise.all(parts.map(({ ended }) => ended));
  assert.deepEqual([leader.code, member.code], [0, 0], leader.stderr);
  const search = /** @type {Search} */ (await readDocument(out));
  t.diagnostic(
    `The answer is ${search.answer?.level}/s after ${search.steps.length} steps: the target can ${PER_SECOND}/s`,
  );
  assert.ok(Math.abs(Number(search.answer?.level) / PER_SECOND - 1) < 0.05, `${search.answer?.level}`);
});

test('a thread of a part without any request ends before time zero', async (t) => {
  const [{ url, state }, out] = [await startTarget(t), scratch(t)('r.json')];
  const parts = await startParts(url, '--rate 2 --duration 1s --threads 2'.split(' '), out);
  const ended = await Promise.all(parts.map((part) => part.ended));
  assert.deepEqual([state.requests, ...ended.map(({ code }) => code)], [2, 0, 0], ended[0].stderr);
});

test('a joined part fails if its own result cannot be written', async (t) => {
  const [{ url, state }, path] = [await startTarget(t), scratch(t)];
  const parts = await startParts(url, '--rate 20 --duration 2s'.split(' '), path('r.json'));
  while (state.requests === 0) await sleep(20);
  mkdirSync(path('r-part-1.json'));
  const [leader, member] = await Promise.all(parts.map(({ ended }) => ended));
  assert.deepEqual([leader.code, member.code], [0, 1], member.stderr);
  assert.match(member.stderr, /Warning: .*r-part-1\.json/);
});

test('two joined parts find the peak throughput, though some steps leave a part without a connection', async (t) => {
  const [{ url }, out] = [await startTarget(t), scratch(t)('search.json')];
  const args = '--max-concurrency 4 --duration 2s --pause 1s'.split(' ');
  const parts = await startParts(url, args, out);
  const [leader, member] = await Promise.all(parts.map(({ ended }) => ended));
  assert.deepEqual([leader.code, member.code], [0, 0], leader.stderr);
  const search = /** @type {Search} */ (await readDocument(out));
  const levels = search.steps.map(({ level, perSecond }) => [level, perSecond]);
  t.diagnostic(JSON.stringify(levels));
  assert.equal(search.steps[0].level, 1, 'one connection: only part 0 has it');
  // A single connection waits for each response before its next request.
  const isRight = (/** @type {Search['steps'][number]} */ { level, perSecond }) =>
    perSecond < 1.05 * PER_SECOND && perSecond > (level === 1 ? 0.4 : 0.95) * PER_SECOND;
  assert.ok(search.steps.every(isRight), JSON.stringify(levels));
});

test('two joined parts repeat a run; part 0 counts the requests of both in its metrics', async (t) => {
  const [{ url, state }, out] = [await startTarget(t), scratch(t)('set.json')];
  const port = await freePort();
  const args = '--rate 20 --duration 4s --repeat 2 --pause 1s --concurrency 4'.split(' ');
  const parts = await startParts(url, args, out, { 0: ['--metrics', String(port)] });
  const counts = /** @type {number[]} */ ([]);
  const polling = setInterval(async () => {
    const text = await fetch(`http://127.0.0.1:${port}/metrics`).then(
      (response) => response.text(),
      () => '',
    );
    const values = [...text.matchAll(/^vault_pki_load_requests_total\{.*\} (\d+)$/gm)];
    if (values.length > 0) counts.push(values.reduce((sum, [, value]) => sum + Number(value), 0));
  }, 200);
  t.after(() => clearInterval(polling));
  const [leader, member] = await Promise.all(parts.map(({ ended }) => ended));
  assert.deepEqual([leader.code, member.code], [0, 0], leader.stderr);
  const { runs } = /** @type {RunSet} */ (await readDocument(out));
  assert.deepEqual(
    runs.map(({ totals, merged }) => [totals.succeeded, merged?.map(({ sent }) => sent)]),
    [
      [80, [40, 40]],
      [80, [40, 40]],
    ],
  );
  assert.equal(state.requests, 160);
  t.diagnostic(`Counted by the metrics: ${[...new Set(counts)].join(', ')}`);
  // One part alone has sent 40 of each run.
  assert.ok(Math.max(...counts) > 60, `${counts}`);
});
