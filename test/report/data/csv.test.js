import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sanitizeText } from '../../../src/common/sanitize.js';
import { renderDocument } from '../../../src/report/index.js';
import { createRunSet } from '../../../src/result/runs/run-set.js';
import { runOf } from '../../result/runs.js';
import { sampleResult, spread, timelineOf } from '../../result/sample.js';
import { SAMPLES } from '../samples.js';

/** @param {import('../../../src/result/document.js').Document} document */
const rowsOf = async (document) => parse(await renderDocument('csv', document));

/**
 * RFC 4180, by hand and on its own.
 *
 * @param {string} text
 * @returns {string[][]}
 */
function parse(text) {
  /** @type {string[][]} */
  const rows = [[]];
  let at = 0;
  while (at < text.length) {
    const quoted = /"((?:[^"]|"")*)"/y;
    const bare = /[^",\r\n]*/y;
    quoted.lastIndex = at;
    bare.lastIndex = at;
    const found = quoted.exec(text) ?? bare.exec(text);
    assert.ok(found !== null);
    rows[rows.length - 1].push(found[1] === undefined ? found[0] : found[1].replaceAll('""', '"'));
    at += found[0].length;
    if (text[at] === ',') at++;
    else if (text.startsWith('\r\n', at)) {
      at += 2;
      if (at < text.length) rows.push([]);
    } else assert.fail(`neither comma nor CRLF at ${at}: ${JSON.stringify(text.slice(at, at + 20))}`);
  }
  return rows;
}

test('has one row per second, and headings with units', async () => {
  const groups = [
    { outcome: 'good', service: spread(40, 1, 2), lag: 0.25 },
    { outcome: 'timeout', success: false, service: [5, 6], lag: 0.25 },
  ];
  const [heading, ...rows] = await rowsOf(sampleResult(groups, { timeline: timelineOf(groups, 2) }));
  assert.deepEqual(heading, [
    'second',
    'time_utc',
    'due',
    'sent',
    'succeeded',
    'failed',
    'p50_ms',
    'p90_ms',
    'p99_ms',
    'max_ms',
    'send_lag_p99_ms',
    'failed_timeout',
  ]);
  assert.equal(rows.length, 3);
  assert.deepEqual(rows[0].slice(0, 6), ['0', '2026-01-02T03:04:05.678Z', '21', '21', '20', '1']);
  assert.deepEqual(rows[0].slice(-3), ['5.25', '0.25', '1']);
  assert.equal(rows[1][1], '2026-01-02T03:04:06.678Z');
  assert.deepEqual(rows[2].slice(2), ['0', '0', '0', '0', '', '', '', '', '', '0']);
});

test('fields missing from an older result are empty', async () => {
  const [heading, first, last] = await rowsOf(SAMPLES['closed-loop-issue']);
  assert.equal(heading.length, 11);
  assert.deepEqual([first[2], first[7], first[10]], ['', '', '']);
  assert.equal(last[0], '1');
});

test('an empty timeline has only the heading', async () => {
  assert.equal((await rowsOf({ ...SAMPLES['no-samples'], timeline: [] })).length, 1);
});

test('an outcome named like a property of Object.prototype is counted only where it occurred', async () => {
  for (const name of ['constructor', 'toString', '__proto__']) {
    const failures = JSON.parse(`{${JSON.stringify(name)}: 2}`);
    const [row, next] = timelineOf([], 1);
    const timeline = [{ ...row, failed: 2, failures }, next];
    const [heading, first, second] = await rowsOf({ ...sampleResult([]), timeline });
    assert.deepEqual([heading[11], first[11], second[11]], [`failed_${name}`, '2', '0']);
  }
});

test('outcomes that differ only in invisible characters have separate columns', async () => {
  const failures = { 'a\u0001': 1, 'a\u0002': 2, 'a?': 3 };
  const [heading, values] = await rowsOf({
    ...sampleResult([]),
    timeline: [{ ...timelineOf([], 1)[0], failures }],
  });
  assert.deepEqual(heading.slice(11), ['failed_a?', 'failed_a\\u{1}', 'failed_a\\u{2}']);
  assert.deepEqual(values.slice(11), ['3', '1', '2']);
});

