import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { parseCertificate } from '../../src/pki/certificate-der.js';
import { createOcspChecker, DEFAULT_SKEW_MS } from '../../src/pki/ocsp-check.js';
import { buildOcspRequest, createCertId } from '../../src/pki/ocsp-request.js';
import { OcspParseError, parseOcspResponse } from '../../src/pki/ocsp-response.js';
import { isOcspStatus } from '../../src/pki/ocsp-verdicts.js';
import { buildResponse, der, extension, keyHashResponderId, oid, refusal, single } from './ocsp-builder.js';
import { TestCa } from './openssl-ca.js';

const ca = new TestCa({ key: 'ec' });
const rsaCa = new TestCa({ key: 'rsa' });
after(() => {
  ca.close();
  rsaCa.close();
});

const leaf = ca.issue('leaf');
const revoked = ca.issue('revoked', { status: 'R', reason: 'cessationOfOperation' });
const delegate = ca.issue('delegate', { extensions: ['extendedKeyUsage=OCSPSigning'] });
const NONCE = Buffer.from('00112233445566778899aabbccddeeff', 'hex');

/** @param {TestCa} authority @param {import('./openssl-ca.js').Issued} cert */
async function certIdOf(authority, cert) {
  const { serial } = parseCertificate(cert.der);
  return createCertId({ issuerDer: authority.ca.der, serial, hash: 'sha1' });
}

const certId = await certIdOf(ca, leaf);
const revokedId = await certIdOf(ca, revoked);
const rsaLeaf = rsaCa.issue('leaf');
const rsaId = await certIdOf(rsaCa, rsaLeaf);
const request = await buildOcspRequest({ certId, nonce: NONCE });

/** Valid responses of several shapes. */
const SAMPLES = [
  { authority: ca, id: certId, bytes: ca.respond(request) },
  { authority: ca, id: certId, bytes: ca.respond(request, { signer: delegate, args: ['-resp_key_id'] }) },
  { authority: ca, id: revokedId, bytes: ca.respond(await buildOcspRequest({ certId: revokedId })) },
  {
    authority: rsaCa,
    id: rsaId,
    bytes: rsaCa.respond(await buildOcspRequest({ certId: rsaId }), {
      args: ['-resp_no_certs', '-nmin', '9'],
    }),
  },
];

test('every field of a revoked answer of openssl is read', () => {
  const parsed = parseOcspResponse(SAMPLES[2].bytes);
  assert.ok(parsed.status === 'successful' && parsed.tbs !== null);
  assert.equal(parsed.typeOid, '1.3.6.1.5.5.7.48.1.1');
  assert.equal(parsed.version, 0);
  assert.deepEqual(parsed.responderId, { kind: 'name', value: parseCertificate(ca.ca.der).subject });
  assert.ok(Math.abs(parsed.producedAt - Date.now()) < 60_000);
  assert.equal(parsed.responses.length, 1);
  const [answer] = parsed.responses;
  assert.equal(answer.status, 'revoked');
  assert.equal(answer.revokedAt, Date.UTC(2026, 0, 1));
  assert.equal(answer.reason, 5);
  assert.equal(answer.nextUpdate, answer.thisUpdate + 86_400_000);
  assert.deepEqual(answer.certId, revokedId);
  assert.equal(parsed.nonce, null);
  assert.equal(parsed.signatureOid, '1.2.840.10045.4.3.2');
  assert.equal(parsed.signatureParameters, null);
  assert.deepEqual(parsed.certs, [ca.ca.der]);
});

test('nonce, key hash, missing nextUpdate and the certificate of a delegate are read', () => {
  const parsed = parseOcspResponse(SAMPLES[1].bytes);
  assert.ok(parsed.status === 'successful' && parsed.tbs !== null);
  assert.deepEqual(parsed.nonce, NONCE);
  assert.equal(parsed.responderId.kind, 'keyHash');
  assert.deepEqual(der(0xa2, der(0x04, parsed.responderId.value)), keyHashResponderId(delegate));
  assert.equal(parsed.responses[0].nextUpdate, null);
  assert.deepEqual(parsed.certs, [delegate.der]);
});

