/** `issue` on a real Vault, through the command line. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openAudit } from './audit.js';
import { assertRan, runCommand, runToResult } from './command.js';
import { setUpPki } from './pki.js';
import { startVault } from './start.js';

/** @import { VaultClient } from '../../src/vault/client.js' */
/** @import { RunningVault } from './start.js' */

/** @type {RunningVault} */
let vault;
/** @type {VaultClient} */
let root;
/** @type {Awaited<ReturnType<typeof openAudit>>} */
let audit;
/** @type {Record<string, string>} */
let env;
const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-issue-'));

before(async () => {
  vault = await startVault();
  root = vault.connect();
  await setUpPki(root);
  audit = await openAudit(vault, root);
  env = { VAULT_ADDR: vault.url, VAULT_TOKEN: vault.token };
});
after(async () => {
  await root.close();
  await vault.stop();
  rmSync(folder, { recursive: true });
});

/** @param {object} options @returns {Promise<string>} a token */
const createToken = async (options) => (await root.write('auth/token/create', options)).auth?.client_token;

/** @param {string} path @returns {{serial: string, certificate: string}[]} */
const readKept = (path) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('the flags of the two-script tool: the number of certificates equals that in Vault', async () => {
  const mark = audit.mark();
  const flags = ['--mount', 'pki_int', '--role', 'example-dot-com', '--cn', 'localhost'];
  const load = ['--duration', '20', '--concurrency', '10', '--timeout_ms', '5000'];
  const run = await runToResult(['issue', '--url', vault.url, ...flags, ...load], {
    VAULT_TOKEN: vault.token,
  });
  assertRan(run);
  const { totals, outcomes, verification, load: how, plan } = run.result;
  assert.ok(totals.sent > 20);
  assert.deepEqual(outcomes, { issued: totals.sent });
  assert.deepEqual([verification.checked, verification.passed], [totals.sent, totals.sent]);
  assert.deepEqual([how.model, how.durationMs, how.timeoutMs], ['closed', 20_000, 5000]);
  assert.equal(Object(plan).target.mount, 'pki_int');
  assert.equal(audit.since(mark, 'pki_int/issue').length, totals.sent);
});

test('--rate 20 for 4 s: 80 requests, no more and no fewer', async () => {
  const mark = audit.mark();
  const run = await runToResult(['issue', '--role', 'ec-no-store', '--rate', '20', '--duration', '4'], env);
  assertRan(run);
  assert.deepEqual(
    [run.result.totals.planned, run.result.totals.sent, run.result.totals.succeeded],
    [80, 80, 80],
  );
  assert.equal(audit.since(mark, 'pki_int/issue/ec-no-store').length, 80);
});

describe('requirements', () => {
  const closed = ['issue', '--role', 'ec-no-store', '--duration', '5'];

  test('rate>=1000/h: met, exit code 0', async () => {
    const { code, stdout, result } = await runToResult([...closed, '--require', 'rate>=1000/h'], env);
    assert.deepEqual([code, result.requirements[0].verdict], [0, 'met']);
    assert.match(stdout, /^ {2}met +rate>=1000\/h /m);
  });

  test('rate>=1000000000/h: not met, exit code 99, with the margin', async () => {
    const { code, stdout, result } = await runToResult([...closed, '--require', 'rate>=1000000000/h'], env);
    assert.deepEqual([code, result.requirements[0].verdict], [99, 'not met']);
    const short = Math.round(1e9 - result.rates.perHour).toLocaleString('en');
    const said = stdout.replace(/\s+/g, ' ');
    assert.match(said, new RegExp(`${short}/h \\(>?99[^%]*%\\) below the limit of 1,000,000,000/h`));
  });

  test('p99<50ms on 20 samples: not proven, exit code 99', async () => {
    const args = ['issue', '--role', 'ec-no-store', '--requests', '20', '--concurrency', '1'];
    const { code, stdout, result } = await runToResult([...args, '--require', 'p99<50ms'], env);
    assert.equal(result.totals.sent, 20);
    assert.deepEqual([code, result.requirements[0].verdict], [99, 'not proven']);
    assert.match(stdout, /^ {2}not proven +p99<50ms /m);
  });
});

