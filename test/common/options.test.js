import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PkiLoadError } from '../../src/common/errors.js';
import { camelCase, readOptions } from '../../src/common/options.js';

/** @import { OptionSpec, OptionType } from '../../src/common/options.js' */

/** @param {Partial<OptionSpec> & {type: OptionType}} spec @param {unknown} [value] */
function read(spec, value) {
  return readOptions({ 'some-flag': { describe: '', group: '', ...spec } }, { 'some-flag': value }).someFlag;
}

/** @type {[string, Partial<OptionSpec> & {type: OptionType}, unknown, unknown][]} sentence, declaration, given, value */
const VALUES = [
  ['a text is itself', { type: 'text' }, 'a b', 'a b'],
  ['a number becomes text', { type: 'text' }, 12, '12'],
  ['a list splits at commas', { type: 'list' }, 'a, b,,c ', ['a', 'b', 'c']],
  ['lists given twice are joined', { type: 'list' }, ['a,b', 'c'], ['a', 'b', 'c']],
  ['a missing list is empty', { type: 'list' }, undefined, []],
  ['digits are an integer', { type: 'integer' }, '10', 10],
  ['digits may be grouped', { type: 'integer' }, '1_000', 1000],
  ['a bare duration is seconds', { type: 'duration' }, '20', 20_000],
  ['a duration with units', { type: 'duration' }, '1m30s', 90_000],
  ['a bare rate is per second', { type: 'rate' }, '20', 20],
  ['a rate per hour', { type: 'rate' }, '3600/h', 1],
  ['a choice is one of its choices', { type: 'choice', choices: ['a', 'b'] }, 'b', 'b'],
  ['a flag is true', { type: 'flag' }, true, true],
  ['a flag may be written out', { type: 'flag' }, 'false', false],
  ['a missing flag is false', { type: 'flag' }, undefined, false],
  [
    'a URL loses its trailing slashes',
    { type: 'url' },
    'https://[::1]:8200/base//',
    'https://[::1]:8200/base',
  ],
  ['a missing value without a default is null', { type: 'text' }, undefined, null],
  ['null counts as missing', { type: 'integer', default: 3 }, null, 3],
  ['a default is read like a value', { type: 'duration', default: '2s' }, undefined, 2000],
  ['a repeatable option is a list', { type: 'text', repeatable: true }, 'x', ['x']],
  ['a repeatable option keeps its order', { type: 'text', repeatable: true }, ['x', 'y'], ['x', 'y']],
  ['a missing repeatable option is an empty list', { type: 'text', repeatable: true }, undefined, []],
  ['bounds are included: low', { type: 'integer', min: 1, max: 5 }, '1', 1],
  ['bounds are included: high', { type: 'integer', min: 1, max: 5 }, '5', 5],
];

