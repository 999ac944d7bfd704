/** What a dry run says of a search. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describeSteps } from '../../../src/campaigns/scenario/describe.js';
import { readScenario } from '../../../src/campaigns/scenario/read.js';
import { stepsOf } from '../../../src/campaigns/scenario/scenario-steps.js';
import { HEAD } from './read.js';

/** @import { RequestedSearch } from '../../../src/campaigns/search/search-options.js' */

/**
 * @param {string} text
 * @param {RequestedSearch | null} search
 * @param {Record<string, unknown>} [flags]
 * @param {Partial<{pauseMs: number, out: string[]}>} [more]
 */
async function described(text, search, flags = {}, more = {}) {
  const scenario = await readScenario(text, 's.yaml', {});
  const settings = { repeat: 1, pauseMs: 0, out: [], search, ...more };
  return describeSteps(scenario, await stepsOf(scenario, flags, settings), settings);
}

const RATE = Object.freeze({ of: /** @type {const} */ ('rate'), highest: 1e6 });
const FLIGHT = Object.freeze({ of: /** @type {const} */ ('concurrency'), highest: 64 });
const STAGED = `${HEAD}require: 'p50<1s'\nstages:\n  - {name: up, hold: {rate: 9, duration: 2s}, require: ['p99<1s', 'errors<1%']}\n`;

describe('a dry run of a search prints', () => {
  test('the start and the length of the steps, but no number of requests', async () => {
    const text = await described(`${HEAD}require: 'p50<200ms'\n`, RATE);
    assert.match(text, /^Search {8}the highest rate: 50\/s to 1,000,000\/s, doubling, then bisection$/m);
    assert.match(text, /^First step {4}open loop at 50\/s, 10 s$/m);
    assert.match(
      text,
      /^Steps {9}at least 10 s, with 1 s or more in between; then a confirmation of\s+at least 30 s$/m,
    );
    assert.match(text, /^issue +100 % +–$/m);
    assert.doesNotMatch(text, /^Load|^Requests/m);
    assert.match(text, /^Repeated {6}as often as the search needs$/m);
  });

  test('the load of the file, and longer steps for a percentile', async () => {
    const text = await described(
      `${HEAD}load: {rate: 20/s, concurrency: 7, duration: 15s}\nrequire: 'p99<200ms'\n`,
      { ...RATE, highest: 400 },
      {},
      { pauseMs: 5000 },
    );
    assert.match(text, /rate: 20\/s to 400\/s,/);
    assert.match(text, /^First step {4}open loop at 20\/s, (?:[2-9]\d(?:\.\d)? s|1 min)$/m);
    assert.match(text, /at least 15 s, with 5 s or more in between/);
  });

  test('that it searches for the peak', async () => {
    const text = await described(`${HEAD}load: {threads: 2}\n`, FLIGHT);
    assert.match(text, /^Search {8}the peak throughput: 2 in flight to 64 in flight,/m);
    assert.match(text, /^First step {4}closed loop, 2 in flight, 2 threads, 10 s$/m);
  });

  test('the leftovers of every step, and the file of each search', async () => {
    const text = await described(`${HEAD}runs: [{name: a}, {name: b}]\n`, FLIGHT, {}, { out: ['r.json'] });
    assert.match(text, /^ {14}the same after every step of the search$/m);
    assert.match(text, /^Written {7}r\.json; one file per search$/m);
  });
});

/** @type {[string, typeof RATE | null, Record<string, unknown>][]} */
const INSTEAD = [
  ['flags', null, { rate: '20', duration: '10s' }],
  ['a search', RATE, {}],
];

for (const [what, search, flags] of INSTEAD) {
  test(`a dry run lists the requirements that are not judged if ${what} replaces the stages`, async () => {
    assert.match(
      await described(STAGED, search, flags),
      /^Required {6}p50<1s\nLeft out {6}stages, and the requirements on them:\n {14}up: p99<1s\n {14}up: errors<1%\nLeft behind/m,
    );
  });
}

test('a dry run with stages lists none', async () => {
  assert.doesNotMatch(await described(STAGED, null), /Left out|Search|First step/);
});
