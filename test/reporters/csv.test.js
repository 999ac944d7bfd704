import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { render } from '../../src/reporters/csv.js';
import { clean } from '../../src/reporters/layout.js';
import { sampleResult, spread, timelineOf } from '../results/sample.js';
import { SAMPLES } from './samples.js';

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

test('a row a second, under names with units', () => {
  const groups = [
    { outcome: 'good', service: spread(40, 1, 2), lag: 0.25 },
    { outcome: 'timeout', success: false, service: [5, 6], lag: 0.25 },
  ];
  const [heading, ...rows] = parse(render(sampleResult(groups, { timeline: timelineOf(groups, 2) })));
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

test('what an older result does not say is empty', () => {
  const [heading, first, last] = parse(render(SAMPLES['closed-loop-issue']));
  assert.equal(heading.length, 11);
  assert.deepEqual([first[2], first[7], first[10]], ['', '', '']);
  assert.equal(last[0], '1');
});

test('without a second there is the heading alone', () => {
  assert.equal(parse(render({ ...SAMPLES['no-samples'], timeline: [] })).length, 1);
});

test('whatever an outcome is called, its name and count are read back, and nothing else moves', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ unit: 'grapheme', maxLength: 20 }), { maxLength: 5 }), (names) => {
      const failures = Object.fromEntries(names.map((name, i) => [name, i + 1]));
      const row = { ...timelineOf([], 1)[0], failures };
      const [heading, values] = parse(render({ ...sampleResult([]), timeline: [row] }));
      assert.deepEqual(
        heading.slice(11).map((name, i) => [name, values[11 + i]]),
        [...names].sort().map((name) => [`failed_${clean(name)}`, String(failures[name])]),
      );
    }),
  );
});
