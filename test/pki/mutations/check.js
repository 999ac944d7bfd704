/** The tests of the reader of OCSP responses: a share of what main.js does over a million. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareMutant, emptyTally, isClean, makeMutant, ORIGINALS } from './compare.js';
import { WAYS } from './mutators.js';
import { breachOf } from './ocsp-syntax.js';
import { readWithPkijs } from './readings.js';
import { writeNode } from './tree.js';

const SEED = 1;

/** @param {number} mutants */
export function checkMutants(mutants) {
  test('the originals are read as pkijs reads them, break no rule, and mean what they meant when recorded', () => {
    assert.ok(ORIGINALS.length > 40);
    for (const { name, bytes, root, reading, checker, expected, verdict } of ORIGINALS) {
      assert.notEqual(reading, null, name);
      assert.deepEqual(reading, readWithPkijs(bytes).reading, name);
      assert.equal(breachOf(bytes), null, name);
      assert.equal(checker.check(bytes, expected), verdict, name);
      assert.deepEqual(writeNode(root), bytes, name);
    }
  });

  test(`${mutants} mutants: nothing is read that should not be, or otherwise than pkijs reads it, or believed`, () => {
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
