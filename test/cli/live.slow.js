/** What a run leaves and shows while it goes on, and what several runs leave: as users run them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { text as textOf } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { validateRunSet } from '../../src/result/runs/run-set-schema.js';
import { otlpFaults } from '../live/otlp-proto.js';
import {
  assertDone,
  devServer,
  EC,
  environmentOf,
  rightResult,
  runCli,
  scratch,
  serve,
  startCli,
} from './support.js';

/** @import { ServerResponse } from 'node:http' */
/** @import { TestContext } from 'node:test' */

const PROGRAM = fileURLToPath(new URL('../../bin/vault-pki-load.js', import.meta.url));

/** Longer than anybody waits. */
const LONG = ['--duration', '10m'];

/** What was measured, to be found after the process was killed. */
const OLDEST_MS = 5000;

const server = devServer();

describe('a run that is killed', { concurrency: 2 }, () => {
  /** @type {[string, string[]][]} */
  const TABLE = [
    ['an open loop on two threads', ['--rate', '100/s', '--threads', '2', '--require', 'p99<1s']],
    ['a closed loop', ['--concurrency', '2']],
  ];
  for (const [what, load] of TABLE) {
    test(`leaves complete files, at most 5 s old: ${what}`, async (t) => {
      const path = scratch(t);
      const outs = ['json', 'txt', 'md', 'html', 'csv', 'prom'].map((extension) => path(`r.${extension}`));
      const flags = outs.flatMap((out) => ['--out', out]);
      const child = spawn(process.execPath, [PROGRAM, 'ocsp', ...EC, ...load, ...LONG, ...flags, '--quiet'], {
        stdio: 'ignore',
        env: { PATH: process.env.PATH, HOME: '/nonexistent', ...environmentOf(server) },
      });
      const ended = once(child, 'exit');
      const read = () => JSON.parse(readFileSync(outs[0], 'utf8'));
      while (!existsSync(outs[0])) await sleep(10);
      assert.equal(rightResult(readFileSync(outs[0], 'utf8')).unfinished, true, 'whole from the start');
      while (read().durationSeconds < 3) await sleep(50);
      // In the midst of things, also of writing.
      await sleep(1000 * Math.random());
      const killedAt = Date.now();
      child.kill('SIGKILL');
      await ended;
      const result = rightResult(readFileSync(outs[0], 'utf8'));
      assert.deepEqual([result.unfinished, result.interrupted], [true, false]);
      assert.ok(result.totals.succeeded > 0);
      const knownUntil = Date.parse(result.startedAt) + result.durationSeconds * 1000;
      assert.ok(killedAt - knownUntil < OLDEST_MS, `${killedAt - knownUntil} ms old`);
      for (const out of outs) assert.match(readFileSync(out, 'utf8'), /[^\n]\n$/, out);
      const left = readdirSync(path('.')).filter((name) => name.endsWith('.tmp'));
      assert.ok(left.length <= 1, String(left));
    });
  }
});

test('a killed set of runs leaves the finished runs and the current one', async (t) => {
  const path = scratch(t);
  const [json, html] = [path('runs.json'), path('runs.html')];
  const load = [
    '--rate',
    '100/s',
    '--duration',
    '4s',
    '--repeat',
    '50',
    '--out',
    json,
    '--out',
    html,
    '--quiet',
  ];
  const child = spawn(process.execPath, [PROGRAM, 'ocsp', ...EC, ...load], {
    stdio: 'ignore',
    env: { PATH: process.env.PATH, HOME: '/nonexistent', ...environmentOf(server) },
  });
  const ended = once(child, 'exit');
  const read = () => (existsSync(json) ? JSON.parse(readFileSync(json, 'utf8')).runs : []);
  while (read().length < 2) await sleep(20);
  const killedAt = Date.now();
  child.kill('SIGKILL');
  await ended;
  const set = validateRunSet(JSON.parse(readFileSync(json, 'utf8')));
  assert.deepEqual(
    set.runs.map(({ unfinished }) => unfinished),
    [undefined, true],
  );
  const [first, second] = set.runs.map((run) => rightResult(JSON.stringify(run)));
  assert.equal(first.totals.succeeded, 400);
  const knownUntil = Date.parse(second.startedAt) + second.durationSeconds * 1000;
  assert.ok(killedAt - knownUntil < OLDEST_MS, `${killedAt - knownUntil} ms old`);
  assert.equal(set.summary.leftOut.at(-1)?.run, 'run 2');
  assert.match(readFileSync(html, 'utf8'), /<\/html>\n$/, 'of the first');
});

test('--metrics serves the figures so far, and prints its address', async () => {
  const args = ['ocsp', ...EC, '--rate', '50/s', ...LONG, '--metrics', '0', '--quiet'];
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, HOME: '/nonexistent', ...environmentOf(server) },
  });
  const ended = once(child, 'exit');
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  /** @type {string | undefined} */
  let address;
  while (address === undefined) {
    await once(child.stderr, 'data');
    [, address] = /^Metrics are served at (http:\/\/127\.0\.0\.1:\d+\/metrics)\.$/m.exec(said) ?? [];
  }
  let text = '';
  while (!/outcome="good"/.test(text)) {
    await sleep(100);
    text = await (await fetch(address)).text();
  }
  assert.match(text, /^vault_pki_load_running 1$/m);
  child.kill('SIGINT');
  assert.deepEqual(await ended, [130, null]);
});

