import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { createProgress } from '../../src/reporters/progress.js';
import { sampleResult } from '../results/sample.js';

/** @typedef {import('../../src/reporters/progress.js').IntervalEvent} IntervalEvent */

/** A stream that remembers, and a clock that the test moves. */
function stage() {
  const written = { text: '' };
  const clock = { ms: 0 };
  const stream = new Writable({
    write(chunk, _, done) {
      written.text += chunk;
      done();
    },
  });
  return { stream, written, clock, now: () => clock.ms };
}

/** @param {Partial<IntervalEvent>} [changes] @returns {IntervalEvent} */
function interval(changes) {
  return {
    type: 'interval',
    elapsedMs: 1003,
    totalMs: 20_000,
    sent: 20,
    succeeded: 19,
    failed: 0,
    inFlight: 1,
    waiting: 0,
    ratePerSecond: 19,
    p99Ms: 12.34,
    errors: {},
    phase: 'measuring',
    ...changes,
  };
}

const START = /** @type {const} */ ({
  type: 'start',
  plan: { operation: 'ocsp' },
  target: { url: 'http://127.0.0.1:8200', product: 'Vault', version: '1.21.1' },
  planned: 400,
});

/** @type {[string, Partial<IntervalEvent>, string][]} */
const LINES = [
  ['a usual second', {}, '1 s/20 s  19/s  p99 12.3 ms  1 in flight  no errors'],
  ['no end in sight', { totalMs: null }, '1 s  19/s  p99 12.3 ms  1 in flight  no errors'],
  ['nothing completed', { p99Ms: null, ratePerSecond: 0 }, '1 s/20 s  0/s  p99 –  1 in flight  no errors'],
  ['the first moment', { elapsedMs: 12 }, '0 s/20 s  19/s  p99 12.3 ms  1 in flight  no errors'],
  ['a warm-up', { phase: 'warmup' }, 'warm-up 1 s/20 s  19/s  p99 12.3 ms  1 in flight  no errors'],
  [
    'the last answers',
    { phase: 'draining' },
    'last answers 1 s/20 s  19/s  p99 12.3 ms  1 in flight  no errors',
  ],
  ['a backlog', { waiting: 12_345 }, '1 s/20 s  19/s  p99 12.3 ms  1 in flight  12,345 waiting  no errors'],
  [
    'errors, the most frequent first',
    { errors: { timeout: 3, http_503: 1200, none: 0 } },
    '1 s/20 s  19/s  p99 12.3 ms  1 in flight  1,203 errors  http_503 1,200',
  ],
  ['one error', { errors: { timeout: 1 } }, '1 s/20 s  19/s  p99 12.3 ms  1 in flight  1 error  timeout 1'],
  [
    'an error name too long for the line',
    { errors: { ['x'.repeat(90)]: 1 } },
    '1 s/20 s  19/s  p99 12.3 ms  1 in flight  1 error',
  ],
  [
    'a long run at a high rate',
    { elapsedMs: 3_725_000, totalMs: 86_400_000, ratePerSecond: 65_432.1, inFlight: 10_000, p99Ms: 61_000 },
    '1 h 2 min/24 h  65,432/s  p99 61.0 s  10,000 in flight  no errors',
  ],
];

for (const [why, changes, line] of LINES) {
  test(`a line for ${why}`, () => {
    const { stream, written, now } = stage();
    createProgress({ stream, now }).event(interval(changes));
    assert.equal(written.text, `${line}\n`);
    assert.ok(line.length <= 80);
  });
}

