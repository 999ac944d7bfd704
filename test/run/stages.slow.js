import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { linesOf } from '../../src/campaigns/scenario/stages.js';
import { checkResult, createPlan, readEnvironment, run } from '../../src/index.js';
import { createProfile } from '../../src/plan/schedule.js';
import { createInFlight } from '../../src/plan/stages.js';
import { startTarget } from '../targets/start.js';

/** @import { StagePlan } from '../../src/plan/load.js' */
/** @import { Result } from '../../src/result/schema.js' */
/** @import { Target } from '../targets/start.js' */

/** What the checks before a run take for a Vault. */
const HEALTH = JSON.stringify({
  initialized: true,
  sealed: false,
  standby: false,
  version: '1.21.1',
  server_time_utc: 1_700_000_000,
});

/** @type {Target} */
let target;
before(async () => {
  target = await startTarget({ behaviour: 'ok', body: HEALTH });
});
after(() => target.stop());

/** A busy machine sends late, but nothing is sent before it is due: clocks of two processes, and rounding. */
const EARLY = 1;
const LATE_MS = 3000;

const MIX = [
  { name: 'read', weight: 4, path: '/read' },
  { name: 'write', weight: 1, path: '/write' },
];

/** @param {StagePlan[]} stages @param {'rate' | 'concurrency'} level */
async function planOf(stages, level) {
  const lines = stages.flatMap((stage) => stage.lines);
  const most = Math.max(...lines.flatMap(({ from, to }) => [from, to]));
  const duration = lines.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
  const plan = await createPlan(
    'http',
    {
      url: target.url,
      token: 'none',
      path: '/read',
      seed: 5,
      coldStart: true,
      duration,
      ...(level === 'rate' ? { rate: most, concurrency: 50 } : { concurrency: most }),
    },
    readEnvironment({}),
  );
  const mix = MIX.map(({ name, weight, path }) => ({
    name,
    weight,
    operation: 'http',
    options: { ...plan.options, path },
  }));
  return { ...plan, mix, load: { ...plan.load, stages } };
}

/** @param {string} name @param {string} shape @param {Record<string, unknown>} given @param {'rate' | 'concurrency'} level */
const stage = (name, shape, given, level) => ({ name, lines: linesOf(shape, given, level) });

/** @param {Result} result */
async function arrivalsOf(result) {
  const start = BigInt(String(result.startedAtMonotonicNs));
  const seen = (await target.arrivals({ clear: true })).filter(({ path }) => /^\/(read|write)/.test(path));
  return seen
    .map(({ atNs, path }) => ({ ms: Number(atNs - start) / 1e6, path }))
    .filter(({ ms }) => ms >= -1);
}

/** @param {Result} result */
function assertWhole(result) {
  const wrong = result.measurement.reasons.filter(({ code }) => code === 'bookkeeping');
  assert.deepEqual([...checkResult(result), ...wrong], []);
}

describe('arrivals in stages, as the target saw them, follow the closed form:', () => {
  /** @type {[string, string, Record<string, unknown>][]} */
  const table = [
    ['ramp', 'ramp', { from: 0, to: 100, duration: 3 }],
    ['burst', 'burst', { base: 10, peak: 100, every: 1, for: '300ms', duration: 3 }],
  ];
  for (const [what, shape, given] of table) {
    test(what, async () => {
      const stages = [
        stage(what, shape, given, 'rate'),
        stage('after', 'hold', { rate: 20, duration: 1 }, 'rate'),
      ];
      const result = await run(await planOf(stages, 'rate'));
      assertWhole(result);
      const seen = await arrivalsOf(result);
      const lines = stages.flatMap((one) => one.lines);
      const { expected, endMs } = createProfile(lines);
      assert.equal(seen.length, result.totals.sent, 'each was seen once');
      assert.ok(Math.abs(result.totals.planned - expected(endMs)) <= 1);
      for (let ms = 100; ms <= endMs; ms += 100) {
        const by = (/** @type {number} */ time) => seen.filter((one) => one.ms < time).length;
        assert.ok(by(ms - EARLY) <= Math.ceil(expected(ms)), `${by(ms)} by ${ms} ms, ${expected(ms)} due`);
        assert.ok(
          by(ms + LATE_MS) >= Math.floor(expected(ms)),
          `${by(ms + LATE_MS)} ${LATE_MS} ms after ${ms}`,
        );
      }
      for (const { name } of MIX) {
        const own = seen.filter(({ path }) => path === `/${name}`).length;
        assert.equal(own, result.operations[name].totals.sent, name);
      }
    });
  }
});

