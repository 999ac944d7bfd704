/** `ocsp` on a real Vault with an RSA CA and on one with an EC CA, through the command line. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openAudit } from './audit.js';
import { assertRan, runCommand, runToResult } from './command.js';
import { setUpPki } from './pki.js';
import { startVault } from './start.js';

/** @typedef {Awaited<ReturnType<typeof startPki>>} Pki */

const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-ocsp-'));
const CA_KEY_TYPES = /** @type {const} */ (['rsa', 'ec']);
/** @type {Record<'rsa' | 'ec', Pki>} */
let pkis;

before(async () => {
  const [rsa, ec] = await Promise.all(CA_KEY_TYPES.map(startPki));
  pkis = { rsa, ec };
});
after(async () => {
  for (const { root, vault } of Object.values(pkis)) {
    await root.close();
    await vault.stop();
  }
  rmSync(folder, { recursive: true });
});

/** @param {'rsa' | 'ec'} caKeyType */
async function startPki(caKeyType) {
  const vault = await startVault();
  const root = vault.connect();
  const { intermediate } = await setUpPki(root, { caKeyType });
  const audit = await openAudit(vault, root);
  const { data } = await root.write('pki_int/issue/ec-stored', { common_name: 'localhost' });
  const cert = join(folder, `${caKeyType}-leaf.pem`);
  const issuer = join(folder, `${caKeyType}-issuer.pem`);
  writeFileSync(cert, data?.certificate);
  writeFileSync(issuer, intermediate);
  return { caKeyType, vault, root, audit, cert, issuer, env: { VAULT_ADDR: vault.url } };
}

test('the flags of the two-script tool: --rate 20 --duration 20 sends exactly 400 requests', async () => {
  await Promise.all(
    Object.values(pkis).map(async ({ vault, audit, cert, issuer }) => {
      const mark = audit.mark();
      const what = ['--vault', vault.url, '--mount', 'pki_int', '--cert', cert, '--issuer', issuer];
      const load = ['--duration', '20', '--concurrency', '10', '--rate', '20', '--timeout_ms', '5000'];
      const run = await runToResult(['ocsp', ...what, ...load]);
      assertRan(run);
      assert.deepEqual(run.result.outcomes, { good: 400 });
      const { planned, sent, dropped, neverSent } = run.result.totals;
      assert.deepEqual(
        { planned, sent, dropped, neverSent },
        { planned: 400, sent: 400, dropped: 0, neverSent: 0 },
      );
      const { checked, passed, sampled } = run.result.verification;
      assert.deepEqual({ checked, passed, sampled }, { checked: 400, passed: 400, sampled: false });
      assert.equal(audit.since(mark, 'pki_int/ocsp').length, 400);
    }),
  );
});

