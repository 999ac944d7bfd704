import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createHistogram, recordMs } from '../../src/histogram.js';
import { share } from '../../src/load/shard.js';
import { judgeMeasurement, REASONS } from '../../src/load/verdict.js';

/** @param {number} count @param {number} ms */
function histogram(count, ms) {
  const result = createHistogram();
  for (let i = 0; i < count; i++) recordMs(result, ms);
  return result;
}

/** @param {{samples?: number, lagMs?: number, responseMs?: number} & Partial<import('../../src/load/verdict.js').Observed>} given */
function judge({ samples = 1000, lagMs = 0, responseMs = 100, ...changes }) {
  return judgeMeasurement({
    lag: histogram(samples, lagMs),
    response: histogram(samples, responseMs),
    planned: samples,
    neverSent: 0,
    droppedLate: 0,
    succeeded: samples,
    unchecked: 0,
    interrupted: false,
    model: 'open',
    ...changes,
  });
}

/** @type {[string, Parameters<typeof judge>[0], string, string[]][]} sentence, observed, verdict, codes */
const TABLE = [
  ['a quiet run is valid', {}, 'valid', []],
  [
    'no sample is invalid, and that alone is said',
    { samples: 0, planned: 10 },
    'invalid',
    ['nothing_measured'],
  ],
  ['99 samples are suspect', { samples: 99 }, 'suspect', ['too_few_samples']],
  ['half of the answers unchecked is suspect', { unchecked: 500 }, 'suspect', ['mostly_unchecked']],
  ['fewer unchecked are let pass', { unchecked: 499 }, 'valid', []],
  ['one in a hundred dropped late is invalid', { droppedLate: 10 }, 'invalid', ['dropped_late']],
  ['fewer are let pass', { droppedLate: 9 }, 'valid', []],
  ['100 samples are enough', { samples: 100 }, 'valid', []],
  ['lag of a tenth of the response time is let pass', { lagMs: 10 }, 'valid', []],
  ['lag of more than a tenth is suspect', { lagMs: 11 }, 'suspect', ['send_lag']],
  ['lag of half is suspect', { lagMs: 50 }, 'suspect', ['send_lag']],
  ['lag of more than half is invalid', { lagMs: 51 }, 'invalid', ['send_lag']],
  ['one per cent never sent is suspect', { neverSent: 10 }, 'suspect', ['sends_short_of_plan']],
  ['less than one per cent never sent is let pass', { neverSent: 9 }, 'valid', []],
  ['an interrupted run is short by intent', { neverSent: 900, interrupted: true }, 'valid', []],
  [
    'reasons add up, and the worst decides',
    { samples: 50, lagMs: 90, neverSent: 20 },
    'invalid',
    ['send_lag', 'sends_short_of_plan', 'too_few_samples'],
  ],
  ['lag in a closed loop counts too', { lagMs: 60, model: 'closed' }, 'invalid', ['send_lag']],
  ['all answers at once divide by nothing', { lagMs: 0, responseMs: 0 }, 'valid', []],
];

describe('the verdict on a measurement', () => {
  for (const [sentence, observed, verdict, codes] of TABLE) {
    test(sentence, () => {
      const judged = judge(observed);
      assert.equal(judged.verdict, verdict);
      assert.deepEqual(
        judged.reasons.map(({ code }) => code),
        codes,
      );
      for (const { code, text, remedy } of judged.reasons) {
        assert.ok(Object.hasOwn(REASONS, code));
        assert.match(text, /^[A-Z\d].*\.$/s);
        assert.match(remedy, /\.$/);
      }
    });
  }

  test('a single late request among a thousand does not decide', () => {
    const lag = histogram(999, 0);
    recordMs(lag, 5000);
    assert.equal(judge({ lag }).verdict, 'valid');
  });

  test('the remedy is one that the model has', () => {
    assert.match(judge({ lagMs: 60 }).reasons[0].remedy, /--rate/);
    assert.match(judge({ lagMs: 60, model: 'closed' }).reasons[0].remedy, /--concurrency/);
  });
});

test('parts of a total differ by one at most and sum to it', () => {
  for (const total of [0, 1, 2, 7, 10, 63, 64, 65, 1_000_000_007]) {
    for (let shards = 1; shards <= 64; shards++) {
      const parts = Array.from({ length: shards }, (_, shard) => share(total, shard, shards));
      assert.equal(
        parts.reduce((a, b) => a + b),
        total,
      );
      assert.ok(Math.max(...parts) - Math.min(...parts) <= 1 && Math.min(...parts) >= 0);
    }
  }
});
