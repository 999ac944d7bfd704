import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PkiLoadError } from '../../src/common/errors.js';
import { parseRequirement, withoutContradiction } from '../../src/plan/requirements.js';
import { refusal } from '../result/support.js';

/** @import { Requirement } from '../../src/plan/requirements.js' */

/** @type {[string, string, Partial<Requirement>][]} */
const GOOD = [
  [
    'rate in the unit the user chose',
    'rate>=1000/h',
    { metric: 'rate', comparator: '>=', limit: 1000 / 3600, rateUnit: 'h' },
  ],
  ['a bare rate is per second', 'rate > 20', { metric: 'rate', comparator: '>', limit: 20, rateUnit: 's' }],
  ['a rate per minute', 'rate>=90 / min', { limit: 1.5, rateUnit: 'min' }],
  ['a rate with a big number', 'rate>=1000000000/h', { limit: 1e9 / 3600, rateUnit: 'h' }],
  [
    'a percentile',
    'p99<200ms',
    { metric: 'percentile', quantile: 0.99, series: 'response', comparator: '<', limit: 200 },
  ],
  ['spaces anywhere', '  p99.9   <  1 s ', { text: 'p99.9   <  1 s', quantile: 0.999, limit: 1000 }],
  ['p999 is p99.9', 'p999<=1s', { quantile: 0.999, comparator: '<=' }],
  ['p9999 is p99.99', 'p9999<1s', { quantile: 0.9999 }],
  ['p975 is p97.5', 'p975<1s', { quantile: 0.975 }],
  ['the median', 'p50<3ms', { quantile: 0.5 }],
  ['a low percentile', 'p5>=1ms', { quantile: 0.05, comparator: '>=' }],
  ['capital letters', 'P99 (Service) < 1s', { quantile: 0.99, series: 'service' }],
  ['service time', 'p95(service)<50ms', { quantile: 0.95, series: 'service', limit: 50 }],
  ['send lag as the result names it', 'p99(sendLag)<1ms', { series: 'sendLag' }],
  ['send lag as the summary names it', 'max ( send lag ) < 1ms', { metric: 'max', series: 'sendLag' }],
  ['send lag with a dash', 'p99(send-lag)<1ms', { series: 'sendLag' }],
  ['response time by name', 'mean(response)<50ms', { metric: 'mean', series: 'response', limit: 50 }],
  ['the fastest', 'min<5us', { metric: 'min', limit: 0.005 }],
  ['composed durations', 'max<1m30s', { metric: 'max', limit: 90_000 }],
  ['errors in percent', 'errors<0.1%', { metric: 'errors', comparator: '<', limit: 0.001 }],
  ['errors as a fraction', 'errors < .01', { limit: 0.01 }],
  ['no errors at all', 'errors<=0', { comparator: '<=', limit: 0 }],
];

for (const [why, text, expected] of GOOD) {
  test(`parses ${why}: ${text}`, () => {
    const parsed = parseRequirement(text);
    assert.deepEqual({ ...parsed, ...expected }, parsed);
  });
}

test('the complete object', () => {
  assert.deepEqual(parseRequirement('p99<200ms'), {
    text: 'p99<200ms',
    metric: 'percentile',
    quantile: 0.99,
    series: 'response',
    comparator: '<',
    limit: 200,
  });
});

