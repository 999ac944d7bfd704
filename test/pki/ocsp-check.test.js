import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { parseCertificate } from '../../src/pki/certificate-der.js';
import { createOcspChecker, DEFAULT_SKEW_MS } from '../../src/pki/ocsp-check.js';
import { buildOcspRequest, createCertId, ocspGetPath } from '../../src/pki/ocsp-request.js';
import { isOcspStatus, OCSP_VERDICTS } from '../../src/pki/ocsp-verdicts.js';
import { TestCa } from './openssl-ca.js';

const SIGNING = ['extendedKeyUsage=OCSPSigning'];
const DAY = 86_400_000;

/** @param {string} key */
function authority(key) {
  const ca = new TestCa({ key });
  const leaves = {
    good: ca.issue('good', { status: 'V' }),
    revoked: ca.issue('revoked', { status: 'R' }),
    unknown: ca.issue('unknown', { status: null }),
  };
  const signers = {
    'the CA itself': ca.ca,
    'a delegate with OCSPSigning': ca.issue('delegate', { key, extensions: SIGNING, status: null, days: 5 }),
    'a delegate without any EKU': ca.issue('no eku', { key, status: null }),
    'a delegate with another EKU': ca.issue('client', {
      key,
      extensions: ['extendedKeyUsage=clientAuth'],
      status: null,
    }),
  };
  return { ca, leaves, signers, checker: createOcspChecker({ issuerDer: ca.ca.der }) };
}

const authorities = [authority('rsa'), authority('ec')];
const [rsa, ec] = authorities;
const stranger = new TestCa({ key: 'ec', name: 'Stranger' });
const namesake = new TestCa({ key: 'ec', name: 'Test CA' });
after(() => {
  for (const { ca } of authorities) ca.close();
  stranger.close();
  namesake.close();
});

/** So that a responder that never answers is a failure and not a hang. */
const timeout = () => AbortSignal.timeout(10_000);

/**
 * @param {TestCa} ca
 * @param {import('./openssl-ca.js').Issued} leaf
 * @param {{hash?: 'sha1' | 'sha256', nonce?: Uint8Array | null}} [options]
 */
async function ask(ca, leaf, { hash = 'sha1', nonce = null } = {}) {
  const certId = await createCertId({
    issuerDer: ca.ca.der,
    serial: parseCertificate(leaf.der).serial,
    hash,
  });
  return { certId, nonce, request: await buildOcspRequest({ certId, nonce }) };
}

for (const { ca, leaves, signers, checker } of authorities) {
  for (const [how, signer] of Object.entries(signers)) {
    for (const identified of ['name', 'key id']) {
      test(`${ca.key} CA, response signed by ${how}, responder by ${identified}`, async () => {
        const authorised = !/without|another/.test(how);
        for (const [status, leaf] of Object.entries(leaves)) {
          for (const hash of /** @type {const} */ (['sha1', 'sha256'])) {
            for (const nonce of [null, randomBytes(32)]) {
              const { certId, request } = await ask(ca, leaf, { hash, nonce });
              const args = ['-ndays', '1', ...(identified === 'key id' ? ['-resp_key_id'] : [])];
              const response = ca.respond(request, { signer, args });
              const verdict = checker.check(response, { certId, nonce, nowMs: Date.now() });
              assert.equal(verdict, authorised ? status : 'responder_not_authorized', `${status} ${hash}`);
            }
          }
        }
      });
    }
  }
}

for (const { ca, leaves, signers, checker } of authorities) {
  test(`${ca.key} CA: a listening openssl responder is asked by POST and by GET, with and without nonce`, async () => {
    const responder = await ca.listen({ signer: signers['a delegate with OCSPSigning'] });
    try {
      for (const [status, leaf] of Object.entries(leaves)) {
        for (const nonce of [null, randomBytes(32)]) {
          const { certId, request } = await ask(ca, leaf, { nonce });
          const post = await fetch(responder.url, {
            method: 'POST',
            body: Uint8Array.from(request),
            headers: { 'content-type': 'application/ocsp-request' },
            signal: timeout(),
          });
          const get = await fetch(responder.url + ocspGetPath('', request), { signal: timeout() });
          for (const answer of [post, get]) {
            const bytes = new Uint8Array(await answer.arrayBuffer());
            assert.equal(checker.check(bytes, { certId, nonce, nowMs: Date.now() }), status);
            const otherNonce = { certId, nonce: randomBytes(32), nowMs: Date.now() };
            assert.equal(checker.check(bytes, otherNonce), nonce === null ? status : 'nonce_mismatch');
          }
        }
      }
    } finally {
      await responder.stop();
    }
  });
}

