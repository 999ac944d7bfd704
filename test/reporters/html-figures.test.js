import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorsOverTime } from '../../src/reporters/html/charts/errors.js';
import { latencyDistribution } from '../../src/reporters/html/charts/latency-distribution.js';
import { latencyOverTime } from '../../src/reporters/html/charts/latency-over-time.js';
import { rates } from '../../src/reporters/html/charts/rates.js';
import { sendLag } from '../../src/reporters/html/charts/send-lag.js';
import { clockOf } from '../../src/reporters/html/clock.js';
import { STYLE } from '../../src/reporters/html/style.js';
import { render } from '../../src/reporters/html.js';
import { formatLatency } from '../../src/units.js';
import { closedLoad, sampleResult, spread, timelineOf } from '../results/sample.js';
import { HARD_RESULTS, row, timeline, withoutCode } from './html-samples.js';
import { SAMPLES } from './samples.js';

/** @typedef {import('../../src/results/schema.js').Result} Result */

/** 157 sent and succeeded, 243 due and never sent. */
const BACKLOG = sampleResult([
  { outcome: 'issued', service: spread(157, 1000, 2000), lag: 3000 },
  { outcome: 'never_sent', service: spread(243, 9000, 16_000) },
]);

/** @param {string} html @param {string} name @returns {string | undefined} what a tile says */
function tile(html, name) {
  return new RegExp(`<dt>${name}</dt><dd>(.*?)</dd>`).exec(html)?.[1];
}

/** @param {import('../../src/reporters/html/time-figure.js').Drawn} drawn */
function said({ html }) {
  return /<p>([^<]*)<\/p>/.exec(html)?.[1];
}

test('what was never sent is an error on the page as it is everywhere', () => {
  const html = render(BACKLOG);
  assert.equal(tile(html, 'Errors'), '243 <small>60.8 % of 400 due</small>');
  assert.doesNotMatch(withoutCode(html), /has failed|no error/);
});

test('the share of errors is the one of the result', () => {
  for (const [name, result] of Object.entries({ ...SAMPLES, ...HARD_RESULTS })) {
    const below = /<small>(.*)<\/small>/.exec(tile(render(result), 'Errors') ?? '')?.[1] ?? '';
    assert.match(below, result.errorShare === null ? /^none was due$/ : / of [\d,]+ due$/, name);
  }
});

const GOOD = (/** @type {number} */ lag) =>
  sampleResult([{ outcome: 'good', service: spread(100, 1, 9), lag }]);
const ONE_DROPPED = sampleResult([{ outcome: 'good', service: [1] }], { counts: { dropped: 1 } });
const CLOSED = sampleResult([{ outcome: 'good', service: [1, 2] }], { load: closedLoad() });

/** @param {number} seconds @param {(second: number) => number} failed @returns {Result} */
const failing = (seconds, failed) =>
  sampleResult([], {
    timeline: timeline(seconds, (second) => row(second, { failed: failed(second), failures: {} })),
  });

/** @type {[string, Result, RegExp][]} */
const ERRORS = [
  [
    'never sent',
    BACKLOG,
    /^243 requests were due and never sent: not drawn, as they belong to no second\. There is nothing to draw\.$/,
  ],
  ['one dropped', ONE_DROPPED, /^1 request was dropped: not drawn, as it belongs to no second\./],
  ['none at all', sampleResult([{ outcome: 'good', service: [1] }]), /^There was no error\.$/],
  [
    'as many in each second',
    failing(20, () => 2),
    /^40 requests failed, 2 in each second that has any, first in second 0\.$/,
  ],
  [
    'one with more',
    failing(20, (at) => (at === 7 ? 5 : 1)),
    /^24 requests failed, at most 5 in a second, first in second 7\.$/,
  ],
  ['a single one', failing(20, (at) => Number(at === 7)), /^1 request failed, in second 7\.$/],
  [
    'in a run of hours',
    failing(7200, (at) => Number(at === 5000)),
    /^1 request failed, between 1:22:00 and 1:23:59\.$/,
  ],
];

for (const [why, result, expected] of ERRORS) {
  test(`what is said of errors is true: ${why}`, () =>
    assert.match(String(said(errorsOverTime(result))), expected));
}

/** @type {[string, Result, RegExp, boolean][]} sentence, and whether there is a shaded gap */
const GAPS = [
  ['some never sent', BACKLOG, /243 requests that were never sent are in the response time only/, false],
  ['they waited', GOOD(40), /The shaded gap is/, true],
  [
    'they did not wait',
    GOOD(0.02),
    /or nearly so: 99 % of requests were sent within 20 µs of when they were due\./,
    true,
  ],
  [
    'one',
    sampleResult([{ outcome: 'good', service: [1.5], lag: 4 }]),
    /^The one request took 5\.50 ms\. The shaded gap/,
    true,
  ],
  ['closed', CLOSED, /In a closed loop/, true],
];

for (const [why, result, expected, shaded] of GAPS) {
  test(`the gap between the times is told as it is: ${why}`, () => {
    const drawn = latencyDistribution(result);
    assert.match(String(said(drawn)), expected);
    assert.equal(drawn.html.includes('class="between"'), shaded);
    if (!/shaded gap/.test(expected.source)) assert.doesNotMatch(String(said(drawn)), /shaded gap is/i);
  });
}

