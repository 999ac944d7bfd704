/** `--shard` and `merge`: a plan in parts on the embedded server, and what is refused. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { startDevServer } from '../../src/dev/spawn.js';
import { makeRunSet } from '../../src/results/runs/run-set.js';
import { startFaultProxy } from '../run/support.js';
import { syntheticParts, syntheticRun } from '../synthetic-run.js';
import {
  assertDone,
  assertRefused,
  EC,
  environmentOf,
  rightResult,
  runCli,
  scratch,
  startBatch,
} from './support.js';

const LOAD = { ratePerSecond: 60, durationMs: 6000, seed: 5 };

/** @type {(() => void)[]} */
const cleanups = [];
after(() => {
  for (const cleanup of cleanups) cleanup();
});
const path = scratch({ after: (fn) => cleanups.push(fn) });

describe('parts of a plan on the embedded server', () => {
  /** @type {import('../../src/dev/spawn.js').SpawnedDevServer} */
  let server;
  before(async () => {
    server = await startDevServer({ caKeyType: 'ec' });
  });
  after(() => server.stop());

  test('ask together for what one asks for, begin together, and are one result', async (t) => {
    const proxy = await startFaultProxy(server.url);
    t.after(proxy.close);
    const env = environmentOf({ url: proxy.url, token: server.token });
    const load = [
      '--rate',
      '60/s',
      '--duration',
      '3s',
      '--warmup',
      '500ms',
      '--seed',
      '11',
      '--concurrency',
      '20',
    ];
    const startAt = new Date(Date.now() + 40_000).toISOString();
    const names = ['--cn', 'h-{n}.example.com', '--require', 'rate>=55/s'];
    const files = [path('p0.json'), path('p1.json')];
    const ended = await Promise.all(
      files.map((file, k) => {
        const own = ['--shard', `${k}/2`, '--start-at', startAt, '--threads', String(k + 1), '--out', file];
        return runCli(['issue', ...EC, ...names, ...load, ...own, '--quiet'], { env });
      }),
    );
    for (const one of ended) assertDone(one);
    const parts = files.map((file) => rightResult(readFileSync(file, 'utf8')));
    assert.deepEqual(
      parts.map(({ shard, totals }) => [shard, totals.planned]),
      [
        [{ index: 0, of: 2 }, 90],
        [{ index: 1, of: 2 }, 90],
      ],
    );
    const merged = await runCli(['merge', ...files, '--format', 'json']);
    const sum = rightResult(merged.stdout);
    assert.deepEqual([sum.totals.planned, sum.totals.succeeded, sum.load.threads], [180, 180, 3]);
    assert.deepEqual(sum.outcomes, { issued: 180 });
    assert.equal(sum.shard, undefined);
    assert.match(String(sum.verification.notes), /not with those of the other parts/);
    assert.equal(
      merged.code === 98 ? 'invalid' : 'other',
      sum.measurement.verdict === 'invalid' ? 'invalid' : 'other',
    );
    const asked = proxy.seen.map(({ body }) => Number(/h-(\d+)\./.exec(body)?.[1])).sort((a, b) => a - b);
    assert.deepEqual(asked, [...Array(210).keys()], 'every index of the schedule, warm-up included');
  });

  test('a part of no connection is told before anything is sent', async () => {
    const args = ['ocsp', ...EC, '--shard', '3/4', '--seed', '1', '--concurrency', '2'];
    assertRefused(await runCli(args, { env: environmentOf(server) }), /part 3 of 4 has 0 of them/);
  });
});

describe('merge', { concurrency: 2 }, () => {
  test('writes the sum in every form, and its exit code is that of a run with this result', async () => {
    const requirements = ['p50<10s', 'rate>=1e4/s'];
    const files = syntheticParts({ load: LOAD, requirements }, [1, 1, 1]).map((part, k) =>
      path(`part-${k}.json`, JSON.stringify(part)),
    );
    const out = path('whole.json');
    const { code, stdout, stderr } = await runCli(['merge', files[2], files[0], files[1], '--out', out]);
    assert.equal(code, 99, stderr);
    assert.equal(stderr, '');
    assert.match(stdout, /rate>=1e4\/s/);
    const sum = rightResult(readFileSync(out, 'utf8'));
    const whole = syntheticRun({ load: LOAD, requirements });
    assert.deepEqual(sum.latencyMs, whole.latencyMs);
    assert.deepEqual(sum.requirements, whole.requirements);
    assert.match(sum.command, /^vault-pki-load merge .*part-2\.json/);
  });

  test('warns on standard error where the parts are of different versions', async () => {
    const parts = syntheticParts({ load: LOAD }, [1, 1]);
    const files = [parts[0], { ...parts[1], tool: { version: '9.9.9' } }].map((part, k) =>
      path(`version-${k}.json`, JSON.stringify(part)),
    );
    const { code, stderr } = await runCli(['merge', ...files]);
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /^Warning: The parts were run with different versions of vault-pki-load: .*9\.9\.9\.\n$/,
    );
  });
});

/**
 * @param {import('../../src/results/schema.js').Result} part
 * @returns {import('../../src/results/schema.js').Result} with one request more, which was never sent
 */
