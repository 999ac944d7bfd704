import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  CERTIFICATE_FAILURES,
  checkIssuedCertificate,
  checkPrivateKey,
  expectNames,
} from '../../src/pki/certificate-check.js';
import { commonNameOf, hasExtendedKeyUsage, isCa, parseCertificate } from '../../src/pki/certificate-der.js';
import { DerReader, TAG } from '../../src/pki/der.js';
import { ipBytes, nameKey } from '../../src/pki/names.js';
import { encodePem, serialHex } from '../../src/pki/text.js';
import { bytesOf, der, extension, oid } from './ocsp-builder.js';
import { EXTENSIONS, Issued, KEY_KINDS, makeKeys, nameOf, rsaKeyWith, signed, TestCa } from './test-ca.js';

/** @import { KeyObject } from 'node:crypto' */

const ca = new TestCa({ key: 'rsa' });
const [ecCa, stranger] = [new TestCa(), new TestCa({ name: 'Stranger' })];
const CN = 'www.example.com';
const ALT = ['Alt.Example.com', 'xn--bcher-kva.example', '*.wild.example', 'me@Example.com'];
const IPS = ['10.0.0.1', '2001:db8::1'];
const text = (/** @type {number} */ tag, /** @type {string} */ value) => der(tag, Buffer.from(value));
const ALT_NAMES = extension(
  '2.5.29.17',
  false,
  der(
    0x30,
    ...[CN, ...ALT.slice(0, 3)].map((name) => text(0x82, name)),
    text(0x81, ALT[3]),
    ...['0a000001', '20010db8000000000000000000000001'].map((hex) => der(0x87, bytesOf(hex))),
  ),
);
const ALT_NAMES_LIST = der(0xa3, der(0x30, ALT_NAMES));
const leaf = ca.issue(CN, { extensions: [ALT_NAMES], days: 3 });
const coming = ca.issue(CN, { extensions: [ALT_NAMES], inDays: 1, days: 3 });
const begin = parseCertificate(coming.der).notBefore;
const nameless = ca.issue('', { extensions: [ALT_NAMES] });
const own = extension('2.5.29.17', false, der(0x30, text(0x82, CN)));
const only = { expected: { commonName: CN } };
const bare = ca.issue(CN);
const subCa = ca.issue(CN, { extensions: [own, EXTENSIONS.ca] });
const notCa = ca.issue(CN, { extensions: [own, EXTENSIONS.notCa] });
const fields = parseCertificate(leaf.der);
const toPem = (/** @type {Buffer} */ bytes) => encodePem('CERTIFICATE', bytes);
const damaged = Buffer.from(leaf.der);
damaged[damaged.length - 9] ^= 1;
const otherAlgorithm = toPem(signed(ca.ca, fields.signed.data, der(0x30, oid('1.2.840.113549.1.1.11'))));
const unknownAlgorithm = der(0x30, oid('1.2.3.4'));
const unsupported = toPem(
  signed(ca.ca, withPart(fields.signed.data, ca.ca.algorithm, unknownAlgorithm), unknownAlgorithm),
);

/** @param {Buffer} sequence @param {Buffer} part @param {Buffer} other in its place */
function withPart(sequence, part, other) {
  const contents = new DerReader(sequence).read(TAG.sequence);
  const at = contents.indexOf(part);
  return der(0x30, contents.subarray(0, at), other, contents.subarray(at + part.length));
}

const version4 = toPem(
  signed(ca.ca, withPart(fields.signed.data, bytesOf('a003020102'), bytesOf('a003020103'))),
);
const trailing = toPem(
  signed(
    ca.ca,
    withPart(fields.signed.data, ALT_NAMES_LIST, Buffer.concat([ALT_NAMES_LIST, bytesOf('0500')])),
  ),
);

/** @typedef {Parameters<typeof checkIssuedCertificate>[0]} Answer */
/** @type {Omit<Answer, 'expected'> & {expected: Parameters<typeof expectNames>[0]}} */
const RIGHT = {
  certificatePem: leaf.pem,
  issuingCaPem: ca.ca.pem,
  privateKeyPem: leaf.keyPem,
  expectedSpki: null,
  serialNumber: serialHex(leaf.serial),
  expected: { commonName: CN, altNames: ALT, ipSans: IPS },
  isVerbatim: false,
  nowMs: Date.now(),
};
const check = (/** @type {typeof RIGHT} */ answer) =>
  checkIssuedCertificate({ ...answer, expected: expectNames(answer.expected) });
const of = (/** @type {Issued} */ { pem, serial }) => ({
  certificatePem: pem,
  privateKeyPem: null,
  serialNumber: serialHex(serial),
});
/** @param {Buffer} names the alternative names @param {object} [expected] */
const named = (names, expected) => ({
  ...of(ca.issue('Bob Smith', { extensions: [extension('2.5.29.17', false, der(0x30, names))] })),
  expected: { commonName: 'Bob Smith', ...expected },
});
/** @param {Buffer[]} extensions of the CA @param {object} [options] */
function under(extensions, options) {
  const issuer = ca.issue('Sub', { extensions, ...options });
  const { pem, serial } = new TestCa({ ca: issuer }).issue(CN, { extensions: [ALT_NAMES] });
  return {
    certificatePem: pem,
    privateKeyPem: null,
    serialNumber: serialHex(serial),
    issuingCaPem: issuer.pem,
  };
}
const usage = (/** @type {string} */ hex) => extension('2.5.29.15', true, bytesOf(hex));
const SLOW = {
  key: 'rsa',
  again: /** @type {any} */ ({ ...makeKeys('rsa'), publicKey: rsaKeyWith(Buffer.alloc(9, 1)) }),
};
const asked = (/** @type {object} */ more) => ({ expected: { ...RIGHT.expected, ...more } });
const at = (/** @type {number} */ nowMs) => ({ nowMs });

