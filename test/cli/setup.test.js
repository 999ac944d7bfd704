/** `setup` and `teardown` from the command line: misuse, targets that cannot be used or are slow, help. On a real Vault: test/vault/setup.vault.js. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { interruptible } from '../../src/cli/setup.js';
import { startDevServer } from '../../src/dev/spawn.js';
import { setUp } from '../../src/vault/setup/setup.js';
import { planSetup } from '../../src/vault/setup/setup-plan.js';
import { fakeVault } from '../vault/setup/fake-vault.js';
import { serveFakeVault } from '../vault/setup/serve-fake-vault.js';
import { assertNoStack, assertRefused, environmentOf, startBatch, startCli } from './support.js';

const run = startBatch({ after });
const env = { VAULT_ADDR: 'http://127.0.0.1:1', VAULT_TOKEN: 'unused' };

/** @type {[string, string[], RegExp][]} */
const MISUSE = [
  ['a name with a slash', ['setup', '--name', 'a/b'], /The name "a\/b" cannot be used for a setup\. Use/],
  [
    'a name of runs',
    ['setup', '--name', 'vault-pki-load-kv'],
    /The name "vault-pki-load-kv" is reserved for mounts that runs create/,
  ],
  [
    'unknown engine',
    ['setup', '--with', 'kv,ssh'],
    /--with is "ssh", which is not one of kv, transit, approle/,
  ],
  ['the embedded server, which ends with the command', ['setup', '--dev'], /--dev/],
];

describe('misuse is one line, exit code 1, nothing on standard output:', () => {
  for (const [what, args, message] of MISUSE) {
    test(what, async () => assertRefused(await run(args, { env }), message));
  }

  test('no token', async () => {
    const ended = await run(['setup'], { env: { VAULT_ADDR: env.VAULT_ADDR } });
    assertRefused(ended, /There is no token: .* Run vault login, or export VAULT_TOKEN\./);
  });
});

describe('a target that cannot be reached', () => {
  test('is exit code 2', async () => {
    assertRefused(await run(['teardown'], { env }), /refused the connection/, 2);
  });

  test('is reported in JSON, too', async () => {
    const { code, stdout, stderr } = await run(['setup', '--format', 'json', '--name', 'ci-1'], { env });
    assert.equal(code, 2);
    assert.match(stderr, /refused the connection/);
    const { error, ...said } = JSON.parse(stdout);
    assert.deepEqual(said, {
      command: 'setup',
      name: 'ci-1',
      url: env.VAULT_ADDR,
      namespace: null,
      created: [],
      existing: [],
    });
    assert.match(error.message, /refused the connection/);
    assert.equal(typeof error.code, 'string');
  });
});

test('the embedded server has a PKI: setup rejects, and teardown finds nothing', async () => {
  const server = await startDevServer();
  try {
    const own = { env: environmentOf(server) };
    assertRefused(
      await run(['setup'], own),
      /is the embedded PKI server: it has a PKI with roles, and needs no setup/,
    );
    const { code, stdout, stderr } = await run(['teardown'], own);
    assert.equal(code, 0, stderr);
    assert.equal(stdout, 'No setup named vault-pki-load was found.\n');
  } finally {
    await server.stop();
  }
});

describe('accepts the flags that it prints for other command lines:', () => {
  for (const flag of ['--tls-skip-verify', '--tls-skip-verify=false']) {
    test(flag, async () => {
      const { code, stderr } = await run(['teardown', flag], { env: { ...env, VAULT_SKIP_VERIFY: '1' } });
      assert.equal(code, 2, stderr);
    });
  }
});

