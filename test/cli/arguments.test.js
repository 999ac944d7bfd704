/** Options that take several values at a time, and words behind the command. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { joinValues, listFlags, listsOf, wordsOf } from '../../src/cli/arguments.js';

/** @import { Command } from '../../src/cli/arguments.js' */
/** @import { OptionSpec } from '../../src/common/options.js' */

/** @type {[string, string, string[]][]} what, words, what the parser gets */
const JOINED = [
  ['values up to the next option', 'a --with b c --out d', ['a', '--with=["b","c"]', '--out', 'd']],
  ['each occurrence by itself', '--with b c --with d', ['--with=["b","c"]', '--with=["d"]']],
  ['a value behind =, and more', '--with=b c', ['--with=["b","c"]']],
  ['standard input is a value', 'a --with - b', ['a', '--with=["-","b"]']],
  [
    'without a value it stays, so that the parser says what is missing',
    '--with --out x',
    ['--with', '--out', 'x'],
  ],
  ['at the end, too', 'a --with', ['a', '--with']],
  ['behind -- all are words', 'a -- --with b', ['a', '--', '--with', 'b']],
  ['other options take one value', '--out b c', ['--out', 'b', 'c']],
  ['what only begins like it is another option', '--without b c', ['--without', 'b', 'c']],
];

describe('values of one occurrence are joined:', () => {
  for (const [what, words, joined] of JOINED) {
    test(what, () => assert.deepEqual(joinValues(words.split(' '), ['with']), joined));
  }

  test('and are lists again, whatever is in a name', () => {
    const odd = ['a"b.json', 'c=d.json', 'e f.json', 'ü,{}.json'];
    const [one, two] = joinValues(['--with', ...odd, '--with', 'x'], ['with']);
    const values = [one, two].map((arg) => arg.slice('--with='.length));
    assert.deepEqual(listsOf({ with: values }, ['with']), { with: [odd, ['x']] });
    assert.deepEqual(listsOf({ with: values[1] }, ['with']), { with: [['x']] });
    assert.deepEqual(listsOf({ out: 'x' }, ['with']), {});
  });
});

test('a command says which options take several values, and what its words are called', () => {
  /** @type {OptionSpec} */
  const spec = { type: 'file', describe: '', group: '' };
  /** @type {Command} */
  const command = {
    options: { out: { ...spec, repeatable: true }, with: { ...spec, several: true } },
    positionals: { name: 'files', describe: '', min: 1 },
    examples: [],
    run: async () => 0,
  };
  assert.deepEqual(listFlags(command), ['with']);
  assert.deepEqual(wordsOf(command, ['compare', 'a', '1']), { files: ['a', '1'] });
  assert.deepEqual(wordsOf({ ...command, positionals: undefined }, ['issue']), {});
});
