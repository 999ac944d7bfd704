/** A file can contain a word of any length: laying it out takes linear time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelled, stringWidth, table, wrap } from '../../src/report/layout.js';

/** Without slices, a single one of these takes minutes. */
const HANGS = { timeout: 60_000 };

for (const [what, cluster, columns] of /** @type {const} */ ([
  ['letters', 'x', 1],
  ['wide characters', '漢', 2],
  ['combining marks', 'e\u0301', 1],
])) {
  test(`a word of 200,000 ${what}`, HANGS, () => {
    const count = 200_000;
    const word = cluster.repeat(count);
    assert.equal(stringWidth(word), count * columns);
    const lines = wrap(word);
    assert.equal(lines.join(''), word);
    assert.equal(lines.length, (count * columns) / 80);
    assert.equal(
      table([
        ['a', 'b'],
        [word, '1'],
      ])[1]
        .slice(0, -1)
        .join(''),
      word,
    );
    assert.ok(labelled(word, word).length > lines.length);
  });
}