describe('interruptible', () => {
  const stopped = new AbortController();
  stopped.abort();
  /** @typedef {import('../../src/vault/client.js').VaultClient} VaultClient */
  /** @type {[what: string, ask: (client: VaultClient) => Promise<unknown>, isChange: boolean][]} */
  const CALLS = [
    ['GET sys/health', (client) => client.health(), false],
    ['GET sys/mounts', (client) => client.read('sys/mounts'), false],
    ['LIST load-int/roles', (client) => client.list('load-int/roles'), false],
    ['POST sys/mounts/load-int', (client) => client.write('sys/mounts/load-int', {}), true],
    ['DELETE sys/mounts/load-int', (client) => client.remove('sys/mounts/load-int'), true],
  ];
  for (const [what, ask, isChange] of CALLS) {
    test(`rejects calls after a stop: ${what}`, async () => {
      const vault = fakeVault();
      await assert.rejects(ask(interruptible(vault.client, stopped.signal)), {
        code: 'interrupted',
        exitCode: 130,
      });
      assert.deepEqual(vault.calls, []);
    });

    test(`after a stop, waits ${isChange ? '5 s' : 'no more'}: ${what}`, async (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] });
      t.mock.method(process.stderr, 'write', () => true);
      const stop = new AbortController();
      const silent = /** @type {any} */ (
        Object.fromEntries(
          ['health', 'read', 'list', 'write', 'remove'].map((name) => [name, () => new Promise(() => {})]),
        )
      );
      const asked = ask(interruptible(silent, stop.signal));
      stop.abort();
      if (isChange) t.mock.timers.tick(5000);
      await assert.rejects(asked, { code: isChange ? 'cut_off' : 'interrupted', exitCode: 130 });
    });

    test(`reports a long wait, ${isChange ? 'even after a stop, until cut off' : 'until a stop'}: ${what}`, async (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] });
      /** @type {string[]} */
      const said = [];
      t.mock.method(process.stderr, 'write', (/** @type {string} */ line) => said.push(line));
      const silent = /** @type {any} */ (
        Object.fromEntries(
          ['health', 'read', 'list', 'write', 'remove'].map((name) => [name, () => new Promise(() => {})]),
        )
      );
      const [stop, cutOff] = [new AbortController(), new AbortController()];
      const asked = ask(interruptible(silent, stop.signal, cutOff.signal));
      t.mock.timers.tick(2999);
      assert.deepEqual(said, []);
      t.mock.timers.tick(1);
      assert.deepEqual(said, [`Waiting for the response to ${what} ...\n`]);
      stop.abort();
      if (isChange) {
        const isOver = await Promise.race([
          asked.catch(() => true),
          new Promise((r) => setImmediate(r, false)),
        ]);
        assert.equal(isOver, false);
        cutOff.abort();
      }
      await assert.rejects(asked, {
        code: isChange ? 'cut_off' : 'interrupted',
        message: isChange ? `Interrupted before the response to ${what}.` : 'Interrupted.',
        exitCode: 130,
      });
    });
  }
});

describe('on a slow Vault', () => {
  /** @param {string} url */
  const at = (url) => ({ env: { VAULT_ADDR: url, VAULT_TOKEN: 'unused' } });

  for (const name of ['setup', 'teardown']) {
    test(`${name} gives up on a silent one, with a valid remedy`, async (t) => {
      const { url } = await serveFakeVault(t, 'GET sys/health');
      const ended = await run([name], { env: { ...at(url).env, VAULT_CLIENT_TIMEOUT: '500ms' } });
      assertRefused(
        ended,
        /sent no full response in time\. .* or raise --timeout \(VAULT_CLIENT_TIMEOUT\)\.$/m,
        2,
      );
    });

    test(`Ctrl-C ends ${name} during the health check of a silent one`, async (t) => {
      const { url, reached } = await serveFakeVault(t, 'GET sys/health');
      const cli = startCli([name], at(url));
      await reached;
      cli.kill('SIGINT');
      const { code, stdout, stderr } = await cli.ended;
      assert.equal(code, 130, stderr);
      assert.match(stderr, /^vault-pki-load: Interrupted\.$/m);
      assert.equal(stdout, '');
    });
  }

  test('Ctrl-C twice ends setup at once; reports the created objects and how to remove them', async (t) => {
    const { url, reached } = await serveFakeVault(t, 'POST sys/mounts/load-int');
    const cli = startCli(['setup', '--name', 'load', '--url', url, '--format', 'json'], at(url));
    await reached;
    cli.kill('SIGINT');
    await cli.shows(/^Interrupted: ending after the current call\. /m);
    cli.kill('SIGINT');
    const { code, stdout, stderr } = await cli.ended;
    assert.equal(code, 130, stderr);
    assertNoStack(stderr);
    assert.ok(
      stderr.endsWith(
        `\nvault-pki-load: Interrupted before the response to POST sys/mounts/load-int. The objects created so far remain. Run setup again to create the rest, or vault-pki-load teardown --name load --url ${url} to remove them.\n`,
      ),
      stderr,
    );
    const { created: made, error } = JSON.parse(stdout);
    assert.deepEqual(made, [
      { kind: 'mount', path: 'load-root', type: 'pki' },
      { kind: 'mount', path: 'load-int', type: 'pki', uncertain: true },
    ]);
    assert.equal(error.code, 'cut_off');
  });

  test('Ctrl-C twice ends teardown at once; reports the removed objects', async (t) => {
    const { vault, url, reached } = await serveFakeVault(t, 'DELETE sys/mounts/load-root');
    await setUp(vault.client, planSetup({ name: 'load', caKeyType: 'ec' }), () => {});
    const cli = startCli(['teardown', '--name', 'load', '--format', 'json'], at(url));
    await reached;
    cli.kill('SIGINT');
    await cli.shows(/^Interrupted: /m);
    cli.kill('SIGINT');
    const { code, stdout, stderr } = await cli.ended;
    assert.equal(code, 130, stderr);
    assert.match(
      stderr,
      /^vault-pki-load: Interrupted before the response to DELETE sys\/mounts\/load-root\.$/m,
    );
    const { removed: gone, remaining: left, error } = JSON.parse(stdout);
    assert.deepEqual(
      [gone.map((/** @type {any} */ one) => one.path), left, error.code],
      [['load-int'], [], 'cut_off'],
    );
  });
});
