/** Charts over the time of a run: response times, rates, errors, send lag. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatLatency } from '../../../src/common/units.js';
import { momentName } from '../../../src/report/charts/time-chart.js';
import { sampleResult, spread, timelineOf } from '../../result/sample.js';
import { HARD_RESULTS, row, silence, timeline } from '../hard-results.js';
import { draw, drawOrNull, legendOf, linesOf } from './draw.js';

/** @import { Result } from '../../../src/result/schema.js' */

/** @param {Partial<Result>} changes */
const resultOf = (changes) => sampleResult([], changes);

/** @param {string} svg @param {number} style @returns {string} */
const pathOf = (svg, style) => new RegExp(`<path class="line s${style}" d="([^"]*)"`).exec(svg)?.[1] ?? '';

describe('response times over time', () => {
  const latency = (/** @type {Result} */ result) => draw('latency-over-time', result);

  test('seconds without a response are gaps, and the summary counts them', () => {
    const rows = timeline(30, (second) => (second >= 10 && second < 15 ? silence(second) : row(second)));
    const { svg, summary } = latency(resultOf({ timeline: rows }));
    assert.equal(pathOf(svg, 1).split('M').length - 1, 2);
    assert.match(summary, /No response arrived in 5 of 30 seconds/);
  });

  test('the line continues through seconds in which nothing was due', () => {
    const idle = { due: 0, sent: 0, succeeded: 0, p50: null, p90: null, p99: null, max: null };
    const rows = timeline(40, (second) => row(second, second % 2 === 0 ? {} : idle));
    const { svg, summary } = latency(resultOf({ timeline: rows }));
    assert.doesNotMatch(summary, /gaps/);
    assert.equal(pathOf(svg, 1).split('M').length, 2);
  });

  test('a single second between gaps is a dot', () => {
    const rows = timeline(100, (second) => (second === 50 ? row(second) : silence(second)));
    assert.match(latency(resultOf({ timeline: rows })).svg, /<circle class="dot s2"/);
  });

  test('a vertical line marks the start of the wait for the last responses', () => {
    const result = resultOf({ timeline: timeline(30), windowSeconds: 20 });
    const { svg, summary } = latency(result);
    assert.equal(svg.split('class="vertical"').length - 1, 3, 'once in each size');
    assert.match(summary, /After the last vertical line, the run waited for the last responses/);
    const whole = latency({ ...result, windowSeconds: 30 });
    assert.doesNotMatch(whole.svg + whole.summary, /waited|class="vertical"/);
  });

  test('p50 is on top; identical series are merged, with both names', () => {
    assert.deepEqual(linesOf(latency(resultOf({ timeline: timeline(30) }))), ['s4', 's2', 's3', 's1']);
    const rows = timeline(30, (second) => row(second, { p99: 7 + second, max: 7 + second }));
    const drawn = latency(resultOf({ timeline: rows }));
    assert.deepEqual(linesOf(drawn), ['s2', 's3', 's1']);
    assert.deepEqual(legendOf(drawn), ['p50', 'p90', 'p99 = max']);
  });

  test('limits near the measured times have the colour of their series and a legend entry', () => {
    const met = /** @type {const} */ ({ verdict: 'met', actual: 1, unit: 'ms', reason: 'Met.' });
    const requirements = [
      { ...met, text: 'p99<9ms', limit: 9 },
      { ...met, text: 'p99<1h', limit: 3_600_000 },
      { ...met, text: 'p99(service)<5ms', limit: 5 },
      { ...met, text: 'p50<2ms', limit: 2, stage: 'ramp' },
    ];
    const drawn = latency(resultOf({ timeline: timeline(30), requirements }));
    assert.deepEqual(
      legendOf(drawn).filter((name) => name.startsWith('limit')),
      ['limit: p99<9ms'],
    );
    assert.match(drawn.svg, /<line class="line s2 limit"/);
  });

  test('at 1000/h, percentiles cover spans of a minute', () => {
    const { summary, table } = latency(HARD_RESULTS['1000 an hour for six minutes']);
    assert.match(summary, /^In spans of 1 min, p50 was between/);
    assert.ok(table.rows.every(([, p50, p90]) => p50 !== p90));
    assert.equal(table.rows[0][0], '0:00:00 to 0:00:59');
  });

  test('a long run has spans of several seconds, and no dashed lines', () => {
    const drawn = latency(HARD_RESULTS['half an hour at a high rate']);
    assert.ok(linesOf(drawn).every((names) => names.endsWith(' dense')));
    assert.match(drawn.summary, /^In spans of 10 s, /);
    assert.equal(drawn.table.rows.length, 180);
  });
});

