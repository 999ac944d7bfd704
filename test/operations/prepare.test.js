/** What a plan has for an operation: held against the schedule that is sent, and against arithmetic done by hand. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { kvWrite as write } from '../../src/operations/kv.js';
import { loadMix } from '../../src/operations/mix.js';
import { makeMany, prepareCalls } from '../../src/operations/prepare.js';
import { createChooser } from '../../src/operations/request-parts.js';
import { revoke } from '../../src/operations/revoke.js';
import { allRequests, expectedRequests, longestRunMs } from '../../src/plan/due.js';
import { createSchedule } from '../../src/plan/schedule.js';
import { planOf } from './calls-support.js';

/** @import { LoadPlan } from '../../src/plan/load.js' */

/** @param {Record<string, unknown>} given @returns {LoadPlan} */
const loadOf = (given) => planOf(revoke, { timeout: '10s', ...given }).load;

/**
 * @param {Record<string, unknown>} given
 * @param {[seconds: number, from: number, to: number][]} lines a stage each
 * @returns {LoadPlan}
 */
function staged(given, lines) {
  const stages = lines.map(([seconds, from, to], i) => ({
    name: `stage ${i + 1}`,
    lines: [{ durationMs: seconds * 1000, from, to }],
  }));
  const most = Math.max(...lines.flatMap(([, from, to]) => [from, to]));
  const durationMs = lines.reduce((sum, [seconds]) => sum + seconds * 1000, 0);
  return { ...loadOf({ rate: most, ...given }), durationMs, stages };
}

describe('requests and time of a plan', () => {
  /** @type {[string, LoadPlan, number | null, number | null, number | null][]} sentence, load, indexes, expected requests, longest ms */
  const TABLE = [
    ['a rate and a time', loadOf({ rate: 5, duration: '10s' }), 50, 50, 30_000],
    ['a fractional number of requests', loadOf({ rate: 3, duration: '3500ms' }), 11, 11, 23_500],
    ['with a warm-up', loadOf({ rate: 5, duration: '10s', warmup: '2s' }), 60, 60, 32_000],
    ['a rate and a number', loadOf({ rate: 5, requests: 7 }), 7, 7, 21_400],
    ['both, the number first', loadOf({ rate: 5, requests: 7, duration: '10s' }), 7, 7, 30_000],
    // t² 10 / 20 requests in 10 s of ramp-up, so 100 after 15 s.
    ['a ramp-up', loadOf({ rate: 10, requests: 100, rampUp: '10s' }), 100, 100, 35_000],
    ['a ramp-up and a time', loadOf({ rate: 10, duration: '10s', rampUp: '10s' }), 50, 50, 30_000],
    ['a ramp, half its peak', staged({}, [[60, 0, 100]]), 3000, 3000, 80_000],
    [
      'a burst: 10 s at 50 and 50 s at 5',
      staged({}, [
        [10, 50, 50],
        [50, 5, 5],
      ]),
      750,
      750,
      80_000,
    ],
    ['a part of a plan', loadOf({ rate: 5, duration: '10s', shard: '1/3' }), 50, 17, 30_000],
    ['a closed loop with a duration', loadOf({ duration: '10s' }), null, null, 30_000],
    ['a closed loop with a number', loadOf({ requests: 30 }), 30, 30, null],
    ['a closed loop with a number, after a warm-up', loadOf({ requests: 30, warmup: '1s' }), null, 30, null],
  ];
  for (const [sentence, load, indexes, expected, longest] of TABLE) {
    test(`${sentence}: ${expected}`, () => {
      assert.equal(allRequests(load), indexes);
      assert.equal(expectedRequests(load), expected);
      const ms = longestRunMs(load);
      assert.ok(ms === longest || Math.abs(Number(ms) - Number(longest)) < 1e-6, `${ms}`);
    });
  }

  test('Poisson arrivals: the actual number, not the expected one', () => {
    for (let seed = 0; seed < 50; seed++) {
      const load = loadOf({ rate: 10, duration: '10s', arrivals: 'poisson', seed });
      assert.equal(allRequests(load), createSchedule(load).count);
    }
  });

  test("in a mix: the operation's own requests, in this part of the plan", () => {
    const memberOf = createChooser([95, 5], 5);
    const owns = (/** @type {number} */ index) => memberOf(index) === 1;
    const all = [...Array(3000).keys()];
    const ramp = staged({}, [[60, 0, 100]]);
    assert.equal(expectedRequests(ramp, owns), all.filter(owns).length);
    const part = { ...ramp, shard: { index: 2, of: 4 } };
    assert.equal(expectedRequests(part, owns), all.filter((i) => i % 4 === 2 && owns(i)).length);
    assert.equal(expectedRequests(loadOf({ duration: '10s' }), owns), null);
  });

  test('in a mix of a hundred million: about its share, without visiting each request', () => {
    const memberOf = createChooser([3, 1], 5);
    let looked = 0;
    const owns = (/** @type {number} */ index) => ++looked > 0 && memberOf(index) === 1;
    const expected = Number(expectedRequests(loadOf({ requests: 100_000_000 }), owns));
    assert.ok(Math.abs(expected / 25_000_000 - 1) < 0.01, `${expected}`);
    assert.ok(looked <= 1_000_000);
  });
});

/** A Vault that has what kv-write looks at, as far as setup calls go. @param {number} [uses] of the token that are left; 0: any */
const vault = (uses = 0) => ({
  origin: 'http://192.0.2.1:8200',
  hasToken: true,
  health: async () => ({ status: 200, json: { initialized: true, sealed: false, version: '1.21.1' } }),
  read: async (/** @type {string} */ path) =>
    path.startsWith('sys/internal/ui/mounts/')
      ? { data: { path: 'people/', type: 'kv', options: { version: '2' } } }
      : { data: { num_uses: uses, expire_time: null, ttl: 0 } },
});