/** @type {[string, Partial<OptionSpec> & {type: OptionType}, unknown, string, RegExp][]} sentence, declaration, given, code, what the message holds */
const REFUSED = [
  ['an empty text', { type: 'text' }, '', 'empty_option', /is empty.*Set a value/],
  ['a newline', { type: 'text' }, 'a\nb', 'bad_option', /control character.*Remove it/],
  ['a NUL', { type: 'file' }, 'a\0', 'bad_option', /control character/],
  ['a text given twice', { type: 'text' }, ['a', 'b'], 'repeated_option', /2 times.*once/],
  ['a flag given twice', { type: 'flag' }, [true, true], 'repeated_option', /2 times.*once/],
  ['letters for an integer', { type: 'integer' }, 'ten', 'bad_option', /"ten".*whole number.*digits/],
  ['digits in other groups', { type: 'integer' }, '1_0', 'bad_option', /"1_0".*whole number/],
  ['a sign', { type: 'integer' }, '-1', 'bad_option', /"-1".*whole number/],
  ['a fraction for an integer', { type: 'integer' }, 1.5, 'bad_option', /"1.5".*whole number/],
  ['an integer too large to be exact', { type: 'integer' }, '9007199254740993', 'bad_option', /whole number/],
  ['NaN', { type: 'integer' }, Number.NaN, 'bad_option', /whole number/],
  ['too small an integer', { type: 'integer', min: 1 }, '0', 'out_of_range', /"0"; it must be at least 1\./],
  ['too large an integer', { type: 'integer', max: 10_000 }, '10001', 'out_of_range', /at most 10000\./],
  ['a duration without a known unit', { type: 'duration' }, '5 parsecs', 'bad_duration', /such as 30s/],
  ['a negative duration', { type: 'duration' }, '-5s', 'bad_duration', /such as 30s/],
  ['an infinite duration', { type: 'duration' }, '1e400', 'bad_duration', /not a duration such as/],
  ['too short a duration', { type: 'duration', min: 1 }, '0', 'out_of_range', /at least 1 ms\./],
  ['too long a duration', { type: 'duration', max: 3_600_000 }, '61m', 'out_of_range', /at most 1 h\./],
  ['a rate of zero', { type: 'rate' }, '0', 'bad_rate', /above zero, such as/],
  ['a rate per fortnight', { type: 'rate' }, '5/fortnight', 'bad_rate', /such as/],
  ['too high a rate', { type: 'rate', max: 1e6 }, '1e10/h', 'out_of_range', /at most 1000000\/s\./],
  ['an unknown choice', { type: 'choice', choices: ['a', 'b'] }, 'c', 'bad_option', /"c".*one of a, b/],
  ['a value for a flag', { type: 'flag' }, 'yes', 'bad_option', /takes no value.*Write just/],
  [
    'no URL',
    { type: 'url' },
    'localhost:8200',
    'bad_url',
    /http:\/\/ or https:\/\/.*http:\/\/127.0.0.1:8200/,
  ],
  ['another scheme', { type: 'url' }, 'ftp://host', 'bad_url', /http:\/\/ or https:\/\//],
  ['an invalid port', { type: 'url' }, 'http://host:99999', 'bad_url', /address/],
  ['a password in a URL', { type: 'url' }, 'http://me:hunter2@host', 'bad_url', /password.*Leave them out/],
  ['a query', { type: 'url' }, 'http://host/?a=b', 'bad_url', /query.*\?a=b.*Leave it out/],
  [
    'a socket whose path the system would cut',
    { type: 'url', socket: true },
    `unix:///${'a'.repeat(107)}`,
    'bad_url',
    /path of more than 10\d bytes.*shorter/,
  ],
  ['too long a URL', { type: 'url' }, `http://h/${'a'.repeat(2048)}`, 'bad_url', /longer than 2048.*shorter/],
];

describe('an option', () => {
  for (const [sentence, spec, given, value] of VALUES) {
    test(sentence, () => assert.deepEqual(read(spec, given), value));
  }

  for (const [sentence, spec, given, code, holds] of REFUSED) {
    test(`rejects ${sentence}`, () => {
      assert.throws(
        () => read(spec, given),
        (error) => {
          assert.ok(error instanceof PkiLoadError);
          assert.deepEqual([error.code, error.exitCode], [code, 1]);
          assert.match(error.full, /--some-flag/);
          assert.match(error.full, holds);
          assert.doesNotMatch(error.full, /hunter2/);
          return true;
        },
      );
    });
  }

  test('may be set by its kebab-case or camelCase name', () => {
    /** @type {OptionSpec} */
    const spec = { type: 'text', describe: '', group: '' };
    assert.equal(readOptions({ 'a-b_c': spec }, { aBC: 'x' }).aBC, 'x');
    assert.equal(readOptions({ 'a-b_c': spec }, { 'a-b_c': 'x' }).aBC, 'x');
    assert.equal(camelCase('timeout_ms'), 'timeoutMs');
  });
});
