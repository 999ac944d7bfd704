/** Both commands on the embedded server, as a stranger runs them first; where results and messages go. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startDevServer } from '../../src/dev/spawn.js';
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

/** @type {[string, string[], string][]} command, its options, the outcome of a success */
const COMMANDS = [
  ['issue', ['--dev', ...EC, '--duration', '2s'], 'issued'],
  ['ocsp', ['--dev', ...EC, '--rate', '50/s', '--duration', '2s', '--threads', '2'], 'good'],
];

describe('on the embedded server', { concurrency: 2 }, () => {
  for (const [command, options, outcome] of COMMANDS) {
    test(`${command} ${options.join(' ')}: one JSON object on standard output, the same in the file`, async (t) => {
      const file = scratch(t)('r.json');
      const ended = await runCli([command, ...options, '--format', 'json', '--out', file]);
      assertDone(ended);
      const result = rightResult(ended.stdout);
      assert.deepEqual(rightResult(readFileSync(file, 'utf8')), result);
      assert.ok(result.totals.succeeded > 0);
      assert.equal(result.totals.failed, 0, JSON.stringify(result.outcomes));
      assert.deepEqual(result.outcomes, { [outcome]: result.totals.succeeded });
      assert.equal(result.verification.passed, result.totals.succeeded);
      assert.deepEqual(result.verification.failures, {});
      assert.equal(result.interrupted, false);
      assert.match(result.command, new RegExp(`^vault-pki-load ${command} --cold-start --dev `));
      assert.match(ended.stderr, /^\d+ s\/2 s {2}/m, 'progress');
    });
  }
});

