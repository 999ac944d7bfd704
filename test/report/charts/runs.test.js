import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { sanitizeText } from '../../../src/common/sanitize.js';
import { quantileOf, spreadOut } from '../../../src/report/charts/runs.js';
import { chartsIn, collisions } from '../svg.js';
import { draw, drawOrNull } from './draw.js';

/** @param {(number | null)[]} values @param {string} [name] */
const group = (values, name = '') => ({ name, runs: values.map((_, i) => `run ${i + 1}`), values });

/** @param {ReturnType<typeof group>[]} groups @param {string} [unit] */
const runs = (groups, unit = 'ms') => draw('runs', { unit, groups });

test('a box spans the middle half', () => {
  const box = (/** @type {number[]} */ values) =>
    [0, 0.25, 0.5, 0.75, 1].map((one) => quantileOf(values, one));
  assert.deepEqual(box([4, 1, 3, 2, 5]), [1, 2, 3, 4, 5]);
  assert.deepEqual(box([1, 2, 3, 4]), [1, 1.75, 2.5, 3.25, 4]);
  assert.deepEqual(box([7]), [7, 7, 7, 7, 7]);
});

test('no box for fewer than five runs, a note for a group without values, no chart without any values', () => {
  assert.match(runs([group([1, 2, 3, 4, 5])]).svg, /class="box s1"/);
  assert.doesNotMatch(runs([group([1, 2, 3, 4])]).svg, /class="box/);
  assert.match(runs([group([1], 'a'), group([null], 'b')]).svg, />no usable runs</);
  assert.equal(drawOrNull('runs', { unit: 'ms', groups: [group([null])] }), null);
});

test('no chart of more groups than fit on a page', () => {
  const groups = Array.from({ length: 101 }, (_, i) => group([i], `target ${i}`));
  assert.equal(drawOrNull('runs', { unit: 'ms', groups }), null);
  assert.notEqual(drawOrNull('runs', { unit: 'ms', groups: groups.slice(1) }), null);
});

test('the summary has the median of each group and the range of all runs', () => {
  assert.equal(runs([group([1, 2, 6])]).summary, 'Median: 2.00 ms. All runs: between 1.00 ms and 6.00 ms.');
  assert.equal(
    runs([group([1, 2, 6], 'raft'), group([null], 'file')]).summary,
    'Median: raft 2.00 ms, file no runs. All runs: between 1.00 ms and 6.00 ms.',
  );
});

test('every dot has a tooltip with run and value, and no dots overlap', () => {
  const values = Array.from({ length: 40 }, (_, i) => 10 + (i % 7) / 10);
  const { svg } = runs([group(values, 'a'), group([...values.slice(9), null], 'b')]);
  for (const one of chartsIn(svg)) {
    const dots = [
      ...one.matchAll(
        /<circle class="dot run s\d" (cx="[^"]+" cy="[^"]+") r="3"><title>run \d+: 10\.\d ms</g,
      ),
    ].map(([, at]) => at);
    assert.equal(dots.length, 71);
    assert.equal(new Set(dots).size, dots.length);
  }
});

test('thirty groups with long names have thirty rows, with full names as tooltips', () => {
  const names = Array.from(
    { length: 30 },
    (_, i) => `backend number ${i} ${'of a very long name '.repeat(5)}`,
  );
  for (const svg of chartsIn(runs(names.map((name, i) => group([10 + i, 11, 12, 13, 14], name))).svg)) {
    assert.equal(svg.split('class="median').length - 1, 30);
    assert.equal(svg.split('<title>backend').length - 1, 30);
    assert.deepEqual(collisions(svg), []);
  }
});

test('labels neither overlap nor overflow, for arbitrary data', () => {
  const anyGroup = fc.record({
    name: fc.string({ unit: 'grapheme-composite', maxLength: 80 }),
    values: fc.array(
      fc.double({ min: -3, max: 8, noNaN: true }).map((power) => 10 ** power),
      { minLength: 1, maxLength: 40 },
    ),
  });
  fc.assert(
    fc.property(
      fc.array(anyGroup, { minLength: 1, maxLength: 30 }),
      fc.constantFrom('ms', '/s', 'fraction'),
      (groups, unit) => {
        const { svg } = runs(
          groups.map(({ name, values }) => group(values, sanitizeText(name))),
          unit,
        );
        for (const one of chartsIn(svg)) assert.deepEqual(collisions(one), []);
      },
    ),
    { numRuns: 60 },
  );
});

describe('dots that would overlap', () => {
  test('are spread out, others are not', () =>
    assert.deepEqual(spreadOut([0, 10, 10, 10, 20]), [0, -8, 0, 8, 0]));

  test('are spread out in linear time: a file may have any number of values', () => {
    const { user } = process.cpuUsage();
    const offsets = spreadOut(Array.from({ length: 50_000 }, (_, i) => i % 300));
    const ms = (process.cpuUsage().user - user) / 1000;
    assert.ok(ms < 1000, `${ms} ms; quadratic time takes 10 s`);
    assert.deepEqual([offsets[0], offsets.at(-1)], [-8, 8]);
  });

  test('stay in their row, at distinct places', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 60 }), (places) => {
        const offsets = spreadOut(places);
        assert.ok(offsets.every((y) => Math.abs(y) <= 8));
        assert.equal(new Set(places.map((x, i) => `${x} ${offsets[i]}`)).size, places.length);
      }),
    );
  });
});
