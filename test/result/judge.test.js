import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseRequirement } from '../../src/plan/requirements.js';
import { judgeRequirement } from '../../src/result/requirements/judge.js';
import { spread } from './sample.js';
import { histogramOf, view } from './view.js';

/** @typedef {Parameters<typeof view>[0]} Given */

/** @param {string} text @param {Given} given */
const judged = (text, given) => judgeRequirement(parseRequirement(text), view(given));

const seconds = (/** @type {number} */ count, /** @type {number} */ each) => Array(count).fill(each);

const n = (/** @type {number} */ count, from = 1, to = from) => spread(count, from, to);
const STEADY = /** @type {const} */ ({ arrivals: 'constant', allOnTime: true });
const HAIR = 0.2777777777777777;
/** Measured over so many seconds. */
const rated = (/** @type {number} */ count, ratePerSecond = 20) => {
  return { good: n(20 * count), ratePerSecond, completedPerSecond: seconds(count, ratePerSecond) };
};
const UNEVEN = { good: n(400), completedPerSecond: [...seconds(10, 19), ...seconds(10, 21)] };
const STALLED = { good: n(400), completedPerSecond: [...seconds(10, 0), ...seconds(10, 40)] };

/** @type {[string, Given, 'met' | 'not met' | 'not proven', RegExp][]} requirement, the run, verdict, reason */
const TIMES = [
  [
    'p99<50ms',
    { good: n(299, 1, 40) },
    'met',
    /^p99 is 39\.\d ms, 10\.\d ms \(2\d(\.\d)? %\) below the limit of 50\.0 ms; at 95 % confidence it is at most 40\.0 ms\.$/,
  ],
  ['p99<50ms', { good: n(298, 1, 40) }, 'not proven', /298 requests are too few .*: at least 299 are needed/],
  ['p99<50ms', { good: n(1000, 100) }, 'not met', /^p99 is 100 ms, 2 times the limit of 50/],
  ['p99<50ms', { good: [60] }, 'not met', /above/],
  ['p90<93ms', { good: n(100, 1, 99) }, 'not proven', /it could be as high as 9\d\.\d ms .* would prove it/],
  ['p50<10ms', { good: n(100, 10) }, 'not met', /exactly the limit of 10\.0 ms/],
  ['p50<=10ms', { good: n(100, 10) }, 'met', /exactly the limit of 10\.0 ms/],
  ['p99<50ms', { good: n(390, 1, 2), failed: n(10) }, 'not met', /^10 of 400 .* slower than any limit\.$/],
  ['p99<50ms', { good: n(390, 1, 2), dropped: 10 }, 'not met', /10 of 400/],
  ['p99<50ms', { good: n(390, 1, 2), waiting: n(10) }, 'not met', /10 of 400/],
  ['p90<50ms', { good: n(990, 1, 2), failed: [1] }, 'met', /at most 1\.\d+ ms/],
  ['p99<50ms', { good: n(996, 1, 2), failed: n(4) }, 'met', /below/],
  ['p99<50ms', { good: n(995, 1, 2), failed: n(5) }, 'not proven', /could fall on a request without a good/],
  ['p50>5ms', { good: n(100, 6, 9) }, 'met', /above the limit.*at 95 % confidence it is at least/],
  ['p50>5ms', { good: n(100, 6, 9), failed: n(150, 90) }, 'not met', /150 of 250 .* count as faster/],
  [
    'p50>5ms',
    { good: [...n(60, 1, 2), ...n(60, 8, 9)], failed: n(30, 90) },
    'not met',
    /^p50 is 1\.\d+ ms, .* below the limit of 5\.00 ms; 30 of 150 requests had no good response and count as faster/,
  ],
  ['p50(service)<50ms', { good: n(100, 1, 2) }, 'met', /^p50 of the service time is/],
  ['p999<1s', { good: n(5000, 1, 2) }, 'met', /^p99\.9 is/],
  [
    'max<2s',
    { good: [1, 2, 3] },
    'met',
    /^Max is 3\.00 ms, .* limit of 2\.00 s; it describes this run only\.$/,
  ],
  ['max<2s', { good: [1, 2], failed: [3000] }, 'not met', /Max is 3\.00 s, 1\.00 s \(50 %\) above the limit/],
  ['max<2s', { good: [1, 2], failed: [1000] }, 'not proven', /1 of 3 requests .* times are unknown/],
  ['max<2s', { good: [1, 2], dropped: 1 }, 'not proven', /1 of 3/],
  ['min<2ms', { good: [1, 9], failed: [0.1] }, 'met', /Min is 1\.00 ms/],
  ['min<2ms', { good: [9], failed: [0.1] }, 'not met', /Min is 9\.00 ms/],
  ['max>2s', { good: [1, 2500], failed: [1] }, 'met', /Max is 2\.50 s/],
  ['max>2s', { good: [1], failed: [9000] }, 'not met', /Max is 1\.00 ms/],
  ['mean<5ms', { good: n(30, 1, 3) }, 'met', /Mean is 2\.\d+ ms/],
  [
    'mean<5ms',
    { good: n(30, 1, 3), timeoutMs: 60_000 },
    'not proven',
    /between 1\.\d+ ms and 5\.\d+ s; more requests, or a shorter --timeout, would decide it/,
  ],
  ['mean>98ms', { good: n(50, 100) }, 'not proven', /between 9\d\.\d ms and 100 ms; more requests would/],
  [
    'mean<5ms',
    { good: [10], failed: [0, 0, 0] },
    'not proven',
    /Mean is 10\.0 ms.*more requests would decide it/,
  ],
  ['mean<5ms', { good: n(30, 10), failed: [0, 0, 0] }, 'not met', /Mean is 10\.0 ms/],
  [
    'mean<5ms',
    { good: n(30, 1), failed: n(2, 99) },
    'not proven',
    /Mean is 7\.\d+ ms.*lies between 1\.\d+ ms and 18\.\d ms/,
  ],
  ['mean<5ms', { good: n(50, 1), failed: n(50, 99) }, 'not met', /Mean is 50\.0 ms/],
  ['min<5ms', { failed: [1] }, 'not met', /1 of 1 requests had no good response/],
  ['p99<50ms', {}, 'not proven', /^Nothing was measured\.$/],
  ['max<2s', { good: [1], measurementValid: false }, 'not proven', /is invalid, so this proves nothing\.$/],
  ['max<2ms', { good: [3], measurementValid: false }, 'not met', /above the limit of 2\.00 ms\.$/],
];

