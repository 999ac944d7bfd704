import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { linesOf, SHAPES } from '../../../src/campaigns/scenario/stages.js';
import { PkiLoadError } from '../../../src/common/errors.js';
import { createSchedule } from '../../../src/plan/schedule.js';
import { HEAD, readAndPlan } from './read.js';

/** @type {[string, string, Record<string, unknown>, string][]} what, shape, as the scenario has it, lines: ms, from, to */
const RATES = [
  ['a bare number is per second', 'hold', { rate: 20, duration: '30s' }, '30000 20 20'],
  ['per hour, and a bare duration in seconds', 'soak', { rate: '3600/h', duration: 60 }, '60000 1 1'],
  ['zero is a valid level', 'hold', { rate: '0/s', duration: '1m' }, '60000 0 0'],
  .../** @type {[string, string, Record<string, unknown>, string][]} */ (
    ['0', '0.00', '00', '0_000', '.0', '0e3', ' 0 ', '0/s', '0 / sec', '0/m', '0/min', '0/h', '0/hour', '0/d']
      .concat('0/day')
      .map((from) => [`from "${from}"`, 'ramp', { from, to: 10, duration: '90s' }, '90000 0 10'])
  ),
  ['a ramp from zero', 'ramp', { from: 0, to: '600/min', duration: '90s' }, '90000 0 10'],
  ['a ramp down', 'ramp', { from: 10, to: 2.5, duration: '500ms' }, '500 10 2.5'],
  ['steps up', 'steps', { from: 10, to: 30, by: 10, every: '5s' }, '5000 10 10, 5000 20 20, 5000 30 30'],
  ['steps down', 'steps', { from: 3, to: 1, by: 1, every: '1s' }, '1000 3 3, 1000 2 2, 1000 1 1'],
  ['the last step is shorter', 'steps', { from: 1, to: 4, by: 2, every: 1 }, '1000 1 1, 1000 3 3, 1000 4 4'],
  [
    'steps of a tenth end exactly',
    'steps',
    { from: 0.1, to: 0.3, by: 0.1, every: 1 },
    '1000 0.1 0.1, 1000 0.2 0.2, 1000 0.3 0.3',
  ],
  ['one step', 'steps', { from: 5, to: 5, by: 1, every: '1s' }, '1000 5 5'],
  ['a step larger than the range', 'steps', { from: 5, to: 7, by: 10, every: '1s' }, '1000 5 5, 1000 7 7'],
  [
    'bursts, the last one cut off',
    'burst',
    { base: 0, peak: 50, every: '10s', for: '2s', duration: '21s' },
    '2000 50 50, 8000 0 0, 2000 50 50, 8000 0 0, 1000 50 50',
  ],
  [
    'a burst shorter than its period',
    'burst',
    { base: 1, peak: 5, every: '10s', for: '2s', duration: '5s' },
    '2000 5 5, 3000 1 1',
  ],
  [
    'a spike',
    'spike',
    { base: 5, peak: 100, before: '10s', for: '1s', after: '20s' },
    '10000 5 5, 1000 100 100, 20000 5 5',
  ],
  [
    'a spike without base before and after',
    'spike',
    { base: 5, peak: 100, before: 0, for: '1s', after: '0s' },
    '1000 100 100',
  ],
];

/** @type {[string, string, Record<string, unknown>, string][]} */
const IN_FLIGHT = [
  ['a number', 'hold', { concurrency: 1300, duration: '10s' }, '10000 1300 1300'],
  ['a number with underscores', 'hold', { concurrency: '1_300', duration: '10s' }, '10000 1300 1300'],
  ['zero', 'hold', { concurrency: 0, duration: '10s' }, '10000 0 0'],
  ['a ramp', 'ramp', { from: 1, to: 100, duration: '10s' }, '10000 1 100'],
  ['steps', 'steps', { from: '1', to: '4', by: '2', every: '1s' }, '1000 1 1, 1000 3 3, 1000 4 4'],
  [
    'a burst',
    'burst',
    { base: 1, peak: 9, every: 2, for: 1, duration: 4 },
    '1000 9 9, 1000 1 1, 1000 9 9, 1000 1 1',
  ],
  ['a soak', 'soak', { concurrency: 2, duration: '2h' }, '7200000 2 2'],
  ['a spike', 'spike', { base: 1, peak: 9, before: 1, for: 1, after: 1 }, '1000 1 1, 1000 9 9, 1000 1 1'],
];

/** @param {number} value */
const rounded = (value) => Number(value.toFixed(9));

