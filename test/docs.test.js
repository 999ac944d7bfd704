/** The README names what there is: each operation, shape of a stage and key of a scenario; and its example is one. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadOperation, operations } from '../src/operations/index.js';
import { scenarioSchema } from '../src/scenario/declaration.js';
import { SHAPES } from '../src/scenario/stages.js';
import { schemaOf } from '../src/schemas.js';
import { REASONS } from '../src/verdict/reasons.js';
import { runCli } from './cli/support.js';
import { readAndPlan } from './scenario/read.js';
import { compileForText } from './scenario/schema-check.js';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

/** @param {string} heading @returns {string} */
function section(heading) {
  const [, text] = new RegExp(`\\n## ${heading}\\n([\\s\\S]*?)\\n## `).exec(readme) ?? [];
  assert.ok(text, `there is no section ${heading}`);
  return text;
}

/** @param {string} text @returns {string[][]} cells of its tables, without their heads */
function rows(text) {
  const lines = text.split('\n').filter((line) => line.startsWith('| '));
  return lines.map((line) => line.slice(2, -2).split(' | '));
}

test('the table of operations has each of them, as --help describes it, and no other', () => {
  const [head, ...named] = rows(section('Operations'));
  assert.equal(head[0], 'operation');
  assert.deepEqual(
    named,
    Object.entries(operations).map(([name, { describe }]) => [`\`${name}\``, describe]),
  );
});

test('each operation calls itself what the list calls it, and what it leaves is a phrase', async () => {
  for (const [name, { describe }] of Object.entries(operations)) {
    const operation = await loadOperation(name);
    assert.deepEqual([operation.name, operation.describe], [name, describe]);
    assert.ok(
      operation.examples.length > 0 &&
        operation.examples.every((line) => line.startsWith(`${name} `) || line === name),
    );
  }
});

test('--help has each operation, and each has a command', async () => {
  const { stdout } = await runCli(['--help']);
  for (const [name, { describe }] of Object.entries(operations)) {
    assert.match(stdout.replace(/\s+/g, ' '), new RegExp(`${name} ${describe.replace(/[/()]/g, '\\$&')}`));
  }
});

test('the tables of scenarios have each key and each shape with its fields', () => {
  const cells = rows(section('Scenarios'));
  const keys = cells.flatMap(([first]) => first.match(/`([\w-]+)`/g) ?? []);
  const known = Object.keys(scenarioSchema(Object.keys(operations)).shape);
  const inProse = ['$schema', 'name', 'description'];
  for (const key of known.filter((one) => !inProse.includes(one)))
    assert.ok(keys.includes(`\`${key}\``), key);
  for (const [shape, { describe, fields }] of Object.entries(SHAPES)) {
    const names = Object.keys(fields).map((field) => `\`${field === 'level' ? 'rate' : field}\``);
    const row = cells.find(([first]) => first === `\`${shape}\``);
    assert.deepEqual(row, [`\`${shape}\``, `${describe}: ${names.join(', ')}`]);
  }
});

test('the example is a scenario, and --dry-run prints of it what the README shows', async () => {
  const text = /```yaml\n([\s\S]*?)```/.exec(section('Scenarios'))?.[1] ?? '';
  const shown = /```text\n([\s\S]*?)```/.exec(section('Scenarios'))?.[1];
  assert.equal(compileForText(await schemaOf('scenario'))(text), null);
  await readAndPlan(text);
  const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-docs-'));
  try {
    writeFileSync(join(folder, 'day.yaml'), text);
    const { code, stdout, stderr } = await runCli(['run', 'day.yaml', '--dry-run'], { cwd: folder });
    assert.deepEqual([code, stdout, stderr], [0, shown, '']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the README shows what issue --help prints, and the options of ocsp', async () => {
  const [issue, ocsp] = await Promise.all(['issue', 'ocsp'].map((command) => runCli([command, '--help'])));
  assert.ok(readme.includes(`\n${issue.stdout.trimEnd()}\n`));
  const [own] = ocsp.stdout.split('\nTarget:')[0].match(/OCSP:[\s\S]*/) ?? [];
  assert.ok(own !== undefined && readme.includes(`\n${own.trimEnd()}\n`));
});

test('the README explains every reason there is against a measurement', () => {
  for (const code of Object.keys(REASONS)) assert.ok(readme.includes(`| \`${code}\` |`), code);
});
