import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { PkiLoadError } from '../../src/common/errors.js';
import { assertIssued, readCertificates } from '../../src/pki/certificate.js';
import { ocspUrls } from '../../src/pki/certificate-der.js';
import { createCsr } from '../../src/pki/csr.js';
import { DerReader } from '../../src/pki/der.js';
import { decodeBody, decodePem, encodePem, parseSerial, pemBlocks, serialHex } from '../../src/pki/text.js';
import { crlByHand } from './crl-maker.js';
import { der, extension, oid } from './ocsp-builder.js';
import { TestCa } from './test-ca.js';

const [ca, other, namesake] = [new TestCa(), new TestCa({ name: 'Other CA' }), new TestCa()];
/** @param {string} method @param {number} tag @param {string} value */
const access = (method, tag, value) => der(0x30, oid(method), der(tag, Buffer.from(value)));
const OCSP = '1.3.6.1.5.5.7.48.1';
const AIA = extension(
  '1.3.6.1.5.5.7.1.1',
  false,
  der(
    0x30,
    access(OCSP, 0x86, 'http://ocsp.example/a'),
    access('1.3.6.1.5.5.7.48.2', 0x86, 'http://ca.example/c'),
    access(OCSP, 0x86, 'HTTPS://ocsp.example/b'),
    access(OCSP, 0x86, 'ldap://ocsp.example'),
    access(OCSP, 0x82, 'http://dns.example'),
  ),
);
const leaf = ca.issue('leaf', { extensions: [AIA], serial: '0xf00d' });
const csrPem = (await createCsr({ keyType: 'ec-256', commonName: 'csr' })).pem;
const crl = crlByHand(ca.ca);
const pkcs8 = leaf.privateKey.export({ format: 'der', type: 'pkcs8' });

test('reads PEM, PEM with text around it, a chain, a bundle with the key, and DER', () => {
  const chain = `subject=somebody\n${leaf.pem}\nnext one\r\n${ca.ca.pem.replaceAll('\n', '\r\n')}the end`;
  const read = readCertificates(Buffer.from(chain), 'chain.pem');
  assert.deepEqual(
    read.map((certificate) => certificate.der),
    [leaf.der, ca.ca.der],
  );
  const old = encodePem('X509 CERTIFICATE', leaf.der);
  for (const given of [leaf.der, leaf.pem, new Uint8Array(leaf.der), leaf.keyPem + leaf.pem, old]) {
    const [certificate] = readCertificates(Buffer.from(given), 'leaf');
    assert.deepEqual(certificate.der, leaf.der);
    assert.equal(certificate.x509.subject, 'CN=leaf');
    assert.deepEqual(certificate.serial, leaf.serial);
    assert.deepEqual(certificate.issuerDer, read[1].subjectDer);
  }
  assert.ok(ca.ca.spki.includes(read[1].spkiBits));
});

const broken = Buffer.from(leaf.der).fill(0x31, 4, 5);
const noise = Buffer.alloc(10 * 1024 * 1024, 'noise-----BEGIN ');

/** @type {[string, string | Uint8Array, string][]} what, file, code */
const UNREADABLE = [
  ['an empty file', '', 'certificate_file_empty'],
  ['a file of blank lines', '\n \r\n', 'certificate_file_empty'],
  ['a private key in PEM', leaf.keyPem, 'no_certificate'],
  ['a private key in DER', pkcs8, 'certificate_unreadable'],
  ['a CSR in PEM', csrPem, 'no_certificate'],
  ['a CRL in PEM', encodePem('X509 CRL', crl), 'no_certificate'],
  ['a public key in PEM', encodePem('PUBLIC KEY', leaf.spki), 'no_certificate'],
  ['something else in PEM', encodePem('DH PARAMETERS', leaf.spki), 'no_certificate'],
  ['10 MB of noise', noise, 'certificate_file_too_large'],
  // More would be seconds of work: 11,000 certificates in 4 MiB.
  ['one octet more than 512 KiB', noise.subarray(0, 512 * 1024 + 1), 'certificate_file_too_large'],
  ['512 KiB of beginnings', noise.subarray(0, 512 * 1024), 'certificate_truncated'],
  ['a text file', 'hello', 'no_certificate'],
  ['PEM without its end', leaf.pem.slice(0, -30), 'certificate_truncated'],
  ['PEM that ends in its first line', '-----BEGIN CERT', 'certificate_truncated'],
  ['PEM whose end is that of the next one', leaf.pem.slice(0, 200) + ca.ca.pem, 'certificate_truncated'],
  ['PEM that is not base64', leaf.pem.replace('MII', 'M*I'), 'certificate_unreadable'],
  ['DER that is cut off', leaf.der.subarray(0, 200), 'certificate_unreadable'],
  ['DER with a byte too many', Buffer.concat([leaf.der, Buffer.alloc(1)]), 'certificate_unreadable'],
  ['DER with a wrong tag', broken, 'certificate_unreadable'],
  ['an empty certificate', der(0x30), 'certificate_unreadable'],
];

