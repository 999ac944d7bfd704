import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { checkResult } from '../../src/result/check/check.js';
import { mergeResults } from '../../src/result/parts/merge-results.js';
import { validateResult } from '../../src/result/schema.js';
import { syntheticParts, syntheticRun, withoutBars } from '../synthetic-run.js';
import { refusal } from './support.js';

/** @import { LoadPlan } from '../../src/plan/load.js' */
/** @import { Result } from '../../src/result/schema.js' */

const REQUIREMENTS = ['p99<10s', 'p50(service)<10s', 'errors<50%', 'rate>=1/s', 'max<1m', 'rate>=1e5/s'];

/** As files have it. @param {Result} result @returns {Result} */
const read = (result) => validateResult(JSON.parse(JSON.stringify(result)));

/** What does not depend on how many threads there were, on which machines. */
const SAME = /** @type {const} */ ([
  ...[
    'durationSeconds',
    'windowSeconds',
    'interrupted',
    'startedAt',
    'target',
    'totals',
    'rates',
    'latencyMs',
  ],
  ...['outcomes', 'outcomeDetails', 'verification', 'operations', 'stages', 'warmup', 'requirements'],
  'timeline',
]);

/** @param {any} result */
function comparable({ load: { threads, ...load }, ...result }) {
  return withoutBars({ load, ...Object.fromEntries(SAME.map((key) => [key, result[key]])) });
}

/** @param {Result} merged @param {Result} whole */
function assertSame(merged, whole) {
  assert.deepEqual(comparable(merged), comparable(whole));
  assert.deepEqual(checkResult(merged, { isFile: true }), []);
  for (const spread of /** @type {const} */ (['lagMs', 'readLateMs', 'ownResponseMs'])) {
    assert.deepEqual(merged.measurement.observed?.[spread], whole.measurement.observed?.[spread]);
  }
}

const LOAD = { ratePerSecond: 50, durationMs: 8000, seed: 3 };
const [A, B] = syntheticParts({ load: LOAD }, [1, 1]).map(read);
const THREE = syntheticParts({ load: LOAD }, [1, 1, 1]).map(read);

const STAGED = {
  ...LOAD,
  stages: [
    { name: 'low', lines: [{ durationMs: 4000, from: 20, to: 20 }] },
    { name: 'high', lines: [{ durationMs: 4000, from: 50, to: 50 }] },
  ],
};

