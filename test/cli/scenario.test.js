/** `run` of scenarios with several runs and targets, as people type it, against embedded servers. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { named, plainNames } from '../../src/cli/scenario-files.js';
import { holdSignals } from '../../src/cli/scenario-setup.js';
import { startDevServer } from '../../src/dev/spawn.js';
import { checkResult } from '../../src/results/check/check.js';
import {
  assertNoStack,
  assertRefused,
  rightResult,
  runCli,
  scratch,
  startBatch,
  startCli,
} from './support.js';

/** @typedef {import('../../src/results/scenario/scenario-schema.js').ScenarioResult} ScenarioResult */

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
// ajv-formats is CommonJS whose types and value differ in where `default` is.
/** @type {import('ajv-formats').FormatsPlugin} */ (/** @type {unknown} */ (formats))(ajv);
const published = ajv.compile(
  JSON.parse(readFileSync(new URL('../../src/results/scenario-result.schema.json', import.meta.url), 'utf8')),
);

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
  const text = readFileSync(path, 'utf8');
  assert.ok(published(JSON.parse(text)), ajv.errorsText(published.errors));
  return JSON.parse(text);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/** This machine may be too busy for what it measures to be believed. @param {number | null} code @param {number} expected */
function assertCode(code, expected) {
  assert.ok(code === expected || code === 98, `exit code ${code}, not ${expected}`);
}