for (const [name, file, code] of UNREADABLE) {
  test(`${name} is rejected as ${code}; the message names the file and shows none of its contents`, () => {
    assert.throws(
      () => readCertificates(Buffer.from(file), 'my file.crt'),
      (error) => {
        assert.ok(error instanceof PkiLoadError);
        assert.equal(error.code, code);
        assert.match(error.message, /my file\.crt/);
        assert.ok(error.full.length < 300 && error.remedy !== undefined);
        assert.ok(!error.full.includes(leaf.keyPem.split('\n')[1].slice(0, 12)));
        return true;
      },
    );
  });
}

test('PEM is read in linear time, whatever is missing', () => {
  for (const line of [
    '-----BEGIN CERTIFICATE-----\n',
    '-----BEGIN ',
    `-----BEGIN ${'A'.repeat(80)}`,
    '-----',
  ]) {
    const measureMs = (/** @type {number} */ bytes) => {
      const text = line.repeat(bytes / line.length);
      const { user } = process.cpuUsage();
      assert.ok([...pemBlocks(text)].every(({ body }) => body === null));
      return (process.cpuUsage().user - user) / 1000;
    };
    measureMs(10_000);
    const short = measureMs(100_000);
    assert.ok(measureMs(1_600_000) < 100 * Math.max(short, 1), line);
  }
});

/** @param {string} pem @returns {Buffer | null} */
function readByOpenssl(pem) {
  try {
    return new X509Certificate(pem).raw;
  } catch {
    return null;
  }
}

test('PEM is read where OpenSSL reads it: blanks, an empty line after BEGIN, line lengths, padding', () => {
  const { pem } = new TestCa().issue('leaf');
  const [begin, ...signs] = pem.trim().split('\n');
  const base64 = signs.slice(0, -1).join('');
  const blank = fc.constantFrom('', '', '', ' ', '\t ');
  const layout = fc.record({
    width: fc.constantFrom(60, 63, 64, 64, 65, 76, 100),
    lineEnd: fc.constantFrom('\n', '\n', '\r\n', ' \n'),
    emptyLines: fc.constantFrom('', '', '\n', ' \r\n', '\n\n'),
    first: blank,
    second: blank,
    last: blank,
    end: fc.constantFrom('', '', '', ' '),
    extra: fc.constantFrom('', '', '', '=', '=\n', 'A', '!'),
  });
  const seen = new Set();
  fc.assert(
    fc.property(layout, (made) => {
      const lines = (base64 + made.extra).match(new RegExp(`[^\n]{1,${made.width}}\n?`, 'g')) ?? [];
      const indents = [made.first, made.second, ...Array(lines.length - 3).fill(''), made.last];
      const indented = lines.map((line, i) => indents[i] + line);
      const body = `\n${made.emptyLines}${indented.join(made.lineEnd)}${made.lineEnd}${made.end}`;
      const text = `${begin}${body}${signs.at(-1)}\n`;
      const der = readByOpenssl(text);
      seen.add(der === null);
      assert.deepEqual(decodeBody(body), der, JSON.stringify(text));
      assert.deepEqual(decodePem(text, /^CERTIFICATE$/), der);
    }),
    { numRuns: 1000 },
  );
  assert.deepEqual([...seen].sort(), [false, true]);
});

test('PEM is one block under the expected label', () => {
  const block = '-----BEGIN X-----\nTUlJ\n-----END X-----';
  assert.equal(decodePem(` ${block}\n`, /^X$/)?.toString(), 'MII');
  for (const [text, label] of /** @type {[string, RegExp][]} */ ([
    [block, /^Y$/],
    [block.replaceAll('X', ''), /^$/],
    [block.replace('-----BEGIN', '=====BEGIN'), /^X$/],
    [block.replace('END X', 'END Y'), /^X$/],
    [block.slice(0, -5), /^X$/],
    [`${block}\n${block}`, /^X$/],
    [`X${block}`, /^X$/],
    ['-----BEGIN X-----END X-----', /^X$/],
    ['-----BEGIN X-----', /^X$/],
  ])) {
    assert.equal(decodePem(text, label), null, text);
  }
});

test('PEM with white space and no base64 is rejected in linear time', () => {
  const spaces = ' '.repeat(100_000);
  const { user } = process.cpuUsage();
  assert.equal(decodeBody(`${spaces}!`), null);
  for (const text of [`BEGIN X-----${spaces}!`, `BEGIN X-----AAAA-----END X-----${spaces}!`, spaces])
    assert.equal(decodePem(`-----${text}`, /^X$/), null);
  const ms = (process.cpuUsage().user - user) / 1000;
  assert.ok(ms < 1000, `${ms} ms; quadratic time takes 5 s`);
});

