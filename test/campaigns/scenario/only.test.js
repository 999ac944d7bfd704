/** Which runs of a scenario --only leaves, and what it says of names that there are not. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { onlyRuns, readScenario } from '../../../src/campaigns/scenario/read.js';
import { PkiLoadError } from '../../../src/common/errors.js';
import { HEAD } from './read.js';

const THREE = `${HEAD}runs: [{name: write heavy}, {name: 'burst, 95 % reads'}, {name: n}]\n`;

/** @param {string} text @param {string[]} names */
async function only(text, names) {
  const { runs } = await readScenario(text, 's.yaml', {});
  return onlyRuns(runs, names).map(({ name }) => name);
}

/** @type {[string, string, string[], string[]][]} */
const CHOSEN = [
  ['no names: all', THREE, [], ['write heavy', 'burst, 95 % reads', 'n']],
  ['a name with a comma', THREE, ['burst, 95 % reads'], ['burst, 95 % reads']],
  ['several, in the order of the file', THREE, ['n', 'write heavy'], ['write heavy', 'n']],
  ['the same name twice: once', THREE, ['n', ' n '], ['n']],
  ['a list of one run', `${HEAD}runs: [{name: a}]\n`, ['a'], ['a']],
  ['no names, a scenario without runs', HEAD, [], ['n']],
];

describe('--only selects', () => {
  for (const [what, text, names, left] of CHOSEN) {
    test(what, async () => assert.deepEqual(await only(text, names), left));
  }
});

/** @type {[string, string, string[], string, string][]} what, file, names, code, what is said */
const REFUSED = [
  [
    'a typo',
    THREE,
    ['n', 'write-heavvy'],
    'unknown_run',
    '--only is "write-heavvy", but s.yaml has no run with this name. Its runs are "write heavy", "burst, 95 % reads", "n".',
  ],
  [
    'something else',
    THREE,
    ['burst,95'],
    'unknown_run',
    '--only is "burst,95", but s.yaml has no run with this name. Its runs are "write heavy", "burst, 95 % reads", "n".',
  ],
  [
    'any name if there are no runs, even that of the scenario',
    HEAD,
    ['n'],
    'contradiction',
    '--only selects from runs, but s.yaml has none. Leave --only out.',
  ],
];

describe('--only rejects', () => {
  for (const [what, text, names, code, full] of REFUSED) {
    test(what, async () => {
      await assert.rejects(
        () => only(text, names),
        (error) => {
          assert.ok(error instanceof PkiLoadError);
          assert.deepEqual([error.full, error.code, error.exitCode], [full, code, 1]);
          return true;
        },
      );
    });
  }
});

test('selects the tipping-point run of Cerberus', async () => {
  const text = readFileSync(new URL('../../../examples/cerberus.yaml', import.meta.url), 'utf8');
  assert.deepEqual(await only(text, ['continuous increase']), ['continuous increase']);
});
