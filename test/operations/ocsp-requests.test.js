import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { createRequestSet, openRequestSet } from '../../src/operations/ocsp-requests.js';
import { buildOcspRequest, createCertId } from '../../src/pki/ocsp-request.js';
import { parseSerial } from '../../src/pki/serial.js';
import { shuffled } from '../../src/random.js';
import { TestCa } from '../pki/openssl-ca.js';

const ca = new TestCa();
after(() => ca.close());
const issuerDer = ca.ca.der;

/** INTEGER contents of any serial above zero, up to 20 octets. */
const serial = fc.bigInt({ min: 1n, max: 2n ** 159n - 1n }).map((value) => parseSerial(value.toString(16)));

/** @param {Uint8Array[]} serials @param {{hash?: 'sha1' | 'sha256', nonce?: boolean, order?: Uint32Array}} [options] */
async function open(
  serials,
  { hash = 'sha1', nonce = false, order = shuffled(serials.length, 1) } = {},
  seed = 1,
) {
  const set = await createRequestSet({ issuerDer, serials, order, hash, nonce });
  return openRequestSet(structuredClone(set), seed);
}

describe('requests for many serials', () => {
  test('are those that pkijs would build for each, with any serial, hash and nonce', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(serial, { minLength: 1, maxLength: 8 }),
        fc.constantFrom(/** @type {const} */ ('sha1'), /** @type {const} */ ('sha256')),
        fc.boolean(),
        async (serials, hash, nonce) => {
          const order = Uint32Array.from(serials.keys());
          const set = await open(serials, { hash, nonce, order });
          for (const [i, each] of serials.entries()) {
            const certId = await createCertId({ issuerDer, serial: each, hash });
            const expected = set.expectation(i);
            assert.ok(expected.certId.raw.equals(certId.raw));
            assert.equal(expected.nonce?.length, nonce ? 32 : undefined);
            assert.ok(set.request(i).equals(await buildOcspRequest({ certId, nonce: expected.nonce })));
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  test('are those of openssl, byte for byte', async () => {
    const leaf = ca.issue('leaf');
    for (const hash of /** @type {const} */ (['sha1', 'sha256'])) {
      const set = await open([parseSerial(leaf.serialHex)], { hash });
      assert.ok(set.request(0).equals(ca.request(leaf, [`-${hash}`, '-no_nonce'])));
    }
  });

  test('go through the order again and again', async () => {
    const serials = ['01', '02', '0300'].map((hex) => parseSerial(hex));
    const set = await open(serials, { order: Uint32Array.of(2, 0, 1) });
    const asked = [0, 1, 2, 3, 4, 5, 3_000_000_001].map((index) =>
      serials.findIndex((each) => set.expectation(index).certId.raw.subarray(-each.length).equals(each)),
    );
    assert.deepEqual(asked, [2, 0, 1, 2, 0, 1, 0]);
  });

  test('nonces differ for each request and seed, and follow from them', async () => {
    const serials = [parseSerial('7f')];
    const [one, same, other] = [
      await open(serials, { nonce: true }, 1),
      await open(serials, { nonce: true }, 1),
      await open(serials, { nonce: true }, 2),
    ];
    const hex = (/** @type {typeof one} */ set, /** @type {number} */ i) =>
      set.expectation(i).nonce?.toString('hex');
    assert.equal(new Set(Array.from({ length: 1000 }, (_, i) => hex(one, i))).size, 1000);
    assert.equal(hex(one, 5), hex(same, 5));
    assert.notEqual(hex(one, 5), hex(other, 5));
  });

  for (const [sentence, hexes, nonce, constant] of /** @type {[string, string[], boolean, boolean][]} */ ([
    ['one serial without a nonce is always the same request', ['01'], false, true],
    ['a nonce makes them differ', ['01'], true, false],
    ['a second serial makes them differ', ['01', '02'], false, false],
  ])) {
    test(sentence, async () => {
      const set = await open(
        hexes.map((hex) => parseSerial(hex)),
        { nonce },
      );
      assert.equal(set.constant, constant);
    });
  }

  test('one request handed out does not change with the next', async () => {
    const set = await open([parseSerial('01'), parseSerial('02')], { order: Uint32Array.of(0, 1) });
    const first = set.request(0);
    const before = Buffer.from(first);
    set.request(1);
    assert.ok(first.equals(before));
  });
});
