/** `setup` and `teardown` on a real Vault, through the command line. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { createVaultClient, planSetup, setUp, tearDown } from '../../src/index.js';
import { grantsToInspect, grantsToSetUp } from '../../src/vault/setup/inspect.js';
import { runCli, startCli } from '../cli/support.js';
import { deferred } from '../deferred.js';
import { buildVault } from './build.js';
import { startVault } from './start.js';

/** @import { VaultClient } from '../../src/vault/client.js' */
/** @import { Ended } from '../cli/support.js' */
/** @import { RunningVault } from './start.js' */
/** @import { AddressInfo } from 'node:net' */

const ENGINES = ['kv', 'transit', 'approle'];
const ALL = ['--with', ENGINES.join(',')];

/** @type {RunningVault} */
let vault;
/** @type {VaultClient} */
let root;
/** @type {string} */
let binary;
/** @type {Record<string, string>} */
let env;

before(async () => {
  binary = await buildVault();
  vault = await startVault();
  root = vault.connect();
  env = { VAULT_ADDR: vault.url, VAULT_TOKEN: vault.token };
});
after(async () => {
  await root.close();
  await vault.stop();
});

/** The lists of Vault's own command line, and the roles of PKI mounts. */
function lists() {
  const listed = (/** @type {string[]} */ words, /** @type {string[]} */ ...paths) => {
    const { status, stdout, stderr } = spawnSync(binary, [...words, '-format=json', ...paths], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: vault.folder, ...env },
    });
    // 2: not found.
    assert.ok(status === 0 || status === 2, stderr);
    return JSON.parse(stdout);
  };
  const secrets = listed(['secrets', 'list', '-detailed']);
  const mine = Object.keys(secrets).filter((path) => secrets[path].type === 'pki');
  return {
    secrets,
    auth: listed(['auth', 'list', '-detailed']),
    policies: listed(['policy', 'list']),
    roles: Object.fromEntries(mine.map((path) => [path, listed(['list'], `${path}roles`)])),
  };
}

const setup = (/** @type {string[]} */ ...args) => runCli(['setup', ...args], { env });
const teardown = (/** @type {string[]} */ ...args) => runCli(['teardown', ...args], { env });

/** @param {Ended} ended @param {number} [expected] */
function assertCode({ code, stdout, stderr }, expected = 0) {
  assert.equal(code, expected, stderr + stdout);
  assert.ok(!`${stdout}${stderr}`.includes(vault.token), 'the token is shown');
}

test('setup and teardown leave mounts, auth methods, policies and roles as they were; each may be run twice', async () => {
  await root.write('sys/mounts/own', { type: 'pki', description: 'my own' });
  await root.write('own/roles/mine', { allow_any_name: true });
  await root.write('sys/policies/acl/mine', {
    policy: 'path "own/issue/mine" { capabilities = ["update"] }',
  });
  const empty = lists();
  const first = await setup(...ALL);
  assertCode(first);
  assert.match(first.stdout, /^Mounted vault-pki-load-int \(pki\)\.$/m);
  assert.deepEqual(first.stdout.match(/^ {2}vault-pki-load .*$/gm), [
    '  vault-pki-load issue --mount vault-pki-load-int --duration 10s',
    '  vault-pki-load ocsp --mount vault-pki-load-int --rate 20 --duration 10s',
    '  vault-pki-load kv-write --kv-mount vault-pki-load-kv --duration 10s',
    '  vault-pki-load transit --duration 10s',
    '  vault-pki-load approle-login --duration 10s',
    '  vault-pki-load teardown --name vault-pki-load',
  ]);
  const full = lists();
  assert.deepEqual(
    Object.keys(full.secrets).filter((path) => !(path in empty.secrets)),
    ['vault-pki-load-int/', 'vault-pki-load-kv/', 'vault-pki-load-root/', 'vault-pki-load-transit/'],
  );
  assert.deepEqual(full.roles['vault-pki-load-int/'], [
    'example-dot-com',
    'example-dot-com-ec',
    'example-dot-com-ec-no-store',
    'example-dot-com-ed25519',
  ]);

  const second = await setup(...ALL, '--format', 'json');
  assertCode(second);
  const { created: made, existing, mount } = JSON.parse(second.stdout);
  assert.deepEqual(made, []);
  assert.equal(existing.length, 17);
  assert.equal(mount, 'vault-pki-load-int');
  assert.deepEqual(lists(), full);

  const other = await setup('--ca-key-type', 'ec');
  assertCode(other, 1);
  assert.match(other.stderr, /vault-pki-load-root already has a CA with a key of type rsa/);

  const gone = await teardown('--format', 'json');
  assertCode(gone);
  assert.deepEqual(JSON.parse(gone.stdout).remaining, []);
  assert.equal(JSON.parse(gone.stdout).removed.length, 6);
  assert.deepEqual(lists(), empty);
  const nothing = await teardown();
  assertCode(nothing);
  assert.equal(nothing.stdout, 'No setup named vault-pki-load was found.\n');
  assert.deepEqual(lists(), empty);
  await root.remove('sys/mounts/own');
  await root.remove('sys/policies/acl/mine');
});

