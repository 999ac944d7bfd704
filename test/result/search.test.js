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
    assert.throws(() => validateSearch(one), /its why contradicts its failure/);
  assert.throws(
    () => validateSearch({ ...whole, why: 'broken off', failure }),
    /its why does not follow from its answer/,
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

/** @type {[string, (search: any) => unknown, RegExp][]} what one edit makes of a search, how, and the complaint */
const EDITS = [
  [
    'a highest met level below the answer',
    ({ bracket }) => (bracket.highestMet = bracket.confirmed / 2),
    /its bracket or its peak is not that of its steps/,
  ],
  ['a lower bound that no step met', ({ bracket }) => (bracket.highestMet *= 10), /its bracket/],
  ['an upper bound that no step missed', ({ bracket }) => (bracket.above.level *= 2), /its bracket/],
  ['a confirmed level', ({ bracket }) => (bracket.confirmed *= 2), /its bracket/],
  ['a peak of a rate', (search) => (search.peakPerSecond = 1), /its bracket or its peak/],
  [
    'a stricter limit',
    ({ requirements: [p99] }) => Object.assign(p99, { text: 'p99<1ms', limit: 1 }),
    /a step met p99<1ms, but its p99 is beyond the limit/,
  ],
  [
    'a looser limit',
    ({ requirements: [p99] }) => Object.assign(p99, { text: 'p99<10s', limit: 10_000 }),
    /its requirements are not those of the result that confirms it/,
  ],
  [
    'a limit',
    ({ requirements: [p99] }) => (p99.limit = 1),
    /"p99<100ms" is not a requirement with this limit/,
  ],
  ['the duration of the answer', ({ answer }) => (answer.seconds = 1), /no step confirms its answer/],
  ['no requirement', (search) => (search.requirements = []), /its requirements are not those/],
  ['another operation', ({ requirements: [p99] }) => (p99.operation = 'x'), /its requirements are not those/],
  [
    'a level, wherever it is named',
    (search) => {
      search.settings.highest = 1e9;
      for (const one of [search.answer, search.steps.at(-1)]) one.level = 1000;
      search.bracket = { confirmed: 1000, highestMet: 1000, above: null };
      search.why = 'highest';
    },
    /the level and the figures of its answer are not those of the result that confirms it/,
  ],
  ['another way to search', (search) => (search.searched = 'concurrency'), /its bracket or its peak/],
  ['a highest level', ({ settings }) => (settings.highest = 1), /a step is above the highest level/],
  ['the highest level as its end', (search) => (search.why = 'highest'), /its why does not follow/],
  ['an end without an answer', (search) => (search.why = 'lowest'), /its why does not follow/],
  ['an interruption', (search) => (search.interrupted = true), /its why contradicts its failure, or whether/],
  ['a search that goes on', (search) => (search.unfinished = true), /its why contradicts/],
  [
    'a met step whose measurement is invalid',
    ({ steps }) =>
      (steps.find((/** @type {any} */ { verdict }) => verdict === 'met').measurement = 'invalid'),
    /a step met the requirements, but its measurement is invalid/,
  ],
  [
    'errors of a met step',
    ({ steps }) => (steps.find((/** @type {any} */ { verdict }) => verdict === 'met').errorShare = 0.5),
    /a step met errors<0.1%, but its errors is beyond the limit/,
  ],
];
for (const [what, edit, message] of EDITS) {
  test(`rejects a search with an edit: ${what}`, async () => {
    const search = JSON.parse(JSON.stringify(await sampleSearch()));
    edit(search);
    assert.throws(() => validateSearch(search), { code: 'inconsistent_search', message });
  });
}
