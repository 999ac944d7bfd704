/**
 * Operations without certificates on a real Vault: output, objects and leftovers. One of each kind runs through the
 * command line, the others in this process.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDevServer } from '../../src/dev/server.js';
import { ask } from '../dev/support.js';
import { startFaultProxy } from '../run/support.js';
import { assertRan, runCommand, runToResult, startCommand } from './command.js';
import { askEach, runHere, runHereToResult } from './in-process.js';
import { setUpPki } from './pki.js';
import { startVault } from './start.js';

/** @import { VaultClient } from '../../src/vault/client.js' */
/** @import { RunningVault } from './start.js' */

/** @type {RunningVault} */
let vault;
/** @type {VaultClient} */
let root;
/** @type {Record<string, string>} */
let env;
/** @type {unknown} */
let asFound;

before(async () => {
  vault = await startVault();
  root = vault.connect();
  await setUpPki(root, { caKeyType: 'ec' });
  await root.write('sys/mounts/people', { type: 'kv', options: { version: '2' } });
  await root.write('sys/mounts/old', { type: 'kv', options: { version: '1' } });
  await root.write('old/secret-0', { ours: 'stays' });
  env = { VAULT_ADDR: vault.url, VAULT_TOKEN: vault.token };
  asFound = await mounts();
});
after(async () => {
  await root.close();
  await vault.stop();
});

/** @returns {Promise<string[]>} */
async function mounts() {
  const [engines, methods] = [await root.read('sys/mounts'), await root.read('sys/auth')];
  return [...Object.keys(engines.data ?? {}), ...Object.keys(methods.data ?? {})].sort();
}

/** @returns {Promise<string[]>} entities that Vault creates for logins */
async function entities() {
  return [...(await root.list('identity/entity/id')), ...(await root.list('identity/entity-alias/id'))];
}

/** @param {string[]} args @param {string} good outcome */
async function assertAll(args, good, count = 20, measure = runToResult) {
  const all = [...args, '--requests', String(count), '--concurrency', '2'];
  const run = await measure(all, env);
  assertRan(run);
  assert.deepEqual(run.result.outcomes, { [good]: count }, args.join(' '));
  assert.deepEqual([run.result.verification.checked, run.result.verification.passed], [count, count]);
  assert.deepEqual(await mounts(), asFound);
  return run;
}

/** @param {string} text */
const oneLine = (text) => text.replace(/\s+/g, ' ');

