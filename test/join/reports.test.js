/** Recorders' reports on their way to part 0. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { encodeHistogram, sumHistograms } from '../../src/common/histogram.js';
import { uniform } from '../../src/common/random.js';
import { createReports, packReport, readReport } from '../../src/join/reports.js';
import { sample, setUp } from '../engine/recording.js';

const json = (/** @type {any} */ value) => JSON.parse(JSON.stringify(value));

/** Of so many requests, with latencies of a few ms. @param {number} requests */
function reportOf(requests) {
  const { recorder, rows } = setUp({ shards: 2 });
  for (let i = 0; i < requests; i++) {
    const sent = i + uniform(1, i, 0);
    const done = sent + 2 - 4 * Math.log(uniform(1, i, 1));
    recorder.record(sample(i, done, i % 100 === 0 ? { failure: 'timeout' } : 'good', { sent, firstByte: 1 }));
  }
  return { atMs: requests, ...recorder.soFar(), rows };
}

test('a report arrives as it was, as text rather than lists of numbers', () => {
  const report = { ...reportOf(20_000), rows: [] };
  const packed = json(packReport(report));
  const read = readReport(packed, 1, 60, 1000);
  assert.deepEqual(json(read), json(report));
  assert.deepEqual(read.tally.cells[0].outcomes.good, report.tally.cells[0].outcomes.good);
  const lists = JSON.stringify(report, (_, value) => (value instanceof Uint32Array ? [...value] : value));
  assert.ok(JSON.stringify(packed).length < 0.8 * lists.length);
});

test('counts of more than 16 bits arrive as they were', () => {
  const { tally, ...report } = reportOf(0);
  const lag = Uint32Array.from([7, 65_535, 9, 65_536, 28_671, 2 ** 31 - 1]);
  const packed = json(packReport({ ...report, tally: { ...tally, lag } }));
  assert.deepEqual(readReport(packed, 1, 60, 1000).tally.lag, lag);
});

test('a report that would occupy the live thread for long is refused', () => {
  const report = { ...reportOf(3000), rows: [] };
  const packed = json(packReport(report));
  readReport(structuredClone(packed), 1, 5, 1000);
  const buckets = (/** @type {number[]} */ ...list) => ({
    isShort: false,
    bytes: Buffer.from(Uint32Array.from(list).buffer).toString('base64'),
  });
  const none = { succeeded: 0, failed: 0, p50: null, p90: null, p99: null, max: null, lagMax: null };
  const row = { ...packed.open, ...none, histogram: null, lag: null };
  const withOpen = (/** @type {object} */ changes) => (/** @type {any} */ one) =>
    void Object.assign(one, { open: { ...one.open, ...changes } });
  const length = { length: 1e9 };
  /** @type {[string, (report: any) => void][]} */
  const changes = [
    ['lists that are none', ({ tally }) => Object.assign(tally.cells[0].perSecond, { sent: length })],
    ['long lists', ({ tally }) => tally.cells[0].perSecond.failed.push(0, 0, 0, 0)],
    ['a bucket out of range', ({ tally }) => Object.assign(tally, { lag: buckets(28_672, 1) })],
    ['a count out of range', ({ tally }) => Object.assign(tally, { lag: buckets(7, 2 ** 32 - 1) })],
    ['buckets out of order', ({ tally }) => Object.assign(tally, { readLate: buckets(8, 1, 7, 1) })],
    ['half a bucket', ({ tally }) => Object.assign(tally, { lag: buckets(8) })],
    ['a row to come', ({ rows }) => rows.push({ ...row, second: 6 })],
    ['no row', ({ rows }) => rows.push(null)],
    ['a second to come', (one) => Object.assign(one, { open: { ...row, second: 5e8 } })],
    ['a time to come', (one) => Object.assign(one, { atMs: 1e12 })],
    ['a success to come', ({ tally }) => Object.assign(tally.cells[0], { lastSuccessMs: 1e12 })],
    ['a second twice', ({ rows }) => rows.push(row, row)],
    ['a histogram that is none', withOpen({ histogram: 'x' })],
    ['a send lag that is none', withOpen({ lag: 'x' })],
    ['no histogram of responses', withOpen({ histogram: null })],
    ['no longest response', withOpen({ max: null })],
    ['a longest response of none', withOpen({ ...none, histogram: null, max: 1 })],
    ['no cells', ({ tally }) => Object.assign(tally, { cells: [] })],
    ['two cells', ({ tally }) => tally.cells.push(tally.cells[0])],
    ['a negative count', ({ tally }) => Object.assign(tally.cells[0], { dropped: -1 })],
  ];
  for (const [what, change] of changes) {
    const changed = structuredClone(packed);
    change(changed);
    assert.throws(() => readReport(changed, 1, 5, 1000), Error, what);
  }
});

test('a report of more histogram buckets than a file of its size may have is refused', () => {
  const { open, ...report } = json(packReport({ ...reportOf(3000), rows: [] }));
  const full = encodeHistogram(
    sumHistograms([Uint32Array.from({ length: 57_344 }, (_, i) => (i % 2 ? 1 : i / 2))]),
  );
  const rows = Array.from({ length: 30 }, (_, second) => ({ ...open, second, histogram: full }));
  const read = (/** @type {number} */ count) =>
    readReport({ ...report, open, rows: rows.slice(0, count) }, 1, 60, 3000).rows.length;
  assert.equal(read(17), 17);
  assert.throws(() => read(18), /a report with a wrong histogram/);
});

test('of many parts each sends only every second report, etc., but all ended seconds', async () => {
  for (const [of, expected] of /** @type {const} */ ([
    [32, [[0], [1], [2], [3], [4]]],
    [64, [[0], [1, 2], [3, 4]]],
    [96, [[0], [1, 2, 3]]],
  ])) {
    /** @type {any[]} */
    const sent = [];
    const { live, close } = createReports(of, (thread, report) => sent.push([thread, report]));
    const [, port] = live.ports(2);
    const report = reportOf(3);
    for (let second = 0; second < 5; second++) port.postMessage({ ...report, rows: [{ second }] });
    while (sent.length < expected.length) await setImmediate();
    close();
    const seconds = sent.map(([thread, { rows }]) => [
      thread,
      rows.map((/** @type {any} */ row) => row.second),
    ]);
    assert.deepEqual(
      seconds,
      expected.map((rows) => [1, rows]),
    );
  }
});