test('any file content throws only a PkiLoadError', () => {
  const pem = Buffer.from(ca.ca.pem + leaf.pem);
  const octet = fc.nat({ max: 255 });
  fc.assert(
    fc.property(fc.constantFrom(pem, leaf.der), fc.nat(), octet, fc.boolean(), (file, at, value, cut) => {
      const bytes = Buffer.from(file).fill(value, at % file.length, (at % file.length) + 1);
      try {
        assert.ok(readCertificates(cut ? bytes.subarray(0, at % bytes.length) : bytes, 'f').length > 0);
      } catch (error) {
        assert.ok(error instanceof PkiLoadError, String(error));
      }
    }),
    { numRuns: 300 },
  );
});

const read = (/** @type {{der: Buffer, name: string}} */ issued) =>
  readCertificates(issued.der, issued.name)[0];
const NAMES = { leaf: 'leaf.pem', issuer: 'ca.pem' };

test('a leaf with its issuer, and a root with itself, pass; other pairs fail', () => {
  assertIssued(read(leaf), read(ca.ca), NAMES);
  assertIssued(read(ca.ca), read(ca.ca), NAMES);
  /** @type {[typeof leaf, typeof leaf, string, RegExp][]} */
  const wrong = [
    [
      leaf,
      other.ca,
      'wrong_issuer',
      /ca\.pem \(O=Throw-away, CN=Other CA\) did not issue leaf\.pem: the issuer is/,
    ],
    [leaf, namesake.ca, 'wrong_issuer', /but the key does not/],
    [ca.ca, leaf, 'certificates_swapped', /swapped/],
    [leaf, leaf, 'wrong_issuer', /ca\.pem \(CN=leaf\) did not issue leaf\.pem/],
  ];
  for (const [one, issuer, code, message] of wrong) {
    const expected = { name: 'PkiLoadError', code, message };
    assert.throws(() => assertIssued(read(one), read(issuer), NAMES), expected);
  }
});

test('a file with an issuer before its leaf: the leaf must come first', () => {
  const names = { leaf: 'chain.pem', issuer: 'chain.pem' };
  const message =
    'chain.pem has a certificate after that of its issuer: the leaf certificate must come first.';
  const expected = { name: 'PkiLoadError', code: 'leaf_not_first', message };
  assert.throws(() => assertIssued(read(ca.ca), read(leaf), names), expected);
});

test('a CA whose key is of an unknown type is rejected as an issuer', () => {
  const [known, unknown] = ['2a8648ce3d0201', '2a8648ce3d027f'];
  const { der: good } = new TestCa({ key: 'ec' }).ca;
  const hex = good.toString('hex');
  assert.ok(hex.includes(known));
  const [odd] = readCertificates(Buffer.from(hex.replace(known, unknown), 'hex'), 'odd.pem');
  assert.throws(() => assertIssued(odd, odd, NAMES), { name: 'PkiLoadError', code: 'unreadable_key' });
});

test('OCSP URLs come from AIA in order; none without it', () => {
  assert.deepEqual(ocspUrls(read(leaf)), ['http://ocsp.example/a', 'HTTPS://ocsp.example/b']);
  assert.deepEqual(ocspUrls(read(ca.ca)), []);
});

test("serials are read in common notations and Vault's, minimal and positive", () => {
  for (const [given, raw] of [
    ['1a:2b:3c', '1a2b3c'],
    ['1a-2b-3c', '1a2b3c'],
    ['1A2B3C', '1a2b3c'],
    ['1a2', '01a2'],
    ['1:2', '0102'],
    ['ff:00', '00ff00'],
    ['00:00:7f', '7f'],
    ['00:80', '0080'],
    ['0', '00'],
    ['0x05', '05'],
    [' 05 ', '05'],
    ['f'.repeat(192), `00${'f'.repeat(192)}`],
  ]) {
    assert.equal(parseSerial(given).toString('hex'), raw);
  }
  for (const bad of ['', 'xyz', '1a:', ':1a', '1a::2b', '-5', '1a 2b', '1a2b:3c', 'f'.repeat(193)]) {
    assert.throws(() => parseSerial(bad, '--serial'), { code: 'bad_serial', message: /--serial/ });
  }
  assert.equal(serialHex(leaf.serial), 'f0:0d');
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 20 }), (magnitude) => {
      const raw = parseSerial(Buffer.from(magnitude).toString('hex'));
      assert.deepEqual(parseSerial(serialHex(raw)), raw);
      assert.deepEqual(new DerReader(der(0x02, raw)).readInteger(), raw);
      assert.equal(BigInt(`0x${raw.toString('hex')}`), BigInt(`0x${Buffer.from(magnitude).toString('hex')}`));
    }),
  );
});