/** @type {typeof TIMES} */
const ERRORS = [
  [
    'errors<0.1%',
    { good: n(3000) },
    'met',
    /^0 % of requests failed \(0 of 3,000\); the limit is 0\.1 %; at 95 % confidence it is at most 0\.0998 %\.$/,
  ],
  ['errors<0.1%', { good: n(100) }, 'not proven', /at most 2\.95 %; about 2,995 requests like these would/],
  [
    'errors<0.1%',
    { good: n(99), failed: [1] },
    'not proven',
    /^1 % of requests failed \(1 of 100\); .*0\.1 %; .* at least 0\.0513 %; more/,
  ],
  [
    'errors<0.1%',
    { good: n(95), failed: n(5) },
    'not met',
    /^5 % of requests failed \(5 of 100\); .*0\.1 %\.$/,
  ],
  ['errors<1%', { good: n(92), dropped: 4, waiting: n(4) }, 'not met', /8 % of requests failed \(8 of 100\)/],
  ['errors<1%', { good: n(9950), failed: n(50) }, 'met', /0\.5 % of requests failed \(50 of 10,000\)/],
  ['errors<1%', { good: n(995), failed: n(5) }, 'not proven', /about 1,\d00 requests like these would prove/],
  ['errors<=1%', { good: n(990), failed: n(10) }, 'not proven', /too close to the limit for any number/],
  ['errors<=0', { good: [1] }, 'met', /^0 % of requests failed \(0 of 1\); the limit is 0 %\.$/],
  [
    'errors<=0',
    { good: [1], failed: [1] },
    'not met',
    /50 % of requests failed \(1 of 2\); the limit is 0 %/,
  ],
  ['errors<=0', {}, 'not proven', /^Nothing was measured\.$/],
];