/** @type {(name: string, failure: string | null, change: Partial<typeof RIGHT>) => [string, string | null, Partial<typeof RIGHT>]} */
const row = (name, failure, change) => [name, failure, change];
const [CN_OID, EMAIL_OID] = ['2.5.4.3', '1.2.840.113549.1.9.1'];
/** @type {(id: string, tag: number, value: string) => Buffer} */
const attribute = (id, tag, value) => der(0x31, der(0x30, oid(id), text(tag, value)));
const subjectOf = (/** @type {Buffer[]} */ ...parts) => ({
  certificatePem: toPem(signed(ca.ca, withPart(fields.signed.data, nameOf(CN), der(0x30, ...parts)))),
});
/** By OID: values that are no such extension. */
const DAMAGED = {
  '2.5.29.14': ['0500', '0402 0101 0500'],
  '2.5.29.15': ['7a7a7a', '0300', '03020804', '030100', '03020000', '0303070000'],
  '2.5.29.17': [
    ...['3000', '3003 8201ff', '3003 8101ff', '3003 8601ff', '3002 0500', '3003 a00100', '3004 a4020500'],
    ...['3003 880180', '3003 890161'],
  ],
  '2.5.29.18': ['3000', '3003 8201ff'],
  '2.5.29.19': ['7a7a', '3006 020100 0101ff', '3000 3003 0101ff'],
  '2.5.29.30': ['3000', '3002 a000', '3007 a005 3003 8201ff', '3009 a007 3005 820161 0500'],
  '2.5.29.31': [
    ...['67617262616765', '3000', '3003 020101', '3004 3002 a000', '3006 3004 a002 0500'],
    ...['3005 3003 810108', '3002 3000', '3006 3004 81020640'],
  ],
  '2.5.29.32': ['3000', '3002 0500', '3002 3000', '3007 3005 060161 3000', '300a 3003 060161 3003 060161'],
  '2.5.29.33': ['3002 3000', '3005 3003 060161'],
  '2.5.29.35': ['0500', '3002 0500', '3003 a10161', '3002 8200', '3005 820101 0500'],
  '2.5.29.36': ['3000', '3002 8000', '3003 820101', '3003 8001ff'],
  '2.5.29.54': ['0201ff'],
  '2.5.29.37': ['3000', '3003 020101'],
  '2.5.29.46': ['3003 020101'],
  '1.3.6.1.5.5.7.1.1': ['0500', '3002 3000', '3005 3003 060161', '3007 3005 060161 0500'],
};
const AKI = '2.5.29.35';
const keyId = createHash('sha1').update(ca.ca.spki).digest('hex');
const id = oid('1.2.3');
const uri = text(0x86, 'http://a/');
const directoryName = der(0xa4, ca.subject);
const point = der(0x30, der(0xa0, der(0xa0, uri)), der(0x81, bytesOf('0640')), der(0xa2, directoryName));
const relative = der(0x30, der(0xa0, der(0xa1, der(0x30, id, bytesOf('0500')))));
const subtree = der(0x30, text(0x82, 'a'), der(0x80, bytesOf('00')), der(0x81, bytesOf('05')));
/** By OID: values of every form that RFC 5280 defines. */
const PROPER = {
  '2.5.29.18': der(
    ...[0x30, der(0xa0, id, der(0xa0, bytesOf('0500'))), text(0x81, 'a@b'), text(0x82, 'a'), der(0xa3)],
    ...[directoryName, der(0xa5), uri, der(0x87, bytesOf('0a000001')), der(0x88, bytesOf('2a03'))],
  ),
  '2.5.29.30': der(0x30, der(0xa0, subtree), der(0xa1, subtree, der(0x30, uri))),
  '2.5.29.31': der(0x30, point, relative, der(0x30, der(0xa2, directoryName))),
  '2.5.29.32': der(0x30, der(0x30, id), der(0x30, oid('1.2.4'), der(0x30, der(0x30, id, text(0x16, 'a'))))),
  '2.5.29.33': der(0x30, der(0x30, id, id)),
  [AKI]: der(0x30, der(0x80, bytesOf(keyId)), der(0xa1, uri, directoryName), der(0x82, ca.ca.serial)),
  '2.5.29.36': der(0x30, der(0x81, bytesOf('00'))),
  '2.5.29.46': der(0x30, point),
  '2.5.29.54': bytesOf('020100'),
  '1.3.6.1.5.5.7.1.1': der(0x30, der(0x30, id, uri), der(0x30, id, directoryName)),
};
/** @param {string} id @param {string} hex @param {boolean} [isCritical] */
const extended = (id, hex, isCritical = false) => ({
  ...of(
    ca.issue(CN, {
      extensions: [...(id === '2.5.29.17' ? [] : [own]), extension(id, isCritical, bytesOf(hex))],
    }),
  ),
  ...only,
});
const SKI = '2.5.29.14';
/** RFC 5280: the CA "MUST mark" some as non-critical; OpenSSL and Go reject them if they are critical. */
const NEVER_CRITICAL = [SKI, '2.5.29.18', AKI, '2.5.29.46', '1.3.6.1.5.5.7.1.1'];
const MAY_BE_CRITICAL = ['2.5.29.30', '2.5.29.31', '2.5.29.32', '2.5.29.33', '2.5.29.36', '2.5.29.54'];
const organization = (/** @type {number} */ tag, /** @type {string} */ hex) =>
  subjectOf(der(0x31, der(0x30, oid('2.5.4.10'), der(tag, bytesOf(hex)))), attribute(CN_OID, 0x0c, CN));
