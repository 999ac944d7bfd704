import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decodeHistogram } from '../../src/common/histogram.js';
import { sumRecords } from '../../src/common/sums.js';
import { createSeconds } from '../../src/engine/recording/seconds.js';
import { checkSeconds } from '../../src/result/check/check.js';
import { sample, setUp } from './recording.js';

/** @import { Second } from '../../src/engine/recording/seconds.js' */

/**
 * Rows of a shard that had a request done in each of these milliseconds, each of which took as long.
 * @param {number[]} doneMs
 * @param {number} untilMs
 */
function rowsOf(doneMs, untilMs) {
  const { recorder, rows } = setUp({ shards: 2 });
  for (const ms of doneMs) recorder.record(sample(ms - 5, ms, ms % 2 === 0 ? 'good' : 'refused'));
  recorder.advance(untilMs);
  return { rows, open: recorder.soFar().open };
}

/** Keeps what merging needs. */
const PART = { index: 0, of: 4 };

/** @param {Second[]} seconds */
const brief = (seconds) => seconds.map((one) => [one.second, one.succeeded, one.failed].join());

describe('seconds', () => {
  test('are complete once every shard has delivered its row', () => {
    const seconds = createSeconds({ threads: 2, shard: PART });
    const [one, other] = [rowsOf([100, 1101], 3000), rowsOf([201, 2300], 3000)];
    seconds.add(one.rows[0]);
    seconds.add(one.rows[1]);
    assert.deepEqual(brief(seconds.rows), []);
    seconds.add(other.rows[0]);
    assert.deepEqual(brief(seconds.rows), ['0,1,1']);
    seconds.add(other.rows[1]);
    seconds.add(other.rows[2]);
    assert.deepEqual(brief(seconds.rows), ['0,1,1', '1,0,1']);
    assert.deepEqual([seconds.sums, seconds.errors], [{ succeeded: 1, failed: 2 }, { refused: 2 }]);
    seconds.closeAll();
    assert.deepEqual(brief(seconds.rows).at(-1), '2,1,0');
  });

  test('so far include open seconds, without closing them', () => {
    const seconds = createSeconds({ threads: 2, shard: PART });
    const [one, other] = [rowsOf([100, 1101, 2102], 2500), rowsOf([200, 1202], 1500)];
    for (const row of [...one.rows, ...other.rows]) seconds.add(row);
    const unfinished = [one.open, other.open].flatMap((row) => row ?? []);
    for (let i = 0; i < 2; i++) {
      assert.deepEqual(brief(seconds.soFar(unfinished)), ['0,2,0', '1,1,1', '2,1,0']);
      assert.equal(seconds.rows.length, 1);
    }
    assert.deepEqual(brief(seconds.soFar()), ['0,2,0', '1,0,1']);
  });

  test('so far have each response in a histogram, also within a span', () => {
    const times = fc.uniqueArray(fc.integer({ min: 590_000, max: 640_000 }), { minLength: 1, maxLength: 30 });
    const threadCounts = fc.constantFrom(1, 2);
    fc.assert(
      fc.property(threadCounts, times, fc.nat(45_000), (threads, doneMs, afterMs) => {
        const seconds = createSeconds({ threads, shard: null });
        const open = Array.from({ length: threads }, (_, thread) => {
          const { recorder, rows } = setUp({ shards: threads });
          const untilMs = 590_000 + afterMs + thread * 700;
          for (const ms of doneMs.toSorted((a, b) => a - b)) {
            if (ms < untilMs) recorder.record(sample(ms - 5, ms, 'good'));
          }
          recorder.advance(untilMs);
          for (const row of rows) seconds.add(row);
          return recorder.soFar().open ?? [];
        });
        const rows = seconds.soFar(open.flat()).map((row) => ({ ...row, sent: row.succeeded }));
        assert.deepEqual([...checkSeconds({ timeline: rows })], []);
        seconds.closeAll();
      }),
      { numRuns: 30 },
    );
  });

  test('without a row are empty, and a single row stays unchanged', () => {
    assert.deepEqual(createSeconds({ threads: 3, shard: PART }).soFar(), []);
    const { rows } = rowsOf([100], 1000);
    const seconds = createSeconds({ threads: 1, shard: PART });
    seconds.add(rows[0]);
    assert.deepEqual(seconds.rows, [rows[0]]);
  });

  test('of several shards have the percentiles of all, and the exact maximum', () => {
    const seconds = createSeconds({ threads: 2, shard: PART });
    const rows = [1, 2].map((shard) => {
      const one = setUp({ shards: 2 });
      for (let i = 1; i <= 50; i++) {
        one.recorder.record(sample(0, shard === 1 ? i : 50.123 + i, 'good', { sent: i / 1000 }));
      }
      one.recorder.advance(1000);
      return one.rows[0];
    });
    for (const row of rows) seconds.add(row);
    const [{ p50, p90, p99, max, lag99, histogram, lag }] = seconds.rows;
    assert.equal(max, 100.123);
    const told = [p50, p90, p99].map((ms) => Math.round(Number(ms)));
    assert.deepEqual(told, [50, 90, 99]);
    assert.equal(lag99, 0.05);
    assert.equal(decodeHistogram(String(histogram)).totalCount, 100);
    assert.equal(decodeHistogram(String(lag)).totalCount, 100);
  });

  test('of several threads share histograms after ten minutes; those of a part of a plan do not', () => {
    const doneMs = [600_100, 601_100, 612_100];
    const told = [null, { index: 0, of: 2 }].map((shard) => {
      const seconds = createSeconds({ threads: 2, shard });
      for (const { rows } of [rowsOf(doneMs, 613_000), rowsOf(doneMs, 613_000)]) {
        for (const row of rows) seconds.add(row);
      }
      seconds.closeAll();
      const lags = seconds.rows.filter(({ lag }) => lag !== null).length;
      assert.equal(lags, shard === null ? 0 : 3, 'send lags are kept for other parts only: they are long');
      return seconds.rows.flatMap(({ second, histogram, histogramSeconds }) =>
        histogram === null ? [] : [`${second},${histogramSeconds},${decodeHistogram(histogram).totalCount}`],
      );
    });
    assert.deepEqual(told[0], ['609,10,4', '612,3,2']);
    assert.deepEqual(told[1], ['600,1,2', '601,1,2', '612,1,2']);
  });
});

test('failures are summed by name, for any name', () => {
  const records = [
    { constructor: 1, timeout: 2 },
    { timeout: 1, toString: 4 },
    JSON.parse('{"__proto__": 3}'),
  ];
  const sum = sumRecords(/** @type {Record<string, any>[]} */ (records));
  const entries = Object.entries(sum).map(([name, count]) => `${name}: ${count}`);
  assert.deepEqual(entries, ['constructor: 1', 'timeout: 3', 'toString: 4', '__proto__: 3']);
});
