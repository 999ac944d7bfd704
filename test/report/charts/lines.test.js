import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ellipsize, textWidth } from '../../../src/report/charts/frame.js';

test('long text is truncated with an ellipsis', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme-composite', maxLength: 60 }),
      fc.integer({ min: 20, max: 400 }),
      (text, room) => {
        const cut = ellipsize(text, room);
        assert.ok(textWidth(cut) <= room);
        assert.ok(cut === text || cut.endsWith('…'));
      },
    ),
  );
});
