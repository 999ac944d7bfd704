/** Checks of a Search against its steps: interrupted searches, and contradictions that are refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { targetError } from '../../src/common/errors.js';
import { endWithError } from '../../src/result/search/explain.js';
import { validateSearch } from '../../src/result/search/search-schema.js';
import { sampleSearch } from '../campaigns/search/sample.js';
import { simulateStep } from '../campaigns/search/simulated-server.js';

/** @import { Search } from '../../src/result/search/search-schema.js' */

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
    'a PkiLoadError, with its remedy',
    targetError('target_gone', 'It is gone.', 'Start it.'),
    { code: 'target_gone', text: 'It is gone. Start it.' },
  ],
  [
    'any other error, whose message may contain secrets',
    new Error('s3cret'),
    { code: 'internal_error', text: 'An internal error.' },
  ],
];

for (const [what, error, failure] of ERRORS) {
  test(`a failed search ends with a reason: ${what}`, async () => {
    const soFar = await searchThatGoesOn();
    assert.deepEqual([soFar.unfinished, soFar.why], [true, 'going on']);
    const search = validateSearch(endWithError(soFar, error));
    assert.deepEqual([search.unfinished, search.why, search.failure], [undefined, 'broken off', failure]);
    assert.equal(search.explanation, `The search failed, and no level was confirmed. ${failure.text}`);
    assert.deepEqual(search.steps, soFar.steps);
  });
}

test('rejects an end that contradicts the failure', async () => {
  const broken = endWithError(await searchThatGoesOn(), targetError('target_gone', 'It is gone.'));
  const { failure, ...without } = broken;
  const whole = await sampleSearch({});
  for (const one of [without, { ...whole, failure }])
    assert.throws(() => validateSearch(one), /its why and its failure contradict each other/);
  assert.throws(
    () => validateSearch({ ...whole, why: 'broken off', failure }),
    /cut short, but has an answer/,
  );
});

test('the highest met level may exceed the confirmed one', async () => {
  let confirmations = 0;
  const search = await sampleSearch(
    {},
    {
      // The first confirmation finds a target that has become slow.
      runStep: async (plan, { phase }) =>
        simulateStep(plan, phase === 'confirmation' && ++confirmations === 1 ? 200 : 10),
    },
  );
  const { confirmed, highestMet, above } = search.bracket;
  const met = search.steps.filter(({ verdict }) => verdict === 'met').map(({ level }) => level);
  assert.equal(highestMet, Math.max(...met));
  assert.ok(confirmed !== null && highestMet > confirmed, `${confirmed}, ${highestMet}`);
  // It failed when it was last tried.
  assert.equal(above?.level, highestMet);
  assert.equal(validateSearch(search), search);
});

test('rejects an answer above the highest met level', async () => {
  const search = await sampleSearch();
  const bracket = { ...search.bracket, highestMet: Number(search.bracket.confirmed) / 2 };
  assert.throws(() => validateSearch({ ...search, bracket }), {
    code: 'inconsistent_search',
    message: /its answer is above the highest level that it calls met/,
  });
});
