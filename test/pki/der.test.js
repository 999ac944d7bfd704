import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as asn1js from 'asn1js';
import fc from 'fast-check';
import { DerError, DerReader, oidText, parseGeneralizedTime, parseUtcTime, TAG } from '../../src/pki/der.js';
import { der, oid } from './ocsp-builder.js';

/** @param {string} hex */
const bytes = (hex) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

/** @type {{text: string, hex: string}[]} */
const BAD_HEADERS = [
  { text: 'nothing at all', hex: '' },
  { text: 'an identifier without a length', hex: '30' },
  { text: 'an indefinite length', hex: '30 80 00 00' },
  { text: 'a reserved length octet', hex: '04 ff 00' },
  { text: 'a long form that fits the short one', hex: '04 81 01 00' },
  { text: 'a long form with a leading zero', hex: `04 82 00 80 ${'00'.repeat(128)}` },
  { text: 'a length of five octets', hex: '04 85 01 00 00 00 00' },
  { text: 'length octets cut off', hex: '04 82 01' },
  { text: 'a length of one too many', hex: '04 02 00' },
  { text: 'a length of 4 GiB', hex: '04 84 ff ff ff ff 00' },
  { text: 'a tag number above 30', hex: '1f 81 01 00' },
];

for (const { text, hex } of BAD_HEADERS) {
  test(`refused: ${text}`, () => {
    assert.throws(() => new DerReader(bytes(hex)).next(), DerError);
  });
}

/** @type {{text: string, hex: string, read: (reader: DerReader) => unknown}[]} */
const BAD_VALUES = [
  { text: 'an INTEGER without octets', hex: '0200', read: (r) => r.readInteger() },
  { text: 'an INTEGER with a needless zero', hex: '0202007f', read: (r) => r.readInteger() },
  { text: 'an INTEGER with a needless ff', hex: '0202ff80', read: (r) => r.readInteger() },
  { text: 'another tag than expected', hex: '0401 05', read: (r) => r.readInteger() },
  { text: 'a BOOLEAN of 01', hex: '010101', read: (r) => r.readBoolean() },
  { text: 'a BOOLEAN of two octets', hex: '0102ffff', read: (r) => r.readBoolean() },
  { text: 'an ENUMERATED above 127', hex: '0a0180', read: (r) => r.readSmallNumber() },
  { text: 'an ENUMERATED of two octets', hex: '0a020001', read: (r) => r.readSmallNumber() },
  { text: 'a BIT STRING without its first octet', hex: '0300', read: (r) => r.readBitString() },
  { text: 'a BIT STRING with unused bits', hex: '03020180', read: (r) => r.readBitString() },
  { text: 'an OID without octets', hex: '0600', read: (r) => r.readOid() },
  { text: 'an OID whose last arc goes on', hex: '06022a86', read: (r) => r.readOid() },
  { text: 'an OID with a padded arc', hex: '06032a8001', read: (r) => r.readOid() },
  { text: 'trailing bytes', hex: '050000', read: (r) => [r.next(), r.finish()] },
  { text: 'an inner element longer than the outer', hex: '30030402 0000', read: (r) => r.enter(0x30).next() },
];

for (const { text, hex, read } of BAD_VALUES) {
  test(`refused: ${text}`, () => {
    assert.throws(() => read(new DerReader(bytes(hex))), DerError);
  });
}

const TIMES = [
  { text: '20260228235959Z', ok: true },
  { text: '20240229000000Z', ok: true },
  { text: '00990101000000Z', ok: true },
  { text: '20000229000000Z', ok: true },
  { text: '20230229000000Z', ok: false },
  { text: '19000229000000Z', ok: false },
  { text: '20261301000000Z', ok: false },
  { text: '20260001000000Z', ok: false },
  { text: '20260100000000Z', ok: false },
  { text: '20260431000000Z', ok: false },
  { text: '20260101240000Z', ok: false },
  { text: '20260101006000Z', ok: false },
  { text: '20260101000060Z', ok: false },
  { text: '20260101000000', ok: false },
  { text: '20260101000000z', ok: false },
  { text: '20260101000000.5Z', ok: false },
  { text: '20260101000000+0000', ok: false },
  { text: '202601010000Z', ok: false },
  { text: '2026 101000000Z', ok: false },
];

