import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createSetText } from '../../src/live/files.js';
import { makeRunSet, validateRunSet } from '../../src/result/runs/run-set.js';
import { runOf } from '../result/runs.js';
import { reportAt, startRun } from './running.js';

const RUNS = [
  runOf(1, 0, { command: 'what JSON leaves as it is: \u2028\u2029' }),
  runOf(1.1, 1),
  runOf(0.9, 2, { interrupted: true }),
  runOf(1.2, 3),
];

/** A run that goes on. @param {number} seconds */
function unfinished(seconds) {
  const run = startRun({ durationMs: 20_000 });
  if (seconds > 0) run.soFar.add(0, reportAt(run, 0, 0, seconds * 1000));
  return run.soFar.result();
}

describe('the text of a set of which a run goes on', () => {
  for (const count of [0, 1, 2, 3, 4]) {
    test(`is that of the whole set, byte for byte: after ${count}`, () => {
      const over = RUNS.slice(0, count);
      const set = createSetText('a "set"');
      for (const run of over) set.add(run);
      if (count > 0) set.summarise(makeRunSet('a "set"', over).summary);
      for (const seconds of [0, 3]) {
        const current = unfinished(seconds);
        const text = set.pieces(current).join('');
        assert.equal(text, `${JSON.stringify(makeRunSet('a "set"', [...over, current]), null, 2)}\n`);
        assert.equal(validateRunSet(JSON.parse(text)).runs.length, count + 1);
      }
    });
  }

  test('takes runs that are over as they are: their text is made once', () => {
    const set = createSetText('set');
    let asked = 0;
    set.add(Object.assign({ ...RUNS[0] }, { toJSON: () => ++asked && RUNS[0] }));
    set.summarise(makeRunSet('set', [RUNS[0]]).summary);
    for (let i = 0; i < 5; i++) set.pieces(unfinished(1));
    assert.equal(asked, 1);
  });
});
