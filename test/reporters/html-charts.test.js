import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createHistogram, recordMs } from '../../src/histogram.js';
import { boxOf, boxPlot } from '../../src/reporters/html/charts/box-plot.js';
import { errorsOverTime } from '../../src/reporters/html/charts/errors.js';
import { latencyDistribution } from '../../src/reporters/html/charts/latency-distribution.js';
import { latencyOverTime } from '../../src/reporters/html/charts/latency-over-time.js';
import { rates } from '../../src/reporters/html/charts/rates.js';
import { sendLag } from '../../src/reporters/html/charts/send-lag.js';
import { ellipsize, textWidth } from '../../src/reporters/html/text-width.js';
import { binned, pick, spanFor, thinnedNote } from '../../src/reporters/html/thin.js';
import { buildLatency } from '../../src/results/build.js';
import { openLoad, sampleResult, spread } from '../results/sample.js';
import { chartsIn, collisions, HARD_RESULTS, row, silence, timeline } from './html-samples.js';

/** @typedef {import('../../src/results/schema.js').Result} Result */

/** @param {Result} result @returns {string} all its charts */
function drawAll(result) {
  const drawn = [latencyOverTime, latencyDistribution, rates, errorsOverTime].map((draw) => draw(result));
  return [...drawn, ...sendLag(result)].map(({ html }) => html).join('\n');
}

/** @param {string} html */
function assertNoCollision(html) {
  for (const svg of chartsIn(html)) assert.deepEqual(collisions(svg), [], svg.slice(0, 300));
}

/** @param {string} html @param {number} style @returns {string} the line of that style in the wide chart */
function lineOf(html, style) {
  return new RegExp(`<path class="line s${style}" d="([^"]*)"`).exec(html)?.[1] ?? '';
}

for (const [name, result] of Object.entries(HARD_RESULTS)) {
  test(`no label touches another or sticks out with ${name}`, () => assertNoCollision(drawAll(result)));
}

/** Milliseconds of any size there is. */
const anyMs = fc.double({ min: -3, max: 5, noNaN: true }).map((power) => 10 ** power);

const NONE = sampleResult([]).totals;

const anyResult = fc
  .record({
    seconds: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.constantFrom(3600, 9000)),
    p50: anyMs,
    spread: fc.double({ min: 0, max: 4, noNaN: true }),
    lag: anyMs,
    sent: fc.oneof(fc.nat(50), fc.nat(1_000_000)),
    failed: fc.oneof(fc.constant(0), fc.nat(5), fc.nat(1_000_000)),
    window: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    samples: fc.integer({ min: 1, max: 300 }),
  })
  .map(({ seconds, p50, spread: powers, lag, sent, failed, window, samples }) => {
    const histogram = createHistogram();
    for (let i = 0; i < samples; i++) recordMs(histogram, p50 * 10 ** ((powers * i) / samples));
    const latency = buildLatency(histogram);
    return sampleResult([], {
      latencyMs: { response: latency, service: latency, sendLag: latency },
      totals: { ...NONE, planned: sent, sent, succeeded: sent, failed, errors: failed },
      timeline: timeline(seconds, (second) => {
        const wave = 10 ** ((powers * (second % 13)) / 13);
        const times = { p50, p90: p50, p99: p50 * wave, max: p50 * wave, lag99: lag * wave };
        const failures = { timeout: Math.floor(failed / 2) };
        return row(second, { ...times, due: sent, sent, failed, succeeded: sent, failures });
      }),
      load: openLoad({ ratePerSecond: sent }),
      ...(window === null ? {} : { windowSeconds: seconds * window }),
    });
  });

test('no label touches another or sticks out, whatever the data', () => {
  fc.assert(
    fc.property(anyResult, (result) => assertNoCollision(drawAll(result))),
    { numRuns: 20 },
  );
});

test('no label of a box plot touches another or sticks out, whatever the data', () => {
  const anyGroup = fc.record({
    label: fc.string({ unit: 'grapheme-composite', maxLength: 80 }),
    values: fc.array(
      fc.double({ min: -3, max: 8, noNaN: true }).map((power) => 10 ** power),
      { maxLength: 40 },
    ),
  });
  fc.assert(
    fc.property(
      fc.array(anyGroup, { maxLength: 30 }),
      fc.constantFrom('ms', '/s', 'fraction', 'MB'),
      (groups, unit) => assertNoCollision(boxPlot({ groups, unit })),
    ),
    { numRuns: 100 },
  );
});

test('thirty runs with very long names have thirty rows, each named', () => {
  const groups = Array.from({ length: 30 }, (_, i) => ({
    label: `storage backend number ${i} ${'of a very long name '.repeat(5)}`,
    values: [10 + i, 11 + i, 12, 13, 14 + i],
  }));
  const html = boxPlot({ groups, unit: 'ms', id: 'p99', title: 'p99' });
  const [wide, narrow] = chartsIn(html);
  for (const svg of [wide, narrow]) {
    assert.equal(svg.split('class="median s1"').length - 1, 30);
    assert.equal(svg.split('<title>storage backend').length - 1, 30, 'the whole name is a tooltip');
    assert.deepEqual(collisions(svg), []);
  }
});

