import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { loadOperation } from '../../src/operations/index.js';
import { REFUSAL_OUTCOMES } from '../../src/operations/outcomes.js';
import { encodePem } from '../../src/pki/text.js';
import { crlByHand, entry } from '../pki/crl-maker.js';
import { bytesOf, der, extension, generalizedTime, oid } from '../pki/ocsp-builder.js';
import { EXTENSIONS, rsaKeyWith, TestCa } from '../pki/test-ca.js';

const { createClassifier, createRequester, outcomes, prepare } = await loadOperation('crl');
const [{ ca }, { ca: namesake }] = [new TestCa({ name: 'EC' }), new TestCa({ name: 'EC' })];
const rsaCa = new TestCa({ key: 'rsa', name: 'RSA' });
const { ca: rsa } = rsaCa;
const keyId = createHash('sha1').update(rsa.spki).digest(); // not as in RFC 5280; only its equality counts
const slow = rsaCa.issue('slow', {
  key: 'rsa',
  again: /** @type {any} */ ({ privateKey: rsa.privateKey, publicKey: rsaKeyWith(Buffer.alloc(99, 1)) }),
});
const NOW = Date.now();
/** @param {Buffer} serial @param {Buffer} issuer */
const idOf = (serial, issuer) => der(0x30, der(0xa1, der(0xa4, issuer)), der(0x82, serial));
const authority = (/** @type {Buffer} */ value) => ({
  extensions: der(0xa0, der(0x30, extension('2.5.29.35', false, value))),
});
const at = (/** @type {number} */ hours) => generalizedTime(NOW + hours * 3_600_000);
const UNKNOWN_ALGORITHM = der(0x30, oid('1.2.840.10045.4.3.99'));
const unknown = { inside: UNKNOWN_ALGORITHM, outside: UNKNOWN_ALGORITHM };
const extended = (
  /** @type {string} */ id,
  /** @type {boolean} */ isCritical,
  value = bytesOf('020105'),
) => ({
  extensions: der(0xa0, der(0x30, extension(id, isCritical, value))),
});
const otherIssuer = entry(1, der(0x30, extension('2.5.29.29', false, bytesOf('3000'))));
const usage = (/** @type {string} */ hex) => extension('2.5.29.15', true, bytesOf(hex));
const signCrls = rsaCa.issue('crls', { extensions: [usage('03020106')] });
const future = rsaCa.issue('future', { inDays: 1, days: 2 });
const odd = rsaCa.issue('odd', { extensions: [extension('1.2.3', true, bytesOf('0500'))] });
const past = rsaCa.issue('past', { inDays: -2, days: -1 });
const signNone = rsaCa.issue('none', { extensions: [usage('03020204')] });

/** @type {[string, Buffer, string, typeof ca?][]} what, body, outcome, issuer other than the EC CA */
const ROWS = [
  ['a valid one', crlByHand(ca), 'crl'],
  ['a CRL of an RSA issuer', crlByHand(rsa), 'crl', rsa],
  ['a small clock difference', crlByHand(ca, { thisUpdate: at(0.001) }), 'crl'],
  ['HTML', Buffer.from('<!doctype html>'), 'not_crl'],
  ['nothing', Buffer.alloc(0), 'not_crl'],
  ['a CRL in PEM', Buffer.from(encodePem('X509 CRL', crlByHand(ca))), 'not_crl'],
  ['half of one', crlByHand(ca).subarray(0, 100), 'not_crl'],
  ['a CRL of another CA', crlByHand(rsa), 'other_issuer'],
  ['a CRL of another CA of the same name', crlByHand(namesake), 'bad_signature'],
  ['an unknown algorithm', crlByHand(ca, unknown), 'unsupported_signature_algorithm'],
  ['a delta CRL', crlByHand(ca, extended('2.5.29.27', true)), 'delta_crl'],
  ['a delta CRL, not marked critical', crlByHand(ca, extended('2.5.29.27', false)), 'delta_crl'],
  ['a part', crlByHand(ca, extended('2.5.29.28', true, bytesOf('3003850101'))), 'partial_crl'],
  [
    'a part, not marked critical',
    crlByHand(ca, extended('2.5.29.28', false, bytesOf('3000'))),
    'partial_crl',
  ],
  ['an entry of another issuer', crlByHand(ca, { entries: der(0x30, otherIssuer) }), 'indirect_crl'],
  ['another critical extension', crlByHand(ca, extended('1.2.3', true)), 'unknown_critical_extension'],
  ['another extension', crlByHand(ca, extended('1.2.3', false)), 'crl'],
  ['a CRL without nextUpdate', crlByHand(ca, { nextUpdate: null }), 'no_next_update'],
  ['an issuer that may sign CRLs', crlByHand(signCrls), 'crl', signCrls],
  ['an issuer that may only sign certificates', crlByHand(signNone), 'issuer_key_usage', signNone],
  ['an RSA exponent that is too large', crlByHand(slow), 'rsa_exponent_too_large', slow],
  ['a CRL from tomorrow', crlByHand(ca, { thisUpdate: at(24), nextUpdate: at(48) }), 'not_yet_valid'],
  ['an issuer from tomorrow', crlByHand(future), 'not_yet_valid', future],
  ['an issuer with a critical extension', crlByHand(odd), 'unknown_critical_extension', odd],
  ['the key identifier of its issuer', crlByHand(rsa, authority(der(0x30, der(0x80, keyId)))), 'crl', rsa],
  ['that of another', crlByHand(rsa, authority(bytesOf('3003 800101'))), 'other_issuer', rsa],
  ["its issuer's serial number", crlByHand(rsa, authority(idOf(rsa.serial, rsaCa.subject))), 'crl', rsa],
  ['that of another', crlByHand(rsa, authority(idOf(ca.serial, rsaCa.subject))), 'other_issuer', rsa],
  ['an invalid key identifier', crlByHand(rsa, authority(bytesOf('7a7a'))), 'not_crl', rsa],
  ['an expired issuer', crlByHand(past), 'expired', past],
  ['a CRL from yesterday', crlByHand(ca, { thisUpdate: at(-24), nextUpdate: at(-1) }), 'expired'],
];