function withOneMore(part) {
  const whole = JSON.parse(JSON.stringify(part));
  for (const { totals } of [whole, whole.operations.synthetic]) {
    totals.planned++;
    totals.neverSent++;
  }
  return whole;
}

describe('merge refuses, in one line:', () => {
  const run = startBatch({ after });
  const file = (/** @type {string} */ name, /** @type {unknown} */ content) =>
    path(name, JSON.stringify(content));
  const parts = syntheticParts({ load: LOAD }, [1, 1]);
  const [a, b] = parts.map((part, k) => file(`refused-${k}.json`, part));
  const others = syntheticParts({ load: { ...LOAD, ratePerSecond: 61 } }, [1, 1]);
  const linkTo = (/** @type {string} */ target) => {
    const link = path('link.json');
    symlinkSync(target, link);
    return link;
  };
  const stopped = file('stopped.json', { ...parts[1], interrupted: true });

  /** @type {[string, string[], RegExp][]} */
  const TABLE = [
    ['no file', [], /merge needs at least 1 FILE\. See: vault-pki-load merge --help$/m],
    ['a missing part', [b], /Part 0 of 2 is missing\. Give the results of all parts/],
    [
      'a part twice',
      [a, b, file('again.json', parts[0])],
      /refused-0\.json and .*again\.json are both part 0 of 2\./,
    ],
    ['a file twice', [a, a, b], /refused-0\.json is given twice\./],
    [
      'parts of different plans',
      [a, file('other.json', others[1])],
      /refused-0\.json and .*other\.json are parts of different plans: load\.ratePerSecond \(60 and 61\)\./,
    ],
    [
      'a whole run',
      [file('whole-run.json', syntheticRun({ load: LOAD }))],
      /whole-run\.json is no part of a plan/,
    ],
    [
      'an interrupted part',
      [a, stopped],
      /stopped\.json, part 1 of 2, was interrupted\. .*--allow-interrupted/,
    ],
    [
      'parts that met different versions of the target',
      [a, file('newer.json', { ...parts[1], target: { ...parts[1].target, version: '1.21.2' } })],
      /refused-0\.json met Vault 1\.21\.1, but .*newer\.json met Vault 1\.21\.2: .* Run the parts again/,
    ],
    [
      'a part that there is not',
      [a, b, file('seventh.json', { ...parts[1], shard: { index: 7, of: 2 } })],
      /seventh\.json is not a vault-pki-load\/result\/1: shard: there is no such part: they count from 0\./,
    ],
    [
      'a part with another number of requests than its plan has',
      [a, file('more.json', withOneMore(parts[1]))],
      /more\.json does not add up: part 1 of 2 of its plan has 180 requests, but totals\.planned is 181\./,
    ],
    [
      'a part whose plan has no load',
      [a, file('loadless.json', { ...parts[1], plan: { operation: 'synthetic' } })],
      /loadless\.json does not hold what is needed to add it to other parts: its plan has no load\./,
    ],
    [
      'a part without histograms by the second',
      [
        a,
        file('bare.json', { ...parts[1], timeline: parts[1].timeline.map(({ histogram, ...row }) => row) }),
      ],
      /bare\.json does not hold .*: second 0 has no histogram of its own, .*\. Give the file as --out FILE\.json wrote it\./,
    ],
    [
      'a part of which a second was changed',
      [
        a,
        file('garbled.json', {
          ...parts[1],
          timeline: parts[1].timeline.map((row) => ({ ...row, histogram: 'x' })),
        }),
      ],
      /garbled\.json does not add up: the histogram of second 0 cannot be read\./,
    ],
    [
      'a set of runs',
      [file('set.json', makeRunSet('nightly', [syntheticRun({ load: LOAD })]))],
      /set\.json is not the result of one run\. Give a file that vault-pki-load wrote with --out FILE\.json\./,
    ],
    [
      'a set of runs that is none',
      [file('no-set.json', { schema: 'vault-pki-load/run-set/1' })],
      /is not a vault-pki-load\/run-set\/1/,
    ],
    [
      'to overwrite a part',
      [a, b, '--out', path('whole.html'), '--out', a],
      /--out .*refused-0\.json is one of the files to read, and would be overwritten\. Write to another file\./,
    ],
    [
      'to overwrite a part by another name',
      [a, b, '--out', linkTo(b)],
      /--out .*link\.json is the same file as .*refused-1\.json, which is to be read, and would be overwritten\./,
    ],
    ['what is no result', [file('no.json', { a: 1 })], /no\.json is not a file of vault-pki-load/],
    ['an unknown option', [a, b, '--with', 'c.json'], /There is no option --with\./],
  ];
  for (const [what, args, message] of TABLE) {
    test(what, async () => assertRefused(await run(['merge', ...args]), message));
  }

  test('and then nothing is written, and the parts are as they were', () => {
    assert.equal(existsSync(path('whole.html')), false);
    assert.deepEqual(
      [a, b].map((part) => JSON.parse(readFileSync(part, 'utf8'))),
      JSON.parse(JSON.stringify(parts)),
    );
  });

  test('but takes an interrupted part with --allow-interrupted; the sum is interrupted', async () => {
    const { code, stdout } = await run(['merge', a, stopped, '--allow-interrupted', '--format', 'json']);
    assert.equal(code, 130);
    assert.equal(JSON.parse(stdout).interrupted, true);
  });
});