describe('the merged result', () => {
  test('accepts parts from versions without stages and mixes', () => {
    const given = { load: LOAD, requirements: REQUIREMENTS };
    const old = syntheticParts(given, [1, 1]).map((part) => {
      const { mix, ...plan } = read(part).plan;
      const { stages, ...load } = Object(plan.load);
      return { ...read(part), plan: { ...plan, load } };
    });
    assertSame(mergeResults(old), syntheticRun(given));
  });

  test('of parts 0 to 3 of 4 equals that of one run, bucket for bucket and figure for figure', () => {
    const given = { load: LOAD, requirements: REQUIREMENTS };
    const whole = syntheticRun(given);
    const [a, b, c, d] = syntheticParts(given, [1, 1, 1, 1]).map(read);
    assert.equal(whole.totals.planned, 400);
    const planned = [a, b, c, d].map(({ totals }) => totals.planned);
    assert.deepEqual(planned, [100, 100, 100, 100]);
    assertSame(mergeResults([c, a, d, b]), whole);
  });

  test('equals that of one run, for any plan, number of parts and threads', () => {
    fc.assert(
      fc.property(
        fc.record({
          seed: fc.nat(0xffff_ffff),
          ratePerSecond: fc.integer({ min: 20, max: 60 }),
          warmupMs: fc.constantFrom(0, 700),
          rampUpMs: fc.constantFrom(0, 2000),
          arrivals: fc.constantFrom('constant', 'poisson'),
          overflow: fc.constantFrom('queue', 'drop'),
        }),
        fc.nat(3),
        fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
        (changes, unsent, threads) => {
          const load = /** @type {Partial<LoadPlan>} */ ({ ...changes, durationMs: 3000 });
          const given = { load, unsent, requirements: REQUIREMENTS };
          assertSame(mergeResults(syntheticParts(given, threads).map(read)), syntheticRun(given));
        },
      ),
      { numRuns: 3 },
    );
  });

  /** @type {import('../synthetic-run.js').Synthetic['requirements']} */
  const scoped = [
    'p99<10s',
    ['p50<10s', { operation: 'write' }],
    ['errors<90%', { operation: 'read', stage: 'high' }],
  ];
  const closed = /** @type {const} */ ({ model: 'closed', ratePerSecond: null, requests: 301, seed: 9 });
  /** @type {[string, Parameters<typeof syntheticRun>[0]][]} */
  const CELLS = [
    ['a mix', { load: LOAD, requirements: [scoped[0], scoped[1]] }],
    ['a mix in stages', { load: STAGED, requirements: scoped, unsent: 30 }],
    [
      'a mix in stages with warm-up, drops and random arrivals',
      {
        load: { ...STAGED, warmupMs: 700, overflow: 'drop', arrivals: 'poisson' },
      },
    ],
    ['an interrupted mix in stages', { load: STAGED, stoppedMs: 5250 }],
    ['a mix in a closed loop', { load: closed }],
  ];
  for (const [what, given] of CELLS) {
    test(`of ${what} equals that of one run, cell for cell`, () => {
      const all = { ...given, weights: { read: 4, write: 1 } };
      const parts = syntheticParts(all, [1, 2, 1]).map(read);
      for (const part of parts) assert.deepEqual(checkResult(part, { isFile: true }), []);
      assertSame(mergeResults(parts, { allowInterrupted: true }), syntheticRun(all));
    });
  }

  test('of a closed loop equals that of one run, too', () => {
    const load = /** @type {Partial<LoadPlan>} */ ({ model: 'closed', ratePerSecond: null, requests: 301 });
    const given = { load: { ...load, seed: 9 }, requirements: REQUIREMENTS };
    assertSame(mergeResults(syntheticParts(given, [1, 2, 1]).map(read)), syntheticRun(given));
  });

  test('lists its parts, and is neither a part nor of a single machine', () => {
    const parts = syntheticParts({ load: LOAD }, [1, 2]).map(read);
    const earlier = { ...parts[1], startedAt: '2026-01-02T03:04:04.500Z' };
    const sum = mergeResults([parts[0], earlier], { command: 'vault-pki-load merge a b' });
    assert.equal(validateResult(sum), sum);
    assert.equal(sum.command, 'vault-pki-load merge a b');
    assert.equal(sum.startedAt, earlier.startedAt);
    assert.equal(sum.load.threads, 3);
    assert.equal(sum.shard, undefined);
    assert.equal(sum.merge, undefined);
    assert.equal(sum.startedAtMonotonicNs, undefined);
    assert.deepEqual(
      sum.merged?.map(({ index, of, threads, sent, command }) => [index, of, threads, sent, command]),
      [
        [0, 2, 1, 200, 'vault-pki-load synthetic --shard 0/2'],
        [1, 2, 2, 200, 'vault-pki-load synthetic --shard 1/2'],
      ],
    );
    assert.throws(() => mergeResults([sum]), { code: 'not_a_part' });
  });

  test('warns about different versions', () => {
    const [a, b] = [A, B];
    /** @type {string[]} */
    const said = [];
    mergeResults([a, { ...b, tool: { version: '9.9.9' } }], { onWarning: (text) => said.push(text) });
    assert.equal(said.length, 1);
    assert.match(said[0], /come from different versions of vault-pki-load: .*9\.9\.9/);
  });
});

