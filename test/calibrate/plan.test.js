import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { calibrate, PkiLoadError } from '../../src/index.js';

/** @type {[string, Record<string, unknown>, string, RegExp][]} */
const MISUSE = [
  ['an unknown option', { rate: 5 }, 'unknown_option', /no option "rate"\./],
  ["an operation's option", { url: 'http://127.0.0.1' }, 'unknown_option', /no option "url"\./],
  ['no thread', { threads: 0 }, 'out_of_range', /--threads is "0"; it must be at least 1\./],
  [
    'threads without a connection',
    { threads: 11 },
    'contradiction',
    /--threads 11 is more than --concurrency 10/,
  ],
  ['no connection', { concurrency: 0 }, 'out_of_range', /--concurrency is "0"/],
  ['a pacing that is none', { pacing: 'all' }, 'bad_option', /--pacing is "all"/],
  [
    'too short a step',
    { duration: '50ms' },
    'out_of_range',
    /--duration is "50ms"; it must be at least 100 ms/,
  ],
  ['too long a step', { duration: 11 }, 'out_of_range', /--duration is "11"; it must be at most 10 s/],
  ['a duration that is none', { duration: 'long' }, 'bad_duration', /--duration is "long"/],
  ['lateness that is none', { maxLateness: 'some' }, 'bad_duration', /--max-lateness is "some"/],
  ['no lateness at all', { 'max-lateness': 0 }, 'out_of_range', /--max-lateness is "0"/],
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

test('aborted before: nothing is measured, the target is gone', async () => {
  await assert.rejects(calibrate({}, { signal: AbortSignal.abort() }), (error) => {
    assert.ok(error instanceof PkiLoadError);
    assert.deepEqual([error.code, error.exitCode], ['interrupted', 130]);
    return true;
  });
});
