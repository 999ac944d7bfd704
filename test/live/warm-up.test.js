/** What is shown to nobody before a run. How much sooner the first picture is there after it is measured by the bench `live`. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { warmUp } from '../../src/live/warm-up.js';

describe('the warm-up', () => {
  for (const [what, terminal] of /** @type {const} */ ([
    ['a terminal with colours', { isTTY: true, columns: 120, rows: 40, color: true }],
    ['a terminal that is too narrow for more than a line', { isTTY: true, columns: 30, rows: 10 }],
    ['a log', { isTTY: false }],
  ])) {
    test(`draws many pictures as on ${what}, and none of them is seen`, async (t) => {
      const seen = t.mock.method(process.stderr, 'write', () => true);
      const written = await warmUp(terminal);
      assert.equal(seen.mock.callCount(), 0);
      // As many as it draws, each of a line at least.
      assert.ok(written > 60 * 20, String(written));
    });
  }
});
