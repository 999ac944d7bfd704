/** The Search beside its steps: how it is told that one broke off, and what is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { targetError } from '../../src/errors.js';
import { brokenOff } from '../../src/results/search/explain.js';
import { validateSearch } from '../../src/results/search/search-schema.js';
import { sampleSearch } from '../search/sample.js';

/** @typedef {import('../../src/results/search/search-schema.js').Search} Search */

/** @returns {Promise<Search>} as it was after its second step */
async function searchThatGoesOn() {
  /** @type {Search[]} */
  const written = [];
  await sampleSearch({}, { onStep: async (soFar) => void written.push(soFar) });
  return written[1];
}

/** @type {[string, unknown, NonNullable<Search['failure']>][]} */
const ERRORS = [
  [
    'an error for people, with its remedy',
    targetError('target_gone', 'It is gone.', 'Start it.'),
    { code: 'target_gone', text: 'It is gone. Start it.' },
  ],
  [
    'another, whose message may hold anything',
    new Error('s3cret'),
    { code: 'internal_error', text: 'An internal error.' },
  ],
];

for (const [what, error, failure] of ERRORS) {
  test(`a search that broke off goes on no more and says why: ${what}`, async () => {
    const soFar = await searchThatGoesOn();
    assert.deepEqual([soFar.unfinished, soFar.why], [true, 'going on']);
    const search = validateSearch(brokenOff(soFar, error));
    assert.deepEqual([search.unfinished, search.why, search.failure], [undefined, 'broken off', failure]);
    assert.equal(search.explanation, `It broke off, and no level was confirmed. ${failure.text}`);
    assert.deepEqual(search.steps, soFar.steps);
  });
}
