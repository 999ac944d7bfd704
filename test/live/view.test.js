/** The view on a terminal: what is drawn over what. What the lines say is in panel.test.js. */
import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { createView, warmUpDrawing } from '../../src/live/view.js';
import { parseRequirement } from '../../src/plan/requirements.js';
import { sampleResult } from '../result/sample.js';
import { interval, START, start } from './interval.js';

/** @import { Terminal } from '../../src/live/terminal.js' */

/** A terminal that remembers. @param {Partial<Terminal>} [changes] */
function stage(changes) {
  const written = { text: '' };
  const view = createView({
    write: (text) => {
      written.text += text;
    },
    terminal: { isTTY: true, columns: 80, rows: 24, ...changes },
  });
  /** What was written since it was asked last, without escape sequences. */
  function seen() {
    const { text } = written;
    written.text = '';
    return { raw: text, plain: stripVTControlCharacters(text) };
  }
  return { view, seen };
}

afterEach(() => mock.timers.reset());

test('the start line stays; the panel is redrawn, and removed at the end', () => {
  const { view, seen } = stage();
  view.event(START);
  assert.equal(seen().raw, 'ocsp on http://127.0.0.1:8200 (Vault 1.21.1): 400 requests planned\n');
  view.event(interval({ elapsedMs: 1000 }));
  const { plain } = seen();
  assert.match(
    plain,
    /^Progress {3}█+░+ {3}5 % {2}1 s of 20 s, 19 s left\nRate {7}19\/s succeeded, 20\/s offered\n/,
  );
  assert.ok(plain.split('\n').every((line) => line.length < 80));
  view.event(interval({ elapsedMs: 2000 }));
  const second = seen();
  assert.ok(second.raw.startsWith('\r\u001b[5A\u001b[J'), 'goes up to draw over the last lines');
  assert.match(second.plain, /2 s of 20 s, 18 s left/);
  view.event({ type: 'warning', text: 'late' });
  assert.match(seen().plain, /^\rWarning: late\nProgress /);
  view.event({ type: 'result', result: sampleResult([]) });
  const end = seen();
  assert.equal(end.plain.trim(), '');
  assert.ok(end.raw.includes('\u001b[5A\u001b[J'), 'erases the lines');
  view.event(interval({ elapsedMs: 3000 }));
  view.close();
  assert.equal(seen().raw, '', 'nothing after the end');
});

test('preparation is one line, which the run replaces', () => {
  const { view, seen } = stage();
  view.event({ type: 'progress', label: 'Making keys', done: 1, total: 2000 });
  assert.equal(seen().plain, 'Making keys  1 of 2,000\n');
  view.event({ type: 'progress', label: 'Making keys', done: 2, total: 2000 });
  assert.match(seen().plain, /2 of 2,000/);
  view.event(START);
  view.event(interval());
  assert.match(seen().plain, /Progress [\s\S]*Errors {5}none\n/);
  view.close();
});

test('requirements are shown with the verdict so far', () => {
  const { view, seen } = stage();
  const judged = { limit: 200, unit: /** @type {const} */ ('ms'), reason: '' };
  view.event(START);
  seen();
  view.soFar({ requirements: [{ text: 'p99<200ms', verdict: 'not proven', actual: 12.3, ...judged }] });
  view.event(interval());
  assert.match(seen().plain, /\nRequired {3}p99<200ms {2}not proven yet: 12\.3 ms\n$/);
  view.event(START);
  seen();
  view.event(interval());
  assert.doesNotMatch(seen().plain, /not proven/, 'another run, other verdicts');
  view.close();
});

test('a narrow terminal gets one line, without the parts that do not fit', () => {
  const { view, seen } = stage({ columns: 30 });
  view.event(interval());
  assert.equal(seen().plain, '1 s/20 s  19/s  p99 12.3 ms\n');
  mock.timers.enable({ apis: ['setTimeout'] });
  view.resize(100, 30);
  mock.timers.tick(1000);
  assert.match(seen().plain, /^\rProgress .* 1 s of 20 s/, 'until it is made wider, and then at once');
  view.close();
  seen();
  view.resize(60, 30);
  mock.timers.tick(1000);
  assert.equal(seen().raw, '', 'nothing after the end');
});

test('a terminal that reports no width has the default width', () => {
  for (const columns of [0, undefined]) {
    const { view, seen } = stage({ columns, rows: 0 });
    view.event(START);
    assert.equal(seen().raw, 'ocsp on http://127.0.0.1:8200 (Vault 1.21.1): 400 requests planned\n');
    view.event(interval());
    assert.match(seen().plain, /^Progress {3}█+░+ /);
    view.resize(0, 0);
    view.event({ type: 'warning', text: 'a sentence that is longer than twenty characters' });
    assert.match(seen().plain, /Warning: a sentence that is longer than twenty characters\n/);
    view.close();
  }
});

test('a rate is shown in the unit of its requirement', () => {
  const { view, seen } = stage();
  const required = ['p99<1s', 'rate>=72000/h'].map((text) => parseRequirement(text));
  view.event(start({}, { requirements: required }));
  seen();
  view.soFar({
    requirements: [
      { text: 'p99<1s', verdict: 'met', actual: 12.3, unit: 'ms' },
      { text: 'rate>=72000/h', verdict: 'met', actual: 20.13, unit: '/s' },
    ],
  });
  view.event(interval());
  assert.match(seen().plain, / {2}met so far: 12\.3 ms\n.*rate>=72000\/h {2}met so far: 72,468\/h\n$/);
  view.close();
});