describe('--sign', () => {
  for (const keyType of ['rsa-2048', 'ec-256', 'ed25519']) {
    test(`${keyType}: Vault signs our CSRs`, async () => {
      const keep = join(folder, `${keyType}.jsonl`);
      const names = ['--cn', 'host-{n}.example.com', '--pool', '10', '--requests', '20'];
      const run = await runToResult(
        ['issue', '--sign', '--key-type', keyType, '--role', 'any', ...names, '--keep', keep],
        env,
      );
      assertRan(run);
      assert.deepEqual(run.result.outcomes, { issued: 20 });
      const kinds = readKept(keep).map(
        ({ certificate }) => new X509Certificate(certificate).publicKey.asymmetricKeyType,
      );
      assert.deepEqual(new Set(kinds), new Set([keyType.split('-')[0]]));
    });
  }

  test('a key that the role does not allow: reported before sending', async () => {
    const mark = audit.mark();
    const args = ['issue', '--sign', '--key-type', 'ed25519', '--role', 'ec-no-store', '--requests', '5'];
    const { code, stderr } = await runCommand(args, env);
    assert.equal(code, 2);
    assert.match(stderr, /ec-no-store/);
    assert.equal(audit.since(mark, 'pki_int/sign').length, 0);
  });
});

describe('each name that Vault puts in a certificate passes, and no other', () => {
  /** Settings of roles that determine the names. @type {Record<string, object>} */
  const roles = {
    any: {},
    'no-csr-names': { use_csr_sans: false, use_csr_common_name: false },
    'no-cn': { require_cn: false, cn_validations: 'disabled', server_flag: false },
  };
  const NAMES = [
    ['host.example.com'],
    ['HOST.Example.com'],
    ['*.example.com'],
    ['10.0.0.1', '--ip-sans', '10.0.0.1'],
    ['me@example.com', '--alt-names', 'a.example.com,you@example.com'],
    ['bücher.example.com', '--alt-names', 'zwölf.example.com'],
    ['host_1'],
    ['host^1.example.com', '--alt-names', 'b.example.com'],
  ];
  before(async () => {
    for (const [name, role] of Object.entries(roles))
      await root.write(`pki_int/roles/names-${name}`, {
        ...{ allow_any_name: true, enforce_hostnames: false, key_type: 'ec', no_store: true },
        ...role,
      });
  });

  for (const [cn, ...more] of NAMES) {
    test(`${cn} ${more.join(' ')}`, async () => {
      for (const role of Object.keys(roles))
        for (const sign of [[], ['--sign', '--pool', '2']]) {
          const flags = ['--role', `names-${role}`, ...sign, '--cn', cn, ...more];
          const load = ['--requests', '3', '--cold-start'];
          const { result } = await runToResult(['issue', ...flags, ...load], env);
          assert.deepEqual(result.outcomes, { issued: 3 }, `${flags}`);
        }
      if (more[0] === '--ip-sans') return;
      const verbatim = ['sign-verbatim', '--pool', '2', '--requests', '3', '--cold-start', '--cn', cn];
      assert.deepEqual((await runToResult([...verbatim, ...more], env)).result.outcomes, { issued: 3 });
    });
  }
});