test('at 1000 an hour percentiles are of a minute each, and differ', () => {
  const drawn = latencyOverTime(HARD_RESULTS['1000 an hour for six minutes']);
  assert.match(drawn.html, /<h3>Response time, over 1 min each<\/h3>/);
  assert.match(String(said(drawn)), /^Over 1 min each, p50 was between/);
  const { values, at } = drawn.charts['latency-over-time'];
  assert.ok(values.every(([p50, p90]) => p50 !== p90));
  assert.equal(at[0], '0:00:00 to 0:00:59');
  assert.doesNotMatch(String(said(drawn)), /gaps/);
});

test('fewer than one a second are drawn by the hour', () => {
  const { html, charts } = rates(HARD_RESULTS['1000 an hour for six minutes']);
  assert.match(html, />requests per hour</);
  assert.match(charts.rates.values[0][0], /^(?:960|1,080)\/h$/);
  assert.match(rates(HARD_RESULTS['ten million samples']).html, />requests per second</);
});

test('a text of several words is no column a word wide', () => {
  const html = render(HARD_RESULTS['long names']);
  assert.match(html, /<th scope="row" class="long">http_<wbr>503_<wbr>local_<wbr>node/);
  assert.match(html, /<th scope="row">good<\/th>/);
});

test('the send lag of a low rate is one line, of the greatest in each span', () => {
  const result = HARD_RESULTS['1000 an hour for six minutes'];
  const [{ html, charts }] = sendLag(result);
  assert.match(html, /<h3>Send lag, the greatest of each 1 min<\/h3>/);
  assert.equal((/<path class="line s5" d="([^"]*)"/.exec(html)?.[1] ?? '').split('M').length, 2);
  const first = result.timeline.slice(0, 60).map(({ lag99 }) => lag99 ?? 0);
  assert.deepEqual(charts['send-lag-over-time'].values[0], [formatLatency(Math.max(...first))]);
});

test('where nothing was due nothing is missing: the line goes on', () => {
  const rows = timeline(40, (second) =>
    second % 2 === 0
      ? row(second)
      : row(second, { due: 0, sent: 0, succeeded: 0, p50: null, p90: null, p99: null, max: null }),
  );
  const drawn = latencyOverTime(sampleResult([], { timeline: rows }));
  assert.doesNotMatch(String(said(drawn)), /gaps/);
  assert.equal((/<path class="line s1" d="([^"]*)"/.exec(drawn.html)?.[1] ?? '').split('M').length, 2);
});

test('one request is one request', () => {
  const one = sampleResult([{ outcome: 'good', service: [1] }], {
    timeline: timelineOf([{ outcome: 'good', service: [1] }], 1),
  });
  assert.match(String(said(rates(one))), /^Of 1 request planned, 1 was sent and 1 succeeded\./);
  const [, byPercentile] = sendLag(one);
  assert.match(String(said(byPercentile ?? sendLag(one)[0])), /the latest|were sent no later/);
});

/** @type {[number, {second: number, span?: number}, string, string, string][]} */
const MOMENTS = [
  [60, { second: 12 }, '12', 'second 12', 'in second 12'],
  [60, { second: 10, span: 5 }, '10 to 14', 'seconds 10 to 14', 'in seconds 10 to 14'],
  [1800, { second: 322 }, '0:05:22', '0:05:22', 'at 0:05:22'],
  [
    86_400,
    { second: 39_600, span: 900 },
    '11:00:00 to 11:14:59',
    '11:00:00 to 11:14:59',
    'between 11:00:00 and 11:14:59',
  ],
];

for (const [seconds, moment, name, phrase, place] of MOMENTS) {
  test(`moments of a run of ${seconds} s are called as on its axis: ${phrase}`, () => {
    const clock = clockOf(seconds);
    assert.deepEqual([clock.name(moment), clock.phrase(moment), clock.place(moment)], [name, phrase, place]);
  });
}

test('a day is not told in seconds', () => {
  const html = withoutCode(render(HARD_RESULTS['a day']));
  assert.doesNotMatch(html, /[Ss]econds? \d|\d{3,} s\b/);
});

test('a page of a run that goes on does not say what is so only at its end', () => {
  const html = withoutCode(render(SAMPLES.unfinished));
  assert.doesNotMatch(html, /never sent|until the last answer/);
  assert.match(html, /<th scope="row">unanswered<\/th>/);
  assert.match(html, /, so far \d/);
});

test('charts without anything to draw come after those that are drawn', () => {
  const html = render(sampleResult([{ outcome: 'good', service: spread(100, 1, 9) }]));
  assert.ok(html.lastIndexOf('<figure') < html.indexOf('<div class="figure"'));
});

test('what is good is said once', () => {
  const html = render(HARD_RESULTS['ten samples']);
  assert.match(html, /<\/span> valid<\/strong> Nothing suggests/);
});

test('no word in a table is broken that has room, and what is out of sight casts a shadow', () => {
  const rules = STYLE.match(/[^{}]*\b(?:th|td)\b[^{}]*\{[^}]*\}/g) ?? [];
  assert.ok(rules.length > 5);
  for (const rule of rules) assert.doesNotMatch(rule, /anywhere|break-all/);
  assert.match(STYLE, /\.scroll \{[^}]*background-attachment: local, local, scroll, scroll/);
});
