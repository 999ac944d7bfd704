import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStalls } from '../../src/load/watch/stalls.js';

/** @type {[string, number[], number, number][]} sentence, beats, now, since when */
const table = [
  ['without a beat nothing is known', [], 5, 5],
  ['between beats it is noticed at once', [0, 10, 20], 27, 27],
  ['a beat that is a little late is none', [0, 10, 34], 36, 36],
  ['in a stall that no beat has ended yet: since the last beat', [0, 10], 500, 10],
  ['just after a stall: since it began', [0, 10, 510], 512, 10],
  ['until what waited has been read', [0, 10, 510], 520, 10],
  ['and no longer', [0, 10, 510, 520], 521, 521],
  ['a second stall is one of its own', [0, 10, 510, 520, 900], 903, 520],
];
for (const [sentence, beats, now, since] of table) {
  test(`what is noticed late, ${sentence}`, () => {
    const stalls = createStalls();
    for (const beat of beats) stalls.beat(beat);
    assert.equal(stalls.noticedSince(now), since);
  });
}