/** @type {{text: string, verdict: string, args?: string[], signer?: import('./openssl-ca.js').Issued, laterMs?: number}[]} */
const ODD = [
  {
    text: 'a corrupted signature of the CA',
    verdict: 'bad_signature',
    args: ['-ndays', '1', '-badsig'],
  },
  {
    text: 'a corrupted signature of a delegate',
    verdict: 'bad_signature',
    args: ['-ndays', '1', '-badsig'],
    signer: rsa.signers['a delegate with OCSPSigning'],
  },
  { text: 'a CA that nobody knows', verdict: 'responder_not_authorized', signer: stranger.ca },
  {
    text: 'a CA that nobody knows, by key id',
    verdict: 'responder_not_authorized',
    signer: stranger.ca,
    args: ['-ndays', '1', '-resp_key_id'],
  },
  { text: 'a CA of the same name and another key', verdict: 'bad_signature', signer: namesake.ca },
  {
    text: 'a CA of the same name and another key, by key id',
    verdict: 'responder_not_authorized',
    signer: namesake.ca,
    args: ['-ndays', '1', '-resp_key_id'],
  },
  {
    text: 'a delegate of another CA of the same name',
    verdict: 'responder_not_authorized',
    signer: namesake.issue('delegate', { extensions: SIGNING }),
  },
  {
    text: 'a delegate whose certificate was left out',
    verdict: 'responder_not_authorized',
    args: ['-ndays', '1', '-resp_no_certs'],
    signer: rsa.signers['a delegate with OCSPSigning'],
  },
  { text: 'the CA, without its certificate', verdict: 'good', args: ['-ndays', '1', '-resp_no_certs'] },
  { text: 'the CA, nextUpdate an hour past', verdict: 'expired', args: ['-nmin', '1'], laterMs: 3_600_000 },
  { text: 'the CA, within nextUpdate', verdict: 'good', args: ['-nmin', '70'], laterMs: 3_600_000 },
  { text: 'the CA, without nextUpdate, ten days later', verdict: 'good', args: [], laterMs: 10 * DAY },
  { text: 'the CA, thisUpdate in an hour', verdict: 'not_yet_valid', laterMs: -3_600_000 },
  {
    text: 'a delegate whose certificate has expired',
    verdict: 'responder_cert_expired',
    args: ['-ndays', '9'],
    signer: rsa.signers['a delegate with OCSPSigning'],
    laterMs: 6 * DAY,
  },
  {
    text: 'a delegate whose certificate is not valid yet',
    verdict: 'responder_cert_expired',
    signer: rsa.signers['a delegate with OCSPSigning'],
    laterMs: -DAY,
  },
  { text: 'a signature with SHA-1', verdict: 'good', args: ['-ndays', '1', '-rmd', 'sha1'] },
  { text: 'a signature with SHA-384', verdict: 'good', args: ['-ndays', '1', '-rmd', 'sha384'] },
  { text: 'a signature with SHA-512', verdict: 'good', args: ['-ndays', '1', '-rmd', 'sha512'] },
  {
    text: 'a signature with a hash we do not know',
    verdict: 'unsupported_signature_algorithm',
    args: ['-ndays', '1', '-rmd', 'sha224'],
  },
  {
    text: 'RSA-PSS with the longest salt',
    verdict: 'good',
    args: ['-ndays', '1', '-rmd', 'sha256', '-rsigopt', 'rsa_padding_mode:pss'],
  },
  {
    text: 'RSA-PSS with a salt as long as the hash',
    verdict: 'good',
    args: [
      '-ndays',
      '1',
      '-rmd',
      'sha384',
      '-rsigopt',
      'rsa_padding_mode:pss',
      '-rsigopt',
      'rsa_pss_saltlen:-1',
    ],
  },
  {
    text: 'RSA-PSS with all its defaults',
    verdict: 'good',
    args: [
      '-ndays',
      '1',
      '-rmd',
      'sha1',
      '-rsigopt',
      'rsa_padding_mode:pss',
      '-rsigopt',
      'rsa_pss_saltlen:20',
    ],
  },
  {
    text: 'RSA-PSS with another hash in MGF1',
    verdict: 'unsupported_signature_algorithm',
    args: [
      '-ndays',
      '1',
      '-rmd',
      'sha256',
      '-rsigopt',
      'rsa_padding_mode:pss',
      '-rsigopt',
      'rsa_mgf1_md:sha1',
    ],
  },
];

for (const { text, verdict, args = ['-ndays', '1'], signer = rsa.ca.ca, laterMs = 0 } of ODD) {
  test(`${text}: ${verdict}`, async () => {
    const { certId, request } = await ask(rsa.ca, rsa.leaves.good);
    const response = rsa.ca.respond(request, { signer, args });
    const checker = createOcspChecker({ issuerDer: rsa.ca.ca.der });
    for (const round of ['first', 'remembered']) {
      const actual = checker.check(response, { certId, nonce: null, nowMs: Date.now() + laterMs });
      assert.equal(actual, verdict, round);
    }
  });
}

for (const key of ['ec384', 'ed25519', 'ed448', 'rsa-pss']) {
  test(`a CA with a ${key} key: good, and a flipped bit is a bad signature`, async () => {
    const ca = new TestCa({ key });
    try {
      const leaf = ca.issue('leaf');
      const { certId, request } = await ask(ca, leaf, { hash: 'sha256' });
      const response = ca.respond(request, { args: ['-ndays', '1', '-resp_no_certs'] });
      const checker = createOcspChecker({ issuerDer: ca.ca.der });
      const expected = { certId, nonce: null, nowMs: Date.now() };
      assert.equal(checker.check(response, expected), 'good');
      const damaged = Buffer.from(response);
      damaged[damaged.length - 5] ^= 1;
      assert.equal(checker.check(damaged, expected), 'bad_signature');
    } finally {
      ca.close();
    }
  });
}