for (const { text, ok } of TIMES) {
  test(`GeneralizedTime ${text} is ${ok ? 'read' : 'refused'}`, () => {
    const read = () => parseGeneralizedTime(Buffer.from(text));
    if (!ok) return assert.throws(read, DerError);
    const iso = text.replace(/^(....)(..)(..)(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z');
    assert.equal(read(), Date.parse(iso));
  });
}

test('UTCTime: 49 is 2049, 50 is 1950', () => {
  assert.equal(parseUtcTime(Buffer.from('491231235959Z')), Date.UTC(2049, 11, 31, 23, 59, 59));
  assert.equal(parseUtcTime(Buffer.from('500101000000Z')), Date.UTC(1950, 0, 1));
  assert.throws(() => parseUtcTime(Buffer.from('4912312359Z')), DerError);
  const reader = new DerReader(der(TAG.utcTime, Buffer.from('700101000000Z')));
  assert.equal(reader.readTime(), 0);
});

test('every second from year 0 to 9999 is read as Date reads it', () => {
  const min = new Date('0000-01-01T00:00:00Z').getTime() / 1000;
  const max = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;
  fc.assert(
    fc.property(fc.integer({ min, max }), (seconds) => {
      const text = new Date(seconds * 1000).toISOString().replace(/[-:T]|\.000/g, '');
      assert.equal(parseGeneralizedTime(Buffer.from(text)), seconds * 1000);
    }),
  );
});

test('OIDs are read as asn1js reads them', () => {
  const arcs = fc.array(fc.nat({ max: 2 ** 31 - 1 }), { minLength: 1, maxLength: 10 });
  fc.assert(
    fc.property(fc.nat({ max: 2 }), fc.nat({ max: 39 }), arcs, (root, second, rest) => {
      const dotted = [root, second, ...rest].join('.');
      const encoded = Buffer.from(new asn1js.ObjectIdentifier({ value: dotted }).toBER());
      assert.equal(new DerReader(encoded).readOid(), dotted);
    }),
  );
  assert.equal(oidText(bytes('88 37 03')), '2.999.3');
});

test('what a writer wrote is read back, and values are views', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70_000, size: 'max' }), (value) => {
      const encoded = Buffer.from(der(TAG.octetString, value));
      const reader = new DerReader(encoded);
      const contents = reader.read(TAG.octetString);
      assert.ok(contents.equals(value));
      assert.equal(contents.buffer, encoded.buffer);
      reader.finish();
      assert.ok(new DerReader(encoded).readRaw().equals(encoded));
    }),
    { numRuns: 50 },
  );
});

test('INTEGERs keep their leading zero', () => {
  assert.deepEqual(new DerReader(bytes('020200ff')).readInteger(), bytes('00ff'));
});

test('whatever the bytes, nothing but DerError is thrown', () => {
  /** @param {DerReader} reader @param {number} depth */
  const walk = (reader, depth) => {
    while (!reader.atEnd) {
      const tag = reader.tag;
      if ((tag & 0x20) !== 0 && depth < 50) walk(reader.enter(tag), depth + 1);
      else if (tag === TAG.oid) reader.readOid();
      else if (tag === TAG.integer) reader.readInteger();
      else if (tag === TAG.bitString) reader.readBitString();
      else if (tag === TAG.boolean) reader.readBoolean();
      else if (tag === TAG.utcTime || tag === TAG.generalizedTime) reader.readTime();
      else reader.read(tag);
    }
  };
  const octets = fc.oneof(
    fc.nat({ max: 255 }),
    fc.constantFrom(...Object.values(TAG), 0, 1, 2, 3, 0x81, 0x82),
  );
  let refused = 0;
  fc.assert(
    fc.property(fc.array(octets, { minLength: 1, maxLength: 60 }), (input) => {
      try {
        walk(new DerReader(Uint8Array.from(input)), 0);
      } catch (error) {
        assert.ok(error instanceof DerError, String(error));
        refused += 1;
      }
    }),
    { numRuns: 200 },
  );
  assert.ok(refused > 100);
});

test('nesting 100,000 deep costs the reader nothing', () => {
  const deep = new DerReader(
    Buffer.concat([Buffer.from('30830f4240', 'hex'), Buffer.alloc(1_000_000, 0x30)]),
  );
  deep.next(TAG.sequence);
  deep.finish();
});

test('the writer of these tests writes OIDs the reader reads', () => {
  for (const dotted of ['1.3.6.1.5.5.7.48.1.1', '2.5.29.21', '1.2.840.113549.1.1.11']) {
    assert.equal(new DerReader(oid(dotted)).readOid(), dotted);
  }
});