/** By tag: text of this type, and octets that are not. @type {[tag: number, right: string[], wrong: string[]][]} */
const TEXTS = [
  [0x0c, ['', '62c3bc', 'f09f9880'], ['fffe', 'c0af', 'eda080', 'f4908080', 'c3']],
  [0x12, ['3120'], ['61']],
  [0x13, ['412062302728292b2c2d2e2f3a3d3f2a26'], ['40', '5f', 'c3', '00']],
  [0x14, ['f6'], []],
  [0x16, ['405f007f'], ['80']],
  [0x1a, ['207e'], ['1f', '7f', 'f6']],
  [0x1c, ['0001f6000010ffff0000e000', ''], ['0001f6', '00110000', '0000d800', '01000041']],
  [0x1e, ['004100fcd7ffe000', ''], ['41', 'd83dde00', '0041dfff']],
];
/** @param {Buffer} algorithm @param {Buffer} bits @returns {Partial<typeof RIGHT>} a certificate with this public key */
const keyed = (algorithm, bits) =>
  resigned(leaf.spki, der(0x30, algorithm, der(0x03, Buffer.alloc(1), bits)));
const rsaKeyOf = (/** @type {string} */ modulus, /** @type {string} */ exponent, more = '') =>
  der(0x30, der(0x02, bytesOf(modulus)), der(0x02, bytesOf(exponent)), bytesOf(more));
const [rsaId, pssId, ecId] = ['1.2.840.113549.1.1.1', '1.2.840.113549.1.1.10', '1.2.840.10045.2.1'];
const rsaAlgorithm = der(0x30, oid(rsaId), bytesOf('0500'));
const bits = fields.spkiBits;
const compressed = Buffer.from(bits.subarray(0, 33)).fill(2, 0, 1);
const P256 = oid('1.2.840.10045.3.1.7');
const explicitKey = generateKeyPairSync('ec', { namedCurve: 'P-256', paramEncoding: 'explicit' });
/** @type {[name: string, algorithm: Buffer, bits: Buffer][]} */
const ODD_KEYS = [
  ['an RSA key without NULL', der(0x30, oid(rsaId)), rsaKeyOf('61', '03')],
  ['an RSA key with other parameters', der(0x30, oid(rsaId), id), rsaKeyOf('61', '03')],
  ['an RSA key with a third number', rsaAlgorithm, rsaKeyOf('61', '03', '020101')],
  ['an RSA key before other bytes', rsaAlgorithm, Buffer.concat([rsaKeyOf('61', '03'), bytesOf('0500')])],
  ['an RSA key that is no SEQUENCE', rsaAlgorithm, bytesOf('0500')],
  ['a negative RSA modulus', rsaAlgorithm, rsaKeyOf('81', '03')],
  ...['01', '04', '83', '00'].map(
    (hex) =>
      /** @type {[string, Buffer, Buffer]} */ ([`an RSA exponent ${hex}`, rsaAlgorithm, rsaKeyOf('61', hex)]),
  ),
  ['an RSA-PSS exponent 01', der(0x30, oid(pssId)), rsaKeyOf('61', '01')],
  ['an EC key without a curve', der(0x30, oid(ecId)), bits],
  ['an EC key with NULL', der(0x30, oid(ecId), bytesOf('0500')), bits],
  ['a hybrid EC point', der(0x30, oid(ecId), P256), Buffer.from(bits).fill(6, 0, 1)],
  ['an EC point at infinity', der(0x30, oid(ecId), P256), bytesOf('00')],
  ['an EC key without a point', der(0x30, oid(ecId), P256), bytesOf('')],
];
/** @param {Buffer} was part of the leaf @param {Buffer} is in its place @param {string} [serialNumber] */
const resigned = (was, is, serialNumber = serialHex(leaf.serial)) => ({
  certificatePem: toPem(signed(ca.ca, withPart(fields.signed.data, was, is))),
  serialNumber,
});
const numbered = (/** @type {string} */ hex) =>
  resigned(der(0x02, leaf.serial), der(0x02, bytesOf(hex)), serialHex(bytesOf(hex)));
const unique = (/** @type {string} */ hex) =>
  resigned(ALT_NAMES_LIST, Buffer.concat([bytesOf(hex), ALT_NAMES_LIST]));
