import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DerError, DerReader } from '../../src/pki/der.js';
import { readAny } from '../../src/pki/der-any.js';

/** @type {[string, string][]} what, and its DER */
const SOUND = [
  ['NULL', '0500'],
  ['an empty SEQUENCE', '3000'],
  ['BOOLEAN', '0101ff'],
  ['a negative INTEGER', '020180'],
  ['a BIT STRING without bits', '030100'],
  ['a BIT STRING with three unused bits', '0302 03f8'],
  ['an OCTET STRING that holds what is no DER', '0401ff'],
  ['UTCTime', '170d 3236303130313030303030305a'],
  ['a BMPString', '1e04 00410042'],
  ['a UniversalString', '1c04 00000041'],
  ['EXTERNAL', '2803 020101'],
  ['a tag of the application, constructed', '6102 0500'],
  ['a context-specific tag, with anything in it', '8001ff'],
  ['elements in elements', '300a 3106 3004 0500 0500 0500'],
];

for (const [what, hex] of SOUND) {
  test(`${what} is read, and what follows is left`, () => {
    const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    const reader = new DerReader(Buffer.concat([bytes, Buffer.from([5, 0])]));
    assert.deepEqual(readAny(reader), bytes);
    assert.equal(reader.pos, bytes.length);
  });
}

/** @type {[string, string][]} */
const UNSOUND = [
  ['nothing', ''],
  ['the end of contents', '0000'],
  ['the tag that X.680 reserves', '0f00'],
  ['a NULL with contents', '050100'],
  ['a constructed NULL', '2500'],
  ['a primitive SEQUENCE', '1000'],
  ['a primitive EXTERNAL', '0800'],
  ['a string of pieces', '2c04 0c02 4141'],
  ['an OCTET STRING of pieces', '2402 0400'],
  ['a BOOLEAN of 01', '010101'],
  ['an INTEGER with a zero too many', '0202 0001'],
  ['an INTEGER without contents', '0200'],
  ['an ENUMERATED without contents', '0a00'],
  ['a BIT STRING without the count of unused bits', '0300'],
  ['a BIT STRING with eight unused bits', '0302 0800'],
  ['a BIT STRING with unused bits of none', '0301 01'],
  ['a BIT STRING whose unused bits are not zero', '0302 01ff'],
  ['an OBJECT IDENTIFIER cut off', '0601 83'],
  ['a UTCTime of the 30th of February', '170d 3236303233303030303030305a'],
  ['a GeneralizedTime without Z', '180e 3230323630313031303030303030'],
  ['a BMPString of half a character', '1e01 41'],
  ['a UniversalString of half a character', '1c02 0041'],
  ['an element that ends behind the one around it', '3003 0402 00'],
  ['a bad element two levels down', '3006 3104 0302 01ff'],
  ['an indefinite length inside', '3004 3080 0000'],
];

for (const [what, hex] of UNSOUND) {
  test(`${what} is refused`, () => {
    const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    assert.throws(() => readAny(new DerReader(bytes)), DerError);
  });
}

test('a hundred thousand levels are read without a stack of calls', () => {
  const parts = [];
  for (let length = 0, level = 0; level < 100_000; level++) {
    const octets = length < 0x80 ? 0 : Math.ceil(length.toString(16).length / 2);
    const header = Buffer.alloc(2 + octets, 0x30);
    header[1] = octets === 0 ? length : 0x80 | octets;
    if (octets > 0) header.writeUIntBE(length, 2, octets);
    parts.unshift(header);
    length += header.length;
  }
  const bytes = Buffer.concat(parts);
  assert.equal(readAny(new DerReader(bytes)).length, bytes.length);
});