/** @type {typeof TIMES} */
const RATES = [
  [
    'rate>=1000/h',
    { good: n(400) },
    'met',
    /^The rate is 72,000\/h, 72 times .*; at 95 % .* at least 71,820\/h\.$/,
  ],
  ['rate>=1000000000/h', { good: n(400) }, 'not met', /72,000\/h, 999,928,000\/h \(>99\.9 %\) below/],
  ['rate>=1000/h', { good: [1], ratePerSecond: 500 / 3600 }, 'not met', / is 500\/h, 500\/h \(50 %\) below/],
  [
    'rate>=1000/h',
    { ...rated(9, HAIR), ...STEADY, offeredPerSecond: HAIR },
    'met',
    /^The rate is 1,000\/h, exactly the limit of 1,000\/h/,
  ],
  ['rate>=10/s', rated(1), 'not proven', /at least 7\.\d+\/s; run it longer/],
  ['rate>=10/s', rated(4), 'met', /at least 1\d(\.\d)?\/s/],
  ['rate>=10/s', rated(5), 'met', /at least 19\.8\/s/],
  ['rate>=19.9/s', rated(5), 'not proven', /at least 19\.8\/s; run it longer/],
  ['rate>=19/s', STALLED, 'not proven', /at least 1\d(\.\d)?\/s; run it longer/],
  ['rate>=20/s', UNEVEN, 'not proven', /too close to the limit for any duration/],
  ['rate>=20/s', { ...UNEVEN, ...STEADY }, 'met', /every request offered \(20\/s\) succeeded/],
  [
    'rate>=1000/h',
    { good: n(6), ratePerSecond: 1000 / 3600, ...STEADY, offeredPerSecond: 1000 / 3600 },
    'met',
    /every request offered \(1,000\/h\) succeeded/,
  ],
  [
    'rate>=1000/h',
    { good: n(4), ratePerSecond: 1000 / 3600, ...STEADY, offeredPerSecond: 1000 / 3600 },
    'not proven',
    /exactly the limit.*run it longer/,
  ],
  ['rate>=20/s', { ...rated(3), ...STEADY }, 'met', /every request offered \(20\/s\) succeeded/],
  ['rate>20/s', { good: n(400), ...STEADY }, 'not met', /exactly the limit of 20\/s/],
  ['rate>=1/s', {}, 'not proven', /^Nothing was measured\.$/],
];

const MANY = n(10_000, 5);
/** @type {typeof TIMES} */
const UNCHECKED = [
  ['errors<1%', { good: MANY, unchecked: 10 }, 'met', /0 %/],
  ['errors<1%', { good: MANY, unchecked: 200 }, 'not proven', /were not checked/],
  ['p99<200ms', { good: MANY, unchecked: 200 }, 'not proven', /were not checked/],
  ['rate>=490/s', { good: MANY, unchecked: 1000 }, 'not proven', /were not checked/],
  ['rate>=10/s', { good: MANY, unchecked: 1000 }, 'met', /The rate/],
  ['p99<1ms', { good: MANY, unchecked: 200 }, 'not met', /5 times/],
  ['max<2s', { good: MANY, unchecked: 200 }, 'not proven', /were not checked/],
  ['errors<1%', { good: MANY, rested: 50 }, 'met', /0 %/],
  ['errors<1%', { good: MANY, rested: 200 }, 'not proven', /would have sent about 200 further requests/],
  ['p99<200ms', { good: MANY, rested: 200 }, 'not proven', /connections rested after failed connects/],
  [
    'errors<10%',
    { good: MANY, unchecked: 700, rested: 700 },
    'not proven',
    /connections rested after failed connects/,
  ],
  ['rate>=490/s', { good: MANY, rested: 200 }, 'met', /The rate/],
  ['p50>1ms', { good: MANY, unchecked: 6000 }, 'not proven', /were not checked/],
];