/** @type {[string, string | null, Partial<typeof RIGHT>][]} */
const ROWS = [
  ['the requested certificate', null, {}],
  ['a certificate for a CSR', null, { privateKeyPem: null, expectedSpki: leaf.spki }],
  ['no text', 'no_certificate', { certificatePem: undefined }],
  ['an empty text', 'no_certificate', { certificatePem: '' }],
  ['a number', 'no_certificate', { certificatePem: 5 }],
  ['no PEM', 'certificate_unreadable', { certificatePem: 'hello' }],
  ['truncated PEM', 'certificate_unreadable', { certificatePem: leaf.pem.slice(0, 400) }],
  ['two certificates', 'certificate_unreadable', { certificatePem: leaf.pem + leaf.pem }],
  ['a text before PEM', 'certificate_unreadable', { certificatePem: `x\n${leaf.pem}` }],
  [
    'PEM with white space around it and CRLF',
    null,
    { certificatePem: ` ${leaf.pem.replaceAll('\n', '\r\n')} ` },
  ],
  ['PEM with indented lines', null, { certificatePem: leaf.pem.replace(/\n(?!-|$)/g, '\n\t ') }],
  ['PEM with an empty line after BEGIN', null, { certificatePem: leaf.pem.replace('\n', '\n\n') }],
  ...[
    ['a sign that is not base64', (/** @type {string} */ pem) => pem.replace('MII', 'M!II')],
    ['base64url', (/** @type {string} */ pem) => pem.replace(/\n(.*)\n-----END/, '\n_$1\n-----END')],
    ['blanks for line breaks', (/** @type {string} */ pem) => pem.replaceAll('\n', ' ')],
    ['no line breaks', (/** @type {string} */ pem) => pem.replaceAll('\n', '')],
    ['an indented END', (/** @type {string} */ pem) => pem.replace('\n-----END', '\n -----END')],
    ['an indented line after an empty one', (/** @type {string} */ pem) => pem.replace('\n', '\n\n ')],
    ['an empty line within', (/** @type {string} */ pem) => pem.replace(/\n(.*)\n/, '\n$1\n\n')],
    ['a sign too many', (/** @type {string} */ pem) => pem.replace(/=*\n-----END/, 'A\n-----END')],
    [
      'a text after the padding',
      (/** @type {string} */ pem) => pem.replace('\n-----END', '=\nMAA=\n-----END'),
    ],
  ].map(([name, change]) =>
    row(`PEM with ${name}`, 'certificate_unreadable', {
      certificatePem: /** @type {(pem: string) => string} */ (change)(leaf.pem),
    }),
  ),
  ['truncated DER', 'certificate_unreadable', { certificatePem: toPem(leaf.der.subarray(0, 400)) }],
  ['a private key', 'certificate_unreadable', { certificatePem: leaf.keyPem }],
  ['another algorithm outside', 'certificate_unreadable', { certificatePem: otherAlgorithm }],
  ['version 4', 'certificate_unreadable', { certificatePem: version4 }],
  ['trailing bytes after the extensions', 'certificate_unreadable', { certificatePem: trailing }],
  ['no issuing CA', 'no_issuing_ca', { issuingCaPem: null }],
  ['an empty issuing CA', 'no_issuing_ca', { issuingCaPem: '' }],
  ['garbage as CA', 'issuing_ca_unreadable', { issuingCaPem: 'x' }],
  ['a damaged CA', 'issuing_ca_unreadable', { issuingCaPem: toPem(ca.ca.der.subarray(0, 300)) }],
  ['another CA', 'wrong_issuer', { issuingCaPem: stranger.ca.pem }],
  ['a certificate of another CA', 'wrong_issuer', of(stranger.issue(CN))],
  ['the key identifier of the CA', null, extended(AKI, `3016 8014 ${keyId}`)],
  ['the key identifier of another CA', 'wrong_issuer', extended(AKI, `3016 8014 ${'00'.repeat(20)}`)],
  ['the serial number of another CA', 'wrong_issuer', extended(AKI, '3006 8204 01020304')],
  [
    "another CA as the CA's issuer",
    'wrong_issuer',
    extended(AKI, der(0x30, der(0xa1, uri, der(0xa4, nameOf('Other')))).toString('hex')),
  ],
  [
    "another CA as a second name of the CA's issuer",
    'wrong_issuer',
    extended(AKI, der(0x30, der(0xa1, directoryName, der(0xa4, nameOf('Other')))).toString('hex')),
  ],
  ...Object.entries(PROPER).map(([oid, value]) =>
    row(`a well-formed ${oid}`, null, extended(oid, value.toString('hex'))),
  ),
  ...NEVER_CRITICAL.map((oid) => {
    const hex = oid === SKI ? '040101' : PROPER[/** @type {keyof typeof PROPER} */ (oid)].toString('hex');
    return row(`a critical ${oid}`, 'unknown_critical_extension', extended(oid, hex, true));
  }),
  ...MAY_BE_CRITICAL.map((oid) => {
    const hex = PROPER[/** @type {keyof typeof PROPER} */ (oid)].toString('hex');
    return row(`a critical ${oid}`, null, extended(oid, hex, true));
  }),
  ...TEXTS.flatMap(([tag, right, wrong]) => [
    ...right.map((hex) => row(`an organization ${tag} ${hex}`, null, organization(tag, hex))),
    ...wrong.map((hex) =>
      row(`an organization ${tag} ${hex}`, 'certificate_unreadable', organization(tag, hex)),
    ),
  ]),
  ...ODD_KEYS.map(([name, algorithm, bits]) => row(name, 'certificate_unreadable', keyed(algorithm, bits))),
  ['a compressed EC point', 'key_mismatch', keyed(der(0x30, oid(ecId), P256), compressed)],
  [
    'a CA whose EC key describes its curve',
    'issuing_ca_unreadable',
    under([EXTENSIONS.ca], { again: explicitKey }),
  ],
  ['a CA of the same name and another key', 'bad_signature', { issuingCaPem: ecCa.ca.pem }],
  ['a damaged signature', 'bad_signature', { certificatePem: toPem(damaged) }],
  ['an unknown algorithm', 'unsupported_signature_algorithm', { certificatePem: unsupported }],
  ['a CA without basicConstraints', 'issuing_ca_not_ca', under([])],
  ['a leaf as CA', 'issuing_ca_not_ca', under([EXTENSIONS.notCa])],
  ['a CA that may sign only CRLs', 'issuing_ca_key_usage', under([EXTENSIONS.ca, usage('03020102')])],
  ['a CA that may sign certificates', null, under([EXTENSIONS.ca, usage('03020106')])],
  [
    'a CA with an unknown critical extension',
    'issuing_ca_unknown_critical_extension',
    under([EXTENSIONS.ca, extension('1.2.3.4', true, bytesOf('0500'))]),
  ],
  ...['03020384', '03020804', '0500'].map((hex) =>
    row(`a CA with the key usage ${hex}`, 'issuing_ca_unreadable', under([EXTENSIONS.ca, usage(hex)])),
  ),
  ...['3006 0101ff 0201ff', '3009 0101ff 020100 020100'].map((hex) =>
    row(
      `basicConstraints ${hex}`,
      'issuing_ca_unreadable',
      under([extension('2.5.29.19', true, bytesOf(hex))]),
    ),
  ),
  [
    'a CA with a critical key identifier',
    'issuing_ca_unknown_critical_extension',
    under([EXTENSIONS.ca, extension(SKI, true, bytesOf('040101'))]),
  ],
  ['an expired CA', 'issuing_ca_expired', under([EXTENSIONS.ca], { inDays: -2, days: -1 })],
  ['a CA valid from tomorrow', 'issuing_ca_not_yet_valid', under([EXTENSIONS.ca], { inDays: 1, days: 2 })],
  ['an RSA exponent that is too large', 'rsa_exponent_too_large', under([EXTENSIONS.ca], SLOW)],
  ['no serial number', 'serial_mismatch', { serialNumber: undefined }],
  ['another serial number', 'serial_mismatch', { serialNumber: serialHex(bare.serial) }],
  ['a serial number in capitals', null, { serialNumber: serialHex(leaf.serial).toUpperCase() }],
  ['another commonName', 'wrong_subject', asked({ commonName: 'other' })],
  ['a commonName in other case', 'wrong_subject', asked({ commonName: 'WWW.example.com' })],
  ['the commonName among the alternative names only', null, of(nameless)],
  [
    'a commonName missing everywhere',
    'wrong_subject',
    { ...of(nameless), ...asked({ commonName: 'other.example.com' }) },
  ],
  ['no commonName requested', null, asked({ commonName: null, altNames: [CN, ...ALT] })],
  ['the certificate of a CA', 'ca_certificate', { ...of(subCa), ...only }],
  ['an explicit non-CA certificate', null, { ...of(notCa), ...only }],
  [
    'an unknown critical extension',
    'unknown_critical_extension',
    { ...of(ca.issue(CN, { extensions: [own, extension('1.2.3.4', true, bytesOf('0500'))] })), ...only },
  ],
  [
    'every alternative name, in other spellings',
    null,
    asked({
      altNames: ['alt.example.com', 'bücher.example', '*.wild.example', 'me@example.com'],
      ipSans: ['10.0.0.1', '2001:DB8:0::0001', '::ffff:10.0.0.1'],
    }),
  ],
  ['a missing name', 'wrong_sans', asked({ altNames: [...ALT, 'missing.example.com'] })],
  ['a name that only a wildcard covers', 'wrong_sans', asked({ altNames: ['a.wild.example'] })],
  ['an e-mail address in other case', 'wrong_sans', asked({ altNames: ['Me@example.com'] })],
  ['a missing address', 'wrong_sans', asked({ ipSans: [...IPS, '10.0.0.2'] })],
  ['an invalid address', 'wrong_sans', asked({ ipSans: ['10.0.0'] })],
  ['no alternative names', 'common_name_only', { ...of(bare), ...only }],
  ['the same by sign-verbatim', null, { ...of(bare), ...only, isVerbatim: true }],
  [
    'without the commonName',
    'common_name_only',
    {
      ...of(ca.issue('Bob@Smith', { extensions: [own] })),
      expected: { commonName: 'Bob@Smith', altNames: [CN] },
    },
  ],
  ['a commonName that is not a host name', null, named(text(0x82, CN), { altNames: [CN] })],
  [
    'a soft hyphen in a name, which IDNA would remove',
    'certificate_unreadable',
    named(text(0x82, `h\xads${CN.slice(1)}`), { altNames: [`hs${CN.slice(1)}`] }),
  ],
  ['a name that was not requested', 'extra_sans', named(text(0x82, CN))],
  ['another name that was not requested', 'extra_sans', asked({ altNames: ALT.slice(1) })],
  ['an address that was not requested', 'extra_sans', asked({ ipSans: IPS.slice(1) })],
  ['an e-mail address that was not requested', 'extra_sans', asked({ altNames: ALT.slice(0, 3) })],
  ['an e-mail address as a DNS name', 'wrong_sans', named(text(0x82, 'a@b.c'), { altNames: ['a@b.c'] })],
  [
    'an IPv4-mapped address in 16 octets, which clients do not match',
    'wrong_sans',
    named(der(0x87, bytesOf(`${'00'.repeat(10)}ffff0a000001`)), { ipSans: ['10.0.0.1'] }),
  ],
  ['a URI', 'extra_sans', named(text(0x86, 'https://example.com/'))],
  ['a registered ID', 'extra_sans', named(der(0x88, bytesOf('2a03')))],
  ...Object.entries(DAMAGED).flatMap(([id, values]) =>
    values.map((hex) => row(`${id} is ${hex}`, 'certificate_unreadable', extended(id, hex))),
  ),
  ['a unique identifier of 9 unused bits', 'certificate_unreadable', unique('81020900')],
  ['a unique identifier of 6 bits', null, unique('81020240')],
  ...[...['00', 'ff', '80'], `40${'00'.repeat(20)}`, `00ff${'00'.repeat(19)}`].map((hex) =>
    row(`the serial number ${hex}`, 'serial_out_of_range', numbered(hex)),
  ),
  ...['01', `40${'00'.repeat(19)}`].map((hex) => row(`the serial number ${hex}`, null, numbered(hex))),
  [
    'an end before the beginning',
    'certificate_expired',
    { ...of(ca.issue(CN, { extensions: [ALT_NAMES], inDays: 1 / 86_400, days: 0 })), nowMs: Date.now() },
  ],
  [
    'a serial number in an array',
    'serial_mismatch',
    { serialNumber: /** @type {any} */ ([RIGHT.serialNumber]) },
  ],
  [
    'two commonNames',
    'wrong_subject',
    subjectOf(attribute(CN_OID, 0x0c, 'evil.example'), attribute(CN_OID, 0x0c, CN)),
  ],
  ['the commonName twice', null, subjectOf(attribute(CN_OID, 0x0c, CN), attribute(CN_OID, 0x13, CN))],
  [
    'an e-mail address',
    'wrong_subject',
    subjectOf(attribute(CN_OID, 0x0c, CN), attribute(EMAIL_OID, 0x16, 'root@evil.example')),
  ],
  [
    'a requested e-mail address',
    null,
    subjectOf(attribute(CN_OID, 0x0c, CN), attribute(EMAIL_OID, 0x16, ALT[3])),
  ],
  ['a commonName in an OCTET STRING', 'certificate_unreadable', subjectOf(attribute(CN_OID, 0x04, CN))],
  ['another key than in the CSR', 'key_mismatch', { privateKeyPem: null, expectedSpki: bare.spki }],
  ['the private key of another certificate', 'key_mismatch', { privateKeyPem: bare.keyPem }],
  ['no private key in the text', 'private_key_unreadable', { privateKeyPem: 'none' }],
  ['a private key that is a number', 'private_key_unreadable', { privateKeyPem: 1 }],
  ['early by the skew', null, { ...of(coming), ...at(begin - 5000) }],
  ['early by more than the skew', 'not_yet_valid', { ...of(coming), ...at(begin - 5001) }],
  ['late by the skew', null, at(fields.notAfter + 5000)],
  ['late by more than the skew', 'certificate_expired', at(fields.notAfter + 5001)],
];