describe('messages about a plan', () => {
  const kvMount = { kvMount: 'people', paths: 100_000 };
  /** @param {LoadPlan} load @param {Record<string, any>[]} mix @param {number} [uses] */
  async function left(load, mix, uses) {
    const plan = /** @type {any} */ ({ ...planOf(write, kvMount), load, mix });
    /** @type {string[]} */
    const messages = [];
    /** @type {(() => Promise<void>)[]} */
    const ends = [];
    const context = /** @type {any} */ ({
      plan,
      client: vault(uses),
      token: 't',
      keepAlive() {},
      beforeAgain() {},
      onEnd: (/** @type {() => Promise<void>} */ end) => ends.push(end),
      notice: (/** @type {string} */ text) => messages.push(text),
      warn: (/** @type {string} */ text) => messages.push(text),
    });
    const both = await loadMix(plan);
    await both.prepare(context);
    for (const end of ends) await end();
    return messages;
  }
  const entry = (/** @type {string} */ operation, /** @type {number} */ weight, options = {}) => ({
    name: operation,
    operation,
    weight,
    options,
  });
  const writes = entry('kv-write', 1, planOf(write, kvMount).options);

  test('a ramp of kv-write counts the requests it sends, not its peak rate over its duration', async () => {
    assert.deepEqual(await left(staged({}, [[60, 0, 100]]), [writes]), [
      'Up to 3000 secrets stay in people, below vault-pki-load/seed-1/; if all were written, kv-read --kv-mount people --filled --paths 3000 --size 1024 --data-seed 1 reads them.',
    ]);
  });

  /** @type {[string, LoadPlan, number][]} sentence, load, secrets at the most */
  const BOUNDS = [
    ['a closed loop that warms up writes more than it counts', loadOf({ requests: 30, warmup: '5s' }), 1e5],
    ['a closed loop with a duration', loadOf({ duration: '10s' }), 1e5],
    ['a preparation for runs of any load', { ...loadOf({ duration: '10s' }), durationMs: null }, 1e5],
    ['a closed loop without a warm-up', loadOf({ requests: 30 }), 30],
    ['a rate, including the warm-up', loadOf({ rate: 5, duration: '10s', warmup: '2s' }), 60],
  ];
  for (const [sentence, load, most] of BOUNDS) {
    test(`no more secrets are left than the message states: ${sentence}`, async () => {
      const [message] = await left(load, [writes]);
      assert.match(
        message,
        new RegExp(
          `^Up to ${most} secrets stay in people, .* --paths ${most} --size 1024 --data-seed 1 reads them\\.$`,
        ),
      );
    });
  }

  test('kv-write as a quarter of a mix leaves a quarter', async () => {
    const [message, ...more] = await left(staged({}, [[60, 0, 100]]), [entry('token-lookup', 3), writes]);
    const [, count] = /^Up to (\d+) secrets stay/.exec(message) ?? [];
    assert.ok(Math.abs(Number(count) - 750) < 4 * Math.sqrt(3000 * 0.25 * 0.75), message);
    assert.deepEqual(more, []);
  });

  test('a token with exactly enough uses for the whole mix passes, with one fewer it fails', async () => {
    const load = loadOf({ rate: 10, duration: '10s' });
    const mix = [entry('token-lookup', 3), writes];
    await left(load, mix, 111);
    await assert.rejects(left(load, mix, 110), /used 110 more times|110/);
  });

  test('uses during preparation count, and requests without the token do not', async () => {
    const plan = planOf(write, { rate: 10, duration: '10s' });
    const context = /** @type {any} */ ({
      plan,
      client: vault(50),
      token: 't',
      warn() {},
      keepAlive() {},
      beforeAgain() {},
    });
    await prepareCalls(context, { usesInRun: false });
    await prepareCalls(context, { usesInRun: false, usesBefore: 39 });
    await assert.rejects(prepareCalls(context, { usesInRun: false, usesBefore: 40 }), /50/);
    await assert.rejects(prepareCalls(context), /50/);
  });
});

test('many calls: results in order, two at a time, until one fails or the run is stopped', async () => {
  const stop = new AbortController();
  /** @type {number[]} */
  const seen = [];
  const progress = (/** @type {string} */ _label, /** @type {number} */ done) => seen.push(done);
  const given = { label: 'Making', progress, signal: stop.signal };
  const work = (/** @type {number} */ i) => new Promise((resolve) => setTimeout(() => resolve(i), 5 - i));
  assert.deepEqual(await makeMany(5, given, work), [0, 1, 2, 3, 4]);
  assert.deepEqual(seen, [1, 2, 3, 4, 5]);
  assert.deepEqual(await makeMany(0, given, work), []);
  let [begun, most, under] = [0, 0, 0];
  /** @param {number} last @param {() => void} end */
  const until = (last, end) => async () => {
    begun++;
    most = Math.max(most, ++under);
    await Promise.resolve();
    under--;
    if (begun >= last) end();
  };
  const fail = () => {
    throw new Error('no more');
  };
  await assert.rejects(makeMany(1000, given, until(4, fail)), /no more/);
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(begun <= 6, `${begun}`);
  begun = 0;
  const stopped = makeMany(
    1_000_000,
    given,
    until(100, () => stop.abort()),
  );
  await assert.rejects(stopped, { code: 'interrupted', exitCode: 130 });
  assert.equal(most, 2);
  assert.ok(begun <= 101, `${begun}`);
  begun = 0;
  await assert.rejects(
    makeMany(9, { ...given, signal: new AbortController().signal, atOnce: 5 }, until(9, fail)),
  );
  assert.equal(most, 5);
});
