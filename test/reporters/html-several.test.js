import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { jitter, readOutsOf } from '../../src/reporters/html/charts/dots.js';
import { render as pageOfComparison } from '../../src/reporters/html/comparison.js';
import { render as pageOfRunSet } from '../../src/reporters/html/run-set.js';
import { compareGroups } from '../../src/results/comparison/compare.js';
import { makeRunSet } from '../../src/results/runs/run-set.js';
import { noisy, runOf, runsOf, slower, TEN } from '../results/runs.js';
import { chartsIn, collisions } from './html-samples.js';

/** @type {Parameters<typeof runOf>[2]} */
const INVALID = {
  measurement: { verdict: 'invalid', reasons: [{ code: 'send_lag', text: 'Requests went out late.' }] },
};

const BACKENDS = ['consul', 'raft', 'etcd', 'file', 'inmem', 'mysql', 'zookeeper', 's3'];

const thirty = makeRunSet(
  'nightly',
  noisy(30, { typical: 1, spreadShare: 0.15, seed: 5, stream: 1 }).map((factor, i) =>
    runOf(factor, i, i === 1 ? INVALID : {}),
  ),
);
const two = compareGroups(
  [
    { name: 'old', runs: runsOf(TEN, 0) },
    { name: 'new', runs: runsOf(slower(1.1), 1) },
  ],
  { failIf: ['p99 slower by 10%'], resamples: 400 },
);
const eight = compareGroups(
  BACKENDS.map((name, i) => ({ name, runs: runsOf(slower(i === 1 ? 0.7 : 1 + i / 20), i * 100) })),
  { failIf: ['mean slower by 10%'], resamples: 400 },
);

/** @type {Record<string, string>} */
const PAGES = {
  'run-set-30': pageOfRunSet(thirty),
  'compare-2': pageOfComparison(two),
  'compare-8': pageOfComparison(eight),
};

/** @param {string} html @returns {Record<string, {at: string[]}>} what can be read out */
function readOutsIn(html) {
  const [, json] = /<script type="application\/json" id="chart-data">(.*?)<\/script>/s.exec(html) ?? [];
  return JSON.parse(json).charts;
}

/** @param {string} svg @returns {{x: number, y: number}[]} */
function dotsIn(svg) {
  return [...svg.matchAll(/<circle class="dot run s\d" cx="([^"]+)" cy="([^"]+)"/g)].map(([, x, y]) => ({
    x: Number(x),
    y: Number(y),
  }));
}

for (const [name, html] of Object.entries(PAGES)) {
  test(`every dot of ${name} can be read out, and hides no other`, () => {
    const readOuts = readOutsIn(html);
    const charts = [...html.matchAll(/<figure id="([^"]+)">[\s\S]*?<\/figure>/g)];
    assert.deepEqual(
      charts.map(([, id]) => id),
      Object.keys(readOuts),
    );
    for (const [figure, id] of charts) {
      for (const svg of chartsIn(figure)) {
        const dots = dotsIn(svg);
        assert.equal(dots.length, readOuts[id].at.length);
        assert.equal(new Set(dots.map(({ x, y }) => `${x} ${y}`)).size, dots.length);
        assert.deepEqual(collisions(svg), []);
      }
    }
  });

  test(`${name} writes metrics as they are called`, () => {
    assert.match(html, /<h3>p99\.9<\/h3>/);
    assert.match(html, /<h3>Mean<\/h3>/);
    assert.doesNotMatch(html, /P\d\d|: Mean is|[^\d]0 %²/);
  });
}

describe('a read-out', () => {
  test('of one group names run and value, from the least to the greatest', () => {
    const group = { label: 'nightly', values: [2, 1], names: ['run 1', 'run 3'] };
    assert.deepEqual(
      readOutsOf([group], (value) => `${value} ms`),
      { at: ['run 3: 1 ms', 'run 1: 2 ms'] },
    );
  });

  test('of several groups names the group too', () => {
    const groups = [
      { label: 'old', values: [2], names: ['a.json'] },
      { label: 'new', values: [1], names: ['b.json'] },
    ];
    assert.deepEqual(readOutsOf(groups, String), { at: ['old, a.json: 2', 'new, b.json: 1'] });
  });

  test('of a run set does not count those left out', () => {
    const { at } = readOutsIn(PAGES['run-set-30'])['metric-0'];
    assert.equal(at.length, 29);
    assert.ok(!at.some((text) => text.startsWith('run 2:')));
    assert.ok(at.some((text) => /^run 30: [\d.]+ ms$/.test(text)));
  });
});

describe('the page of more than two groups', () => {
  const html = PAGES['compare-8'];
  test('has the table of all groups right after the limits, and the pairs folded up', () => {
    const titles = [...html.matchAll(/<h2>([^<]+)<\/h2>/g)].map(([, title]) => title);
    assert.deepEqual(titles.slice(0, 4), ['Limits', 'All groups', 'Beside consul', 'Run by run']);
    assert.equal(html.split('<details>\n<summary>Figures: ').length - 1, BACKENDS.length - 1);
  });

  test('says of a chart what is best and how far runs are apart; each pair is told to those who do not see it', () => {
    const [, visible] = /<h3>Mean<\/h3>\n<p>([^<]*)<\/p>/.exec(html) ?? [];
    assert.match(visible, /^Best is raft, median 3\.86 ms; all runs between 3\.\d\d ms and 7\.\d\d ms\.$/);
    assert.match(
      html,
      /<desc[^>]*>Best is raft[^<]* raft: mean is 30\.0 % faster: [^<]* s3: mean is 35\.0 %/,
    );
  });
});

describe('dots that would hide one another', () => {
  test('step aside, others do not', () => assert.deepEqual(jitter([0, 10, 10, 10, 20]), [0, 0, -6, 4, 0]));

  test('stay in their row, none in the place of another', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 60 }), (values) => {
        const places = values.sort((a, b) => a - b);
        const offsets = jitter(places);
        assert.ok(offsets.every((y) => Math.abs(y) <= 8));
        assert.equal(new Set(places.map((x, i) => `${x} ${offsets[i]}`)).size, places.length);
        assert.deepEqual(offsets, jitter(places));
      }),
    );
  });
});