test('each declared failure can occur', () => {
  const seen = new Set(ROWS.map(([, failure]) => failure).filter((failure) => failure !== null));
  assert.deepEqual([...seen].sort(), Object.keys(CERTIFICATE_FAILURES).sort());
});

for (const [name, failure, change] of ROWS) {
  test(`${name}: ${failure ?? 'passes'}`, () => {
    const result = check({ ...RIGHT, ...change });
    assert.equal(result.failure, failure);
    const readable = failure !== 'no_certificate' && failure !== 'certificate_unreadable';
    assert.equal(result.serial !== null, readable);
    if (failure === null && change.certificatePem === undefined) assert.deepEqual(result.serial, leaf.serial);
  });
}

test('extensions and names are read as written', () => {
  const both = der(0x30, oid('1.3.6.1.5.5.7.3.1'), oid('1.3.6.1.5.5.7.3.2'));
  const server = parseCertificate(ca.issue(CN, { extensions: [extension('2.5.29.37', true, both)] }).der);
  for (const [purpose, has] of /** @type {const} */ ([
    ['1.3.6.1.5.5.7.3.2', true],
    ['1.3.6.1.5.5.7.3.9', false],
  ])) {
    assert.equal(hasExtendedKeyUsage(server, purpose), has);
    assert.equal(hasExtendedKeyUsage(fields, purpose), false);
  }
  assert.equal(isCa(fields), false);
  assert.equal(isCa(parseCertificate(ca.ca.der)), true);
  const cn = (/** @type {Buffer} */ value) => der(0x31, der(0x30, oid('2.5.4.3'), value));
  assert.equal(commonNameOf(nameOf('')), null);
  assert.equal(commonNameOf(nameOf('bücher', 'O')), 'bücher');
  assert.equal(
    commonNameOf(der(0x30, cn(text(0x13, 'one')), cn(text(0x14, 'zw\xf6lf').subarray(0)))),
    'zwÃ¶lf',
  );
  assert.equal(commonNameOf(der(0x30, cn(der(0x1e, bytesOf('0041 00fc'))))), 'Aü');
});

