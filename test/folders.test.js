/** Imports run downwards: each folder of src says in its README.md what it may import, types included, and none says so of a folder above it. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));

/** `import ... from`, `import(...)` of code and of types, `new URL(..., import.meta.url)` of a worker. */
const IMPORTED = /(?:from |import\(|new URL\()\s*'(\.[^']+\.js)'/g;

const entries = readdirSync(SRC, { withFileTypes: true });
const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);

/** @param {string} folder @returns {string[]} what its README.md allows: folders, and files at the top of src */
function allowedBy(folder) {
  const text = readFileSync(join(SRC, folder, 'README.md'), 'utf8');
  const [, list] =
    /^May import: ([\s\S]+?)\.$/m.exec(text) ?? assert.fail(`${folder}/README.md has no "May import: ..."`);
  return list.startsWith('nothing') ? [] : list.split(',').map((name) => name.trim());
}

/** @param {string} entry folder, or file at the top of src @returns {string[]} the others that its files import */
function importsOf(entry) {
  const files = entry.endsWith('.js') ? [entry] : filesOf(entry);
  const imported = files.flatMap((file) => {
    const text = readFileSync(join(SRC, file), 'utf8');
    return [...text.matchAll(IMPORTED)].map(([, name]) => relative(SRC, join(SRC, dirname(file), name)));
  });
  const tops = new Set(imported.map((path) => path.split(sep)[0]));
  tops.delete(entry);
  return [...tops].sort();
}

/** @param {string} folder */
function filesOf(folder) {
  const files = readdirSync(join(SRC, folder), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.js')).map((file) => join(folder, file));
}

describe('the folders of src', () => {
  it('contain all files except index.js and run.js', () => {
    const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    assert.deepEqual(files.sort(), ['index.js', 'run.js']);
  });

  for (const folder of folders) {
    it(`${folder} imports exactly what its README.md allows`, () => {
      assert.deepEqual(importsOf(folder), allowedBy(folder).sort());
    });
  }

  it('have no import cycles', () => {
    const all = [...folders, 'run.js'];
    /** @type {string[]} each below those that follow */
    const order = [];
    const isNext = (/** @type {string} */ name) =>
      !order.includes(name) && importsOf(name).every((imported) => order.includes(imported));
    for (let next = all.find(isNext); next !== undefined; next = all.find(isNext)) order.push(next);
    assert.deepEqual(
      all.filter((name) => !order.includes(name)),
      [],
    );
  });
});
