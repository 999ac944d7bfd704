import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { assertRefused, runCli } from './support.js';

/** `UPDATE_GOLDEN=1 node --test test/cli/help.test.js` writes the files anew. */
const UPDATE = process.env.UPDATE_GOLDEN === '1';

/** @type {[string, string, string[]][]} what, golden file, arguments */
const GOLDEN = [
  ['the program', 'help', ['--help']],
  ['issue', 'help-issue', ['issue', '--help']],
  ['ocsp', 'help-ocsp', ['ocsp', '--help']],
  ['dev', 'help-dev', ['dev', '--help']],
  ['report', 'help-report', ['report', '--help']],
  ['compare', 'help-compare', ['compare', '--help']],
  ['merge', 'help-merge', ['merge', '--help']],
  ['calibrate', 'help-calibrate', ['calibrate', '--help']],
  ['propagation', 'help-propagation', ['propagation', '--help']],
  ['setup', 'help-setup', ['setup', '--help']],
  ['teardown', 'help-teardown', ['teardown', '--help']],
  ['schema', 'help-schema', ['schema', '--help']],
];

describe('help', { concurrency: 2 }, () => {
  for (const [what, name, args] of GOLDEN) {
    test(`of ${what} is what was agreed on`, async () => {
      const file = new URL(`golden/${name}.txt`, import.meta.url);
      const { code, stdout, stderr } = await runCli(args);
      if (UPDATE) writeFileSync(file, stdout);
      assert.equal(stdout, readFileSync(file, 'utf8'));
      assert.equal(stderr, '');
      assert.equal(code, 0);
      const widest = stdout.split('\n').reduce((most, line) => Math.max(most, line.length), 0);
      assert.ok(widest <= 100, `${widest} columns`);
    });
  }

  /** @type {[string, string[], string[]][]} */
  const SAME = [
    ['-h is --help', ['-h'], ['--help']],
    ['-help is --help, as Vault has it', ['issue', '-help'], ['issue', '--help']],
    ['help comes before what is wrong', ['issue', '--rate', '5', '--help'], ['issue', '--help']],
  ];
  for (const [what, args, others] of SAME) {
    test(what, async () => {
      const [one, other] = await Promise.all([runCli(args), runCli(others)]);
      assert.deepEqual(one, other);
      assert.equal(one.code, 0);
    });
  }
});

test('--version is the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  assert.deepEqual(await runCli(['--version']), {
    code: 0,
    signal: null,
    stdout: `${version}\n`,
    stderr: '',
  });
});

for (const [args, id] of /** @type {[string[], string][]} */ ([
  [[], 'vault-pki-load/result/1'],
  [['result'], 'vault-pki-load/result/1'],
  [['run-set'], 'vault-pki-load/run-set/1'],
  [['comparison'], 'vault-pki-load/comparison/1'],
  [['scenario-result'], 'vault-pki-load/scenario-result/1'],
])) {
  test(`schema ${args.join(' ')} prints a JSON Schema of ${id} that ajv compiles`, async () => {
    const { code, stdout, stderr } = await runCli(['schema', ...args]);
    assert.equal(code, 0, stderr);
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
    /** @type {import('ajv-formats').FormatsPlugin} */ (/** @type {unknown} */ (formats))(ajv);
    const schema = JSON.parse(stdout);
    assert.equal(schema.$id, id);
    assert.equal(ajv.compile(schema)({ schema: id }), false, 'there is more to it than its name');
  });
}

/** @type {[string, string[], RegExp][]} */
const MISUSE = [
  ['no arguments', [], /No command is given: it comes first.* See: vault-pki-load --help$/m],
  ['options before the command', ['--dev', 'issue'], /No command is given: it comes first/],
  ['an unknown command', ['isue'], /There is no command "isue"\. See: vault-pki-load --help$/m],
  [
    'an unknown command with flags',
    ['isue', '--rate', '5', '--quiet'],
    /There is no command "isue"\. See: vault-pki-load --help$/m,
  ],
  ['a name of every object as command', ['toString'], /There is no command "toString"/],
  [
    'an unknown option',
    ['issue', '--nope'],
    /There is no option --nope\. See: vault-pki-load issue --help$/m,
  ],
  [
    'an unknown option with a value',
    ['ocsp', '--nope=3'],
    /There is no option --nope\. See: .* ocsp --help$/m,
  ],
  ['an unknown short option', ['issue', '-x'], /There is no option -x\./],
  ["another command's option", ['issue', '--ocsp-url', 'http://x'], /There is no option --ocsp-url\./],
  ['a camel-case option', ['issue', '--timeoutMs', '5'], /There is no option --timeoutMs\./],
  ['a dotted option', ['issue', '--url.a=3'], /There is no option --url\.a\./],
  ['a name of every object as option', ['issue', '--constructor', '3'], /There is no option --constructor\./],
  ['--no- before a flag', ['issue', '--no-dev'], /There is no option --no-dev\./],
  ['a word behind the command', ['issue', 'now'], /issue takes options only\./],
  ['a word behind --', ['ocsp', '--', 'leaf.pem'], /ocsp takes options only\./],
  ['a command twice', ['issue', 'issue'], /issue takes options only\./],
  [
    'an unknown option of calibrate',
    ['calibrate', '--rate', '5'],
    /There is no option --rate\. See: .* calibrate --help$/m,
  ],
  ['a word behind calibrate', ['calibrate', 'now'], /calibrate takes options only\./],
  ['no file where one is needed', ['report'], /report needs at least 1 FILE\. See: .* report --help$/m],
  ['no file but options', ['merge', '--format', 'json'], /merge needs at least 1 FILE\./],
  ['an unknown option beside files', ['merge', 'a', 'b', '--nope'], /There is no option --nope\. See: /],
  [
    'another group without a file',
    ['compare', 'a', '--with'],
    /--with needs a value\. See: .* compare --help$/m,
  ],
  [
    'another group without a file, in between',
    ['compare', 'a', '--with', '--seed', '1'],
    /--with needs a value/,
  ],
  ['a word where nothing is taken', ['dev', 'v1'], /dev takes options only\./],
  [
    'a schema that there is not',
    ['schema', 'v1'],
    /There is no schema "v1"\. There are result, run-set, comparison, .*scenario-result/,
  ],
  ['two schemas', ['schema', 'result', 'run-set'], /More than one kind is given\. Ask for one/],
  ['a value missing at the end', ['issue', '--dev', '--duration'], /--duration needs a value\. See: /],
  ['a value missing in between', ['issue', '--cn', '--rate', '5'], /--cn needs a value\. See: /],
  ['a value missing with one dash', ['issue', '-format'], /--format needs a value\. See: /],
  ['a value for a flag', ['issue', '--dev=foo'], /--dev takes no value, but got "foo"\. Write just --dev\./],
  ['an empty value for a flag', ['ocsp', '--nonce='], /--nonce takes no value, but got ""/],
];

describe('misuse is one line, exit code 1, nothing on standard output:', { concurrency: 3 }, () => {
  for (const [what, args, message] of MISUSE) {
    test(what, async () => assertRefused(await runCli(args), message));
  }
});
