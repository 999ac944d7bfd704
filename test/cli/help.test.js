/** Help, version, schemas, and what is wrong with a command line whichever command it is for. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { operations } from '../../src/operations/index.js';
import { DOCUMENT_KINDS } from '../../src/result/document.js';
import { compile } from '../json-schema.js';
import { assertRefused, startBatch } from './support.js';

const run = startBatch({ after });
const OTHERS = 'run dev report compare merge calibrate propagation setup teardown schema'.split(' ');

test('each help has usage, options and examples, in at most 100 columns', async () => {
  for (const command of [...Object.keys(operations), ...OTHERS]) {
    const { code, stdout, stderr } = await run([command, '--help']);
    assert.deepEqual([code, stderr], [0, ''], command);
    assert.match(
      stdout,
      new RegExp(`^vault-pki-load ${command}\\b[\\s\\S]*^  vault-pki-load ${command}`, 'm'),
    );
    assert.ok(
      stdout.split('\n').every((line) => line.length <= 100),
      command,
    );
  }
});

/** @type {[string, string][]} the second is the plain form */
const SAME = [
  ['-h', '--help'],
  ['issue -help', 'issue --help'],
  ['issue --rate 5 --help', 'issue --help'],
];
for (const [line, plain] of SAME) {
  test(`${line} is ${plain}`, async () => {
    assert.deepEqual(await run(line.split(' ')), await run(plain.split(' ')));
  });
}

test('--version is the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  assert.equal((await run(['--version'])).stdout, `${version}\n`);
});

test('npm pack writes every schema, and package.json exports it', () => {
  const { exports, scripts } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  const packed = /for kind in ([^;]+);/.exec(scripts.prepack)?.[1].split(' ');
  assert.deepEqual(packed, [...DOCUMENT_KINDS, 'scenario']);
  for (const kind of packed) assert.equal(exports[`./${kind}.schema.json`], `./schemas/${kind}.schema.json`);
});

for (const name of ['', ...DOCUMENT_KINDS]) {
  const id = `vault-pki-load/${name === '' ? 'result' : name}/1`;
  test(`schema ${name} prints a JSON Schema of ${id} that ajv compiles`, async () => {
    const { code, stdout, stderr } = await run(['schema', name].filter((word) => word !== ''));
    assert.equal(code, 0, stderr);
    const schema = JSON.parse(stdout);
    assert.equal(schema.$id, id);
    assert.notEqual(compile(schema)({ schema: id }), null, 'there is more to it than its name');
  });
}

/** @type {[string, RegExp][]} words of the command line; what is said */
const MISUSE = [
  ['', /The command is missing\. Put it first.* See: vault-pki-load --help$/m],
  ['--dev issue', /The command is missing\. Put it first/],
  ['--role issue sign --dev', /Unknown option --role\. Put the command first/],
  ['completion fish', /no completion for "fish"\. Use completion bash or /],
  ['isue --rate 5 --quiet', /Unknown command "isue"\. Did you mean issue\? See: vault-pki-load --help$/m],
  ['toString', /Unknown command "toString"/],
  ['issue --$0=x', /Unknown option --\$0\./],
  ['issue --_=x', /Unknown option -_\./],
  ['issue --nope', /Unknown option --nope\. See: vault-pki-load issue --help$/m],
  ['ocsp --nope=3', /Unknown option --nope\. See: .* ocsp --help$/m],
  ['issue -x', /Unknown option -x\./],
  ['issue --ocsp-url http://x', /Unknown option --ocsp-url\./],
  ['issue --timeoutMs 5', /Unknown option --timeoutMs\./],
  ['issue --url.a=3', /Unknown option --url\.a\./],
  ['issue --constructor 3', /Unknown option --constructor\./],
  ['issue --no-dev', /Unknown option --no-dev\./],
  ['calibrate --rate 5', /Unknown option --rate\. See: .* calibrate --help$/m],
  ['merge a b --nope', /Unknown option --nope\. See: /],
  ['issue now', /issue takes options only: /],
  ['ocsp -- leaf.pem', /ocsp takes options only: /],
  ['issue issue', /issue takes options only: /],
  ['dev v1', /dev takes options only: /],
  ['merge --format json', /merge needs at least 1 FILE\./],
  ['report', /report needs at least 1 FILE\. See: .* report --help$/m],
  ['compare a --with', /There is nothing to compare the base with\. Add other/],
  ['compare a --with --seed 1', /There is nothing to compare the base with/],
  ['schema v1', /There is no schema "v1"\. Use one of result, run-set, comparison, .*scenario-result/],
  ['schema result run-set', /schema takes one KIND at a time\. See: /],
  ['issue --dev --duration', /--duration needs a value\. See: /],
  ['issue --cn --rate 5', /--cn needs a value\. See: /],
  ['issue -format', /--format needs a value\. See: /],
  ['issue --dev=foo', /--dev takes no value, but got "foo"\. Write just --dev\./],
  ['teardown --help=full', /--help takes no value\. See: .* teardown --help$/m],
  ['teardown --help false', /--help takes no value\. See: .* teardown --help$/m],
  ['health --version=1', /--version takes no value\. See: /],
  ['ocsp --nonce=', /--nonce takes no value, but got ""/],
];

test('help and errors are in English, whatever the locale', async () => {
  const env = { LC_ALL: 'de_DE.UTF-8' };
  assert.match((await run(['health', '--help'], { env })).stdout, /^Options:$/m);
  assertRefused(await run(['health', '--rat', '5'], { env }), /Unknown option --rat\. Did you mean --rate\?/);
});

describe('misuse is one line, exit code 1, nothing on standard output:', () => {
  for (const [line, message] of MISUSE) {
    test(line, async () => assertRefused(await run(line.split(' ').filter((word) => word !== '')), message));
  }
});
