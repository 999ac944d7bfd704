/** Parts of one run, joined: they send what one would, start together, and part 0 has one result. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { median } from '../../src/common/sums.js';
import { monotonicMs } from '../../src/join/clock.js';
import { checkResult } from '../../src/result/check/check.js';
import { mergeResults } from '../../src/result/parts/merge-results.js';
import { validateResult } from '../../src/result/schema.js';
import { MOST, planFor, startAll, startCounting } from './support.js';

/** @import { RunEvent } from '../../src/run.js' */

/** @param {string[]} paths @returns {number[]} of the requests, in order of their numbers */
const numbersOf = (paths) => paths.map((path) => Number(path.slice(3))).sort((a, b) => a - b);

const upTo = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => i);

describe('three parts', () => {
  test('send each request once, start together by clocks 2 s apart, and have one result', async (t) => {
    const { url, paths, arrivedMs } = await startCounting(t);
    const plan = await planFor(url, { rate: 60, duration: '1.2s', require: ['errors<50%'], seed: 5 });
    const [ahead, behind] = [2000, -2000].map((ms) => ({ now: () => monotonicMs() + ms }));
    const { leader, members, own } = await startAll(t, plan, 3, { member: [ahead, behind] });
    /** @type {RunEvent[]} */
    const events = [];
    /** @type {any[]} */
    const reports = [];
    const live = {
      begin: () => {},
      ports: (/** @type {number} */ count) =>
        upTo(count).map((thread) => {
          const { port1, port2 } = new MessageChannel();
          port1.on('message', (report) => reports.push({ thread, report }));
          port1.unref();
          return port2;
        }),
    };
    const result = await leader.run(plan, { command: 'all', onEvent: (event) => events.push(event), live });
    leader.end();
    assert.deepEqual(await Promise.all(members.map(({ ended }) => ended)), [0, 0]);

    assert.deepEqual(numbersOf(paths), upTo(72));
    assert.deepEqual(checkResult(result, { isFile: true }), []);
    assert.equal(validateResult(result), result);
    assert.deepEqual(
      [result.totals.sent, result.load.threads, result.shard, result.command],
      [72, 3, undefined, 'all'],
    );
    assert.deepEqual(
      result.merged?.map(({ sent, command }) => [sent, command]),
      [
        [24, 'all'],
        [24, 'part 1'],
        [24, 'part 2'],
      ],
    );
    assert.equal(result.requirements[0].verdict, 'met');

    const parts = [...own, ...members.flatMap(({ results }) => results)];
    const begun = parts.map(({ startedAtMonotonicNs }) => Number(startedAtMonotonicNs) / 1e6);
    assert.ok(Math.max(...begun) - Math.min(...begun) < 5, `${begun}`);
    // Request n, which part n mod 3 sends, is due n / 60 s after the start.
    const lateMs = paths.map((path, i) => arrivedMs[i] - begun[0] - (Number(path.slice(3)) * 1000) / 60);
    const ofPart = (/** @type {number} */ part) =>
      median(lateMs.filter((_, i) => Number(paths[i].slice(3)) % 3 === part));
    const medians = upTo(3).map(ofPart);
    assert.ok(Math.max(...medians) - Math.min(...medians) < 5, `${medians}`);
    const files = parts.map((part) => validateResult(JSON.parse(JSON.stringify(part))));
    const { latencyMs, outcomes, timeline, totals } = mergeResults(files);
    assert.deepEqual(
      { latencyMs, outcomes, timeline, totals },
      {
        latencyMs: result.latencyMs,
        outcomes: result.outcomes,
        timeline: result.timeline,
        totals: result.totals,
      },
    );

    const [start] = events.filter(({ type }) => type === 'start');
    assert.deepEqual(
      start.type === 'start' && [start.planned, start.plan.load.threads, start.plan.load.shard],
      [72, 3, null],
    );
    assert.deepEqual(
      events.filter(({ type }) => type === 'result'),
      [{ type: 'result', result }],
    );
    assert.deepEqual(new Set(reports.map(({ thread }) => thread)), new Set([0, 1, 2]));
    const last = reports.findLast(({ thread }) => thread === 2).report;
    assert.ok(last.tally.lag instanceof Uint32Array);
  });

  test('run several plans with one preparation; part 0 draws the seed', async (t) => {
    const { url, paths } = await startCounting(t);
    const [first, second] = [await planFor(url, { duration: '1s' }), await planFor(url, { duration: '1s' })];
    assert.notEqual(first.load.seed, second.load.seed);
    const third = await planFor(url, { requests: 8 });
    const withThreads = await planFor(url, { requests: 8, threads: 2 });
    const stepsOf = (/** @type {typeof first} */ searched, /** @type {typeof first} */ plan) => [
      { plan: searched, token: null, most: MOST },
      { plan, token: null },
    ];
    const { leader, members, own } = await startAll(t, first, 3, {
      leader: { plans: [first, third] },
      member: [{ steps: stepsOf(second, withThreads) }, { steps: stepsOf(first, third) }],
    });
    const prepared = await leader.prepareRun(first);
    const run = async (/** @type {Partial<typeof first.load>} */ changes) => {
      paths.length = 0;
      const result = await leader.run({ ...first, load: { ...first.load, ...changes } }, { prepared });
      assert.deepEqual(checkResult(result), []);
      assert.equal(Object(result.plan.load).seed, first.load.seed);
      assert.equal(result.totals.sent, paths.length);
      return result.merged?.map(({ sent }) => sent) ?? [];
    };
    assert.equal((await run({ durationMs: 300 })).filter((sent) => sent > 0).length, 3);
    const [one, two, none] = await run({ concurrency: 2, durationMs: 300 });
    assert.ok(one > 0 && two > 0);
    assert.equal(none, 0, 'without a connection');
    await prepared.close();
    /** @type {RunEvent[]} */
    const events = [];
    const { load, merged } = await leader.ofStep(1).run(third, { onEvent: (event) => events.push(event) });
    assert.deepEqual(
      merged?.map(({ sent }) => sent),
      [3, 3, 2],
    );
    const [start] = events.filter(({ type }) => type === 'start');
    assert.deepEqual([load.threads, start.type === 'start' && start.plan.load.threads], [4, 4]);
    // Their results were taken, whatever part 0 cannot do with them.
    leader.end({ why: '--out r.json cannot be written.', exitCode: 1 });
    assert.deepEqual(await Promise.all(members.map(({ ended }) => ended)), [0, 0]);
    assert.equal(own.length, 3);
  });
});
