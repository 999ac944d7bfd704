import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseCertificate } from '../../src/pki/certificate-der.js';
import { parseCrl } from '../../src/pki/crl.js';
import { DerError } from '../../src/pki/der.js';
import { verifySignature } from '../../src/pki/signature.js';
import { crlByHand, entry } from './crl-maker.js';
import { bytesOf, der, extension, generalizedTime } from './ocsp-builder.js';
import { TestCa } from './test-ca.js';

const [{ ca }, { ca: stranger }] = [new TestCa(), new TestCa()];
const aki = extension('2.5.29.35', false, bytesOf('3000'));
const number = (/** @type {string} */ hex) => extension('2.5.29.20', false, bytesOf(hex));
const extensions = (/** @type {Buffer[]} */ ...list) => der(0xa0, der(0x30, ...list));
const reason = der(0x30, extension('2.5.29.21', false, bytesOf('0a0101')));
const certIssuer = der(0x30, extension('2.5.29.29', true, bytesOf('3000')));
const notCritical = der(0x30, der(0x30, bytesOf('0603551d1d 010100'), der(4, bytesOf('3000'))));
const NULL = bytesOf('0500');
const TIME = Date.UTC(2026, 1, 3, 4, 5, 6);

/** @type {[string, Parameters<typeof crlByHand>[1], object][]} what, parts, what is read */
const RIGHT = [
  ['a list without entries', {}, { revoked: 0, number: null, unknownCritical: null }],
  ['an empty list of entries, as some CAs write it', { entries: der(0x30) }, { revoked: 0 }],
  ['two entries, one with a reason', { entries: der(0x30, entry(1, reason), entry(2)) }, { revoked: 2 }],
  ['version 1', { version: null, entries: der(0x30, entry(1)) }, { revoked: 1 }],
  ['no nextUpdate', { nextUpdate: null }, { nextUpdateMs: null }],
  [
    'both times, one as UTCTime',
    { thisUpdate: der(0x17, Buffer.from('260203040506Z')), nextUpdate: generalizedTime(TIME + 1000) },
    { thisUpdateMs: TIME, nextUpdateMs: TIME + 1000, issuer: parseCertificate(ca.der).subject },
  ],
  ['nextUpdate as UTCTime', { nextUpdate: der(0x17, Buffer.from('260203040506Z')) }, { nextUpdateMs: TIME }],
  ['a critical entry', { entries: der(0x30, entry(1, certIssuer)) }, { unknownCritical: '2.5.29.29' }],
  [
    'a critical entry before one with a reason',
    { entries: der(0x30, entry(1, certIssuer), entry(2, reason)) },
    { unknownCritical: '2.5.29.29', revoked: 2 },
  ],
  [
    'an entry of another issuer, not critical',
    { entries: der(0x30, entry(1, notCritical)) },
    { unknownCritical: '2.5.29.29' },
  ],
  [
    'a delta CRL, marked by a critical extension',
    { extensions: extensions(extension('2.5.29.27', true, bytesOf('020105'))) },
    { unknownCritical: '2.5.29.27' },
  ],
  [
    'a delta CRL, not critical',
    { extensions: extensions(number('020105'), extension('2.5.29.27', false, bytesOf('020105'))) },
    { unknownCritical: '2.5.29.27' },
  ],
  [
    'a distribution point, not critical, and an unknown critical extension',
    {
      extensions: extensions(extension('1.2.3', true, NULL), extension('2.5.29.28', false, bytesOf('3000'))),
    },
    { unknownCritical: '2.5.29.28' },
  ],
  [
    'an entry with an explicit non-critical extension',
    { entries: der(0x30, entry(1, der(0x30, der(0x30, bytesOf('06032a0304 010100'), der(4, NULL))))) },
    { unknownCritical: null },
  ],
  ['a number', { extensions: extensions(aki, number('02020080')) }, { number: bytesOf('0080') }],
];
for (const [name, parts, expected] of RIGHT) {
  test(name, () => {
    const crl = parseCrl(crlByHand(ca, parts));
    assert.deepEqual({ ...crl, ...expected }, crl);
    assert.equal(verifySignature(crl.signed, ca.publicKey), null);
    assert.equal(verifySignature(crl.signed, stranger.publicKey), 'bad_signature');
  });
}