for (const caKeyType of CA_KEY_TYPES) {
  describe(`${caKeyType} CA`, () => {
    /** @type {Pki} */
    let pki;
    before(() => {
      pki = pkis[caKeyType];
    });
    /** @param {...string} args about the one certificate */
    const ask = (...args) =>
      runToResult(
        ['ocsp', '--cold-start', '--cert', pki.cert, '--issuer', pki.issuer, '--requests', '40', ...args],
        pki.env,
      );

    /** @type {[string, string[], string[]][]} what, flags, operations that Vault sees */
    const ways = [
      ['POST, SHA-1', [], ['update']],
      ['POST, SHA-256', ['--hash', 'sha256'], ['update']],
      ['GET, SHA-1', ['--method', 'get'], ['read']],
      ['GET, SHA-256', ['--method', 'get', '--hash', 'sha256'], ['read']],
      ['auto: GET if the URL is short enough', ['--method', 'auto'], ['read']],
      [
        'auto: POST if a nonce makes the URL too long',
        ['--method', 'auto', '--nonce', '--hash', 'sha256'],
        ['update'],
      ],
      ['a nonce, which Vault does not echo', ['--nonce'], ['update']],
      ['a responder named by --ocsp-url', ['--ocsp-url', 'OCSP'], ['update']],
      ['the responder that the certificate names', ['--from-aia', '--url', 'http://127.0.0.1:1'], ['update']],
      ['two threads', ['--threads', '2'], ['update']],
    ];
    for (const [what, flags, operations] of ways) {
      test(what, async () => {
        const mark = pki.audit.mark();
        const run = await ask(
          ...flags.map((flag) => (flag === 'OCSP' ? `${pki.vault.url}/v1/pki_int/ocsp` : flag)),
        );
        assertRan(run);
        assert.deepEqual(run.result.outcomes, { good: 40 });
        assert.equal(run.result.verification.passed, 40);
        const asked = pki.audit.since(mark, 'pki_int/ocsp');
        // An unknown responder gets one request before the run.
        const before = flags.some((flag) => flag === '--ocsp-url' || flag === '--from-aia') ? 1 : 0;
        assert.equal(asked.length, 40 + before);
        assert.deepEqual([...new Set(asked.map(({ operation }) => operation))], operations);
      });
    }

    test('no certificate given: issues one to query', async () => {
      const env = { ...pki.env, VAULT_TOKEN: pki.vault.token };
      const run = await runToResult(['ocsp', '--requests', '20', '--role', 'ec-stored'], env);
      assertRan(run);
      assert.deepEqual(run.result.outcomes, { good: 20 });
      assert.match(run.stderr, /Issuing certificates with role/);
    });

    test("another CA's certificate: cert_id_mismatch", async () => {
      const other = pkis[caKeyType === 'rsa' ? 'ec' : 'rsa'];
      const args = ['ocsp', '--cert', other.cert, '--issuer', other.issuer, '--requests', '20'];
      const run = await runToResult(args, pki.env);
      assertRan(run);
      assert.deepEqual(run.result.outcomes, { cert_id_mismatch: 20 });
      assert.deepEqual(run.result.verification.failures, { cert_id_mismatch: 20 });
    });

    test('a wrong issuer is reported before sending', async () => {
      const other = pkis[caKeyType === 'rsa' ? 'ec' : 'rsa'];
      const args = ['ocsp', '--cert', pki.cert, '--issuer', other.issuer, '--requests', '20'];
      const { code, stderr, result } = await runCommand(args, pki.env);
      assert.deepEqual([code, result], [1, null]);
      assert.match(stderr, /issue/);
    });

    test('issue --keep, revoke some, ocsp --serials', () => keepRevokeAsk(pki));
  });
}

/** @param {Pki} pki */
async function keepRevokeAsk({ caKeyType, vault, root, env, issuer }) {
  const file = (/** @type {string} */ name) => join(folder, `${caKeyType}-${name}.jsonl`);
  const kept = await runToResult(
    ['issue', '--role', 'ec-stored', '--requests', '30', '--keep', file('all')],
    { ...env, VAULT_TOKEN: vault.token },
  );
  assertRan(kept);
  const lines = readFileSync(file('all'), 'utf8').trimEnd().split('\n');
  assert.equal(lines.length, 30);
  for (const line of lines.slice(0, 10)) {
    await root.write('pki_int/revoke', { serial_number: JSON.parse(line).serial });
  }
  writeFileSync(file('revoked'), `${lines.slice(0, 10).join('\n')}\n`);
  writeFileSync(
    file('good'),
    lines
      .slice(10)
      .map((line) => `${JSON.parse(line).serial}\n`)
      .join(''),
  );

  /** @type {[string, string[], Record<string, number>][]} file, flags, outcomes of 60 requests */
  const rows = [
    ['revoked', ['--expect', 'revoked'], { revoked: 60 }],
    ['good', ['--issuer', issuer], { good: 60 }],
    ['all', ['--hash', 'sha256'], { good: 40, status_revoked: 20 }],
    ['all', ['--expect', 'revoked', '--threads', '2'], { status_good: 40, revoked: 20 }],
  ];
  for (const [name, flags, outcomes] of rows) {
    const load = ['--cold-start', '--requests', '60'];
    const run = await runToResult(['ocsp', '--serials', file(name), ...load, ...flags], env);
    assertRan(run);
    assert.deepEqual(run.result.outcomes, outcomes, `${name} ${flags}`);
  }
}
