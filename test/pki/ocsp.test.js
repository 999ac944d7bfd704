import assert from 'node:assert/strict';
import crypto, { createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import fc from 'fast-check';
import { SKEW_MS } from '../../src/common/units.js';
import { createAuthorities } from '../../src/dev/certificate.js';
import { createResponder, Store } from '../../src/dev/status.js';
import { parseCertificate } from '../../src/pki/certificate-der.js';
import { DerError } from '../../src/pki/der.js';
import { createOcspChecker, isOcspStatus, OCSP_OUTCOMES } from '../../src/pki/ocsp-check.js';
import { buildOcspRequest, chooseOcspMethod, createCertId, ocspGetPath } from '../../src/pki/ocsp-request.js';
import { parseCertId, parseOcspResponse } from '../../src/pki/ocsp-response.js';
import {
  buildResponse,
  bytesOf,
  der,
  extension,
  generalizedTime,
  keyHashResponderId,
  oid,
  refusal,
  single,
} from './ocsp-builder.js';
import { EXTENSIONS, makeKeys, nameOf, rsaKeyWith, signed, TestCa } from './test-ca.js';

/** @import { TestContext } from 'node:test' */
/** @import { BasicResponse } from '../../src/pki/ocsp-response.js' */

const DAY = 86_400_000;
const [ca, stranger, namesake] = [new TestCa(), new TestCa({ name: 'Stranger' }), new TestCa()];
const leaf = ca.issue('leaf');
const OCSP_SIGNING = { extensions: [EXTENSIONS.ocspSigning], days: 5 };
const delegate = ca.issue('delegate', OCSP_SIGNING);
const NONCE = bytesOf('00112233445566778899aabbccddeeff');
const NONCE_OID = '1.3.6.1.5.5.7.48.1.2';
const certId = createCertId({ issuerDer: ca.ca.der, serial: leaf.serial, hash: 'sha1' });
const sha256Id = createCertId({ issuerDer: ca.ca.der, serial: leaf.serial, hash: 'sha256' });
const THIS = Math.floor(Date.now() / 1000) * 1000;
const LATE = THIS - SKEW_MS;
const EARLY = THIS + SKEW_MS;
const signer = ca.ca;

/** @param {Partial<Parameters<typeof single>[0]>} [more] */
const one = (more) => single({ certId: certId.raw, thisUpdate: THIS, ...more });
/** @param {Partial<Parameters<typeof buildResponse>[0]>} [more] */
const made = (more) => buildResponse({ signer, singles: [one()], ...more });
/** @param {Partial<Parameters<typeof single>[0]>} more */
const of = (more) => made({ singles: [one(more)] });
/** @param {typeof signer} by @param {Partial<Parameters<typeof buildResponse>[0]>} [more] */
const by = (by, more) => made({ signer: by, certs: [by.der], ...more });
/** @param {...Buffer} extensions */
const extended = (...extensions) => made({ extensions });
const badUsage = (/** @type {string} */ hex) =>
  made({
    responderId: der(0xa1, nameOf('x')),
    certs: [ca.issue('x', { extensions: [extension('2.5.29.15', true, bytesOf(hex))] }).der],
  });
const nonce = (/** @type {Uint8Array} */ value) => extension(NONCE_OID, false, der(0x04, value));
const critical = extension('1.2.3.4', true, bytesOf('0500'));
const otherId = Buffer.from(certId.raw);
otherId[otherId.length - 1] ^= 1;
/** @param {Buffer} algorithm @param {Buffer} [name] */
const idWith = (algorithm, name = Buffer.from(certId.issuerNameHash)) =>
  der(0x30, algorithm, der(4, name), der(4, certId.issuerKeyHash), der(2, certId.serial));
const absent = der(0x30, oid('1.3.14.3.2.26'));
/** @param {...Buffer} parameters of SHA-256: with NULL, the CertID's length takes an octet more */
const longId = (...parameters) =>
  der(
    0x30,
    der(0x30, oid('2.16.840.1.101.3.4.2.1'), ...parameters),
    ...[4, 4].map((tag) => der(tag, Buffer.alloc(32))),
    der(2, Buffer.alloc(43, 1)),
  );
const revokedAt = der(0x18, Buffer.from('20260101000000Z'));
const basicOf = (/** @type {Buffer} */ inner) =>
  der(0x30, bytesOf('0a0100'), der(0xa0, der(0x30, oid('1.3.6.1.5.5.7.48.1.1'), der(4, inner))));
const unsupported = ca.issue('delegate', { ...OCSP_SIGNING });
unsupported.der = Buffer.from(
  unsupported.der.toString('hex').replaceAll('2a8648ce3d040302', '2a8648ce3d04037f'),
  'hex',
);
const oddKey = ca.issue('delegate', { ...OCSP_SIGNING });
oddKey.der = Buffer.from(
  oddKey.der.toString('hex').replaceAll('2a8648ce3d030107', '2a8648ce3d03017f'),
  'hex',
);

const expired = ca.issue('delegate', { ...OCSP_SIGNING, again: delegate, days: -1, inDays: -2 });
/** @param {Buffer} more an extension */
const delegateWith = (more) => ca.issue('delegate', { extensions: [EXTENSIONS.ocspSigning, more] });
const keyUsage = (/** @type {string} */ hex) => extension('2.5.29.15', true, bytesOf(hex));

const slowKey = { privateKey: makeKeys('rsa').privateKey, publicKey: rsaKeyWith(Buffer.alloc(256, 0x7f)) };
const slow = ca.issue('delegate', { ...OCSP_SIGNING, key: 'rsa', again: /** @type {any} */ (slowKey) });
const eight = [...Array(7).fill(ca.ca.der), delegate.der];

/** @type {[string, string, Buffer, Parameters<ReturnType<typeof createOcspChecker>['check']>[1]?][]} */
const ROWS = [
  ['a plain response', 'good', made()],
  ['revoked', 'revoked', of({ status: der(0xa1, revokedAt) })],
  ['revoked for a reason', 'revoked', of({ status: der(0xa1, revokedAt, bytesOf('a003 0a0105')) })],
  ['unknown', 'unknown', of({ status: bytesOf('8200') })],
  ['status malformedRequest', 'ocsp_malformed_request', refusal(1)],
  ['status internalError', 'ocsp_internal_error', refusal(2)],
  ['status tryLater', 'ocsp_try_later', refusal(3)],
  ['the unused status 4', 'ocsp_unknown_error_status', refusal(4)],
  ['status sigRequired', 'ocsp_sig_required', refusal(5)],
  ['status unauthorized', 'ocsp_unauthorized', refusal(6)],
  ['status 7', 'ocsp_unknown_error_status', refusal(7)],
  ['a refusal with trailing data', 'not_ocsp', der(0x30, bytesOf('0a0101 0500'))],
  ['successful without a response', 'not_ocsp', refusal(0)],
  ['an empty body', 'not_ocsp', Buffer.alloc(0)],
  ['a web page', 'not_ocsp', Buffer.from('<html>502 Bad Gateway</html>')],
  ['a certificate', 'not_ocsp', ca.ca.der],
  ['a trailing byte', 'not_ocsp', Buffer.concat([made(), Buffer.alloc(1)])],
  ['a trailing byte of the basic response', 'not_ocsp', basicOf(Buffer.concat([der(0x30), Buffer.alloc(1)]))],
  ['version 1, encoded explicitly', 'good', made({ version: bytesOf('a003 020100') })],
  ['version 2', 'not_ocsp', made({ version: bytesOf('a003 020101') })],
  ['another response type', 'ocsp_wrong_type', made({ type: '1.3.6.1.5.5.7.48.1.99' })],
  ['a good status that is not NULL', 'not_ocsp', of({ status: bytesOf('8001 00') })],
  ['a fourth status', 'not_ocsp', of({ status: bytesOf('8300') })],
  ['trailing data in a revocation', 'not_ocsp', of({ status: der(0xa1, revokedAt, bytesOf('0500')) })],
  ['an unknown critical extension', 'unknown_critical_extension', extended(critical)],
  ['a critical extension of a single response', 'unknown_critical_extension', of({ extensions: [critical] })],
  ['an unknown extension, not critical', 'good', extended(extension('1.2.3.4', false, bytesOf('0500')))],
  [
    'the supported critical extensions',
    'good',
    of({
      extensions: ['1.3.6.1.5.5.7.48.1.3', '1.3.6.1.5.5.7.48.1.6', '1.3.6.1.5.5.7.48.1.9']
        .concat('2.5.29.21', '2.5.29.24')
        .map((id) => extension(id, true, bytesOf('0500'))),
    }),
  ],
  ['the same nonce', 'good', extended(nonce(NONCE))],
  ['a critical nonce', 'good', extended(extension(NONCE_OID, true, der(0x04, NONCE)))],
  ['another nonce', 'nonce_mismatch', extended(nonce(Buffer.alloc(16)))],
  ['the beginning of the nonce', 'nonce_mismatch', extended(nonce(NONCE.subarray(0, 8)))],
  ['a nonce that was not sent', 'good', extended(nonce(NONCE)), { certId, nonce: null, nowMs: THIS }],
  ['two nonces', 'not_ocsp', extended(nonce(NONCE), nonce(NONCE))],
  ['a nonce with trailing data', 'not_ocsp', extended(extension(NONCE_OID, false, bytesOf('0400 0500')))],
  ['trailing data in an extension', 'not_ocsp', extended(der(0x30, oid('1.2.3'), bytesOf('0400 0500')))],
  ['extensions without a nonce, as Go sends them', 'good', extended()],
  ['a name with an empty part', 'not_ocsp', made({ responderId: der(0xa1, der(0x30, der(0x31))) })],
  ['a responder without a name', 'responder_not_authorized', made({ responderId: der(0xa1, der(0x30)) })],
  ['no single response', 'cert_id_mismatch', made({ singles: [] })],
  [
    'the right response after another',
    'good',
    made({ singles: [one({ certId: otherId, status: der(0xa1, revokedAt) }), one()] }),
  ],
  ['revoked and good', 'several_statuses', made({ singles: [one({ status: der(0xa1, revokedAt) }), one()] })],
  ['good and unknown', 'several_statuses', made({ singles: [one(), one({ status: bytesOf('8200') })] })],
  [
    'good and revoked, with absent hash parameters',
    'several_statuses',
    made({ singles: [one(), one({ certId: idWith(absent), status: der(0xa1, revokedAt) })] }),
  ],
  ['the first of two', 'expired', made({ singles: [one({ nextUpdate: LATE - 1000 }), one()] })],
  ['unknown, another CertID (Vault)', 'cert_id_mismatch', of({ certId: otherId, status: bytesOf('8200') })],
  ['a CertID with the other hash', 'cert_id_mismatch', of({ certId: sha256Id.raw })],
  ['absent hash parameters', 'good', of({ certId: idWith(absent) })],
  [
    'absent hash parameters in the request',
    'good',
    made(),
    { certId: { raw: idWith(absent) }, nonce: null, nowMs: THIS },
  ],
  [
    'absent hash parameters, where the length of the CertID is shorter',
    'good',
    of({ certId: longId() }),
    { certId: { raw: longId(bytesOf('0500')) }, nonce: null, nowMs: THIS },
  ],
  ['absent parameters of another name', 'cert_id_mismatch', of({ certId: idWith(absent, Buffer.alloc(20)) })],
  [
    'absent parameters of another hash',
    'cert_id_mismatch',
    of({ certId: idWith(der(0x30, oid('1.3.14.3.2.27'))) }),
  ],
  ['nextUpdate past by the skew', 'good', of({ thisUpdate: LATE - DAY, nextUpdate: LATE })],
  ['nextUpdate before thisUpdate', 'expired', of({ thisUpdate: LATE + 1000, nextUpdate: LATE })],
  ['nextUpdate past by more', 'expired', of({ thisUpdate: LATE - DAY, nextUpdate: LATE - 1000 })],
  ['no nextUpdate, a day later', 'good', of({ thisUpdate: LATE - DAY })],
  ['no nextUpdate, more than a day later', 'too_old', of({ thisUpdate: LATE - DAY - 1000 })],
  ['thisUpdate ahead by the skew', 'good', of({ thisUpdate: EARLY })],
  ['thisUpdate ahead by more', 'not_yet_valid', of({ thisUpdate: EARLY + 1000 })],
  ['unknown algorithm', 'unsupported_signature_algorithm', made({ algorithm: der(0x30, oid('1.2.3.4')) })],
  ['ECDSA called RSA', 'bad_signature', made({ algorithm: der(0x30, oid('1.2.840.113549.1.1.11')) })],
  ['no certificate, beside a valid signature', 'not_ocsp', made({ certs: [der(0x30, bytesOf('0500'))] })],
  ['the key id of the CA', 'good', made({ responderId: keyHashResponderId(signer) })],
  ['an unknown CA', 'responder_not_authorized', by(stranger.ca)],
  ['a CA of the same name with another key', 'bad_signature', by(namesake.ca)],
  [
    'a namesake by key ID',
    'responder_not_authorized',
    by(namesake.ca, { responderId: keyHashResponderId(namesake.ca) }),
  ],
  ['a delegate', 'good', by(delegate)],
  ['a delegate by key id', 'good', by(delegate, { responderId: keyHashResponderId(delegate) })],
  ['a delegate after the certificate of the CA', 'good', by(delegate, { certs: [ca.ca.der, delegate.der] })],
  ['a delegate without its certificate', 'responder_not_authorized', by(delegate, { certs: [] })],
  ['a delegate without OCSPSigning', 'responder_not_authorized', by(leaf)],
  [
    'a delegate for clientAuth',
    'responder_not_authorized',
    by(ca.issue('c', { extensions: [EXTENSIONS.clientAuth] })),
  ],
  ['a delegate of a namesake', 'responder_not_authorized', by(namesake.issue('d', OCSP_SIGNING))],
  ['a delegate of another CA', 'responder_not_authorized', by(stranger.issue('d', OCSP_SIGNING))],
  ['a delegate with an unknown algorithm', 'unsupported_signature_algorithm', by(unsupported)],
  ['a delegate whose key cannot be read', 'responder_not_authorized', by(oddKey)],
  [
    'a delegate with an unknown critical extension',
    'responder_unknown_critical_extension',
    by(delegateWith(critical)),
  ],
  [
    'a delegate with a critical key identifier',
    'responder_unknown_critical_extension',
    by(delegateWith(extension('2.5.29.14', true, bytesOf('040101')))),
  ],
  [
    'a delegate with an unknown extension, not critical',
    'good',
    by(delegateWith(extension('1.2.3.4', false, bytesOf('0500')))),
  ],
  [
    'a delegate with a critical nocheck',
    'good',
    by(delegateWith(extension('1.3.6.1.5.5.7.48.1.5', true, bytesOf('0500')))),
  ],
  [
    'a delegate with a key usage for key agreement',
    'responder_key_usage',
    by(delegateWith(keyUsage('03020308'))),
  ],
  ['a delegate with a key usage for signatures', 'good', by(delegateWith(keyUsage('03020780')))],
  ['a delegate with a key usage for nonRepudiation', 'good', by(delegateWith(keyUsage('03020640')))],
  [
    'a delegate with the key identifier of another issuer',
    'responder_not_authorized',
    by(delegateWith(extension('2.5.29.35', false, bytesOf('3003 800101')))),
  ],
  ['a delegate with a key usage among the unused bits', 'not_ocsp', badUsage('03020880')],
  ['a delegate with an empty key usage', 'not_ocsp', badUsage('030100')],
  ['a delegate with an invalid key usage', 'not_ocsp', badUsage('0500')],
  [
    'a renewed certificate after the expired one',
    'good',
    by(delegate, { certs: [expired.der, delegate.der] }),
  ],
  [
    'an expired certificate after the renewed one',
    'good',
    by(delegate, { certs: [delegate.der, expired.der] }),
  ],
  ['only an expired certificate of a delegate', 'responder_cert_expired', by(expired)],
  [
    'the right delegate after another of the same name',
    'good',
    by(delegate, { certs: [unsupported.der, delegate.der] }),
  ],
  ['a delegate after seven certificates', 'good', by(delegate, { certs: eight })],
  ['a delegate before eight', 'too_many_certificates', by(delegate, { certs: [delegate.der, ...eight] })],
  ['the CA, and nine certificates', 'too_many_certificates', made({ certs: [...eight, leaf.der] })],
  ['a delegate with an RSA exponent of 2048 bits', 'rsa_exponent_too_large', by(slow)],
  ['a wrong signature of a delegate', 'bad_signature', by(delegate, { signWith: (tbs) => leaf.sign(tbs) })],
  [
    'the SHA-256 of a delegate',
    'responder_not_authorized',
    by(delegate, { responderId: keyHashResponderId(delegate, 'sha256') }),
  ],
  [
    'a delegate under the name of the CA',
    'bad_signature',
    by(delegate, { responderId: der(0xa1, nameOf('Test CA', 'Throw-away')) }),
  ],
];

for (const [name, verdict, bytes, expected = { certId, nonce: NONCE, nowMs: THIS }] of ROWS) {
  test(`${name}: ${verdict}`, () => {
    const checker = createOcspChecker({ issuerDer: signer.der });
    for (const round of [bytes, new Uint8Array(bytes)]) assert.equal(checker.check(round, expected), verdict);
  });
}

test('a delegate must be valid now, within the allowed skew', () => {
  const { notBefore, notAfter } = parseCertificate(delegate.der);
  const checker = createOcspChecker({ issuerDer: signer.der });
  for (const [nowMs, verdict] of /** @type {const} */ ([
    [notBefore - SKEW_MS, 'good'],
    [notBefore - SKEW_MS - 1, 'responder_cert_expired'],
    [notAfter + SKEW_MS, 'good'],
    [notAfter + SKEW_MS + 1, 'responder_cert_expired'],
  ])) {
    const bytes = by(delegate, {
      singles: [one({ thisUpdate: notBefore - DAY, nextUpdate: notAfter + DAY })],
    });
    assert.equal(checker.check(bytes, { certId, nonce: null, nowMs }), verdict);
  }
});

test('an issuer that is no CA, may not sign certificates, or has an unknown critical extension authorizes no delegate', () => {
  for (const [extensions, verdict] of /** @type {const} */ ([
    [[EXTENSIONS.ca, keyUsage('03020204')], 'good'],
    [[EXTENSIONS.ca, keyUsage('03020102')], 'responder_not_authorized'],
    [[EXTENSIONS.ca, critical], 'responder_not_authorized'],
    [[keyUsage('03020204')], 'responder_not_authorized'],
    [[extension('2.5.29.19', true, bytesOf('3000'))], 'responder_not_authorized'],
  ])) {
    const issuer = ca.issue('issuer', { extensions: [...extensions] });
    const issuing = new TestCa({ ca: issuer });
    const id = createCertId({ issuerDer: issuer.der, serial: leaf.serial, hash: 'sha1' });
    const bytes = by(issuing.issue('delegate', OCSP_SIGNING), { singles: [one({ certId: id.raw })] });
    const checker = createOcspChecker({ issuerDer: issuer.der });
    assert.equal(checker.check(bytes, { certId: id, nonce: null, nowMs: THIS }), verdict);
  }
});

test('an issuer of version 1, which has no extensions, authorizes a delegate if it is a root', () => {
  const old = new TestCa();
  for (const [above, verdict] of /** @type {const} */ ([
    [old.subject, 'good'],
    [nameOf('Above'), 'responder_not_authorized'],
  ])) {
    const validity = der(0x30, generalizedTime(THIS - DAY), generalizedTime(THIS + DAY));
    const fields = [old.ca.algorithm, above, validity, old.subject, old.ca.spki];
    const issuerDer = signed(old.ca, der(0x30, bytesOf('020101'), ...fields));
    const id = createCertId({ issuerDer, serial: leaf.serial, hash: 'sha1' });
    const singles = [one({ certId: id.raw })];
    const checker = createOcspChecker({ issuerDer });
    const check = (/** @type {Uint8Array} */ bytes) =>
      checker.check(bytes, { certId: id, nonce: null, nowMs: THIS });
    assert.equal(check(by(old.issue('delegate', OCSP_SIGNING), { singles })), verdict);
    assert.equal(check(made({ signer: old.ca, singles })), 'good');
  }
});

test('every field of a response is read', () => {
  const status = der(0xa1, revokedAt, bytesOf('a003 0a0105'));
  const full = by(delegate, {
    singles: [one({ status, nextUpdate: THIS + DAY })],
    extensions: [nonce(NONCE)],
    producedAt: THIS - 1000,
    responderId: keyHashResponderId(delegate),
    certs: [ca.ca.der, delegate.der],
  });
  const { signed, ...parsed } = /** @type {BasicResponse} */ (parseOcspResponse(full));
  const { data, signature, oid, parameters } = signed;
  assert.deepEqual({ oid, parameters }, { oid: '1.2.840.10045.4.3.2', parameters: null });
  assert.ok(full.includes(Buffer.concat([data, delegate.algorithm])) && full.includes(signature));
  const keyHash = createHash('sha1').update(parseCertificate(delegate.der).spkiBits).digest();
  assert.deepEqual(parsed, {
    status: 'successful',
    typeOid: '1.3.6.1.5.5.7.48.1.1',
    version: 0,
    responderId: { kind: 'keyHash', value: keyHash },
    producedAt: THIS - 1000,
    responses: [
      {
        certId,
        status: 'revoked',
        revokedAt: Date.UTC(2026, 0, 1),
        reason: 5,
        thisUpdate: THIS,
        nextUpdate: THIS + DAY,
        unknownCritical: null,
      },
    ],
    nonce: NONCE,
    unknownCritical: null,
    certs: [ca.ca.der, delegate.der],
  });
  const plain = /** @type {typeof parsed} */ (parseOcspResponse(made()));
  assert.deepEqual(plain.responderId, { kind: 'name', value: parseCertificate(ca.ca.der).subject });
  assert.deepEqual([plain.nonce, plain.certs, plain.responses[0].nextUpdate], [null, [], null]);
  assert.throws(() => parseCertId(Buffer.concat([certId.raw, Buffer.alloc(1)])), DerError);
});

/** Counts signature verifications. @param {TestContext} t */
function watchVerify(t) {
  const verify = t.mock.method(crypto, 'verify');
  syncBuiltinESMExports();
  t.after(() => {
    verify.mock.restore();
    syncBuiltinESMExports();
  });
  return verify;
}

test('identical bytes are verified once, but time, nonce and CertID are checked each time', (t) => {
  const verify = watchVerify(t);
  const checker = createOcspChecker({ issuerDer: signer.der });
  const bytes = by(delegate, {
    singles: [one({ nextUpdate: THIS + DAY })],
    extensions: [nonce(NONCE)],
  });
  const right = { certId, nonce: NONCE, nowMs: THIS };
  for (let i = 0; i < 3; i++) assert.equal(checker.check(bytes, right), 'good');
  assert.equal(checker.check(bytes, { ...right, nowMs: THIS + 2 * DAY }), 'expired');
  assert.equal(checker.check(bytes, { ...right, nonce: Buffer.alloc(32) }), 'nonce_mismatch');
  assert.equal(checker.check(bytes, { ...right, certId: { raw: otherId } }), 'cert_id_mismatch');
  assert.equal(verify.mock.callCount(), 2); // the response and the certificate of its responder
  assert.equal(checker.check(by(delegate), right), 'good');
  assert.equal(verify.mock.callCount(), 3);
});

test('the cache is bounded in count and size, drops the oldest, and survives reuse of the buffer', (t) => {
  const verify = watchVerify(t);
  const [a, b, c] = [1, 2, 3].map((seconds) => made({ producedAt: THIS - seconds * 1000 }));
  const checker = createOcspChecker({ issuerDer: signer.der, maxCached: 2 });
  const expected = { certId, nonce: null, nowMs: THIS };
  const buffer = Buffer.from(a);
  assert.equal(checker.check(buffer, expected), 'good');
  buffer.fill(0);
  /** @type {[Buffer[], number][]} */
  const rounds = [
    [[a, b, a, b], 2],
    [[c, b], 3],
    [[a], 4],
  ];
  for (const [list, responses] of rounds) {
    for (const bytes of list) assert.equal(checker.check(bytes, expected), 'good');
    assert.equal(verify.mock.callCount(), responses);
  }
  const large = extended(extension('1.2.3.4', false, Buffer.alloc(16_384)));
  for (let i = 0; i < 2; i++) assert.equal(checker.check(large, expected), 'good');
  assert.equal(verify.mock.callCount(), 6);
});

test('the embedded responder with an RSA key passes; no flipped bit and no fragment does', async () => {
  const { intermediate } = await createAuthorities('rsa');
  const respond = createResponder(intermediate, new Store());
  const asked = createCertId({ issuerDer: intermediate.der, serial: leaf.serial, hash: 'sha256' });
  const bytes = Buffer.from((await respond(buildOcspRequest({ certId: asked, nonce: NONCE }))) ?? []);
  const checker = createOcspChecker({ issuerDer: intermediate.der, maxCached: 0 });
  const expected = { certId: asked, nonce: NONCE, nowMs: Date.now() };
  assert.ok(isOcspStatus(checker.check(bytes, expected)));
  const parsed = parseOcspResponse(bytes);
  assert.ok(parsed.status === 'successful' && parsed.signed !== null);
  for (const part of [parsed.signed.data, parsed.signed.signature]) {
    const start = bytes.indexOf(part);
    for (let at = 0; at < part.length; at++) {
      const damaged = Buffer.from(bytes);
      damaged[start + at] ^= 1 << (at % 8);
      assert.ok(!isOcspStatus(checker.check(damaged, expected)), `octet ${at}`);
    }
  }
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(() => parseOcspResponse(bytes.subarray(0, length)), DerError);
  }
});

