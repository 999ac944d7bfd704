/** `run` of scenarios before anything is sent: dry runs, what is refused, signals while things are set up. Runs: scenario.slow.js. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { dirname } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { withSetup } from '../../src/cli/scenario.js';
import { pathsOf } from '../../src/cli/scenario-run.js';
import { assertRefused, scratch, startBatch } from './support.js';

/** @import { Server } from 'node:http' */
/** @import { AddressInfo } from 'node:net' */

/** What no server listens on. */
const NOWHERE = 'http://127.0.0.1:9';

const run = startBatch({ after });

/** @param {Record<string, unknown>} [more] @returns {string} a scenario, as JSON, which is YAML too */
const tiny = (more = {}) =>
  JSON.stringify({
    name: 'Tiny',
    targets: [{ name: 'one' }, { name: 'two' }],
    load: { rate: '40/s', duration: 1 },
    mix: [{ operation: 'health' }, { operation: 'ca-chain' }],
    ...more,
  });

describe('--only', () => {
  const runs = ['first', 'second', 'third'].map((name) => ({ name, require: 'errors<50%' }));

  /** @type {[string, string[], RegExp, RegExp][]} what, flags, what is said and what not */
  const DRY = [
    ['a dry run', [], /^Run {11}third\n/m, /first|second/],
    ['a rate', ['--find-max-rate'], /^Run {11}third\n[\s\S]*^Search {8}the highest rate/m, /first|second/],
    ['a peak', ['--max-concurrency', '9'], /^Run {11}third\n[\s\S]*^Search {8}the peak/m, /first|second/],
  ];
  for (const [what, flags, expected, without] of DRY) {
    test(`applies to ${what}; the setup is unchanged`, async (t) => {
      const file = scratch(t)('s.yaml', tiny({ targets: undefined, setup: true, runs }));
      const { code, stdout, stderr } = await run(['run', file, '--only', 'third', '--dry-run', ...flags]);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^Set up {8}on http:.*:\n {2}vault-pki-load-root/m);
      assert.match(stdout, expected);
      assert.doesNotMatch(stdout.replace('First step', ''), without);
    });
  }

  test('allows a search of one run if others have no requirements', async (t) => {
    const file = scratch(t)('s.yaml', tiny({ targets: undefined, runs: [{ name: 'bare' }, ...runs] }));
    const search = ['run', file, '--find-max-rate', '--dry-run'];
    assertRefused(await run(search), /but "bare" has no requirement/);
    assert.equal((await run([...search, '--only', 'first'])).code, 0);
  });

  test('rejects an unknown name', async (t) => {
    const file = scratch(t)('s.yaml', tiny({ runs }));
    assertRefused(await run(['run', file, '--dev', '--only', 'frist']), /Its runs are "first", "sec/);
  });
});

test('a dry run of a search prints its goal, with the pause of the file between steps', async (t) => {
  const file = scratch(t)('s.yaml', tiny({ pause: 5, repeat: 3 }));
  const { code, stdout, stderr } = await run(['run', file, '--max-concurrency', '4', '--dry-run']);
  assert.equal(code, 0, stderr);
  assert.equal(stdout.match(/^Search {8}the peak throughput: 1 in flight to 4 in flight/gm)?.length, 2);
  assert.match(stdout, /^Steps {9}at least 1 s, with 5 s or more in between/m);
});

test("a dry run names the proxy and its variable, without the proxy's password", async (t) => {
  const file = scratch(t)('s.yaml', tiny());
  const env = { VAULT_ADDR: 'https://vault.test', HTTPS_PROXY: 'http://me:hunter2@proxy.test:3128' };
  const { code, stdout, stderr } = await run(['run', file, '--dry-run'], { env });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^Proxy {9}proxy\.test:3128 \(HTTPS_PROXY\)$/m);
  assert.doesNotMatch(stdout, /hunter2/);
});

describe('--find-max-rate=false', () => {
  /** @type {[string, Record<string, unknown>, RegExp][]} */
  const TABLE = [
    ['keeps the repeats of the file', { repeat: 3, pause: 5 }, /^Repeated {6}3 times, with 5 s in between$/m],
    [
      'ignores the pause of the file for a single run',
      { pause: 5, targets: [{ name: 'one' }] },
      /^Repeated {6}no$/m,
    ],
  ];
  for (const [what, scenario, expected] of TABLE) {
    test(what, async (t) => {
      const file = scratch(t)('s.yaml', tiny(scenario));
      const { code, stdout, stderr } = await run(['run', file, '--find-max-rate=false', '--dry-run']);
      assert.equal(code, 0, stderr);
      assert.match(stdout, expected);
    });
  }
});

