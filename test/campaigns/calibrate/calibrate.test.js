import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { calibrate, PkiLoadError } from '../../../src/index.js';

/** @type {[string, Record<string, unknown>, string, RegExp][]} */
const MISUSE = [
  ['an unknown option', { rate: 5 }, 'unknown_option', /no option "rate"\./],
  ['too many threads', { threads: 11 }, 'contradiction', /--threads 11 is more than --concurrency 10/],
  ['a short step', { duration: '50ms' }, 'out_of_range', /--duration is "50ms"; it must be at least 100 ms/],
];

describe('calibrate throws a coded error for', () => {
  for (const [what, options, code, message] of MISUSE) {
    test(what, async () => {
      await assert.rejects(calibrate(options), (error) => {
        assert.ok(error instanceof PkiLoadError);
        assert.deepEqual([error.code, error.exitCode], [code, 1]);
        assert.match(error.message, message);
        return true;
      });
    });
  }
});

test('aborted before the start: measures nothing, and stops the target', async () => {
  await assert.rejects(calibrate({}, { signal: AbortSignal.abort() }), (error) => {
    assert.ok(error instanceof PkiLoadError);
    assert.deepEqual([error.code, error.exitCode], ['interrupted', 130]);
    return true;
  });
});
