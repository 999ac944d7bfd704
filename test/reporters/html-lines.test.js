import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { linearAxis } from '../../src/reporters/html/axes.js';
import { LINE_HEIGHT, makePlace } from '../../src/reporters/html/chart.js';
import { latencyDistribution } from '../../src/reporters/html/charts/latency-distribution.js';
import { latencyOverTime } from '../../src/reporters/html/charts/latency-over-time.js';
import { rates } from '../../src/reporters/html/charts/rates.js';
import { drawLevels, drawLine, gather } from '../../src/reporters/html/lines.js';
import { sampleResult, spread } from '../results/sample.js';
import { chartsIn, collisions, HARD_RESULTS, row, textBoxes, timeline } from './html-samples.js';

/** @param {string} html @returns {string[]} classes of the lines of the wide chart, the lowest first */
function linesOf(html) {
  return [...chartsIn(html)[0].matchAll(/<path class="line ([^"]*)"/g)].map(([, names]) => names);
}

test('the response time lies on the service time, dashed, so that both are seen where they are the same', () => {
  const { html } = latencyDistribution(sampleResult([{ outcome: 'good', service: spread(1000, 1, 40) }]));
  assert.deepEqual(linesOf(html), ['s1 behind', 's2 headline']);
});

test('what was offered is a broad line below, what was sent is dashed and on top', () => {
  for (const seconds of [30, 1800]) {
    const result = sampleResult([{ outcome: 'good', service: spread(400, 1, 2) }], {
      timeline: timeline(seconds),
    });
    assert.deepEqual(linesOf(rates(result).html), ['s6 track', 's1 under', 's2 over']);
  }
});

test('p50 lies on top of p99, p99 on top of the longest', () => {
  const { html } = latencyOverTime(sampleResult([], { timeline: timeline(30) }));
  assert.deepEqual(linesOf(html), ['s4', 's2', 's3', 's1']);
});

test('lines that are the same all along are one, named for all of them', () => {
  const rows = timeline(30, (second) => row(second, { p99: 7 + second, max: 7 + second }));
  const { html, charts } = latencyOverTime(sampleResult([], { timeline: rows }));
  assert.deepEqual(linesOf(html), ['s2', 's3', 's1']);
  assert.match(html, /<span class="name">p99 = longest</);
  assert.equal(charts['latency-over-time'].values[0].length, 3);
});

/** Random, but the same each time; every 50th is far off. @param {number} count */
function noisy(count) {
  return Array.from({ length: count }, (_, i) => ({
    at: i / count,
    value: 3 + Math.sin(i * 12.9898) + (i % 50 === 7 ? 5 : 0),
  }));
}

const place = makePlace({ left: 60, right: 320, top: 38, bottom: 238 });
const yAxis = linearAxis({ title: '', high: 10, label: String });

test('points that have room are drawn as they are', () => {
  const html = drawLine(noisy(130), { style: 1 }, yAxis, place);
  assert.doesNotMatch(html, /class="area/);
  assert.equal(html.split('L').length, 130);
});

test('points without room are an area from the least to the greatest, and a line through their middle', () => {
  const html = drawLine(noisy(1800), { style: 1, mark: 'dense' }, yAxis, place);
  assert.match(html, /^<path class="area s1" d="[^"]*"\/>\n<path class="line s1 dense"/);
  const steps = (/class="line[^"]*" d="([^"]*)"/.exec(html)?.[1] ?? '').split(/[ML]/).slice(1);
  assert.ok(steps.length <= 130, `${steps.length} columns in 260 pixels`);
  // Every 50th point is far off and widens the area; the line does not follow it.
  for (const step of steps) assert.ok(Number(step.split(',')[1]) > place.y(yAxis.at(4.1)), step);
});

test('of the longest the greatest is drawn: a single one in an hour is seen', () => {
  const points = noisy(3600).map((point, i) => (i === 1801 ? { ...point, value: 9.9 } : point));
  const html = drawLine(points, { style: 4, shows: 'greatest' }, yAxis, place);
  assert.doesNotMatch(html, /class="area/);
  assert.ok(html.includes(`,${place.y(yAxis.at(9.9))}`));
});

test('columns have as many points each, keep the least and the greatest, and are gaps where there is no value', () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })), { minLength: 1, maxLength: 2000 }),
      fc.integer({ min: 1, max: 300 }),
      (values, most) => {
        const points = values.map((value, i) => ({ at: i / values.length, value }));
        const columns = gather(points, most);
        if (columns === null) return assert.ok(points.length <= most);
        assert.ok(columns.length <= most);
        const size = Math.ceil(points.length / most);
        for (const [i, column] of columns.entries()) {
          const own = values.slice(i * size, (i + 1) * size).filter((value) => value !== null);
          if (column.least === null) assert.equal(own.length, 0);
          else {
            assert.deepEqual([column.least, column.greatest], [Math.min(...own), Math.max(...own)]);
            assert.ok(column.least <= column.middle && column.middle <= column.greatest);
          }
        }
      },
    ),
  );
});

test('each limit is named in the plot, and no name touches another', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 10, noNaN: true }), { minLength: 1, maxLength: 3 }),
      (values) => {
        const levels = values.map((value, i) => ({ name: '', label: `p9${i} < 5`, style: 1, value }));
        const svg = `<svg viewBox="0 0 340 288">${drawLevels(levels, yAxis, place).replaceAll(' class="halo"', '')}</svg>`;
        assert.deepEqual(collisions(svg), []);
        for (const { top, bottom } of textBoxes(svg))
          assert.ok(top >= place.top - 1 && bottom <= place.bottom);
        const ys = [...svg.matchAll(/<text x="\S+" y="([\d.]+)"/g)].map(([, y]) => Number(y));
        assert.ok(ys.every((y, i) => i === 0 || y - ys[i - 1] >= LINE_HEIGHT));
      },
    ),
  );
});

test('two limits are told apart: by the colour of what they limit, and by name', () => {
  const { html } = latencyOverTime(HARD_RESULTS['a freeze in the middle']);
  const [wide] = chartsIn(html);
  assert.match(wide, /<line class="line s2 limit"/);
  assert.match(wide, /<line class="line s1 limit"/);
  assert.match(wide, />p99 &lt; 200ms</);
  assert.match(wide, />p50 &lt; 10ms</);
});

test('half an hour is drawn without dashes, and says what the areas are', () => {
  const { html } = latencyOverTime(HARD_RESULTS['half an hour at a high rate']);
  assert.ok(linesOf(html).every((names) => names.endsWith(' dense')));
  assert.match(html, /the area goes from the least to the greatest/);
  assert.doesNotMatch(
    latencyOverTime(HARD_RESULTS['a freeze in the middle']).html,
    /class="area|the area goes/,
  );
});
