/** `propagation` on real Vaults: one node with and without auto_rebuild, two nodes of a raft cluster. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { checkPropagation, validatePropagation } from '../../src/result/propagation/propagation-schema.js';
import { runCli } from '../cli/support.js';
import { setUpPki } from './pki.js';
import { startRaftCluster } from './raft.js';
import { startVault } from './start.js';

/** @import { Propagation } from '../../src/result/propagation/propagation-schema.js' */
/** @import { VaultClient } from '../../src/vault/client.js' */
/** @import { RaftCluster } from './raft.js' */
/** @import { RunningVault } from './start.js' */

const CERTIFICATES = 10;

/** @param {string[]} args @param {{url: string, token: string}} target @returns {Promise<Propagation>} */
async function measure(args, { url, token }) {
  const quick = [
    'propagation',
    '--role',
    'ec-stored',
    '--certificates',
    String(CERTIFICATES),
    '--pause',
    '0',
    '--ttl',
    '1h',
  ];
  const { code, stdout, stderr } = await runCli([...quick, '--quiet', '--format', 'json', ...args], {
    env: { VAULT_ADDR: url, VAULT_TOKEN: token },
  });
  assert.ok(stdout !== '', stderr);
  assert.ok(!(stdout + stderr).includes(token), 'the token is shown');
  const found = validatePropagation(JSON.parse(stdout));
  assert.deepEqual([...checkPropagation(found)], []);
  // Vault and its tests share few cores: lateness of the tool is not a failure.
  const isLate = found.measurement.reasons.some((reason) => reason.code === 'poll_lag');
  assert.ok(code === 0 || (isLate && code === 98), `${code}: ${stderr}${stdout.slice(0, 2000)}`);
  return found;
}

/** @param {Propagation} found */
function assertAllSeen({ certificates, everywhere, nodes, rows }) {
  assert.deepEqual(certificates.outcomes, { revoked: CERTIFICATES });
  assert.equal(everywhere.revoked, CERTIFICATES);
  for (const { outcomes, answers } of nodes) {
    assert.deepEqual(outcomes, { revoked: CERTIFICATES });
    assert.deepEqual(Object.keys(answers).sort(), ['good', 'revoked'], 'every response passed every check');
    // Each was reported good at least once before, and revoked at least once after.
    assert.ok(answers.good >= CERTIFICATES && answers.revoked >= CERTIFICATES);
  }
  for (const { revokeMs, nodes: own } of rows) {
    for (const { interval } of own) {
      assert.ok(interval !== null && interval.upperMs > 0);
      assert.ok(
        interval.lowerMs <= Number(revokeMs),
        'good, although requested after the response to the revocation',
      );
    }
  }
}

