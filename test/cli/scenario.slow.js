/** `run` of scenarios with several runs and targets, as people type it, against embedded servers. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startDevServer } from '../../src/dev/spawn.js';
import { checkResult } from '../../src/result/check/check.js';
import { deferred } from '../deferred.js';
import { validatorOf } from '../json-schema.js';
import { assertNoStack, assertRefused, rightResult, runCli, scratch, serve, startCli } from './support.js';

/** @import { ScenarioResult } from '../../src/result/scenario/scenario-schema.js' */
/** @import { AddressInfo } from 'node:net' */
/** @import { TestContext } from 'node:test' */

const problemIn = await validatorOf('scenario-result');

/** What no server listens on. */
const NOWHERE = 'http://127.0.0.1:9';

/** @param {Record<string, unknown>} [more] @returns {string} a scenario, as JSON, which is YAML too */
const tiny = (more = {}) =>
  JSON.stringify({
    name: 'Tiny',
    targets: [{ name: 'one' }, { name: 'two' }],
    load: { rate: '40/s', duration: 1 },
    mix: [{ operation: 'health' }, { operation: 'ca-chain' }],
    ...more,
  });

/** @param {string} path @returns {ScenarioResult} that the published schema takes */
function summaryIn(path) {
  const summary = JSON.parse(readFileSync(path, 'utf8'));
  assert.equal(problemIn(summary), null);
  return summary;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/** This machine may be too busy for what it measures to be believed. @param {number | null} code @param {number} expected */
function assertCode(code, expected) {
  assert.ok(code === expected || code === 98, `exit code ${code}, not ${expected}`);
}

describe('several targets', () => {
  test('take turns; writes the summary, and a file per target', async (t) => {
    const path = scratch(t);
    const outs = ['r.json', 'r.md', 'r.html', 'r.csv'].flatMap((name) => ['--out', path(name)]);
    const { code, stdout, stderr } = await runCli([
      'run',
      path('s.yaml', tiny({ repeat: 2 })),
      '--dev',
      ...outs,
    ]);
    assertCode(code, 0);
    assertNoStack(stderr);
    assert.deepEqual(
      [...stderr.matchAll(/^Run (\d) of 4: Tiny on (\w+), repeat (\d) of 2:$/gm)].map(([, ...found]) =>
        found.join(' '),
      ),
      ['1 one 1', '2 two 1', '3 two 2', '4 one 2'],
    );
    assert.match(stdout, /^(?:Run|Operation|Target) +count +rate +throughput +mean +p95 +p99 +success$/m);
    const summary = summaryIn(path('r.json'));
    if (summary.rows.some(({ overRuns }) => overRuns !== null)) {
      assert.match(stdout, /^Over runs +mean +std dev +variance +min +max\b/m);
    }
    assert.equal(summary.unfinished, undefined);
    const names = readdirSync(dirname(path('r.json'))).sort();
    const forms = ['csv', 'html', 'json', 'md'];
    // What is no summary, a timeline say, is of each target alone.
    assert.deepEqual(names, [
      ...['one', 'two'].flatMap((target) => forms.map((form) => `r-${target}.${form}`)),
      ...['r.html', 'r.json', 'r.md', 's.yaml'],
    ]);
    const seeds = ['one', 'two'].map((target) => {
      const set = JSON.parse(readFileSync(path(`r-${target}.json`), 'utf8'));
      for (const result of set.runs) assert.deepEqual(checkResult(result), []);
      return set.runs.map((/** @type {any} */ { load }) => load.seed);
    });
    assert.notEqual(seeds[0][0], seeds[0][1], 'each run has a seed of its own');
    for (const { name, runs } of summary.steps) assert.deepEqual([name, runs.length], [name, 2]);
  });

  test('one is down: writes the results of the other, exit code 2', async (t) => {
    const path = scratch(t);
    const server = await startDevServer({ mount: 'pki_int' });
    t.after(() => server.stop());
    const targets = [
      { name: 'down', url: NOWHERE },
      { name: 'up', url: server.url },
    ];
    const { code, stdout, stderr } = await runCli(
      ['run', path('s.yaml', tiny({ targets, repeat: 2 })), '--out', path('r.json')],
      { env: { VAULT_TOKEN: server.token } },
    );
    assert.equal(code, 2, stderr);
    assert.match(stderr, /Warning: Nothing more is sent for down: http:\/\/127\.0\.0\.1:9 refused/);
    assert.equal(stderr.match(/refused/g)?.length, 1, 'it is tried once');
    assert.match(stdout, /failed +.*down.* http:\/\/127\.0\.0\.1:9 refused/);
    const { steps } = summaryIn(path('r.json'));
    assert.deepEqual(
      steps.map(({ name, runs, failure }) => [name, runs.length, failure === null]),
      [
        ['down', 0, false],
        ['up', 2, true],
      ],
    );
    assert.ok(existsSync(path('r-up.json')) && !existsSync(path('r-down.json')));
  });

  test('one is down, and interrupted before sending to the other: 130, not 2, and no report', async (t) => {
    // It takes requests and never answers.
    const asked = deferred();
    const silent = await serve(t, () => asked.resolve());
    const path = scratch(t);
    const targets = [
      { name: 'down', url: NOWHERE },
      { name: 'silent', url: silent },
    ];
    const child = startCli(['run', path('s.yaml', tiny({ targets })), '--out', path('r.json')], {
      env: { VAULT_TOKEN: 'x' },
    });
    await Promise.all([child.shows(/^Run 2 of 2: Tiny on silent:$/m), asked.promise]);
    child.kill('SIGINT');
    const { code, stdout, stderr } = await child.ended;
    assert.deepEqual([code, stdout, existsSync(path('r.json'))], [130, '', false], stderr);
    assert.match(stderr, /^Warning: Nothing more is sent for down: \S+ refused the$/m);
    assert.match(stderr, /^vault-pki-load: Interrupted before anything was sent\.$/m);
  });

  test('interrupted: reports and writes the results so far (130)', async (t) => {
    const path = scratch(t);
    const child = startCli([
      ...['run', path('s.yaml', tiny({ load: { rate: '40/s', duration: 60 } })), '--dev'],
      ...['--out', path('r.json')],
    ]);
    await child.shows(/^\d+ s\//m);
    child.kill('SIGINT');
    const { code, stdout, stderr } = await child.ended;
    assert.equal(code, 130, stderr);
    assert.match(stdout, /Interrupted: some runs are missing\./);
    assert.doesNotMatch(stderr, /Run 2 of 2/);
    const { interrupted, steps, rows } = summaryIn(path('r.json'));
    assert.deepEqual([interrupted, steps.map(({ runs }) => runs.length)], [true, [1, 0]]);
    assert.ok(rows.length > 0 && rows.every(({ counts }) => !counts));
    rightResult(readFileSync(path('r-one.json'), 'utf8'));
  });
});

test('reports several runs of one target together; metrics are those of the current run', async (t) => {
  const path = scratch(t);
  const runs = [
    { name: 'first', mix: [{ operation: 'health' }], load: { rate: '40/s', duration: 1 } },
    { name: 'second', mix: [{ operation: 'ca-chain' }], load: { rate: '40/s', duration: 60 } },
  ];
  const text = JSON.stringify({ name: 'Two', runs });
  const port = await freePort();
  const child = startCli([
    'run',
    path('s.yaml', text),
    '--dev',
    '--metrics',
    String(port),
    '--out',
    path('r.json'),
  ]);
  await child.shows(/^Run 2 of 2: second on embedded server:[\s\S]*^\d+ s\//m);
  const before_ = summaryIn(path('r.json'));
  assert.deepEqual([before_.unfinished, before_.steps.map(({ runs: made }) => made.length)], [true, [1, 0]]);
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  assert.match(metrics, /operation="ca-chain"/);
  assert.doesNotMatch(metrics, /operation="health"/);
  child.kill('SIGTERM');
  const { code, stdout } = await child.ended;
  assert.equal(code, 130);
  assert.match(stdout, /^first$(?:.*\n)*^second$/m);
  assert.ok(existsSync(path('r-first.json')) && existsSync(path('r-second.json')));
});

describe('--only', () => {
  const runs = ['first', 'second', 'third'].map((name) => ({ name, require: 'errors<50%' }));

  test('runs and reports only the named runs', async (t) => {
    const path = scratch(t);
    const { code, stderr } = await runCli([
      ...[
        'run',
        path('s.yaml', tiny({ targets: undefined, runs })),
        '--dev',
        '--only',
        'third',
        '--only',
        'first',
      ],
      ...['--out', path('r.json')],
    ]);
    assertCode(code, 0);
    assert.deepEqual(stderr.match(/^Run \d of \d: .*:$/gm), [
      'Run 1 of 2: first on embedded server:',
      'Run 2 of 2: third on embedded server:',
    ]);
    assert.deepEqual(
      summaryIn(path('r.json')).steps.map(({ run: of, runs: made }) => [of, made.length]),
      [
        ['first', 1],
        ['third', 1],
      ],
    );
    assert.deepEqual(readdirSync(dirname(path('s.yaml'))).sort(), [
      ...['r-first.json', 'r-third.json', 'r.json', 's.yaml'],
    ]);
  });
});

test('a scenario of one step prints its result, like issue', async (t) => {
  const path = scratch(t);
  const one = tiny({ targets: [{ name: 'one' }] });
  const { code, stdout } = await runCli([
    ...['run', path('s.yaml', one), '--dev', '--quiet', '--format', 'json'],
    ...['--out', path('r.json')],
  ]);
  assertCode(code, 0);
  assert.deepEqual(Object.keys(rightResult(stdout).operations), ['health', 'ca-chain']);
  assert.deepEqual(readdirSync(dirname(path('r.json'))).sort(), ['r.json', 's.yaml']);
});

describe('requirements on replaced stages are reported as not judged', () => {
  const stages = [{ name: 'up', hold: { rate: 5, duration: 1 }, require: 'p99<1ms' }];
  const said = 'Tiny: its stages are left out, and the requirements on them are not judged: up: p99<1ms.';
  const forms = ['json', 'md', 'html', 'xml', 'txt'];

  /**
   * @param {TestContext} t
   * @param {Record<string, unknown>} scenario
   * @param {string[]} flags
   * @param {(code: number | null) => void} [assertEnded]
   */
  async function files(t, scenario, flags, assertEnded = (code) => assertCode(code, 0)) {
    const path = scratch(t);
    const { code, stdout, stderr } = await runCli([
      ...['run', path('s.yaml', tiny({ load: {}, stages, ...scenario })), '--dev', '--quiet', ...flags],
      ...forms.flatMap((form) => ['--out', path(`r.${form}`)]),
    ]);
    assertEnded(code);
    assert.equal(stderr.split(`Warning: ${said}\n`).length, 2, `once, before the runs: ${stderr}`);
    const written = readdirSync(dirname(path('r.json'))).filter((name) => name !== 's.yaml');
    for (const text of [stdout, ...written.map((name) => readFileSync(path(name), 'utf8'))]) {
      assert.match(text.replace(/\s+/g, ' '), /its stages are left out, and .* are not judged: up: p99/);
    }
    return written.sort();
  }

  const instead = ['--rate', '40', '--duration', '1s'];
  const one = { targets: [{ name: 'one' }] };
  const names = forms.map((form) => `r.${form}`).sort();

  test('in the result', async (t) => {
    assert.deepEqual(await files(t, one, instead), names);
  });

  test('in the tables of all targets, and in the result of each', async (t) => {
    assert.equal((await files(t, {}, instead)).length, 3 * forms.length);
  });
});

describe('a saved summary', () => {
  /** @type {string} */
  let json;
  /** @type {ReturnType<typeof scratch>} */
  let path;
  /** @type {(() => void)[]} */
  const endings = [];
  before(async () => {
    path = scratch({ after: (fn) => void endings.push(fn) });
    json = path('r.json');
    await runCli(['run', path('s.yaml', tiny()), '--dev', '--quiet', '--out', json]);
  });
  after(() => {
    for (const end of endings) end();
  });

  test('is reported in every supported format', async () => {
    const outs = ['t.html', 't.md', 't.xml', 't.txt'].flatMap((name) => ['--out', path(name)]);
    const { code, stdout } = await runCli(['report', json, ...outs]);
    assert.equal(code, 0);
    assert.equal(readFileSync(path('t.txt'), 'utf8'), stdout);
    assert.match(readFileSync(path('t.html'), 'utf8'), /<h1>Tiny: /);
  });

  /** @type {[string, () => string[], RegExp][]} */
  const REFUSED = [
    [
      'as a run',
      () => ['report', json, path('r-one.json')],
      /r\.json is the result of a scenario, not the result of a run/,
    ],
    [
      'as a group',
      () => ['compare', json, '--with', path('r-one.json')],
      /is the result of a scenario, not the result of a run/,
    ],
  ];
  for (const [what, args, message] of REFUSED) {
    test(`is rejected ${what}`, async () => assertRefused(await runCli(args()), message));
  }
});
