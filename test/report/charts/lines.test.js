import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { linearAxis } from '../../../src/report/charts/axes.js';
import { ellipsize, makePlace, textWidth } from '../../../src/report/charts/frame.js';
import { drawLine, gather } from '../../../src/report/charts/lines.js';
import { binned, spanFor } from '../../../src/report/charts/time-chart.js';

/** Noise that repeats exactly, with an outlier at every 50th point. @param {number} count */
function noisy(count) {
  return Array.from({ length: count }, (_, i) => ({
    x: i / count,
    value: 3 + Math.sin(i * 12.9898) + (i % 50 === 7 ? 5 : 0),
  }));
}

const [xAxis, yAxis] = [1, 10].map((high) => linearAxis({ title: '', high, label: String }));
const place = makePlace({ left: 60, right: 320, top: 38, bottom: 238 }, xAxis, yAxis);

test('points with a pixel column each are drawn as they are', () => {
  const html = drawLine(noisy(130), { style: 1 }, place);
  assert.doesNotMatch(html, /class="area/);
  assert.equal(html.split('L').length, 130);
});

test('points that share columns become an area from smallest to largest, and a line through the medians', () => {
  const html = drawLine(noisy(1800), { style: 1, mark: 'dense' }, place);
  assert.match(html, /^<path class="area s1" d="[^"]*"\/>\n<path class="line s1 dense"/);
  const steps = (/class="line[^"]*" d="([^"]*)"/.exec(html)?.[1] ?? '').split(/[ML]/).slice(1);
  assert.ok(steps.length <= 130, `${steps.length} columns in 260 pixels`);
  // Outliers widen the area; the line does not follow them.
  for (const step of steps) assert.ok(Number(step.split(',')[1]) > place.y(4.1), step);
});

test('columns hold equally many points, keep smallest and largest, and are gaps without a value', () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })), { minLength: 1, maxLength: 2000 }),
      fc.integer({ min: 1, max: 300 }),
      (values, most) => {
        const points = values.map((value, i) => ({ x: i / values.length, value }));
        const columns = gather(points, most);
        assert.ok(columns.length <= most);
        const size = Math.ceil(points.length / most);
        for (const [i, column] of columns.entries()) {
          const own = values.slice(i * size, (i + 1) * size).filter((value) => value !== null);
          if (column.low === null) assert.equal(own.length, 0);
          else {
            assert.deepEqual([column.low, column.high], [Math.min(...own), Math.max(...own)]);
            assert.ok(column.low <= Number(column.value) && Number(column.value) <= Number(column.high));
          }
        }
      },
    ),
  );
});

test('a text is cut to its room and ends in an ellipsis', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme-composite', maxLength: 60 }),
      fc.integer({ min: 20, max: 400 }),
      (text, room) => {
        const cut = ellipsize(text, room);
        assert.ok(textWidth(cut) <= room);
        assert.ok(cut === text || cut.endsWith('…'));
      },
    ),
  );
});

test('seconds are added up over the shortest round span that makes few enough sums', () => {
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
