/** The preflight checks on a real Vault. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { loadTls } from '../../src/http/tls.js';
import { checkRole, describeFootprint } from '../../src/vault/check-role.js';
import { checkHealth, checkIssuer, checkMount } from '../../src/vault/check-target.js';
import { checkToken, startRenewal } from '../../src/vault/check-token.js';
import { createVaultClient } from '../../src/vault/client.js';
import { setUpPki } from './pki.js';
import { startVault, unseal } from './start.js';

/** @import { TlsFiles } from '../../src/http/tls.js' */
/** @import { VaultClient } from '../../src/vault/client.js' */
/** @import { RunningVault } from './start.js' */

/** @param {Promise<unknown>} asked @param {string} code @param {RegExp} [text] of message and remedy */
async function assertFails(asked, code, text = /./) {
  await assert.rejects(asked, (/** @type {any} */ error) => {
    assert.equal(error.code, code, error.full);
    assert.match(error.full, text);
    assert.match(error.message, /^[^\n]+\.$/);
    return true;
  });
}

describe('on a dev server', () => {
  /** @type {RunningVault} */
  let vault;
  /** @type {VaultClient} */
  let root;
  /** @type {VaultClient[]} */
  const clients = [];
  const connect = (/** @type {string} */ token) => {
    const client = vault.connect(token);
    clients.push(client);
    return client;
  };
  /** @param {object} options @returns {Promise<string>} a token */
  const create = async (options) => (await root.write('auth/token/create', options)).auth?.client_token;

  before(async () => {
    vault = await startVault();
    root = connect(vault.token);
    await setUpPki(root);
    await root.write('sys/mounts/pki_empty', { type: 'pki' });
    await root.write('sys/policies/acl/issuer', {
      policy: 'path "pki_int/issue/ec-no-store" { capabilities = ["update"] }',
    });
  });
  after(async () => {
    for (const client of clients) await client.close();
    await vault.stop();
  });

  test('health: product and version', async () => {
    const { product, version, enterprise } = await checkHealth(root);
    assert.deepEqual([product, enterprise], ['Vault', false]);
    assert.match(version, /^1\.21\./);
  });

  test('token: root never expires', async () => {
    const facts = await checkToken(root, { neededMs: 1e12 });
    assert.deepEqual([facts.warnings, facts.renewEveryMs], [[], null]);
  });

  test('token: wrong, missing', async () => {
    await assertFails(checkToken(connect('hvs.wrong')), 'token_invalid', /VAULT_TOKEN/);
    const none = createVaultClient({ url: vault.url });
    await assertFails(checkToken(none), 'no_token', /vault login/);
    await none.close();
  });

  test('token: renewable, long enough, to be renewed, or at its maximum TTL', async () => {
    const client = connect(await create({ policies: ['issuer'], ttl: '120s' }));
    const enough = await checkToken(client, { neededMs: 60_000 });
    assert.deepEqual(enough.warnings, []);
    assertNear(enough.renewEveryMs, 80_000);
    const longer = await checkToken(client, { neededMs: 600_000 });
    assertNear(longer.renewEveryMs, 80_000);
    const capped = connect(await create({ policies: ['issuer'], ttl: '120s', explicit_max_ttl: '240s' }));
    await assertFails(checkToken(capped, { neededMs: 600_000 }), 'token_expires', /longer TTL/);
  });

  test('token: batch and not renewable', async () => {
    const batch = connect(await create({ policies: ['issuer'], ttl: '60s', type: 'batch' }));
    await assertFails(checkToken(batch, { neededMs: 600_000 }), 'token_expires', /batch token/);
    const fixed = connect(await create({ policies: ['issuer'], ttl: '60s', renewable: false }));
    await assertFails(checkToken(fixed, { neededMs: 600_000 }), 'token_expires');
    assert.equal((await checkToken(fixed)).warnings.length, 1);
  });

  test('token: periodic, renewable forever', async () => {
    const periodic = connect(await create({ policies: ['issuer'], period: '60s' }));
    assert.ok((await checkToken(periodic, { neededMs: 864e5 })).renewEveryMs);
  });

  test('token: a use limit', async () => {
    const few = connect(await create({ policies: ['issuer'], num_uses: 50 }));
    await assertFails(checkToken(few, { neededRequests: 100 }), 'token_use_limit');
  });

  test('token: may not look itself up', async () => {
    const shy = connect(await create({ policies: ['issuer'], no_default_policy: true }));
    const facts = await checkToken(shy, { neededMs: 1000 });
    assert.match(facts.warnings.join(), /may not look itself up/);
  });

  test('token: renewal keeps it alive', async () => {
    const client = connect(await create({ policies: ['issuer'], ttl: '600s' }));
    /** @type {number[]} */
    const waits = [];
    /** @type {() => void} */
    let fire = () => {};
    /** @type {unknown[]} */
    const warnings = [];
    const armed = () => new Promise((resolve) => (resolveArmed = resolve));
    let resolveArmed = (/** @type {unknown} */ _value) => {};
    const renewal = startRenewal(client, {
      renewEveryMs: 400_000,
      onWarning: (warning) => warnings.push(warning),
      setTimer: (callback, ms) => {
        waits.push(ms);
        fire = callback;
        resolveArmed(null);
      },
      clearTimer: () => {},
    });
    const again = armed();
    fire();
    await again;
    assert.deepEqual([waits, warnings], [[400_000, 400_000], []]);
    await root.write('auth/token/revoke', { token: (await client.read('auth/token/lookup-self')).data?.id });
    const afterRevocation = armed();
    fire();
    await afterRevocation;
    assert.deepEqual([waits[2], /** @type {any} */ (warnings[0]).code], [50_000, 'token_renewal_failed']);
    renewal.stop();
  });

  test('mount: found, of another type, not found', async () => {
    assert.deepEqual(await checkMount(root, 'pki_int'), []);
    await assertFails(checkMount(root, 'secret'), 'mount_wrong_type', /type kv, not pki.*pki_int/);
    await assertFails(checkMount(root, 'nope'), 'mount_not_found', /pki, pki_empty, pki_int/);
    await assertFails(checkMount(root, 'pki_int/roles'), 'mount_not_found');
  });

  test('mount: with minimal permissions, and with none', async () => {
    const least = connect(await create({ policies: ['issuer'] }));
    assert.deepEqual(await checkMount(least, 'pki_int'), []);
    await assertFails(checkMount(least, 'secret'), 'mount_not_found', /pki_int/);
    for (const mount of ['pki', 'pki_empty']) assert.equal((await checkMount(least, mount)).length, 1);
  });

  test('issuer: found, missing, expired', async () => {
    assert.match((await checkIssuer(root, 'pki_int')).subject, /test intermediate/);
    await assertFails(checkIssuer(root, 'pki_empty'), 'mount_without_ca', /root\/generate/);
    await assertFails(checkIssuer(root, 'pki_int', { now: () => 4e12 }), 'ca_expired');
  });

  test('issuer: the one that the role names, whatever the default one is', async () => {
    await root.write('sys/mounts/multi', { type: 'pki', config: { max_lease_ttl: '87600h' } });
    const create = (/** @type {string} */ name, /** @type {string} */ ttl) =>
      root.write('multi/root/generate/internal', { common_name: name, issuer_name: name, ttl });
    await create('named', '1000h');
    await create('short', '1h');
    await root.write('multi/config/issuers', { default: 'short' });
    const inTwoHours = { now: () => Date.now() + 7_200_000 };
    await assertFails(checkIssuer(root, 'multi', inTwoHours), 'ca_expired', /short/);
    const role = { issuer_ref: 'named' };
    assert.match((await checkIssuer(root, 'multi', { ...inTwoHours, role })).subject, /named/);
    await root.remove('multi/issuer/short');
    await assertFails(checkIssuer(root, 'multi'), 'no_default_issuer', /\(vault list multi\/issuers; [^;]*$/);
    assert.match((await checkIssuer(root, 'multi', { role })).subject, /named/);
    const gone = checkIssuer(root, 'multi', { role: { issuer_ref: 'gone' } });
    await assertFails(gone, 'issuer_not_found', /The role names the issuer gone, .* issuer_ref/);
  });

  test('role: not found', async () => {
    const question = { mount: 'pki_int', role: 'nope' };
    await assertFails(checkRole(root, question), 'role_not_found', /ec-no-store.*example-dot-com/);
  });

  test('role: not readable, but usable; not usable', async () => {
    const least = connect(await create({ policies: ['issuer'] }));
    const facts = await checkRole(least, { mount: 'pki_int', role: 'ec-no-store', commonName: 'localhost' });
    assert.deepEqual([facts.role, facts.warnings.length], [null, 1]);
    const other = { mount: 'pki_int', role: 'ec-stored', commonName: 'localhost' };
    await assertFails(checkRole(least, other), 'role_permission_denied', /pki_int\/issue\/ec-stored/);
    await assertFails(
      checkRole(least, { ...other, role: 'ec-no-store', operation: 'sign' }),
      'role_permission_denied',
    );
  });

  test('role: the footprint', async () => {
    const read = async (/** @type {string} */ role) =>
      (await checkRole(root, { mount: 'pki_int', role, commonName: 'localhost' })).role;
    assert.match(
      describeFootprint({ role: await read('ec-no-store'), count: 9 }).join(' '),
      /nothing is left/,
    );
    assert.match(
      describeFootprint({ role: await read('ec-stored'), count: 60_000 }).join(' '),
      /60,000.*50,000/,
    );
  });

  describe('role: the check agrees with Vault', () => {
    /** @type {Record<string, Record<string, unknown>>} */
    const roles = {
      plain: { allowed_domains: 'example.com' },
      bare: { allowed_domains: 'example.com', allow_bare_domains: true },
      sub: { allowed_domains: 'example.com,example.net', allow_subdomains: true },
      noWildcard: {
        allowed_domains: 'example.com',
        allow_subdomains: true,
        allow_wildcard_certificates: false,
      },
      glob: { allowed_domains: 'app-*.example.com,*.glob.net', allow_glob_domains: true },
      noLocal: { allowed_domains: 'example.com', allow_subdomains: true, allow_localhost: false },
      anything: { allow_any_name: true },
      anythingLoose: { allow_any_name: true, enforce_hostnames: false },
      looseDomain: { allowed_domains: 'example.com', allow_subdomains: true, enforce_hostnames: false },
      nothing: {},
      noCommonName: { require_cn: false, allowed_domains: 'example.com', allow_subdomains: true },
      noIps: { allow_any_name: true, allow_ip_sans: false },
      unvalidated: { allowed_domains: 'example.com', allow_bare_domains: true, cn_validations: 'disabled' },
    };
    const names = [
      'localhost',
      'localdomain',
      'a.localhost',
      'example.com',
      'EXAMPLE.com',
      'a.example.com',
      'A.B.Example.COM',
      'example.com.',
      'notexample.com',
      'a.example.net',
      '*.example.com',
      '*.a.example.com',
      'a*.example.com',
      '*a.example.com',
      'a.*.example.com',
      '**.example.com',
      '*',
      '*.localhost',
      'user@*.example.com',
      'a@b@example.com',
      'app-1.example.com',
      'app-1.x.example.com',
      'x.glob.net',
      'a.b.glob.net',
      'under_score.example.com',
      '-a.example.com',
      'user@example.com',
      'user@a.example.com',
      '127.0.0.1',
      'example.org',
      '',
    ];

    before(async () => {
      for (const [name, role] of Object.entries(roles)) {
        await root.write(`pki_int/roles/${name}`, { key_type: 'ec', key_bits: 256, no_store: true, ...role });
      }
    });

    for (const role of Object.keys(roles)) {
      test(role, async () => {
        for (const commonName of names) {
          const checked = await verdict(checkRole(root, { mount: 'pki_int', role, commonName }));
          const asked = commonName === '' ? { alt_names: 'a.example.com' } : { common_name: commonName };
          const issued = await verdict(root.write(`pki_int/issue/${role}`, asked));
          // Wildcards and e-mail addresses are left to Vault.
          const isLeft = /[*@]/.test(commonName);
          assert.equal(
            checked === null,
            isLeft || issued === null,
            `${role} ${commonName}: ${checked} but Vault: ${issued}`,
          );
        }
      });
    }

    test('IP addresses', async () => {
      const question = { mount: 'pki_int', commonName: 'a.b', ipSans: ['10.0.0.1'] };
      await assertFails(checkRole(root, { ...question, role: 'noIps' }), 'ip_sans_not_allowed');
      assert.ok((await checkRole(root, { ...question, role: 'anything' })).role);
    });
  });
});

/** A renewal at two thirds of 120 s, of which some may have passed. @param {number | null} ms @param {number} expected */
function assertNear(ms, expected) {
  assert.ok(ms !== null && ms <= expected && ms > expected - 10_000, `${ms}`);
}

/** @param {Promise<unknown>} asked @returns {Promise<string | null>} why not */
async function verdict(asked) {
  try {
    await asked;
    return null;
  } catch (error) {
    return /** @type {Error} */ (error).message;
  }
}

test('sealed: reported by health and every call until unsealed', async () => {
  const vault = await startVault({ storage: 'file' });
  const client = vault.connect();
  await client.write('sys/seal');
  await assertFails(checkHealth(client), 'vault_sealed', /unseal/);
  await assertFails(checkToken(client), 'vault_sealed');
  await assertFails(checkMount(client, 'pki'), 'vault_sealed');
  await unseal(vault.url, vault.unsealKey);
  assert.equal((await checkHealth(client)).product, 'Vault');
  await client.close();
  await vault.stop();
});

test('kill -9 and restart on the same port: file storage keeps the PKI', async () => {
  const vault = await startVault({ storage: 'file' });
  const client = vault.connect();
  await setUpPki(client, { caKeyType: 'ec' });
  await vault.kill9();
  await assertFails(checkHealth(client), 'connection_refused');
  await vault.restart();
  assert.ok((await checkRole(client, { mount: 'pki_int', role: 'ed25519', commonName: 'localhost' })).role);
  await client.close();
  await vault.stop();
});

describe('TLS', () => {
  /** @type {RunningVault} */
  let vault;
  before(async () => {
    vault = await startVault({ tls: true });
  });
  after(() => vault.stop());

  /** @param {string} url @param {TlsFiles} [files] */
  async function health(url, files = {}) {
    const client = createVaultClient({ url, token: 'x', tls: loadTls(files) });
    return checkHealth(client).finally(() => client.close());
  }

  test('with its CA, or without verification', async () => {
    assert.equal((await health(vault.url, { caCert: vault.caCert })).product, 'Vault');
    assert.equal((await health(vault.url, { skipVerify: true })).product, 'Vault');
  });

  test('without its CA', () => assertFails(health(vault.url), 'certificate_issuer_unknown', /VAULT_CACERT/));

  test('another name', () =>
    assertFails(
      health(vault.url, { caCert: vault.caCert, serverName: 'vault.test' }),
      'certificate_name_mismatch',
    ));

  test('http:// to its port', () =>
    assertFails(health(vault.url.replace('https', 'http')), 'wrong_scheme_http_to_https_port', /https:\/\//));
});

test('https:// to a plain Vault', async () => {
  const vault = await startVault();
  const client = createVaultClient({ url: vault.url.replace('http', 'https') });
  await assertFails(checkHealth(client), 'wrong_scheme_https_to_http_port', /http:\/\//);
  await client.close();
  await vault.stop();
});
