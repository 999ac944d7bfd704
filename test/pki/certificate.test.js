import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { PkiLoadError } from '../../src/errors.js';
import {
  assertIssued,
  ocspUrls,
  parseSerial,
  readCertificates,
  serialHex,
} from '../../src/pki/certificate.js';
import { DerReader } from '../../src/pki/der.js';
import { encodePem } from '../../src/pki/pem.js';
import { der } from './ocsp-builder.js';
import { openssl, TestCa } from './openssl-ca.js';

const ca = new TestCa({ key: 'rsa' });
const other = new TestCa({ key: 'ec', name: 'Other CA' });
const namesake = new TestCa({ key: 'ec', name: 'Test CA' });
after(() => {
  for (const authority of [ca, other, namesake]) authority.close();
});

const AIA =
  'authorityInfoAccess=OCSP;URI:http://ocsp.example/a,caIssuers;URI:http://ca.example/c,OCSP;URI:http://ocsp.example/b';
const leaf = ca.issue('leaf', { extensions: [AIA], serial: '0xf00d' });
const keyPem = readFileSync(leaf.keyFile, 'utf8');
const csrPem = openssl(['req', '-new', '-key', leaf.keyFile, '-subj', '/CN=csr']).toString();
const crlPem = openssl(['crl', '-in', makeCrl()]).toString();

function makeCrl() {
  ca.indexFile();
  const config = ca.path('ca.cnf');
  const fields = `[ca]\ndefault_ca=b\n[b]\ndatabase=${ca.path('index.txt')}\ndefault_md=sha256\ndefault_crl_days=1\n`;
  writeFileSync(config, fields);
  const out = ca.path('crl.pem');
  openssl([
    'ca',
    '-gencrl',
    '-config',
    config,
    '-cert',
    ca.ca.certFile,
    '-keyfile',
    ca.ca.keyFile,
    '-out',
    out,
  ]);
  return out;
}

test('PEM, PEM with text around it, a chain and DER are read', () => {
  const chain = `subject=somebody\n${leaf.pem}\nnext one\r\n${ca.ca.pem.replaceAll('\n', '\r\n')}the end`;
  assert.deepEqual(
    readCertificates(Buffer.from(chain), 'chain.pem').map((certificate) => certificate.der),
    [leaf.der, ca.ca.der],
  );
  for (const bytes of [leaf.der, Buffer.from(leaf.pem), new Uint8Array(leaf.der)]) {
    const [certificate] = readCertificates(bytes, 'leaf');
    assert.deepEqual(certificate.der, leaf.der);
    assert.equal(certificate.x509.subject, 'CN=leaf');
    assert.deepEqual(certificate.serial, Buffer.from('00f00d', 'hex'));
    const [issuer] = readCertificates(ca.ca.der, 'ca');
    assert.deepEqual(certificate.issuerDer, issuer.subjectDer);
    assert.ok(issuer.x509.publicKey.export({ format: 'der', type: 'spki' }).includes(issuer.spkiBits));
  }
});

test('a certificate beside its private key is read, as in a bundle', () => {
  const [certificate] = readCertificates(Buffer.from(keyPem + leaf.pem), 'bundle.pem');
  assert.deepEqual(certificate.der, leaf.der);
});

const broken = Buffer.from(leaf.der);
broken[4] = 0x31;
const noise = Buffer.alloc(10 * 1024 * 1024, 'noise-----BEGIN ');
const p8 = openssl(['pkcs8', '-topk8', '-nocrypt', '-in', leaf.keyFile, '-outform', 'DER']);
const base64 = (/** @type {string} */ pem) => Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
const spki = openssl(['pkey', '-in', leaf.keyFile, '-pubout']).toString();