describe('one node', () => {
  /** @type {RunningVault} */
  let vault;
  /** @type {VaultClient} */
  let root;
  before(async () => {
    vault = await startVault({ storage: 'raft' });
    root = vault.connect();
    await setUpPki(root, { caKeyType: 'ec' });
  });
  after(async () => {
    await root.close();
    await vault.stop();
  });

  test('without auto_rebuild: every query after the response to the revocation returns revoked', async () => {
    const found = await measure(['--require', 'max<30s'], vault);
    assertAllSeen(found);
    assert.equal(found.crl.autoRebuild, false);
    assert.deepEqual(
      found.nodes.map(({ state }) => state),
      ['active'],
    );
    assert.equal(
      (await root.list('pki_int/certs/revoked')).length,
      CERTIFICATES + 1,
      'one of them to warm up',
    );
  });

  test('with auto_rebuild: the same, as OCSP does not wait for the CRL', async () => {
    await root.write('pki_int/config/crl', { auto_rebuild: true });
    const found = await measure(['--require', 'max<30s'], vault);
    assertAllSeen(found);
    assert.equal(found.crl.autoRebuild, true);
    assert.ok(found.notes.some((note) => /auto_rebuild is on in pki_int/.test(note)));
  });

  test('rejects a mount without OCSP before issuing', async () => {
    await root.write('pki_int/config/crl', { ocsp_disable: true });
    const before = (await root.list('pki_int/certs')).length;
    const { code, stderr } = await runCli(['propagation', '--role', 'ec-stored'], {
      env: { VAULT_ADDR: vault.url, VAULT_TOKEN: vault.token },
    });
    await root.write('pki_int/config/crl', { ocsp_disable: false });
    assert.equal(code, 2);
    assert.match(stderr, /serves no OCSP requests \(ocsp_disable in its config\/crl\)\. Enable it with/);
    assert.equal((await root.list('pki_int/certs')).length, before);
  });

  /** @param {string[]} paths that it may write to @param {Record<string, unknown>} [options] @returns {Promise<string>} */
  async function tokenFor(paths, options = {}) {
    await root.write('sys/policies/acl/writer', {
      policy: paths.map((path) => `path "${path}" { capabilities = ["update"] }`).join('\n'),
    });
    const { auth } = await root.write('auth/token/create', { policies: ['writer'], ttl: '10m', ...options });
    return String(auth?.client_token);
  }

  test('a token that may issue and revoke, but not see config/crl, is enough', async () => {
    const token = await tokenFor(['pki_int/issue/ec-stored', 'pki_int/revoke']);
    const found = await measure([], { url: vault.url, token });
    assertAllSeen(found);
    assert.equal(found.crl.autoRebuild, null);
  });

  /** @type {[string, Record<string, unknown>, number, RegExp][]} sentence, options of the token, certificates, what is said */
  const refused = [
    ['before anything is issued', {}, 0, /may not write to pki_int\/revoke\. Use a token/],
    [
      'without the default policy after one certificate',
      { no_default_policy: true },
      1,
      /may not write to pki_int\/revoke\. The certificate issued for the check stays valid until it expires\./,
    ],
  ];
  for (const [when, options, issued, said] of refused) {
    test(`rejects a token that may issue, but not revoke: ${when}`, async () => {
      const token = await tokenFor(['pki_int/issue/ec-stored'], options);
      const before = (await root.list('pki_int/certs')).length;
      const { code, stderr } = await runCli(['propagation', '--role', 'ec-stored'], {
        env: { VAULT_ADDR: vault.url, VAULT_TOKEN: token },
      });
      assert.equal(code, 2, stderr);
      assert.match(stderr, said);
      assert.equal((await root.list('pki_int/certs')).length, before + issued);
    });
  }
});

describe('two nodes of a raft cluster', () => {
  /** @type {RaftCluster} */
  let cluster;
  /** @type {VaultClient} */
  let root;
  const folder = mkdtemp(join(tmpdir(), 'vault-pki-load-propagation-'));
  before(async () => {
    cluster = await startRaftCluster({ nodes: 2 });
    root = cluster.connect();
    await setUpPki(root, { caKeyType: 'ec' });
  });
  after(async () => {
    await root.close();
    await cluster.stop();
    rmSync(await folder, { recursive: true });
  });

  for (const autoRebuild of [false, true]) {
    test(`${autoRebuild ? 'with' : 'without'} auto_rebuild: both report good, then revoked`, async () => {
      await root.write('pki_int/config/crl', { auto_rebuild: autoRebuild });
      const nodes = cluster.urls.flatMap((url) => ['--node', url]);
      const found = await measure(nodes, { url: cluster.urls[0], token: cluster.token });
      assertAllSeen(found);
      assert.equal(found.crl.autoRebuild, autoRebuild);
      assert.deepEqual(
        found.nodes.map(({ url, state }) => [url, state]),
        [
          [cluster.urls[0], 'active'],
          [cluster.urls[1], 'standby'],
        ],
      );
    });
  }

  test("a standby forwards OCSP requests: they are in the active node's audit log", async () => {
    const file = join(await folder, 'audit.log');
    await root.write('sys/audit/file', { type: 'file', options: { file_path: file } });
    const mark = statSync(file).size;
    const found = await measure(['--node', cluster.urls[1]], { url: cluster.urls[0], token: cluster.token });
    const asked = readFileSync(file, 'utf8')
      .slice(mark)
      .split('\n')
      .filter((line) => line.includes('"pki_int/ocsp"') && JSON.parse(line).type === 'response');
    await root.remove('sys/audit/file');
    const { looks, polls } = found.nodes[0].asked;
    // The warm-up certificate.
    assert.ok(asked.length > looks + polls, `${asked.length} of ${looks} and ${polls}`);
  });

  test('issues certificates only on the active node', async () => {
    const { code, stderr } = await runCli(['propagation', '--role', 'ec-stored'], {
      env: { VAULT_ADDR: cluster.urls[1], VAULT_TOKEN: cluster.token },
    });
    assert.equal(code, 2);
    assert.match(stderr, /is a standby node/);
  });
});
