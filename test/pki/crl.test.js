import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { parseCertificate } from '../../src/pki/certificate-der.js';
import { parseCrl, verifyCrl } from '../../src/pki/crl.js';
import { DerError } from '../../src/pki/der.js';
import { serialHex } from '../../src/pki/serial.js';
import { crlByHand, entry, opensslCrl } from './crl-maker.js';
import { der, extension, generalizedTime } from './ocsp-builder.js';
import { openssl, TestCa } from './openssl-ca.js';

const folder = mkdtempSync(join(tmpdir(), 'crl-test-'));
const cas = Object.fromEntries(
  ['rsa', 'ec', 'ec384', 'ed25519'].map((key) => [key, new TestCa({ key, name: `CA with ${key}` })]),
);
const { ec } = cas;
after(() => {
  for (const ca of Object.values(cas)) ca.close();
  rmSync(folder, { recursive: true });
});

/** @type {[string, string, string?][]} */
const REVOKED = [
  ['01', '260102030405Z'],
  ['7F', '491231235959Z', 'keyCompromise'],
  ['80', '500101000000Z', 'superseded'],
  ['3B0ED273B965BD63808F481401B016A2F3EBC331', '261122230812Z'],
  ['FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF', '300228000000Z', 'cessationOfOperation'],
];
const PLAIN = { revoked: REVOKED, extensions: ['authorityKeyIdentifier = keyid'] };

/** What `openssl crl` says of it. @param {Buffer} bytes */
function asOpenssl(bytes) {
  const file = join(folder, 'crl.der');
  writeFileSync(file, bytes);
  const text = openssl(['crl', '-inform', 'DER', '-in', file, '-noout', '-text', '-crlnumber']).toString();
  const time = (/** @type {string} */ name) => {
    const found = new RegExp(`${name}: (.*)\n`).exec(text)?.[1];
    return found === undefined || found === 'NONE' ? null : Date.parse(found);
  };
  return {
    thisUpdateMs: time('Last Update'),
    nextUpdateMs: time('Next Update'),
    number: /crlNumber=0x([0-9A-F]+)/.exec(text)?.[1] ?? null,
    entries: [...text.matchAll(/Serial Number: ([0-9A-F]+)\n\s+Revocation Date: (.*)\n/g)].map(
      ([, serial, date]) => [serial.toLowerCase(), Date.parse(date)],
    ),
  };
}

/** The same of ours. @param {Buffer} bytes */
function asWe(bytes) {
  /** @type {[string, number][]} */
  const entries = [];
  const crl = parseCrl(bytes, (serial, ms) => entries.push([serialHex(serial).replaceAll(':', ''), ms]));
  assert.equal(crl.revoked, entries.length);
  const { thisUpdateMs, nextUpdateMs, number } = crl;
  const hex = number === null ? null : serialHex(number).replaceAll(':', '').toUpperCase();
  return { thisUpdateMs, nextUpdateMs, number: hex, entries };
}

describe('CRLs of OpenSSL', () => {
  for (const [key, ca] of Object.entries(cas)) {
    test(`${key}: read as openssl crl reads them, and signed by nobody else`, () => {
      const bytes = opensslCrl(ca.ca, PLAIN);
      const seen = asWe(bytes);
      assert.deepEqual(seen, asOpenssl(bytes));
      assert.equal(seen.entries.length, REVOKED.length);
      assert.equal(seen.number, '1000');
      const crl = parseCrl(bytes);
      assert.ok(crl.issuer.equals(parseCertificate(ca.ca.der).subject));
      assert.equal(crl.critical, null);
      for (const [other, { ca: signer }] of Object.entries(cas)) {
        const verdict = verifyCrl(crl, new X509Certificate(signer.der).publicKey);
        assert.equal(verdict, other === key ? 'valid' : 'bad');
      }
    });
  }

  test('none revoked; version 1, which has no extensions', () => {
    for (const options of [
      { extensions: PLAIN.extensions },
      {},
      { revoked: REVOKED.slice(0, 1).map(([s, d]) => [s, d]) },
    ]) {
      const bytes = opensslCrl(ec.ca, /** @type {any} */ (options));
      assert.deepEqual(asWe(bytes), asOpenssl(bytes));
    }
  });

  test('a delta CRL and a part of a list say so in a critical extension', () => {
    /** @type {[string, string][]} */
    const rows = [
      ['2.5.29.27', '2.5.29.27 = critical,DER:020105'],
      ['2.5.29.28', 'issuingDistributionPoint = critical,@idp\n[idp]\nonlyuser = TRUE'],
    ];
    for (const [id, line] of rows) {
      const crl = parseCrl(opensslCrl(ec.ca, { ...PLAIN, extensions: [line] }));
      assert.equal(crl.critical, id);
      assert.equal(verifyCrl(crl, new X509Certificate(ec.ca.der).publicKey), 'valid');
    }
  });
});

