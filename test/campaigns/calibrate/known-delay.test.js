import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAlarmThread } from '../../../src/campaigns/calibrate/known-delay.js';
import { createClock } from '../../../src/engine/clock.js';

/** @import { Worker } from 'node:worker_threads' */

/** The alarm of a calibration's target: never early, never missed, asleep while nothing is set, and its death is said. */

/** @param {{after: (fn: () => Promise<void>) => void}} context */
async function start(context) {
  const originNs = process.hrtime.bigint();
  const alarm = await startAlarmThread(originNs, () => assert.fail('the thread ended'));
  context.after(() => alarm.stop());
  const clock = createClock(originNs);
  return {
    alarm,
    clock,
    /** @param {number} atMs @returns {Promise<number>} when it rang */
    ring: (atMs) => new Promise((resolve) => alarm.set(atMs, () => resolve(clock()))),
  };
}

test('fires thousands of alarms, past, present and future, each set at or shortly after the previous one', {
  timeout: 120_000,
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

test('throws if an alarm is already set', async (t) => {
  const { alarm, clock } = await start(t);
  alarm.set(clock() + 60_000, () => {});
  assert.throws(() => alarm.set(clock(), () => {}), /already set/);
});

/** The worker thread that is started next. @returns {Promise<Worker>} */
const nextWorker = () => new Promise((resolve) => process.once('worker', resolve));

test('reports a thread that dies, once; but not a stopped one', async () => {
  for (const [stop, said] of /** @type {const} */ ([
    [false, 1],
    [true, 0],
  ])) {
    let deaths = 0;
    const started = nextWorker();
    const alarm = await startAlarmThread(0n, () => deaths++);
    const worker = await started;
    await (stop ? alarm.stop() : worker.terminate());
    assert.equal(deaths, said);
    await alarm.stop();
    assert.equal(deaths, said);
  }
});

test('uses no CPU while idle or waiting', async (t) => {
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
