/** A file can contain a word of any length: laying it out takes linear time. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { labelled, stringWidth, table, wrap } from '../../src/report/layout.js';

/** Cutting up so long a text into clusters takes no time; of one without a limit it takes quadratic time. */
const LONGEST = 256;

const { segment } = Intl.Segmenter.prototype;
let longest = 0;
beforeEach(() => {
  longest = 0;
  Intl.Segmenter.prototype.segment = function cutUp(/** @type {string} */ text) {
    longest = Math.max(longest, text.length);
    return segment.call(this, text);
  };
});
afterEach(() => {
  Intl.Segmenter.prototype.segment = segment;
});

for (const [what, cluster, columns] of /** @type {const} */ ([
  ['letters', 'x', 1],
  ['wide characters', '漢', 2],
  ['combining marks', 'e\u0301', 1],
])) {
  test(`a word of 20,000 ${what} is cut up slice by slice`, () => {
    const count = 20_000;
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
    assert.ok(longest > 0 && longest <= LONGEST, `${longest} at once`);
  });
}
