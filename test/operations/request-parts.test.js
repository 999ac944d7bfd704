import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChooser, expandName, hasPlaceholder } from '../../src/operations/request-parts.js';
import { withoutSlashes } from '../../src/vault/environment.js';

test('placeholders in names are expanded; random ones depend on seed and request', () => {
  for (const [template, name, differs] of /** @type {[string, RegExp, boolean][]} */ ([
    ['localhost', /^localhost$/, false],
    ['host-{n}.example.com', /^host-7\.example\.com$/, true],
    ['{n}.{n}', /^7\.7$/, true],
    ['{random}.example.com', /^[0-9a-f]{12}\.example\.com$/, true],
    ['{random}{random}', /^(.{12})\1$/, true],
    ['{N}-{x}-{}', /^\{N\}-\{x\}-\{\}$/, false],
  ])) {
    assert.match(expandName(template, 1, 7), name);
    for (let again = 0; again < 2; again++) assert.equal(hasPlaceholder(template), differs);
  }
  const names = Array.from({ length: 20_000 }, (_, i) => expandName('{random}', 1, i));
  assert.equal(new Set(names).size, names.length);
  assert.notEqual(expandName('{random}', 2, 0), names[0]);
  assert.equal(expandName('{random}', 1, 5), names[5]);
});

for (const weights of [
  [1, 1],
  [95, 5],
  [1000, 1],
  [0.5, 3, 7.25, 1, 2],
]) {
  test(`weighted choice by ${weights}: shares are within 3 sigma, apart from chance`, () => {
    const all = weights.reduce((sum, weight) => sum + weight, 0);
    const [seeds, requests] = [60, 5000];
    let outside = 0;
    for (let seed = 0; seed < seeds; seed++) {
      const choose = createChooser(weights, seed * 7919);
      const counts = weights.map(() => 0);
      for (let index = 0; index < requests; index++) counts[choose(index)]++;
      for (const [i, weight] of weights.entries()) {
        const share = weight / all;
        const off = Math.abs(counts[i] - requests * share) / Math.sqrt(requests * share * (1 - share));
        assert.ok(off < 6, `${off} sigma, seed ${seed}`);
        if (off > 3) outside++;
      }
    }
    // 0.27 % of a normal distribution; a rare one's is skewed.
    assert.ok(outside <= 0.03 * seeds * weights.length, `${outside} outside`);
  });
}

test('the choice depends only on seed and index', () => {
  const [one, other, another] = [42, 42, 1].map((seed) => createChooser([3, 1, 6], seed));
  const chosen = Array.from({ length: 2000 }, (_, i) => one(i));
  for (let i = 1999; i >= 0; i--) assert.equal(other(i), chosen[i]);
  const same = chosen.filter((choice, i) => choice === another(i)).length;
  assert.ok(same > 750 && same < 1100, `${same} of 2000`);
});

test('leading and trailing slashes are removed, even a megabyte of them, in linear time', {
  timeout: 2000,
}, () => {
  for (const text of ['a/b', '/a/b', '//a/b//']) assert.equal(withoutSlashes(text), 'a/b');
  for (const none of ['', '/', '///']) assert.equal(withoutSlashes(none), '');
  const long = `x${'/'.repeat(1_000_000)}x`;
  assert.equal(withoutSlashes(long), long);
});
