/** A plan of an hour in virtual time, with the real schedule, pacer, slots and recorder: it neither drifts nor grows. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createPacer } from '../../src/engine/pacing/pacer.js';
import { NO_PHASES } from '../../src/engine/recording/ring.js';
import { createSlots } from '../../src/engine/slots.js';
import { createSchedule } from '../../src/plan/schedule.js';
import { load } from './load-plan.js';
import { setUp } from './recording.js';
import { createVirtualTime } from './virtual-time.js';

/** @import { Connection } from '../../src/http/exchange.js' */

const RATE = 100;
const HOUR_MS = 3_600_000;
const SERVICE_MS = 25;
const SLOTS = 10;
const ANSWER = Buffer.from('bad');

/** Answers kept would be 300,000 by the end; what a second leaves behind is a few numbers and a histogram's text. */
const MAX_GROWTH_BYTES = 4_000_000;

describe('a plan of one hour', () => {
  it('sends every request on time, and uses no more memory after an hour than after ten minutes', () => {
    const { time, pacer, seen, recorder, rows } = begin();
    pacer.tick();
    time.runUntil(HOUR_MS / 6);
    const [after10, rows10] = [heapUsed(), rows.length];
    time.runUntil(HOUR_MS + SERVICE_MS);
    const grown = heapUsed() - after10;

    assert.deepEqual(
      { ...seen, next: pacer.next, left: pacer.left(), ended: pacer.hasEnded() },
      { late: 0, done: RATE * 3600, next: RATE * 3600, left: 0, ended: true },
    );
    const [operation] = recorder.finish().cells;
    assert.equal(operation.outcomes.bad.count, RATE * 3600);
    assert.ok(operation.perSecond.sent.every((count) => count === RATE));
    assert.ok(rows10 >= 599 && rows.length === 3601, `${rows10} and ${rows.length} seconds`);
    assert.ok(grown < MAX_GROWTH_BYTES, `${grown} bytes more`);
  });
});

function begin() {
  const time = createVirtualTime();
  const { recorder, rows } = setUp({ measuredMs: HOUR_MS });
  const seen = { late: 0, done: 0 };
  const schedule = createSchedule(load({ concurrency: SLOTS, ratePerSecond: RATE, durationMs: HOUR_MS }));
  const slots = createSlots({
    clock: time.clock,
    connections: Array.from({ length: SLOTS }, () => connectionIn(time)),
    request: () => ({ method: 'POST', path: '/', headers: {}, body: null }),
    timeoutMs: 1000,
    backOffAfterFailedConnect: false,
    onDone(slot, { done, failure, status, body }) {
      const { index, intended, sent } = slot;
      if (sent !== schedule.dueMs(index)) seen.late++;
      seen.done++;
      recorder.record({
        operation: 0,
        index,
        intended,
        sent,
        done,
        sendLateMs: 0,
        carriedMs: 0,
        readLateMs: 0,
        receivedAt: 0,
        ...NO_PHASES,
        failure,
        status,
        body,
      });
    },
    onFree: () => pacer.tick(),
  });
  const pacer = createPacer({
    arrivals: {
      shard: 0,
      shards: 1,
      schedule,
      stopAtMs: 2 * HOUR_MS,
      warmupMs: 0,
      requests: null,
      inFlight: null,
    },
    clock: time.clock,
    slots,
    overflow: 'queue',
    createAlarm: time.createAlarm,
    onDrop() {},
    onEnd() {},
  });
  return { time, pacer, seen, recorder, rows };
}

/**
 * @param {ReturnType<typeof createVirtualTime>} time
 * @returns {Connection} that answers everything after the same time
 */
function connectionIn(time) {
  return {
    isOpen: () => true,
    open: async () => {},
    send(_request, exchange) {
      exchange.onSent();
      time.add(time.clock() + SERVICE_MS, () => exchange.onResponse(200, ANSWER));
    },
    abort() {},
    close: async () => {},
  };
}

/** @returns {number} bytes, after garbage is collected */
function heapUsed() {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}