describe('every response is as expected, and nothing is left', () => {
  const encrypting = ['aes256-gcm96', 'aes128-gcm96', 'chacha20-poly1305', 'rsa-2048', 'rsa-3072'];
  const signing = ['ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'rsa-2048', 'rsa-3072', 'rsa-4096'];
  /** @type {string[][]} action, type of key, outcome */
  const KEYS = [
    ...encrypting.flatMap((type) => [
      ['encrypt', type, 'encrypted'],
      ['decrypt', type, 'decrypted'],
    ]),
    ...signing.flatMap((type) => [
      ['sign', type, 'signed'],
      ['verify', type, 'verified'],
    ]),
  ];
  /** @type {[args: string[], outcome: string, measure?: typeof runToResult][]} through the command line, or in this process */
  const TABLE = [
    [['kv-write', '--paths', '7'], 'written'],
    [['kv-write', '--paths', '7', '--kv-version', '1', '--size', '5000'], 'written', runHereToResult],
    [['kv-read', '--paths', '7'], 'read', runHereToResult],
    [['kv-read', '--paths', '7', '--kv-version', '1', '--pick', 'in-turn'], 'read'],
    [['token-lookup'], 'looked_up', runHereToResult],
    [['health'], 'active', runHereToResult],
    [['approle-login', '--token-type', 'batch'], 'logged_in', runHereToResult],
    [['transit', '--action', 'verify', '--key-type', 'ecdsa-p384', '--pool', '5'], 'verified'],
  ];
  for (const [args, good, measure] of TABLE) {
    test(args.join(' '), async () => {
      await assertAll(args, good, 20, measure);
      assert.deepEqual(await entities(), []);
    });
  }

  for (const [action, keyType, good] of KEYS) {
    test(`transit --action ${action} --key-type ${keyType}`, async () => {
      const args = ['transit', '--action', action, '--key-type', keyType, '--pool', '3'];
      assert.deepEqual(await askEach(args, env, 5), { [good]: 5 });
      assert.deepEqual(await mounts(), asFound);
    });
  }

  test('approle-login: the tokens are revoked with their auth method', async () => {
    const accessors = async () => (await root.list('auth/token/accessors')).length;
    const before = await accessors();
    await assertAll(['approle-login', '--token-ttl', '1h'], 'logged_in');
    assert.equal(await accessors(), before);
    assert.deepEqual(await entities(), []);
  });
});

describe('an existing store: one run writes, another reads', () => {
  for (const [mount, folder, measure] of /** @type {[string, string, typeof runToResult][]} */ ([
    ['people', 'people/metadata', runToResult],
    ['old', 'old', runHereToResult],
  ])) {
    test(`${mount}: 300 secrets, 100 of them read and checked; all stay`, async () => {
      const store = ['--kv-mount', mount, '--paths', '300', '--size', '100'];
      await assertAll(['kv-write', ...store], 'written', 300, measure);
      assert.equal((await root.list(`${folder}/vault-pki-load/seed-1`)).length, 300);
      await assertAll(['kv-read', ...store, '--filled'], 'read', 100, measure);
      assert.equal((await root.list(`${folder}/vault-pki-load/seed-1`)).length, 300);
    });
  }
  test("other users' objects are not touched", async () => {
    assert.deepEqual((await root.read('old/secret-0')).data, { ours: 'stays' });
  });
  /** @type {[string, string[], RegExp][]} */
  const REFUSED = [
    [
      'more than were written',
      ['--kv-mount', 'old', '--paths', '301', '--size', '100'],
      /old\/vault-pki-load\/seed-1\/300 is not the secret .* or write them: kv-write/,
    ],
    [
      'another size',
      ['--kv-mount', 'people', '--paths', '300'],
      /is not the secret that kv-write writes there with --size 1024 and --data-seed 1/,
    ],
    [
      'another seed',
      ['--kv-mount', 'people', '--paths', '300', '--size', '100', '--data-seed', '2'],
      /seed-2\/0 is not the secret that kv-write writes there/,
    ],
    [
      'another version',
      ['--kv-mount', 'old', '--kv-version', '2'],
      /The store old has version 1, but --kv-version is 2\. Leave/,
    ],
    ['no such store', ['--kv-mount', 'nowhere'], /There is no mount nowhere on .* Check --kv-mount/],
    ['no key-value store', ['--kv-mount', 'pki_int'], /The mount pki_int on .* is of type pki, not kv/],
  ];
  for (const [what, args, message] of REFUSED) {
    test(`${what}: rejected before sending`, async () => {
      const { code, stderr } = await runHere(['kv-read', ...args, '--filled', '--requests', '5'], env);
      assert.equal(code, 2, stderr);
      assert.match(oneLine(stderr), message);
    });
  }
});

describe('interrupted, or with missing capabilities', () => {
  test('while filling the store: removes the store', async () => {
    const command = startCommand(['kv-read', '--paths', '1000000', '--duration', '1m'], env);
    let during = asFound;
    while (JSON.stringify(during) === JSON.stringify(asFound)) during = await mounts();
    command.kill('SIGINT');
    const { code, stderr } = await command.ended;
    assert.equal(code, 130, stderr);
    assert.deepEqual(await mounts(), asFound);
  });

  test('during the run: removes the store', async () => {
    const command = startCommand(['kv-write', '--rate', '50', '--duration', '1m'], env);
    await command.underWay();
    command.kill('SIGINT');
    const { code, result } = await command.ended;
    assert.equal(code, 130);
    assert.ok(Number(result?.totals.succeeded) > 0);
    assert.deepEqual(await mounts(), asFound);
  });

  /** @param {string} policy @returns {Promise<Record<string, string>>} */
  async function withPolicy(policy) {
    await root.write('sys/policies/acl/half', { policy });
    const { auth } = await root.write('auth/token/create', { policies: ['half'], ttl: '10m' });
    return { ...env, VAULT_TOKEN: auth?.client_token };
  }
  const MOUNT = 'path "sys/mounts/vault-pki-load-*" { capabilities = ["create", "update", "delete"] }';

  test('may not mount: reports the missing capability', async () => {
    const { code, stderr } = await runHere(
      ['transit', '--requests', '5'],
      await withPolicy('path "people/*" { capabilities = ["read"] }'),
    );
    assert.equal(code, 2);
    assert.match(
      oneLine(stderr),
      /cannot be mounted: .*permission.* The token needs create, update, read and delete on sys\/mounts\/vault-pki-load-\*/,
    );
    assert.doesNotMatch(stderr, /Left behind/);
  });

  test('a mount that it may not use: preparation fails, and removes the mount', async () => {
    const { code } = await runHere(['transit', '--requests', '5'], await withPolicy(MOUNT));
    assert.equal(code, 2);
    assert.deepEqual(await mounts(), asFound);
  });

  test('no sudo, which auth methods need, and no access to the entity: reports both', async () => {
    const mounting = (/** @type {string} */ more) =>
      `path "sys/auth/vault-pki-load-*" { capabilities = ["create", "read", "update", "delete"${more}] }
       path "auth/vault-pki-load-*" { capabilities = ["create", "read", "update"] }`;
    const args = ['approle-login', '--requests', '5'];
    const refused = await runHere(args, await withPolicy(mounting('')));
    assert.equal(refused.code, 2);
    assert.match(
      refused.stderr,
      /The token needs create, update, read, delete and sudo on sys\/auth\/vault-pki-load-\*/,
    );
    const { stderr, result } = await runHere(args, await withPolicy(mounting(', "sudo"')));
    assert.deepEqual(result?.outcomes, { logged_in: 5 });
    assert.deepEqual(await mounts(), asFound);
    const [, id] =
      /Left behind: the entity ([0-9a-f-]{36}) .* vault delete identity\/entity\/id\/\1/.exec(stderr) ?? [];
    assert.ok(id, stderr);
    await root.remove(`identity/entity/id/${id}`);
    assert.deepEqual(await entities(), []);
  });

  test('may not remove it: reports the leftover, and how to remove it', async () => {
    const policy = `${MOUNT.replace(', "delete"', '')}\npath "vault-pki-load-*" { capabilities = ["create", "update", "read"] }`;
    const { stderr, result } = await runCommand(['transit', '--requests', '5'], await withPolicy(policy));
    assert.deepEqual(result?.outcomes, { encrypted: 5 });
    const [, path] =
      /Left behind: the secrets engine (vault-pki-load-transit-[0-9a-f]{16}), .* Remove it at \S+ with vault secrets disable \1/.exec(
        oneLine(stderr),
      ) ?? [];
    assert.ok(path, stderr);
    assert.deepEqual(await mounts(), [.../** @type {string[]} */ (asFound), `${path}/`].sort());
    assert.match((await root.read(`sys/mounts/${path}`)).data?.description, /made by vault-pki-load/);
    await root.remove(`sys/mounts/${path}`);
  });
});

describe('after the token has ended, refusals are no proof that the target fails; a note says so', () => {
  for (const operation of [['token-lookup'], ['http', '--path', '/v1/auth/token/lookup-self']]) {
    test(operation[0], async () => {
      const { auth } = await root.write('auth/token/create', { policies: ['default'], ttl: '1h' });
      const token = /** @type {string} */ (auth?.client_token);
      const args = [...operation, '--rate', '20', '--duration', '4s', '--require', 'errors<1%'];
      const running = runHereToResult(args, { ...env, VAULT_TOKEN: token });
      await sleep(3000);
      await root.write('auth/token/revoke', { token });
      const { result } = await running;
      const { succeeded, failed } = result.totals;
      assert.ok(
        succeeded > 0 && failed > 0 && result.outcomes.permission_denied === failed,
        JSON.stringify(result.outcomes),
      );
      assert.deepEqual(
        result.requirements.map(({ verdict }) => verdict),
        ['not proven'],
      );
      assert.ok(result.verification.notes?.some((note) => note.startsWith('The token had ended')));
    });
  }
});

describe('what a run created is removed', () => {
  test('if a quota that the run has used up refuses the first attempt', async () => {
    const quota = 'sys/quotas/rate-limit/all';
    await root.write(quota, { path: '', rate: 30, interval: '2s' });
    const run = await runHereToResult(['kv-write', '--rate', '200', '--duration', '2s'], env);
    await untilRemoved(quota);
    assert.ok(run.result.outcomes.rate_limited > 0, run.stderr);
    assert.doesNotMatch(run.stderr, /Left behind/);
    assert.deepEqual(await mounts(), asFound);
  });

  /** @param {string} path while a quota may refuse this, too */
  async function untilRemoved(path) {
    for (;;) {
      const { code = 'removed' } = await root.remove(path).catch((error) => error);
      if (code !== 'vault_rate_limited') return;
      await sleep(100);
    }
  }

  test('also the entity of a login whose response was lost', async (t) => {
    const proxy = await startFaultProxy(vault.url);
    t.after(proxy.close);
    proxy.aim(({ url = '' }) => url.endsWith('/login'));
    // Vault performs it, but the tool gets no response.
    proxy.inject(
      ({ req: { url } }) => void fetch(`${vault.url}${url}`, { method: 'POST', body: proxy.seen[0].body }),
    );
    const args = ['approle-login', '--requests', '5', '--timeout', '1s'];
    const { code, stderr } = await runHere(args, { ...env, VAULT_ADDR: proxy.url });
    assert.equal(code, 2, stderr);
    assert.doesNotMatch(stderr, /eft behind/);
    assert.deepEqual([await mounts(), await entities()], [asFound, []]);
  });

  test('or the run says that it may be left, if the token may not look it up', async (t) => {
    const proxy = await startFaultProxy(vault.url);
    t.after(proxy.close);
    proxy.aim(({ url = '' }) => url.endsWith('/login') || url.endsWith('/identity/lookup/entity'));
    proxy.inject(({ req: { url = '' }, res }) => {
      if (url.endsWith('/login'))
        void fetch(`${vault.url}${url}`, { method: 'POST', body: proxy.seen[0].body });
      else res.writeHead(403, { 'content-type': 'application/json' }).end('{"errors":["permission denied"]}');
    });
    const args = ['approle-login', '--requests', '5', '--timeout', '1s'];
    const { stderr } = await runHere(args, { ...env, VAULT_ADDR: proxy.url });
    assert.match(
      oneLine(stderr),
      /Possibly left behind: the entity of the logins, .* vault list identity\/entity\/id/,
    );
    assert.deepEqual(await mounts(), asFound);
    const [left] = await root.list('identity/entity/id');
    await root.remove(`identity/entity/id/${left}`);
  });
});

describe('traffic that should be refused', () => {
  /** @type {[string, string[], string][]} */
  const TABLE = [
    ['a bad token', ['--token', 'bad', '--path', '/v1/auth/token/lookup-self'], '403'],
    [
      'no token',
      ['--token', 'none', '--method', 'POST', '--path', '/v1/pki_int/issue/example-dot-com', '--body', '{}'],
      '403',
    ],
    [
      'text that is not JSON',
      ['--method', 'POST', '--path', '/v1/pki_int/issue/example-dot-com', '--body', 'not json'],
      '400',
    ],
    [
      'an object cut off, which Vault 1.21 calls an internal error',
      ['--method', 'POST', '--path', '/v1/pki_int/issue/example-dot-com', '--body', '{"common_name":'],
      '500',
    ],
    [
      'garbage for OCSP',
      [
        '--token',
        'none',
        '--method',
        'POST',
        '--path',
        '/v1/pki_int/ocsp',
        '--header',
        'Content-Type: application/ocsp-request',
        '--body',
        'garbage {random}',
      ],
      '400',
    ],
    ['an unknown path', ['--path', '/v1/no/such/{n}'], '404'],
  ];
  for (const [what, args, status] of TABLE) {
    test(`${what}: HTTP ${status} from Vault and from the embedded server`, async (t) => {
      const dev = await createDevServer({ caKeyType: 'ec' });
      t.after(() => dev.close());
      const asked = ['http', ...args, '--status', status];
      for (const at of [env, { VAULT_ADDR: dev.url, VAULT_TOKEN: dev.token }]) {
        assert.deepEqual(await askEach(asked, at, 5), { expected: 5 }, at.VAULT_ADDR);
      }
    });
  }

  test('through the command line, with --dev', async () => {
    const [, args, status] = TABLE[0];
    const run = await runToResult(['http', ...args, '--status', status, '--requests', '10', '--dev']);
    assertRan(run);
    assert.deepEqual(run.result.outcomes, { expected: 10 });
  });

  test('an unexpected status is a failure', async () => {
    assert.deepEqual(await askEach(['http', '--path', '/v1/no/such/path'], env, 5), {
      not_found: 5,
      failed: 5,
    });
  });
});

test('the embedded server returns the error messages of Vault', async (t) => {
  const dev = await createDevServer({ caKeyType: 'ec' });
  t.after(() => dev.close());
  /** @type {[string, string, unknown][]} made alike on both, then asked alike */
  const TABLE = [
    ['POST', 'sys/mounts/pair-kv1', { type: 'kv', options: { version: '1' } }],
    ['POST', 'sys/mounts/pair-kv2', { type: 'kv', options: { version: '2' } }],
    ['POST', 'sys/mounts/pair-kv2', { type: 'kv' }],
    ['POST', 'sys/mounts/pair-tr', { type: 'transit' }],
    ['POST', 'sys/auth/pair-ar', { type: 'approle' }],
    ['POST', 'sys/mounts/pair-x', { type: 'nope' }],
    ['DELETE', 'sys/mounts/pair-none', undefined],
    ['DELETE', 'identity/entity/id/none', undefined],
    ['DELETE', 'identity/entity/id/0b5c3f0e-0000-4000-8000-000000000000', undefined],
    ['GET', 'pair-kv1/none', undefined],
    ['POST', 'pair-kv1/a', {}],
    ['GET', 'pair-kv2/data/none', undefined],
    ['POST', 'pair-kv2/data/a', {}],
    ['POST', 'pair-kv2/data/a', { data: 'x' }],
    ['POST', 'pair-kv1/a', Buffer.from('{"a":')],
    ['POST', 'pair-kv1/a', Buffer.from('{"a":"x')],
    ['GET', 'pair-tr/keys/none', undefined],
    ['POST', 'pair-tr/keys/k', { type: 'nope' }],
    ['POST', 'pair-tr/sign/none', { input: 'aGk=' }],
    ['POST', 'pair-tr/verify/none', { input: 'aGk=', signature: 'vault:v1:aGk=' }],
    ['POST', 'pair-tr/decrypt/none', { ciphertext: 'vault:v1:aGk=' }],
    ['POST', 'auth/pair-ar/login', {}],
    ['POST', 'auth/pair-ar/login', { role_id: 'x', secret_id: 'y' }],
    ['POST', 'auth/pair-ar/role/none/secret-id', {}],
    ['GET', 'auth/pair-ar/role/none/role-id', undefined],
    ['POST', 'auth/pair-ar/role/r', { token_type: 'zz' }],
    ['DELETE', 'sys/mounts/pair-kv1', undefined],
    ['DELETE', 'sys/mounts/pair-kv2', undefined],
    ['DELETE', 'sys/mounts/pair-tr', undefined],
    ['DELETE', 'sys/auth/pair-ar', undefined],
    ['GET', 'pair-kv1/a', undefined],
  ];
  for (const [method, path, body] of TABLE) {
    const [theirs, ours] = [await ask(vault, method, path, body), await ask(dev, method, path, body)];
    const what = `${method} ${path} ${JSON.stringify(body)}`;
    assert.equal(ours.status, theirs.status, what);
    assert.deepEqual(ours.json?.errors, theirs.json?.errors, what);
  }
});
