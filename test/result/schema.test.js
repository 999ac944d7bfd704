import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateResult } from '../../src/result/schema.js';
import { validatorOf } from '../json-schema.js';
import { sampleResult, spread, timelineOf } from './sample.js';
import { refusal } from './support.js';

const problemIn = await validatorOf('result');

const sample = () => sampleResult([{ outcome: 'good', service: spread(400, 1, 90), lag: 0.1 }]);

/** @type {[string, Record<string, unknown>][]} */
const GOOD = [
  ['a whole result', sample()],
  ['a result without a sample', sampleResult([], { counts: { neverSent: 400 } })],
  [
    'a result of a run that goes on, of a part of a plan, with all that seconds say',
    {
      ...sample(),
      unfinished: true,
      windowSeconds: 12.5,
      shard: { index: 1, of: 4 },
      timeline: timelineOf([{ outcome: 'good', service: spread(400, 1, 90), lag: 0.1 }], 4),
    },
  ],
  ['keys that a later version may add, at the top', { ...sample(), novelty: 1 }],
  [
    'and further down',
    {
      ...sample(),
      totals: { ...sample().totals, retried: 3 },
      environment: { ...sample().environment, cpu: 'x' },
    },
  ],
];

for (const [why, result] of GOOD) {
  test(`accepts ${why} unchanged, by validator and by JSON Schema`, () => {
    assert.equal(validateResult(result), result);
    assert.equal(problemIn(result), null);
  });
}

/** @type {[string, unknown, RegExp][]} */
const BAD = [
  ['another schema', { ...sample(), schema: 'vault-pki-load/result/2' }, /schema: /],
  ['a missing part', { ...sample(), latencyMs: undefined }, /latencyMs: /],
  ['a negative count', { ...sample(), totals: { ...sample().totals, failed: -1 } }, /totals\.failed: /],
  ['a fraction of a request', { ...sample(), totals: { ...sample().totals, sent: 0.5 } }, /totals\.sent: /],
  ['a local time', { ...sample(), startedAt: '2026-01-02T03:04:05+02:00' }, /startedAt: /],
  ['an unknown verdict', { ...sample(), measurement: { verdict: 'fine', reasons: [] } }, /nt\.verdict: /],
  ['a number as outcome', { ...sample(), outcomes: { good: 'many' } }, /outcomes\.good: /],
  ['a finished result that is called unfinished', { ...sample(), unfinished: false }, /unfinished: /],
  ['a part that is none', { ...sample(), shard: { index: 0, of: 0 } }, /shard\.of: /],
  [
    'a second with half an arrival',
    { ...sample(), timeline: [{ ...sample().timeline[0], due: 0.5 }] },
    /timeline\.0\.due: /,
  ],
  ['a list', [], /top level: /],
  ['nothing', null, /top level: /],
];

for (const [why, result, message] of BAD) {
  test(`refuses ${why}, by validator and by JSON Schema`, () => {
    assert.throws(
      () => validateResult(result, 'r.json'),
      refusal('bad_result', /^r\.json is not a vault-pki-load\/result\/1: /, message),
    );
    assert.notEqual(problemIn(result), null);
  });
}
