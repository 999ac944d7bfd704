import assert from 'node:assert/strict';
import { test } from 'node:test';
import { USED_UP } from '../../src/operations/revoke.js';
import { judgeRequirement } from '../../src/results/requirements/judge.js';
import { parseRequirement } from '../../src/results/requirements/requirements.js';
import { judgeStep } from '../../src/search/judge-step.js';
import { view } from '../results/view.js';

/** @typedef {import('../../src/results/schema.js').Result} Result */

/**
 * @param {Result['measurement']['verdict']} verdict
 * @param {{code: string, text?: string}[]} reasons
 * @param {Partial<Result['requirements'][number]>[]} requirements
 * @param {Partial<Result['totals']>} [totals]
 * @returns {Result}
 */
const resultOf = (verdict, reasons, requirements, totals = {}) =>
  /** @type {any} */ ({
    measurement: { verdict, reasons: reasons.map((reason) => ({ text: `${reason.code}.`, ...reason })) },
    requirements: requirements.map((one) => ({
      text: 'p99<1s',
      unit: 'ms',
      limit: 1000,
      reason: 'So.',
      ...one,
    })),
    totals: { planned: 1000, sent: 1000, neverSent: 0, ...totals },
    verification: { notes: [] },
  });

const MET = /** @type {const} */ ({ verdict: 'met' });
const MISSED = /** @type {const} */ ({ verdict: 'not met' });
const UNPROVEN = /** @type {const} */ ({ verdict: 'not proven' });

/**
 * As it was really judged.
 *
 * @param {string[]} requirements
 * @param {number[]} good response times
 * @param {number} unchecked of those
 */
const judgedResult = (requirements, good, unchecked) => ({
  ...resultOf('suspect', [{ code: 'mostly_unchecked' }], []),
  requirements: requirements.map((text) =>
    judgeRequirement(parseRequirement(text), view({ good, unchecked })),
  ),
});

const GOOD = Array.from({ length: 10_000 }, () => 5);

/** Of which 0.95 % are slow. */
const CLOSE = GOOD.map((ms, i) => (i < 95 ? 2000 : ms));

/** @type {[string, Result, import('../../src/search/search.js').StepVerdict, ('rate' | 'concurrency')?][]} */
const CASES = [
  ['all met, valid', resultOf('valid', [], [MET, MET]), 'met'],
  ['a suspect measurement may be met', resultOf('suspect', [{ code: 'send_lag' }], [MET]), 'met'],
  ['one missed', resultOf('valid', [], [MET, MISSED]), 'not met'],
  ['one not proven', resultOf('valid', [], [MET, UNPROVEN]), 'not proven'],
  ['missed counts before not proven', resultOf('valid', [], [UNPROVEN, MISSED]), 'not met'],
  ['the tool sent late: never met', resultOf('invalid', [{ code: 'send_lag' }], [UNPROVEN]), 'not offered'],
  [
    'sent late: never against the target',
    resultOf('invalid', [{ code: 'send_lag' }], [MISSED]),
    'not offered',
  ],
  ['the tool read late', resultOf('invalid', [{ code: 'read_lag' }], [MISSED]), 'not offered'],
  ['no file descriptors', resultOf('invalid', [{ code: 'local_limits' }], [MISSED]), 'not offered'],
  [
    'a growing backlog, within the limit',
    resultOf('suspect', [{ code: 'backlog_growing' }], [MET]),
    'not met',
  ],
  [
    'sends short of plan because the target does not keep up',
    resultOf('suspect', [{ code: 'sends_short_of_plan' }], [MET], { neverSent: 100 }),
    'not met',
  ],
  [
    'most never sent, and the tool was late as well: the target, still',
    resultOf('invalid', [{ code: 'send_lag' }, { code: 'sends_short_of_plan' }], [UNPROVEN], {
      neverSent: 600,
    }),
    'not met',
  ],
  [
    'most never sent, and the tool had no time left: nobody knows',
    resultOf('invalid', [{ code: 'tool_saturated' }, { code: 'sends_short_of_plan' }], [UNPROVEN], {
      neverSent: 600,
    }),
    'not offered',
  ],
  [
    'part of the plan left although connections were free',
    resultOf('invalid', [{ code: 'schedule_not_followed' }], [MISSED], { neverSent: 100 }),
    'not offered',
  ],
  [
    'most of it left although connections were free: that was not the target either',
    resultOf('invalid', [{ code: 'schedule_not_followed' }], [UNPROVEN], { neverSent: 600 }),
    'not offered',
  ],
  [
    'a rate above what was offered',
    resultOf('valid', [], [MET, { ...MISSED, unit: '/s', limit: 500 }]),
    'met',
  ],
  [
    'a rate offered and not reached',
    resultOf('valid', [], [{ ...MISSED, unit: '/s', limit: 50 }]),
    'not met',
  ],
  [
    'only unchecked answers keep it from being met: the tool has not kept up',
    judgedResult(['p99<1s'], GOOD, 200),
    'not offered',
  ],
  [
    'too close to call, and one answer unchecked that would not decide it',
    judgedResult(['p99<1s'], CLOSE, 1),
    'not proven',
  ],
  [
    'one requirement would be met had all been checked, another is too close to call all the same',
    judgedResult(['errors<1%', 'p99<1s'], CLOSE, 200),
    'not proven',
  ],
  ['unchecked answers that could not break it', judgedResult(['p99<1s'], GOOD, 10), 'met'],
  [
    'closed loop: the throughput is the tool',
    resultOf('suspect', [{ code: 'tool_saturated' }], [MET]),
    'not offered',
    'concurrency',
  ],
  [
    'open loop: a busy tool that kept up is none the worse',
    resultOf('suspect', [{ code: 'tool_saturated' }], [MET]),
    'met',
  ],
];

