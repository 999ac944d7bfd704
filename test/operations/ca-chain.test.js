import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { loadOperation } from '../../src/operations/index.js';
import { REFUSAL_OUTCOMES } from '../../src/operations/outcomes.js';
import { DerReader } from '../../src/pki/der.js';
import { encodePem } from '../../src/pki/text.js';
import { bytesOf, der, extension } from '../pki/ocsp-builder.js';
import { EXTENSIONS, TestCa } from '../pki/test-ca.js';

const { createClassifier, outcomes } = await loadOperation('ca-chain');
const CA = { extensions: [EXTENSIONS.ca] };
const [root, other] = [new TestCa({ key: 'rsa', name: 'Root' }), new TestCa({ name: 'Root' })];
const middle = root.issue('Middle', CA);
const past = root.issue('Past', { ...CA, days: -1 }).pem;
const issuer = new TestCa({ ca: middle }).issue('Issuing', { ...CA, days: 5 }).pem;
const crossSigned = other.issue('Middle', { ...CA, again: middle }).pem;
/** As Vault adds it, if the root of the mount was renewed with the same key and cross-signed. */
const reissued = new TestCa({ name: 'Elsewhere' }).issue('Middle', { ...CA, again: middle }).pem;
const [up, top] = [middle.pem, root.ca.pem];
/** Of the same CA as `middle`, with a signature that does not match. */
const damaged = damage(root.issue('Middle', { ...CA, again: middle }).pem);
/** @param {string} pem of a certificate, whose last byte is of the signature */
function damage(pem) {
  const der = Buffer.from(new X509Certificate(pem).raw);
  der[der.length - 1] ^= 1;
  return encodePem('CERTIFICATE', der);
}
/** @param {string} pem @returns {string} its signature has an algorithm that does not exist */
function withOddAlgorithm(pem) {
  const hex = new X509Certificate(pem).raw
    .toString('hex')
    .replaceAll('2a864886f70d01010b', '2a864886f70d01017f');
  return encodePem('CERTIFICATE', Buffer.from(hex, 'hex'));
}
/** @param {Buffer[]} extensions of the certificate between the issuer and the root @returns {[string, string]} issuer and body */
function below(...extensions) {
  const parent = root.issue('Parent', { extensions });
  const { pem } = new TestCa({ ca: parent }).issue('Issuing', CA);
  return [pem, pem + parent.pem + top];
}
const usage = (/** @type {string} */ hex) => extension('2.5.29.15', true, bytesOf(hex));
const critical = extension('1.2.3', true, bytesOf('0500'));
const leaf = root.issue('Leaf').pem;
const twin = root.issue('Twin', CA);
const twins = Array.from(
  { length: 14 },
  () => new TestCa({ ca: twin }).issue('Twin', { ...CA, again: twin }).pem,
);

const limited = (/** @type {string} */ length) => ({
  extensions: [extension('2.5.29.19', true, bytesOf(`3006 0101ff 0201${length}`))],
});
/**
 * An issuer, below a self-issued certificate if `isRolledOver`, and its CAs by their pathLenConstraints, from the top.
 * @param {string[]} lengths @param {boolean} [isRolledOver] @returns {[string, string]} issuer and body
 */
function chainOf(lengths, isRolledOver = false) {
  let above = root;
  const pems = [top];
  for (const [i, length] of lengths.entries()) {
    const next = above.issue(`Level ${i}`, limited(length));
    above = new TestCa({ ca: next });
    pems.unshift(next.pem);
  }
  if (isRolledOver) {
    const keyIds = [extension('2.5.29.14', false, bytesOf('040101'))];
    keyIds.push(extension('2.5.29.35', false, bytesOf('3003 800102'))); // of the old key
    const next = above.issue(above.ca.name, { extensions: [EXTENSIONS.ca, ...keyIds] });
    above = new TestCa({ ca: next });
    pems.unshift(next.pem);
  }
  const { pem } = above.issue('Issuing', limited('00'));
  return [pem, pem + pems.join('')];
}

