/** The examples as their readers would run them, on the embedded PKI server and for seconds in place of minutes. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startDevServer } from '../../src/dev/spawn.js';
import { checkResult } from '../../src/result/check/check.js';
import { assertAddsUp } from '../cli/support.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const posix = process.platform !== 'win32' && spawnSync('bash', ['--version']).status === 0;
const ROLE = 'example-dot-com-ec';
const SHORT = { RATE: '50/s', DURATION: '6s', LIMIT: '9s' };

/** @type {Awaited<ReturnType<typeof startDevServer>>} */
let server;
const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-examples-'));
before(async () => {
  server = await startDevServer({ mount: 'pki_int' });
});
after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

/**
 * Not `spawnSync`: the server's pipes must be read meanwhile.
 *
 * @param {string[]} command
 * @param {Record<string, string>} env
 * @returns {Promise<{code: number | null, stdout: string, stderr: string}>}
 */
async function run([program, ...args], env) {
  const child = spawn(program, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, NODE: process.execPath, ...env },
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said.stderr += text;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  assertAddsUp(said);
  return { code, ...said };
}

/**
 * The result is whole, and the script's last word fits its exit code. A machine too busy to send on time makes any run
 * invalid, which is 98 and no fault of the example.
 *
 * @param {{code: number | null, stderr: string}} ended
 * @param {number} code
 * @param {RegExp} lastWord
 * @param {string} file
 */
function assertEnded(ended, code, lastWord, file) {
  assert.ok(existsSync(join(folder, file)), ended.stderr);
  const result = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  assert.deepEqual(checkResult(result), []);
  assert.equal(result.totals.planned, 300);
  assert.equal(result.totals.succeeded, 300, JSON.stringify(result.outcomes));
  if (ended.code === 98) {
    assert.equal(result.measurement.verdict, 'invalid');
    assert.match(ended.stderr, /Nothing is proven either way/);
    return;
  }
  assert.equal(ended.code, code, ended.stderr);
  assert.match(ended.stderr, lastWord);
}

const env = () => ({ VAULT_ADDR: server.url, VAULT_TOKEN: server.token, ...SHORT });
const example = (/** @type {string} */ name) => join(ROOT, 'examples', name);

describe('validate-1000-per-hour.sh', { skip: !posix }, () => {
  const script = example('validate-1000-per-hour.sh');

  test('validated', async () => {
    assertEnded(
      await run([script, 'mine.json', '--threads', '2'], { ...env(), ROLE }),
      0,
      /^Validated: 1000\/h/m,
      'mine.json',
    );
  });

  test('more is required than is there: 99', async () => {
    const ended = await run([script], { ...env(), REQUIRED: '1000000/h', ROLE });
    assertEnded(ended, 99, /^Not validated/m, 'validate-1000-per-hour.json');
    assert.match(ended.stdout, /not met +rate>=1000000\/h/);
  });

  test('nothing is listening there: 2; no address: 1', async () => {
    const ended = await run([script], { ...env(), VAULT_ADDR: 'http://127.0.0.1:1' });
    assert.equal(ended.code, 2);
    assert.match(ended.stderr, /refused the connection[\s\S]*Nothing was measured/);
    const { code, stderr } = await run([script], SHORT);
    assert.equal(code, 1);
    assert.match(stderr, /Set VAULT_ADDR/);
  });
});

describe('ocsp-response-time.sh', { skip: !posix }, () => {
  const script = example('ocsp-response-time.sh');

  test('without a certificate: one is issued', async () => {
    const ended = await run([script], { ...env(), ERRORS: '1%' });
    assertEnded(ended, 0, /^Fast enough/m, 'ocsp-response-time.json');
  });

  test('with --cert and --issuer, and without a token', async () => {
    const answer = await fetch(`${server.url}/v1/pki_int/issue/${ROLE}`, {
      method: 'POST',
      headers: { 'x-vault-token': server.token },
      body: JSON.stringify({ common_name: 'localhost' }),
    });
    const { data } = /** @type {{data: Record<string, string>}} */ (await answer.json());
    writeFileSync(join(folder, 'leaf.crt'), data.certificate);
    writeFileSync(join(folder, 'issuer.pem'), data.issuing_ca);
    const about = ['--cert', 'leaf.crt', '--issuer', 'issuer.pem'];
    const withoutToken = { VAULT_ADDR: server.url, ...SHORT, OUT: 'o.json' };
    assertEnded(
      await run([script, ...about], { ...withoutToken, ERRORS: '1%' }),
      0,
      /^Fast enough/m,
      'o.json',
    );
    const strict = await run([script, ...about], { ...withoutToken, ERRORS: '0.001%' });
    assertEnded(strict, 99, /^Not fast enough, or too few requests/m, 'o.json');
    assert.match(strict.stdout, /not proven +errors<0\.001%/);
  });
});

test('library.js', async () => {
  const { code, stdout, stderr } = await run([process.execPath, example('library.js')], {});
  if (code === 98) assert.match(stdout, /the measurement is invalid$/m);
  else {
    assert.equal(code, 0, stderr + stdout);
    assert.match(stdout, /^rate>=1000\/h: met\.[\s\S]*the measurement is valid$/m);
  }
  assert.match(stderr, /\d+ good responses so far/);
});

test('shellcheck has nothing to say', {
  skip: spawnSync('shellcheck', ['--version']).error !== undefined,
}, () => {
  const scripts = ['validate-1000-per-hour.sh', 'ocsp-response-time.sh'].map(example);
  const { status, stdout } = spawnSync('shellcheck', scripts, { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});
