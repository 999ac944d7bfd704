/** The command that takes a set-up away, as people are told to type it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withWhatStays } from '../../src/cli/setup.js';
import { targetError } from '../../src/errors.js';
import { teardownCommand, teardownCommands } from '../../src/setup/command.js';

const TLS = {
  caCert: null,
  caPath: null,
  clientCert: null,
  clientKey: null,
  serverName: null,
  skipVerify: false,
};

/** @param {object} [more] */
const target = (more = {}) => ({ url: 'https://a:8200', mount: 'pki', namespace: null, tls: TLS, ...more });

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
    'a token in a variable of its own, which is not shown',
    {},
    'PROD_TOKEN',
    'VAULT_TOKEN="$PROD_TOKEN" vault-pki-load teardown --name load --url https://a:8200',
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
    'TLS that is not checked',
    { tls: { ...TLS, skipVerify: true } },
    null,
    'vault-pki-load teardown --name load --url https://a:8200 --tls-skip-verify',
  ],
];

describe('the command to take a set-up away has', () => {
  for (const [what, more, tokenEnv, command] of COMMANDS) {
    test(what, () => assert.equal(teardownCommand('load', target(more), tokenEnv), command));
  }
});

test('there is one for each target that is no embedded server', () => {
  const step = (/** @type {object} */ more, dev = false) => ({
    plan: /** @type {any} */ ({ dev, target: target(more) }),
  });
  const steps = [step({}), step({ url: 'http://b' }), step({}), step({ url: 'http://c' }, true)];
  assert.deepEqual(teardownCommands('load', steps), [
    'vault-pki-load teardown --name load --url https://a:8200',
    'vault-pki-load teardown --name load --url http://b',
  ]);
});

test('setup that fails half-way says what takes it away, with the flags that it was given', () => {
  const error = targetError('unreachable', 'It is gone.', 'Start it.');
  assert.deepEqual(
    { .../** @type {any} */ (withWhatStays(error, 'load', ' --namespace team')) },
    {
      ...targetError('unreachable', 'It is gone.'),
      remedy:
        'Start it. What was made until then stays: run setup again to complete it, or vault-pki-load teardown --name load --namespace team to take it away.',
    },
  );
});
