/** The view without a terminal, and what all views have in common. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createView } from '../../src/live/view.js';
import { sampleResult } from '../result/sample.js';
import { interval, START, start } from './interval.js';

/** @import { IntervalEvent } from '../../src/engine/interval.js' */
/** @import { JudgedRequirement } from '../../src/live/panel.js' */

const JUDGED = /** @type {const} */ ({ actual: 2, limit: 1, unit: 'ms', reason: '' });

/** A log that remembers, and a clock that the test moves. @param {Partial<Parameters<typeof createView>[0]>} [options] */
function stage(options) {
  const written = { text: '' };
  const clock = { ms: 0 };
  const write = (/** @type {string} */ text) => {
    written.text += text;
  };
  const progress = createView({ write, terminal: { isTTY: false }, now: () => clock.ms, ...options });
  return { progress, written, clock };
}

/** @type {[string, Partial<IntervalEvent>, string][]} */
const LINES = [
  ['a typical second', {}, '1 s/20 s  19/s  p99 12.3 ms  no errors  1 in flight'],
  ['no planned end', { totalMs: null }, '1 s  19/s  p99 12.3 ms  no errors  1 in flight'],
  ['nothing completed', { p99Ms: null, ratePerSecond: 0 }, '1 s/20 s  0/s  p99 –  no errors  1 in flight'],
  ['the first moment', { elapsedMs: 12 }, '0 s/20 s  19/s  p99 12.3 ms  no errors  1 in flight'],
  ['a warm-up', { phase: 'warmup' }, 'warm-up 1 s/20 s  not measured yet  no errors  1 in flight'],
  [
    'the last responses',
    { phase: 'draining' },
    'last responses 1 s  19/s  p99 12.3 ms  no errors  1 in flight',
  ],
  ['a backlog', { waiting: 12_345 }, '1 s/20 s  19/s  p99 12.3 ms  no errors  1 in flight  12,345 waiting'],
  [
    'errors, the most frequent first',
    { errors: { timeout: 3, http_503: 1200, none: 0 } },
    '1 s/20 s  19/s  p99 12.3 ms  1,203 errors  http_503 1,200  timeout 3',
  ],
  ['one error', { errors: { timeout: 1 } }, '1 s/20 s  19/s  p99 12.3 ms  1 error  timeout 1  1 in flight'],
  [
    'an error name too long for the line',
    { errors: { ['x'.repeat(90)]: 1 } },
    '1 s/20 s  19/s  p99 12.3 ms  1 error',
  ],
  [
    'a long run at a high rate',
    { elapsedMs: 3_725_000, totalMs: 86_400_000, ratePerSecond: 65_432.1, inFlight: 10_000, p99Ms: 61_000 },
    '1 h 2 min/24 h  65,432/s  p99 61.0 s  no errors  10,000 in flight',
  ],
];

for (const [why, changes, line] of LINES) {
  test(`a line for ${why}`, () => {
    const { progress, written } = stage();
    progress.event(interval(changes));
    assert.equal(written.text, `${line}\n`);
    assert.ok(line.length <= 80);
  });
}

test('without a terminal: the start, the first second, then every fifth', () => {
  const { progress, written, clock } = stage();
  progress.event(START);
  for (let second = 1; second <= 12; second++) {
    clock.ms = second * 1000 + (second % 2 === 0 ? -40 : 40);
    progress.event(interval({ elapsedMs: second * 1000 }));
  }
  progress.event({ type: 'result', result: sampleResult([]) });
  progress.event(interval({ elapsedMs: 60_000 }));
  progress.close();
  assert.deepEqual(
    written.text.split('\n').map((line) => line.slice(0, 25).trim()),
    [
      'ocsp on http://127.0.0.1:',
      '1 s/20 s  19/s of 20/s  p',
      '6 s/20 s  19/s of 20/s  p',
      '11 s/20 s  19/s of 20/s',
      '',
    ],
  );
  assert.match(
    written.text,
    /^ocsp on http:\/\/127\.0\.0\.1:8200 \(Vault 1\.21\.1\): 400 requests planned\n/,
  );
  assert.ok(!written.text.includes('\u001b'));
});

