import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os, { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readEnvironment } from '../../src/vault/environment.js';

/** @import { VaultEnvironment } from '../../src/vault/environment.js' */

describe('readEnvironment', () => {
  let home = '';
  before(() => {
    home = mkdtempSync(join(tmpdir(), 'vault-pki-load-home-'));
  });
  after(() => rmSync(home, { recursive: true }));
  const read = (/** @type {Record<string, string>} */ env) => readEnvironment(env, { home });

  test('nothing set: no values, verification on', () => {
    assert.deepEqual(read({}), {
      address: null,
      addresses: [],
      addressSource: null,
      token: null,
      tokenSource: null,
      namespace: null,
      tls: {
        caCert: null,
        caPath: null,
        clientCert: null,
        clientKey: null,
        serverName: null,
        skipVerify: false,
      },
      proxySource: null,
      timeoutMs: null,
    });
  });

  test('reads every variable, and BAO_* takes precedence over VAULT_*', () => {
    const names = [
      'ADDR',
      'TOKEN',
      'NAMESPACE',
      'CACERT',
      'CAPATH',
      'CLIENT_CERT',
      'CLIENT_KEY',
      'TLS_SERVER_NAME',
    ];
    const vault = Object.fromEntries(names.map((name) => [`VAULT_${name}`, `v-${name}`]));
    const bao = Object.fromEntries(names.map((name) => [`BAO_${name}`, `b-${name}`]));
    const flat = (/** @type {VaultEnvironment} */ env) => [
      env.address,
      env.token,
      env.namespace,
      env.tls.caCert,
      env.tls.caPath,
      env.tls.clientCert,
      env.tls.clientKey,
      env.tls.serverName,
    ];
    assert.deepEqual(flat(read(vault)), Object.values(vault));
    assert.deepEqual(flat(read({ ...vault, ...bao })), Object.values(bao));
    assert.equal(read(vault).tokenSource, 'VAULT_TOKEN');
    assert.equal(read({ ...vault, ...bao }).tokenSource, 'BAO_TOKEN');
  });

  test("an agent's address takes precedence, as in vault", () => {
    const env = { BAO_ADDR: 'http://b', VAULT_AGENT_ADDR: 'unix:///run/agent' };
    const { address, addressSource, addresses } = read(env);
    assert.deepEqual([address, addressSource], ['unix:///run/agent', 'VAULT_AGENT_ADDR']);
    assert.deepEqual(
      addresses,
      ['unix:///run/agent', 'http://b'],
      'a scenario may use neither more nor less',
    );
  });

  test('an empty BAO_ variable does not hide the VAULT_ one', () => {
    assert.equal(read({ BAO_ADDR: '', VAULT_ADDR: 'http://v' }).address, 'http://v');
  });

  /** @type {[string, boolean | null][]} as Go's strconv.ParseBool; null: refused */
  const booleans = [
    ['1', true],
    ['t', true],
    ['T', true],
    ['true', true],
    ['True', true],
    ['TRUE', true],
    ['0', false],
    ['f', false],
    ['F', false],
    ['false', false],
    ['False', false],
    ['FALSE', false],
    ['yes', null],
    ['tRUE', null],
    [' 1', null],
  ];
  for (const [text, expected] of booleans) {
    test(`VAULT_SKIP_VERIFY=${JSON.stringify(text)} is ${expected ?? 'rejected'}`, () => {
      const get = () => read({ VAULT_SKIP_VERIFY: text }).tls.skipVerify;
      if (expected === null) assert.throws(get, { code: 'bad_boolean', exitCode: 1 });
      else assert.equal(get(), expected);
    });
  }

  /** @type {[string, number | null][]} */
  const timeouts = [
    ['30', 30_000],
    ['1m30s', 90_000],
    ['0', null],
    ['1h', 3_600_000],
  ];
  for (const [text, expected] of timeouts) {
    test(`VAULT_CLIENT_TIMEOUT=${text} is ${expected} ms`, () => {
      assert.equal(read({ VAULT_CLIENT_TIMEOUT: text }).timeoutMs, expected);
    });
  }

  for (const text of ['600h', '3601', '1e9d']) {
    test(`VAULT_CLIENT_TIMEOUT=${text} is rejected, like --timeout: no timer is that long`, () => {
      assert.throws(() => read({ VAULT_CLIENT_TIMEOUT: text }), {
        code: 'out_of_range',
        message: `VAULT_CLIENT_TIMEOUT is "${text}"; it must be at most 1 h.`,
      });
    });
  }

  test('a wrong timeout names its variable', () => {
    assert.throws(() => read({ BAO_CLIENT_TIMEOUT: 'soon' }), {
      code: 'bad_duration',
      message: /BAO_CLIENT_TIMEOUT/,
    });
  });

  for (const bad of ['hvs.secret\n', 'hvs secret', 'hvs.secret\u0000', 'hvs.sécret', '"hvs.\tsecret"']) {
    test(`a token such as ${JSON.stringify(bad)} is rejected without being shown`, () => {
      assert.throws(
        () => read({ VAULT_TOKEN: bad }),
        (/** @type {any} */ error) => {
          assert.equal(error.code, 'bad_token');
          assert.match(error.message, /VAULT_TOKEN/);
          assert.doesNotMatch(`${error.full}${error.stack}`, /hvs|secret/);
          return true;
        },
      );
    });
  }

  test('the token file comes last, and is trimmed', () => {
    writeFileSync(join(home, '.vault-token'), '  hvs.file\n');
    assert.deepEqual(
      [read({}).token, read({}).tokenSource, read({ VAULT_TOKEN: 'hvs.env' }).token],
      ['hvs.file', '~/.vault-token', 'hvs.env'],
    );
    writeFileSync(join(home, '.vault-token'), '\n');
    assert.equal(read({}).token, null);
    rmSync(join(home, '.vault-token'));
  });

  test('a user without HOME and without an entry in the list of users has no token file', (t) => {
    t.mock.method(os, 'homedir', () => {
      throw new Error('uv_os_homedir returned ENOENT');
    });
    t.after(syncBuiltinESMExports);
    syncBuiltinESMExports();
    assert.equal(readEnvironment({}).token, null);
    t.mock.restoreAll();
  });

  test('without a home, or with a relative one, there is no token file: it would be in the current directory', () => {
    writeFileSync(join(home, '.vault-token'), 'hvs.file');
    for (const other of ['', relative(process.cwd(), home)])
      assert.equal(readEnvironment({}, { home: other }).token, null);
    rmSync(join(home, '.vault-token'));
  });

  test('an unreadable token file is an error', () => {
    mkdirSync(join(home, '.vault-token'));
    assert.throws(() => read({}), { code: 'cannot_read', message: /\.vault-token is a directory/ });
    rmSync(join(home, '.vault-token'), { recursive: true });
  });
});
