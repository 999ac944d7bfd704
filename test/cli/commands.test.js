/** Both commands on the embedded server, as a stranger runs them first; where results and messages go. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  assertDone,
  assertRefused,
  devServer,
  EC,
  environmentOf,
  rightResult,
  runCli,
  scratch,
  startBatch,
} from './support.js';

test('ocsp --dev: one JSON object on standard output, the same in the file, progress on standard error', async (t) => {
  const file = scratch(t)('r.json');
  const options = ['--dev', ...EC, '--rate', '50/s', '--duration', '2s', '--threads', '2'];
  const ended = await runCli(['ocsp', ...options, '--format', 'json', '--out', file]);
  assertDone(ended);
  const result = rightResult(ended.stdout);
  assert.deepEqual(rightResult(readFileSync(file, 'utf8')), result);
  assert.deepEqual([result.outcomes, result.verification.passed], [{ good: 100 }, 100]);
  assert.equal(result.interrupted, false);
  assert.match(result.command, /^vault-pki-load ocsp --cold-start --dev /);
  assert.match(ended.stderr, /^\d+ s\/2 s {2}/m, 'progress');
});

describe('on a separate server', () => {
  const server = devServer();
  const cli = (/** @type {string[]} */ ...args) => runCli(args, { env: environmentOf(server) });
  const refuse = startBatch({ after });

  test('issue: prints only the report, --out writes the same, and the certificates have the names', async (t) => {
    const path = scratch(t);
    const [file, kept] = [path('r.txt', 'x'.repeat(1e5)), path('kept.jsonl')];
    const names = [
      '--alt-names',
      'a-{n}.example.com, b.example.com',
      '--ip-sans',
      '10.0.0.1,::1',
      '--ttl',
      '1h',
    ];
    const ended = await cli('issue', ...EC, '--requests', '20', ...names, '--keep', kept, '--out', file);
    const { stdout, stderr } = ended;
    assertDone(ended);
    assert.match(stdout, /^ {2}\d+ of \d+ certificates good, all checked, in /m);
    assert.match(stdout, /^issue on http:/m);
    assert.match(stdout, /^Checked {7}20 of 20 certificates, all passed$/m);
    assert.equal(readFileSync(file, 'utf8'), stdout, 'what was there is replaced as a whole');
    assert.match(stderr, /certificates in Vault's storage/);
    assert.match(stderr, /20 requests planned/);
    const [line] = readFileSync(kept, 'utf8').split('\n');
    const { subjectAltName = '' } = new X509Certificate(JSON.parse(line).certificate);
    assert.match(subjectAltName, /DNS:a-\d+\.example\.com.*DNS:b\.example\.com.*IP Address:10\.0\.0\.1/);
  });

  test('--quiet still warns of a shortened TTL, and of a --keep file that fills the disk', async () => {
    const options = ['--requests', '5', '--ttl', '100000h', '--keep', '/dev/full', '--quiet'];
    const ended = await cli('issue', ...EC, ...options);
    assert.equal(ended.code, 1, 'as for --out');
    assert.match(ended.stderr, /^Warning: The role example-dot-com-ec cuts the TTL/);
    assert.match(
      ended.stderr,
      /^Warning: Kept 0 certificates in \/dev\/full; the rest are missing,\s+because\s+the\s+file\s+could\s+not be written: the disk is full/m,
    );
    assert.doesNotMatch(ended.stderr, /planned|storage/);
    assert.match(ended.stdout, /5 of 5/);
  });

  /** @type {[string, (path: (name: string, content?: string) => string) => string, RegExp][]} */
  const OUTS = [
    [
      'no folder',
      (path) => `${path('nope')}/r.json`,
      /--out .* cannot be written: its directory was not found/,
    ],
    ['a folder', () => '/tmp', /--out \/tmp cannot be written: it is a directory/],
    ['no extension', (path) => path('result'), /has no extension to select a format/],
    [
      'an unknown extension',
      (path) => path('r.xls'),
      /has the unknown extension "\.xls".*Use one of \.txt, \.json/,
    ],
    ['a file', (path) => `${path('f', '')}/r.json`, /--out .*: its directory is a file/],
  ];
  for (const [what, where, message] of OUTS) {
    test(`reports an --out that cannot be written (${what}) before sending`, async (t) => {
      assertRefused(await refuse(['issue', ...EC, '--out', where(scratch(t))]), message);
    });
  }

  test('reports a --keep or summary file that cannot be written before sending', async (t) => {
    const env = environmentOf(server);
    const folder = scratch(t)('nope');
    const keep = (/** @type {string} */ file) => refuse(['issue', '--keep', file], { env });
    assertRefused(await keep(`${folder}/k`), /--keep .* cannot be written to: /);
    assertRefused(await keep('/tmp'), /--keep \/tmp cannot be written to: it is a directory/);
    assert.equal(existsSync(folder), false);
    const ended = await refuse(['ocsp', ...EC, '--github-summary'], {
      env: { ...env, GITHUB_STEP_SUMMARY: '/nonexistent/s.md' },
    });
    assertRefused(ended, /The file in GITHUB_STEP_SUMMARY cannot be written: its directory was not found/);
  });

  /** @type {[string[], RegExp, number][]} what the target or its operator has to change */
  const TARGETS = [
    [['--mount', 'nope'], /There is no mount nope on http.*Check --mount/, 2],
    [['--role', 'nope'], /There is no role nope on the mount pki_int\. Its roles are example-dot-com, /, 2],
    [['--cn', 'other.org'], /The role example-dot-com does not allow the name "other\.org"/, 2],
  ];
  for (const [args, message, code] of TARGETS) {
    test(`rejected: ${args.join(' ')}`, async () => {
      for (const command of ['issue', 'ocsp'])
        assertRefused(await refuse([command, ...args], { env: environmentOf(server) }), message, code);
    });
  }

  test('rejected: no token, or an unknown one', async () => {
    const env = { VAULT_ADDR: server.url };
    assertRefused(
      await refuse(['issue'], { env }),
      /There is no token: neither VAULT_TOKEN.*Run vault login/,
    );
    const unknown = await refuse(['ocsp'], { env: { ...env, VAULT_TOKEN: 'hvs.unknown' } });
    assertRefused(unknown, /does not accept the token: it is invalid, expired or revoked(?!.*unknown)/, 2);
  });

  test('requirements determine the exit code, and each is judged', async () => {
    const limits = ['rate>=1e9/h', 'p50<60s', 'errors<0.001%'].flatMap((limit) => ['--require', limit]);
    const ended = await cli('ocsp', ...EC, '--requests', '50', ...limits, '--format', 'json', '--quiet');
    assertDone(ended, 99);
    const { measurement, requirements } = rightResult(ended.stdout);
    const invalid = measurement.verdict === 'invalid';
    assert.deepEqual(
      requirements.map(({ verdict }) => verdict),
      ['not met', invalid ? 'not proven' : 'met', 'not proven'],
    );
  });

  test('an unwritable standard output is reported in one line', async () => {
    const command =
      'node bin/vault-pki-load.js ocsp --cold-start --role example-dot-com-ec --requests 5 --quiet >/dev/full';
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

  test('a reader that exits early causes no error', async () => {
    const program =
      'node bin/vault-pki-load.js ocsp --cold-start --role example-dot-com-ec --requests 5 --quiet';
    const child = spawn('sh', ['-c', `(${program}; echo "exit code $?" >&2) | true`], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env.PATH, HOME: '/nonexistent', ...environmentOf(server) },
    });
    assert.match(await text(child.stderr), /^exit code (?:0|98)\n$/);
  });
});
