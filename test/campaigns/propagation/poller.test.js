import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPoller } from '../../../src/campaigns/propagation/watch.js';
import { createFakeTime } from './fake-time.js';

/** @param {{firstMs?: number, everyMs?: number, free?: () => boolean}} [options] */
function start({ firstMs = 7, everyMs = 20, free = () => true } = {}) {
  const time = createFakeTime();
  const counts = { sent: 0, missed: 0, skipped: 0 };
  /** @type {number[]} */
  const sent = [];
  /** @type {number[]} */
  const lags = [];
  const poll = () => {
    if (!free()) return false;
    sent.push(time.now());
    return true;
  };
  const poller = startPoller({ firstMs, everyMs, clock: time, poll, counts, onLag: (ms) => lags.push(ms) });
  return { time, counts, sent, lags, poller };
}

test('polls on schedule, with or without responses', async () => {
  const { time, counts, sent, lags } = start();
  await time.until(100);
  assert.deepEqual(sent, [7, 27, 47, 67, 87]);
  assert.deepEqual(counts, { sent: 5, missed: 0, skipped: 0 });
  assert.deepEqual(lags, [0, 0, 0, 0, 0]);
});

test('after a stall: sends one late poll at once, counts the others as missed, and keeps the schedule', async () => {
  const { time, counts, sent, lags } = start();
  await time.until(30);
  time.stall(65);
  await time.until(130);
  assert.deepEqual(sent, [7, 27, 95, 107, 127]);
  assert.deepEqual(lags, [0, 0, 48, 0, 0]);
  assert.deepEqual(counts, { sent: 5, missed: 2, skipped: 0 });
});

test('a poll late by less than an interval is not missed', async () => {
  const { time, counts, lags } = start();
  await time.until(30);
  time.stall(25);
  await time.until(70);
  assert.deepEqual(lags, [0, 0, 8, 0]);
  assert.equal(counts.missed, 0);
});

test('skips a poll if too many are in flight, and sends the next one when due', async () => {
  let frees = [true, false, false, true];
  const { time, counts, sent } = start({
    free: () => {
      const [first, ...rest] = frees;
      frees = rest;
      return first;
    },
  });
  await time.until(70);
  assert.deepEqual(sent, [7, 67]);
  assert.deepEqual(counts, { sent: 2, missed: 0, skipped: 2 });
});

test('sets an early timer again: never polls before the due time', async () => {
  const time = createFakeTime();
  const early = {
    ...time,
    setTimer: (/** @type {() => void} */ f, /** @type {number} */ ms) => time.setTimer(f, ms * 0.9),
  };
  /** @type {number[]} */
  const sent = [];
  const counts = { sent: 0, missed: 0, skipped: 0 };
  startPoller({
    firstMs: 10,
    everyMs: 10,
    clock: early,
    poll: () => sent.push(time.now()) > 0,
    counts,
    onLag: () => {},
  });
  await time.until(9.99999);
  assert.deepEqual(sent, []);
  await time.until(10.001);
  assert.equal(sent.length, 1);
  assert.ok(sent[0] >= 10);
});

test('leaves no timer after stop', async () => {
  const { time, sent, poller } = start();
  await time.until(30);
  poller.stop();
  assert.equal(time.waiting(), 0);
  await time.until(100);
  assert.equal(sent.length, 2);
});