test("setup rejects another user's mounts and policies, and changes nothing; teardown keeps and reports them", async () => {
  await root.write('sys/mounts/vault-pki-load-transit', { type: 'transit', description: 'my own' });
  await root.write('sys/auth/vault-pki-load-approle', { type: 'approle' });
  await root.write('sys/policies/acl/vault-pki-load', { policy: 'path "x" { capabilities = ["read"] }' });
  const before = lists();
  const ended = await setup();
  assertCode(ended, 1);
  assert.equal(ended.stdout, '');
  assert.match(
    ended.stderr,
    /There is already a mount vault-pki-load-transit \(transit\) and a mount auth\/vault-pki-load-approle \(approle\) and a policy vault-pki-load, not created by setup --name vault-pki-load\. Nothing was changed\./,
  );
  assert.deepEqual(lists(), before);
  const left = await teardown();
  assertCode(left, 2);
  assert.match(left.stdout, /^Left vault-pki-load-transit \(transit\): it does not carry the mark/m);
  assert.match(left.stdout, /^Left the policy vault-pki-load: /m);
  assert.deepEqual(lists(), before);
  await root.remove('sys/mounts/vault-pki-load-transit');
  await root.remove('sys/auth/vault-pki-load-approle');
  await root.remove('sys/policies/acl/vault-pki-load');
});

test('keeps a mount with a changed description, and a moved one', async () => {
  assertCode(await setup('--name', 'changed', '--with', 'kv,transit', '--ca-key-type', 'ec'));
  await root.write('sys/mounts/changed-kv/tune', { description: 'mine now' });
  await root.write('sys/remount', { from: 'changed-transit', to: 'moved' });
  await untilMoved('moved/');
  const ended = await teardown('--name', 'changed', '--format', 'json');
  assertCode(ended, 2);
  const { removed: gone, remaining: left } = JSON.parse(ended.stdout);
  assert.deepEqual(
    gone.map((/** @type {any} */ one) => one.path),
    ['changed-int', 'changed-root', 'changed'],
  );
  assert.deepEqual(
    left.map((/** @type {any} */ one) => one.path),
    ['changed-kv', 'moved'],
  );
  await root.remove('sys/mounts/changed-kv');
  await root.remove('sys/mounts/moved');
});