test('after an interruption requirements keep their last verdict', () => {
  const { view, seen } = stage();
  /** @param {'met' | 'not met'} verdict */
  const judged = (verdict) => ({
    requirements: [
      { text: 'p99<1s', verdict, actual: 1, limit: 1000, unit: /** @type {const} */ ('ms'), reason: '' },
    ],
  });
  view.soFar(judged('met'));
  view.event(interval({ phase: 'draining' }));
  view.soFar(judged('not met'));
  seen();
  view.event(interval({ phase: 'draining', elapsedMs: 5000 }));
  const { plain } = seen();
  assert.match(plain, /^\rProgress {3}5 s, waiting for the last responses\nRate {7}19\/s succeeded\n/);
  assert.match(plain, / met so far: 1\.00 ms\n$/);
  view.close();
});

test('colour only on request', () => {
  const failed = { text: 'p99<1ms', verdict: /** @type {const} */ ('not met'), actual: 12.3, limit: 1 };
  const requirements = [{ ...failed, unit: /** @type {const} */ ('ms'), reason: '' }];
  for (const color of [true, false]) {
    const { view, seen } = stage({ color });
    view.soFar({ requirements });
    view.event(interval());
    assert.equal(seen().raw.includes('\u001b[31m'), color);
    view.close();
  }
});

test('a low rate is a mean over many seconds, so it does not flicker', () => {
  const { view, seen } = stage();
  view.event(start({ ratePerSecond: 0.5 }));
  view.event(interval({ elapsedMs: 1000, ratePerSecond: 0 }));
  for (let second = 2; second <= 40; second++) {
    seen();
    view.event(interval({ elapsedMs: second * 1000, ratePerSecond: second % 2 }));
  }
  view.event({ type: 'warning', text: 'all of it once more' });
  assert.match(seen().plain, /Rate {7}1,[67]\d\d\/h succeeded, 1,800\/h offered/);
  view.close();
});

/** @type {[string, number, number[], string][]} what, offered, successes second by second, shown */
const ACHIEVED = [
  [
    'the first success at a low rate does not raise it',
    1000 / 3600,
    [1],
    '1,000/h succeeded, 1,000/h offered',
  ],
  [
    'later successes at a low rate do not raise it',
    1000 / 3600,
    [1, 0, 0, 1],
    '1,000/h succeeded, 1,000/h offered',
  ],
  ['an arrival that falls into the previous second', 20, [21], '20/s succeeded, 20/s offered'],
  ['a shrinking backlog is visible', 20, [5, 35], '35/s succeeded, 20/s offered'],
  ['a shortfall is visible', 20, [20, 19], '19/s succeeded, 20/s offered'],
];
for (const [what, ratePerSecond, rates, shown] of ACHIEVED) {
  test(`the recent rate: ${what}`, () => {
    const { view, seen } = stage();
    view.event(start({ ratePerSecond }));
    seen();
    for (const [i, rate] of rates.entries()) {
      view.event(interval({ elapsedMs: (i + 1) * 1000, ratePerSecond: rate }));
    }
    view.event({ type: 'warning', text: 'all of it once more' });
    const lines = seen().plain.split('\n');
    assert.equal(lines.filter((line) => line.startsWith('Rate ')).at(-1), `Rate       ${shown}`);
    view.close();
  });
}

const STAGES = [
  { name: 'ramp', lines: [{ durationMs: 4000, from: 0, to: 40 }] },
  { name: 'peak', lines: [{ durationMs: 6000, from: 40, to: 40 }] },
];

test('stages are named with their offered rate while they last, and not after', () => {
  const { view, seen } = stage();
  view.event(start({ ratePerSecond: 40, warmupMs: 1000, stages: STAGES }));
  view.event(interval({ elapsedMs: 500, phase: 'warmup', totalMs: 11_000 }));
  assert.doesNotMatch(seen().plain, /Stage/);
  view.event(interval({ elapsedMs: 3000, totalMs: 11_000 }));
  assert.match(seen().plain, /Stage {6}1 of 2, 2 s left: ramp\nRate .*succeeded, 15\/s offered\n/);
  view.event(interval({ elapsedMs: 7000, totalMs: 11_000 }));
  assert.match(seen().plain, /Stage {6}2 of 2, 4 s left: peak\nRate .*succeeded, 40\/s offered\n/);
  view.event(interval({ elapsedMs: 11_500, totalMs: 11_000, phase: 'draining' }));
  assert.doesNotMatch(seen().plain, /Stage/);
  view.close();
});

test('without redrawing, the lines name the stage too', () => {
  const { view, seen } = stage({ isTTY: false });
  view.event(start({ model: 'closed', ratePerSecond: null, stages: STAGES }));
  view.event(interval({ elapsedMs: 5000, totalMs: 10_000 }));
  assert.match(seen().plain, /^5 s\/10 s .*stage peak .*in flight$/m);
  view.close();
});

for (const [what, terminal] of /** @type {const} */ ([
  ['a terminal with colours', { isTTY: true, columns: 120, rows: 40, color: true }],
  ['a narrow terminal', { isTTY: true, columns: 30, rows: 10 }],
  ['a log', { isTTY: false }],
])) {
  test(`the warm-up draws as on ${what}, and shows nothing`, (t) => {
    const shown = t.mock.method(process.stderr, 'write', () => true);
    warmUpDrawing(terminal);
    assert.equal(shown.mock.callCount(), 0);
  });
}
