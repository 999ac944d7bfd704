import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeWait } from '../../src/engine/start.js';

/** @type {[string, string | null, string | null][]} */
const TABLE = [
  ['a start as soon as possible is not waited for', null, null],
  ['nor are the seconds in which connections are opened', '2026-01-02T03:04:10.000Z', null],
  ['nor a time that is over', '2026-01-02T03:00:00.000Z', null],
  ['a later time is', '2026-01-02T03:28:25.000Z', 'Waiting until 2026-01-02T03:28:25.000Z, for 24 min 20 s.'],
];
for (const [what, startAt, text] of TABLE) {
  test(what, () => assert.equal(describeWait(startAt, Date.parse('2026-01-02T03:04:05.000Z')), text));
}
