/** The command line that removes a setup. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { withCleanupHint } from '../../../src/cli/setup.js';
import { targetError } from '../../../src/common/errors.js';
import { readEnvironment } from '../../../src/vault/environment.js';
import { targetFlags, teardownCommand, teardownCommands } from '../../../src/vault/setup/command.js';
import { NO_TLS } from './no-tls.js';

/** @param {object} [more] */
const target = (more = {}) => ({
  url: 'https://a:8200',
  mount: 'pki',
  namespace: null,
  tls: NO_TLS,
  ...more,
});

/** @type {[string, Parameters<typeof target>[0], string | null, string][]} */
const COMMANDS = [
  ['a target', {}, null, 'vault-pki-load teardown --name load --url https://a:8200'],
  [
    'a namespace',
    { namespace: 'team/a' },
    null,
    'vault-pki-load teardown --name load --url https://a:8200 --namespace team/a',
  ],
  [
    'a token variable, without its value',
    {},
    'PROD_TOKEN',
    'BAO_TOKEN="$PROD_TOKEN" vault-pki-load teardown --name load --url https://a:8200',
  ],
  [
    'files and a name for TLS',
    {
      tls: {
        caCert: "the CA's.pem",
        caPath: 'cas',
        clientCert: 'c.pem',
        clientKey: 'k.pem',
        serverName: 'vault.test',
        skipVerify: false,
      },
    },
    null,
    "vault-pki-load teardown --name load --url https://a:8200 --ca-cert 'the CA'\\''s.pem' --ca-path cas --client-cert c.pem --client-key k.pem --tls-server-name vault.test",
  ],
  [
    'TLS without verification',
    { tls: { ...NO_TLS, skipVerify: true } },
    null,
    'vault-pki-load teardown --name load --url https://a:8200 --tls-skip-verify',
  ],
];

describe('the command to remove a setup contains', () => {
  for (const [what, more, tokenEnv, command] of COMMANDS) {
    test(what, () => assert.equal(teardownCommand('load', targetFlags(target(more)), tokenEnv), command));
  }
});

test('keeps verification of a target, whatever the environment', () => {
  const flags = (/** @type {object} */ tls, /** @type {string} */ VAULT_SKIP_VERIFY) =>
    targetFlags(target({ tls: { ...NO_TLS, ...tls } }), { VAULT_SKIP_VERIFY });
  assert.equal(flags({}, 'true'), ' --url https://a:8200 --tls-skip-verify=false');
  assert.equal(flags({}, 'false'), ' --url https://a:8200');
  assert.equal(flags({ skipVerify: true }, 'true'), ' --url https://a:8200 --tls-skip-verify');
});

/** What is exported where the command is pasted, beside the variable of the scenario. @type {[string, Record<string, string>][]} */
const EXPORTED = [
  ['nothing', {}],
  ['another token for Vault', { VAULT_TOKEN: 'other' }],
  ['another token for OpenBao', { BAO_TOKEN: 'other' }],
  ['both', { VAULT_TOKEN: 'other', BAO_TOKEN: 'another' }],
];

describe('the command uses the token of the setup, with an exported', () => {
  for (const [what, exported] of EXPORTED) {
    test(what, () => {
      const command = teardownCommand('load', '', 'PROD_TOKEN');
      const { stdout, stderr } = spawnSync('sh', ['-c', command.replace(/vault-pki-load .*/, 'env')], {
        encoding: 'utf8',
        env: { PATH: process.env.PATH, PROD_TOKEN: 'right', ...exported },
      });
      assert.equal(stderr, '');
      const env = Object.fromEntries(stdout.split('\n').map((line) => line.split('=')));
      assert.equal(readEnvironment(env, { home: '/nonexistent' }).token, 'right');
    });
  }
});

test('one command per target, except embedded servers', () => {
  const step = (/** @type {object} */ more, dev = false) => ({
    plan: /** @type {any} */ ({ dev, target: target(more) }),
  });
  const steps = [step({}), step({ url: 'http://b' }), step({}), step({ url: 'http://c' }, true)];
  assert.deepEqual(teardownCommands('load', steps), [
    'vault-pki-load teardown --name load --url https://a:8200',
    'vault-pki-load teardown --name load --url http://b',
  ]);
});

test('a failed setup prints the command to remove it, with its own flags', () => {
  const error = targetError('unreachable', 'It is gone.', 'Start it.');
  assert.deepEqual(
    { .../** @type {any} */ (withCleanupHint(error, 'load', ' --namespace team')) },
    {
      ...targetError('unreachable', 'It is gone.'),
      remedy:
        'Start it. The objects created so far remain. Run setup again to create the rest, or vault-pki-load teardown --name load --namespace team to remove them.',
    },
  );
});
