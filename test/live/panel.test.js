import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { MAX_PANEL_WIDTH, MIN_PANEL_WIDTH, panel, sparkline } from '../../src/live/panel.js';
import { stringWidth } from '../../src/report/layout.js';
import { interval } from './interval.js';

/** @import { IntervalEvent } from '../../src/engine/interval.js' */
/** @import { PanelState } from '../../src/live/panel.js' */

/** @param {Partial<PanelState>} [changes] @param {Partial<IntervalEvent>} [second] @returns {PanelState} */
function panelState(changes, second) {
  return {
    interval: interval({ elapsedMs: 7000, ...second }),
    planned: 400,
    offeredPerSecond: 20,
    achievedPerSecond: 19.8,
    stage: null,
    p99s: [12, 14, 48, 13, 12.34],
    requirements: [],
    ...changes,
  };
}

/** @param {PanelState} of @param {number} [width] */
const lines = (of, width = 80) => panel(of, { width, color: false });

test('a typical second', () => {
  assert.deepEqual(lines(panelState()), [
    'Progress   ██████████░░░░░░░░░░░░░░░░░░░░  35 %  7 s of 20 s, 13 s left',
    'Rate       19.8/s succeeded, 20/s offered',
    'In flight  1, none waiting',
    'p99 now    12.3 ms  ▃▃█▃▃ up to 48.0 ms',
    'Errors     none',
  ]);
});

/** @type {[string, Partial<PanelState>, Partial<IntervalEvent>, RegExp][]} what, changes, a line that is there */
const TABLE = [
  ['a closed loop offers nothing', { offeredPerSecond: null }, {}, /^Rate {7}19\.8\/s succeeded$/m],
  [
    'a low rate per hour, like the offered rate',
    { offeredPerSecond: 1000 / 3600, achievedPerSecond: 0.27 },
    {},
    /^Rate {7}972\/h succeeded, 1,000\/h offered$/m,
  ],
  [
    'a ramp that starts at zero',
    { offeredPerSecond: 0, achievedPerSecond: 0 },
    {},
    /^Rate {7}0\/s succeeded, 0\/s offered$/m,
  ],
  [
    'the current stage',
    { stage: { name: 'the peak', number: 2, count: 3, leftMs: 12_400 } },
    {},
    /^Progress .*\nStage {6}2 of 3, 12 s left: the peak\nRate /m,
  ],
  ['a backlog', {}, { waiting: 12_345 }, /^In flight {2}1, 12,345 waiting$/m],
  ['a warm-up', {}, { phase: 'warmup' }, /^Rate {7}warming up: not measured yet\n.*\np99 now {4}–$/m],
  ['the last responses', {}, { phase: 'draining' }, /^Progress {3}7 s, waiting for the last responses$/m],
  [
    'requests instead of a time',
    {},
    { totalMs: null, succeeded: 90, failed: 10 },
    /^Progress {3}█+░+ {2}25 % {2}100 of 400, about 21 s left$/m,
  ],
  ['none completed yet', {}, { totalMs: null, succeeded: 0 }, /░ {3}0 % {2}0 of 400$/m],
  ['no planned end', { planned: null }, { totalMs: null }, /^Progress {3}7 s so far$/m],
  ['no response yet', { p99s: [null, null, null] }, { p99Ms: null }, /^p99 now {4}– {8} {3} up to 0 ms$/m],
  ['the first second', { p99s: [12] }, {}, /^p99 now {4}12\.3 ms$/m],
  [
    'errors by name, the most frequent first',
    {},
    { errors: { timeout: 3, http_503: 1200, none: 0 } },
    /^Errors {5}1,203 errors: http_503 1,200, timeout 3$/m,
  ],
  [
    'more kinds of errors than fit',
    {},
    { errors: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`error_${i}`, 30 - i])) },
    /^Errors {5}465 errors: error_0 30, error_1 29, .*…$/m,
  ],
];

for (const [what, changes, second, line] of TABLE) {
  test(what, () => assert.match(lines(panelState(changes, second)).join('\n'), line));
}