describe('on a server of its own', { concurrency: 2 }, () => {
  /** @type {import('../../src/dev/spawn.js').SpawnedDevServer} */
  let server;
  before(async () => {
    server = await startDevServer({ caKeyType: 'ec' });
  });
  after(() => server.stop());
  const cli = (/** @type {string[]} */ ...args) => runCli(args, { env: environmentOf(server) });
  const refuse = startBatch({ after });

  test('text on standard output is the report alone; --out has the same without colour', async (t) => {
    const file = scratch(t)('r.txt');
    const ended = await cli('issue', ...EC, '--requests', '100', '--out', file);
    const { stdout, stderr } = ended;
    assertDone(ended);
    assert.match(stdout, /^Measurement /);
    assert.match(stdout, /^issue on http:/m);
    assert.match(stdout, /^Verified {6}100 of 100 certificates checked, all passed$/m);
    assert.equal(readFileSync(file, 'utf8'), stdout);
    assert.match(stderr, /certificates in Vault's storage/);
    assert.match(stderr, /100 requests planned/);
  });

  test('--quiet leaves standard error empty where there is nothing to warn of', async () => {
    for (const command of ['issue', 'ocsp']) {
      const ended = await cli(command, ...EC, '--requests', '20', '--quiet');
      assertDone(ended);
      assert.equal(ended.stderr, '');
      assert.match(ended.stdout, /20 of 20/);
    }
  });

  test('--quiet still warns', async () => {
    const { stderr } = await cli('issue', ...EC, '--requests', '5', '--ttl', '100000h', '--quiet');
    assert.match(stderr, /^Warning: The role example-dot-com-ec cuts the TTL[\s\S]*\n$/);
    assert.doesNotMatch(stderr, /planned|storage/);
  });

  test('a result file that is there is replaced as a whole; a second --out is written too', async (t) => {
    const path = scratch(t);
    const [json, plain] = [path('r.json', 'x'.repeat(1e6)), path('r.txt')];
    assertDone(await cli('ocsp', ...EC, '--requests', '5', '--out', json, '--out', plain));
    assert.equal(rightResult(readFileSync(json, 'utf8')).totals.succeeded, 5);
    assert.match(readFileSync(plain, 'utf8'), /^ocsp on /m);
  });

  /** @type {[string, (path: (name: string, content?: string) => string) => string, RegExp][]} */
  const OUTS = [
    ['no folder', (path) => `${path('nope')}/r.json`, /--out .* cannot be written: its folder is not there/],
    ['a folder', () => '/tmp', /"\/tmp" has no extension/],
    ['no extension', (path) => path('result'), /has no extension, so what to write is not known/],
    ['an unknown extension', (path) => path('r.xls'), /has the extension "\.xls".*Use one of \.txt, \.json/],
    [
      'a file as folder',
      (path) => `${path('f', '')}/r.json`,
      /--out .* cannot be written: what should be its folder is a file/,
    ],
  ];
  for (const [what, where, message] of OUTS) {
    test(`--out that cannot be written (${what}) is told before anything is sent`, async (t) => {
      assertRefused(await refuse(['issue', ...EC, '--out', where(scratch(t))]), message);
    });
  }

  test('a --keep file that cannot be written is told before anything is sent', async (t) => {
    const path = scratch(t);
    assertRefused(
      await cli('issue', '--keep', `${path('nope')}/k`),
      /--keep .* cannot be written to \(ENOENT\)/,
    );
    assertRefused(await cli('issue', '--keep', '/tmp'), /--keep \/tmp cannot be written to \(EISDIR\)/);
    assert.equal(existsSync(path('nope')), false);
  });

  test('requirements decide the exit code, and each is judged', async () => {
    const requests = ['--duration', '1s', '--format', 'json', '--quiet'];
    const met = await cli('ocsp', ...EC, ...requests, '--require', 'p50<60s', '--require', 'errors<50%');
    const { measurement, requirements: judged } = rightResult(met.stdout);
    const verdict = measurement.verdict === 'invalid' ? 'not proven' : 'met';
    assert.deepEqual(
      judged.map((one) => one.verdict),
      [verdict, verdict],
    );
    assertDone(met);
    const failed = await cli('ocsp', ...EC, ...requests, '--require', 'rate>=1e9/h');
    assertDone(failed, 99);
    assert.equal(rightResult(failed.stdout).requirements[0].verdict, 'not met');
    const few = await cli('issue', ...EC, '--requests', '20', '--require', 'p99<50s');
    assertDone(few, 99);
    assert.match(few.stdout, /^not proven {4}p99<50s$/m);
  });

  test('a summary file that cannot be written is told before anything is sent', async () => {
    const env = { ...environmentOf(server), GITHUB_STEP_SUMMARY: '/nonexistent/s.md' };
    const ended = await runCli(['ocsp', ...EC, '--requests', '5', '--github-summary'], { env });
    assertRefused(ended, /The file in GITHUB_STEP_SUMMARY cannot be written: its folder is not there/);
  });

  test('a --keep file that fills the disk is warned of, even with --quiet', async () => {
    const ended = await cli('issue', ...EC, '--requests', '5', '--keep', '/dev/full', '--quiet');
    assertDone(ended);
    assert.match(
      ended.stderr,
      /^Warning: Kept 0 certificates in \/dev\/full; then writing failed \(ENOSPC\)/,
    );
  });

  test('standard output that cannot be written to is one line', async () => {
    const command =
      'node bin/vault-pki-load.js ocsp --role example-dot-com-ec --requests 5 --quiet >/dev/full';
    const child = spawn('sh', ['-c', command], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env.PATH, HOME: '/nonexistent', ...environmentOf(server) },
    });
    assert.match(
      await text(child.stderr),
      /^vault-pki-load: Standard output cannot be written to \(ENOSPC\)\.\n$/,
    );
  });

  test('a reader that goes away early is no reason to complain', async () => {
    const program = 'node bin/vault-pki-load.js ocsp --role example-dot-com-ec --requests 5 --quiet';
    const child = spawn('sh', ['-c', `(${program}; echo "exit code $?" >&2) | true`], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env.PATH, HOME: '/nonexistent', ...environmentOf(server) },
    });
    assert.match(await text(child.stderr), /^exit code (?:0|98)\n$/);
  });
});