const open = (issuer = ca) => createClassifier(/** @type {any} */ ({}), { issuerPem: issuer.pem });

for (const [what, body, outcome, issuer] of ROWS) {
  test(`crl: ${what}: ${outcome}`, () => {
    const classify = open(issuer);
    const success = outcome === 'crl';
    for (const index of [0, 1]) {
      const expected = { outcome, success, verification: success ? 'passed' : 'failed' };
      assert.deepEqual(classify(200, body, index), expected);
    }
    assert.deepEqual(classify(503, body, 2), { outcome: 'unavailable', success: false, verification: null });
  });
}

test('crl: the time at which a list came decides, not that of its check', () => {
  const list = crlByHand(ca, { nextUpdate: at(1) });
  const seen = [0, 2].map((hours) => open()(200, list, 0, Date.now() + hours * 3_600_000).outcome);
  assert.deepEqual(seen, ['crl', 'expired']);
});

test('crl: each declared outcome can occur', () => {
  const seen = new Set([...ROWS.map(([, , outcome]) => outcome), ...Object.keys(REFUSAL_OUTCOMES)]);
  assert.deepEqual([...seen].sort(), Object.keys(outcomes).sort());
});

test('crl: a verdict does not depend on the previous list, whose buffer may be reused', () => {
  const classify = open();
  const right = crlByHand(ca);
  const damaged = Buffer.from(right);
  damaged[damaged.length - 1] ^= 1;
  const seen = [right, damaged, right].map((body) => classify(200, body, 0).outcome);
  assert.deepEqual(seen, ['crl', 'bad_signature', 'crl']);
  const lent = new Uint8Array(right.length + 8);
  lent.set(right, 4);
  const body = lent.subarray(4, -4);
  assert.equal(classify(200, body, 0).outcome, 'crl');
  lent.fill(0);
  assert.equal(classify(200, body, 0).outcome, 'not_crl');
  assert.equal(classify(200, right, 0).outcome, 'crl');
});

test('crl: the note names the largest list', () => {
  const classify = open();
  classify(200, Buffer.alloc(100_000), 0);
  assert.deepEqual(classify.notes?.(), []);
  const aged = (/** @type {number} */ hours, /** @type {Buffer[]} */ ...entries) =>
    crlByHand(ca, { entries: der(0x30, ...entries), thisUpdate: at(-hours) });
  const note = (
    /** @type {Buffer} */ { length },
    /** @type {string} */ entries,
    /** @type {number} */ hours,
  ) => {
    const time = new Date(NOW - hours * 3_600_000).toISOString().replace('T', ' ').slice(0, 19);
    assert.deepEqual(classify.notes?.(), [
      `The largest CRL had ${length} bytes and ${entries}; it was issued at ${time} UTC.`,
    ]);
  };
  const [short, long] = [aged(2, entry(1)), aged(5, entry(1), entry(2))];
  classify(200, short, 0);
  note(short, '1 entry', 2);
  classify(200, long, 0);
  classify(200, short, 0);
  note(long, '2 entries', 5);
});

test('crl: an issuer whose certificate clients cannot read is refused before the run', async () => {
  const again = /** @type {any} */ (
    generateKeyPairSync('ec', { namedCurve: 'P-256', paramEncoding: 'explicit' })
  );
  const certificate = rsaCa.issue('unnamed curve', { extensions: [EXTENSIONS.ca], again }).pem;
  const client = {
    origin: 'http://vault',
    health: async () => ({ status: 200, json: { sealed: false, initialized: true, version: '1.21.1' } }),
    read: async (/** @type {string} */ path) => ({
      data: path === 'pki/cert/ca' ? { certificate } : { type: 'pki', path: 'pki/' },
    }),
  };
  const plan = { target: { url: 'http://vault', mount: 'pki', namespace: null } };
  await assert.rejects(prepare(/** @type {any} */ ({ client, plan, warn() {} })), {
    code: 'certificate_unreadable',
    message: /The CA certificate of the mount pki .*named curve/,
  });
});

test('crl is requested without a token', () => {
  const plan = /** @type {any} */ ({ target: { mount: 'a b/pki' } });
  const headers = { accept: 'x' };
  const expected = { method: 'GET', path: '/base/v1/a%20b/pki/crl', headers, body: null };
  assert.deepEqual(createRequester(plan, { basePath: '/base', headers })(7), expected);
});