const THIS = Math.floor(Date.now() / 1000) * 1000;
const expected = { certId, nonce: NONCE, nowMs: THIS };
const plain = single({ certId: certId.raw, thisUpdate: THIS });
const CRITICAL = extension('1.2.3.4', true, Buffer.from([5, 0]));
const NONCE_OID = '1.3.6.1.5.5.7.48.1.2';
const nonceOf = (/** @type {Uint8Array} */ value) => extension(NONCE_OID, false, der(0x04, value));
const otherId = Buffer.from(certId.raw);
otherId[otherId.length - 1] ^= 1;
const absentParameters = der(
  0x30,
  der(0x30, oid('1.3.14.3.2.26')),
  der(0x04, certId.issuerNameHash),
  der(0x04, certId.issuerKeyHash),
  der(0x02, certId.serial),
);

/** @type {{text: string, verdict: string, bytes: Buffer}[]} */
const CRAFTED = [
  {
    text: 'a plain answer made by hand',
    verdict: 'good',
    bytes: buildResponse({ signer: ca.ca, singles: [plain] }),
  },
  { text: 'status malformedRequest', verdict: 'ocsp_malformed_request', bytes: refusal(1) },
  { text: 'status internalError', verdict: 'ocsp_internal_error', bytes: refusal(2) },
  { text: 'status tryLater', verdict: 'ocsp_try_later', bytes: refusal(3) },
  { text: 'status 4, which is not used', verdict: 'ocsp_unknown_error_status', bytes: refusal(4) },
  { text: 'status sigRequired', verdict: 'ocsp_sig_required', bytes: refusal(5) },
  { text: 'status unauthorized', verdict: 'ocsp_unauthorized', bytes: refusal(6) },
  { text: 'status 7', verdict: 'ocsp_unknown_error_status', bytes: refusal(7) },
  { text: 'successful without an answer', verdict: 'not_ocsp', bytes: refusal(0) },
  { text: 'an empty body', verdict: 'not_ocsp', bytes: Buffer.alloc(0) },
  { text: 'a web page', verdict: 'not_ocsp', bytes: Buffer.from('<html>502 Bad Gateway</html>') },
  { text: 'a certificate', verdict: 'not_ocsp', bytes: ca.ca.der },
  { text: 'a trailing byte', verdict: 'not_ocsp', bytes: Buffer.concat([SAMPLES[0].bytes, Buffer.alloc(1)]) },
  {
    text: 'another response type',
    verdict: 'ocsp_wrong_type',
    bytes: buildResponse({ signer: ca.ca, singles: [plain], type: '1.3.6.1.5.5.7.48.1.99' }),
  },
  {
    text: 'an unknown critical extension of the response',
    verdict: 'unknown_critical_extension',
    bytes: buildResponse({ signer: ca.ca, singles: [plain], extensions: [CRITICAL] }),
  },
  {
    text: 'an unknown critical extension of an answer',
    verdict: 'unknown_critical_extension',
    bytes: buildResponse({
      signer: ca.ca,
      singles: [single({ certId: certId.raw, thisUpdate: THIS, extensions: [CRITICAL] })],
    }),
  },
  {
    text: 'an unknown extension that is not critical',
    verdict: 'good',
    bytes: buildResponse({
      signer: ca.ca,
      singles: [plain],
      extensions: [extension('1.2.3.4', false, Buffer.from([5, 0]))],
    }),
  },
  {
    text: 'a critical nonce',
    verdict: 'good',
    bytes: buildResponse({
      signer: ca.ca,
      singles: [plain],
      extensions: [extension(NONCE_OID, true, der(0x04, NONCE))],
    }),
  },
  {
    text: 'another nonce',
    verdict: 'nonce_mismatch',
    bytes: buildResponse({ signer: ca.ca, singles: [plain], extensions: [nonceOf(Buffer.alloc(16))] }),
  },
  {
    text: 'the beginning of the nonce',
    verdict: 'nonce_mismatch',
    bytes: buildResponse({ signer: ca.ca, singles: [plain], extensions: [nonceOf(NONCE.subarray(0, 8))] }),
  },
  {
    text: 'two nonces',
    verdict: 'not_ocsp',
    bytes: buildResponse({ signer: ca.ca, singles: [plain], extensions: [nonceOf(NONCE), nonceOf(NONCE)] }),
  },
  {
    text: 'extensions without one, as Go sends them',
    verdict: 'good',
    bytes: buildResponse({ signer: ca.ca, singles: [plain], extensions: [] }),
  },
  {
    text: 'a responder whose name has a part without contents',
    verdict: 'not_ocsp',
    bytes: buildResponse({ signer: ca.ca, singles: [plain], responderId: der(0xa1, der(0x30, der(0x31))) }),
  },
  {
    text: 'a responder without a name',
    verdict: 'responder_not_authorized',
    bytes: buildResponse({ signer: ca.ca, singles: [plain], responderId: der(0xa1, der(0x30)) }),
  },
  {
    text: 'no answer at all',
    verdict: 'cert_id_mismatch',
    bytes: buildResponse({ signer: ca.ca, singles: [] }),
  },
  {
    text: 'the answer we asked for behind another one',
    verdict: 'good',
    bytes: buildResponse({
      signer: ca.ca,
      singles: [
        single({
          certId: otherId,
          thisUpdate: THIS,
          status: der(0xa1, der(0x18, Buffer.from('20260101000000Z'))),
        }),
        plain,
      ],
    }),
  },
  {
    text: 'unknown, with another CertID, as Vault answers for an unknown issuer',
    verdict: 'cert_id_mismatch',
    bytes: buildResponse({
      signer: ca.ca,
      singles: [single({ certId: otherId, thisUpdate: THIS, status: Buffer.from('8200', 'hex') })],
    }),
  },
  {
    text: 'a CertID whose hash parameters are absent instead of NULL',
    verdict: 'good',
    bytes: buildResponse({
      signer: ca.ca,
      singles: [single({ certId: absentParameters, thisUpdate: THIS })],
    }),
  },
  {
    text: 'a GeneralizedTime instead of nextUpdate past by no more than the skew',
    verdict: 'good',
    bytes: buildResponse({
      signer: ca.ca,
      singles: [
        single({ certId: certId.raw, thisUpdate: THIS - 60_000, nextUpdate: THIS - DEFAULT_SKEW_MS }),
      ],
    }),
  },
  {
    text: 'nextUpdate past by more than the skew',
    verdict: 'expired',
    bytes: buildResponse({
      signer: ca.ca,
      singles: [
        single({ certId: certId.raw, thisUpdate: THIS - 60_000, nextUpdate: THIS - DEFAULT_SKEW_MS - 1000 }),
      ],
    }),
  },
  {
    text: 'thisUpdate ahead by no more than the skew',
    verdict: 'good',
    bytes: buildResponse({
      signer: ca.ca,
      singles: [single({ certId: certId.raw, thisUpdate: THIS + DEFAULT_SKEW_MS })],
    }),
  },
  {
    text: 'thisUpdate ahead by more than the skew',
    verdict: 'not_yet_valid',
    bytes: buildResponse({
      signer: ca.ca,
      singles: [single({ certId: certId.raw, thisUpdate: THIS + DEFAULT_SKEW_MS + 1000 })],
    }),
  },
  {
    text: 'an unknown signature algorithm',
    verdict: 'unsupported_signature_algorithm',
    bytes: buildResponse({ signer: ca.ca, singles: [plain], algorithm: der(0x30, oid('1.2.3.4')) }),
  },
  {
    text: 'an ECDSA signature called RSA',
    verdict: 'bad_signature',
    bytes: buildResponse({
      signer: ca.ca,
      singles: [plain],
      algorithm: der(0x30, oid('1.2.840.113549.1.1.11')),
    }),
  },
  {
    text: 'a certificate that is none, beside a valid signature',
    verdict: 'not_ocsp',
    bytes: buildResponse({ signer: ca.ca, singles: [plain], certs: [der(0x30, Buffer.from([5, 0]))] }),
  },
  {
    text: 'the delegate behind the certificate of the CA',
    verdict: 'good',
    bytes: buildResponse({
      signer: delegate,
      singles: [plain],
      certs: [ca.ca.der, delegate.der],
    }),
  },
  {
    text: 'the key id of the delegate, made with SHA-256',
    verdict: 'responder_not_authorized',
    bytes: buildResponse({
      signer: delegate,
      singles: [plain],
      certs: [delegate.der],
      responderId: keyHashResponderId(delegate, 'sha256'),
    }),
  },
  {
    text: 'a delegate that gives itself out as the CA',
    verdict: 'bad_signature',
    bytes: buildResponse({
      signer: delegate,
      singles: [plain],
      certs: [delegate.der],
      responderId: der(0xa1, parseCertificate(ca.ca.der).subject),
    }),
  },
];