for (const key of KEY_KINDS) {
  test(`${key}: the key in every format matches its certificate, and another key does not`, () => {
    const [mine, other] = [new Issued(ecCa, CN, key), new Issued(ecCa, CN, key)];
    const { privateKey } = mine;
    const texts = [mine.keyPem];
    if (key === 'rsa') texts.push(privateKey.export({ format: 'pem', type: 'pkcs1' }).toString());
    if (key.startsWith('ec')) texts.push(privateKey.export({ format: 'pem', type: 'sec1' }).toString());
    for (const keyText of texts) {
      assert.equal(checkPrivateKey(keyText, mine.spki), null);
      assert.equal(checkPrivateKey(keyText, other.spki), 'key_mismatch');
    }
  });
}

test('an RSA-PSS key with another private exponent or coefficient does not match', () => {
  const { privateKey, publicKey } = makeKeys('rsa-pss');
  const spki = publicKey.export({ format: 'der', type: 'spki' });
  const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' });
  for (const place of [400, pkcs8.length - 3]) {
    const wrong = Buffer.from(pkcs8);
    wrong[place] ^= 1;
    assert.equal(checkPrivateKey(encodePem('PRIVATE KEY', pkcs8), spki), null);
    assert.equal(checkPrivateKey(encodePem('PRIVATE KEY', wrong), spki), 'key_mismatch');
  }
});