/** @type {[string, string, string, string][]} what, issuer, body, outcome */
const ROWS = [
  ['three certificates, up to the root', issuer, issuer + up + top, 'chain'],
  ['text around and between them', issuer, `a\n${issuer}\nb\n${up}\n${top}`, 'chain'],
  ['up to a certificate with an issuer unknown to the mount', issuer, issuer + up, 'chain'],
  ['a root alone', top, top, 'chain'],
  ['both chains of a cross-signed CA', issuer, issuer + up + top + crossSigned + other.ca.pem, 'chain'],
  ['one chain, and the root of the other', issuer, issuer + up + top + other.ca.pem, 'broken_chain'],
  ['another certificate of the same CA, signed by none of them', up, up + reissued + top, 'chain'],
  ['nothing', issuer, '', 'not_pem'],
  ['HTML', issuer, '<html>', 'not_pem'],
  ['a truncated certificate', issuer, (issuer + up).slice(0, -40), 'not_pem'],
  ['an invalid certificate', issuer, issuer + up.replace('\nMII', '\n////'), 'not_pem'],
  ['a key among them', issuer, issuer + encodePem('PRIVATE KEY', Buffer.alloc(2)), 'not_pem'],
  ['the chain of another issuer', issuer, up + top, 'other_issuer'],
  ['upside down', issuer, top + up + issuer, 'other_issuer'],
  ['one left out', issuer, issuer + top, 'broken_chain'],
  ['the last two swapped', issuer, issuer + top + up, 'broken_chain'],
  ['a wrong signature', issuer, issuer + damaged + top, 'broken_chain'],
  [
    'a wrong signature before a certificate of the same CA',
    issuer,
    issuer + damaged + up + top,
    'broken_chain',
  ],
  [
    'a wrong signature after a certificate of the same CA',
    issuer,
    issuer + up + damaged + top,
    'broken_chain',
  ],
  ['a wrong signature after its issuer', issuer, issuer + up + top + damaged, 'broken_chain'],
  ['a root whose signature cannot be verified', issuer, issuer + up + withOddAlgorithm(top), 'chain'],
  [
    'another whose signature cannot be verified',
    issuer,
    issuer + withOddAlgorithm(up) + top,
    'unsupported_signature_algorithm',
  ],
  [
    'one that cannot be verified, and a wrong signature',
    issuer,
    issuer + withOddAlgorithm(up) + damaged + top,
    'broken_chain',
  ],
  ['a root of the same name', up, up + other.ca.pem, 'broken_chain'],
  ['a parent without basicConstraints', ...below(), 'not_ca'],
  ['a parent that is not a CA', ...below(EXTENSIONS.notCa), 'not_ca'],
  ['a parent that may not sign certificates', ...below(EXTENSIONS.ca, usage('03020780')), 'not_ca'],
  ['a parent that may sign certificates', ...below(EXTENSIONS.ca, usage('03020204')), 'chain'],
  ['an issuer that is not a CA', leaf, leaf + top, 'not_ca'],
  ['a critical extension', ...below(EXTENSIONS.ca, critical), 'unknown_critical_extension'],
  [
    'a critical key identifier',
    ...below(EXTENSIONS.ca, extension('2.5.29.14', true, bytesOf('040101'))),
    'unknown_critical_extension',
  ],
  ['101 certificates', issuer, issuer.repeat(101), 'chain_too_long'],
  ['14 certificates of one name and key', twins[0], twins.join(''), 'chain_too_long'],
  ['path lengths that suffice', ...chainOf(['02', '01']), 'chain'],
  ['a CA that allows no other CA', ...chainOf(['00']), 'path_too_long'],
  ['one that allows no second CA', ...chainOf(['01', '01']), 'path_too_long'],
  ['a self-issued certificate, which does not count', ...chainOf(['01'], true), 'chain'],
  ['an expired certificate', past, past + top, 'not_valid_now'],
];

for (const [what, issuerPem, body, outcome] of ROWS) {
  test(`ca-chain: ${what}: ${outcome}`, () => {
    const classify = createClassifier(/** @type {any} */ ({}), { issuerPem });
    const success = outcome === 'chain';
    for (const index of [1, 2]) {
      const expected = { outcome, success, verification: success ? 'passed' : 'failed' };
      assert.deepEqual(classify(200, Buffer.from(body), index), expected);
    }
    assert.equal(classify(404, Buffer.from(body), 3).outcome, 'not_found');
  });
}

test('ca-chain: each declared outcome can occur', () => {
  const seen = new Set([...ROWS.map(([, , , outcome]) => outcome), ...Object.keys(REFUSAL_OUTCOMES)]);
  assert.deepEqual([...seen].sort(), Object.keys(outcomes).sort());
});

test('ca-chain: reads the issuers that a certificate names once, not for each certificate in the chain', (t) => {
  const names = der(0xa1, Buffer.alloc(2000, bytesOf('8200')));
  const keyId = extension('2.5.29.35', false, der(0x30, names, bytesOf('820101')));
  const { pem } = new TestCa({ ca: twin }).issue('Low', { extensions: [EXTENSIONS.ca, keyId] });
  const classify = createClassifier(/** @type {any} */ ({}), { issuerPem: pem });
  const read = t.mock.method(DerReader.prototype, 'read');
  assert.equal(classify(200, Buffer.from(pem + twin.pem.repeat(50)), 0).outcome, 'broken_chain');
  assert.ok(read.mock.callCount() < 4000, `${read.mock.callCount()}`);
});

test('ca-chain: a verdict does not depend on the previous chain, and expires with its certificates', (t) => {
  const chain = Buffer.from(issuer + up + top);
  const classify = createClassifier(/** @type {any} */ ({}), { issuerPem: issuer });
  const seen = [chain, Buffer.from('no'), chain].map((body) => classify(200, body, 0).outcome);
  assert.deepEqual(seen, ['chain', 'not_pem', 'chain']);
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 6 * 86_400_000 });
  assert.equal(classify(200, chain, 0).outcome, 'not_valid_now');
  t.mock.timers.setTime(Date.now() - 12 * 86_400_000);
  assert.equal(classify(200, chain, 0).outcome, 'not_valid_now');
});
