import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

/** @param {string} name of a file at the top level */
const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
/** @type {[string, {integrity?: string, hasInstallScript?: boolean, link?: boolean}][]} */
const locked = Object.entries(JSON.parse(read('package-lock.json')).packages).filter(([path]) => path !== '');

test('docs/packages.md describes exactly the runtime packages', () => {
  const { dependencies } = JSON.parse(read('package.json'));
  const named = [...read('docs/packages.md').matchAll(/^\| \[([^\]]+)\]/gm)].map(([, name]) => name);
  assert.deepEqual(named.sort(), Object.keys(dependencies).sort());
});

test('the lock file pins every package with a hash', () => {
  assert.deepEqual(
    locked.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path),
    [],
  );
});

test('no package has an install script', () => {
  assert.deepEqual(
    locked.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([path]) => path),
    [],
  );
});