test('without a terminal: the start, the first second, then every fifth', () => {
  const { stream, written, clock, now } = stage();
  const progress = createProgress({ stream, now });
  progress.event(START);
  for (let second = 1; second <= 12; second++) {
    clock.ms = second * 1000 + (second % 2 === 0 ? -40 : 40);
    progress.event(interval({ elapsedMs: second * 1000 }));
  }
  progress.event({ type: 'result', result: sampleResult([]) });
  progress.close();
  assert.deepEqual(
    written.text.split('\n').map((line) => line.slice(0, 25).trim()),
    [
      'ocsp on http://127.0.0.1:',
      '1 s/20 s  19/s  p99 12.3',
      '6 s/20 s  19/s  p99 12.3',
      '11 s/20 s  19/s  p99 12.3',
      '',
    ],
  );
  assert.match(
    written.text,
    /^ocsp on http:\/\/127\.0\.0\.1:8200 \(Vault 1\.21\.1\): 400 requests planned\n/,
  );
});

test('warnings are lines at once, wrapped, without control characters', () => {
  const { stream, written, now } = stage();
  createProgress({ stream, now }).event({
    type: 'warning',
    text: `the \u001b[31mtoken expires ${'soon '.repeat(30)}`,
  });
  assert.match(written.text, /^Warning: the \?\[31mtoken expires soon/);
  for (const line of written.text.split('\n')) assert.ok(line.length <= 80);
});

test('notices are lines, and preparation is a line as any other', () => {
  const { stream, written, now } = stage();
  const progress = createProgress({ stream, now });
  progress.event({ type: 'notice', text: 'About 400 certificates will be stored.' });
  progress.event({ type: 'progress', label: 'Making keys', done: 1, total: 2000 });
  progress.event({ type: 'progress', label: 'Making keys', done: 2, total: 2000 });
  assert.equal(written.text, 'About 400 certificates will be stored.\nMaking keys  1 of 2,000\n');
});

test('quiet hides everything but warnings', () => {
  for (const isTTY of [true, false]) {
    const { stream, written, now } = stage();
    const progress = createProgress({ stream, isTTY, quiet: true, now });
    progress.event(START);
    progress.event(interval());
    progress.event({ type: 'notice', text: 'certificates will be stored' });
    progress.event({ type: 'progress', label: 'Making keys', done: 1, total: 2 });
    progress.event({ type: 'warning', text: 'the token expires' });
    progress.event({ type: 'result', result: sampleResult([]) });
    progress.close();
    assert.equal(written.text, 'Warning: the token expires\n');
  }
});

/** Waits, turn by turn, until the live view has loaded and drawn. @param {{text: string}} written */
async function drawn(written) {
  await import('log-update');
  for (let turns = 0; turns < 100 && written.text === ''; turns++) await turn();
}

test('on a terminal one line is drawn over again, and is gone at the end', async () => {
  const { stream, written, now } = stage();
  const progress = createProgress({ stream, isTTY: true, columns: 60, now });
  progress.event(interval({ elapsedMs: 1000 }));
  await drawn(written);
  assert.match(written.text, /^1 s\/20 s {2}19\/s/);
  written.text = '';
  progress.event(interval({ elapsedMs: 2000 }));
  assert.ok(written.text.includes('\u001b[1A'), 'goes up to draw over the last line');
  assert.match(stripVTControlCharacters(written.text), /2 s\/20 s/);
  written.text = '';
  progress.event({ type: 'warning', text: 'late' });
  assert.match(stripVTControlCharacters(written.text), /^Warning: late\n2 s\/20 s/);
  written.text = '';
  progress.event({ type: 'result', result: sampleResult([]) });
  assert.equal(stripVTControlCharacters(written.text), '');
  assert.ok(written.text.includes('\u001b[2K'), 'erases the line');
  written.text = '';
  progress.event(interval({ elapsedMs: 3000 }));
  progress.close();
  assert.equal(written.text, '', 'nothing after the end');
});

test('on a narrow terminal whole parts are left out', async () => {
  const { stream, written, now } = stage();
  const progress = createProgress({ stream, isTTY: true, columns: 30, now });
  progress.event(interval());
  await drawn(written);
  assert.equal(written.text, '1 s/20 s  19/s  p99 12.3 ms\n');
  progress.close();
});