for (const { text, verdict, bytes } of CRAFTED) {
  test(`${text}: ${verdict}`, () => {
    const checker = createOcspChecker({ issuerDer: ca.ca.der });
    assert.equal(checker.check(bytes, expected), verdict);
    assert.equal(checker.check(new Uint8Array(bytes), expected), verdict);
  });
}

/** @typedef {{kind: 'flip' | 'cut' | 'insert' | 'remove' | 'set', at: number, value: number}} Change */

/** @param {Buffer} bytes @param {Change[]} changes */
function mutate(bytes, changes) {
  let out = Buffer.from(bytes);
  for (const { kind, at, value } of changes) {
    const i = at % Math.max(1, out.length);
    if (kind === 'flip') out[i] ^= 1 << (value & 7);
    else if (kind === 'set') out[i] = value;
    else if (kind === 'cut') out = out.subarray(0, i);
    else if (kind === 'remove') out = Buffer.concat([out.subarray(0, i), out.subarray(i + 1)]);
    else out = Buffer.concat([out.subarray(0, i), Buffer.from([value]), out.subarray(i)]);
    if (out.length === 0) break;
  }
  return out;
}

const change = fc.record({
  kind: fc.constantFrom(.../** @type {const} */ (['flip', 'flip', 'set', 'set', 'cut', 'insert', 'remove'])),
  at: fc.nat({ max: 3000 }),
  value: fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0, 0x30, 0x7f, 0x80, 0x81, 0x82, 0x84, 0xa0, 0xff)),
});
const mutation = fc.tuple(
  fc.nat({ max: SAMPLES.length - 1 }),
  fc.array(change, { minLength: 1, maxLength: 4 }),
);

