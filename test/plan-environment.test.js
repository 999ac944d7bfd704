import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PkiLoadError } from '../src/errors.js';
import { loadOperation } from '../src/operations/index.js';
import { makePlan } from '../src/plan.js';
import { readEnvironment } from '../src/vault/environment.js';

const issue = await loadOperation('issue');

/** @typedef {Record<string, any>} Given */

/** @param {Given} given @param {Record<string, string>} env */
function plan(given, env) {
  return makePlan(issue, given, readEnvironment({ VAULT_TOKEN: 'x', ...env }));
}

/** @type {[string, Given, Record<string, string>, (made: import('../src/plan.js').Plan) => unknown, unknown][]} */
const PRECEDENCE = [
  [
    'VAULT_ADDR is the address',
    {},
    { VAULT_ADDR: 'https://v:1/' },
    ({ target }) => target.url,
    'https://v:1',
  ],
  [
    'BAO_ADDR wins over it',
    {},
    { VAULT_ADDR: 'https://v:1', BAO_ADDR: 'https://b:1' },
    ({ target }) => target.url,
    'https://b:1',
  ],
  ['--url wins over', { url: 'http://u' }, { BAO_ADDR: 'not a url' }, ({ target }) => target.url, 'http://u'],
  ['the environment gives a namespace', {}, { VAULT_NAMESPACE: 'e' }, ({ target }) => target.namespace, 'e'],
  [
    '--dev knows nothing of the environment',
    { dev: true },
    { VAULT_NAMESPACE: 'e', VAULT_ADDR: 'not a url' },
    ({ target }) => [target.namespace, target.url],
    [null, 'http://127.0.0.1:8200'],
  ],
  ['a time-out from the environment', {}, { VAULT_CLIENT_TIMEOUT: '3' }, ({ load }) => load.timeoutMs, 3000],
  ['VAULT_SKIP_VERIFY', {}, { VAULT_SKIP_VERIFY: 'true' }, ({ target }) => target.tls.skipVerify, true],
  [
    'files from both',
    { caCert: 'mine' },
    { VAULT_CACERT: 'theirs', VAULT_CLIENT_CERT: 'c', VAULT_CLIENT_KEY: 'k' },
    ({ target: { tls } }) => [tls.caCert, tls.clientCert, tls.clientKey],
    ['mine', 'c', 'k'],
  ],
];

describe('the environment', () => {
  for (const [sentence, given, env, pick, value] of PRECEDENCE) {
    test(sentence, () => assert.deepEqual(pick(plan(given, env)), value));
  }

  for (const address of [
    'vault.example.com:8200',
    'unix:///run/vault',
    'http://me:hunter2@host',
    'http://h?x',
  ]) {
    test(`an address such as ${address} is refused before anything is asked`, () => {
      assert.throws(
        () => plan({}, { VAULT_ADDR: address }),
        (error) => {
          assert.ok(error instanceof PkiLoadError);
          assert.equal(error.code, 'bad_url');
          assert.match(error.full, /VAULT_ADDR/);
          assert.doesNotMatch(error.full, /hunter2/);
          return true;
        },
      );
    });
  }
});
