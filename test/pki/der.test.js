import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as asn1js from 'asn1js';
import fc from 'fast-check';
import { readName } from '../../src/pki/certificate-der.js';
import { DerError, DerReader, TAG } from '../../src/pki/der.js';
import { bytesOf, der } from './ocsp-builder.js';

/** @type {Record<string, (reader: DerReader) => unknown>} */
const READ = {
  next: (reader) => reader.next(),
  any: (reader) => reader.readAny(),
  integer: (reader) => reader.readInteger(),
  boolean: (reader) => reader.readBoolean(),
  number: (reader) => reader.readSmallNumber(TAG.enumerated),
  bits: (reader) => reader.readBitString(),
  oid: (reader) => reader.readOid(),
  end: (reader) => [reader.next(), reader.finish()],
  inside: (reader) => reader.enter(0x30).next(),
  name: readName,
};

/** @type {[keyof typeof READ, string, string][]} what reads it, what it is, its octets */
const REFUSED = [
  ['next', 'nothing at all', ''],
  ['next', 'an identifier without a length', '30'],
  ['next', 'an indefinite length', '30 80 00 00'],
  ['next', 'a reserved length octet', '04 ff 00'],
  ['next', 'a long form that fits the short one', `04 81 7f ${'00'.repeat(127)}`],
  ['next', 'a long form with a leading zero', `04 82 00 80 ${'00'.repeat(128)}`],
  ['next', 'a length of five octets', '04 85 01 00 00 00 00'],
  ['next', 'length octets cut off', '04 82 01'],
  ['next', 'a length of one too many', '04 02 00'],
  ['next', 'a length of 4 GiB', '04 84 ff ff ff ff 00'],
  ['next', 'a tag number above 30', '1f 81 01 00'],
  ['integer', 'an INTEGER without octets', '0200'],
  ['integer', 'an INTEGER with a needless zero', '0202007f'],
  ['integer', 'an INTEGER with a needless ff', '0202ff80'],
  ['integer', 'another tag than expected', '0401 05'],
  ['boolean', 'a BOOLEAN of 01', '010101'],
  ['boolean', 'a BOOLEAN of two octets', '0102ffff'],
  ['number', 'an ENUMERATED above 127', '0a0180'],
  ['number', 'an ENUMERATED of two octets', '0a020001'],
  ['bits', 'a BIT STRING without its first octet', '0300'],
  ['bits', 'a BIT STRING with unused bits', '03020180'],
  ['oid', 'an OID without octets', '0600'],
  ['oid', 'an OID whose last arc goes on', '06022a86'],
  ['oid', 'an OID with a padded arc', '06032a8001'],
  ['oid', 'an OID that begins with a padded arc', '06028001'],
  ['oid', 'an OID of 129 octets', `06 81 81 ${'01'.repeat(129)}`],
  ['end', 'trailing bytes', '050000'],
  ['inside', 'an inner element longer than the outer', '30030402 0000'],
  ['name', 'an empty set where one element must be', '30023100'],
  ['any', 'nothing', ''],
  ['any', 'an element that ends behind the one around it', '3003 0402 00'],
  ['any', 'an element cut off two levels down', '3006 3104 0303 00ff'],
  ['any', 'an element cut off behind a nested one', '300b 3004 30020500 020101 0201'],
  ['any', 'an indefinite length inside', '3004 3080 0000'],
  ['any', 'a BOOLEAN of 01', '3003 010101'],
  ['any', 'an INTEGER with a needless zero', '3106 3004 0202007f'],
  ['any', 'an ENUMERATED without octets', '0a00'],
  ['any', 'a NULL with contents', '3003 050100'],
  ['any', 'an OID whose last arc goes on', '3004 06022a86'],
  ['any', 'a UTCTime of month 13', '170d 3236313330313030303030305a'],
  ['any', 'a GeneralizedTime with a fraction', '1811 32303236303130313030303030302e355a'],
  ['any', 'an OCTET STRING in parts, as BER has it', '2404 04020102'],
  ['any', 'a text in parts', '3006 2c04 0c026162'],
  ['any', 'a SEQUENCE that is not constructed', '1000'],
  ['any', 'the mark that ends indefinite lengths', '3002 0000'],
];

for (const [how, what, hex] of REFUSED) {
  test(`rejected: ${what} (${how})`, () => {
    assert.throws(() => READ[how](new DerReader(bytesOf(hex))), DerError);
  });
}

test('an element of any type is read with its contents, and the next one is left', () => {
  for (const hex of ['0500', '3000', '8001ff', '6102 0500', '300a 3106 3004 0500 0500 0500']) {
    const bytes = bytesOf(hex);
    const reader = new DerReader(Buffer.concat([bytes, bytesOf('0500')]));
    assert.deepEqual(reader.readAny(), bytes);
    assert.equal(reader.pos, bytes.length);
  }
});

