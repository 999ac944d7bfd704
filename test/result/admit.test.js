/** Which runs a comparison takes, and what it says of those that it does not. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compareGroups } from '../../src/result/comparison/compare.js';
import { runsOf, slower, TEN } from './runs.js';
import { QUICK, refusal, two } from './support.js';

/** @typedef {Parameters<typeof compareGroups>[0]} Groups */
/** @typedef {Parameters<typeof compareGroups>[1]} Options */

/** @type {Parameters<typeof runsOf>[2]} */
const INVALID = {
  measurement: { verdict: 'invalid', reasons: [{ code: 'send_lag', text: 'Requests went out late.' }] },
};

const old = { name: 'old', runs: runsOf(TEN, 0) };
const [first] = old.runs;
const named = (/** @type {string} */ name, /** @type {Parameters<typeof runsOf>[2]} */ changes) => ({
  name,
  result: runsOf([50], 99 + name.length, changes)[0].result,
});
const bad = named('bad.json', INVALID);
const stopped = named('stopped.json', { interrupted: true });
const cutOff = named('unfinished.json', { unfinished: true });
const part = named('part-1.json', { shard: { index: 1, of: 4 } });
const mixed = { name: 'new', runs: [...runsOf(TEN, 1), bad, stopped] };

describe('rejects', () => {
  /** @type {[string, Groups, Options, string, RegExp][]} */
  const TABLE = [
    ['no groups', [], {}, 'nothing_to_compare', /only one group of runs\. Add another group/],
    ['one group', [old], {}, 'nothing_to_compare', /only one group/],
    [
      'more groups than can be compared',
      Array(51).fill(old),
      {},
      'too_many_groups',
      /^There are 51 groups of runs; at most 50 can be compared\. Compare them in parts/,
    ],
    [
      'a group without runs',
      [old, { name: 'new', runs: [] }],
      {},
      'no_usable_run',
      /^new has no usable run\. /,
    ],
    [
      'invalid, interrupted and unfinished runs, with group and reason',
      [{ name: 'old', runs: [...old.runs, cutOff] }, mixed],
      {},
      'invalid_runs',
      /^Invalid or incomplete runs \(3\): unfinished\.json of old: it was cut off: .*; bad\.json of new: its measurement is invalid: Requests went out late; stopped\.json of new: it was interrupted\. Repeat them; or compare the others with --leave-out-invalid, or all of them with --allow-invalid\.$/,
    ],
    [
      'a group without usable runs',
      [old, { name: 'new', runs: runsOf([1, 2], 1, { interrupted: true }) }],
      { leaveOutInvalid: true },
      'no_usable_run',
      /^new has no usable run; run-1\.json: it was interrupted; run-2\.json: .*--allow-invalid\.$/,
    ],
    [
      'flags that contradict each other',
      [old, mixed],
      { allowInvalid: true, leaveOutInvalid: true },
      'contradictory_options',
      /--allow-invalid.*--leave-out-invalid.*Choose one of the two\.$/,
    ],
    [
      'a part of a plan, with any flags',
      [old, { name: 'new', runs: [...runsOf(TEN, 1), part] }],
      { allowInvalid: true },
      'part_of_a_plan',
      /^part-1\.json is part 1 of 4 of a plan, not a whole run\. Merge the parts first: vault-pki-load merge FILE\.\.\.$/,
    ],
    [
      'a duplicate run',
      [{ name: 'old', runs: [first, first] }, mixed],
      { allowInvalid: true },
      'same_run_twice',
      /^run-1\.json of old is given twice\. Pass each run only once\.$/,
    ],
    [
      'a copy of a run',
      two([...old.runs, { name: 'copy.json', result: structuredClone(first.result) }], runsOf(TEN, 1)),
      {},
      'same_run_twice',
      /^run-1\.json of old and copy\.json of old are the same run\./,
    ],
    [
      'a run in two groups, e.g. from too wide a pattern',
      [{ name: 'old', runs: [...old.runs, mixed.runs[0]] }, mixed],
      { allowInvalid: true },
      'same_run_twice',
      /^run-1\.json of old and run-1\.json of new are the same run\. Pass each run only once\.$/,
    ],
    [
      'a copy of a run in another group',
      [old, { name: 'new', runs: [...runsOf(TEN, 1), { ...first, name: 'copy.json' }] }],
      {},
      'same_run_twice',
      /^run-1\.json of old and copy\.json of new are the same run\. Pass each run only once\.$/,
    ],
    [
      'the same group twice',
      [old, { ...old, name: 'again' }],
      {},
      'same_run_twice',
      /^run-1\.json of old and run-1\.json of again are the same run\./,
    ],
    ['an invalid --fail-if, before anything else', [], { failIf: ['p99 slow'] }, 'bad_fail_if', /"p99 slow"/],
  ];
  for (const [why, groups, options, code, message] of TABLE) {
    test(why, () => {
      assert.throws(() => compareGroups(groups, options), refusal(code, message));
    });
  }
});

describe('invalid and interrupted runs', () => {
  test('are left out on request, with a warning that names them', () => {
    const { groups, metrics, warnings } = compareGroups([old, mixed], { leaveOutInvalid: true, ...QUICK });
    const out = groups[1].runs.filter(({ used }) => !used);
    assert.deepEqual(
      out.map(({ name, why, verdict }) => [name, why, verdict]),
      [
        ['bad.json', 'its measurement is invalid: Requests went out late', 'invalid'],
        ['stopped.json', 'it was interrupted', 'valid'],
      ],
    );
    assert.equal(groups[1].metrics.p99.values.length, 10);
    assert.equal(metrics[0].comparisons[0].verdict, 'no difference shown');
    assert.deepEqual(warnings, [
      '2 of 12 runs of new were left out, so the group may look better than it is.',
    ]);
  });

  test('are included on request, with a warning for each', () => {
    const { groups, warnings } = compareGroups([old, mixed], { allowInvalid: true, ...QUICK });
    assert.equal(groups[1].metrics.p99.values.length, 12);
    assert.ok(groups[1].runs.every(({ used }) => used));
    assert.equal(groups[1].runs[11].why, 'it was interrupted');
    assert.deepEqual(warnings, [
      'bad.json of new is included, but its measurement is invalid: Requests went out late.',
      'stopped.json of new is included, but it was interrupted.',
    ]);
  });

  test('need no flag if there are none', () => {
    const groups = [old, { name: 'new', runs: runsOf(slower(1.1), 1) }];
    assert.deepEqual(
      compareGroups(groups, { leaveOutInvalid: true, ...QUICK }),
      compareGroups(groups, QUICK),
    );
  });

  /** @type {[string, number, 'passed' | 'not proven'][]} */
  const LEFT = [
    ['the worst four of ten', 4, 'passed'],
    ['the worst six of ten', 6, 'not proven'],
  ];
  for (const [what, worst, verdict] of LEFT) {
    test(`a limit, with ${what} left out: ${verdict}`, () => {
      const runs = [...runsOf(TEN.slice(worst), 1), ...runsOf(slower(3).slice(0, worst), 301, INVALID)];
      const { failIf } = compareGroups([old, { name: 'new', runs }], {
        leaveOutInvalid: true,
        failIf: ['p99 slower'],
        ...QUICK,
      });
      assert.equal(failIf[0].verdict, verdict);
    });
  }
});
