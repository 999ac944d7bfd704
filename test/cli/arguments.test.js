/** Options that yargs cannot read: several values at a time, flags with a text. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  commandLine,
  describeMisuse,
  normaliseArguments,
  takeSpecialOptions,
} from '../../src/cli/arguments.js';
import { redactToken } from '../../src/common/sanitize.js';

/** @import { Command } from '../../src/cli/arguments.js' */

const SPEC = { type: /** @type {const} */ ('file'), describe: '', group: '' };

/** @type {Command} */
const COMMAND = {
  options: {
    out: { ...SPEC, repeatable: true },
    with: { ...SPEC, several: true },
    dry: { ...SPEC, type: 'flag' },
  },
  examples: [],
  run: async () => 0,
};

/** @type {[string, string, string, string[][]?][]} what, words, what the parser gets, lists */
const TABLE = [
  ['values up to the next option', 'a --with b c --out d', 'a --out d', [['b', 'c']]],
  ['each occurrence separately', '--with b c --with d', '', [['b', 'c'], ['d']]],
  ['a value after =, and more', '--with=b c', '', [['b', 'c']]],
  ['standard input is a value', 'a --with - b', 'a', [['-', 'b']]],
  ['none', '--with --out x', '--out x', [[]]],
  ['after --, everything is a word', 'a -- --with b', 'a -- --with b'],
  ['other options take one value', '--out b c', '--out b c'],
  ['another option with a longer name', '--without b c', '--without b c'],
];

test('options may have one dash; words after -- are unchanged', () => {
  const words = ['-h', '-format=json', '-', '-5', '--', '-h', '-scenario'];
  assert.deepEqual(normaliseArguments(words), [
    '--help',
    '--format=json',
    '-',
    '-5',
    '--',
    '-h',
    '-scenario',
  ]);
  assert.deepEqual(normaliseArguments(['--', 'issue', '-h', '--', '-h']), ['issue', '--help', '--', '-h']);
});

describe('the command line in a result', () => {
  const URL = 'http://h/v1?key=s3cret&b=1';
  /** @type {[what: string, args: string[], line: string][]} */
  const LINES = [
    ['quotes words', ['issue', '--cn', 'a b'], "issue --cn 'a b'"],
    ['is unchanged without a query', ['issue', '--otlp', 'http://h:4318'], 'issue --otlp http://h:4318'],
    [
      'else has no query, which may be a key',
      ['issue', '--otlp', URL, '--rate', '5'],
      "issue --otlp 'http://h/v1?...' --rate 5",
    ],
    ['loses the query after =, too', ['issue', `--otlp=${URL}`], "issue '--otlp=http://h/v1?...'"],
    ['loses the query after one dash, too', ['issue', '-otlp', URL], "issue -otlp 'http://h/v1?...'"],
    ['loses a query with a quote, too', ['issue', '--otlp', `${URL}'x`], "issue --otlp 'http://h/v1?...'"],
    [
      'loses a query with a token, too',
      ['issue', '--otlp', `http://h/v1?user=hvs.${'A'.repeat(24)}&key=s3cret`],
      "issue --otlp 'http://h/v1?...'",
    ],
    ['keeps the query of another URL', ['http', '--path', '/a?b=1'], "http --path '/a?b=1'"],
    ['has no token', ['issue', '--cn', `hvs.${'A'.repeat(24)}`], 'issue --cn <redacted>'],
  ];
  for (const [what, args, line] of LINES) {
    test(what, () => assert.equal(commandLine(args), `vault-pki-load ${line}`));
  }
});

describe('takeSpecialOptions:', () => {
  for (const [what, words, rest, lists] of TABLE) {
    test(what, () => {
      const { rest: left, taken } = takeSpecialOptions(words.split(' '), COMMAND);
      assert.equal(left.join(' '), rest);
      assert.deepEqual(taken, lists === undefined ? {} : { with: lists });
    });
  }

  test('takes a flag with a value, which yargs would read as false', () => {
    const words = ['--dry=no', '--dry', '--out=b', '--', '--dry=x'];
    const { rest, taken } = takeSpecialOptions(words, COMMAND);
    assert.deepEqual([rest, taken], [['--dry', '--out=b', '--', '--dry=x'], {}]);
  });

  test('the last of several flags wins', () => {
    assert.deepEqual(takeSpecialOptions(['--dry', '--dry=false'], COMMAND).taken, { dry: 'false' });
    assert.deepEqual(takeSpecialOptions(['--dry=false', '--dry'], COMMAND), { rest: ['--dry'], taken: {} });
  });

  test('takes nothing without a command', () => {
    assert.deepEqual(takeSpecialOptions(['--with', 'a'], null), { rest: ['--with', 'a'], taken: {} });
  });
});

test('an unknown command that contains the token is redacted, quotes and all', () => {
  redactToken('abc"defghijk');
  const known = { commands: [], flags: [] };
  const shown = describeMisuse('Unknown argument: abc"defghijk', ['abc"defghijk'], known);
  assert.equal(shown, 'Unknown command "<redacted>".');
});

test('--token is unknown: the message names the places of the token', () => {
  const known = { commands: [], flags: ['tokens'] };
  const shown = describeMisuse('Unknown arguments: token, hvs.x', ['issue', '--token', 'hvs.x'], known);
  assert.equal(shown, 'Unknown option --token. The token comes from VAULT_TOKEN or ~/.vault-token.');
});