/** @type {{text: string, bytes: Uint8Array, code: string}[]} */
const UNREADABLE = [
  { text: 'an empty file', bytes: Buffer.alloc(0), code: 'certificate_file_empty' },
  { text: 'a file of blank lines', bytes: Buffer.from('\n \r\n'), code: 'certificate_file_empty' },
  { text: 'a private key in PEM', bytes: Buffer.from(keyPem), code: 'private_key_given' },
  { text: 'a private key in DER', bytes: p8, code: 'private_key_given' },
  { text: 'a CSR in PEM', bytes: Buffer.from(csrPem), code: 'csr_given' },
  { text: 'a CSR in DER', bytes: base64(csrPem), code: 'csr_given' },
  { text: 'a CRL in PEM', bytes: Buffer.from(crlPem), code: 'crl_given' },
  { text: 'a CRL in DER', bytes: base64(crlPem), code: 'crl_given' },
  { text: 'a public key in PEM', bytes: Buffer.from(spki), code: 'public_key_given' },
  { text: 'a public key in DER', bytes: base64(spki), code: 'public_key_given' },
  { text: '10 MB of noise', bytes: noise, code: 'certificate_file_too_large' },
  { text: '4 MB of noise', bytes: Buffer.alloc(4 * 1024 * 1024, 'noise'), code: 'no_certificate' },
  { text: '4 MB of beginnings', bytes: noise.subarray(0, 4 * 1024 * 1024), code: 'certificate_truncated' },
  { text: 'a text file', bytes: Buffer.from('hello'), code: 'no_certificate' },
  { text: 'PEM without its end', bytes: Buffer.from(leaf.pem.slice(0, -30)), code: 'certificate_truncated' },
  {
    text: 'PEM that ends in its first line',
    bytes: Buffer.from('-----BEGIN CERT'),
    code: 'certificate_truncated',
  },
  {
    text: 'PEM whose end is that of the next one',
    bytes: Buffer.from(leaf.pem.slice(0, 200) + ca.ca.pem),
    code: 'certificate_truncated',
  },
  {
    text: 'PEM that is not base64',
    bytes: Buffer.from(leaf.pem.replace('MII', 'M*I')),
    code: 'certificate_unreadable',
  },
  { text: 'DER that is cut off', bytes: leaf.der.subarray(0, 300), code: 'certificate_unreadable' },
  {
    text: 'DER with a byte too many',
    bytes: Buffer.concat([leaf.der, Buffer.alloc(1)]),
    code: 'certificate_unreadable',
  },
  { text: 'DER with a wrong tag', bytes: broken, code: 'certificate_unreadable' },
  { text: 'an empty certificate', bytes: der(0x30), code: 'certificate_unreadable' },
];

for (const { text, bytes, code } of UNREADABLE) {
  test(`${text} is refused as ${code}, naming the file and not its contents`, () => {
    assert.throws(
      () => readCertificates(bytes, 'my file.crt'),
      (error) => {
        assert.ok(error instanceof PkiLoadError);
        assert.equal(error.code, code);
        assert.match(error.message, /my file\.crt/);
        assert.ok(error.full.length < 300);
        assert.ok(error.remedy !== undefined);
        assert.ok(!error.full.includes(keyPem.split('\n')[1].slice(0, 12)));
        return true;
      },
    );
  });
}

test('whatever the file, only a PkiLoadError is thrown', () => {
  const pem = Buffer.from(ca.ca.pem + leaf.pem);
  fc.assert(
    fc.property(
      fc.boolean(),
      fc.nat({ max: 3000 }),
      fc.nat({ max: 255 }),
      fc.boolean(),
      (isPem, at, value, cut) => {
        let bytes = Buffer.from(isPem ? pem : leaf.der);
        bytes[at % bytes.length] = value;
        if (cut) bytes = bytes.subarray(0, at % bytes.length);
        try {
          assert.ok(readCertificates(bytes, 'f').length > 0);
        } catch (error) {
          assert.ok(error instanceof PkiLoadError, String(error));
        }
      },
    ),
    { numRuns: 200 },
  );
});

const read = (/** @type {import('./openssl-ca.js').Issued} */ issued) =>
  readCertificates(issued.der, issued.name)[0];
const NAMES = { leaf: 'leaf.pem', issuer: 'ca.pem' };