/** Of all of them 30 ms may be the tool's. @param {number} ms */
const late = (ms) => ({ good: n(1000, ms), late: { target: histogramOf(n(1000, ms - 30)) } });
/** @type {typeof TIMES} */
const LATENESS = [
  [
    'errors<1%',
    { good: n(970), failed: n(30), toolErrors: 25 },
    'not proven',
    /^3 % of requests failed .*; up to 25 of them may be due to this tool or its token, or were cut off: repeat the run, with more CPU/,
  ],
  ['errors<1%', { good: n(970), failed: n(30), toolErrors: 2 }, 'not met', /^3 % of requests failed/],
  ['min<1s', { good: [], failed: n(5) }, 'not met', /^5 of 5 requests had no good response\.$/],
  ['min<1s', { good: [], failed: n(5), toolErrors: 5 }, 'not proven', /up to 5 of them .* were cut off/],
  ['max>1ms', { good: [], failed: n(5), toolErrors: 5 }, 'not proven', /up to 5 of them .* were cut off/],
  [
    'p99<50ms',
    { good: n(970, 1, 2), failed: n(30), toolErrors: 30 },
    'not proven',
    /30 of 1,000 requests.*; up to 30 of them may be due to this tool or its token, or were cut off: repeat the run, with more CPU/,
  ],
  ['p99<50ms', { good: n(970, 1, 2), failed: n(30), toolErrors: 2 }, 'not met', /30 of 1,000 requests/],
  ['p99<200ms', late(100), 'met', /at most 100 ms/],
  [
    'p99<90ms',
    late(100),
    'not proven',
    /above the limit of 90.0 ms; up to 30\.\d ms of it may be this tool's own/,
  ],
  ['p99<60ms', late(100), 'not met', /above/],
  ['p99<90ms', late(100), 'not proven', /up to 30\.\d ms of it may be/],
  ['p99<60ms', late(100), 'not met', /above/],
  ['p50>90ms', late(100), 'not proven', /above the limit of 90.0 ms; up to 30\.\d ms of it may be/],
  ['p50>60ms', late(100), 'met', /at least 70\.0 ms/],
  ['max<90ms', late(100), 'not proven', /up to 30\.\d ms of it may be/],
  ['mean<98ms', late(100), 'not proven', /up to 30\.\d+ ms of it may be/],
  ['mean<66ms', late(100), 'not met', /above/],
  [
    'rate>=30/s',
    { good: n(400), slowdown: 2 },
    'not proven',
    /short of CPU .* may be as high as 40\.1\/s; give/,
  ],
  [
    'rate>=45/s',
    { ...rated(1), slowdown: 1.2 },
    'not proven',
    /short of CPU .* it may be .*; give the tool more CPU, and run it longer/,
  ],
  ['rate>=50/s', { good: n(400), slowdown: 2 }, 'not met', /below/],
  ['rate>=10/s', { good: n(400), slowdown: 2 }, 'met', /at least 19\.9\/s/],
  ['rate>=50/s', { good: n(400), slowdown: Number.POSITIVE_INFINITY }, 'not proven', /it may be higher/],
];

for (const [what, table] of Object.entries({ TIMES, ERRORS, RATES, UNCHECKED, LATENESS })) {
  test(`requirements are judged: ${what.toLowerCase()}`, () => {
    for (const [text, given, verdict, reason] of table) {
      const found = judged(text, given);
      assert.equal(found.verdict, verdict, `${text}: ${found.reason}`);
      assert.match(found.reason, reason);
      assert.equal(found.text, text);
    }
  });
}

test('every unproven requirement has a doubt', () => {
  const doubt = (/** @type {string} */ text, /** @type {Given} */ given) => judged(text, given).doubt;
  assert.equal(doubt('p99<200ms', { good: MANY, unchecked: 200 }), 'unchecked');
  assert.equal(doubt('p99<200ms', { good: MANY, unchecked: 10 }), undefined);
  assert.equal(doubt('p99<200ms', { good: MANY, rested: 200 }), 'rested');
  assert.equal(doubt('p99<200ms', { good: MANY, measurementValid: false }), 'invalid');
  assert.equal(doubt('p99<200ms', { good: n(50) }), 'sample');
  assert.equal(doubt('p99<90ms', late(100)), 'tool');
  assert.equal(
    doubt('p99<99.8ms', { good: n(200, 90, 100), late: { target: histogramOf(n(200, 60, 70)) } }),
    'both',
  );
  assert.equal(doubt('rate>=30/s', { good: n(400), slowdown: 2 }), 'tool');
});