/** @param {string} path */
async function untilMoved(path) {
  for (let tries = 0; tries < 100; tries++) {
    const { data } = await root.read('sys/mounts');
    if (data?.[path] !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail('not moved');
}

/**
 * A proxy in front of Vault: cuts the connection of one call before or after it takes effect, or holds its response.
 *
 * @param {{at: number, when: 'before' | 'after' | 'held'}} fault `at`: number of the call, from 1
 */
async function startProxy(fault) {
  let calls = 0;
  const { promise: reached, resolve: reach } = deferred();
  const { promise: released, resolve: release } = deferred();
  const server = createServer((asked, answer) => {
    const isIt = ++calls === fault.at;
    if (isIt) reach();
    if (isIt && fault.when === 'before') return void asked.socket.destroy();
    const { method, url, headers } = asked;
    const forwarded = request(`${vault.url}${url}`, { method, headers }, async (response) => {
      if (isIt && fault.when === 'after') {
        response.resume();
        response.once('end', () => asked.socket.destroy());
        return;
      }
      if (isIt && fault.when === 'held') await released;
      answer.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(answer);
    });
    asked.pipe(forwarded);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
  const { port } = /** @type {AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    /** Resolves when the call arrives. */
    reached,
    release,
    get calls() {
      return calls;
    },
    close: () => new Promise((resolve) => server.close(() => resolve(null)).closeAllConnections()),
  };
}

test('teardown removes a marked mount with a ? in its name, not the mount before the ?', async () => {
  const description = 'made by vault-pki-load for a test; removed at its end';
  await root.write('sys/mounts/vault-pki-load-prod', { type: 'kv', description: 'of somebody' });
  await root.write('sys/mounts/vault-pki-load-prod?x', { type: 'kv', description });
  assertCode(await teardown());
  const { secrets } = lists();
  assert.ok('vault-pki-load-prod/' in secrets);
  assert.equal('vault-pki-load-prod?x/' in secrets, false);
  await root.remove('sys/mounts/vault-pki-load-prod');
});

test('whichever call is cut off, before or after it took effect: teardown leaves nothing, and a second setup completes it', async () => {
  const empty = lists();
  const plan = planSetup({ name: 'half', caKeyType: 'ec', autoRebuild: true, with: ENGINES });
  const counting = await startProxy({ at: 0, when: 'before' });
  const through = (/** @type {string} */ url) => createVaultClient({ url, token: vault.token });
  const client = through(counting.url);
  await setUp(client, plan, () => {});
  await client.close();
  await counting.close();
  const whole = contentOf(lists());
  assert.equal(await tearDown(root, 'half', () => {}), true);
  for (const when of /** @type {const} */ (['before', 'after'])) {
    for (let at = 1; at <= counting.calls; at++) {
      const proxy = await startProxy({ at, when });
      const failing = through(proxy.url);
      const failed = await setUp(failing, plan, () => {}).then(
        () => false,
        () => true,
      );
      await failing.close();
      await proxy.close();
      assert.ok(failed, `call ${at} is cut off`);
      // Every other time, remove it while incomplete.
      if (at % 2 === 0) {
        await setUp(root, plan, () => {});
        if (at % 10 === 0) assert.deepEqual(contentOf(lists()), whole, `completed after ${when} ${at}`);
        const { data } = await root.write('half-int/issue/example-dot-com-ec', {
          common_name: 'a.example.com',
        });
        assert.equal(typeof data?.serial_number, 'string');
      }
      assert.equal(await tearDown(root, 'half', () => {}), true, `${when} ${at}`);
      const there = (await root.read('sys/mounts')).data ?? {};
      assert.deepEqual(
        Object.keys(there).filter((path) => path.startsWith('half')),
        [],
        `${when} ${at}`,
      );
    }
  }
  assert.deepEqual(lists(), empty);
});

/** @param {ReturnType<typeof lists>} all without what is drawn anew each time */
function contentOf({ secrets, auth, policies, roles }) {
  const plain = (/** @type {Record<string, any>} */ mounts) =>
    Object.fromEntries(
      Object.entries(mounts).map(([path, { type, description, options }]) => [
        path,
        { type, description, options },
      ]),
    );
  return { secrets: plain(secrets), auth: plain(auth), policies, roles };
}

test('Ctrl-C in the middle: 130, reports the leftovers, and teardown removes them', async () => {
  const empty = lists();
  const proxy = await startProxy({ at: 12, when: 'held' });
  const child = startCli(['setup', '--name', 'cut', '--url', proxy.url, '--format', 'json', ...ALL], {
    env: { VAULT_TOKEN: vault.token },
  });
  await proxy.reached;
  child.kill('SIGINT');
  await child.shows(/Interrupted: ending after the current call/);
  proxy.release();
  const ended = await child.ended;
  await proxy.close();
  assertCode(ended, 130);
  assert.match(
    ended.stderr,
    /Interrupted\. The objects created so far remain\. .*teardown --name cut --url http:/,
  );
  const { created: made, error } = JSON.parse(ended.stdout);
  assert.equal(error.code, 'interrupted');
  assert.ok(made.length > 0);
  const there = (await root.read('sys/mounts')).data ?? {};
  for (const { kind, path } of made) if (kind === 'mount') assert.ok(`${path}/` in there, path);
  assertCode(await teardown('--name', 'cut'));
  assert.deepEqual(lists(), empty);
});

describe('tokens', () => {
  /** @param {string} name @param {string} policy @param {string} [ttl] */
  async function tokenOf(name, policy, ttl = '10m') {
    if (policy !== '') await root.write(`sys/policies/acl/${name}`, { policy });
    const { auth } = await root.write('auth/token/create', { policies: [name], ttl });
    return String(auth?.client_token);
  }

  test('with exactly the required capabilities can set up; with one less, setup reports it as missing', async () => {
    const plan = planSetup({ name: 'rights', caKeyType: 'ec', with: ENGINES });
    const grants = [...grantsToInspect('rights'), ...grantsToSetUp(plan)];
    /** @type {Map<string, Set<string>>} */
    const merged = new Map();
    for (const { path, capabilities: able } of grants)
      merged.set(path, new Set([...(merged.get(path) ?? []), ...able]));
    const hcl = (/** @type {string} */ without, /** @type {string} */ capability) =>
      [...merged]
        .map(([path, able]) => [path, [...able].filter((one) => path !== without || one !== capability)])
        .map(([path, able]) => `path "${path}" { capabilities = ${JSON.stringify(able)} }`)
        .join('\n');
    for (const [path, able] of merged) {
      for (const capability of able) {
        const token = await tokenOf('builder', hcl(path, capability));
        const client = createVaultClient({ url: vault.url, token });
        await assert.rejects(
          setUp(client, plan, () => assert.fail('nothing is made')),
          {
            code: 'missing_capabilities',
            message: `The token lacks capabilities that setup needs: ${capability} on ${path}.`,
          },
        );
        await client.close();
      }
    }
    const token = await tokenOf('builder', hcl('', ''));
    const made = await runCli(['setup', '--name', 'rights', '--ca-key-type', 'ec', ...ALL], {
      env: { ...env, VAULT_TOKEN: token },
    });
    assert.equal(made.code, 0, made.stderr);
    const refused = await runCli(['teardown', '--name', 'rights'], { env: { ...env, VAULT_TOKEN: token } });
    assert.equal(refused.code, 2);
    // In any order; the token has sudo.
    assert.match(refused.stderr, /lacks capabilities that .*\bdelete on sys\/mounts\/rights-root[,.]/);
    assert.match(refused.stderr, /lacks capabilities that .*, delete on sys\/auth\/rights-approle[,.]/);
    assertCode(await teardown('--name', 'rights'));
  });

  test('that may not read get a list of the missing ones; no token, and a wrong one', async () => {
    const token = await tokenOf('default', '');
    const ended = await runCli(['setup'], { env: { ...env, VAULT_TOKEN: token } });
    assert.equal(ended.code, 2);
    assert.match(
      ended.stderr,
      /lacks capabilities that \w+ needs: read on sys\/mounts, read on sys\/auth, read on sys\/policies\/acl\/vault-pki-load/,
    );
    const wrong = await runCli(['setup'], { env: { ...env, VAULT_TOKEN: 'hvs.wrong' } });
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /does not accept the token/);
    const none = await runCli(['teardown'], { env: { VAULT_ADDR: vault.url } });
    assert.equal(none.code, 1);
    assert.match(none.stderr, /There is no token/);
  });

  test("with the setup's policy can run every operation on it, and nothing else", async () => {
    assertCode(await setup('--name', 'run', '--ca-key-type', 'ec', ...ALL));
    const token = await tokenOf('run', '');
    const role = 'example-dot-com-ec';
    const mix = [
      { operation: 'issue', options: { role } },
      { operation: 'sign', options: { role, 'key-type': 'ec-256' } },
      { operation: 'sign-verbatim' },
      { operation: 'revoke', options: { role } },
      { operation: 'ocsp', options: { role } },
      { operation: 'crl' },
      { operation: 'ca-chain' },
      { operation: 'kv-write' },
      { operation: 'kv-read', options: { paths: 5 } },
      { operation: 'kv-write', name: 'kv-write-1', options: { 'kv-version': '1' } },
      { operation: 'kv-write', name: 'kv-write-given', options: { 'kv-mount': 'run-kv', paths: 5 } },
      { operation: 'kv-read', name: 'kv-read-given', options: { 'kv-mount': 'run-kv', paths: 5 } },
      { operation: 'transit' },
      { operation: 'transit', name: 'transit-verify', options: { action: 'verify', pool: 5 } },
      { operation: 'approle-login' },
      { operation: 'token-lookup' },
      { operation: 'health' },
    ];
    const file = join(vault.folder, 'all.json');
    writeFileSync(
      file,
      JSON.stringify({ name: 'all', target: { mount: 'run-int' }, load: { requests: 300 }, mix }),
    );
    const ended = await runCli(['run', file, '--quiet', '--format', 'json'], {
      env: { VAULT_ADDR: vault.url, VAULT_TOKEN: token },
    });
    assert.ok(ended.code === 0 || ended.code === 98, ended.stderr);
    const { operations } = JSON.parse(ended.stdout);
    for (const { operation, name = operation } of mix) {
      const { totals, outcomes } = operations[name];
      assert.ok(totals.succeeded > 0 && totals.failed === 0, `${name}: ${JSON.stringify(outcomes)}`);
    }

    const limited = createVaultClient({ url: vault.url, token });
    await limited.write('sys/auth/vault-pki-load-approle-trial', { type: 'approle' });
    /** @type {[string, Record<string, any>][]} */
    const refused = [
      ['auth/vault-pki-load-approle-trial/role/more', { token_policies: ['admin'] }],
      ['auth/vault-pki-load-approle-trial/role/more', { token_policies: ['default', 'admin'] }],
      ['auth/vault-pki-load-approle-trial/role/more', { token_policies: 'default,admin' }],
      ['auth/vault-pki-load-approle-trial/role/more', { policies: 'admin' }],
      ['sys/auth/vault-pki-load-approle-two', { type: 'userpass' }],
      ['sys/mounts/vault-pki-load-kv-two', { type: 'pki' }],
      ['sys/mounts/run-kv', { type: 'kv' }],
      ['run-root/root/sign-intermediate', { csr: 'x' }],
      ['run-int/root/sign-self-issued', { certificate: 'x' }],
      ['run-int/roles/more', { allow_any_name: true }],
      ['run-int/config/crl', { disable: true }],
      ['sys/policies/acl/run', { policy: '' }],
    ];
    for (const [path, data] of refused) {
      await assert.rejects(limited.write(path, data), { code: 'vault_permission_denied' }, path);
    }
    await assert.rejects(limited.remove('sys/mounts/run-int'), { code: 'vault_permission_denied' });
    await limited.remove('sys/auth/vault-pki-load-approle-trial');
    await limited.close();
    assertCode(await teardown('--name', 'run'));
  });

  test('with the policy in cerberus.md send its invalid traffic, and every request is refused as expected', async () => {
    const example = (/** @type {string} */ name) =>
      readFileSync(new URL(`../../examples/${name}`, import.meta.url), 'utf8');
    const [, policy] = /^```hcl\n([\s\S]*?)^```$/m.exec(example('cerberus.md')) ?? [];
    const { name, setup, target, runs } = parse(example('cerberus.yaml'));
    const { mix } = runs.find((/** @type {any} */ run) => run.name === 'invalid traffic');
    const empty = lists();
    const token = await tokenOf('cerberus', policy);
    const file = fileOf({ name, setup, target, load: { requests: 400 }, mix });
    const ended = await runCli(['run', file, '--quiet', '--format', 'json'], {
      env: { VAULT_ADDR: vault.url, VAULT_TOKEN: token },
    });
    assert.ok(ended.code === 0 || ended.code === 98, ended.stderr);
    assert.doesNotMatch(ended.stderr, /could not be removed/i);
    const { operations } = JSON.parse(ended.stdout);
    for (const { name } of mix) {
      const { totals, outcomes } = operations[name];
      assert.ok(totals.succeeded > 0 && totals.failed === 0, `${name}: ${JSON.stringify(outcomes)}`);
    }
    await root.remove('sys/policies/acl/cerberus');
    assert.deepEqual(lists(), empty);
  });

  test('of the AppRole method of the setup can issue, and are revoked with it', async () => {
    assertCode(await setup('--name', 'app', '--ca-key-type', 'ec', '--with', 'approle'));
    const { data: named } = await root.read('auth/app-approle/role/load/role-id');
    const { data: secret } = await root.write('auth/app-approle/role/load/secret-id');
    const { auth } = await root.write('auth/app-approle/login', {
      role_id: named?.role_id,
      secret_id: secret?.secret_id,
    });
    assert.deepEqual(auth?.policies, ['app', 'default']);
    const client = createVaultClient({ url: vault.url, token: auth?.client_token });
    await client.write('app-int/issue/example-dot-com-ec', { common_name: 'localhost' });
    assertCode(await teardown('--name', 'app'));
    await assert.rejects(client.read('auth/token/lookup-self'), { code: 'token_invalid' });
    await client.close();
  });
});

test('auto_rebuild, and working URLs', async () => {
  assertCode(await setup('--name', 'urls', '--auto-rebuild', '--ca-key-type', 'ec'));
  assert.equal((await root.read('urls-int/config/crl')).data?.auto_rebuild, true);
  const { data: urls } = await root.read('urls-int/config/urls');
  assert.deepEqual(urls?.ocsp_servers, [`${vault.url}/v1/urls-int/ocsp`]);
  for (const url of [urls?.issuing_certificates, urls?.crl_distribution_points].flat()) {
    assert.equal((await fetch(url)).status, 200, url);
  }
  assertCode(await teardown('--name', 'urls'));
});

/** @param {object} scenario @returns {string} its path */
function fileOf(scenario) {
  const file = join(vault.folder, 'scenario.json');
  writeFileSync(file, JSON.stringify(scenario));
  return file;
}

const EC = { load: { requests: 20 }, mix: [{ operation: 'issue', options: { role: 'example-dot-com-ec' } }] };

test('setup and scenarios keep unspecified settings of an existing setup', async () => {
  const isAuto = async () => (await root.read('kept-int/config/crl')).data?.auto_rebuild;
  assertCode(await setup('--name', 'kept', '--auto-rebuild', '--ca-key-type', 'ec'));
  assertCode(await setup('--name', 'kept', '--with', 'transit'));
  assert.equal(await isAuto(), true);
  const wanted = { name: 'kept', 'ca-key-type': 'ec', with: ['kv'] };
  const file = fileOf({ name: 's', setup: wanted, ...EC });
  const ended = await runCli(['run', file, '--quiet'], { env });
  assert.ok(ended.code === 0 || ended.code === 98, ended.stderr);
  assert.match(
    ended.stderr,
    /kept already existed at http:.*; the scenario does not remove it or its own additions\./,
  );
  assert.equal(await isAuto(), true);
  const whole = lists();
  const other = fileOf({ name: 's', setup: { ...wanted, 'auto-rebuild': false }, ...EC });
  const refused = await runCli(['run', other, '--quiet'], { env });
  assertCode(refused, 1);
  assert.match(refused.stderr, /kept-int already exists and rebuilds its CRLs periodically/);
  assert.deepEqual([await isAuto(), lists()], [true, whole]);
  assertCode(await setup('--name', 'kept', '--ca-key-type', 'ec', '--auto-rebuild=false'));
  assert.equal(await isAuto(), false);
  assertCode(await teardown('--name', 'kept'));
});

test('two addresses of one Vault share one setup in a scenario, which is removed', async () => {
  const empty = lists();
  const proxy = await startProxy({ at: 0, when: 'before' });
  const targets = [
    { name: 'a', url: vault.url },
    { name: 'b', url: proxy.url },
  ];
  const file = fileOf({ name: 's', setup: { name: 'twice', 'ca-key-type': 'ec' }, targets, ...EC });
  const ended = await runCli(['run', file, '--quiet'], { env });
  await proxy.close();
  assert.ok(ended.code === 0 || ended.code === 98, ended.stderr);
  assert.ok(proxy.calls > 0);
  assert.doesNotMatch(ended.stderr, /already existed at/);
  assert.deepEqual(lists(), empty);
});

test('Vault Community Edition has no namespaces: it would ignore the name', async () => {
  const ended = await setup('--namespace', 'team');
  assertCode(ended, 2);
  assert.equal(ended.stdout, '');
  assert.match(ended.stderr, /is Vault Community Edition, which has no namespaces/);
  assertCode(await teardown('--namespace', 'team'), 2);
});
