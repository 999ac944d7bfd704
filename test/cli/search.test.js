/** --find-max-rate and --max-concurrency: contradictions, where a search begins, and its exit code. On servers: search.slow.js. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { plannedForSearch, readSearch } from '../../src/campaigns/search/search-options.js';
import { exitCodeOfSearch } from '../../src/cli/search.js';
import { assertRefused, startBatch } from './support.js';

const run = startBatch({ after });

const NONE = { findMaxRate: false, maxRate: null, maxConcurrency: null };

/** @type {[string, () => unknown, RegExp][]} */
const CONTRADICTIONS = [
  ['a limit without a search', () => readSearch({ ...NONE, maxRate: 5 }, 1), /--max-rate limits a search/],
  ['both', () => readSearch({ ...NONE, findMaxRate: true, maxConcurrency: 5 }, 1), /an open loop/],
  ['--repeat', () => readSearch({ ...NONE, findMaxRate: true }, 3), /but --repeat 3 sets the number of runs/],
  ['--repeat', () => readSearch({ ...NONE, maxConcurrency: 8 }, 3), /--max-concurrency .* --repeat 3/],
  [
    'a first rate',
    () => plannedForSearch({ of: 'rate', highest: 5 }, { rate: '10' }),
    /10 is above --max-rate/,
  ],
  ['a rate', () => plannedForSearch({ of: 'concurrency', highest: 5 }, { rate: '5' }), /makes an open/],
  [
    'Poisson arrivals in a closed loop',
    () => plannedForSearch({ of: 'concurrency', highest: 5 }, { pacing: 'auto', arrivals: 'poisson' }),
    /but --arrivals is for an open one/,
  ],
  [
    'a ramp-up in a closed loop',
    () => plannedForSearch({ of: 'concurrency', highest: 5 }, { 'ramp-up': '5s' }),
    /but --ramp-up is for an open one/,
  ],
];

for (const [what, act, message] of CONTRADICTIONS) {
  test(`contradiction: ${what}`, () => assert.throws(act, message));
}

test('start of a search', () => {
  assert.deepEqual(plannedForSearch(null, { duration: '5' }), { duration: '5' });
  assert.deepEqual(plannedForSearch({ of: 'rate', highest: 1e6 }, {}), { rate: 50, concurrency: 10 });
  assert.deepEqual(plannedForSearch({ of: 'rate', highest: 20 }, {}), { rate: 20, concurrency: 10 });
  assert.deepEqual(plannedForSearch({ of: 'rate', highest: 1e6 }, { rate: '7/s' }), {
    rate: '7/s',
    concurrency: 10,
  });
  assert.deepEqual(plannedForSearch({ of: 'concurrency', highest: 9 }, {}), { concurrency: 1 });
  assert.deepEqual(plannedForSearch({ of: 'concurrency', highest: 9 }, { threads: '2' }), {
    threads: '2',
    concurrency: 2,
  });
});

/** @type {[string, object, number][]} */
const CODES = [
  ['an answer', { answer: { perSecond: 100 }, why: 'bracketed' }, 0],
  [
    'an answer below the required rate',
    {
      answer: { perSecond: 49 },
      why: 'bracketed',
      requirements: [{ text: 'rate>=50/s', limit: 50, unit: '/s', beyond: true }],
    },
    99,
  ],
  ['an answer limited by the tool', { answer: { perSecond: 100 }, why: 'generator' }, 98],
  ['the highest allowed rate', { answer: { perSecond: 100 }, why: 'highest' }, 0],
  ['none: no level was met', { answer: null, why: 'lowest' }, 99],
  ['none: the tool could not offer the load', { answer: null, why: 'generator' }, 98],
  ['none: the tool was late', { answer: null, why: 'unconfirmed', steps: [{ verdict: 'not offered' }] }, 98],
  ['interrupted', { answer: null, why: 'interrupted', interrupted: true }, 130],
];

for (const [what, search, code] of CODES) {
  test(`exit code ${code}: ${what}`, () => {
    const whole = {
      interrupted: false,
      steps: [],
      requirements: [{ text: 'rate>=50/s', limit: 50, unit: '/s' }],
      ...search,
    };
    assert.equal(exitCodeOfSearch(/** @type {any} */ (whole)), code);
  });
}

test('rejects an impossible search before sending', async () => {
  const cli = (/** @type {string[]} */ ...args) => run(['ocsp', '--dev', ...args]);
  assertRefused(await cli('--find-max-rate'), /has no requirement on a whole run\. Add requirements/);
  assertRefused(
    await cli('--find-max-rate', '--require', 'p99<1s', '--requests', '5'),
    /--requests ends each step/,
  );
  assertRefused(await cli('--find-max-rate', '--require', 'p99<1s', '--out', 'r.csv'), /\.csv/);
});
