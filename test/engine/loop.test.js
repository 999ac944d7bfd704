import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIRST_REPORT_MS, REPORT_EVERY_MS, recordAll } from '../../src/engine/recording/recorder.js';

/** @import { Sample } from '../../src/engine/recording/ring.js' */

const SAMPLE = /** @type {Sample} */ ({});
const TAIL = { endedMs: 1000, next: 0, waiting: 0, carried: 0, dropped: [0] };

/**
 * @param {number} perMs samples that come in a millisecond
 * @param {{lastMs?: number, onReport?: (watermarkMs: number) => void}} [options]
 * @returns the sleeps, ms, and how many samples were taken after each
 */
function loopAt(perMs, { lastMs = 1000, onReport } = {}) {
  let now = 0;
  let left = 0;
  /** @type {number[]} */
  const sleeps = [];
  /** @type {number[]} */
  const lots = [];
  let recorded = 0;
  const reader = {
    watermarkMs: () => now,
    tail: () => (now >= lastMs ? TAIL : null),
    /** @param {(sample: typeof SAMPLE) => void} visit */
    take(visit) {
      const count = Math.floor(left);
      left -= count;
      for (let i = 0; i < count; i++) visit(SAMPLE);
      if (count > 0) lots.push(count);
      return count;
    },
    /** @param {number} ms */
    sleep(ms) {
      sleeps.push(ms);
      now += ms;
      left += perMs * ms;
      return /** @type {const} */ ('timed-out');
    },
  };
  const tail = recordAll({
    reader,
    recorder: /** @type {any} */ ({ record: () => recorded++, advance() {} }),
    onTaken() {},
    onReport,
  });
  return { sleeps, lots, recorded, tail };
}

for (const { perMs, ms, lot } of [
  { perMs: 0, ms: 20, lot: 0 },
  { perMs: 0.1, ms: 20, lot: 2 },
  { perMs: 1, ms: 20, lot: 20 },
  { perMs: 10, ms: 2, lot: 20 },
  { perMs: 100, ms: 1, lot: 100 },
]) {
  test(`at ${perMs * 1000}/s the recorder sleeps ${ms} ms and takes about ${lot} samples at once`, () => {
    const { sleeps, lots, recorded, tail } = loopAt(perMs);
    assert.equal(tail, TAIL);
    const [later] = sleeps.slice(-1);
    assert.ok(Math.abs(later - ms) < 0.2 * ms, `${later} ms`);
    if (lot === 0) return assert.equal(recorded, 0);
    assert.ok(Math.abs(lots[lots.length - 2] - lot) <= 0.2 * lot, `${lots[lots.length - 2]} at once`);
    assert.equal(
      recorded,
      lots.reduce((a, b) => a + b, 0),
    );
    assert.ok(recorded >= 990 * perMs, `${recorded} recorded`);
  });
}

for (const perMs of [0, 1, 100]) {
  test(`at ${perMs * 1000}/s a report is due after a second, then every two, in time of the run`, () => {
    /** @type {number[]} */
    const reports = [];
    loopAt(perMs, { lastMs: 9000, onReport: (watermarkMs) => reports.push(watermarkMs) });
    assert.equal(reports.length, 4, String(reports));
    for (const [i, watermarkMs] of reports.entries()) {
      const late = watermarkMs - (FIRST_REPORT_MS + i * REPORT_EVERY_MS);
      assert.ok(late >= 0 && late < 20 * (i + 1), `${watermarkMs} ms`);
    }
  });
}