describe('rates', () => {
  const rates = (/** @type {Result} */ result) => draw('rates', result);

  test('offered is a wide line at the back, sent a dashed line on top', () => {
    for (const seconds of [30, 1800]) {
      const result = sampleResult([{ outcome: 'good', service: spread(400, 1, 2) }], {
        timeline: timeline(seconds),
      });
      assert.deepEqual(linesOf(rates(result)), ['s6 track', 's1 under', 's2 over']);
    }
  });

  test('low rates are averaged over longer spans, per hour', () => {
    assert.match(rates(HARD_RESULTS['a slow trickle']).summary, /Averages over spans of 10 min\./);
    const { svg, table } = rates(HARD_RESULTS['1000 an hour for six minutes']);
    assert.match(svg, />requests per hour</);
    assert.match(String(table.rows[0][1]), /^(?:960|1,020|1,080)\/h$/);
    assert.match(rates(HARD_RESULTS['ten million samples']).svg, />requests per second</);
  });

  test('an older result without due counts has no offered rate', () => {
    const rows = timeline(10).map((one) => ({ ...one, due: undefined }));
    const drawn = rates(sampleResult([{ outcome: 'good', service: spread(200, 1, 2) }], { timeline: rows }));
    assert.deepEqual(legendOf(drawn), ['sent', 'succeeded']);
  });

  test('the summary counts requests', () => {
    const samples = [{ outcome: 'good', service: [1] }];
    const one = sampleResult(samples, { timeline: timelineOf(samples, 1) });
    assert.match(rates(one).summary, /^Requests: 1 planned, 1 sent and 1 succeeded\./);
  });
});

/** @param {number} seconds @param {(second: number) => number} failed */
const failing = (seconds, failed) =>
  resultOf({
    timeline: timeline(seconds, (second) => row(second, { failed: failed(second), failures: {} })),
  });

/** @type {[string, Result, RegExp][]} */
const ERRORS = [
  [
    'the same number in each second',
    failing(20, () => 2),
    /^40 requests failed; the peak was 2 in second 0\.$/,
  ],
  [
    'more in one second',
    failing(20, (at) => (at === 7 ? 5 : 1)),
    /^24 requests failed; the peak was 5 in second 7\.$/,
  ],
  ['a single one', failing(20, (at) => Number(at === 7)), /^1 request failed; the peak was 1 in second 7\.$/],
  [
    'one in hours',
    failing(7200, (at) => Number(at === 5000)),
    /^1 request failed; the peak was 1 in 1:23:00 to 1:23:29\.$/,
  ],
  [
    'some failed, others were never sent',
    HARD_RESULTS['a backlog, with requests that were never sent'],
    /failed; .* Not drawn: [\d,]+ requests dropped or never sent\. After the last/,
  ],
];

describe('errors', () => {
  for (const [why, result, expected] of ERRORS) {
    test(`the summary has the number of errors and when they occurred: ${why}`, () =>
      assert.match(draw('errors', result).summary, expected));
  }

  test('are stacked by outcome: the most frequent by name, the rest as one series', () => {
    const failures = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`outcome_${i}`, 10 - i]));
    const failed = Object.values(failures).reduce((sum, count) => sum + count, 0);
    const drawn = draw(
      'errors',
      resultOf({ timeline: timeline(10, (second) => row(second, { failed, failures })) }),
    );
    assert.deepEqual(legendOf(drawn), [...[0, 1, 2, 3, 4].map((i) => `outcome_${i}`), 'other']);
    assert.deepEqual(drawn.table.rows[0].slice(1), ['10', '9', '8', '7', '6', '12']);
  });

  test('of an older result without outcome names are one series, failed', () => {
    const rows = timeline(10, (second) => ({ ...row(second, { failed: 3 }), failures: undefined }));
    assert.deepEqual(legendOf(draw('errors', resultOf({ timeline: rows }))), ['failed']);
  });

  test('have no chart if there are none', () =>
    assert.equal(drawOrNull('errors', resultOf({ timeline: timeline(10) })), null));
});

test('the send lag at a low rate is one line, the maximum of each span', () => {
  const result = HARD_RESULTS['1000 an hour for six minutes'];
  const { svg, summary, table } = draw('send-lag', result);
  assert.match(summary, /The line shows the maximum of each 1 min\./);
  assert.equal(pathOf(svg, 5).split('M').length, 2);
  const first = result.timeline.slice(0, 60).map(({ lag99 }) => lag99 ?? 0);
  assert.deepEqual(table.rows[0].slice(1), [formatLatency(Math.max(...first))]);
});

for (const name of ['latency-over-time', 'rates', 'errors', 'send-lag']) {
  test(`${name} marks the start of each stage with its name`, () => {
    const stages = [
      { name: 'ramp', startSeconds: 0 },
      { name: 'steady', startSeconds: 10 },
    ];
    const rows = timeline(20, (second) => row(second, { failed: 1, failures: { timeout: 1 } }));
    const result = sampleResult([{ outcome: 'good', service: spread(400, 1, 2) }], { timeline: rows });
    const [full] = draw(name, { ...result, stages }).svg.split('</svg>');
    assert.equal(full.match(/class="vertical"/g)?.length, 2);
    assert.match(full, />ramp<[\s\S]*>steady</);
    assert.doesNotMatch(draw(name, result).svg, /class="vertical"/);
  });

  test(`${name} draws nothing for a run without requests`, () =>
    assert.equal(drawOrNull(name, HARD_RESULTS['no sample']), null));
}

/** @type {[number, {second: number, span: number}, string][]} */
const MOMENTS = [
  [60, { second: 12, span: 1 }, 'second 12'],
  [60, { second: 10, span: 5 }, 'seconds 10 to 14'],
  [1800, { second: 322, span: 1 }, '0:05:22'],
  [86_400, { second: 39_600, span: 900 }, '11:00:00 to 11:14:59'],
];

for (const [seconds, moment, name] of MOMENTS) {
  test(`in a run of ${seconds} s, a moment is named ${name}`, () =>
    assert.equal(momentName(moment, seconds), name));
}
