import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { loadOperation } from '../../src/operations/index.js';
import { REFUSAL_OUTCOMES } from '../../src/operations/refusals.js';
import { openssl, TestCa } from '../pki/openssl-ca.js';

const { createClassifier, outcomes } = await loadOperation('ca-chain');
const CA = { extensions: ['basicConstraints=critical,CA:TRUE', 'keyUsage=keyCertSign,cRLSign'] };
const root = new TestCa({ key: 'rsa', name: 'Root' });
const other = new TestCa({ name: 'Root' });
const middle = root.issue('Middle', { ...CA, key: 'rsa' });
const past = root.issue('Past', { ...CA, days: -1 });
const folder = mkdtempSync(join(tmpdir(), 'chain-test-'));
after(() => {
  root.close();
  other.close();
  rmSync(folder, { recursive: true });
});

/** The CA below the one in the middle. */
const issuer = signedBy(middle);
/** The one in the middle, signed by another root. */
const crossSigned = signedAgain(middle, other.ca);

/** @param {import('../pki/openssl-ca.js').Issued} ca */
function signedBy(ca) {
  const path = (/** @type {string} */ name) => join(folder, name);
  writeFileSync(path('ext'), CA.extensions.join('\n'));
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', path('key')];
  openssl(['req', '-new', ...key, '-subj', '/CN=Issuing', '-out', path('csr')]);
  const signer = ['-CA', ca.certFile, '-CAkey', ca.keyFile, '-set_serial', '77'];
  openssl([
    'x509',
    '-req',
    '-in',
    path('csr'),
    ...signer,
    '-days',
    '5',
    '-extfile',
    path('ext'),
    '-out',
    path('pem'),
  ]);
  return readFileSync(path('pem'), 'utf8');
}

/** @param {import('../pki/openssl-ca.js').Issued} one @param {import('../pki/openssl-ca.js').Issued} ca */
function signedAgain(one, ca) {
  writeFileSync(join(folder, 'ext'), CA.extensions.join('\n'));
  const request = one.certFile.replace(/pem$/, 'csr');
  const signer = ['-CA', ca.certFile, '-CAkey', ca.keyFile, '-set_serial', '78', '-days', '5'];
  return String(openssl(['x509', '-req', '-in', request, ...signer, '-extfile', join(folder, 'ext')]));
}

/** @type {[string, string, string, string][]} sentence, issuer, body, outcome */
let rows = [];
before(() => {
  const [up, top] = [middle.pem, root.ca.pem];
  rows = [
    ['three certificates, up to the root', issuer, issuer + up + top, 'chain'],
    ['text around and between them', issuer, `a\n${issuer}\nb\n${up}\n${top}`, 'chain'],
    ['up to one whose issuer the mount does not know', issuer, issuer + up, 'chain'],
    ['a root alone', top, top, 'chain'],
    ['both chains of a cross-signed CA', issuer, issuer + up + top + crossSigned + other.ca.pem, 'chain'],
    ['one chain, and the root of the other', issuer, issuer + up + top + other.ca.pem, 'broken_chain'],
    ['nothing', issuer, '', 'not_pem'],
    ['HTML', issuer, '<html>', 'not_pem'],
    ['one that is cut off', issuer, (issuer + up).slice(0, -40), 'not_pem'],
    ['one that is no certificate', issuer, issuer + up.replace('\nMII', '\n////'), 'not_pem'],
    [
      'a key among them',
      issuer,
      `${issuer}-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n`,
      'not_pem',
    ],
    ['the chain of another', issuer, up + top, 'other_issuer'],
    ['upside down', issuer, top + up + issuer, 'other_issuer'],
    ['one left out', issuer, issuer + top, 'broken_chain'],
    ['the last two swapped', issuer, issuer + top + up, 'broken_chain'],
    ['a root of the same name', up, up + other.ca.pem, 'broken_chain'],
    ['one that has expired', past.pem, past.pem + top, 'not_valid_now'],
  ];
});

describe('answers to ca-chain', () => {
  test('each row', async (t) => {
    for (const [sentence, issuerPem, body, outcome] of rows) {
      await t.test(`${sentence}: ${outcome}`, () => {
        const classify = createClassifier(/** @type {any} */ ({}), { issuerPem });
        const success = outcome === 'chain';
        for (const once of [1, 2]) {
          assert.deepEqual(classify(200, Buffer.from(body), once), {
            outcome,
            success,
            verification: success ? 'passed' : 'failed',
          });
        }
        assert.equal(classify(404, Buffer.from(body), 3).outcome, 'not_found');
      });
    }
  });

  test('each declared outcome can occur', () => {
    const seen = new Set([...rows.map(([, , , outcome]) => outcome), ...Object.keys(REFUSAL_OUTCOMES)]);
    assert.deepEqual([...seen].sort(), Object.keys(outcomes).sort());
  });

  test('a verdict is not that of the chain before, and ends with its certificates', (t) => {
    const chain = Buffer.from(issuer + middle.pem + root.ca.pem);
    const classify = createClassifier(/** @type {any} */ ({}), { issuerPem: issuer });
    const bodies = [chain, Buffer.from('no'), chain];
    assert.deepEqual(
      bodies.map((body) => classify(200, body, 0).outcome),
      ['chain', 'not_pem', 'chain'],
    );
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 6 * 86_400_000 });
    assert.equal(classify(200, chain, 0).outcome, 'not_valid_now');
    t.mock.timers.setTime(Date.now() - 12 * 86_400_000);
    assert.equal(classify(200, chain, 0).outcome, 'not_valid_now');
  });
});