test('GeneralizedTime and UTCTime are read to the second, in UTC, and invalid times are rejected', () => {
  const parse = (/** @type {number} */ tag) => (/** @type {string} */ text) =>
    new DerReader(der(tag, Buffer.from(text))).readTime();
  const [parseGeneralizedTime, parseUtcTime] = [parse(TAG.generalizedTime), parse(TAG.utcTime)];
  const sound =
    '20260228235959Z 20240229000000Z 00990101000000Z 20000229000000Z 20261231000000Z 01000131000000Z';
  for (const text of sound.split(' ')) {
    const iso = text.replace(/^(....)(..)(..)(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z');
    assert.equal(parseGeneralizedTime(text), Date.parse(iso), text);
  }
  const wrong = [
    ...['20230229000000Z', '19000229000000Z', '20261301000000Z', '20260001000000Z', '20260100000000Z'],
    ...['20260431000000Z', '20260101240000Z', '20260101006000Z', '20260101000060Z', '20260101000000'],
    ...['20260101000000z', '20260101000000.5Z', '20260101000000+0000', '202601010000Z', '2026 101000000Z'],
    ...['20260/01000000Z', '20260:01000000Z', '202601010000000'],
  ];
  for (const text of wrong) assert.throws(() => parseGeneralizedTime(text), DerError, text);
  assert.equal(parseUtcTime('491231235959Z'), Date.UTC(2049, 11, 31, 23, 59, 59));
  assert.equal(parseUtcTime('500101000000Z'), Date.UTC(1950, 0, 1));
  assert.throws(() => parseUtcTime('4912312359Z'), DerError);
  assert.equal(parseUtcTime('700101000000Z'), 0);
  const [min, max] = [Date.parse('0000-01-01T00:00:00Z') / 1000, Date.UTC(9999, 11, 31, 23, 59, 59) / 1000];
  fc.assert(
    fc.property(fc.integer({ min, max }), (seconds) => {
      const text = new Date(seconds * 1000).toISOString().replace(/[-:T]|\.000/g, '');
      assert.equal(parseGeneralizedTime(text), seconds * 1000);
    }),
  );
});

test('OIDs equal those of asn1js, also beyond the cache size', () => {
  const arcs = fc.array(fc.nat({ max: 2 ** 31 - 1 }), { minLength: 1, maxLength: 10 });
  fc.assert(
    fc.property(fc.nat({ max: 2 }), fc.nat({ max: 39 }), arcs, (root, second, rest) => {
      const dotted = [root, second, ...rest].join('.');
      const encoded = Buffer.from(new asn1js.ObjectIdentifier({ value: dotted }).toBER());
      for (let i = 0; i < 2; i++) assert.equal(new DerReader(encoded).readOid(), dotted);
    }),
    { numRuns: 300 },
  );
  const read = (/** @type {string} */ hex) => new DerReader(bytesOf(hex)).readOid();
  assert.equal(read('0603 88 37 03'), '2.999.3');
  // Equal hashes: 31 * 1 + 31 = 31 * 2 + 0.
  assert.deepEqual([read('0602 011f'), read('0602 0200')], ['0.1.31', '0.2.0']);
});

test('values are views, INTEGERs keep their leading zero, lengths of any size are read', () => {
  assert.deepEqual(new DerReader(bytesOf('020200ff')).readInteger(), bytesOf('00ff'));
  for (const length of [0, 1, 127, 128, 255, 256, 65_535, 65_536, 70_000]) {
    const encoded = Buffer.from(der(TAG.octetString, Buffer.alloc(length, 7)));
    const reader = new DerReader(encoded);
    const contents = reader.read(TAG.octetString);
    assert.deepEqual([contents.length, contents.buffer], [length, encoded.buffer]);
    reader.finish();
    assert.ok(new DerReader(encoded).readRaw().equals(encoded));
  }
});

test('any bytes throw only a DerError, at any nesting depth', () => {
  const octets = fc.oneof(
    fc.nat({ max: 255 }),
    fc.constantFrom(...Object.values(TAG), 0, 1, 2, 3, 0x81, 0x82),
  );
  let refused = 0;
  fc.assert(
    fc.property(
      fc.array(octets, { maxLength: 60 }),
      fc.constantFrom(...Object.values(READ)),
      (input, read) => {
        try {
          read(new DerReader(Uint8Array.from(input)));
        } catch (error) {
          assert.ok(error instanceof DerError, String(error));
          refused += 1;
        }
      },
    ),
    { numRuns: 1000 },
  );
  assert.ok(refused > 300);
  /** @type {Buffer[]} */
  const parts = [];
  for (let length = 0, level = 0; level < 100_000; level++) {
    const digits = length.toString(16).length;
    const header = length < 0x80 ? [0x30, length] : [0x30, 0x80 | Math.ceil(digits / 2)];
    const more = length < 0x80 ? '' : length.toString(16).padStart(digits + (digits % 2), '0');
    parts.push(Buffer.concat([Buffer.from(header), bytesOf(more)]));
    length += parts[level].length;
  }
  assert.throws(() => new DerReader(Buffer.concat(parts.reverse())).readAny(), /nested too deeply/);
});