/** @param {Buffer} bytes */
function signedParts(bytes) {
  const parsed = parseOcspResponse(bytes);
  assert.ok(parsed.status === 'successful' && parsed.tbs !== null);
  return Buffer.concat([parsed.tbs, parsed.signature]);
}

test('every single flipped bit of the signed bytes and the signature is noticed', () => {
  for (const { authority, id, bytes } of SAMPLES.slice(0, 1)) {
    const parsed = parseOcspResponse(bytes);
    assert.ok(parsed.status === 'successful' && parsed.tbs !== null);
    const checker = createOcspChecker({ issuerDer: authority.ca.der, maxRemembered: 0 });
    const asked = { certId: id, nonce: null, nowMs: Date.now() };
    assert.ok(isOcspStatus(checker.check(bytes, asked)));
    for (const part of [parsed.tbs, parsed.signature]) {
      const start = bytes.indexOf(part);
      for (let bit = 0; bit < part.length * 8; bit += 1) {
        const damaged = Buffer.from(bytes);
        damaged[start + (bit >> 3)] ^= 1 << (bit & 7);
        assert.ok(!isOcspStatus(checker.check(damaged, asked)), `bit ${bit}`);
      }
    }
  }
});

test('every truncation is noticed', () => {
  for (const { bytes } of SAMPLES) {
    for (let length = 0; length < bytes.length; length += 1) {
      assert.throws(() => parseOcspResponse(bytes.subarray(0, length)), OcspParseError);
    }
  }
});

