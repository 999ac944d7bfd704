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
  ['a complete result', sample()],
  ['a result without samples', sampleResult([], { counts: { neverSent: 400 } })],
  [
    'an unfinished result of a part, with every key of a second',
    {
      ...sample(),
      unfinished: true,
      windowSeconds: 12.5,
      shard: { index: 1, of: 4 },
      timeline: timelineOf([{ outcome: 'good', service: spread(400, 1, 90), lag: 0.1 }], 4),
    },
  ],
  ['unknown keys at the top level', { ...sample(), novelty: 1 }],
  [
    'unknown keys further down',
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
  ['a missing key', { ...sample(), latencyMs: undefined }, /latencyMs: /],
  ['a negative count', { ...sample(), totals: { ...sample().totals, failed: -1 } }, /totals\.failed: /],
  ['a fraction of a request', { ...sample(), totals: { ...sample().totals, sent: 0.5 } }, /totals\.sent: /],
  ['a local time', { ...sample(), startedAt: '2026-01-02T03:04:05+02:00' }, /startedAt: /],
  ['an unknown verdict', { ...sample(), measurement: { verdict: 'fine', reasons: [] } }, /nt\.verdict: /],
  ['a text as count of an outcome', { ...sample(), outcomes: { good: 'many' } }, /outcomes\.good: /],
  ['unfinished: false', { ...sample(), unfinished: false }, /unfinished: /],
  ['a part of zero parts', { ...sample(), shard: { index: 0, of: 0 } }, /shard\.of: /],
  [
    'a second with half an arrival',
    { ...sample(), timeline: [{ ...sample().timeline[0], due: 0.5 }] },
    /timeline\.0\.due: /,
  ],
  ['a list', [], /top level: /],
  ['null', null, /top level: /],
];

for (const [why, result, message] of BAD) {
  test(`rejects ${why}, by validator and by JSON Schema`, () => {
    assert.throws(
      () => validateResult(result, 'r.json'),
      refusal('bad_result', /^r\.json is not a vault-pki-load\/result\/1: /, message),
    );
    assert.notEqual(problemIn(result), null);
  });
}