test('a CertID and a request have the octets of RFC 6960, with and without a nonce', () => {
  const issuer = parseCertificate(ca.ca.der);
  for (const [hash, id] of /** @type {const} */ ([
    ['sha1', '1.3.14.3.2.26'],
    ['sha256', '2.16.840.1.101.3.4.2.1'],
  ])) {
    for (const serial of ['05', '00f00dcafe', '7fffffffffffffff', `00fe${'01'.repeat(19)}`].map(bytesOf)) {
      const digest = (/** @type {Buffer} */ bytes) => der(4, createHash(hash).update(bytes).digest());
      const algorithm = der(0x30, oid(id), bytesOf('0500'));
      const raw = der(0x30, algorithm, digest(issuer.subject), digest(issuer.spkiBits), der(2, serial));
      const made = createCertId({ issuerDer: ca.ca.der, serial, hash });
      assert.deepEqual(made.raw, raw);
      const list = der(0x30, der(0x30, raw));
      assert.deepEqual(buildOcspRequest({ certId: made }), der(0x30, der(0x30, list)));
      const request = der(0x30, der(0x30, list, der(0xa2, der(0x30, nonce(NONCE)))));
      assert.deepEqual(buildOcspRequest({ certId: made, nonce: NONCE }), request);
    }
  }
});

test('the path of a GET decodes to the request; auto is GET up to 255 bytes of URL', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1 }),
      fc.constantFrom('/v1/pki/ocsp', '/a//', ''),
      (bytes, base) => {
        const path = ocspGetPath(base, bytes);
        const prefix = `${base.replace(/\/*$/, '')}/`;
        const last = path.slice(prefix.length);
        assert.ok(path.startsWith(prefix));
        assert.match(last, /^[A-Za-z0-9%]+$/);
        assert.deepEqual(Buffer.from(decodeURIComponent(last), 'base64'), Buffer.from(bytes));
      },
    ),
  );
  const origin = 'http://127.0.0.1:8200';
  assert.equal(chooseOcspMethod(origin, `/${'a'.repeat(254 - origin.length)}`), 'GET');
  assert.equal(chooseOcspMethod(origin, `/${'a'.repeat(255 - origin.length)}`), 'POST');
});

test('exactly three verdicts are accepted', () => {
  const verdicts = /** @type {(keyof typeof OCSP_OUTCOMES)[]} */ (Object.keys(OCSP_OUTCOMES));
  assert.deepEqual(verdicts.filter(isOcspStatus), ['good', 'revoked', 'unknown']);
});
