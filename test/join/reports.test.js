/** Recorders' reports on their way to part 0. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
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
  const read = readReport(packed);
  assert.deepEqual(json(read), json(report));
  assert.deepEqual(read.tally.cells[0].outcomes.good, report.tally.cells[0].outcomes.good);
  const lists = JSON.stringify(report, (_, value) => (value instanceof Uint32Array ? [...value] : value));
  assert.ok(JSON.stringify(packed).length < 0.8 * lists.length);
});

test('counts of more than 16 bits arrive as they were', () => {
  const { tally, ...report } = reportOf(0);
  const lag = Uint32Array.from([7, 65_535, 9, 65_536, 28_671, 2 ** 31 - 1]);
  assert.deepEqual(readReport(json(packReport({ ...report, tally: { ...tally, lag } }))).tally.lag, lag);
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