for (const [what, result, verdict, of = 'rate'] of CASES) {
  test(`${verdict}: ${what}`, () => {
    const isAsked = (/** @type {number} */ i) =>
      result.requirements[i].limit <= 100 || result.requirements[i].unit === 'ms';
    const judged = judgeStep(result, { of, enough: 300, isAsked });
    assert.equal(judged.verdict, verdict);
    assert.match(judged.reason, /\.$/);
  });
}

test('cut short as hopeless: clearly not met, unless the tool had no time left itself', () => {
  const judged = (/** @type {string} */ code) =>
    judgeStep(resultOf('invalid', [{ code }], [UNPROVEN]), {
      of: 'rate',
      enough: 300,
      cutShort: 'It was cut short.',
    });
  assert.deepEqual(judged('too_short'), { verdict: 'not met', reason: 'It was cut short.', isClear: true });
  assert.equal(judged('nothing_measured').verdict, 'not met');
  assert.equal(judged('tool_saturated').verdict, 'not offered');
});

test('what was prepared did not last: that says nothing of the target, whatever it looks like', () => {
  const usedUp = {
    ...resultOf('suspect', [{ code: 'backlog_growing' }], [MISSED]),
    verification: { notes: [USED_UP] },
  };
  const { verdict, reason } = judgeStep(/** @type {any} */ (usedUp), { of: 'concurrency', enough: 300 });
  assert.equal(verdict, 'not offered');
  assert.match(reason, /more requests than certificates .* Raise --pool\.$/);
});

test('overload is clear, a missed limit is not', () => {
  const judged = (/** @type {Result} */ result) => judgeStep(result, { of: 'rate', enough: 300 });
  assert.equal(judged(resultOf('suspect', [{ code: 'backlog_growing' }], [MET])).isClear, true);
  assert.notEqual(judged(resultOf('valid', [], [MISSED])).isClear, true);
});

test('not proven with fewer requests than could have proven anything: starved', () => {
  const judged = (/** @type {number} */ sent) =>
    judgeStep(resultOf('valid', [], [UNPROVEN], { sent }), { of: 'rate', enough: 300 }).isStarved;
  assert.deepEqual([judged(299), judged(300)], [true, false]);
});