test('a mutated response is never accepted unless the signed bytes and the signature are as they were', () => {
  let rejected = 0;
  const checkers = new Map(
    [ca, rsaCa].map((a) => [a, createOcspChecker({ issuerDer: a.ca.der, maxRemembered: 8 })]),
  );
  fc.assert(
    fc.property(mutation, ([sample, changes]) => {
      const { authority, id, bytes } = SAMPLES[sample];
      const mutated = mutate(bytes, changes);
      const verdict = checkers.get(authority)?.check(mutated, { certId: id, nonce: null, nowMs: Date.now() });
      assert.ok(verdict !== undefined);
      if (isOcspStatus(verdict)) assert.ok(signedParts(mutated).equals(signedParts(bytes)));
      else rejected += 1;
    }),
    { numRuns: 200 },
  );
  assert.ok(rejected > 60);
});

test('whatever the bytes, the parser throws nothing but OcspParseError', () => {
  let parsed = 0;
  fc.assert(
    fc.property(
      fc.oneof(
        mutation.map(([s, c]) => mutate(SAMPLES[s].bytes, c)),
        fc.uint8Array(),
      ),
      (bytes) => {
        try {
          parseOcspResponse(bytes);
          parsed += 1;
        } catch (error) {
          assert.ok(error instanceof OcspParseError, String(error));
          assert.match(error.code, /^(malformed|unknown_critical_extension)$/);
        }
      },
    ),
    { numRuns: 200 },
  );
  assert.ok(parsed > 3);
});

/** Of Vault 1.21.1, RSA-2048 CA, POST, as it came on 2026-11-21. */
const FROM_VAULT = [
  'MIIB8goBAKCCAeswggHnBgkrBgEFBQcwAQEEggHYMIIB1DCBvaEtMCsxKTAnBgNVBAMTIHZhdWx0LXBraS1sb2Fk',
  'IHRlc3QgaW50ZXJtZWRpYXRlGA8yMDI2MTEyMTE0MjEwMFowezB5ME0wCQYFKw4DAhoFAAQUOzqI4YGWP8a1K5oi',
  'EzUCi3q9H0wEFBKNHXn3Vy80kB/qL80mpVg1X/ASAhRGcFp4Qs4ocEDvklOMop0DGS4ZkYAAGA8yMDI2MTEyMTE0',
  'MjExN1qgERgPMjAyNjExMjIwMjIxMTdaoQIwADANBgkqhkiG9w0BAQsFAAOCAQEAcw1NDo87g/iekqs0BQGG7vMP',
  'eQ5ET2Ply+rkyvrD4EyyPU0mdeC7bwIgXjP854TkCmMRQv6IJkX/NK5BRMhXagagFa77W9+7Dh2bR9Gx24J/W+5u',
  'da5nQUi0eBflFewizRlQKLlcBc7YPfziHCPiy4FhPzR1bIBgkmmJFNkeVSd9nrCDJDjZulp0k3QH5zUjdI2oW7kL',
  '8xTxBOKKvRX4gYNQTAh8o5NYLwIk/6itSYbhLgZ5kuLssbFEAsTJBbbj7OfKI0SW3gN6uC9zg/iuVZTgk7IxfBsM',
  '4Xvl9K86SMlWYUDPKtiASeg9oR+RtdDFbz/uAP9icnLbzaKiP4aoDg==',
].join('');

test("Vault's own answer is read, with the empty list of extensions that Go sends", () => {
  const response = parseOcspResponse(Buffer.from(FROM_VAULT, 'base64'));
  assert.ok(response.status === 'successful' && response.tbs !== null);
  assert.equal(response.responses.length, 1);
  assert.equal(response.responses[0].status, 'good');
});
