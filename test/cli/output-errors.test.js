/** A terminal that is hung up, a disk that is full: told where that can be told, and what was set up is removed all the same. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { closeSync, openSync, statSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { handleOutputErrors } from '../../src/cli/process.js';
import { fakeVault } from '../vault/setup/fake-vault.js';
import { serveFakeVault } from '../vault/setup/serve-fake-vault.js';
import { assertNoStack, cold, scratch, serve, startBatch } from './support.js';

/** @import { Readable } from 'node:stream' */
/** @import { TestContext } from 'node:test' */

const PROGRAM = fileURLToPath(new URL('../../bin/vault-pki-load.js', import.meta.url));

describe('an output error', () => {
  /** @type {[string, 'stdout' | 'stderr', string[], {isTTY?: boolean, ending?: number}, string[], number?][]} what, of which stream, codes, more, what is said, exit code */
  const TABLE = [
    ['of a pipe whose reader exited is ignored', 'stdout', ['EPIPE', 'EPIPE'], {}, []],
    ['of a socket whose reader exited is ignored', 'stdout', ['ECONNRESET'], {}, []],
    ['of a terminal that hung up is ignored', 'stdout', ['EIO'], { isTTY: true }, []],
    ['of the disk is reported', 'stdout', ['EIO'], {}, ['EIO'], 1],
    ['of a full disk is reported once', 'stdout', ['ENOSPC', 'ENOSPC', 'EIO'], {}, ['ENOSPC'], 1],
    ['does not hide a missed requirement', 'stdout', ['ENOSPC'], { ending: 99 }, ['ENOSPC'], 99],
    ['does not hide an interruption', 'stdout', ['ENOSPC'], { ending: 130 }, ['ENOSPC'], 130],
    ['of standard error is ignored', 'stderr', ['EIO', 'ENOSPC', 'EPIPE'], {}, []],
  ];
  for (const [what, name, codes, { isTTY = false, ending = 0 }, said, exitCode = ending] of TABLE) {
    test(what, () => {
      /** @type {string[]} */
      const heard = [];
      const stream = () =>
        Object.assign(new EventEmitter(), { isTTY, write: (/** @type {string} */ line) => heard.push(line) });
      const process = Object.assign(new EventEmitter(), {
        stdout: stream(),
        stderr: stream(),
        exitCode: ending,
      });
      handleOutputErrors(/** @type {any} */ (process));
      for (const code of codes) process[name].emit('error', Object.assign(new Error(code), { code }));
      process.emit('exit', ending);
      assert.deepEqual(
        heard,
        said.map((code) => `vault-pki-load: Standard output cannot be written to (${code}).\n`),
      );
      assert.equal(process.exitCode, exitCode);
    });
  }
});

test('a file that takes only a part of the output is reported', (t) => {
  const file = scratch(t)('schema.json', '');
  const command = `ulimit -f 4; exec "${process.execPath}" "${PROGRAM}" schema > "${file}"`;
  const { status, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8' });
  assert.deepEqual(
    [status, stderr, statSync(file).size],
    [1, 'vault-pki-load: Standard output cannot be written to (EFBIG).\n', 4096],
  );
});

/** Standard error fails again and again, from when anybody listens. */
const HUNG_UP = `
import { isMainThread } from 'node:worker_threads';
const { stderr } = process;
const fail = () => stderr.listenerCount('error') > 0 && stderr.emit('error', Object.assign(new Error('write EIO'), { code: 'EIO' }));
if (isMainThread) setInterval(fail, 1).unref();`;

/** @param {TestContext} t @param {{stdout: number | 'pipe', nodeArgs?: string[]}} how */
async function runScenario(t, { stdout, nodeArgs = [] }) {
  const { vault, url } = await serveFakeVault(t);
  const file = scratch(t)(
    's.json',
    JSON.stringify({
      name: 's',
      setup: { name: 'load', 'ca-key-type': 'ec' },
      target: { url },
      load: { requests: 1 },
      mix: [{ operation: 'health' }],
    }),
  );
  const child = spawn(process.execPath, [...nodeArgs, PROGRAM, ...cold(['run', file])], {
    stdio: ['ignore', stdout, 'pipe'],
    env: { PATH: process.env.PATH, HOME: '/nonexistent', VAULT_TOKEN: 'unused' },
  });
  child.stdout?.resume();
  const [said, [code]] = await Promise.all([
    text(/** @type {Readable} */ (child.stderr)),
    once(child, 'close'),
  ]);
  assertNoStack(said);
  const gone = vault.calls.filter(({ method }) => method === 'DELETE').map(({ path }) => path);
  return { code, said, gone, isEmpty: isSame(vault.state(), fakeVault().state()) };
}

/** @param {unknown} a @param {unknown} b */
const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);

describe('the setup of a scenario is removed', () => {
  const GONE = ['sys/mounts/load-int', 'sys/mounts/load-root', 'sys/policies/acl/load'];

  test('if standard output is full, which is reported', async (t) => {
    const full = openSync('/dev/full', 'w');
    t.after(() => closeSync(full));
    const { code, said, gone, isEmpty } = await runScenario(t, { stdout: full });
    assert.deepEqual([gone, isEmpty], [GONE, true], said);
    assert.match(said, /^vault-pki-load: Standard output cannot be written to \(ENOSPC\)\.$/m);
    assert.ok(code === 1 || code === 98, `${code}: ${said}`);
  });

  test('if the terminal hung up', async (t) => {
    const nodeArgs = ['--import', `data:text/javascript,${encodeURIComponent(HUNG_UP)}`];
    const { code, said, gone, isEmpty } = await runScenario(t, { stdout: 'pipe', nodeArgs });
    assert.deepEqual([gone, isEmpty], [GONE, true], said);
    assert.ok(code === 0 || code === 98, `${code}: ${said}`);
  });
});

describe('escapes control and bidi characters in external text:', () => {
  const run = startBatch({ after });
  const EVIL = 'a\u001b]0;b\u0007c\u009bd\u202ee\n::error::f';
  const UNSAFE = /[^\P{Cc}\n]|\u202e|^::/mu;

  /** @type {[string, (path: (name: string, content?: string) => string, url: string) => string[]][]} */
  const TABLE = [
    ['errors of a server', (_path, url) => ['issue', '--url', url]],
    ['its responses to setup', (_path, url) => ['setup', '--url', url]],
    ['its responses to setup in JSON', (_path, url) => ['setup', '--url', url, '--format', 'json']],
    ['the name of a file', (path) => ['report', path(`r${EVIL.slice(0, 9)}.json`)]],
    ['the content of a file', (path) => ['report', path('r.json', JSON.stringify({ schema: EVIL }))]],
    ['a scenario', (path) => ['run', path('s.json', JSON.stringify({ name: EVIL, mix: EVIL })), '--dry-run']],
    ['an unknown option', () => [`--${EVIL}`]],
    ['an unknown command', () => [EVIL]],
  ];
  for (const [what, args] of TABLE) {
    test(what, async (t) => {
      const url = await serve(t, (_request, response) => {
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ errors: [EVIL], version: EVIL, data: { [EVIL]: EVIL } }));
      });
      const { code, stdout, stderr } = await run(args(scratch(t), url), {
        env: { VAULT_TOKEN: 'unused' },
      });
      assert.notEqual(code, 0);
      assert.doesNotMatch(stdout + stderr, UNSAFE);
    });
  }
});
