/** Help, version, schemas, and what is wrong with a command line whichever command it is for. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { operations } from '../../src/operations/index.js';
import { DOCUMENT_KINDS } from '../../src/results/document.js';
import { compile } from '../json-schema.js';
import { assertRefused, runCli, startBatch } from './support.js';

/** `UPDATE_GOLDEN=1 node --test test/cli/help.test.js` writes the files anew. */
const UPDATE = process.env.UPDATE_GOLDEN === '1';

const run = startBatch({ after });
const OTHERS = 'run dev report compare merge calibrate propagation setup teardown schema'.split(' ');

// That of issue and of ocsp is in the README, which test/docs.test.js compares.
for (const [name, args] of Object.entries({ help: ['--help'], 'help-merge': ['merge', '--help'] })) {
  test(`${args.join(' ')} is as agreed on`, async () => {
    const file = new URL(`golden/${name}.txt`, import.meta.url);
    const { stdout } = await runCli(args);
    if (UPDATE) writeFileSync(file, stdout);
    assert.equal(stdout, readFileSync(file, 'utf8'));
  });
}

test('the help of each command has its usage, its options and examples, at most 100 columns wide', async () => {
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

test('compare --help breaks its paragraphs at the margin alone', async () => {
  const { stdout } = await run(['compare', '--help']);
  const lines = stdout.slice(stdout.indexOf('\nOne run is one sample')).split('\n');
  for (const [i, line] of lines.entries()) {
    const next = lines[i + 1] ?? '';
    if (line === '' || next === '' || next.startsWith(' ')) continue;
    const [word] = next.split(' ');
    assert.ok(line.length + 1 + word.length > 98, `${word} would have fitted behind: ${line}`);
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

test('every schema is written when packing, and exported', () => {
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
  ['', /No command is given: it comes first.* See: vault-pki-load --help$/m],
  ['--dev issue', /No command is given: it comes first/],
  ['isue --rate 5 --quiet', /There is no command "isue"\. See: vault-pki-load --help$/m],
  ['toString', /There is no command "toString"/],
  ['issue --nope', /There is no option --nope\. See: vault-pki-load issue --help$/m],
  ['ocsp --nope=3', /There is no option --nope\. See: .* ocsp --help$/m],
  ['issue -x', /There is no option -x\./],
  ['issue --ocsp-url http://x', /There is no option --ocsp-url\./],
  ['issue --timeoutMs 5', /There is no option --timeoutMs\./],
  ['issue --url.a=3', /There is no option --url\.a\./],
  ['issue --constructor 3', /There is no option --constructor\./],
  ['issue --no-dev', /There is no option --no-dev\./],
  ['calibrate --rate 5', /There is no option --rate\. See: .* calibrate --help$/m],
  ['merge a b --nope', /There is no option --nope\. See: /],
  ['issue now', /issue takes options only\./],
  ['ocsp -- leaf.pem', /ocsp takes options only\./],
  ['issue issue', /issue takes options only\./],
  ['dev v1', /dev takes options only\./],
  ['merge --format json', /merge needs at least 1 FILE\./],
  ['report', /report needs at least 1 FILE\. See: .* report --help$/m],
  ['compare a --with', /--with needs a value\. See: .* compare --help$/m],
  ['compare a --with --seed 1', /--with needs a value/],
  ['schema v1', /There is no schema "v1"\. There are result, run-set, comparison, .*scenario-result/],
  ['schema result run-set', /More than one kind is given\. Ask for one/],
  ['issue --dev --duration', /--duration needs a value\. See: /],
  ['issue --cn --rate 5', /--cn needs a value\. See: /],
  ['issue -format', /--format needs a value\. See: /],
  ['issue --dev=foo', /--dev takes no value, but got "foo"\. Write just --dev\./],
  ['ocsp --nonce=', /--nonce takes no value, but got ""/],
];

describe('misuse is one line, exit code 1, nothing on standard output:', () => {
  for (const [line, message] of MISUSE) {
    test(line, async () => assertRefused(await run(line.split(' ').filter((word) => word !== '')), message));
  }
});