describe('several targets', () => {
  test('take turns; the summary is in the file, each target with its runs beside it', async (t) => {
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
      [...stderr.matchAll(/^Run (\d) of 4: Tiny on (\w+), (\d) of 2:$/gm)].map(([, ...found]) =>
        found.join(' '),
      ),
      ['1 one 1', '2 two 1', '3 two 2', '4 one 2'],
    );
    assert.match(stdout, /^Target +count +rate +throughput +mean +95th % +99th % +success$/m);
    const summary = summaryIn(path('r.json'));
    if (summary.rows.some(({ overRuns }) => overRuns !== null)) {
      assert.match(stdout, /^Over runs +mean +variance +std dev +min +max +to first$/m);
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

  test('one of which is down: what the other has shown is written, and the exit code is 2', async (t) => {
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
    assert.match(stdout, /^Failed +down: http:\/\/127\.0\.0\.1:9 refused/m);
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

  test('all of which are down: that is an error, and no report', async (t) => {
    const path = scratch(t);
    const targets = [
      { name: 'a', url: NOWHERE },
      { name: 'b', url: NOWHERE },
    ];
    const { code, stdout, stderr } = await runCli(
      ['run', path('s.yaml', tiny({ targets })), '--out', path('r.json'), '--quiet'],
      { env: { VAULT_TOKEN: 'x' } },
    );
    assert.deepEqual([code, stdout, existsSync(path('r.json'))], [2, '', false]);
    assert.match(stderr, /vault-pki-load: http:\/\/127\.0\.0\.1:9 refused the connection/);
  });

  test('interrupted: what is there is reported and written (130)', async (t) => {
    const path = scratch(t);
    const child = startCli([
      ...['run', path('s.yaml', tiny({ load: { rate: '40/s', duration: 60 } })), '--dev'],
      ...['--out', path('r.json')],
    ]);
    await child.shows(/^\d+ s\//m);
    child.kill('SIGINT');
    const { code, stdout, stderr } = await child.ended;
    assert.equal(code, 130, stderr);
    assert.match(stdout, /^Interrupted: not all runs were made\.$/m);
    assert.doesNotMatch(stderr, /Run 2 of 2/);
    const { interrupted, steps, rows } = summaryIn(path('r.json'));
    assert.deepEqual([interrupted, steps.map(({ runs }) => runs.length)], [true, [1, 0]]);
    assert.ok(rows.length > 0 && rows.every(({ counts }) => !counts));
    rightResult(readFileSync(path('r-one.json'), 'utf8'));
  });
});

test('several runs of one target are told together, and metrics are those of the run that goes on', async (t) => {
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
  assert.match(stdout, /^Run +first: .*\n(?:.*\n)*Run +second: /m);
  assert.ok(existsSync(path('r-first.json')) && existsSync(path('r-second.json')));
});

test('a scenario of one step gives the result itself, as issue would', async (t) => {
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

describe('a summary that was written', () => {
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

  test('is reported in every form that can show it', async () => {
    const outs = ['t.html', 't.md', 't.xml', 't.txt'].flatMap((name) => ['--out', path(name)]);
    const { code, stdout } = await runCli(['report', json, ...outs]);
    assert.equal(code, 0);
    assert.equal(readFileSync(path('t.txt'), 'utf8'), stdout);
    assert.match(readFileSync(path('t.html'), 'utf8'), /<h1>Tiny<\/h1>/);
  });

  test('is not written as a timeline: that is of one run', async () => {
    const { code, stderr } = await runCli(['report', json, '--out', path('t.csv')]);
    assert.equal(code, 1);
    assert.match(stderr, /^vault-pki-load: The result of a scenario cannot be written as \.csv/);
  });

  /** @type {[string, () => string[], RegExp][]} */
  const REFUSED = [
    [
      'as a run of a set',
      () => ['report', json, path('r-one.json')],
      /r\.json is of several runs or targets/,
    ],
    [
      'as a group',
      () => ['compare', json, '--with', path('r-one.json')],
      /r\.json is of several runs or targets together/,
    ],
  ];
  for (const [what, args, message] of REFUSED) {
    test(`is refused ${what}`, async () => assertRefused(await runCli(args()), message));
  }
});

describe('before anything is sent it is refused', () => {
  /** @type {[string, Record<string, unknown>, string[], RegExp][]} */
  const TABLE = [
    [
      'to print what one run shows',
      {},
      ['--format', 'csv'],
      /--format csv: the result of a scenario cannot be written/,
    ],
    [
      'to write what one run shows of several repeats',
      { repeat: 2 },
      ['--out', 'r.hlog'],
      /--out r\.hlog: a set of runs cannot be written/,
    ],
    [
      'to write one file twice',
      {},
      ['--out', 'FOLDER/r.json', '--out', 'FOLDER/r-one.json'],
      /r-one\.json is given twice/,
    ],
    [
      'to write where there is no folder',
      {},
      ['--out', 'FOLDER/nope/r.json'],
      /nope\/r\.json cannot be written/,
    ],
    [
      'to aim all targets at one address',
      {},
      ['--url', NOWHERE],
      /--url names one target, but the scenario has 2/,
    ],
    [
      'to search in stages',
      { load: {}, stages: [{ hold: { rate: 1, duration: 1 } }] },
      ['--max-concurrency', '4'],
      /stages|closed loop/,
    ],
  ];
  for (const [what, scenario, args, message] of TABLE) {
    test(what, async (t) => {
      const path = scratch(t);
      const own = args.map((arg) => arg.replace('FOLDER', dirname(path('x'))));
      const run = startBatch(t);
      assertRefused(await run(['run', path('s.yaml', tiny(scenario)), ...own]), message);
    });
  }
});

describe('names of files', () => {
  test('are plain, and no two the same', () => {
    assert.deepEqual(plainNames(['Write / raft', 'write raft', 'Größe', '///']), [
      'write-raft',
      'write-raft-2',
      'größe',
      'step',
    ]);
  });

  test('have the step before their extension', () => {
    assert.equal(named('a.b/r.json', 'raft'), 'a.b/r-raft.json');
  });
});

describe('while something is set up', () => {
  /** @param {('up' | 'act' | 'down')[]} phases a signal comes in each */
  function heard(phases) {
    /** @type {(() => void)[]} */
    const listeners = [];
    /** @type {unknown[]} */
    const did = [];
    const process_ = /** @type {any} */ ({
      on: (/** @type {string} */ _signal, /** @type {() => void} */ fn) => listeners.push(fn),
      off: () => {},
      exit: (/** @type {number} */ code) => did.push(code),
    });
    const signals = holdSignals(process_, () => did.push('said'));
    for (const phase of phases) {
      signals.phase(phase);
      listeners[0]();
    }
    return { did, stopped: signals.stop.aborted };
  }

  /** @type {[string, ('up' | 'act' | 'down')[], unknown[], boolean][]} */
  const TABLE = [
    ['the first signal stops it', ['up'], ['said'], true],
    ['the second ends all', ['up', 'up'], ['said', 130], true],
    ['those during the runs are theirs', ['act', 'act', 'act'], [], false],
    ['one while it is taken away asks for patience', ['act', 'down'], ['said'], false],
    ['two do not', ['down', 'down'], ['said', 130], false],
  ];
  for (const [what, phases, did, stopped] of TABLE) {
    test(what, () => assert.deepEqual(heard(phases), { did, stopped }));
  }
});
