/** The tests of the reader of OCSP responses: a share of what main.js does over a million. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCertificate } from '../../../src/pki/certificate-der.js';
import { parseCrl } from '../../../src/pki/crl.js';
import { verifySignature } from '../../../src/pki/signature.js';
import { crlByHand, entry } from '../crl-maker.js';
import { bytesOf, der, extension } from '../ocsp-builder.js';
import { EXTENSIONS, TestCa } from '../test-ca.js';
import { compareMutant, emptyTally, isClean, makeMutant, ORIGINALS } from './compare.js';
import { createDraw, mutate, WAYS } from './mutators.js';
import { breachOf } from './ocsp-syntax.js';
import { readBoth, readWithPkijs } from './readings.js';
import { readNodes, writeNode } from './tree.js';

const SEED = 1;

/** @param {number} mutants */
export function checkMutants(mutants) {
  test('the originals parse as with pkijs, break no rule, and keep their recorded meaning', () => {
    assert.ok(ORIGINALS.length > 40);
    for (const { name, bytes, root, reading, checker, expected, verdict } of ORIGINALS) {
      assert.notEqual(reading, null, name);
      assert.deepEqual(reading, readWithPkijs(bytes).reading, name);
      assert.equal(breachOf(bytes), null, name);
      assert.equal(checker.check(bytes, expected), verdict, name);
      assert.deepEqual(writeNode(root), bytes, name);
    }
  });

  test(`${mutants} mutants: none is accepted wrongly, parsed unlike pkijs, or verified`, () => {
    const tally = emptyTally();
    const ways = new Set();
    for (let number = 0; number < mutants; number++) {
      compareMutant(tally, SEED, number);
      for (const way of makeMutant(SEED, number).ways) ways.add(way);
    }
    assert.ok(isClean(tally), JSON.stringify(tally, null, 2));
    assert.deepEqual([...ways].sort(), [...WAYS].sort());
    assert.equal(tally.accepted + tally.acceptedAlone + tally.refused, mutants);
    assert.ok(tally.accepted > mutants / 10, `${tally.accepted} accepted`);
    assert.ok(tally.acceptedAlone < mutants / 50, `${tally.acceptedAlone} accepted by us alone`);
    assert.ok(Object.keys(tally.breaches).length > 15, JSON.stringify(tally.breaches));
  });
}

/** @param {Buffer} der @returns {Set<string>} last arcs of the identifiers 2.5.29.*, in hex */
const extensionsIn = (der) =>
  new Set([...der.toString('hex').matchAll(/0603551d(..)/g)].map(([, arc]) => arc));

/** The same for certificates and CRLs: the grammar decides what may be read, pkijs how, and no signature survives. @param {number} mutants */
export function checkCertificateMutants(mutants) {
  const ca = new TestCa();
  const reason = der(0x30, extension('2.5.29.21', false, bytesOf('0a0101')));
  const number = der(0xa0, der(0x30, extension('2.5.29.20', false, bytesOf('020105'))));
  const originals = /** @type {const} */ ([
    ['certificate', ca.issue('leaf', { extensions: [EXTENSIONS.ocspSigning, EXTENSIONS.notCa] }).der],
    ['crl', crlByHand(ca.ca, { entries: der(0x30, entry(1, reason), entry(2)), extensions: number })],
  ]);
  for (const [kind, original] of originals) {
    test(`${mutants} mutants of a ${kind}: accepted where the grammar allows, and parsed as pkijs does`, () => {
      const [root] = readNodes(original);
      let read = 0;
      for (let index = 0; index < mutants; index++) {
        const { bytes, ways } = mutate({ bytes: original, root }, createDraw(SEED, index));
        const label = `${kind} ${index} (${ways.join(', ')}) ${bytes.toString('hex')}`;
        const { ours, theirs } = readBoth(bytes, kind);
        const breach = breachOf(bytes, kind);
        // The reader knows the content of more extensions than the grammar, and a mutant may turn one into another.
        const isOther = [...extensionsIn(bytes)].some((id) => !extensionsIn(original).has(id));
        if (ours !== null || !isOther) assert.equal(ours !== null, breach === null, `${label}: ${breach}`);
        if (ours === null) continue;
        read += 1;
        const [our, their] = [ours, theirs].map((one) => JSON.stringify(one));
        // pkijs reads the years 0 to 99 as 1900 to 1999, and writes long arcs of an OBJECT IDENTIFIER as {octets}.
        const isOdd = /[:,]-[56]\d{13}/.test(our) || /\{[0-9a-f]+\}/.test(their);
        if (theirs !== null && !isOdd) assert.equal(our, their, label);
        const { signed } = kind === 'crl' ? parseCrl(bytes) : parseCertificate(bytes);
        if (verifySignature(signed, ca.ca.publicKey) === null) {
          const isOriginal = originals.some(([, der]) => der.includes(signed.data));
          assert.ok(isOriginal, `${label}: another content has a good signature`);
        }
      }
      assert.ok(read > mutants / 20 && read < mutants / 2, `${read} read`);
    });
  }
}
