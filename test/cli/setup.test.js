/** `setup` and `teardown` from the command line: misuse, targets that cannot be used, help. On a real Vault: test/vault/setup.vault.js. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { flagsOf, interruptible } from '../../src/cli/vault-command.js';
import { startDevServer } from '../../src/dev/spawn.js';
import { fakeVault } from '../setup/fake-vault.js';
import { assertRefused, environmentOf, runCli, startBatch } from './support.js';

const run = startBatch({ after });
const env = { VAULT_ADDR: 'http://127.0.0.1:1', VAULT_TOKEN: 'unused' };

/** @type {[string, string[], RegExp][]} */
const MISUSE = [
  [
    'a name with a slash',
    ['setup', '--name', 'a/b'],
    /The name "a\/b" cannot be used for a set-up\. Use three to forty-one/,
  ],
  ['an empty name', ['setup', '--name='], /--name is empty/],
  [
    'a name of mounts that runs make',
    ['setup', '--name', 'vault-pki-load-kv'],
    /is like those of the mounts that runs make/,
  ],
  ['a bad name to take away', ['teardown', '--name', 'A'], /The name "A" cannot be used/],
  [
    'an engine that is not known',
    ['setup', '--with', 'kv,ssh'],
    /--with holds "ssh", which is not one of kv, transit, approle/,
  ],
  [
    'a key type that is not known',
    ['setup', '--ca-key-type', 'dsa'],
    /--ca-key-type is "dsa", which is not one of rsa, ec/,
  ],
  [
    'a format that is not known',
    ['setup', '--format', 'xml'],
    /--format is "xml", which is not one of text, json/,
  ],
  ['a mount', ['setup', '--mount', 'pki'], /There is no option --mount|Unknown|--mount/],
  ['the embedded server, which ends with the command', ['setup', '--dev'], /--dev/],
  ['what is only for setup', ['teardown', '--with', 'kv'], /--with/],
  ['a word', ['teardown', 'vault-pki-load'], /takes options only|vault-pki-load/],
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

  test('is told in JSON too', async () => {
    const { code, stdout, stderr } = await run(['setup', '--format', 'json', '--name', 'ci-1'], { env });
    assert.equal(code, 2);
    assert.match(stderr, /refused the connection/);
    const { error, ...said } = JSON.parse(stdout);
    assert.deepEqual(said, {
      command: 'setup',
      name: 'ci-1',
      url: env.VAULT_ADDR,
      namespace: null,
      made: [],
      there: [],
    });
    assert.match(error.message, /refused the connection/);
    assert.equal(typeof error.code, 'string');
  });
});

test('the embedded server has a PKI already: setup says so, and teardown finds nothing', async () => {
  const server = await startDevServer();
  try {
    const own = { env: environmentOf(server) };
    assertRefused(await run(['setup'], own), /is the embedded PKI server, which has one PKI mount/);
    const { code, stdout, stderr } = await run(['teardown'], own);
    assert.equal(code, 0, stderr);
    assert.equal(stdout, 'There is nothing of a set-up called vault-pki-load.\n');
  } finally {
    await server.stop();
  }
});

describe('help', () => {
  for (const name of ['setup', 'teardown']) {
    test(`of ${name} has examples and says what is left alone`, async () => {
      const { code, stdout } = await runCli([name, '--help']);
      assert.equal(code, 0);
      assert.match(stdout, new RegExp(`vault-pki-load ${name} --name load`));
      assert.match(
        stdout.replaceAll(/\s+/g, ' '),
        /without the mark is refused|does not carry the mark of setup is left/,
      );
    });
  }
});

describe('how the target was named is repeated for other command lines', () => {
  /** @type {[string, Record<string, unknown>, string][]} */
  const TABLE = [
    ['not at all, where it was not', { name: 'load', format: 'json' }, ''],
    [
      'with its values',
      { url: 'http://v:8200', 'ca-cert': 'a b.pem' },
      " --url http://v:8200 --ca-cert 'a b.pem'",
    ],
    ['with its flags', { 'tls-skip-verify': true }, ' --tls-skip-verify'],
    ['whichever way they were written', { 'tls-skip-verify': 'true' }, ' --tls-skip-verify'],
    ['and those that take back the environment', { 'tls-skip-verify': 'false' }, ' --tls-skip-verify=false'],
  ];
  for (const [what, given, flags] of TABLE) {
    test(what, async () => {
      assert.equal(flagsOf(given), flags);
      // What is advised is understood.
      const words = flags.split(' ').filter((word) => word.startsWith('--tls'));
      const { code, stderr } = await run(['teardown', ...words], { env: { ...env, VAULT_SKIP_VERIFY: '1' } });
      assert.equal(code, 2, stderr);
    });
  }
});

test('once it is interrupted, a client asks nothing any more', async () => {
  const vault = fakeVault();
  const controller = new AbortController();
  const client = interruptible(vault.client, controller.signal);
  await client.read('sys/mounts');
  controller.abort();
  for (const call of [client.read, client.write, client.remove, client.list]) {
    await assert.rejects(call('sys/mounts'), { code: 'interrupted', exitCode: 130 });
  }
  assert.equal(vault.calls.length, 1);
});
