/** Our work beside OpenSSL's: requests, responses, CRLs, certificates and keys that it makes, CSRs that it reads. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createPublicKey, randomBytes, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { checkIssuedCertificate, checkPrivateKey, expectNames } from '../../src/pki/certificate-check.js';
import { parseCertificate } from '../../src/pki/certificate-der.js';
import { parseCrl } from '../../src/pki/crl.js';
import { createCsr, KEY_TYPES } from '../../src/pki/csr.js';
import { createOcspChecker } from '../../src/pki/ocsp-check.js';
import { buildOcspRequest, createCertId, ocspGetPath } from '../../src/pki/ocsp-request.js';
import { verifySignature } from '../../src/pki/signature.js';
import { decodePem, serialHex } from '../../src/pki/text.js';
import { bytesOf, extension } from './ocsp-builder.js';
import { openssl, TestCa } from './openssl-ca.js';
import { EXTENSIONS, KEY_KINDS } from './test-ca.js';

/** @import { CsrKeyType } from '../../src/pki/csr.js' */
/** @import { Issued } from './test-ca.js' */

const [ca, rsaCa] = [new TestCa({ name: 'Zertifizierungsstelle Ü' }), new TestCa({ key: 'rsa' })];
after(() => {
  ca.close();
  rsaCa.close();
});

/** @param {TestCa} by @param {Issued} leaf @param {{hash?: 'sha1' | 'sha256', nonce?: Uint8Array | null}} [how] */
async function ask(by, leaf, { hash = 'sha1', nonce = null } = {}) {
  const certId = await createCertId({ issuerDer: by.ca.der, serial: leaf.serial, hash });
  return { certId, nonce, nowMs: Date.now(), request: await buildOcspRequest({ certId, nonce }) };
}

test('a request equals that of openssl: both hashes, serials of every length, with and without nonce', async () => {
  for (const serial of ['0x05', '0xf00dcafe', '0xfedcba98765432100123456789abcdef01234567']) {
    const leaf = ca.issue('leaf', { serial });
    for (const hash of /** @type {const} */ (['sha1', 'sha256'])) {
      const { request } = await ask(ca, leaf, { hash });
      assert.deepEqual(request, ca.request(leaf, [`-${hash}`, '-no_nonce']));
    }
    const theirs = ca.request(leaf, ['-nonce']);
    const nonce = theirs.subarray(theirs[theirs.length - 17] === 16 ? -16 : -32);
    assert.deepEqual((await ask(ca, leaf, { nonce })).request, theirs);
  }
});

for (const key of KEY_KINDS) {
  test(`${key}: responses of openssl have the expected verdict, by the CA and by delegates, by name and by key ID`, async () => {
    const by = key === 'rsa' ? rsaCa : new TestCa({ key });
    try {
      const good = by.issue('good');
      const leaves = {
        good,
        revoked: by.issue('revoked', { status: 'R' }),
        unknown: by.issue('u', { status: null }),
      };
      const delegate = by.issue('delegate', { key, extensions: [EXTENSIONS.ocspSigning], status: null });
      const checker = createOcspChecker({ issuerDer: by.ca.der });
      for (const [status, leaf] of Object.entries(leaves)) {
        const asked = await ask(by, leaf, { hash: 'sha256', nonce: randomBytes(32) });
        const args = ['-ndays', '1', '-resp_key_id'];
        const byDelegate = by.respond(asked.request, { signer: delegate, args });
        assert.equal(checker.check(byDelegate, { ...asked, nowMs: Date.now() }), status);
        const nonce = randomBytes(32);
        assert.equal(checker.check(byDelegate, { ...asked, nonce, nowMs: Date.now() }), 'nonce_mismatch');
      }
      const asked = await ask(by, good);
      const plain = by.respond(asked.request, { args: ['-nmin', '1', '-resp_no_certs'] });
      assert.equal(checker.check(plain, { ...asked, nowMs: Date.now() }), 'good');
      assert.equal(checker.check(plain, { ...asked, nowMs: Date.now() + 3_600_000 }), 'expired');
      const bad = by.respond(asked.request, { args: ['-badsig'] });
      assert.equal(checker.check(bad, { ...asked, nowMs: Date.now() }), 'bad_signature');
      const leafSigned = by.respond(asked.request, { signer: good });
      assert.equal(checker.check(leafSigned, { ...asked, nowMs: Date.now() }), 'responder_not_authorized');
    } finally {
      if (by !== rsaCa) by.close();
    }
  });
}

const pss = (/** @type {string[]} */ ...more) => ['-rsigopt', 'rsa_padding_mode:pss', ...more];