describe('requirements', () => {
  /** @type {PanelState['requirements']} */
  const requirements = [
    { text: 'p99<200ms', verdict: 'met', actual: 12.34, unit: 'ms' },
    { text: 'rate>=1000/h', verdict: 'not proven', actual: 19.8, unit: '/s', rateUnit: 'h' },
    { text: 'errors<0.1%', verdict: 'not met', actual: 0.25, unit: 'fraction' },
    { text: 'max<2s', verdict: 'not met', actual: null, unit: 'ms' },
  ];

  test('are shown with their current verdict', () => {
    assert.deepEqual(lines(panelState({ requirements })).slice(5), [
      'Required   p99<200ms  met so far: 12.3 ms',
      '           rate>=1000/h  not proven yet: 71,280/h',
      '           errors<0.1%  not met so far: 25 %',
      '           max<2s  not met so far',
    ]);
  });

  test('have colours that add nothing to the words', () => {
    const plain = lines(panelState({ requirements }));
    const coloured = panel(panelState({ requirements }), { width: 80, color: true });
    assert.notDeepEqual(coloured, plain);
    assert.deepEqual(coloured.map(stripVTControlCharacters), plain);
  });

  test('are counted if there are many', () => {
    const many = Array.from({ length: 9 }, () => requirements[0]);
    const shown = lines(panelState({ requirements: many })).slice(5);
    assert.deepEqual([shown.length, shown.at(-1)], [5, '           and 5 more']);
  });
});

test("no line exceeds the terminal's width or the maximum, whatever the content", () => {
  const number = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1e9, noNaN: true }));
  const second = fc.record({
    elapsedMs: number,
    totalMs: fc.option(fc.double({ min: 1, max: 1e9, noNaN: true })),
    succeeded: fc.nat(1e9),
    inFlight: fc.nat(10_000),
    waiting: fc.nat(1e9),
    p99Ms: fc.option(number),
    errors: fc.dictionary(fc.string({ maxLength: 90 }), fc.nat(1e9)),
    phase: fc.constantFrom('warmup', 'measuring', 'draining'),
  });
  const wide = fc
    .array(fc.constantFrom('日', '本', '👩‍👩‍👧', 'a', ' '), { maxLength: 120 })
    .map((all) => all.join(''));
  const requirement = fc.record({
    text: fc.oneof(fc.string({ maxLength: 120 }), wide),
    verdict: fc.constantFrom('met', 'not met', 'not proven'),
    actual: fc.option(number),
    unit: fc.constantFrom('ms', '/s', 'fraction'),
    rateUnit: fc.constantFrom('s', 'min', 'h', 'd', undefined),
  });
  fc.assert(
    fc.property(
      second,
      fc.record({
        planned: fc.option(fc.nat(1e9)),
        offeredPerSecond: fc.option(number),
        achievedPerSecond: number,
        p99s: fc.array(fc.option(number), { maxLength: 240 }),
        requirements: fc.array(requirement, { maxLength: 6 }),
      }),
      fc.integer({ min: MIN_PANEL_WIDTH - 1, max: 250 }),
      (changes, rest, width) => {
        const made = /** @type {any[]} */ ([rest, changes]);
        for (const line of lines(panelState(made[0], made[1]), width)) {
          const columns = stringWidth(line);
          assert.ok(columns <= Math.min(width, MAX_PANEL_WIDTH), `${columns} of ${width}: ${line}`);
          assert.equal(stripVTControlCharacters(line), line);
          assert.doesNotMatch(line, /\p{Cc}/u);
        }
      },
    ),
  );
});

test('a sparkline spans zero to the maximum', () => {
  assert.equal(sparkline([0, 1, 2, 3, 4, 5, 6, 7, 8]), '▁▂▃▄▅▆▇██');
  assert.equal(sparkline([100, null, 50]), '█ ▅');
  assert.equal(sparkline([0, 0]), '▁▁');
  assert.equal(sparkline([]), '');
});