for (const [level, table] of /** @type {const} */ ([
  ['rate', RATES],
  ['concurrency', IN_FLIGHT],
])) {
  describe(`in ${level}:`, () => {
    for (const [what, shape, given, lines] of table) {
      test(`${shape}: ${what}`, () => {
        const drawn = linesOf(shape, given, level).map(({ durationMs, from, to }) =>
          [durationMs, rounded(from), rounded(to)].join(' '),
        );
        assert.equal(drawn.join(', '), lines);
      });
    }
    test('every shape is read', () => {
      const shapes = new Set(table.map(([, shape]) => shape));
      assert.deepEqual([...shapes].sort(), Object.keys(SHAPES).sort());
    });
  });
}

/** @type {[string, string, Record<string, unknown>, 'rate' | 'concurrency', string, RegExp][]} */
const REFUSED = [
  ['above a million', 'hold', { rate: 1_000_001, duration: 1 }, 'rate', 'rate', /at most 1000000\/s/],
  ['a month and a day', 'soak', { rate: 1, duration: '32d' }, 'rate', 'duration', /at most 744 h/],
  ['below a millisecond', 'ramp', { from: 1, to: 2, duration: '10us' }, 'rate', 'duration', /least 1 ms/],
  [
    'a peak of zero duration',
    'spike',
    { base: 1, peak: 2, before: 1, for: 0, after: 1 },
    'rate',
    'for',
    /least 1 ms/,
  ],
  [
    'zero with an invalid unit',
    'ramp',
    { from: '0/banana', to: 2, duration: 1 },
    'rate',
    'from',
    /^--from is "0\/banana", which is not a rate such as 0, 20\/s or 1000\/h\.$/,
  ],
  ['zero without a unit', 'ramp', { from: '0/', to: 2, duration: 1 }, 'rate', 'from', /is not a rate/],
  [
    'too many in flight, with underscores',
    'ramp',
    { from: '1_000', to: '20_000', duration: 1 },
    'concurrency',
    'to',
    /^--to is "20_000"; it must be at most 10000\.$/,
  ],
  ['no digits', 'hold', { concurrency: '_', duration: 1 }, 'concurrency', 'concurrency', /not a whole/],
  ['half a request', 'ramp', { from: 0.5, to: 2, duration: 1 }, 'concurrency', 'from', /not a whole number/],
  ['a rate', 'ramp', { from: 1, to: '2/s', duration: 1 }, 'concurrency', 'to', /not a whole number/],
  ['a missing field', 'hold', { rate: 1 }, 'rate', 'hold', /has no duration/],
];

for (const [what, shape, given, level, field, message] of REFUSED) {
  test(`rejected: ${what}`, () => {
    assert.throws(
      () => linesOf(shape, given, level),
      (error) =>
        error instanceof PkiLoadError &&
        error.message.startsWith(`--${field} `) &&
        message.test(error.message),
    );
  });
}

test('the number of arrivals equals the area under the stages', async () => {
  const { plan } = await readAndPlan(
    `${HEAD}stages:
  - ramp: {from: 0, to: 20, duration: 10s}
  - hold: {rate: 0, duration: 5s}
  - steps: {from: 10, to: 30, by: 10, every: 2s}
  - burst: {base: 1, peak: 11, every: 5s, for: 1s, duration: 10s}
`,
  );
  const area = 100 + 0 + 120 + 30;
  assert.ok(Math.abs(createSchedule(plan.load).count - area) <= 1);
  assert.equal(plan.load.durationMs, 31_000);
  assert.equal(plan.load.ratePerSecond, 30);
  const names = plan.load.stages?.map(({ name }) => name);
  assert.deepEqual(names, ['ramp', 'hold', 'steps', 'burst']);
});

test('numbers stages of the same shape, and keeps given names', async () => {
  const hold = 'hold: {rate: 5, duration: 1s}';
  const { plan } = await readAndPlan(
    `${HEAD}stages: [{${hold}}, {name: rest, ${hold}}, {${hold}}, {${hold}}]\n`,
  );
  const names = plan.load.stages?.map(({ name }) => name);
  assert.deepEqual(names, ['hold', 'rest', 'hold 2', 'hold 3']);
});

test('no stage gets the name of another, by which requirements find it', async () => {
  const hold = 'hold: {rate: 5, duration: 1s}';
  for (const [given, expected] of [
    [`[{${hold}}, {name: hold, ${hold}}]`, ['hold 2', 'hold']],
    [`[{name: hold 2, ${hold}}, {${hold}}, {${hold}}]`, ['hold 2', 'hold', 'hold 3']],
  ]) {
    const { plan } = await readAndPlan(`${HEAD}stages: ${given}\n`);
    assert.deepEqual(
      plan.load.stages?.map(({ name }) => name),
      expected,
    );
  }
});