for (const [verdict, ...args] of [
  ['good', '-rmd', 'sha1'],
  ['good', '-rmd', 'sha384'],
  ['good', '-rmd', 'sha512'],
  ['good', '-rmd', 'sha224'],
  ['good', '-rmd', 'sha256', ...pss()],
  ['good', '-rmd', 'sha384', ...pss('-rsigopt', 'rsa_pss_saltlen:-1')],
  ['good', '-rmd', 'sha1', ...pss('-rsigopt', 'rsa_pss_saltlen:20')],
  ['unsupported_signature_algorithm', '-rmd', 'sha256', ...pss('-rsigopt', 'rsa_mgf1_md:sha1')],
]) {
  test(`an RSA signature with ${args.join(' ')}: ${verdict}`, async () => {
    const { request, ...asked } = await ask(rsaCa, rsaCa.issue('good'));
    const bytes = rsaCa.respond(request, { args });
    const checker = createOcspChecker({ issuerDer: rsaCa.ca.der });
    assert.equal(checker.check(bytes, { ...asked, nowMs: Date.now() }), verdict);
  });
}

test('a running openssl responder is queried with POST and GET', async () => {
  const leaf = ca.issue('leaf');
  const responder = await ca.listen();
  try {
    const { request, ...asked } = await ask(ca, leaf, { nonce: randomBytes(32) });
    const signal = AbortSignal.timeout(60_000);
    const headers = { 'content-type': 'application/ocsp-request' };
    const post = await fetch(responder.url, {
      method: 'POST',
      body: Uint8Array.from(request),
      headers,
      signal,
    });
    const get = await fetch(responder.url + ocspGetPath('', request), { signal });
    const checker = createOcspChecker({ issuerDer: ca.ca.der });
    for (const response of [post, get]) {
      const bytes = new Uint8Array(await response.arrayBuffer());
      assert.equal(checker.check(bytes, { ...asked, nowMs: Date.now() }), 'good');
    }
  } finally {
    await responder.stop();
  }
});

const usageOf = (/** @type {string} */ hex) => extension('2.5.29.15', true, bytesOf(hex));
const odd = (/** @type {boolean} */ isCritical) => extension('1.2.3.4', isCritical, bytesOf('0500'));

/** Extensions of a delegate beside OCSPSigning, our verdict, and whether OpenSSL accepts its responses. @type {[string, Buffer, string, boolean][]} */
const DELEGATES = [
  ['an unknown critical extension', odd(true), 'responder_unknown_critical_extension', false],
  ['an unknown extension', odd(false), 'good', true],
  ['a key usage for signatures', usageOf('03020780'), 'good', true],
  // RFC 5280 section 4.2.1.3 forbids it; OpenSSL 3.0 does not check.
  ['a key usage for key agreement', usageOf('03020308'), 'responder_key_usage', true],
];
for (const [what, more, verdict, isAccepted] of DELEGATES) {
  test(`a delegate with ${what}: ${verdict}; OpenSSL ${isAccepted ? 'accepts' : 'rejects'} it`, async () => {
    const leaf = ca.issue('leaf');
    const signer = ca.issue('delegate', { extensions: [EXTENSIONS.ocspSigning, more], status: null });
    const { request, ...asked } = await ask(ca, leaf);
    const bytes = ca.respond(request, { signer });
    const checker = createOcspChecker({ issuerDer: ca.ca.der });
    assert.equal(checker.check(bytes, { ...asked, nowMs: Date.now() }), verdict);
    writeFileSync(ca.path('delegate.der'), bytes);
    const args = ['ocsp', '-respin', ca.path('delegate.der'), '-CAfile', ca.ca.certFile, '-no_nonce'];
    const { stderr } = spawnSync('openssl', [...args, '-issuer', ca.ca.certFile, '-cert', leaf.certFile]);
    assert.equal(/Response verify OK/.test(String(stderr)), isAccepted, String(stderr));
  });
}

/** Serial, date and perhaps a reason. */
const REVOKED = [
  ['01', '260102030405Z'],
  ['7F', '491231235959Z,keyCompromise'],
  ['80', '500101000000Z,superseded'],
  ['3B0ED273B965BD63808F481401B016A2F3EBC331', '261122230812Z'],
  ['FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF', '300228000000Z,cessationOfOperation'],
];