const anyName = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom('"', ',', '\r', '\n', '\u0001', '\ud800', '\\', 'u', 'a'),
    maxLength: 6,
  }),
  fc.constantFrom('constructor', 'hasOwnProperty', 'valueOf'),
);

test('no part of a field becomes a formula, not even where semicolons separate fields', async () => {
  const failures = { 'a;=1': 1, '＝1': 2 };
  const result = { ...sampleResult([]), timeline: [{ ...timelineOf([], 1)[0], failures }] };
  const text = await renderDocument('csv', result);
  assert.match(text.split('\r\n')[0], /,"failed_a;'=1",failed_＝1$/);
  const runSet = createRunSet('n', [sampleResult([])]);
  runSet.summary.leftOut = [{ run: 'run 1', why: '＝1' }];
  assert.match(await renderDocument('csv', runSet), /,'＝1,/);
});

test('arbitrary outcome names round-trip with their counts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(anyName, { maxLength: 5 }), async (names) => {
      const failures = Object.fromEntries(names.map((name, i) => [name, i + 1]));
      const row = { ...timelineOf([], 1)[0], failures };
      const [heading, values] = await rowsOf({ ...sampleResult([]), timeline: [row] });
      assert.deepEqual(
        heading.slice(11).map((name, i) => [name, values[11 + i]]),
        names
          .map((name) => [sanitizeText(name), String(failures[name])])
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, count]) => [`failed_${name}`, count]),
      );
    }),
  );
});

test('a result has columns for its 100 most frequent failures, and one for all others', async () => {
  const timeline = Array.from({ length: 3000 }, (_, second) => ({
    ...timelineOf([], 1)[0],
    second,
    failures: { [`rare ${second}`]: 2, [`frequent ${second % 100}`]: 3 },
  }));
  const [heading, ...rows] = await rowsOf({ ...sampleResult([]), timeline });
  assert.equal(heading.length, 112);
  assert.deepEqual(heading.slice(-2), ['failed_frequent 99', 'failed_others']);
  assert.deepEqual(rows[99].slice(-3), ['0', '3', '2']);
});

test('a set of runs has columns for 100 requirements at most, and fields have 1,000 characters', async () => {
  const requirement = /** @type {const} */ ({ verdict: 'met', actual: 9, limit: 10, unit: 'ms', reason: '' });
  const requirements = Array.from({ length: 200 }, (_, i) => ({
    ...requirement,
    text: `${'p'.repeat(2000)}${i}`,
  }));
  const [heading] = await rowsOf(createRunSet('many', [runOf(1, 0, { requirements })]));
  assert.equal(heading.filter((name) => name.startsWith('requirement_')).length, 100);
  assert.equal(heading.at(-1)?.length, 1003);
});

test('a set of runs has one row per run, with the reason for leaving it out and its verdicts', async () => {
  const met = /** @type {const} */ ({ text: 'p99<10ms, "all"', verdict: 'met', reason: '' });
  const figures = { actual: 9, limit: 10, unit: /** @type {const} */ ('ms') };
  const runSet = createRunSet('nightly', [
    runOf(1, 0, { requirements: [{ ...met, ...figures }] }),
    runOf(2, 1, { requirements: [{ ...met, ...figures, verdict: 'not met' }], interrupted: true }),
    sampleResult([], { counts: { neverSent: 400 } }),
  ]);
  const [heading, ...rows] = await rowsOf(runSet);
  assert.equal(heading.at(-1), 'requirement_p99<10ms, "all"');
  const read = (/** @type {string[]} */ row) => Object.fromEntries(heading.map((name, i) => [name, row[i]]));
  const [first, second, third] = rows.map(read);
  assert.equal(rows.length, 3);
  assert.deepEqual([first.run, first.left_out, first.measurement], ['1', '', 'valid']);
  assert.equal(first.started_utc, runSet.runs[0].startedAt);
  assert.equal(Number(first.p99_ms), Number(runSet.runs[0].latencyMs.response.p99?.toFixed(3)));
  assert.equal(Number(first.succeeded), runSet.runs[0].totals.succeeded);
  assert.match(second.left_out, /interrupted/);
  assert.deepEqual(
    [first, second, third].map((row) => row[heading.at(-1) ?? '']),
    ['met', 'not met', ''],
  );
  assert.deepEqual([third.never_sent, third.p50_ms, third.max_ms], ['400', '', '']);
});