test('an RSA key with a borrowed modulus, or correct modulo only one prime, does not match', () => {
  const [mine, other] = [makeKeys('rsa'), makeKeys('rsa')];
  const spki = mine.publicKey.export({ format: 'der', type: 'spki' });
  const fieldsOf = (/** @type {KeyObject} */ key) => {
    const reader = new DerReader(key.export({ format: 'der', type: 'pkcs1' })).enter(TAG.sequence);
    return Array.from({ length: 9 }, () => reader.readInteger());
  };
  const result = (/** @type {Buffer[]} */ list, certified = spki) => {
    const key = der(0x30, ...list.map((field) => der(0x02, field)));
    return checkPrivateKey(encodePem('RSA PRIVATE KEY', key), certified);
  };
  const right = fieldsOf(mine.privateKey);
  const [modulus, one] = [der(0x02, right[1]), bytesOf('01')];
  const rsa = der(0x30, oid('1.2.840.113549.1.1.1'), bytesOf('0500'));
  const publicOne = der(0x30, rsa, der(0x03, bytesOf('00'), der(0x30, modulus, der(0x02, one))));
  const exponentOne = [2, 3, 6, 7].reduce((list, i) => list.with(i, one), right);
  assert.equal(result(exponentOne, publicOne), 'private_key_unreadable');
  assert.equal(result(right), null);
  const short = generateKeyPairSync('rsa', { modulusLength: 1024 }); // Vault creates 2048 or more
  const shortSpki = short.publicKey.export({ format: 'der', type: 'spki' });
  assert.equal(result(fieldsOf(short.privateKey), shortSpki), 'private_key_unreadable');
  assert.equal(result(fieldsOf(other.privateKey).with(1, right[1])), 'key_mismatch');
  assert.equal(result(right.with(0, bytesOf('01'))), 'key_mismatch');
  for (const i of [6, 7, 8]) assert.equal(result(right.with(i, bytesOf('03'))), 'key_mismatch');
  assert.equal(result(right.slice(0, 6)), 'private_key_unreadable');
  assert.equal(result([...right, bytesOf('01')]), 'private_key_unreadable');
  assert.equal(result(right.with(2, bytesOf('03'))), 'key_mismatch');
  const [n, d, p, q] = [1, 3, 4, 5].map((i) => BigInt(`0x${right[i].toString('hex')}`));
  for (const prime of [p, q]) assert.equal(result(right.with(3, integer(d + prime - 1n))), 'key_mismatch');
  for (const [one, two] of [
    [1n, n],
    [n, 1n],
    [p, p],
  ]) {
    assert.equal(result(right.with(4, integer(one)).with(5, integer(two))), 'key_mismatch');
  }
});

/** @param {bigint} value @returns {Buffer} contents of an INTEGER */
function integer(value) {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  return bytes[0] > 0x7f ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes;
}

test('an EC key with another private number, version or curve, or not on its curve, does not match', () => {
  const { privateKey, publicKey } = makeKeys('ec');
  const key = privateKey.export({ format: 'der', type: 'sec1' });
  const spki = publicKey.export({ format: 'der', type: 'spki' });
  const curveAt = key.indexOf(oid('1.2.840.10045.3.1.7'));
  /** @type {[string, (wrong: Buffer) => unknown][]} */
  const rows = [
    ['key_mismatch', (wrong) => (wrong[20] ^= 1)],
    ['key_mismatch', (wrong) => (wrong[4] = 2)],
    ['key_mismatch', (wrong) => (wrong[curveAt + 9] = 1)],
    ['private_key_unreadable', (wrong) => wrong.fill(0, 7, 39)],
    ['private_key_unreadable', (wrong) => wrong.fill(0xff, 7, 39)],
  ];
  for (const [result, change] of rows) {
    assert.equal(checkPrivateKey(encodePem('EC PRIVATE KEY', key), spki), null);
    const wrong = Buffer.from(key);
    change(wrong);
    assert.equal(checkPrivateKey(encodePem('EC PRIVATE KEY', wrong), spki), result);
  }
});

