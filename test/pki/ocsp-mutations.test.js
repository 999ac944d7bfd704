/**
 * The reader of OCSP responses beside pkijs and beside the grammar, over damaged responses of every shape: a share of what
 * `node test/pki/mutations/main.js` does over a million.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareMutant, emptyTally, makeMutant, ORIGINALS } from './mutations/compare.js';
import { WAYS } from './mutations/mutators.js';
import { breachOf } from './mutations/ocsp-syntax.js';
import { readWithPkijs } from './mutations/readings.js';
import { writeNode } from './mutations/tree.js';

/** Mutant numbers below are of this seed. */
const SEED = 1;
const MUTANTS = 20_000;
/** pkijs takes most of the time: of what we refuse it is asked about one in so many. */
const ASK_PKIJS_OF = 16;

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

test('a mutant follows from its seed and number', () => {
  for (const number of [0, 1, 99]) {
    assert.deepEqual(makeMutant(SEED, number), makeMutant(SEED, number));
    assert.notDeepEqual(makeMutant(SEED, number).bytes, makeMutant(SEED + 1, number).bytes);
  }
});

test(`${MUTANTS} mutants: nothing is read that should not be, or otherwise than pkijs reads it, or believed`, () => {
  const tally = emptyTally();
  const ways = new Set();
  for (let number = 0; number < MUTANTS; number++) {
    compareMutant(tally, SEED, number, { askPkijsOf: ASK_PKIJS_OF });
    if (ways.size < WAYS.length) for (const way of makeMutant(SEED, number).ways) ways.add(way);
  }
  const { laxer, differing, unexplained, wrong } = tally;
  assert.deepEqual(
    { laxer, differing, unexplained, wrong },
    { laxer: [], differing: [], unexplained: [], wrong: [] },
  );
  assert.deepEqual([...ways].sort(), [...WAYS].sort());
  assert.equal(tally.mutants, MUTANTS);
  assert.ok(tally.acceptedByBoth > MUTANTS / 10, `${tally.acceptedByBoth} accepted by both`);
  assert.ok(tally.refusedByBoth > MUTANTS / ASK_PKIJS_OF / 4, `${tally.refusedByBoth} refused by both`);
  assert.ok(Object.keys(tally.stricter).length > 15, JSON.stringify(tally.stricter));
});