describe('CRLs by hand', () => {
  const aki = extension('2.5.29.35', false, Buffer.from('3000', 'hex'));
  const number = extension('2.5.29.20', false, Buffer.from('020105', 'hex'));
  const extensions = (/** @type {Buffer[]} */ ...list) => der(0xa0, der(0x30, ...list));
  const reason = der(0x30, extension('2.5.29.21', false, Buffer.from('0a0101', 'hex')));
  const certIssuer = der(0x30, extension('2.5.29.29', true, Buffer.from('3000', 'hex')));

  /** @type {[string, Parameters<typeof crlByHand>[1], {revoked?: number, critical?: string, nextUpdateMs?: null}][]} sentence, parts, what is read */
  const RIGHT = [
    ['a list without entries', {}, { revoked: 0 }],
    ['an empty list of entries, as some write it', { entries: der(0x30) }, { revoked: 0 }],
    ['two entries, one with a reason', { entries: der(0x30, entry(1, reason), entry(2)) }, { revoked: 2 }],
    ['no nextUpdate', { nextUpdate: null }, { nextUpdateMs: null }],
    [
      'a critical extension of an entry',
      { entries: der(0x30, entry(1, certIssuer)) },
      { critical: '2.5.29.29' },
    ],
    ['a number', { extensions: extensions(aki, number) }, {}],
  ];
  for (const [sentence, parts, expected] of RIGHT) {
    test(sentence, () => {
      const crl = parseCrl(crlByHand(ec.ca, parts));
      for (const [name, value] of Object.entries(expected)) {
        assert.equal(crl[/** @type {keyof typeof expected} */ (name)], value);
      }
      assert.equal(verifyCrl(crl, new X509Certificate(ec.ca.der).publicKey), 'valid');
    });
  }

  /** @type {[string, Parameters<typeof crlByHand>[1]][]} */
  const WRONG = [
    ['version 3', { version: der(2, Buffer.from([2])) }],
    ['version 1, said', { version: der(2, Buffer.from([0])) }],
    ['extensions in version 1', { version: null, extensions: extensions(aki) }],
    ['extensions of an entry in version 1', { version: null, entries: der(0x30, entry(1, reason)) }],
    ['two algorithms', { outside: der(0x30, Buffer.from('06082a8648ce3d040303', 'hex')) }],
    ['an entry that is an INTEGER', { entries: der(0x30, der(2, Buffer.from([1]))) }],
    ['an entry without a date', { entries: der(0x30, der(0x30, der(2, Buffer.from([1])))) }],
    ['an entry without a serial', { entries: der(0x30, der(0x30, generalizedTime(0))) }],
    ['an entry with more in it', { entries: der(0x30, entry(1, reason, reason)) }],
    [
      'a serial that is not in its shortest form',
      { entries: der(0x30, der(0x30, Buffer.from('02020001', 'hex'), generalizedTime(0))) },
    ],
    ['an empty list of extensions', { extensions: extensions() }],
    ['an extension twice', { extensions: extensions(aki, aki) }],
    [
      'a number that is none',
      { extensions: extensions(extension('2.5.29.20', false, Buffer.from('0500', 'hex'))) },
    ],
    [
      'a number with more behind it',
      { extensions: extensions(extension('2.5.29.20', false, Buffer.from('0201050500', 'hex'))) },
    ],
    ['two lists of extensions', { extensions: extensions(aki), more: extensions(number) }],
    ['something behind the extensions', { extensions: extensions(aki), more: der(5) }],
    ['no thisUpdate', { thisUpdate: Buffer.alloc(0), nextUpdate: null }],
    ['a time that is none', { thisUpdate: der(0x18, Buffer.from('20261322000000Z')) }],
    ['a name that is an INTEGER', { issuer: der(2, Buffer.from([1])) }],
  ];
  for (const [sentence, parts] of WRONG) {
    test(`not a CRL: ${sentence}`, () => {
      assert.throws(() => parseCrl(crlByHand(ec.ca, parts)), DerError);
    });
  }

  test('not a CRL: nothing, a certificate, half of one, one with more behind it', () => {
    const right = crlByHand(ec.ca);
    for (const bytes of [
      Buffer.alloc(0),
      ec.ca.der,
      Buffer.concat([right, Buffer.alloc(1)]),
      ...Array.from(right.keys(), (length) => right.subarray(0, length)),
    ]) {
      assert.throws(() => parseCrl(bytes), DerError);
    }
  });
});

describe('whatever the bytes', () => {
  const originals = [opensslCrl(ec.ca, PLAIN), crlByHand(ec.ca, { entries: der(0x30, entry(1), entry(2)) })];
  const key = new X509Certificate(ec.ca.der).publicKey;

  /** @param {Uint8Array} bytes @returns {import('../../src/pki/crl.js').Crl | null} */
  const tryParse = (bytes) => {
    try {
      return parseCrl(bytes);
    } catch (error) {
      assert.ok(error instanceof DerError, String(error));
      return null;
    }
  };

  test('garbage is a DerError', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => tryParse(bytes) === null));
  });

  test('a damaged CRL is a DerError, or read within its bounds, and its signature does not verify', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(fc.constantFrom(...originals), damage, fc.nat({ max: 40 }), (original, changes, cut) => {
        const bytes = Buffer.from(original.subarray(0, original.length - (cut > 20 ? cut : 0)));
        for (const [at, by] of changes) bytes[at % bytes.length] ^= by;
        const crl = tryParse(bytes);
        if (crl === null || bytes.equals(original)) return;
        assert.ok(crl.revoked <= original.length / 10);
        assert.notEqual(verifyCrl(crl, key), 'valid');
      }),
      { numRuns: 200 },
    );
  });

  test('a view among other bytes is read within its bounds', () => {
    for (const original of originals) {
      const around = Buffer.concat([Buffer.alloc(7, 0x30), original, Buffer.alloc(9, 0xff)]);
      const view = new Uint8Array(around.buffer, around.byteOffset + 7, original.length);
      assert.equal(parseCrl(view).revoked, parseCrl(original).revoked);
    }
  });
});