/** @typedef {JudgedRequirement['verdict']} Verdict */
/** @type {[string, number | null, Verdict[], Partial<IntervalEvent>, string][]} what, offered, verdicts, second, line after the time */
const STANDINGS = [
  ['the offered rate', 20, [], {}, '19/s of 20/s  p99 12.3 ms  no errors  1 in flight'],
  ['a low rate', 0.5, [], { ratePerSecond: 0.5 }, '1,800/h of 1,800/h  p99 12.3 ms  no errors  1 in flight'],
  ['all met', 20, ['met', 'met'], {}, '19/s of 20/s  p99 12.3 ms  met so far  no errors  1 in flight'],
  [
    'a requirement not proven',
    20,
    ['met', 'not proven'],
    {},
    '19/s of 20/s  p99 12.3 ms  not proven yet  no errors  1 in flight',
  ],
  [
    'one not met',
    null,
    ['met', 'not met', 'not proven'],
    {},
    '19/s  p99 12.3 ms  p1<1ms not met so far  no errors  1 in flight',
  ],
  [
    'several not met',
    null,
    ['not met', 'not met', 'not met'],
    {},
    '19/s  p99 12.3 ms  p0<1ms and 2 more not met so far  no errors',
  ],
  ['a warm-up', 20, ['not proven'], { phase: 'warmup' }, 'not measured yet  no errors  1 in flight'],
];

for (const [what, ratePerSecond, verdicts, second, line] of STANDINGS) {
  test(`a log line shows the state of the run: ${what}`, () => {
    let text = '';
    const view = createView({
      write(more) {
        text += more;
      },
      terminal: { isTTY: false },
    });
    view.event(start({ ratePerSecond }));
    text = '';
    const requirements = verdicts.map((verdict, i) => ({ text: `p${i}<1ms`, verdict, ...JUDGED }));
    if (verdicts.length > 0) view.soFar({ requirements });
    view.event(interval(second));
    assert.equal(text, `${second.phase === 'warmup' ? 'warm-up ' : ''}1 s/20 s  ${line}\n`);
    assert.ok(text.length <= 81);
  });
}

test('warnings are written at once, wrapped, without control characters', () => {
  const { progress, written } = stage();
  progress.event({
    type: 'warning',
    text: `the \u001b[31mtoken expires ${'soon '.repeat(30)}`,
  });
  assert.match(written.text, /^Warning: the \\u\{1b\}\[31mtoken expires soon/);
  for (const line of written.text.split('\n')) assert.ok(line.length <= 80);
});

test('notices and preparation are lines like any other', () => {
  const { progress, written } = stage();
  progress.event({ type: 'notice', text: 'About 400 certificates will be stored.' });
  progress.event({ type: 'progress', label: 'Making keys', done: 1, total: 2000 });
  progress.event({ type: 'progress', label: 'Making keys', done: 2, total: 2000 });
  assert.equal(written.text, 'About 400 certificates will be stored.\nMaking keys  1 of 2,000\n');
});

test('quiet hides everything but warnings', () => {
  for (const isTTY of [true, false]) {
    const { progress, written } = stage({ terminal: { isTTY }, quiet: true });
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

test('a second run is shown like the first', () => {
  const { progress, written, clock } = stage();
  for (let run = 0; run < 2; run++) {
    clock.ms += 60_000;
    progress.event(START);
    progress.event(interval());
    progress.event({ type: 'result', result: sampleResult([]) });
  }
  assert.equal(written.text.match(/^ocsp on /gm)?.length, 2);
  assert.equal(written.text.match(/^1 s\/20 s /gm)?.length, 2);
});

test('no string from a server, a plan or a scenario reaches the terminal with control or bidi characters', () => {
  const evil = 'a\u001b]0;b\u0007c\u009bd\u202ee\u007f\n::error::f';
  for (const terminal of [
    { isTTY: false },
    { isTTY: true, columns: 200, rows: 40 },
    { isTTY: true, columns: 40 },
  ]) {
    let text = '';
    const write = (/** @type {string} */ more) => {
      text += more;
    };
    const view = createView({ write, terminal });
    const lines = [{ durationMs: 60_000, from: 1, to: 1 }];
    const stages = [{ name: evil, lines }];
    const requirements = [{ text: evil, verdict: /** @type {const} */ ('not met'), ...JUDGED }];
    view.event({ type: 'progress', label: evil, done: 1, total: 2 });
    view.event({
      ...start({ ratePerSecond: 1, stages }, { operation: evil, requirements: [{}] }),
      target: { url: evil, product: evil, version: evil },
      planned: 1,
    });
    view.soFar({ requirements });
    view.event(interval({ errors: { [evil]: 3 } }));
    view.event({ type: 'notice', text: evil });
    view.event({ type: 'warning', text: evil });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the view moves the cursor with them
    const own = text.replaceAll(/\r?\u001b\[\d+A\u001b\[J/g, '').replaceAll('\n', '');
    assert.doesNotMatch(own, /[\p{Cc}\u202e]/u);
    assert.doesNotMatch(text, /^::/m);
    assert.match(own, /a\\u\{1b\}/);
  }
});