test('each entry has its serial and time', () => {
  const serial = bytesOf('00ff01');
  const second = der(0x30, der(2, serial), generalizedTime(TIME));
  /** @type {[string, number][]} */
  const seen = [];
  parseCrl(crlByHand(ca, { entries: der(0x30, entry(1), second) }), (raw, ms) =>
    seen.push([raw.toString('hex'), ms]),
  );
  assert.equal(seen.length, 2);
  assert.deepEqual(seen[1], ['00ff01', TIME]);
});

/** @type {(hex: string) => [string, Parameters<typeof crlByHand>[1]]} */
const withReason = (hex) => [
  `the reason ${hex}`,
  { entries: der(0x30, entry(1, der(0x30, extension('2.5.29.21', false, bytesOf(hex))))) },
];
/** @type {[string, Parameters<typeof crlByHand>[1]][]} */
const WRONG = [
  ['version 3', { version: der(2, Buffer.from([2])) }],
  ['version 1, encoded explicitly', { version: der(2, Buffer.from([0])) }],
  ['extensions in version 1', { version: null, extensions: extensions(aki) }],
  ['extensions of an entry in version 1', { version: null, entries: der(0x30, entry(1, reason)) }],
  ['two algorithms', { outside: der(0x30, bytesOf('06082a8648ce3d040303')) }],
  ['an entry that is an INTEGER', { entries: der(0x30, der(2, Buffer.from([1]))) }],
  ['an entry without a date', { entries: der(0x30, der(0x30, der(2, Buffer.from([1])))) }],
  ['an entry without a serial', { entries: der(0x30, der(0x30, generalizedTime(0))) }],
  ['an entry with trailing data', { entries: der(0x30, entry(1, reason, reason)) }],
  ['a padded serial', { entries: der(0x30, der(0x30, bytesOf('02020001'), generalizedTime(0))) }],
  ['an empty list of extensions', { extensions: extensions() }],
  ['an extension twice', { extensions: extensions(aki, aki) }],
  ['trailing data in an extension', { extensions: extensions(der(0x30, bytesOf('0603551d23 0400 0500'))) }],
  ['an invalid number', { extensions: extensions(number('0500')) }],
  ['a number with trailing data', { extensions: extensions(number('0201050500')) }],
  ['a negative number', { extensions: extensions(number('0201ff')) }],
  ['an invalid freshestCRL', { extensions: extensions(extension('2.5.29.46', false, bytesOf('7a7a'))) }],
  ...['0500', '0a0107', '0a0108', '0a010b', '0a0101 0500'].map((hex) => withReason(hex)),
  ['two lists of extensions', { extensions: extensions(aki), more: extensions(number('020105')) }],
  ['two lists in one', { extensions: der(0xa0, der(0x30, aki), der(0x30, aki)) }],
  ['trailing data after the extensions', { extensions: extensions(aki), more: der(5) }],
  ['no thisUpdate', { thisUpdate: Buffer.alloc(0), nextUpdate: null }],
  ['an invalid time', { thisUpdate: der(0x18, Buffer.from('20261322000000Z')) }],
  ['a name that is an INTEGER', { issuer: der(2, Buffer.from([1])) }],
];
for (const [name, parts] of WRONG) {
  test(`not a CRL: ${name}`, () => {
    assert.throws(() => parseCrl(crlByHand(ca, parts)), DerError);
  });
}

test('empty input, a certificate, a truncated CRL and trailing bytes are rejected', () => {
  const right = crlByHand(ca);
  const wrong = [Buffer.alloc(0), ca.der, Buffer.concat([right, Buffer.alloc(1)]), der(0x30, right, der(5))];
  for (const bytes of [...wrong, ...Array.from(right.keys(), (length) => right.subarray(0, length))]) {
    assert.throws(() => parseCrl(bytes), DerError);
  }
});

test('a damaged CRL throws a DerError, or is read within its bounds and does not verify', () => {
  const original = crlByHand(ca, { entries: der(0x30, entry(1), entry(2)) });
  const around = Buffer.concat([Buffer.alloc(7, 0x30), original, Buffer.alloc(9, 0xff)]);
  const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(damage, (changes) => {
      const bytes = Buffer.from(around).subarray(7, 7 + original.length);
      for (const [at, by] of changes) bytes[at % bytes.length] ^= by;
      if (bytes.equals(original)) return;
      try {
        const crl = parseCrl(bytes);
        assert.ok(crl.revoked <= original.length / 10);
        assert.notEqual(verifySignature(crl.signed, ca.publicKey), null);
      } catch (error) {
        assert.ok(error instanceof DerError, String(error));
      }
    }),
    { numRuns: 300 },
  );
});
