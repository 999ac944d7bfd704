/** A new operation is one new file and one line: tried on a copy of the program, as whoever adds one would see it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { compileForText } from '../campaigns/scenario/schema-check.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COPIED = [
  ...['bin', 'src', 'package.json', 'README.md', 'docs', 'examples'],
  ...['test/docs.test.js', 'test/json-schema.js', 'test/cli', 'test/campaigns/scenario'],
];

const DESCRIBE = 'Take secrets away from a key-value store';
const FILE = `/** \`kv-delete\`: DELETE of secrets. */
import { prepareCalls } from './prepare.js';

/** @type {import('./index.js').Operation} */
export const kvDelete = {
  name: 'kv-delete',
  unit: 'deletions',
  examples: ['kv-delete --kv-mount secret --rate 5'],
  options: {
    'kv-mount': { type: 'text', group: 'KV', placeholder: 'PATH', default: 'secret', describe: 'Mount of the store' },
  },
  outcomes: { deleted: 'HTTP 204', refused: 'any other status' },
  prepare: (context) => prepareCalls(context),
  createRequester: ({ options: { kvMount } }, { basePath, headers }) => (index) => ({
    method: 'DELETE',
    path: \`\${basePath}/v1/\${kvMount}/data/\${index}\`,
    headers,
    body: null,
  }),
  createClassifier: () => (status) => ({
    outcome: status === 204 ? 'deleted' : 'refused',
    success: status === 204,
    verification: null,
  }),
};
`;
const LINE = `  ['kv-delete', ${JSON.stringify(DESCRIBE)}],\n`;

describe('a new operation', () => {
  /** @type {string} */
  let folder;

  /** @param {Record<string, string>} env @param {string[]} args of node */
  function node(env, ...args) {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: '/nonexistent', ...env },
    });
    return { status, stdout, stderr };
  }

  /** @param {string[]} args @returns {string} standard output */
  function cli(...args) {
    const { status, stdout, stderr } = node({}, 'bin/vault-pki-load.js', ...args);
    assert.equal(status, 0, stderr);
    return stdout;
  }

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'vpl-operation-'));
    mkdirSync(join(folder, 'test'));
    for (const path of COPIED) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir');
    writeFileSync(join(folder, 'src/operations/kv-delete.js'), FILE);
    const index = join(folder, 'src/operations/index.js');
    const text = readFileSync(index, 'utf8');
    const list = /^const LIST = \[\n/m;
    assert.match(text, list);
    writeFileSync(
      index,
      text.replace(list, (start) => `${start}${LINE}`),
    );
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('appears in --help, and has a command with its flags', () => {
    assert.match(cli('--help').replace(/\s+/g, ' '), new RegExp(`vault-pki-load kv-delete ${DESCRIBE}`));
    const own = cli('kv-delete', '--help');
    assert.match(own, /^KV:\n {2}--kv-mount +PATH {2}Mount of the store \[default: secret\]$/m);
    assert.match(own, /^ {2}vault-pki-load kv-delete --kv-mount secret --rate 5$/m);
  });

  test('appears in the schema of scenarios, with its options', () => {
    const schema = JSON.parse(cli('schema', 'scenario'));
    const check = compileForText({ ...schema, $id: 'of-the-copy' });
    const mix = (/** @type {string} */ options) =>
      `name: n\nmix: [{operation: kv-delete, options: ${options}}]\n`;
    assert.equal(check(mix('{kv-mount: kv}')), null);
    assert.notEqual(check(mix('{kv-mountain: kv}')), null);
  });

  test('works in a scenario', () => {
    writeFileSync(join(folder, 's.json'), '{"name": "n", "mix": [{"operation": "kv-delete"}]}');
    assert.match(cli('run', 's.json', '--dry-run'), /^kv-delete +100 %/m);
  });

  test('fails the docs check until docs/operations.md is regenerated', () => {
    const check = ['--test-name-pattern=table in docs/operations.md', 'test/docs.test.js'];
    const { status, stdout } = node({}, ...check);
    assert.equal(status, 1, stdout);
    assert.match(stdout, /`kv-delete`/);
    assert.equal(node({ UPDATE_GOLDEN: '1' }, ...check).status, 0);
    assert.ok(
      readFileSync(join(folder, 'docs/operations.md'), 'utf8').includes(`| \`kv-delete\` | ${DESCRIBE} |`),
    );
  });
});
