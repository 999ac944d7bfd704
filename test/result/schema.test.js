import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { amount, count, number, record, share, validatorOf as validator } from '../../src/result/declared.js';
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
  [
    'long lists and many names of unknown keys',
    {
      ...sample(),
      list: Array(1e6).fill(0),
      rows: Array(1000).fill(Array(1000).fill(0)),
      names: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`name ${i}`, i])),
    },
  ],
];

for (const [why, result] of GOOD) {
  test(`accepts ${why} unchanged, by validator and by JSON Schema`, () => {
    assert.equal(validateResult(result), result);
    assert.equal(problemIn(result), null);
  });
}

const REQUIREMENT = {
  ...{ text: 'p99<1s', verdict: 'met', limit: 1000, unit: 'ms', actual: 1, reason: null },
};

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
  [
    'more requirements than a run may have',
    { ...sample(), requirements: Array(201).fill({ ...REQUIREMENT }) },
    /requirements: .*200/,
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

test('many names in one object are refused', () => {
  const outcomes = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`name ${i}`, 'wrong']));
  const message = /^r\.json is not a vault-pki-load\/result\/1: an object has more than 10000 names/;
  assert.throws(() => validateResult({ ...sample(), outcomes }, 'r.json'), refusal('bad_result', message));
});

test('a record within a record is read up to its first wrong value', () => {
  let read = 0;
  const row = {
    get value() {
      return -Math.max(0, read++);
    },
  };
  const many = (/** @type {object} */ one) =>
    Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`name ${i}`, one]));
  const records = record(record(z.object({ value: count })));
  const validate = validator(z.object({ schema: z.literal('vault-pki-load/list/1'), records }));
  const document = { schema: 'vault-pki-load/list/1', records: many(many(row)) };
  const message = /: records\.name 0\.name 0\.value: /;
  assert.throws(() => validate(document, 'l.json'), refusal('bad_list', message));
  assert.ok(read < 910, `it was read ${read} times; once each to count names`);
  read = Number.NEGATIVE_INFINITY;
  assert.equal(validate(document), document);
});

test('a list is read up to its first wrong element', () => {
  const wrong = { count: -1, amount: -1, number: Number.MAX_VALUE, share: 1.1 };
  for (const [name, schema] of Object.entries({ count, amount, number, share })) {
    let read = 0;
    const row = {
      get value() {
        return wrong[/** @type {keyof typeof wrong} */ (name)] * Math.sign(read++);
      },
    };
    const list = z.array(z.object({ value: schema }));
    const validate = validator(z.object({ schema: z.literal('vault-pki-load/list/1'), list }));
    const document = { schema: 'vault-pki-load/list/1', list: Array(1000).fill(row) };
    assert.throws(() => validate(document, 'l.json'), refusal('bad_list', /list\.\d+\.value: /));
    assert.ok(read < 1010, `${name} was read ${read} times; once each to count names`);
  }
});