describe('the measurement of the merged result', () => {
  test('what resting connections would have sent adds up; older files do not have it', () => {
    const [a, b] = syntheticParts({ load: LOAD }, [1, 1]);
    const withRested = (/** @type {Result} */ part, /** @type {number | undefined} */ rested) => {
      const copy = structuredClone(part);
      for (const { totals } of [copy, ...Object.values(copy.operations)]) totals.rested = rested;
      return read(copy);
    };
    assert.equal(mergeResults([withRested(a, 7), withRested(b, undefined)]).totals.rested, 7);
  });

  test('is judged on all parts together', () => {
    const [a] = syntheticParts({ load: LOAD }, [1, 1]);
    const [, b] = syntheticParts({ load: LOAD, end: { droppedLate: 50 } }, [1, 1]);
    assert.equal(b.measurement.verdict, 'invalid');
    const { measurement, requirements } = mergeResults(
      [a, b].map((part) => read({ ...part, plan: { ...part.plan, requirements: ['p50<10s'] } })),
    );
    assert.equal(measurement.verdict, 'invalid');
    assert.deepEqual(codes(measurement), ['load_not_offered', 'parts_invalid']);
    assert.match(measurement.reasons[0].text, /^The tool was late and dropped 50 of 400 arrivals/);
    assert.equal(requirements[0].verdict, 'not proven');
  });

  test('is invalid if that of one part is, however little of the sum that is', () => {
    const ones = Array(10).fill(1);
    const parts = syntheticParts({ load: LOAD }, ones);
    const planned = parts[3].totals.planned;
    parts[3] = syntheticParts({ load: LOAD, end: { droppedLate: Math.ceil(planned / 100) } }, ones)[3];
    const { measurement } = mergeResults(parts.map(read));
    assert.deepEqual(codes(measurement), ['parts_invalid']);
    assert.match(measurement.reasons[0].text, /part 3 of 10: The tool was late and dropped/);
  });

  test('is judged on the sum if a part only sent many of its few requests in other seconds', () => {
    const reason = {
      code: 'load_not_offered',
      grade: /** @type {const} */ ('invalid'),
      text: 'Late.',
      remedy: 'x',
    };
    for (const [second, expected] of /** @type {const} */ ([
      [15, 'valid'],
      [30, 'invalid'],
    ])) {
      const late = structuredClone(A);
      Object.assign(late.measurement, { verdict: 'invalid', reasons: [reason] });
      Object.assign(Object(late.merge).watch, { displaced: { second, tenth: second } });
      const { measurement } = mergeResults([late, B]);
      assert.equal(measurement.verdict, expected);
      const named = measurement.reasons.find(({ code }) => code === 'parts_invalid');
      assert.deepEqual(
        [named?.grade, named?.text],
        ['remark', 'The measurement of a part is invalid by itself: part 0 of 2: Late.'],
      );
    }
  });

  test('stays invalid if a part of a closed loop stood still, whatever its share of the time of all', () => {
    const closed = {
      model: /** @type {const} */ ('closed'),
      ratePerSecond: null,
      requests: 20,
      durationMs: null,
    };
    const [still, other] = syntheticParts({ load: { ...LOAD, ...closed } }, [1, 1]).map(read);
    const { windowMs } = Object(still.merge);
    const reason = {
      code: 'load_not_offered',
      grade: /** @type {const} */ ('invalid'),
      text: 'Still.',
      remedy: 'x',
    };
    Object.assign(still.measurement, { verdict: 'invalid', reasons: [reason] });
    Object.assign(Object(still.merge).watch, { stalledMs: 0.3 * windowMs });
    Object.assign(Object(other.merge), { windowMs: 10 * windowMs });
    const { measurement } = mergeResults([still, other]);
    assert.equal(measurement.verdict, 'invalid');
    assert.equal(measurement.reasons.find(({ code }) => code === 'parts_invalid')?.grade, 'invalid');
  });

  test('names the parts whose machines were busy, else the one that sent the latest', () => {
    const late = syntheticParts(
      {
        load: LOAD,
        change: (one) => ({ ...one, sent: one.sent + 3000, done: one.done + 3000, sendLateMs: 3000 }),
      },
      [1, 1],
    );
    const busy = { code: 'busy_machine', grade: /** @type {const} */ ('remark'), text: 'x', remedy: 'x' };
    const textOf = (/** @type {Result[]} */ parts) =>
      mergeResults(parts).measurement.reasons.find(({ code }) => code === 'busy_machine')?.text;
    const [a, b] = [A, late[1]].map(read);
    for (const part of [a, b]) part.measurement = { ...part.measurement, verdict: 'valid', reasons: [] };
    assert.match(String(textOf([a, b])), /^The machine of part 1 of 2 was busy: /);
    for (const part of [a, b]) part.measurement.reasons = [busy];
    assert.match(String(textOf([a, b])), /^The machines of part 0 of 2, part 1 of 2 were busy: /);
  });

  test('is not invalid because of a part without a connection or a request of its own', () => {
    const reason = { code: 'nothing_measured', grade: 'invalid', text: 'x' };
    const nothing = /** @type {any} */ ({ verdict: 'invalid', reasons: [reason] });
    const valid = /** @type {any} */ ({ verdict: 'valid', reasons: [] });
    for (const load of [
      { model: 'closed', ratePerSecond: null, concurrency: 2 },
      { model: 'closed', ratePerSecond: null, concurrency: 3, requests: 2 },
    ]) {
      const parts = syntheticParts({ load: /** @type {any} */ (load) }, [1, 1, 1]).map(read);
      const { measurement } = mergeResults(
        parts.map((part, i) => ({ ...part, measurement: i < 2 ? valid : nothing })),
      );
      assert.ok(!codes(measurement).includes('parts_invalid'), JSON.stringify(load));
    }
  });

  /** @type {[string, string, 'valid' | 'invalid', RegExp | null][]} */
  const STARTS = [
    ['within a twentieth of the plan', '2026-01-02T03:04:05.150Z', 'valid', null],
    [
      'seconds apart',
      '2026-01-02T03:04:08.200Z',
      'invalid',
      /part 1 of 2 started sending 3\.2 s after part 0/,
    ],
    [
      'one after the other',
      '2026-01-02T03:05:05.000Z',
      'invalid',
      /part 1 of 2 started sending 1 min after part 0/,
    ],
    [
      'in another order',
      '2026-01-02T03:04:00.000Z',
      'invalid',
      /part 0 of 2 started sending 5 s after part 1/,
    ],
  ];
  for (const [what, startedAt, verdict, text] of STARTS) {
    test(`is ${verdict} if the parts began ${what}`, () => {
      const [a, b] = [A, B];
      const { measurement } = mergeResults([a, { ...b, startedAt }]);
      assert.equal(measurement.verdict, verdict);
      assert.deepEqual(codes(measurement), text === null ? [] : ['parts_apart']);
      if (text !== null) {
        assert.match(measurement.reasons[0].text, text);
        assert.match(String(measurement.reasons[0].remedy), /--start-at/);
      }
    });
  }
});