test('a leaf with its issuer, and a root with itself, pass', () => {
  assertIssued(read(leaf), read(ca.ca), NAMES);
  assertIssued(read(ca.ca), read(ca.ca), NAMES);
});

/** @type {{text: string, leaf: import('./openssl-ca.js').Issued, issuer: import('./openssl-ca.js').Issued, code: string, says: RegExp}[]} */
const WRONG = [
  {
    text: 'another issuer',
    leaf,
    issuer: other.ca,
    code: 'wrong_issuer',
    says: /ca\.pem .*Other CA.* did not issue leaf\.pem/,
  },
  {
    text: 'a CA of the same name',
    leaf,
    issuer: namesake.ca,
    code: 'wrong_issuer',
    says: /its key did not sign/,
  },
  { text: 'the two swapped', leaf: ca.ca, issuer: leaf, code: 'certificates_swapped', says: /swapped/ },
  { text: 'the leaf twice', leaf, issuer: leaf, code: 'wrong_issuer', says: /same certificate/ },
];

for (const { text, leaf: of, issuer, code, says } of WRONG) {
  test(`${text}: ${code}`, () => {
    assert.throws(() => assertIssued(read(of), read(issuer), NAMES), {
      name: 'PkiLoadError',
      code,
      message: says,
    });
  });
}

test('OCSP addresses come from AIA in their order, and none where there is none', () => {
  assert.deepEqual(ocspUrls(read(leaf)), ['http://ocsp.example/a', 'http://ocsp.example/b']);
  assert.deepEqual(ocspUrls(read(ca.ca)), []);
});

/** @type {{text: string, given: string, raw: string}[]} */
const SERIALS = [
  { text: 'colons', given: '1a:2b:3c', raw: '1a2b3c' },
  { text: 'dashes, as Vault has them in paths', given: '1a-2b-3c', raw: '1a2b3c' },
  { text: 'plain digits', given: '1A2B3C', raw: '1a2b3c' },
  { text: 'an odd number of digits', given: '1a2', raw: '01a2' },
  { text: 'a set high bit gets a zero before it', given: 'ff:00', raw: '00ff00' },
  { text: 'needless zeros go', given: '00:00:7f', raw: '7f' },
  { text: 'one needed zero stays', given: '00:80', raw: '0080' },
  { text: 'nought', given: '0', raw: '00' },
  { text: 'a prefix of openssl', given: '0x05', raw: '05' },
  { text: 'blanks around it', given: ' 05 ', raw: '05' },
];

for (const { text, given, raw } of SERIALS) {
  test(`serial with ${text}`, () => assert.equal(parseSerial(given).toString('hex'), raw));
}

for (const bad of ['', 'xyz', '1a:', ':1a', '1a::2b', '-5', '1a 2b', '1a2b:3c', 'f'.repeat(500)]) {
  test(`${JSON.stringify(bad.slice(0, 20))} is no serial`, () => {
    assert.throws(() => parseSerial(bad, '--serial'), { code: 'bad_serial', message: /--serial/ });
  });
}

test('text of a serial is what openssl prints, with colons, and reads back the same', () => {
  assert.equal(serialHex(read(leaf).serial), 'f0:0d');
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 20 }), (magnitude) => {
      const raw = parseSerial(Buffer.from(magnitude).toString('hex'));
      assert.deepEqual(parseSerial(serialHex(raw)), raw);
      assert.deepEqual(parseSerial(serialHex(raw).replaceAll(':', '')), raw);
      assert.deepEqual(new DerReader(der(0x02, raw)).readInteger(), raw);
      assert.equal(BigInt(`0x${raw.toString('hex')}`), BigInt(`0x${Buffer.from(magnitude).toString('hex')}`));
    }),
  );
});

test('PEM that we write is read by openssl', () => {
  const text = encodePem('CERTIFICATE', leaf.der);
  assert.equal(
    openssl(['x509', '-noout', '-subject'], { input: text }).toString().trim(),
    'subject=CN = leaf',
  );
});
