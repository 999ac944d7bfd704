import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { judgeRequirement } from '../../src/results/requirements/judge.js';
import { parseRequirement } from '../../src/results/requirements/requirements.js';
import { spread } from './sample.js';
import { view } from './view.js';

/** @typedef {Parameters<typeof view>[0]} Given */

const seconds = (/** @type {number} */ n, /** @type {number} */ perSecond) =>
  Array.from({ length: n }, () => perSecond);

/** @type {[string, string, Given, string, RegExp][]} why, requirement, the run, verdict, reason */
const CASES = [
  [
    '299 good ones are the fewest that prove a p99',
    'p99<50ms',
    { good: spread(299, 1, 40) },
    'met',
    /^p99 is 39\.\d ms, 10\.\d ms \(2\d(\.\d)? %\) below the limit of 50\.0 ms; at 95 % confidence it is at most 40\.0 ms\.$/,
  ],
  [
    '298 do not',
    'p99<50ms',
    { good: spread(298, 1, 40) },
    'not proven',
    /298 requests are too few to prove it, at least 299 are needed/,
  ],
  [
    '20 samples prove no p99',
    'p99<50ms',
    { good: spread(20, 1, 2) },
    'not proven',
    /20 requests are too few to prove it, at least 299 are needed/,
  ],
  [
    'a percentile over the limit, and by how much',
    'p99<50ms',
    { good: spread(1000, 100, 100) },
    'not met',
    /^p99 is 100 ms, 50\.0 ms \(100 %\) above the limit of 50\.0 ms\.$/,
  ],
  ['over the limit needs no proof', 'p99<50ms', { good: [60] }, 'not met', /above/],
  [
    'within the limit, but the bound is not',
    'p90<93ms',
    { good: spread(100, 1, 99) },
    'not proven',
    /it could be as high as 9\d\.\d ms \(95 % confidence\); about [\d,]+ requests like these would prove it/,
  ],
  [
    'on the limit: < is not met',
    'p50<10ms',
    { good: spread(100, 10, 10) },
    'not met',
    /exactly the limit of 10\.0 ms/,
  ],
  [
    'on the limit: <= is met',
    'p50<=10ms',
    { good: spread(100, 10, 10) },
    'met',
    /exactly the limit of 10\.0 ms/,
  ],
  [
    'failures count as slower than any limit',
    'p99<50ms',
    { good: spread(390, 1, 2), failed: spread(10, 1, 1) },
    'not met',
    /^10 of 400 requests had no good answer and count as slower than any limit\.$/,
  ],
  ['dropped ones too', 'p99<50ms', { good: spread(390, 1, 2), dropped: 10 }, 'not met', /10 of 400/],
  [
    'and those still waiting',
    'p99<50ms',
    { good: spread(390, 1, 2), waiting: spread(10, 1, 1) },
    'not met',
    /10 of 400/,
  ],
  [
    'a few failures below the percentile are borne',
    'p90<50ms',
    { good: spread(990, 1, 2), failed: [1] },
    'met',
    /at most 1\.\d+ ms/,
  ],
  [
    'failures that the bound may fall on',
    'p99<50ms',
    { good: spread(996, 1, 2), failed: spread(4, 1, 1) },
    'met',
    /below/,
  ],
  [
    'one failure more',
    'p99<50ms',
    { good: spread(995, 1, 2), failed: spread(5, 1, 1) },
    'not proven',
    /could fall on a request without a good answer/,
  ],
  [
    'at least, mirrored: met',
    'p50>5ms',
    { good: spread(100, 6, 9) },
    'met',
    /above the limit.*at 95 % confidence it is at least/,
  ],
  [
    'at least, mirrored: failures count as faster',
    'p50>5ms',
    { good: spread(100, 6, 9), failed: spread(101, 90, 90) },
    'not met',
    /101 of 201 requests had no good answer and count as faster/,
  ],
  [
    'at least, mirrored: failures take the lowest ranks',
    'p50>5ms',
    { good: [...spread(60, 1, 2), ...spread(60, 8, 9)], failed: spread(30, 90, 90) },
    'not met',
    /^p50 is 1\.\d+ ms, .* below the limit of 5\.00 ms; 30 of 150 requests had no good answer and count as faster/,
  ],
  ['another series', 'p50(service)<50ms', { good: spread(100, 1, 2) }, 'met', /^p50 of the service time is/],
  ['p99.9 is called so', 'p999<1s', { good: spread(5000, 1, 2) }, 'met', /^p99\.9 is/],

  [
    'the slowest, as observed',
    'max<2s',
    { good: [1, 2, 3] },
    'met',
    /^Max is 3\.00 ms, .* below the limit of 2\.00 s, as observed in this run\.$/,
  ],
  [
    'a failure that took longer',
    'max<2s',
    { good: [1, 2], failed: [3000] },
    'not met',
    /Max is 3\.00 s, 1\.00 s \(50 %\) above the limit/,
  ],
  [
    'a failure that was given up before the limit',
    'max<2s',
    { good: [1, 2], failed: [1000] },
    'not proven',
    /1 of 3 requests had no good answer, and how long one would have taken is unknown/,
  ],
  ['a dropped request has no age', 'max<2s', { good: [1, 2], dropped: 1 }, 'not proven', /1 of 3/],
  ['one fast answer proves a minimum', 'min<2ms', { good: [1, 9], failed: [0.1] }, 'met', /Min is 1\.00 ms/],
  ['a fast failure does not', 'min<2ms', { good: [9], failed: [0.1] }, 'not met', /Min is 9\.00 ms/],
  [
    'one slow answer proves a maximum at least',
    'max>2s',
    { good: [1, 2500], failed: [1] },
    'met',
    /Max is 2\.50 s/,
  ],
  ['a slow failure does not', 'max>2s', { good: [1], failed: [9000] }, 'not met', /Max is 1\.00 ms/],
  ['the mean', 'mean<5ms', { good: [1, 2, 3] }, 'met', /Mean is 2\.00 ms/],
  [
    'fast failures do not lower the mean',
    'mean<5ms',
    { good: [10], failed: [0, 0, 0] },
    'not met',
    /Mean is 10\.0 ms/,
  ],
  ['slow failures raise it', 'mean<5ms', { good: [1], failed: [99] }, 'not met', /Mean is 50\.0 ms/],
  ['no good answer, no time', 'min<5ms', { failed: [1] }, 'not met', /1 of 1 requests had no good answer/],

  [
    '3,000 without an error show less than 0.1 %',
    'errors<0.1%',
    { good: spread(3000, 1, 1) },
    'met',
    /^0 % of requests failed \(0 of 3,000\); the limit is 0\.1 %; at 95 % confidence it is at most 0\.0998 %\.$/,
  ],
  [
    '100 do not',
    'errors<0.1%',
    { good: spread(100, 1, 1) },
    'not proven',
    /at most 2\.95 %; about 2,995 requests like these would prove it/,
  ],
  [
    'an error in 100 is 1 %',
    'errors<0.1%',
    { good: spread(99, 1, 1), failed: [1] },
    'not met',
    /^1 % of requests failed \(1 of 100\); the limit is 0\.1 %\.$/,
  ],
  [
    'dropped and waiting ones are errors',
    'errors<1%',
    { good: spread(98, 1, 1), dropped: 1, waiting: [1] },
    'not met',
    /2 % of requests failed \(2 of 100\)/,
  ],
  [
    'some errors, few enough',
    'errors<1%',
    { good: spread(9950, 1, 1), failed: spread(50, 1, 1) },
    'met',
    /0\.5 % of requests failed \(50 of 10,000\)/,
  ],
  [
    'some errors, too few requests',
    'errors<1%',
    { good: spread(995, 1, 1), failed: spread(5, 1, 1) },
    'not proven',
    /about 1,\d00 requests like these would prove it/,
  ],
  [
    'at the limit itself no number is enough',
    'errors<=1%',
    { good: spread(990, 1, 1), failed: spread(10, 1, 1) },
    'not proven',
    /too close to the limit for any number/,
  ],
  ['none at all', 'errors<=0', { good: [1] }, 'met', /None of 1 requests failed in this run/],
  [
    'not even one',
    'errors<=0',
    { good: [1], failed: [1] },
    'not met',
    /50 % of requests failed \(1 of 2\); none may/,
  ],

  [
    'a rate far above, steady',
    'rate>=1000/h',
    { good: spread(400, 1, 1) },
    'met',
    /^The rate is 72,000\/h, 72 times the limit of 1,000\/h; at 95 % confidence it is at least 72,000\/h\.$/,
  ],
  [
    'a rate that fell short, and by how much',
    'rate>=1000000000/h',
    { good: spread(400, 1, 1) },
    'not met',
    /^The rate is 72,000\/h, 999,928,000\/h \(>99\.9 %\) below the limit of 1,000,000,000\/h\.$/,
  ],
  [
    'a rate a little short',
    'rate>=1000/h',
    { good: [1], ratePerSecond: 900 / 3600 },
    'not met',
    /The rate is 900\/h, 100\/h \(10 %\) below the limit of 1,000\/h/,
  ],
  [
    'a rate that is the limit but for rounding',
    'rate>=1000/h',
    { good: [1], ratePerSecond: 0.2777777777777777, completedPerSecond: seconds(9, 0.2777777777777777) },
    'met',
    /^The rate is 1,000\/h, exactly the limit of 1,000\/h/,
  ],
  [
    'four seconds prove no rate',
    'rate>=10/s',
    { good: spread(80, 1, 1), ratePerSecond: 20, completedPerSecond: seconds(4, 20) },
    'not proven',
    /4 full seconds are too few to prove it, at least 5 are needed/,
  ],
  [
    'five do',
    'rate>=10/s',
    { good: spread(100, 1, 1), ratePerSecond: 20, completedPerSecond: seconds(5, 20) },
    'met',
    /at least 20\/s/,
  ],
  [
    'an unsteady rate',
    'rate>=19/s',
    { good: spread(400, 1, 1), completedPerSecond: [...seconds(10, 0), ...seconds(10, 40)] },
    'not proven',
    /it is at least 1\d\.\d\/s; about \d,\d+ s like these would prove it|at least 1\d\/s/,
  ],
  [
    'a rate at the limit itself',
    'rate>=20/s',
    { good: spread(400, 1, 1), completedPerSecond: [...seconds(10, 19), ...seconds(10, 21)] },
    'not proven',
    /too close to the limit for any duration/,
  ],
  [
    'constant arrivals that all succeeded',
    'rate>=20/s',
    {
      good: spread(400, 1, 1),
      arrivals: 'constant',
      allOnTime: true,
      completedPerSecond: [...seconds(10, 19), ...seconds(10, 21)],
    },
    'met',
    /all that was offered, 20\/s, succeeded/,
  ],
  [
    'the window may cut a constant rate by a hair',
    'rate>=1000/h',
    {
      good: spread(6, 1, 1),
      ratePerSecond: 0.27,
      arrivals: 'constant',
      allOnTime: true,
      offeredPerSecond: 1000 / 3600,
    },
    'met',
    /all that was offered, 1,000\/h, succeeded/,
  ],
  [
    'constant arrivals for too short',
    'rate>=20/s',
    {
      good: spread(60, 1, 1),
      ratePerSecond: 20,
      arrivals: 'constant',
      allOnTime: true,
      completedPerSecond: seconds(3, 20),
    },
    'not proven',
    /3 full seconds/,
  ],
  [
    'more than what was offered',
    'rate>20/s',
    { good: spread(400, 1, 1), arrivals: 'constant', allOnTime: true },
    'not met',
    /exactly the limit of 20\/s/,
  ],

  ['nothing was measured: times', 'p99<50ms', {}, 'not proven', /^Nothing was measured\.$/],
  ['nothing was measured: rate', 'rate>=1/s', {}, 'not proven', /^Nothing was measured\.$/],
  ['nothing was measured: errors', 'errors<=0', {}, 'not proven', /^Nothing was measured\.$/],
  [
    'an invalid measurement proves nothing',
    'max<2s',
    { good: [1], measurementValid: false },
    'not proven',
    /But the measurement is invalid, so this proves nothing\.$/,
  ],
  [
    'an invalid measurement excuses nothing',
    'max<2ms',
    { good: [3], measurementValid: false },
    'not met',
    /above the limit of 2\.00 ms\.$/,
  ],
];