test('parts of a closed loop that have sent their share long before the others are a remark', () => {
  const given = { load: { ratePerSecond: null, durationMs: null, requests: 100, seed: 3 } };
  const load = { ...given.load, model: /** @type {const} */ ('closed') };
  const partOf = (/** @type {number} */ index, /** @type {number} */ endedMs) =>
    read(syntheticParts({ load, end: { endedMs } }, [1, 1, 1])[index]);
  const [a, b] = [partOf(0, 2000), partOf(1, 2000)];
  for (const [endedMs, expected] of /** @type {const} */ ([
    [2000, []],
    [2105, []],
    [2107, ['parts_ended_apart']],
    [20_000, ['parts_ended_apart']],
  ])) {
    const { measurement } = mergeResults([a, b, partOf(2, endedMs)]);
    assert.deepEqual([measurement.verdict, codes(measurement)], ['valid', expected], String(endedMs));
    if (endedMs !== 20_000) continue;
    assert.match(
      measurement.reasons[0].text,
      /: part 0 of 3 was done after 2 s, part 2 of 3 after 20 s\. Until then/,
    );
    assert.match(String(measurement.reasons[0].remedy), /--duration/);
  }
  const timed = { ...load, requests: null, durationMs: 2000 };
  const parts = [2000, 20_000].map((endedMs, index) =>
    read(syntheticParts({ load: timed, end: { endedMs } }, [1, 1])[index]),
  );
  assert.ok(!codes(mergeResults(parts).measurement).includes('parts_ended_apart'));
});

test('parts that started by one clock may be 10 ms apart', () => {
  const [a, b] = [A, B];
  for (const [ms, verdict, expected] of /** @type {const} */ ([
    ['010', 'valid', []],
    ['011', 'valid', ['parts_apart']],
    ['900', 'invalid', ['parts_apart']],
  ])) {
    const late = { ...b, startedAt: `2026-01-02T03:04:05.${ms}Z` };
    const { measurement } = mergeResults([a, late], { haveOneClock: true });
    assert.deepEqual([measurement.verdict, codes(measurement)], [verdict, expected]);
    if (expected.length === 0) continue;
    assert.match(measurement.reasons[0].text, /^By the clock of part 0, part 1 of 2 started sending/);
    assert.match(String(measurement.reasons[0].remedy), /delayed the message to start/);
  }
});