/** @type {[string, string, RegExp][]} what is wrong, the text, what the message must name */
const BAD = [
  ['an empty text', '', /does not begin with a metric/],
  ['no metric', '<200ms', /does not begin with a metric/],
  ['an unknown metric', 'latency<200ms', /"latency" is not a metric; use rate, errors, min/],
  ['no comparison', 'p99', /"p99" has no comparison operator; use <, <=, > or >=/],
  ['a single equals sign', 'p99=200ms', /"=" is not a comparison operator/],
  ['a comparison the wrong way round', 'rate=>5', /"=>" is not a comparison operator/],
  ['a typographic comparison', 'p99≤200ms', /"≤" is not a comparison operator/],
  ['no limit', 'p99<', /no limit after "<"/],
  ['a bare number for a time', 'p99<200', /"200" has no unit; write 200ms or 200s/],
  ['a bare number with an exponent for a time', 'p99<2e2', /"2e2" has no unit/],
  ['a bare decimal for a time', 'max<1.5', /"1.5" has no unit/],
  ['an unknown unit', 'p99<200parsec', /the limit is "200parsec", which is not a duration such as 30s/],
  ['a negative time', 'p99<-1s', /"-1s", which is not a duration/],
  ['a time of zero', 'p99<0ms', /"0ms" is not above zero/],
  ['p0', 'p0<1s', /"p0" is not a percentile between 0 and 100/],
  ['p100', 'p100<1s', /"p100" is the slowest request; write max/],
  ['more than 100 percent', 'p123<1s', /"p123" is not a percentile/],
  ['a percentile with two points', 'p9.9.9<1s', /"p9.9.9" is not a percentile/],
  [
    'an unknown kind of time',
    'p99(wait)<1s',
    /"\(wait\)" is not a kind of time; use \(response\), \(service\)/,
  ],
  ['a property of Object.prototype', 'p99(constructor)<1s', /is not a kind of time/],
  ['a kind of time for a rate', 'rate(service)>=1/s', /rate takes no "\(service\)"/],
  ['an upper limit of a rate', 'rate<=5/s', /a rate takes a lower limit; use >= or >/],
  ['a rate of zero', 'rate>=0/s', /"0\/s", which is not a rate above zero/],
  ['a rate in a time unit', 'rate>=5ms', /"5ms", which is not a rate/],
  ['a lower limit of errors', 'errors>1%', /errors take an upper limit; use < or <=/],
  ['errors without percent sign', 'errors<1', /"1" is not a fraction below 1; for percent write 1%/],
  ['errors over 100 percent', 'errors<101%', /more than 100%/],
  ['errors in words', 'errors<few', /"few" is not a percentage or a fraction, such as 0.1% or 0.001/],
  ['fewer than no errors', 'errors<0', /fewer than 0 errors; write errors<=0/],
];

test('rejects a long text before parsing, which takes quadratic time', () => {
  const text = `p99<${'1'.repeat(1_000_000)}x`;
  assert.throws(
    () => parseRequirement(text),
    refusal('bad_requirement', /^.{80,150}: it is longer than 200 char/),
  );
});

for (const [why, text, message] of BAD) {
  test(`rejects ${why}: ${text}`, () => {
    assert.throws(() => parseRequirement(text), refusal('bad_requirement', message, /Examples: 'rate>=1/));
  });
}

test('any text is a valid requirement or bad_requirement', () => {
  const pieces = 'p 9 99 . 0 rate errors max ( ) service < > = ms s /h % - e9 _'.split(' ');
  const piece = fc.constantFrom(' ', ...pieces);
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'grapheme' }),
    fc.array(piece, { maxLength: 10 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (source) => {
      try {
        const { limit, quantile, metric } = parseRequirement(source);
        assert.ok(Number.isFinite(limit) && limit >= 0);
        assert.equal(metric === 'percentile', quantile !== undefined);
        if (quantile !== undefined) assert.ok(quantile > 0 && quantile < 1);
      } catch (error) {
        assert.ok(error instanceof PkiLoadError, String(error));
        assert.equal(error.code, 'bad_requirement');
      }
    }),
    { numRuns: 200 },
  );
});

test('contradictions are found in linear time, and only between the same figures', () => {
  const one = (/** @type {string} */ text, operation = '') => ({ ...parseRequirement(text), operation });
  const fine = Array.from({ length: 5000 }, (_, i) => [
    one('p99>1s', `a${i}`),
    one('p99<1s', `b${i}`),
  ]).flat();
  assert.deepEqual(withoutContradiction([...fine, ...fine.slice(0, 3)]), fine, 'each once');
  const limits = ['p99<3s', 'p99<1s', 'p99>=0.9s', 'p99<5s', 'p99>2s'].map((text) => one(text, 'a'));
  const refused = { code: 'contradiction', message: 'p99>=0.9s and p99<0.5s cannot both be met.' };
  assert.throws(() => withoutContradiction([...fine, ...limits]), {
    message: /^p99>1s|p99>2s and p99<1s cannot/,
  });
  assert.throws(() => withoutContradiction([...limits.slice(0, 3), one('p99<0.5s', 'a')]), refused);
  const both = (/** @type {string[]} */ ...texts) => withoutContradiction(texts.map((text) => one(text)));
  assert.equal(both('p50<=5ms', 'p50>=5ms').length, 2);
  for (const [high, low] of [
    ['<', '>='],
    ['<=', '>'],
    ['<', '>'],
  ])
    assert.throws(() => both(`p50${high}5ms`, `p50${low}5ms`), { code: 'contradiction' });
});
