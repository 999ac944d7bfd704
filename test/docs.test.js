/** The docs name every operation, shape of a stage, key of a scenario and reason; their example works; the command reference is current. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { scenarioSchema } from '../src/campaigns/scenario/declaration.js';
import { SHAPES } from '../src/campaigns/scenario/stages.js';
import { schemaOf } from '../src/cli/schema.js';
import { loadOperation, operations } from '../src/operations/index.js';
import { REASONS } from '../src/verdict/reasons.js';
import { readAndPlan } from './campaigns/scenario/read.js';
import { compileForText } from './campaigns/scenario/schema-check.js';
import { runCli, startBatch } from './cli/support.js';

const run = startBatch({ after });
const ROOT = new URL('../', import.meta.url);

/** @param {string} path */
const read = (path) => readFileSync(new URL(path, ROOT), 'utf8');

/** @param {string} name */
const page = (name) => read(`docs/${name}.md`);

/** @param {string} text @returns {string[][]} cells of its tables, without their heads */
function rows(text) {
  const lines = text.split('\n').filter((line) => line.startsWith('| '));
  return lines.map((line) => line.slice(2, -2).split(' | '));
}

test('each operation has the name of its list entry, and its own examples', async () => {
  for (const name of Object.keys(operations)) {
    const operation = await loadOperation(name);
    assert.equal(operation.name, name);
    assert.ok(
      operation.examples.length > 0 &&
        operation.examples.every((line) => line.startsWith(`${name} `) || line === name),
    );
  }
});

test('--help lists each operation, and each has a command', async () => {
  const { stdout } = await runCli(['--help']);
  for (const [name, { describe }] of Object.entries(operations)) {
    assert.match(stdout.replace(/\s+/g, ' '), new RegExp(`${name} ${describe.replace(/[/()]/g, '\\$&')}`));
  }
});

test('the scenario tables have every key, and every shape with its fields', () => {
  const cells = rows(page('scenarios'));
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

test('the example is valid, and its --dry-run prints what the page shows', async () => {
  const text = /```yaml\n([\s\S]*?)```/.exec(page('scenarios'))?.[1] ?? '';
  const shown = /```text\n([\s\S]*?)```/.exec(page('scenarios'))?.[1];
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

/**
 * What the operations have in common is in it once.
 *
 * @returns {Promise<{overview: string, shared: string, own: [name: string, help: string][]}>} texts of --help
 */
async function readHelp() {
  const { stdout: overview } = await runCli(['--help']);
  const { stdout: issue } = await run(['issue', '--help']);
  const shared = issue.slice(issue.indexOf('\nTarget:\n'), issue.indexOf('\nExamples:\n'));
  const end = issue.slice(issue.indexOf('\nThe token comes from'));
  const all = [...overview.matchAll(/^ {2}vault-pki-load (\S+)/gm)].map(([, name]) => name);
  const names = all.filter((name) => name !== 'completion');
  const own = names.map(async (name) => {
    const { stdout } = await run([name, '--help']);
    const text = stdout.replace(shared, '').replace(end, '').trim();
    return /** @type {[string, string]} */ ([name, text]);
  });
  return { overview: overview.trim(), shared: (shared + end).trim(), own: await Promise.all(own) };
}

/** `UPDATE_GOLDEN=1 node --test test/docs.test.js` writes it. @param {string} path @param {string} text */
function assertCurrent(path, text) {
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(new URL(path, ROOT), text);
  assert.equal(text, read(path));
}

test('the table in docs/operations.md has every operation with its --help description', () => {
  const rows = Object.entries(operations).map(([name, { describe }]) => `| \`${name}\` | ${describe} |\n`);
  const table = `| operation | purpose |\n|---|---|\n${rows.join('')}`;
  assertCurrent(
    'docs/operations.md',
    page('operations').replace(/(^\|.*\n)+/m, () => table),
  );
  assert.ok(page('operations').includes(`\n\n${table}\n`));
});

test('docs/commands.md has the --help of every command', async () => {
  const { overview, shared, own } = await readHelp();
  const block = (/** @type {string} */ text) => `\n\`\`\`text\n${text}\n\`\`\`\n`;
  const head = ['# Commands', block(overview), '## Options of every operation', block(shared)];
  assertCurrent(
    'docs/commands.md',
    [head.join('\n'), ...own.map(([name, text]) => `## ${name}\n${block(text)}`)].join('\n'),
  );
});

test('the man page has the --help of every command', async () => {
  const { overview, shared, own } = await readHelp();
  const [summary] = overview.split('\n');
  const literal = (/** @type {string} */ text) =>
    `.nf\n${text.replace(/[\\-]/g, '\\$&').replace(/^[.']/gm, '\\&$&')}\n.fi\n`;
  const commands = overview.slice(overview.indexOf('\nCommands:\n') + 11, overview.indexOf('\nOptions:\n'));
  const sections = [
    '.TH VAULT\\-PKI\\-LOAD 1\n',
    `.SH NAME\nvault\\-pki\\-load \\- ${summary.replace(/^\w/, (first) => first.toLowerCase())}\n`,
    '.SH SYNOPSIS\n.B vault\\-pki\\-load\nCOMMAND [OPTIONS]\n',
    `.SH COMMANDS\n${literal(commands.trimEnd())}`,
    `.SH OPTIONS OF EVERY OPERATION\n${literal(shared)}`,
    ...own.map(([name, text]) => `.SH ${name.toUpperCase()}\n${literal(text)}`),
  ];
  assertCurrent('docs/vault-pki-load.1', sections.join(''));
  assert.equal(JSON.parse(read('package.json')).man, 'docs/vault-pki-load.1');
});

test('completion prints a shell script, and completes commands and options', async () => {
  assert.match((await runCli(['completion', 'zsh'])).stdout, /^#compdef vault-pki-load/);
  assert.match((await runCli(['completion', 'bash'])).stdout, /^complete -o /m);
  const { code, stdout } = await runCli(['completion']);
  assert.equal(code, 0);
  assert.match(stdout, /complete .*vault-pki-load/);
  assert.match((await runCli(['completio'])).stderr, /Did you mean completion\?/);
  const complete = async (/** @type {string[]} */ ...words) =>
    (await runCli(['--get-yargs-completions', 'vault-pki-load', ...words])).stdout.split('\n');
  assert.ok((await complete('iss')).includes('issue'));
  const options = await complete('issue', '--conc');
  assert.ok(options.includes('--concurrency'), options.join(' '));
});

test('docs/verdicts.md explains every remark and every reason for an invalid measurement', () => {
  for (const code of Object.keys(REASONS)) assert.ok(page('verdicts').includes(`| \`${code}\` |`), code);
});

test('the README has at most 250 lines, names every page, and no page links to a missing file', () => {
  assert.ok(read('README.md').split('\n').length <= 251);
  const pages = readdirSync(new URL('docs/', ROOT))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);
  for (const name of pages) assert.ok(read('README.md').includes(`](${name})`), name);
  for (const name of ['README.md', 'examples/README.md', ...pages]) {
    const base = new URL(name, ROOT);
    for (const [, link] of read(name).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g))
      assert.ok(existsSync(new URL(link, base)), `${name} links to ${link}`);
  }
});
