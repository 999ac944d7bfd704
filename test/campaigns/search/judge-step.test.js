import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeStep } from '../../../src/campaigns/search/find-max.js';
import { USED_UP } from '../../../src/operations/revoke.js';
import { parseRequirement } from '../../../src/plan/requirements.js';
import { judgeRequirement } from '../../../src/result/requirements/judge.js';
import { TOKEN_ENDED } from '../../../src/verdict/observed.js';
import { view } from '../../result/view.js';

/** @import { Result } from '../../../src/result/schema.js' */
/** @import { SearchStep } from '../../../src/result/search/search-schema.js' */

/**
 * @param {Result['measurement']['verdict']} verdict
 * @param {{code: string, text?: string}[]} reasons
 * @param {Partial<Result['requirements'][number]>[]} requirements
 * @param {Partial<Result['totals']>} [totals]
 * @param {number} [busyShare] of the sender
 * @returns {Result}
 */
const resultOf = (verdict, reasons, requirements, totals = {}, busyShare = 0.3) =>
  /** @type {any} */ ({
    measurement: {
      verdict,
      reasons: reasons.map((reason) => ({
        text: `${reason.code}.`,
        grade: verdict === 'invalid' ? 'invalid' : 'remark',
        ...reason,
      })),
      observed: { cpu: { senderBusyShare: busyShare } },
    },
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
  ...resultOf('valid', [{ code: 'unchecked' }], []),
  requirements: requirements.map((text) =>
    judgeRequirement(parseRequirement(text), view({ good, unchecked })),
  ),
});

const GOOD = Array.from({ length: 10_000 }, () => 5);

/** Of which 0.95 % are slow. */
const CLOSE = GOOD.map((ms, i) => (i < 95 ? 2000 : ms));

/** @type {[string, Result, SearchStep['verdict'], ('rate' | 'concurrency')?][]} */
const CASES = [
  ['all met, valid', resultOf('valid', [], [MET, MET]), 'met'],
  ['with a remark', resultOf('valid', [{ code: 'busy_machine' }], [MET]), 'met'],
  ['one missed', resultOf('valid', [], [MET, MISSED]), 'not met'],
  ['one not proven', resultOf('valid', [], [MET, UNPROVEN]), 'not proven'],
  ['not met takes precedence over not proven', resultOf('valid', [], [UNPROVEN, MISSED]), 'not met'],
  ['not offered: never met', resultOf('invalid', [{ code: 'load_not_offered' }], [UNPROVEN]), 'not offered'],
  [
    'not offered: never counts against the target',
    resultOf('invalid', [{ code: 'load_not_offered' }], [MISSED]),
    'not offered',
  ],
  ['a growing backlog, within the limit', resultOf('valid', [{ code: 'backlog_growing' }], [MET]), 'not met'],
  [
    'only the tool prevents a verdict',
    resultOf('valid', [], [MET, { ...UNPROVEN, doubt: 'tool' }]),
    'not offered',
  ],
  [
    'doubt from the tool and the sample',
    resultOf('valid', [], [{ ...UNPROVEN, doubt: 'both' }]),
    'not proven',
  ],
  [
    'connections that rested after failed connects prevent met',
    resultOf('valid', [], [MET, { ...UNPROVEN, doubt: 'rested' }]),
    'not met',
  ],
  [
    'a rate above the offered one',
    resultOf('valid', [], [MET, { ...MISSED, unit: '/s', limit: 500 }]),
    'met',
  ],
  [
    'a rate offered and not reached',
    resultOf('valid', [], [{ ...MISSED, unit: '/s', limit: 50 }]),
    'not met',
  ],
  [
    'only unchecked responses prevent met: the tool did not keep up',
    judgedResult(['p99<1s'], GOOD, 200),
    'not offered',
  ],
  [
    'too close to call, with one unchecked response that would not decide it',
    judgedResult(['p99<1s'], CLOSE, 1),
    'not proven',
  ],
  [
    'one requirement lacks checks, another is too close to call',
    judgedResult(['errors<1%', 'p99<1s'], CLOSE, 200),
    'not proven',
  ],
  ['unchecked responses that could not break it', judgedResult(['p99<1s'], GOOD, 10), 'met'],
  [
    'closed loop: throughput limited by the tool',
    resultOf('valid', [], [MET], {}, 0.9),
    'not offered',
    'concurrency',
  ],
  ['closed loop: the sender has time to spare', resultOf('valid', [], [MET], {}, 0.89), 'met', 'concurrency'],
  ['open loop: a busy tool that kept up', resultOf('valid', [], [MET], {}, 0.99), 'met'],
];

for (const [what, result, verdict, of = 'rate'] of CASES) {
  test(`${verdict}: ${what}`, () => {
    const isJudged = (/** @type {number} */ i) =>
      result.requirements[i].limit <= 100 || result.requirements[i].unit === 'ms';
    const judged = judgeStep(result, { of, enough: 300, isJudged });
    assert.equal(judged.verdict, verdict);
    assert.match(judged.reason, /\.$/);
  });
}

test('ended early: clearly not met', () => {
  const judged = judgeStep(resultOf('invalid', [{ code: 'nothing_measured' }], [UNPROVEN]), {
    of: 'rate',
    enough: 300,
    cutShort: { why: 'The step was cut short.', isClear: true },
  });
  assert.deepEqual(judged, { verdict: 'not met', reason: 'The step was cut short.', isClear: true });
});

test('ended early by refusals of a token that has ended: no verdict on the target', () => {
  const ended = resultOf('valid', [], [{ ...UNPROVEN, doubt: 'tool' }]);
  const step = {
    of: /** @type {const} */ ('rate'),
    enough: 300,
    cutShort: { why: 'The step was cut short.', isClear: false },
  };
  assert.deepEqual(judgeStep(ended, step), { verdict: 'not met', reason: step.cutShort.why, isClear: false });
  const noted = /** @type {any} */ ({ ...ended, verification: { notes: [TOKEN_ENDED] } });
  assert.equal(judgeStep(noted, step).verdict, 'not offered');
});

test('ran out of certificates: no verdict on the target, whatever the figures', () => {
  const usedUp = {
    ...resultOf('valid', [{ code: 'backlog_growing' }], [MISSED]),
    verification: { notes: [USED_UP] },
  };
  const { verdict, reason } = judgeStep(/** @type {any} */ (usedUp), { of: 'concurrency', enough: 300 });
  assert.equal(verdict, 'not offered');
  assert.match(reason, /more requests than certificates: .* raise --pool\.$/);
});

test('overload is a clear verdict, a requirement that is not met is not', () => {
  const judged = (/** @type {Result} */ result) => judgeStep(result, { of: 'rate', enough: 300 });
  assert.equal(judged(resultOf('valid', [{ code: 'backlog_growing' }], [MET])).isClear, true);
  assert.notEqual(judged(resultOf('valid', [], [MISSED])).isClear, true);
});

test('not proven with too few requests for any proof: starved', () => {
  const judged = (/** @type {number} */ sent) =>
    judgeStep(resultOf('valid', [], [UNPROVEN], { sent }), { of: 'rate', enough: 300 }).isStarved;
  assert.deepEqual([judged(299), judged(300)], [true, false]);
});