test('the verdict includes its error bar', () => {
  const { low, high } = judged('p99<200ms', late(100));
  assert.deepEqual([Math.round(Number(low)), high], [70, 100]);
  assert.deepEqual(judged('p99<1s', { good: n(50) }).high, null);
});

test('actual and limit are in ms, per second, or a fraction', () => {
  const run = { good: spread(400, 1, 2), failed: [9] };
  const figures = (/** @type {string} */ text) => {
    const { actual, limit, unit } = judged(text, run);
    return [actual, limit, unit];
  };
  assert.deepEqual(figures('p50<2s'), [1.501, 2000, 'ms']);
  assert.deepEqual(figures('rate>=3600/h'), [20, 1, '/s']);
  assert.deepEqual(figures('errors<1%'), [1 / 401, 0.01, 'fraction']);
});

test('the stated number of requests is enough to prove it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 20, max: 3000 }), fc.integer({ min: 0, max: 20 }), (n, misses) => {
      const first = judged('errors<2%', { good: spread(n, 1, 1), failed: spread(misses, 1, 1) });
      const needed = Number(/about ([\d,]+) requests/.exec(first.reason)?.[1].replaceAll(',', ''));
      fc.pre(first.verdict === 'not proven' && needed < 1e6);
      const more = Math.floor((misses / (n + misses)) * needed);
      const later = judged('errors<2%', { good: spread(needed - more, 1, 1), failed: spread(more, 1, 1) });
      assert.equal(later.verdict, 'met', first.reason);
    }),
    { numRuns: 60 },
  );
});

const ages = fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 60 });
const requirement = fc
  .tuple(
    fc.constantFrom('p1', 'p50', 'p90', 'p99', 'min', 'mean', 'max'),
    fc.constantFrom('<', '<=', '>', '>='),
    fc.integer({ min: 1, max: 100 }),
  )
  .map(([metric, comparator, limit]) => `${metric}${comparator}${limit}ms`);
const anyRequirement = fc.oneof(
  requirement,
  fc.constantFrom('errors<=0', 'errors<10%', 'errors<50%', 'rate>=1/s', 'rate>2/s'),
);
const RANK = { 'not met': 0, 'not proven': 1, met: 2 };

test('an additional failure never helps: not met stays not met, and nothing becomes met', () => {
  fc.assert(
    fc.property(anyRequirement, ages, ages, ages, fc.nat(5), fc.boolean(), (text, good, failed, ...worse) => {
      const [extra, dropped, asWaiting] = worse;
      fc.pre(good.length + failed.length > 0);
      const before = judged(text, { good, failed });
      const more = asWaiting ? { waiting: extra } : { failed: [...failed, ...extra] };
      const after = judged(text, { good, failed, ...more, dropped });
      assert.ok(before.verdict === 'met' || after.verdict !== 'met', `${before.reason} -> ${after.reason}`);
    }),
    { numRuns: 100 },
  );
});

test('a looser limit never gets a worse verdict', () => {
  fc.assert(
    fc.property(requirement, ages, ages, (text, good, failed) => {
      const parsed = parseRequirement(text);
      const loosened = { ...parsed, limit: parsed.limit + (parsed.comparator[0] === '<' ? 7 : -0.5) };
      const run = view({ good, failed });
      assert.ok(RANK[judgeRequirement(loosened, run).verdict] >= RANK[judgeRequirement(parsed, run).verdict]);
    }),
    { numRuns: 100 },
  );
});

test('requirements on the mean of the same times share its bar, which takes long in a wide histogram', () => {
  let read = 0;
  const reported = histogramOf(n(1000, 1, 90));
  const times = {
    reported,
    get target() {
      read++;
      return reported;
    },
  };
  const given = view({ good: n(1000, 1, 90) });
  const shared = {
    ...given,
    series: { ...given.series, response: times },
    all: { ...given.all, response: times },
  };
  const verdicts = ['mean<1h', 'mean<1m', 'mean<1ms', 'mean>1m'].map(
    (text) => judgeRequirement(parseRequirement(text), shared).verdict,
  );
  assert.deepEqual(verdicts, ['met', 'met', 'not met', 'not met']);
  assert.equal(read, 1);
});
