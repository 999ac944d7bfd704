import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { encodeHistogram, packHistogram, sumHistograms } from '../../src/common/histogram.js';
import { foldStages, mergeTallies } from '../../src/engine/recording/tally.js';
import { sample, setUp } from './recording.js';

/** @import { PackedHistogram } from '../../src/common/histogram.js' */

const what = fc.oneof(
  fc.constantFrom('good', 'bad', 'refused', ''),
  fc.constantFrom('timeout', 'cut_off', 'never_sent').map((failure) => ({ failure })),
);
const WARMUP_MS = 500;

/** Times whose sums, in seconds too, are exact in any order: multiples of 2^-10 s. @param {number} max s */
const exactMs = (max) => fc.nat(max * 1024).map((parts) => (parts * 1000) / 1024);

/** Samples in the order in which a shard hands them over: by the time they were done. */
const samples = fc
  .array(
    fc.record({
      intended: exactMs(8),
      lag: exactMs(0.5),
      service: exactMs(20),
      operation: fc.nat(1),
      shard: fc.nat(2),
      what,
    }),
    { maxLength: 60 },
  )
  .map((list) =>
    list
      .map(({ intended, lag, service, operation, shard, what: result }) => ({
        shard,
        sample: sample(intended, intended + lag + service, result, {
          sent: intended + lag,
          sendLateMs: lag,
          operation,
          body: typeof result === 'string' && result !== '' ? Buffer.from(result) : null,
        }),
      }))
      .sort((a, b) => a.sample.done - b.sample.done),
  );

/** @param {PackedHistogram} packed */
const countOf = (packed) => sumHistograms([packed]).totalCount;

/** Histograms as text, to be compared bucket for bucket. @param {any} value @returns {any} */
function plain(value) {
  if (typeof value !== 'object' || value === null) return value;
  const isHistogram = value instanceof Uint32Array || typeof value.recordValue === 'function';
  if (isHistogram) return encodeHistogram(sumHistograms([value]));
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

describe('recorders of three shards', () => {
  test('together record what a single recorder would, bucket for bucket', () => {
    fc.assert(
      fc.property(samples, (list) => {
        const options = { warmupMs: WARMUP_MS, measuredMs: 8000, operations: 2 };
        const one = setUp(options);
        const three = [setUp(options), setUp(options), setUp(options)];
        for (const entry of list) {
          one.recorder.record(entry.sample);
          three[entry.shard].recorder.record(entry.sample);
        }
        const together = mergeTallies(three.map(({ recorder }) => recorder.finish()));
        const alone = mergeTallies([one.recorder.finish()]);
        assert.deepEqual(plain(together), plain(alone));
      }),
    );
  });

  test('that are alone keep their packed histograms, also in the sum over stages', () => {
    const { recorder } = setUp({ operations: 2 });
    recorder.record(sample(0, 5, 'good'));
    recorder.record(sample(10, 15, 'bad', { operation: 1 }));
    const tally = recorder.finish();
    const { cells } = mergeTallies([tally]);
    const spans = [0, 1000].map((startMs) => ({ startMs, endMs: startMs + 1000 }));
    for (const found of [cells, foldStages(cells, spans)]) {
      const packed = found.map(({ outcomes: { good, bad } }) =>
        packHistogram((good?.latency ?? bad.latency).response),
      );
      assert.equal(packed[0], tally.cells[0].outcomes.good.latency.response);
      assert.equal(packed[1], tally.cells[1].outcomes.bad.latency.response);
    }
  });

  test('rows and per-second counts sum to the totals; every count has its latencies', () => {
    fc.assert(
      fc.property(samples, (list) => {
        const { recorder, rows } = setUp({ warmupMs: WARMUP_MS, operations: 2 });
        for (const { sample: each } of list) recorder.record(each);
        const { cells } = recorder.finish();
        const sum = (/** @type {number[]} */ numbers) => numbers.reduce((a, b) => a + b, 0);
        let [good, bad, all] = [0, 0, 0];
        for (const { outcomes, perSecond, dropped, neverSentDue, warmup } of cells) {
          const answered = Object.entries(outcomes).filter(([name]) => name !== 'never_sent');
          const succeeded = sum(answered.map(([, { success, count }]) => (success ? count : 0)));
          const failed = sum(answered.map(([, { success, count }]) => (success ? 0 : count)));
          assert.equal(sum(perSecond.sent), succeeded + failed);
          assert.equal(sum(perSecond.succeeded), succeeded);
          assert.equal(sum(perSecond.failed), failed);
          assert.equal(outcomes.never_sent?.count ?? 0, neverSentDue);
          for (const [name, { count, latency }] of Object.entries(outcomes)) {
            assert.equal(countOf(latency.response), count);
            assert.equal(countOf(latency.service), name === 'never_sent' ? 0 : count);
            assert.equal(countOf(latency.sendLag), name === 'never_sent' ? 0 : count);
          }
          good += succeeded;
          bad += failed;
          all += succeeded + failed + dropped + neverSentDue + warmup;
        }
        assert.equal(sum(rows.map((row) => row.succeeded)), good);
        assert.equal(sum(rows.map((row) => row.failed)), bad);
        assert.equal(sum(rows.flatMap(({ failures }) => Object.values(failures))), bad);
        const uncounted = list.filter(
          ({ sample: { intended, failure } }) => intended < WARMUP_MS && failure === 'never_sent',
        ).length;
        assert.equal(all + uncounted, list.length);
      }),
    );
  });
});
