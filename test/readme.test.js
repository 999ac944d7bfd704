import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { REASONS } from '../src/load/verdict/judge.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(`${root}/README.md`, 'utf8');

/** @param {string} command */
function help(command) {
  const { stdout } = spawnSync(process.execPath, ['bin/vault-pki-load.js', command, '--help'], {
    cwd: root,
    encoding: 'utf8',
  });
  return stdout.trimEnd();
}

test('the README shows what issue --help prints', () => {
  assert.ok(readme.includes(`\n${help('issue')}\n`));
});

test('the README shows the options of ocsp as ocsp --help prints them', () => {
  const [own] =
    help('ocsp')
      .split('\nTarget:')[0]
      .match(/OCSP:[\s\S]*/) ?? [];
  assert.ok(own !== undefined && readme.includes(`\n${own.trimEnd()}\n`));
});

test('the README explains every reason there is against a measurement', () => {
  for (const code of Object.keys(REASONS)) assert.ok(readme.includes(`| \`${code}\` |`), code);
});
