import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { maxOf, minOf, sumArrays } from '../../src/common/sums.js';

const MANY = 500_000;

test('the extremes of a long list', () => {
  const values = Array.from({ length: MANY }, (_, i) => i);
  assert.deepEqual([maxOf(values), minOf(values), maxOf([], 3), maxOf([])], [MANY - 1, 0, 3, -Infinity]);
  assert.equal(sumArrays(values.map(() => [1]))[0], MANY);
});

/** Folders whose data comes from files or servers, of any length. */
const FOLDERS = ['common', 'http', 'operations', 'pki', 'plan', 'report', 'result', 'vault', 'verdict'];
const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** Short lists: ticks of an axis, bins of a chart, items of a setup, names of a path. */
const SHORT = /yTicks\.map|bins\.map|\.\.\.kept\.map|target\.split/;

test('no long list is spread over the arguments of a call, which would overflow the stack', () => {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(SRC, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const spread = files
    .filter((file) => file.endsWith('.js'))
    .flatMap((file) => {
      const text = readFileSync(join(SRC, file), 'utf8');
      const calls =
        text.match(/(?:Math\.(?:max|min)|\.(?:push|unshift|concat))\((?:[^{}()]*, )?\.\.\..*/g) ?? [];
      return calls.filter((call) => !SHORT.test(call)).map((call) => `${file}: ${call}`);
    });
  assert.deepEqual(spread, []);
});
