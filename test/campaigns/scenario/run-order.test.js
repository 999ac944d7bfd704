/** The order of a scenario's runs: a drift of the machine must fall on all targets alike. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { turnsOf } from '../../../src/campaigns/scenario/run-scenario.js';

/** @param {string[]} runs @param {string[]} targets */
const stepsOf = (runs, targets) => runs.flatMap((run) => targets.map((target) => ({ run, target })));

/** @param {string[]} runs @param {string[]} targets @param {number} repeat @returns {string} `A1 B1 B2 A2` */
function orderOf(runs, targets, repeat) {
  const steps = stepsOf(runs, targets);
  return [...turnsOf(steps, repeat)]
    .map(({ step, number }) => {
      const { run, target } = steps[step];
      return `${runs.length > 1 ? `${run}:` : ''}${target}${number + 1}`;
    })
    .join(' ');
}

describe('turns', () => {
  /** @type {[string, string[], string[], number, string][]} */
  const TABLE = [
    ['one target', ['r'], ['A'], 3, 'A1 A2 A3'],
    ['two targets alternate', ['r'], ['A', 'B'], 4, 'A1 B1 B2 A2 A3 B3 B4 A4'],
    ['three targets rotate', ['r'], ['A', 'B', 'C'], 3, 'A1 B1 C1 B2 C2 A2 C3 A3 B3'],
    [
      'runs keep their order in each repeat: one can read what the previous one wrote',
      ['write', 'read'],
      ['A', 'B'],
      2,
      'write:A1 write:B1 read:A1 read:B1 write:B2 write:A2 read:B2 read:A2',
    ],
  ];
  for (const [what, runs, targets, repeat, order] of TABLE) {
    test(what, () => assert.equal(orderOf(runs, targets, repeat), order));
  }

  const names = (/** @type {number} */ count, /** @type {string} */ of) =>
    Array.from({ length: count }, (_, i) => `${of}${i}`);

  test('each step runs each of its repeats once, in order', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 12 }),
        (runs, targets, repeat) => {
          const steps = stepsOf(names(runs, 'r'), names(targets, 't'));
          const turns = [...turnsOf(steps, repeat)];
          for (const step of steps.keys()) {
            const own = turns.filter((turn) => turn.step === step).map(({ number }) => number);
            assert.deepEqual(own, [...Array(repeat).keys()]);
          }
          assert.equal(turns.length, steps.length * repeat);
        },
      ),
    );
  });

  test('are not computed in advance: a hundred million cost nothing', () => {
    const [first] = turnsOf(stepsOf(names(100, 'r'), ['A']), 1_000_000);
    assert.deepEqual(first, { i: 0, step: 0, number: 0 });
  });

  test('linear drift affects all targets equally if each starts equally often', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 6 }), fc.integer({ min: 1, max: 4 }), (targets, times) => {
        const steps = stepsOf(['r'], names(targets, 't'));
        const sums = steps.map((_, step) =>
          [...turnsOf(steps, targets * times)].reduce(
            (sum, turn, at) => sum + (turn.step === step ? at : 0),
            0,
          ),
        );
        assert.equal(new Set(sums).size, 1, sums.join());
      }),
    );
  });
});