for (const [why, text, given, verdict, reason] of CASES) {
  test(`${text}: ${why}`, () => {
    const judged = judgeRequirement(parseRequirement(text), view(given));
    assert.equal(judged.verdict, verdict, judged.reason);
    assert.match(judged.reason, reason);
    assert.equal(judged.text, text);
  });
}

test('the numbers are in plain units', () => {
  const run = view({ good: spread(400, 1, 2), failed: [9] });
  const figures = (/** @type {string} */ text) => {
    const { actual, limit, unit } = judgeRequirement(parseRequirement(text), run);
    return [actual, limit, unit];
  };
  assert.deepEqual(figures('p50<2s'), [1.5012531328320802, 2000, 'ms']);
  assert.deepEqual(figures('rate>=3600/h'), [20, 1, '/s']);
  assert.deepEqual(figures('errors<1%'), [1 / 401, 0.01, 'fraction']);
});

test('the number of requests that would prove it does prove it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 20, max: 3000 }), fc.integer({ min: 0, max: 20 }), (n, misses) => {
      const judged = judgeRequirement(
        parseRequirement('errors<2%'),
        view({ good: spread(n, 1, 1), failed: spread(misses, 1, 1) }),
      );
      const needed = Number(/about ([\d,]+) requests/.exec(judged.reason)?.[1].replaceAll(',', ''));
      fc.pre(judged.verdict === 'not proven' && needed < 1e6);
      const more = Math.floor((misses / (n + misses)) * needed);
      const later = view({ good: spread(needed - more, 1, 1), failed: spread(more, 1, 1) });
      assert.equal(judgeRequirement(parseRequirement('errors<2%'), later).verdict, 'met', judged.reason);
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

test('a failure more never helps: not met stays not met, and nothing becomes met', () => {
  fc.assert(
    fc.property(
      anyRequirement,
      ages,
      ages,
      ages,
      fc.nat(5),
      fc.boolean(),
      (text, good, failed, extra, drops, asWaiting) => {
        fc.pre(good.length + failed.length > 0);
        const parsed = parseRequirement(text);
        const before = judgeRequirement(parsed, view({ good, failed }));
        const worse = asWaiting ? { waiting: extra } : { failed: [...failed, ...extra] };
        const after = judgeRequirement(parsed, view({ good, failed, ...worse, dropped: drops }));
        if (before.verdict !== 'met')
          assert.notEqual(after.verdict, 'met', `${before.reason} -> ${after.reason}`);
      },
    ),
    { numRuns: 200 },
  );
});

test('a looser limit is never judged worse', () => {
  fc.assert(
    fc.property(requirement, ages, ages, (text, good, failed) => {
      const parsed = parseRequirement(text);
      const loosened = {
        ...parsed,
        limit: parsed.comparator[0] === '<' ? parsed.limit + 7 : parsed.limit - 0.5,
      };
      const run = view({ good, failed });
      assert.ok(RANK[judgeRequirement(loosened, run).verdict] >= RANK[judgeRequirement(parsed, run).verdict]);
    }),
    { numRuns: 200 },
  );
});