test('how well a part knows the clock of part 0 counts as apart', () => {
  const [a, b] = [A, { ...B, startedAt: '2026-01-02T03:04:05.002Z' }];
  for (const [ms, verdict, expected] of /** @type {const} */ ([
    [8, 'valid', []],
    [9, 'valid', ['parts_apart']],
    [1250, 'invalid', ['parts_apart']],
  ])) {
    const { measurement } = mergeResults([a, { ...b, clockErrorMs: ms }], { haveOneClock: true });
    assert.deepEqual([measurement.verdict, codes(measurement)], [verdict, expected]);
    if (ms !== 1250) continue;
    const text =
      /^Messages between part 0 and part 1 of 2 took so long that they may have started sending 1\.25 s apart/;
    assert.match(measurement.reasons[0].text, text);
  }
});

/** @param {Result['measurement']} measurement */
function codes({ reasons }) {
  return reasons.map(({ code }) => code);
}

/** @param {Result} part @param {Record<string, unknown>} changes @returns {Result} */
function withTls(part, changes) {
  const plan = /** @type {Record<string, any>} */ (part.plan);
  return { ...part, plan: { ...plan, target: { ...plan.target, tls: { ...plan.target.tls, ...changes } } } };
}

/** @param {Result} part @param {Record<string, unknown>} changes of its load, as its plan has it and as it was @returns {Result} */
function withLoad(part, changes) {
  const load = { ...part.load, ...changes };
  return { ...part, load, plan: { ...part.plan, load } };
}

test('parts may be sent from different addresses, with different client certificates', () => {
  const [one, other] = syntheticParts({ load: LOAD }, [1, 1]);
  const moved = withTls(withLoad(other, { localAddresses: ['192.0.2.7'] }), { clientCerts: '/other' });
  const { totals } = mergeResults([one, moved], { names: ['a.json', 'b.json'] });
  assert.equal(totals.sent, one.totals.sent + other.totals.sent);
});

