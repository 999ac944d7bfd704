/** What holds for every chart of a result. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createHistogram, recordMs } from '../../../src/common/histogram.js';
import { STYLE } from '../../../src/report/html/style.js';
import { buildLatency } from '../../../src/result/latency.js';
import { openLoad, sampleResult } from '../../result/sample.js';
import { HARD_RESULTS, row, timeline } from '../hard-results.js';
import { chartsIn, collisions } from '../svg.js';
import { chartsOf, draw } from './draw.js';

/** @import { Drawn } from '../../../src/report/charts/chart.js' */

/** @param {Drawn[]} all */
function assertNoCollision(all) {
  for (const { svg } of all) {
    for (const one of chartsIn(svg)) assert.deepEqual(collisions(one), [], one.slice(0, 300));
  }
}

for (const [name, result] of Object.entries(HARD_RESULTS)) {
  test(`labels neither overlap nor overflow: ${name}`, () => assertNoCollision(chartsOf(result)));

  test(`each row of the data table has a tooltip, and a value for each column: ${name}`, () => {
    for (const { svg, table } of chartsOf(result)) {
      const [full] = svg.split('</svg>');
      assert.equal(full.split('class="column"').length - 1, table.rows.length);
      assert.ok(table.rows.length > 0);
      assert.ok(table.rows.every((cells) => cells.length === table.columns.length));
    }
  });
}

test('the style sheet has a rule for each class that a chart draws with', () => {
  const level = { level: 1, name: '1/s', verdict: 'met' };
  const series = [{ name: 'p50', values: [1] }];
  const limits = [{ text: 'p50<2ms', value: 2 }];
  const drawn = [
    ...Object.values(HARD_RESULTS).flatMap(chartsOf),
    draw('levels', { heading: 'Rate', axis: '', unit: 'ms', levels: [level], series, limits, answer: level }),
    draw('runs', {
      unit: 'ms',
      groups: [{ name: '', runs: ['a', 'b', 'c', 'd', 'e'], values: [1, 2, 3, 4, 5] }],
    }),
  ];
  const classes = drawn.flatMap(({ svg, legend }) => [
    ...[...svg.matchAll(/ class="([^"]*)"/g)].flatMap(([, names]) => names.split(' ')),
    ...legend.flatMap(({ className }) => className.split(' ')),
  ]);
  const selectors = STYLE.replace(/\{[^{}]*\}/g, ' ');
  const withoutRule = [...new Set(classes)].filter((name) => !new RegExp(`\\.${name}\\b`).test(selectors));
  assert.deepEqual(withoutRule, ['under'], 'it determines only the radius of dots');
});

/** Milliseconds, over eight orders of magnitude. */
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

test('labels neither overlap nor overflow, for arbitrary data', () => {
  fc.assert(
    fc.property(anyResult, (result) => assertNoCollision(chartsOf(result))),
    { numRuns: 15 },
  );
});
