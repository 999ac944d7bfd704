/** Connections to a real Vault: addresses, TLS, environment, namespaces. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertRan, runCommand, runToResult } from './command.js';
import { setUpPki } from './pki.js';
import { startVault } from './start.js';

/** @import { RunningVault } from './start.js' */

/** @param {{tls?: boolean}} options */
async function startPki(options) {
  const vault = await startVault(options);
  const client = vault.connect();
  await setUpPki(client, { caKeyType: 'ec' });
  await client.close();
  return vault;
}

const ISSUE = ['issue', '--role', 'ec-stored', '--requests', '10'];
const OCSP = ['ocsp', '--role', 'ec-stored', '--requests', '10'];

/** @param {string[]} args @param {Record<string, string>} env */
async function assertWorks(args, env) {
  const run = await runToResult(args, env);
  assertRan(run);
  assert.equal(run.result.totals.succeeded, 10);
}

/** @param {string[]} args @param {Record<string, string>} env @param {RegExp} said */
async function assertRefused(args, env, said) {
  const { code, stderr, stdout, result } = await runCommand(args, env);
  assert.deepEqual([code, stdout, result], [2, '', null], stderr);
  assert.match(stderr, said);
}

describe('plain HTTP', () => {
  /** @type {RunningVault} */
  let vault;
  before(async () => {
    vault = await startPki({});
  });
  after(() => vault.stop());

  test('VAULT_* and BAO_*; BAO_* takes precedence', async () => {
    await assertWorks(ISSUE, { VAULT_ADDR: vault.url, VAULT_TOKEN: vault.token });
    await assertWorks(OCSP, { BAO_ADDR: vault.url, BAO_TOKEN: vault.token });
    const wrong = { VAULT_ADDR: 'http://127.0.0.1:1', VAULT_TOKEN: 'hvs.wrong' };
    await assertWorks(ISSUE, { ...wrong, BAO_ADDR: vault.url, BAO_TOKEN: vault.token });
    await assertWorks([...ISSUE, '--address', vault.url], { ...wrong, BAO_TOKEN: vault.token });
  });

  test('a namespace, which only Vault Enterprise and OpenBao have', async () => {
    const env = { VAULT_ADDR: vault.url, VAULT_TOKEN: vault.token };
    const said = /Community Edition, which has no namespaces.*\n?.*--namespace/;
    await assertRefused([...ISSUE, '--namespace', 'team/a'], env, said);
    await assertRefused([...OCSP, '--namespace', 'team/a'], env, said);
    await assertRefused(ISSUE, { ...env, VAULT_NAMESPACE: 'team/a' }, said);
    await assertWorks(ISSUE, { ...env, VAULT_NAMESPACE: 'root' });
  });

  test('no token; a wrong one', async () => {
    const { code, stderr } = await runCommand(ISSUE, { VAULT_ADDR: vault.url });
    assert.equal(code, 1);
    assert.match(stderr, /There is no token/);
    await assertRefused(
      ISSUE,
      { VAULT_ADDR: vault.url, VAULT_TOKEN: 'hvs.wrong' },
      /does not accept the token/,
    );
  });

  test('https:// to it', () =>
    assertRefused(
      [...ISSUE, '--url', vault.url.replace('http', 'https')],
      { VAULT_TOKEN: vault.token },
      /http:\/\/ in place of https:\/\//,
    ));
});

describe('TLS', () => {
  /** @type {RunningVault} */
  let vault;
  /** @type {Record<string, string>} */
  let env;
  before(async () => {
    vault = await startPki({ tls: true });
    env = { VAULT_ADDR: vault.url, VAULT_TOKEN: vault.token };
  });
  after(() => vault.stop());

  test('its CA by flag and by variable', async () => {
    await assertWorks([...ISSUE, '--ca-cert', String(vault.caCert)], env);
    await assertWorks([...OCSP, '--ca-cert', String(vault.caCert)], env);
    await assertWorks(ISSUE, { ...env, VAULT_CACERT: String(vault.caCert) });
  });

  test('verification disabled, by flag and by variable', async () => {
    await assertWorks([...ISSUE, '--tls-skip-verify'], env);
    await assertWorks(OCSP, { ...env, BAO_SKIP_VERIFY: 'true' });
  });

  test('unknown CA', () => assertRefused(ISSUE, env, /no known CA|self-signed[\s\S]*--ca-cert/));

  test('wrong name', () =>
    assertRefused(
      [...ISSUE, '--ca-cert', String(vault.caCert), '--tls-server-name', 'vault.test'],
      env,
      /--tls-server-name/,
    ));

  test('http:// to it', () =>
    assertRefused(
      [...ISSUE, '--url', vault.url.replace('https', 'http')],
      env,
      /https:\/\/ in place of http:\/\//,
    ));
});