describe('refuses to merge', () => {
  const whole = syntheticRun({ load: LOAD });
  const names = ['a.json', 'b.json', 'c.json', 'd.json'];
  const other = (/** @type {Partial<LoadPlan>} */ load) =>
    syntheticParts({ load: { ...LOAD, ...load } }, [1, 1, 1]);

  /** @param {Result} part @param {Record<string, unknown>} changes */
  const withTarget = (part, changes) => ({ ...part, target: { ...part.target, ...changes } });
  /** @param {Result} part @param {Record<string, unknown>} changes */
  const withPlan = (part, changes) => ({ ...part, plan: { ...part.plan, ...changes } });
  const staged = (/** @type {Result} */ { plan }) => ({
    load: { ...Object(plan.load), stages: STAGED.stages },
  });
  const MIX = { mix: [{ name: 'x' }, { name: 'y' }] };

  /** @type {[(parts: Result[]) => Result[], string, RegExp][]} results, code, message */
  const TABLE = [
    [() => [], 'no_parts', /nothing to merge/],
    [() => [whole], 'not_a_part', /^a\.json is not a part of a plan/],
    [([a, b, c]) => [a, b, c, b], 'part_twice', /^b\.json and d\.json are both part 1 of 3\./],
    [([a, , c]) => [c, a], 'part_missing', /^1 of 3 parts is missing: 1\./],
    [([, b]) => [b], 'part_missing', /^2 of 3 parts are missing: 0, 2\./],
    [([a]) => [a, B], 'different_splits', /^a\.json is part 0 of 3, but b\.json is part 1 of 2\./],
    [
      ([a, b]) => [a, b, other({ ratePerSecond: 60, seed: 4 })[2]],
      'different_plans',
      /^a\.json and c\.json are .*different plans: --rate \(50 and 60\), --seed \(3 and 4\)\./,
    ],
    [
      ([a, b]) => [a, b, syntheticParts({ load: LOAD, options: { role: 'mail' } }, [1, 1, 1])[2]],
      'different_plans',
      /--role \("web" and "mail"\)/,
    ],
    [
      ([a, b, c]) => [a, b, withPlan(c, { requirements: ['p99<1s'] })],
      'different_plans',
      /--require \(none and p99<1s\)/,
    ],
    [([a, b, c]) => [a, b, withTarget(c, { url: 'http://192.0.2.2:8200' })], 'different_plans', /address/],
    [
      ([a, b, c]) => [a, b, withTarget(c, { product: 'OpenBao', version: '2.6.2' })],
      'different_targets',
      /^a\.json tested Vault 1\.21\.1, but c\.json tested OpenBao 2\.6\.2\. Repeat the parts/,
    ],
    [
      ([a, b, c]) => [withTarget(a, { version: null }), b, withTarget(c, { version: '1.21.2' })],
      'different_targets',
      /^b\.json tested Vault 1\.21\.1, but c\.json tested Vault 1\.21\.2\./,
    ],
    [
      ([a, b, c]) => [a, withTls(b, { skipVerify: true }), c],
      'different_plans',
      /: target\.tls\.skipVerify \(false and true\)\./,
    ],
    [
      ([a, b, c]) => [a, withTls(b, { serverName: 'b.example.com' }), c],
      'different_plans',
      /: target\.tls\.serverName \(null and "b\.example\.com"\)\./,
    ],
    [
      ([a, b, c]) => [a, { ...b, totals: { ...b.totals, planned: 134 } }, c],
      'inconsistent_result',
      /^b\.json does not add up: part 1 of 3 of its plan has 133 requests, but totals\.planned is 134\./,
    ],
    [
      ([a, b, c]) => [a, { ...b, interrupted: true }, c],
      'interrupted_part',
      /^b\.json, part 1 of 3, was interrupted\. .*--allow-interrupted/,
    ],
    [
      ([a, b, c]) => [a, { ...b, unfinished: true }, c],
      'interrupted_part',
      /^b\.json, part 1 of 3, was written before its run ended/,
    ],
    [
      ([a, b, c]) => [a, withPlan(b, staged(b)), c],
      'not_mergeable',
      /^b\.json cannot be merged: its stages are not those of its plan/,
    ],
    [([a, b, c]) => [a, b, withPlan(c, MIX)], 'different_plans', /^a\.json and c\.json .*: mix \(null and/],
  ];
  for (const [results, code, message] of TABLE) {
    test(`${code}: ${message}`, () => {
      assert.throws(() => mergeResults(results(structuredClone(THREE)), { names }), refusal(code, message));
    });
  }

  test('part_missing, unless it is known to be missing: then the measurement is invalid, and nothing is met', () => {
    const required = syntheticParts(
      { load: LOAD, requirements: ['p50<10s', 'p99<1ms', 'rate>=99/s'] },
      [1, 1, 1],
    ).map(read);
    const sum = mergeResults([required[2], required[0]], { missing: [{ index: 1, why: 'it was killed' }] });
    assert.deepEqual(checkResult(sum, { isFile: true }), []);
    assert.equal(sum.totals.planned, required[0].totals.planned + required[2].totals.planned);
    assert.equal(
      sum.timeline.reduce((all, { due = 0 }) => all + due, 0),
      sum.totals.planned,
    );
    assert.deepEqual(codes(sum.measurement), ['parts_missing']);
    assert.match(sum.measurement.reasons[0].text, /incomplete: part 1 of 3 \(it was killed\)\./);
    assert.deepEqual(
      sum.requirements.map(({ verdict, doubt }) => [verdict, doubt]),
      [
        ['not proven', 'invalid'],
        ['not met', undefined],
        ['not proven', 'tool'],
      ],
    );
    assert.match(sum.requirements[2].reason, /but the measurement is invalid; .* repeat the run/);
    const missing = [{ index: 0, why: 'x' }];
    assert.throws(
      () => mergeResults([required[2]], { missing }),
      refusal('part_missing', /1 of 3 parts is missing: 1\./),
    );
  });

  test('interrupted parts are accepted on request, and the merged result is interrupted', () => {
    const [a, b, c] = THREE;
    const sum = mergeResults([a, { ...b, interrupted: true }, c], { allowInterrupted: true });
    assert.equal(sum.interrupted, true);
    assert.deepEqual(sum.totals, whole.totals);
    assert.deepEqual(checkResult(sum), []);
  });

  test('of a part that stopped while others went on, a share of the load is missing: nothing is met', () => {
    const given = { load: LOAD, requirements: ['p50<10s', 'rate>=1/s'] };
    const stopAt = (/** @type {number} */ stoppedMs) =>
      syntheticParts({ ...given, stoppedMs }, [1, 1, 1]).map(read);
    const [a, , c] = syntheticParts(given, [1, 1, 1]).map(read);
    const [early, late] = [stopAt(2000), stopAt(7700)];
    const merge = (/** @type {Result[]} */ parts) => mergeResults(parts, { allowInterrupted: true });
    for (const [b, state] of [
      [early[1], 'interrupted'],
      [{ ...early[1], interrupted: false, unfinished: /** @type {const} */ (true) }, 'cut off'],
    ]) {
      const sum = merge([a, /** @type {Result} */ (b), c]);
      assert.deepEqual(checkResult(sum, { isFile: true }), []);
      assert.equal(sum.measurement.verdict, 'invalid');
      const { code, text } = sum.measurement.reasons[0];
      assert.equal(code, 'parts_missing');
      assert.match(text, new RegExp(`incomplete: part 1 of 3 \\(it was ${state} after 2 s\\)\\.`));
      assert.deepEqual(
        sum.requirements.map(({ verdict, doubt }) => [verdict, doubt]),
        Array(2).fill(['not proven', 'invalid']),
      );
    }
    const isMissing = (/** @type {Result} */ sum) => codes(sum.measurement).includes('parts_missing');
    for (const together of [early, [a, late[1], c]]) assert.equal(isMissing(merge(together)), false);
    const killed = early.map((part) => ({
      ...part,
      interrupted: false,
      unfinished: /** @type {const} */ (true),
    }));
    assert.equal(isMissing(merge(killed)), true, 'what was in flight is in no file');
    const joined = mergeResults([a, early[1], c], { allowInterrupted: true, haveOneClock: true });
    assert.equal(isMissing(joined), false, 'part 0 names the parts that it lost');
  });

  test('threads, pacing, paths and start times may differ between machines', () => {
    const [a, b, c] = syntheticParts({ load: LOAD }, [1, 2, 3]).map(read);
    const { load, ...plan } = /** @type {Record<string, any>} */ (b.plan);
    const own = { ...load, pacing: 'spin', startAt: '2026-01-02T03:04:05.000Z' };
    const tls = {
      ...plan.target.tls,
      caCert: '/etc/ca.pem',
      caPath: '/etc/ca',
      clientCert: 'c.pem',
      clientKey: 'k.pem',
    };
    const elsewhere = {
      ...plan,
      target: { ...plan.target, tls },
      load: own,
      options: { ...plan.options, keep: 'kept-1.jsonl' },
    };
    const sum = mergeResults([a, { ...b, load: own, plan: elsewhere }, c]);
    assert.deepEqual(sum.totals, whole.totals);
  });
});

describe('a part that cannot be merged:', () => {
  /** @param {Result} part @param {any} change */
  const eachSecond = (part, change) => ({ ...part, timeline: part.timeline.map(change) });
  const withMerge = (/** @type {Result} */ part, /** @type {object} */ changes) =>
    /** @type {any} */ ({ ...part, merge: { ...part.merge, ...changes } });
  const required = (/** @type {unknown} */ requirements) => (/** @type {Result} */ part) => ({
    ...part,
    plan: { ...part.plan, requirements },
  });
  const NO_BLOCK = 'it has no valid "merge" block';
  const NO_END = 'its load is an open loop without a rate, or without an end';

  /** @type {[(part: Result) => Result, string][]} how part 1 is spoiled, and what is said to be missing */
  const TABLE = [
    [({ merge, ...part }) => part, NO_BLOCK],
    [(part) => withMerge(part, { watch: {} }), NO_BLOCK],
    [
      (part) => withLoad(part, { stages: [{ name: 'x', lines: [{ durationMs: -1, from: 0, to: 1 }] }] }),
      'its stages are not those of its plan',
    ],
    [(part) => withMerge(part, { operations: {} }), '"merge" block lacks the operation synthetic'],
    [
      (part) => eachSecond(part, (/** @type {any} */ { histogram, ...row }) => row),
      'second 0 lacks a histogram of its own',
    ],
    [
      (part) => eachSecond(part, (/** @type {any} */ { failures, ...row }) => row),
      'second 0 lacks its p90 or its failures',
    ],
    [
      (part) => eachSecond(part, (/** @type {any} */ { p90, ...row }) => row),
      'second 0 lacks its p90 or its failures',
    ],
    [
      (part) =>
        eachSecond(part, (/** @type {any} */ row) => ({
          ...row,
          histogramSeconds: row.second === 3 ? 2 : 1,
        })),
      'second 3 lacks a histogram of its own',
    ],
    [
      (part) => withMerge(part, { lags: part.merge?.lags.slice(0, 2) }),
      'second 2 lacks a histogram of its own',
    ],
    [
      (part) => ({ ...part, plan: { ...part.plan, load: null } }),
      'its load differs from that of its plan in ',
    ],
    [
      (part) => ({ ...part, load: { ...part.load, timeoutMs: 1 } }),
      'its load differs from that of its plan in timeoutMs',
    ],
    [(part) => ({ ...part, shard: { index: 0, of: 2 } }), 'its load is that of another part'],
    [
      (part) => ({ ...withLoad(part, { shard: { index: 7, of: 2 } }), shard: { index: 7, of: 2 } }),
      'part 7 of 2 does not exist',
    ],
    [(part) => withLoad(part, { ratePerSecond: null }), NO_END],
    [(part) => withLoad(part, { arrivals: 'poisson', durationMs: null, requests: null }), NO_END],
    [required(undefined), 'its plan has no list of requirements'],
    [required(['p99<1s', 'soon']), 'its plan requires "soon", which is not a requirement'],
    [required([17]), 'its plan requires 17, which is not a requirement'],
  ];
  for (const [spoil, missing] of TABLE) {
    test(missing, () => {
      const merge = () => mergeResults([A, spoil(structuredClone(B))], { names: ['a.json', 'b.json'] });
      const start = /^b\.json cannot be merged: /;
      assert.throws(merge, refusal('not_mergeable', start, missing));
    });
  }

  const GOOD = 'operations.synthetic.outcomeDetails.good.latencyMs.service.histogram';
  /** @type {[string, (part: Result) => unknown][]} the place, and how it is spoiled */
  const UNREADABLE = [
    [GOOD, (part) => (part.operations.synthetic.outcomeDetails.good.latencyMs.service.histogram = 'HISTFA')],
    ['timeline.2.histogram', (part) => (part.timeline[2].histogram = '')],
    ['merge.lags.1.histogram', (part) => Object.assign(Object(part.merge).lags[1], { histogram: 'x' })],
    ['merge.watch.readLate', (part) => Object.assign(Object(part.merge).watch, { readLate: 'x' })],
    [
      'merge.operations.synthetic.own.good.response',
      (part) => Object.assign(Object(part.merge).operations.synthetic.own.good, { response: 'x' }),
    ],
  ];
  for (const [place, spoil] of UNREADABLE) {
    test(`${place} cannot be read`, () => {
      const broken = structuredClone(B);
      spoil(broken);
      const merge = () => mergeResults([A, broken], { names: ['a.json', 'b.json'] });
      assert.throws(
        merge,
        refusal('inconsistent_result', `b.json does not add up: ${place} cannot be read.`),
      );
    });
  }
});

test("the merged result has the target's product from any part that knows it, and each note once", () => {
  const said = 'day: its stages are left out, and what is required of them is not judged: noon: errors<3%.';
  const [a, b] = [A, B].map((part) => ({ ...part, verification: { ...part.verification, notes: [said] } }));
  const sum = mergeResults([{ ...a, target: { ...a.target, product: null, version: null } }, b]);
  assert.deepEqual(sum.target, b.target);
  assert.deepEqual(sum.verification.notes, [said]);
  assert.deepEqual(mergeResults([A, B]).verification.notes, []);
});

test('a part whose times of successes do not add up is refused', () => {
  for (const [due, done] of [
    [
      { count: [], sumMs: [] },
      { count: [1], sumMs: [5] },
    ],
    [
      { count: [1], sumMs: [] },
      { count: [1], sumMs: [5] },
    ],
  ]) {
    const part = structuredClone(A);
    for (const operation of Object.values(part.merge?.operations ?? {}))
      operation.successTimes = { due, done };
    assert.throws(() => validateResult(part), { code: 'bad_result' });
  }
});