/** @param {TestContext} t @param {(response: ServerResponse) => void} [reply] */
async function startReceiver(t, reply = (response) => response.end('{}')) {
  /** What was pushed, parsed. @type {any[]} */
  const pushed = [];
  const url = await serve(t, async (request, response) => {
    pushed.push(JSON.parse(await textOf(request)));
    reply(response);
  });
  return { url, pushed };
}

/** @param {any} push @returns {{run: string, running: number, good: number}} what it says of the run */
function readPush({ resourceMetrics: [{ resource, scopeMetrics }] }) {
  const id = resource.attributes.find((/** @type {any} */ { key }) => key === 'service.instance.id');
  const metric = (/** @type {string} */ name) =>
    scopeMetrics[0].metrics.find((/** @type {any} */ one) => one.name === `vault_pki_load.${name}`);
  const [{ asInt = '0' } = {}] = metric('requests')?.sum.dataPoints ?? [];
  return {
    run: id.value.stringValue,
    running: metric('running').gauge.dataPoints[0].asDouble,
    good: Number(asInt),
  };
}

describe('--otlp', { concurrency: 2 }, () => {
  test('sends the complete end of each run, correctly mapped', async (t) => {
    const { url, pushed } = await startReceiver(t);
    const load = ['--rate', '100/s', '--duration', '1.5s', '--repeat', '3', '--quiet', '--format', 'json'];
    const { stdout, stderr } = await runCli(['ocsp', ...EC, ...load, '--otlp', url], {
      env: environmentOf(server),
    });
    assert.equal(stderr, '');
    const { runs } = validateRunSet(JSON.parse(stdout));
    for (const push of pushed) assert.deepEqual(otlpFaults(push), []);
    const ends = pushed.map(readPush).filter(({ running }) => running === 0);
    assert.deepEqual(
      ends,
      runs.map(({ startedAt, totals }) => ({ run: startedAt, running: 0, good: totals.succeeded })),
    );
  });

  test('Ctrl-C ends the wait for a silent receiver, and the exit code stays that of the run', async (t) => {
    const { url, pushed } = await startReceiver(t, () => {});
    const cli = startCli(['ocsp', ...EC, '--requests', '20', '--otlp', url], { env: environmentOf(server) });
    await cli.prints(/^ {2}[\d,]+ of [\d,]+ .* good/m);
    await sleep(1000);
    cli.kill('SIGINT');
    const ended = await cli.ended;
    assertDone(ended);
    assert.doesNotMatch(ended.stderr, /Interrupted|cannot be shown/);
    assert.ok(pushed.length > 0);
  });
});

test('--github-summary appends Markdown to the output of other steps', async (t) => {
  const file = scratch(t)('summary.md', '# Another step\n');
  const env = { ...environmentOf(server), GITHUB_STEP_SUMMARY: file };
  const ended = await runCli(['ocsp', ...EC, '--requests', '20', '--quiet', '--github-summary'], { env });
  assertDone(ended);
  const text = readFileSync(file, 'utf8');
  assert.match(text, /^# Another step\n/);
  assert.ok(text.length > 200, text);
});

describe('--repeat', { concurrency: 2 }, () => {
  test('runs in sequence, and writes a set of all runs', async (t) => {
    const path = scratch(t);
    const [json, text] = [path('runs.json'), path('runs.txt')];
    const outs = ['--out', json, '--out', text];
    const load = ['--rate', '100/s', '--duration', '1.5s', '--repeat', '3', '--pause', '200ms'];
    const ended = await runCli(['ocsp', ...EC, ...load, ...outs, '--format', 'json'], {
      env: environmentOf(server),
    });
    const { stdout, stderr } = ended;
    const set = validateRunSet(JSON.parse(stdout));
    assert.deepEqual(JSON.parse(readFileSync(json, 'utf8')), set);
    assert.equal(set.runs.length, 3);
    const invalid = set.runs.some(({ measurement }) => measurement.verdict === 'invalid');
    assert.equal(ended.code, invalid ? 98 : 0, stderr);
    for (const run of set.runs) {
      const { totals, unfinished } = rightResult(JSON.stringify(run));
      assert.deepEqual([totals.planned, totals.succeeded, unfinished], [150, 150, undefined]);
    }
    assert.equal(
      new Set(set.runs.map(({ load }) => load.seed)).size,
      3,
      'each draws its own times and names',
    );
    const times = set.runs.map(({ startedAt }) => Date.parse(startedAt));
    assert.ok(times[1] - times[0] >= 1700 && times[2] - times[1] >= 1700, String(times));
    assert.match(readFileSync(text, 'utf8'), /[^\n]\n$/);
    for (const run of [1, 2, 3]) assert.match(stderr, new RegExp(`^Run ${run} of 3:$`, 'm'));
  });

  test('Ctrl-C: reports the runs so far, including the interrupted one', async (t) => {
    const json = scratch(t)('runs.json');
    const args = ['ocsp', ...EC, '--rate', '50/s', '--duration', '5s', '--repeat', '50', '--out', json];
    const cli = startCli([...args, '--format', 'json'], { env: environmentOf(server) });
    await cli.shows(/^Run 2 of 50:\n(?:.*\n)*\d+ s\//m);
    cli.kill('SIGINT');
    const { code, stdout, stderr } = await cli.ended;
    assert.equal(code, 130, stderr);
    const { runs } = validateRunSet(JSON.parse(stdout));
    assert.deepEqual(
      runs.map(({ interrupted }) => interrupted),
      [false, true],
    );
    assert.deepEqual(validateRunSet(JSON.parse(readFileSync(json, 'utf8'))).runs, runs);
  });
});