for (const [name, rows, lines, critical] of /** @type {[string, string[][], string[], string | null][]} */ ([
  ['with entries', REVOKED, ['authorityKeyIdentifier = keyid'], null],
  ['without entries', [], ['authorityKeyIdentifier = keyid'], null],
  ['of version 1', REVOKED.slice(0, 1), [], null],
  ['that is a delta CRL', REVOKED, ['2.5.29.27 = critical,DER:020105'], '2.5.29.27'],
  [
    'for user certificates only',
    REVOKED,
    ['issuingDistributionPoint = critical,@idp', '[idp]', 'onlyuser = TRUE'],
    '2.5.29.28',
  ],
])) {
  test(`a CRL ${name} is read as openssl crl reads it`, () => {
    const path = (/** @type {string} */ file) => ca.path(file);
    const index = rows.map(([serial, date]) => `R\t491231235959Z\t${date}\t${serial}\tunknown\t/CN=x\n`);
    writeFileSync(path('revoked.txt'), index.join(''));
    writeFileSync(path('number'), '1000\n');
    const base = [
      '[ca]',
      'default_ca = it',
      '[it]',
      `database = ${path('revoked.txt')}`,
      'default_md = default',
    ];
    const more = lines.length > 0 ? [`crlnumber = ${path('number')}`, 'crl_extensions = ext', '[ext]'] : [];
    writeFileSync(path('ca.cnf'), `${[...base, ...more, ...lines].join('\n')}\n`);
    const keys = ['-cert', ca.ca.certFile, '-keyfile', ca.ca.keyFile, '-crldays', '3'];
    openssl(['ca', '-gencrl', '-config', path('ca.cnf'), ...keys, '-out', path('crl.pem')]);
    const der = openssl(['crl', '-in', path('crl.pem'), '-outform', 'DER']);
    const text = openssl(['crl', '-in', path('crl.pem'), '-noout', '-text', '-crlnumber']).toString();
    const time = (/** @type {string} */ label) =>
      Date.parse(new RegExp(`${label}: (.*)\n`).exec(text)?.[1] ?? '');
    /** @type {[string, number][]} */
    const entries = [];
    const plain = (/** @type {Uint8Array} */ serial) => serialHex(serial).replaceAll(':', '').toUpperCase();
    const crl = parseCrl(der, (serial, ms) => entries.push([plain(serial), ms]));
    const theirs = [...text.matchAll(/Serial Number: ([0-9A-F]+)\n\s+Revocation Date: (.*)\n/g)];
    assert.deepEqual(
      entries,
      theirs.map(([, serial, date]) => [serial, Date.parse(date)]),
    );
    assert.equal(entries.length, rows.length);
    assert.deepEqual([crl.thisUpdateMs, crl.nextUpdateMs], [time('Last Update'), time('Next Update')]);
    assert.equal(crl.number && plain(crl.number), lines.length > 0 ? '1000' : null);
    assert.equal(crl.unknownCritical, critical);
    assert.equal(verifySignature(crl.signed, new X509Certificate(ca.ca.der).publicKey), null);
  });
}

for (const key of ['rsa', 'ec']) {
  test(`an openssl certificate with an ${key} key passes, and its key in every format matches`, () => {
    const path = (/** @type {string} */ file) => ca.path(`own-${file}`);
    const names = 'subjectAltName=DNS:www.example.com,DNS:Alt.Example.com,email:me@Example.com,IP:10.0.0.1';
    const newKey = key === 'rsa' ? ['rsa:2048'] : ['ec', '-pkeyopt', 'ec_paramgen_curve:P-384'];
    const common = ['-nodes', '-config', '/dev/null', '-subj', '/CN=www.example.com'];
    openssl(['req', '-new', ...common, '-newkey', ...newKey, '-keyout', path('key'), '-out', path('csr')]);
    writeFileSync(path('ext'), names);
    const signing = ['-CA', ca.ca.certFile, '-CAkey', ca.ca.keyFile, '-set_serial', '0xf00d'];
    const pem = openssl(['x509', '-req', '-in', path('csr'), ...signing, '-extfile', path('ext')]).toString();
    const formats = [['pkey'], ['pkey', '-traditional'], ...(key === 'ec' ? [['ec', '-no_public']] : [])];
    for (const [command, ...args] of formats) {
      const expected = expectNames({
        commonName: 'www.example.com',
        altNames: ['alt.example.com', 'me@example.com'],
        ipSans: ['10.0.0.1'],
      });
      const result = checkIssuedCertificate({
        certificatePem: pem,
        issuingCaPem: ca.ca.pem,
        privateKeyPem: openssl([command, '-in', path('key'), ...args]).toString(),
        serialNumber: 'f0:0d',
        expected,
        nowMs: Date.now(),
      });
      assert.equal(result.failure, null, `${command} ${args}`);
      assert.equal(result.serial?.toString('hex'), '00f00d');
    }
    const { spki } = parseCertificate(decodePem(pem, /CERTIFICATE/) ?? Buffer.alloc(0));
    assert.equal(checkPrivateKey(ca.ca.keyPem, spki), 'key_mismatch');
  });
}

for (const keyType of /** @type {CsrKeyType[]} */ (Object.keys(KEY_TYPES))) {
  test(`openssl verifies a CSR with a ${keyType} key and reads its names`, async () => {
    const altNames = ['www.example.com', 'bücher.example', 'me@example.com'];
    const { pem, spki } = await createCsr({
      keyType,
      commonName: 'www.example.com',
      altNames,
      ipSans: ['10.0.0.1', '2001:db8::1'],
    });
    const args = ['req', '-verify', '-noout', '-text', '-config', '/dev/null'];
    const text = openssl(args, { input: pem }).toString();
    assert.match(text, /Subject: CN ?= ?www\.example\.com/);
    assert.match(
      text,
      /DNS:www\.example\.com, DNS:xn--bcher-kva\.example, email:me@example\.com, IP Address:10\.0\.0\.1, IP Address:2001:DB8:0:0:0:0:0:1/,
    );
    const theirs = openssl(['req', '-pubkey', '-noout', '-config', '/dev/null'], { input: pem });
    assert.deepEqual(createPublicKey(theirs).export({ format: 'der', type: 'spki' }), spki);
  });
}