test('a key under another label, with another algorithm or public key, or with more fields does not match', () => {
  const [mine, other, seed] = [makeKeys('ec'), makeKeys('ec'), makeKeys('ed25519')];
  const spkiOf = (/** @type {KeyObject} */ key) => key.export({ format: 'der', type: 'spki' });
  const sec1 = mine.privateKey.export({ format: 'der', type: 'sec1' });
  const secret = der(0x04, sec1.subarray(7, 39));
  const key = (/** @type {Buffer[]} */ ...more) => der(0x30, bytesOf('020101'), secret, ...more);
  const pkcs8 = (/** @type {Buffer} */ algorithm, /** @type {Buffer} */ inner) =>
    encodePem('PRIVATE KEY', der(0x30, bytesOf('020100'), algorithm, der(0x04, inner)));
  const ec = (/** @type {string} */ curve) => der(0x30, oid('1.2.840.10045.2.1'), oid(curve));
  const curve = der(0xa0, oid('1.2.840.10045.3.1.7'));
  const otherPoint = der(0xa1, der(0x03, bytesOf('00'), parsePoint(spkiOf(other.publicKey))));
  const { d } = seed.privateKey.export({ format: 'jwk' });
  const seedBytes = Buffer.from(String(d), 'base64url');
  const x25519 = pkcs8(der(0x30, oid('1.3.101.110')), der(0x04, seedBytes));
  const seedNull = der(0x30, oid('1.3.101.112'), bytesOf('0500'));
  const withAlgorithm = (/** @type {KeyObject} */ publicKey, /** @type {Buffer} */ algorithm) =>
    der(0x30, algorithm, spkiOf(publicKey).subarray(-35));
  const withPublic = (/** @type {KeyObject} */ publicKey) => {
    const bits = der(0x81, bytesOf('00'), parsePoint(spkiOf(publicKey)));
    const inner = der(0x04, key());
    return encodePem('PRIVATE KEY', der(0x30, bytesOf('020101'), ec('1.2.840.10045.3.1.7'), inner, bits));
  };
  /** @type {(result: string | null, pem: string, spki: Buffer) => [string | null, string, Buffer]} */
  const row3 = (result, pem, spki) => [result, pem, spki];
  /** @type {[string | null, string, Buffer][]} */
  const rows = [
    [null, pkcs8(ec('1.2.840.10045.3.1.7'), sec1), spkiOf(mine.publicKey)],
    [null, encodePem('EC PRIVATE KEY', key(curve)), spkiOf(mine.publicKey)],
    ['private_key_unreadable', encodePem('RSA PRIVATE KEY', sec1), spkiOf(mine.publicKey)],
    ['private_key_unreadable', encodePem('PRIVATE KEY', sec1), spkiOf(mine.publicKey)],
    ['key_mismatch', pkcs8(ec('1.3.132.0.34'), sec1), spkiOf(mine.publicKey)],
    [
      'private_key_unreadable',
      encodePem('EC PRIVATE KEY', key(curve, bytesOf('020105'))),
      spkiOf(mine.publicKey),
    ],
    ['key_mismatch', encodePem('EC PRIVATE KEY', key(curve, otherPoint)), spkiOf(mine.publicKey)],
    ['key_mismatch', x25519, spkiOf(seed.publicKey)],
    ['private_key_unreadable', x25519, der(0x30, der(0x30, oid('1.3.101.110')), der(0x03, bytesOf('00')))],
    ['key_mismatch', encodePem('EC PRIVATE KEY', key()), spkiOf(mine.publicKey)],
    [null, pkcs8(ec('1.2.840.10045.3.1.7'), key()), spkiOf(mine.publicKey)],
    [null, withPublic(mine.publicKey), spkiOf(mine.publicKey)],
    ['key_mismatch', withPublic(other.publicKey), spkiOf(mine.publicKey)],
    [
      'private_key_unreadable',
      pkcs8(seedNull, der(0x04, seedBytes)),
      withAlgorithm(seed.publicKey, seedNull),
    ],
    ...['secp256k1', 'brainpoolP256r1'].map((namedCurve) => {
      const unusual = generateKeyPairSync('ec', { namedCurve });
      const pem = unusual.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
      return row3('private_key_unreadable', pem, spkiOf(unusual.publicKey));
    }),
  ];
  for (const [result, pem, spki] of rows) assert.equal(checkPrivateKey(pem, spki), result);
});

const parsePoint = (/** @type {Buffer} */ spki) => spki.subarray(-65);

test('a damaged certificate never passes, and any text has a declared failure', () => {
  fc.assert(
    fc.property(fc.nat({ max: leaf.der.length - 1 }), fc.integer({ min: 1, max: 255 }), (index, change) => {
      const bytes = Buffer.from(leaf.der);
      bytes[index] ^= change;
      const { failure } = check({ ...RIGHT, certificatePem: toPem(bytes) });
      assert.ok(failure !== null && Object.hasOwn(CERTIFICATE_FAILURES, failure));
    }),
    { numRuns: 300 },
  );
  const any = fc.oneof(
    fc.string(),
    fc.constantFrom(leaf.pem, ca.ca.pem, leaf.keyPem, toPem(damaged), null, 1),
  );
  fc.assert(
    fc.property(
      any,
      any,
      any,
      fc.array(fc.string()),
      (certificatePem, issuingCaPem, privateKeyPem, names) => {
        const expected = { commonName: CN, altNames: names, ipSans: names };
        const answer = { ...RIGHT, certificatePem, issuingCaPem, privateKeyPem, expected };
        const { failure } = check(answer);
        assert.ok(failure === null || Object.hasOwn(CERTIFICATE_FAILURES, failure));
      },
    ),
  );
});

test('a Unicode name may end in a number, which makes no address', () => {
  for (const end of ['24', '0x1f', '24.', 'example.'])
    assert.equal(nameKey(`me@Bücher.${end}`), `email:me@xn--bcher-kva.${end}`);
  for (const odd of ['Bücher/IT', 'Bücher?', 'Bücher#a', 'Bücher%41', 'Bü\tcher'])
    assert.equal(nameKey(`me@${odd}`), `email:me@${odd.toLowerCase()}`);
});

test('a long Unicode name is compared as it is: its conversion takes quadratic time', () => {
  assert.equal(nameKey('me@Bücher.example'), 'email:me@xn--bcher-kva.example');
  const long = `me@${'Bücher.'.repeat(200)}example`;
  assert.equal(nameKey(long), `email:${long.toLowerCase()}`);
});

test('IP addresses have the octets of the URL parser', () => {
  for (const [address, hex] of [
    ['10.0.0.1', '0a000001'],
    ['::1', `${'00'.repeat(15)}01`],
    ['::', '00'.repeat(16)],
    ['::ffff:1.2.3.4', '01020304'],
    ['1::1.2.3.4', `0001${'00'.repeat(10)}01020304`],
  ]) {
    assert.equal(ipBytes(address)?.toString('hex'), hex);
  }
  for (const bad of ['', '10.0.0', '1.2.3.4.5', '::1%eth0', 'g::', 'localhost'])
    assert.equal(ipBytes(bad), null);
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      const bytes = ipBytes(address);
      const full =
        bytes?.length === 4 ? `${'0'.repeat(20)}ffff${bytes.toString('hex')}` : bytes?.toString('hex');
      const spelled = full?.match(/..../g)?.join(':');
      assert.equal(new URL(`http://[${address}]`).hostname, new URL(`http://[${spelled}]`).hostname);
    }),
  );
});
