/** The alarm of a calibration's target: exact, never early, never missed, and asleep while nothing is set. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAlarmThread } from '../../src/calibrate/alarm-thread.js';
import { createClock } from '../../src/load/clock.js';

/** @param {{after: (fn: () => Promise<void>) => void}} context */
async function start(context) {
  const originNs = process.hrtime.bigint();
  const alarm = await startAlarmThread(originNs);
  context.after(() => alarm.stop());
  const clock = createClock(originNs);
  return {
    alarm,
    clock,
    /** @param {number} atMs @returns {Promise<number>} when it rang */
    ring: (atMs) => new Promise((resolve) => alarm.set(atMs, () => resolve(clock()))),
  };
}

test('it rings at the time, in fractions of a millisecond, and never before', async (t) => {
  const { clock, ring } = await start(t);
  /** @type {number[]} */
  const late = [];
  for (let i = 0; i < 100; i++) {
    const at = clock() + 0.3;
    late.push((await ring(at)) - at);
  }
  assert.ok(late.every((ms) => ms >= 0));
  assert.ok(Math.min(...late) < 0.5, `${Math.min(...late)} ms: a timer's is 0.7 at least`);
});

test('thousands of times, past, now and soon, set as soon as the last one rang or a little later', {
  timeout: 30_000,
}, async (t) => {
  const { clock, ring } = await start(t);
  for (let i = 0; i < 6000; i++) {
    const at = clock() + ((i % 7) - 2) * 0.01;
    assert.ok((await ring(at)) >= at);
    // The thread is about to sleep, or has just done so: anywhere in the first 30 microseconds.
    const until = clock() + (i % 31) / 1000;
    while (clock() < until);
  }
});

test('a second time before the first is over is a fault', async (t) => {
  const { alarm, clock } = await start(t);
  alarm.set(clock() + 60_000, () => {});
  assert.throws(() => alarm.set(clock(), () => {}), /set already/);
});

test('it takes no CPU while nothing is set, nor while it waits', async (t) => {
  const { alarm, clock, ring } = await start(t);
  await ring(clock());
  for (const setIt of [() => {}, () => alarm.set(clock() + 60_000, () => {})]) {
    setIt();
    const before = process.cpuUsage();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 150_000, `${user + system} µs of 300,000`);
  }
});
