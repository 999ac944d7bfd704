import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chartsIn, collisions } from '../svg.js';
import { draw, drawOrNull, legendOf } from './draw.js';

const LEVELS = [5, 10, 20, 40, 80].map((level, i) => ({
  level,
  name: `${level}/s`,
  verdict: i < 3 ? 'met' : 'not met',
}));

const DATA = {
  heading: 'Rate',
  axis: 'requests per second',
  unit: 'ms',
  levels: LEVELS,
  series: [
    { name: 'p50', values: [1, 1.1, 1.3, 4, 300] },
    { name: 'p99', values: [2, 2.4, 3, 90, null] },
  ],
  limits: [
    { text: 'p99<50ms', value: 50 },
    { text: 'p50<1h', value: 3_600_000 },
  ],
  answer: { level: 20, name: '20/s' },
};

test('the chart of levels shows the series, nearby limits, and the answer', () => {
  const drawn = draw('levels', DATA);
  assert.deepEqual(legendOf(drawn), ['p50', 'p99', 'limit: p99<50ms']);
  assert.match(drawn.svg, /<line class="vertical"[^>]*><text[^>]*>20\/s</);
  assert.match(drawn.summary, /The vertical line marks the answer, 20\/s\./);
  for (const svg of chartsIn(drawn.svg)) assert.deepEqual(collisions(svg), []);
});

test('without an answer, there is no marker', () => {
  const drawn = draw('levels', { ...DATA, answer: null });
  assert.deepEqual(legendOf(drawn), ['p50', 'p99', 'limit: p99<50ms']);
  assert.equal(drawn.summary, '');
});

test('each level is a row of the table, with its verdict', () => {
  const { table } = draw('levels', DATA);
  assert.deepEqual(table.rows.at(-1), ['80/s: not met', '300 ms', '–']);
  assert.deepEqual(table.rows[0], ['5/s: met', '1.00 ms', '2.00 ms']);
});

test('a wide range of levels has a log axis, a narrow range a linear one', () => {
  assert.match(draw('levels', DATA).svg, />requests per second \(log scale\)</);
  assert.match(
    draw('levels', { ...DATA, levels: LEVELS.map((one, i) => ({ ...one, level: 10 + i })) }).svg,
    />requests per second</,
  );
});

test('shares and rates have a unit on the axis', () => {
  const series = [{ name: 'errors', values: [0, 0, 0, 0.01, 0.2] }];
  assert.match(draw('levels', { ...DATA, unit: 'fraction', series, limits: [] }).svg, />20 %</);
  assert.match(draw('levels', { ...DATA, unit: '/s', series, limits: [] }).svg, />0\.2\/s</);
});

test('without values, there is no chart', () =>
  assert.equal(drawOrNull('levels', { ...DATA, series: [{ name: 'p50', values: [null] }] }), null));