describe('rejects before sending', () => {
  /** @type {[string, Record<string, unknown>, string[], RegExp][]} */
  const TABLE = [
    ['a format for one run', {}, ['--format', 'csv'], /--format csv: .* of a scenario cannot be/],
    [
      'a format for one run, with several repeats',
      { repeat: 2 },
      ['--out', 'r.hlog'],
      /--out r\.hlog: a set of runs cannot be written/,
    ],
    ['one file twice', {}, ['--out', 'FOLDER/r.json', '--out', 'FOLDER/r-one.json'], /r-one\.json is given/],
    ['a missing folder', {}, ['--out', 'FOLDER/nope/r.json'], /nope\/r\.json cannot be written/],
    ['one address for all targets', {}, ['--url', NOWHERE], /--url names one target, but the scenario has 2/],
  ];
  for (const [what, scenario, args, message] of TABLE) {
    test(what, async (t) => {
      const path = scratch(t);
      const own = args.map((arg) => arg.replace('FOLDER', dirname(path('x'))));
      assertRefused(await run(['run', path('s.yaml', tiny(scenario)), ...own]), message);
    });
  }
});

describe('rejects before the setup', () => {
  /** @type {Server} */
  let server;
  let asked = 0;
  before(async () => {
    server = createHttpServer((_, response) => {
      asked++;
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());

  /** @type {[string, string[], RegExp][]} */
  const TABLE = [
    ['a format for one run', ['--format', 'csv'], /--format csv: the result of a scenario cannot be/],
    ['a folder at the path of a file', ['--out', 'FOLDER/r.json'], /r-one\.json cannot be written/],
    ['a search without requirements', ['--find-max-rate'], /but "Tiny" has no requirement/],
    [
      'a search with a folder at the path of a file',
      ['--max-concurrency', '4', '--out', 'FOLDER/r.json'],
      /r-one\.json/,
    ],
  ];
  for (const [what, args, message] of TABLE) {
    test(what, async (t) => {
      const path = scratch(t);
      mkdirSync(path('r-one.json'));
      const { port } = /** @type {AddressInfo} */ (server.address());
      const targets = ['one', 'two'].map((name) => ({ name, url: `http://127.0.0.1:${port}` }));
      const file = path('s.yaml', tiny({ setup: true, targets }));
      const own = args.map((arg) => arg.replace('FOLDER', dirname(file)));
      for (const dry of [[], ['--dry-run']]) {
        assertRefused(await run(['run', file, ...own, ...dry], { env: { VAULT_TOKEN: 'x' } }), message);
      }
      assert.equal(asked, 0);
    });
  }
});

describe('does not overwrite the scenario', () => {
  const search = ['--max-concurrency', '2'];
  /** @type {[string, string, Record<string, unknown>, string[]][]} what, its file, what it says, flags */
  const TABLE = [
    ['with the file of a target', 's-one.json', {}, []],
    ['with a search', 's.json', { targets: [{ name: 'one' }] }, search],
    ['with one of several searches', 's-two.json', {}, search],
  ];
  for (const [what, name, scenario, flags] of TABLE) {
    test(what, async (t) => {
      const path = scratch(t);
      const text = tiny(scenario);
      const file = path(name, text);
      const ended = await run(['run', file, '--dev', '--out', path('s.json'), ...flags]);
      assertRefused(ended, /is also an input or --keep file of this command, and would be overwritten/);
      assert.equal(readFileSync(file, 'utf8'), text);
    });
  }
});

test('file names have plain, unique suffixes before the extension', () => {
  assert.deepEqual(pathsOf(['Write / raft', 'write raft', 'Größe', '///'], ['a.b/r.json']), [
    ['a.b/r-write-raft.json'],
    ['a.b/r-write-raft-2.json'],
    ['a.b/r-größe.json'],
    ['a.b/r-step.json'],
  ]);
});

describe('during setup', () => {
  const setup = {
    name: 'load',
    caKeyType: /** @type {const} */ ('ec'),
    autoRebuild: false,
    with: [],
    keep: false,
  };
  const target = { url: NOWHERE, mount: 'load-int', namespace: null, tls: { skipVerify: false } };
  const steps = /** @type {any} */ ([{ name: 'a', plan: { dev: false, target }, token: 'x' }]);

  test('the runs receive an earlier signal', async () => {
    const code = await withSetup(
      { setup },
      steps,
      /** @type {any} */ ({ quiet: true, join: null }),
      async (refused, interrupt) => {
        assert.equal(refused.size, 1);
        process.emit('SIGHUP', 'SIGHUP');
        return interrupt.stop.aborted ? 130 : 0;
      },
    );
    assert.equal(code, 130);
    assert.equal(process.listenerCount('SIGTERM'), 0);
  });
});