test('names, addresses and lifetime are as requested; --keep has every serial once', async () => {
  const keep = join(folder, 'names.jsonl');
  const run = await runToResult(
    [
      ...['issue', '--requests', '15', '--cn', 'host-{n}.example.com', '--ttl', '2h', '--keep', keep],
      ...['--alt-names', 'a-{random}.example.com,b.example.com', '--ip-sans', '10.1.2.3', '--seed', '7'],
      ...['--role', 'ec-stored'],
    ],
    env,
  );
  assertRan(run);
  const kept = readKept(keep);
  assert.equal(new Set(kept.map(({ serial }) => serial)).size, 15);
  const random = new Set();
  const numbers = kept.map(({ certificate }) => {
    const { subject, subjectAltName, validFrom, validTo } = new X509Certificate(certificate);
    const hours = (Date.parse(validTo) - Date.parse(validFrom)) / 3_600_000;
    assert.ok(hours >= 2 && hours < 2.1, `${hours} h`);
    const names = subjectAltName?.split(', ') ?? [];
    assert.ok(names.includes('DNS:b.example.com') && names.includes('IP Address:10.1.2.3'), subjectAltName);
    random.add(names.find((name) => /^DNS:a-[0-9a-f]{12}\.example\.com$/.test(name)));
    return Number(/^CN=host-(\d+)\.example\.com$/.exec(subject)?.[1]);
  });
  assert.deepEqual(
    numbers.sort((a, b) => a - b),
    Array.from({ length: 15 }, (_, i) => i),
  );
  assert.equal(random.size, 15);
  assert.ok(!random.has(undefined));
});

describe('tokens', () => {
  before(async () => {
    await root.write('sys/policies/acl/issuer', {
      policy: 'path "pki_int/issue/ec-no-store" { capabilities = ["update"] }',
    });
  });
  const issue = (/** @type {string[]} */ ...load) => ['issue', '--role', 'ec-no-store', ...load];
  const withToken = (/** @type {string} */ token) => ({ ...env, VAULT_TOKEN: token });

  test('one that may only issue is sufficient', async () => {
    const token = await createToken({ policies: ['issuer'], no_default_policy: true, ttl: '10m' });
    const run = await runToResult(issue('--requests', '20'), withToken(token));
    assertRan(run);
    assert.deepEqual(run.result.outcomes, { issued: 20 });
    assert.match(run.stderr.replace(/\s+/g, ' '), /may not look itself up/);
  });

  test('one that will expire before the end is rejected, if this is known', async () => {
    const token = await createToken({ policies: ['issuer'], ttl: '5s', renewable: false });
    const mark = audit.mark();
    const { code, stderr } = await runCommand(issue('--duration', '20'), withToken(token));
    assert.equal(code, 2);
    assert.match(stderr, /The token expires in/);
    assert.equal(audit.since(mark, 'pki_int/issue').length, 0);
  });

  test('one that expires unexpectedly: permission_denied from then on', async () => {
    const token = await createToken({ policies: ['issuer'], no_default_policy: true, ttl: '6s' });
    const run = await runToResult(issue('--rate', '20', '--duration', '8'), withToken(token));
    assertRan(run);
    const { outcomes, totals } = run.result;
    assert.equal(totals.sent, 160);
    assert.ok(outcomes.issued > 0 && outcomes.permission_denied > 0, JSON.stringify(outcomes));
    assert.equal(outcomes.issued + outcomes.permission_denied, 160);
  });

  test('a renewable one is renewed during the run', async () => {
    const token = await createToken({ policies: ['issuer'], ttl: '6s' });
    const mark = audit.mark();
    const run = await runToResult(issue('--rate', '20', '--duration', '9'), withToken(token));
    assertRan(run);
    assert.deepEqual(run.result.outcomes, { issued: 180 });
    assert.ok(audit.since(mark, 'auth/token/renew-self').length > 0);
  });
});

test('a rate limit quota: refused requests are rate_limited', async () => {
  await root.write('sys/quotas/rate-limit/test', { path: 'pki_int', rate: 20 });
  const run = await runToResult(['issue', '--role', 'ec-no-store', '--duration', '4'], env).finally(() =>
    root.remove('sys/quotas/rate-limit/test'),
  );
  assertRan(run);
  const { issued, rate_limited: limited } = run.result.outcomes;
  assert.ok(issued > 0 && limited > 0, JSON.stringify(run.result.outcomes));
  assert.equal(issued + limited, run.result.totals.sent);
  assert.equal(run.result.totals.failed, limited);
});