test('a box goes from quartile to quartile; fewer than five runs have none, none at all say so', () => {
  assert.deepEqual(boxOf([4, 1, 3, 2, 5]), { low: 1, q1: 2, median: 3, q3: 4, high: 5 });
  assert.deepEqual(boxOf([1, 2, 3, 4]), { low: 1, q1: 1.75, median: 2.5, q3: 3.25, high: 4 });
  assert.deepEqual(boxOf([7]), { low: 7, q1: 7, median: 7, q3: 7, high: 7 });
  const draw = (/** @type {number[]} */ values) => boxPlot({ groups: [{ label: 'a', values }], unit: 'ms' });
  assert.match(draw([1, 2, 3, 4, 5]), /class="box s1"/);
  assert.doesNotMatch(draw([1, 2, 3, 4]), /class="box/);
  assert.match(draw([]), />no run to show</);
});

test('seconds without an answer are gaps in the lines', () => {
  const rows = timeline(30, (second) => (second >= 10 && second < 15 ? silence(second) : row(second)));
  const { html } = latencyOverTime(sampleResult([], { timeline: rows }));
  assert.equal(lineOf(html, 1).split('M').length - 1, 2);
  assert.match(html, /In 5 of 30 seconds no answer came/);
});

test('a second that stands alone between gaps is a dot', () => {
  const rows = timeline(100, (second) => (second === 50 ? row(second) : silence(second)));
  const { html } = latencyOverTime(sampleResult([], { timeline: rows }));
  assert.match(html, /<circle class="dot s2"/);
});

test('what comes after the measured part is shaded, and said to be', () => {
  const result = sampleResult([], { timeline: timeline(30), windowSeconds: 20 });
  const { html } = latencyOverTime(result);
  assert.equal(html.split('class="after"').length - 1, 2);
  assert.match(html, /The shaded part is the wait for the last answers/);
  assert.doesNotMatch(latencyOverTime({ ...result, windowSeconds: 30 }).html, /shaded|class="after"/);
});

test('limits that were required are drawn where they are near what was measured', () => {
  const met = /** @type {const} */ ({ verdict: 'met', actual: 1, unit: 'ms', reason: 'Met.' });
  const requirements = [
    { ...met, text: 'p99<9ms', limit: 9 },
    { ...met, text: 'p99<1h', limit: 3_600_000 },
    { ...met, text: 'p99(service)<5ms', limit: 5 },
  ];
  const { html } = latencyOverTime(sampleResult([], { timeline: timeline(30), requirements }));
  assert.match(html, /limit: p99&lt;9ms/);
  assert.doesNotMatch(html, /limit: p99&lt;1h|limit: p99\(service\)/);
});

test('errors are stacked by outcome, the most frequent named, the others together', () => {
  const failures = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`outcome_${i}`, 10 - i]));
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0);
  const { html, charts } = errorsOverTime(
    sampleResult([], { timeline: timeline(10, (second) => row(second, { failed, failures })) }),
  );
  const names = [...html.matchAll(/<span class="name">([^<]*)</g)].map(([, name]) => name);
  assert.deepEqual(names, ['outcome_0', 'outcome_1', 'outcome_2', 'outcome_3', 'outcome_4', 'other']);
  assert.deepEqual(charts['errors-over-time'].values[0], ['10', '9', '8', '7', '6', '12']);
});

test('errors of an older result, which does not name them, are drawn as failed', () => {
  const rows = timeline(10, (second) => ({ ...row(second, { failed: 3 }), failures: undefined }));
  const { html } = errorsOverTime(sampleResult([], { timeline: rows }));
  assert.match(html, /<span class="name">failed</);
});

test('a run without errors says so and draws nothing', () => {
  const { html } = errorsOverTime(sampleResult([], { timeline: timeline(10) }));
  assert.doesNotMatch(html, /<svg/);
});

test('the rate of a trickle is added up over longer spans, and said to be', () => {
  const { html } = rates({ ...HARD_RESULTS['a slow trickle'] });
  assert.match(html, /Averages over 5 min each/);
});

test('a result that does not say what was due shows the rate it was given as offered', () => {
  const rows = timeline(10).map((one) => ({ ...one, due: undefined }));
  const { html } = rates(sampleResult([{ outcome: 'good', service: spread(200, 1, 2) }], { timeline: rows }));
  assert.match(html, /<span class="name">offered</);
  assert.match(html, /<line class="line s6 track"/);
});

test('tables leave rows out by weight and say so', () => {
  const rows = timeline(3600, (second) => row(second, second === 1801 ? { max: 777 } : {}));
  const { html } = latencyOverTime(sampleResult([], { timeline: rows }));
  assert.match(html, /Of 3,600 rows 120 are shown: of every 30 s the one with the longest response/);
  assert.match(html, /<th scope="row">0:30:01<\/th>/);
  assert.equal(thinnedNote(120, 'x'), '');
  assert.deepEqual(
    pick([1, 5, 2, 9, 3], 2, (value) => value),
    [5, 9],
  );
});

test('seconds are added up over the shortest nice span that makes few enough', () => {
  assert.deepEqual(
    [1, 100, 101, 3600, 86_400, 30 * 86_400].map((seconds) => spanFor(seconds, 100)),
    [1, 1, 2, 60, 900, 28_800],
  );
  assert.deepEqual(binned([1, 2, 3, 4, 5], 2), [
    { second: 0, span: 2, rows: [1, 2] },
    { second: 2, span: 2, rows: [3, 4] },
    { second: 4, span: 1, rows: [5] },
  ]);
});

test('a text that has no room ends in an ellipsis, and is no wider than its room', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme-composite', maxLength: 60 }),
      fc.integer({ min: 20, max: 400 }),
      (text, room) => {
        const cut = ellipsize(text, room, 13);
        assert.ok(textWidth(cut, 13) <= room);
        assert.ok(cut === text || cut.endsWith('…'));
      },
    ),
  );
});
