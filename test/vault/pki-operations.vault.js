/** `sign`, `sign-verbatim`, `revoke`, `crl`, `ca-chain` and `ocsp --about` on a real Vault. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseCrl } from '../../src/pki/crl.js';
import { serialHex } from '../../src/pki/text.js';
import { openAudit } from './audit.js';
import { assertRan, runToResult } from './command.js';
import { runHere, runHereToResult } from './in-process.js';
import { setUpPki } from './pki.js';
import { startVault } from './start.js';

const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-operations-'));
const ABOUT = 'good=4,revoked=2,never-issued=2,wrong-issuer=2';

for (const caKeyType of /** @type {const} */ (['rsa', 'ec'])) {
  describe(`${caKeyType} CA`, () => {
    /** @type {Awaited<ReturnType<typeof startVault>>} */
    let vault;
    /** @type {ReturnType<typeof vault.connect>} */
    let root;
    /** @type {Awaited<ReturnType<typeof openAudit>>} */
    let audit;
    /** @type {{open: Record<string, string>, token: Record<string, string>}} */
    let env;
    before(async () => {
      vault = await startVault();
      root = vault.connect();
      await setUpPki(root, { caKeyType });
      audit = await openAudit(vault, root);
      env = { open: { VAULT_ADDR: vault.url }, token: { VAULT_ADDR: vault.url, VAULT_TOKEN: vault.token } };
    });
    after(async () => {
      await root.close();
      await vault.stop();
      if (caKeyType === 'ec') rmSync(folder, { recursive: true });
    });

    /** Tests that do not depend on the CA's key run with one CA. */
    const ofEither = caKeyType === 'rsa' ? test : test.skip;

    /**
     * The rest goes through the command line once: `issue` does in tests of its own, and `sign` and `ca-chain` have no flags that others
     * lack.
     *
     * @type {Set<string>}
     */
    const typed = new Set(['issue', 'sign', 'ca-chain', ...(caKeyType === 'rsa' ? [] : ['ocsp', 'crl'])]);
    /** @param {string[]} args @param {Record<string, string>} [as] */
    const measure = async (args, as = env.token) => {
      const runs = typed.has(args[0]) ? runHereToResult : runToResult;
      typed.add(args[0]);
      const run = await runs([...args, '--concurrency', '2'], as);
      assertRan(run);
      return run;
    };
    const revokedOnCrl = async () => {
      const response = await fetch(`${vault.url}/v1/pki_int/crl`);
      /** @type {string[]} */
      const serials = [];
      parseCrl(new Uint8Array(await response.arrayBuffer()), (serial) => serials.push(serialHex(serial)));
      return new Set(serials);
    };

    ofEither('sign, with a role; sign-verbatim, with any name', async () => {
      const pool = ['--pool', '5', '--requests', '30', '--key-type', 'ec-256'];
      const signed = await measure(['sign', '--role', 'ec-stored', '--cn', 'host-{n}.example.com', ...pool]);
      const keep = join(folder, `${caKeyType}-verbatim.jsonl`);
      const names = ['--cn', 'any name at all {n}', '--alt-names', 'alt-{n}.not.allowed', '--keep', keep];
      const verbatim = await measure(['sign-verbatim', ...names, ...pool]);
      for (const { result } of [signed, verbatim]) {
        assert.deepEqual(result.outcomes, { issued: 30 });
        assert.equal(result.verification.passed, 30);
      }
      assert.match(verbatim.stderr, /about 30 certificates in Vault's storage/);
      assert.match(verbatim.stderr, /sign-verbatim uses no role/);
      const kept = readFileSync(keep, 'utf8').trim().split('\n');
      assert.equal(new Set(kept.map((line) => JSON.parse(line).serial)).size, 30);
    });

    ofEither(
      'revoke: what the run issued, once each, by two parts of a plan; all of it is on the CRL',
      async () => {
        const before = await revokedOnCrl();
        const mark = audit.mark();
        const plan = ['revoke', '--role', 'ec-stored', '--requests', '31', '--seed', '3'];
        const runs = [await measure([...plan, '--shard', '0/2']), await measure([...plan, '--shard', '1/2'])];
        assert.deepEqual(
          runs.map(({ result }) => result.outcomes),
          [{ revoked: 16 }, { revoked: 15 }],
        );
        assert.match(runs[0].stderr, /Issuing 16 certificates with role ec-stored to revoke/);
        assert.equal(audit.since(mark, 'pki_int/issue/ec-stored').length, 31);
        assert.equal(audit.since(mark, 'pki_int/revoke').length, 31);
        assert.equal((await revokedOnCrl()).size - before.size, 31);
        const again = await measure(['revoke', '--role', 'ec-stored', '--requests', '20', '--pool', '12']);
        assert.deepEqual(again.result.outcomes, { revoked: 12, revoked_again: 8 });
        assert.equal((await revokedOnCrl()).size - before.size, 43);
      },
    );

    ofEither(
      'revoke: a token that may issue but not revoke is rejected before anything is issued',
      async () => {
        const policy = 'path "pki_int/issue/*" { capabilities = ["update"] }';
        await root.write('sys/policies/acl/issue-only', { policy });
        const { auth } = /** @type {any} */ (
          await root.write('auth/token/create', { policies: ['issue-only'], ttl: '10m' })
        );
        const mark = audit.mark();
        const as = { ...env.open, VAULT_TOKEN: auth.client_token };
        for (const args of [['revoke'], ['ocsp', '--about', 'revoked=1']]) {
          const { code, stderr } = await runHere([...args, '--role', 'ec-stored', '--requests', '3'], as);
          assert.equal(code, 2, stderr);
          assert.match(stderr, /may not write to pki_int\/revoke/);
        }
        assert.equal(audit.since(mark, 'pki_int/issue/ec-stored').length, 0);
      },
    );

    test('crl and ca-chain without a token, of the intermediate and of the root', async () => {
      for (const mount of ['pki_int', 'pki']) {
        const crl = await measure(['crl', '--mount', mount, '--requests', '30', '--threads', '2'], env.open);
        assert.deepEqual(crl.result.outcomes, { crl: 30 });
        const entries = mount === 'pki' ? 0 : (await revokedOnCrl()).size;
        assert.match(String(crl.result.verification.notes), new RegExp(`bytes and ${entries} entries`));
        const chain = await measure(['ca-chain', '--mount', mount, '--requests', '30'], env.open);
        assert.deepEqual(chain.result.outcomes, { chain: 30 });
        assert.equal(chain.result.verification.passed, 30);
      }
    });

    test('ocsp --about: all four kinds, with a role that stores certificates and one that does not', async () => {
      for (const [role, flags] of /** @type {[string, string[]][]} */ ([
        ['ec-stored', ['--threads', '2']],
        ['ec-no-store', ['--method', 'get', '--hash', 'sha256']],
      ])) {
        const size = ['--requests', '300', '--pool', '4', '--seed', '1'];
        const mark = audit.mark();
        const { result, stderr } = await measure([
          'ocsp',
          '--role',
          role,
          '--about',
          ABOUT,
          ...size,
          ...flags,
        ]);
        const { good, revoked, never_issued_good: never, wrong_issuer_unknown: wrong } = result.outcomes;
        assert.equal(good + revoked + never + wrong, 300, JSON.stringify(result.outcomes));
        assert.equal(result.verification.passed, 300);
        for (const [count, share] of [
          [good, 0.4],
          [revoked, 0.2],
          [never, 0.2],
          [wrong, 0.2],
        ]) {
          assert.ok(Math.abs(count - 300 * share) < 3 * Math.sqrt(300 * share * (1 - share)));
        }
        for (const [name, { latencyMs }] of Object.entries(result.outcomeDetails)) {
          assert.equal(latencyMs.response.count, result.outcomes[name]);
        }
        assert.match(String(result.verification.notes), /a client has to reject them/);
        assert.match(stderr, /4 to query and 4 to revoke at once/);
        assert.equal(audit.since(mark, `pki_int/issue/${role}`).length, 8);
        assert.equal(audit.since(mark, 'pki_int/revoke').length, 4);
        assert.equal(audit.since(mark, 'pki_int/ocsp').length, 300);
      }
    });

    ofEither(
      'ocsp --about: contrary expectations are failures, each with an outcome of its own',
      async () => {
        const expect = 'good=revoked,revoked=good,never-issued=unknown,wrong-issuer=unauthorized';
        const size = ['--requests', '80', '--pool', '2', '--seed', '1', '--role', 'ec-stored'];
        const { result } = await measure(['ocsp', '--about', ABOUT, '--expect', expect, '--nonce', ...size]);
        assert.deepEqual(Object.keys(result.outcomes).sort(), [
          'good_but_good',
          'never_issued_but_good',
          'revoked_but_revoked',
          'wrong_issuer_but_unknown',
        ]);
        assert.equal(result.totals.failed, 80);
      },
    );

    test('ocsp --about: files instead of issued certificates, without a token', async () => {
      const kept = join(folder, `${caKeyType}-kept.jsonl`);
      await measure(['issue', '--role', 'ec-stored', '--requests', '20', '--keep', kept]);
      const lines = readFileSync(kept, 'utf8').trim().split('\n');
      const [gone, good] = [join(folder, `${caKeyType}-gone.jsonl`), join(folder, `${caKeyType}-good.jsonl`)];
      writeFileSync(gone, lines.slice(0, 5).join('\n'));
      writeFileSync(good, lines.slice(5).join('\n'));
      for (const line of lines.slice(0, 5)) {
        await root.write('pki_int/revoke', { serial_number: JSON.parse(line).serial });
      }
      const mark = audit.mark();
      const given = ['--serials', good, '--revoked-serials', gone, '--requests', '60', '--seed', '1'];
      const { result } = await measure(['ocsp', '--about', ABOUT, ...given], env.open);
      assert.deepEqual(Object.keys(result.outcomes).sort(), [
        'good',
        'never_issued_good',
        'revoked',
        'wrong_issuer_unknown',
      ]);
      const fresh = await measure(['ocsp', '--about', 'never-issued=1', '--requests', '20'], env.open);
      assert.deepEqual(fresh.result.outcomes, { never_issued_good: 20 });
      assert.equal(audit.since(mark, 'pki_int/issue/ec-stored').length, 0);
    });
  });
}