test('requests in flight, as the target saw them, follow the stages', async () => {
  const stages = [
    stage('ramp', 'ramp', { from: 1, to: 8, duration: 2 }, 'concurrency'),
    stage('hold', 'hold', { concurrency: 4, duration: 1 }, 'concurrency'),
    stage('spike', 'spike', { base: 2, peak: 6, before: 1, for: '500ms', after: 1 }, 'concurrency'),
  ];
  await target.behave('delay', { delayMs: 40 });
  const plan = await planOf(stages, 'concurrency');
  const result = await run(plan);
  await target.behave('ok');
  assertWhole(result);
  const start = BigInt(String(result.startedAtMonotonicNs));
  const seen = (await target.arrivals({ clear: true })).filter(({ path }) => /^\/(read|write)/.test(path));
  assert.equal(seen.length, result.totals.sent);
  const limit = createInFlight(plan.load, 0, 1);
  /** @type {[number, number][]} */
  const spans = seen.map(({ atNs, answeredNs }) => [
    Number(atNs - start) / 1e6,
    Number((answeredNs ?? atNs) - start) / 1e6,
  ]);
  // When a request came, no more were under way than were allowed within the time that any of them took. The oldest
  // was on its way before, for no longer than any took from its sending to its answer. The limit at `at` itself counts
  // too: it may have risen just before.
  const onItsWayMs = Number(result.latencyMs.service.max) + EARLY;
  for (const [at] of spans) {
    const open = spans.filter(([from, to]) => from <= at && to > at);
    const since = Math.min(...open.map(([from]) => from));
    let allowed = Number(limit?.at(at + EARLY));
    for (let ms = since - onItsWayMs; ms < at; ms += 5)
      allowed = Math.max(allowed, Number(limit?.at(Math.max(0, ms))));
    assert.ok(open.length <= allowed, `${open.length} in flight at ${at} ms, ${allowed} allowed`);
  }
  assert.deepEqual(
    result.stages?.map(({ totals }) => totals.sent > 10),
    [true, true, true],
  );
});

test('weights: over 10,000 requests each share is within 3 sigma, and the operations sum to the whole', async () => {
  const stages = [stage('hold', 'hold', { rate: 2500, duration: 4 }, 'rate')];
  const result = await run(await planOf(stages, 'rate'));
  assertWhole(result);
  assert.equal(result.totals.planned, 10_000);
  const share = 4 / 5;
  const sigma = Math.sqrt(10_000 * share * (1 - share));
  const { read, write } = result.operations;
  assert.ok(
    Math.abs(read.totals.planned - 10_000 * share) < 3 * sigma,
    `${read.totals.planned} of 8,000 ± ${3 * sigma}`,
  );
  for (const key of /** @type {const} */ ([
    'planned',
    'sent',
    'succeeded',
    'failed',
    'neverSent',
    'errors',
  ])) {
    assert.equal(read.totals[key] + write.totals[key], result.totals[key], key);
  }
  const seen = await arrivalsOf(result);
  assert.equal(seen.filter(({ path }) => path === '/read').length, read.totals.sent);
});

test('after an interruption, unsent requests count in the stage in which they were due', async () => {
  const stages = [
    stage('one', 'hold', { rate: 50, duration: 1 }, 'rate'),
    stage('two', 'hold', { rate: 50, duration: 60 }, 'rate'),
    stage('three', 'hold', { rate: 50, duration: 10 }, 'rate'),
  ];
  const stop = new AbortController();
  const result = await run(await planOf(stages, 'rate'), {
    signal: stop.signal,
    onEvent: ({ type, ...event }) => {
      if (type === 'interval' && Object(event).elapsedMs > 3000) stop.abort();
    },
  });
  await target.arrivals({ clear: true });
  assertWhole(result);
  const [one, two, three] = (result.stages ?? []).map(({ totals }) => totals);
  assert.deepEqual([one.planned, two.planned, three.planned], [50, 3000, 500]);
  assert.deepEqual([one.neverSent, three.sent], [0, 0]);
  assert.ok(two.sent > 0 && two.neverSent > 0);
});