test('a response about another certificate is a mismatch, whoever signed it', async () => {
  const good = await ask(ec.ca, ec.leaves.good);
  const revoked = await ask(ec.ca, ec.leaves.revoked);
  const response = ec.ca.respond(revoked.request);
  const expected = { certId: good.certId, nonce: null, nowMs: Date.now() };
  assert.equal(ec.checker.check(response, expected), 'cert_id_mismatch');
});

test('a CertID with the other hash is a mismatch', async () => {
  const [asked, answered] = [
    await ask(ec.ca, ec.leaves.good, { hash: 'sha256' }),
    await ask(ec.ca, ec.leaves.good, { hash: 'sha1' }),
  ];
  const expected = { certId: asked.certId, nonce: null, nowMs: Date.now() };
  assert.equal(ec.checker.check(ec.ca.respond(answered.request), expected), 'cert_id_mismatch');
});

test('an answer of another CA to the same serial is a mismatch', async () => {
  const leaf = stranger.issue('leaf', { serial: '0x1234' });
  const here = await ask(ec.ca, leaf);
  const there = await ask(stranger, leaf);
  const response = stranger.respond(there.request);
  const expected = { certId: here.certId, nonce: null, nowMs: Date.now() };
  assert.equal(ec.checker.check(response, expected), 'cert_id_mismatch');
});

test('identical bytes are verified once, and yet their time, nonce and CertID are checked each time', async () => {
  const nonce = randomBytes(32);
  const { certId, request } = await ask(ec.ca, ec.leaves.good, { nonce });
  const other = await ask(ec.ca, ec.leaves.revoked);
  const response = ec.ca.respond(request, { signer: ec.signers['a delegate with OCSPSigning'] });
  const checker = createOcspChecker({ issuerDer: ec.ca.ca.der });
  const nowMs = Date.now();
  for (let i = 0; i < 3; i += 1) assert.equal(checker.check(response, { certId, nonce, nowMs }), 'good');
  assert.equal(checker.check(response, { certId, nonce, nowMs: nowMs + 2 * DAY }), 'expired');
  assert.equal(checker.check(response, { certId, nonce, nowMs: nowMs - DAY / 2 }), 'responder_cert_expired');
  assert.equal(checker.check(response, { certId, nonce: randomBytes(32), nowMs }), 'nonce_mismatch');
  assert.equal(checker.check(response, { certId: other.certId, nonce, nowMs }), 'cert_id_mismatch');
  assert.deepEqual(checker.verifications(), { responses: 1, certificates: 1 });
});

test('what is remembered is bounded, oldest first, and survives reuse of the buffer', async () => {
  const { certId, request } = await ask(ec.ca, ec.leaves.good);
  const [a, b, c] = [1, 2, 3].map((days) => ec.ca.respond(request, { args: ['-ndays', String(days)] }));
  const checker = createOcspChecker({ issuerDer: ec.ca.ca.der, maxRemembered: 2 });
  const expected = { certId, nonce: null, nowMs: Date.now() };
  const buffer = Buffer.from(a);
  assert.equal(checker.check(buffer, expected), 'good');
  buffer.fill(0);
  for (const response of [a, b, a, b]) assert.equal(checker.check(response, expected), 'good');
  assert.equal(checker.verifications().responses, 2);
  checker.check(c, expected);
  checker.check(b, expected);
  assert.equal(checker.verifications().responses, 3);
  checker.check(a, expected);
  assert.equal(checker.verifications().responses, 4);
});

test('the certificate of a delegate is verified once for all its responses', async () => {
  const signer = ec.signers['a delegate with OCSPSigning'];
  const checker = createOcspChecker({ issuerDer: ec.ca.ca.der });
  for (const leaf of Object.values(ec.leaves)) {
    const { certId, request } = await ask(ec.ca, leaf);
    checker.check(ec.ca.respond(request, { signer }), { certId, nonce: null, nowMs: Date.now() });
  }
  assert.deepEqual(checker.verifications(), { responses: 3, certificates: 1 });
});

test('every verdict has a sentence, and exactly three of them are accepted', () => {
  for (const sentence of Object.values(OCSP_VERDICTS)) assert.match(sentence, /^[A-Za-z].*[^.]\.$/);
  const verdicts = /** @type {import('../../src/pki/ocsp-verdicts.js').OcspVerdict[]} */ (
    Object.keys(OCSP_VERDICTS)
  );
  assert.deepEqual(verdicts.filter(isOcspStatus), ['good', 'revoked', 'unknown']);
  assert.ok(Object.isFrozen(OCSP_VERDICTS));
  assert.ok(DEFAULT_SKEW_MS < 60_000);
});
