/** A plan is split over machines and their threads so that each arrival is sent once, by whomever. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { arrivalsOf } from '../../src/engine/pacing/pacer.js';
import { plannedWindow } from '../../src/engine/window.js';
import { createDuePerSecond } from '../../src/plan/due.js';
import { createSchedule } from '../../src/plan/schedule.js';
import { shardOfThread, share, shareOf } from '../../src/plan/shard-part.js';
import { load } from './load-plan.js';

/** @import { LoadPlan } from '../../src/plan/load.js' */

/** Threads of each machine. */
const machines = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 7 });

const openLoad = fc
  .record({
    ratePerSecond: fc.integer({ min: 1, max: 300 }),
    durationMs: fc.integer({ min: 1, max: 3000 }),
    requests: fc.option(fc.integer({ min: 1, max: 500 })),
    warmupMs: fc.constantFrom(0, 400),
    rampUpMs: fc.constantFrom(0, 900),
    arrivals: fc.constantFrom('constant', 'poisson'),
    seed: fc.nat(0xffff_ffff),
  })
  .map((changes) => load(/** @type {Partial<LoadPlan>} */ (changes)));

/**
 * @param {number[]} threads of each machine
 * @returns {{machine: number, thread: number, shard: number, shards: number}[]}
 */
function senders(threads) {
  return threads.flatMap((own, machine) =>
    Array.from({ length: own }, (_, thread) => ({
      machine,
      thread,
      ...shardOfThread({ index: machine, of: threads.length }, thread, own),
    })),
  );
}

describe('the parts of a plan', () => {
  test('send every arrival once and on time, with any number of threads per machine', () => {
    fc.assert(
      fc.property(openLoad, machines, (plan, threads) => {
        const one = createSchedule(plan);
        /** @type {[number, number, number][]} machine, thread, due */
        const sent = [];
        for (const { machine, thread, shard, shards } of senders(threads)) {
          const { schedule, ...own } = arrivalsOf(structuredClone(plan), shard, shards);
          assert.ok(schedule !== null);
          for (let i = own.shard; i < schedule.count; i += own.shards) {
            assert.equal(sent[i], undefined, `arrival ${i} is sent twice`);
            sent[i] = [machine, thread, schedule.dueMs(i)];
          }
        }
        assert.equal(sent.length, one.count);
        for (let i = 0; i < one.count; i++) {
          const machine = i % threads.length;
          const thread = Math.floor(i / threads.length) % threads[machine];
          assert.deepEqual(sent[i], [machine, thread, one.dueMs(i)], `arrival ${i}`);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('plan as many measured requests as they send, second by second', () => {
    fc.assert(
      fc.property(openLoad, fc.integer({ min: 1, max: 7 }), (plan, of) => {
        const whole = plannedWindow(plan);
        const { count, firstMeasured, dueMs } = createSchedule(plan);
        const planned = Array.from({ length: of }, (_, index) => {
          const shard = { index, of };
          const own = plannedWindow({ ...plan, shard });
          let measured = 0;
          /** @type {number[]} */
          const due = Array(5).fill(0);
          for (let i = index; i < count; i += of) {
            if (i < firstMeasured) continue;
            measured++;
            due[Math.floor((dueMs(i) - plan.warmupMs) / 1000 + 1e-9)]++;
          }
          assert.deepEqual(own, { planned: measured, windowMs: whole.windowMs, cells: null });
          assert.deepEqual(createDuePerSecond(createSchedule(plan), shard, plan.warmupMs)(5), due);
          return measured;
        });
        assert.equal(
          planned.reduce((a, b) => a + b),
          whole.planned,
        );
      }),
      { numRuns: 100 },
    );
  });

  test('divide the requests and connections of a closed loop completely', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), machines, (total, threads) => {
        const plan = load({ model: 'closed', ratePerSecond: null, requests: total });
        const each = senders(threads).map(({ shard, shards }) => {
          const { requests, ...own } = arrivalsOf(plan, shard, shards);
          assert.equal(requests, share(total, own.shard, own.shards));
          return Number(requests);
        });
        assert.equal(
          each.reduce((a, b) => a + b),
          total,
        );
        for (const [index, own] of threads.entries()) {
          const mine = senders(threads).filter(({ machine }) => machine === index);
          const sum = mine.reduce((all, { shard, shards }) => all + share(total, shard, shards), 0);
          const part = { index, of: threads.length };
          assert.equal(sum, shareOf(total, part), `machine ${index} with ${own} threads`);
          assert.equal(plannedWindow({ ...plan, shard: part }).planned, sum);
        }
      }),
    );
  });

  test('without --shard, the threads are the shards', () => {
    assert.deepEqual(
      [0, 1, 2].map((thread) => shardOfThread(null, thread, 3)),
      [0, 1, 2].map((shard) => ({ shard, shards: 3 })),
    );
    assert.equal(shareOf(17, null), 17);
  });
});
