import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { PkiLoadError } from '../../src/errors.js';
import { resultJsonSchema, validateResult } from '../../src/results/schema.js';
import { sampleResult, spread } from './sample.js';

const FILE = new URL('../../src/results/result.schema.json', import.meta.url);

/** `UPDATE_GOLDEN=1 node --test test/results/schema.test.js && npx biome format --write src/results` writes it anew. */
if (process.env.UPDATE_GOLDEN === '1')
  writeFileSync(FILE, `${JSON.stringify(resultJsonSchema(), null, 2)}\n`);
const published = JSON.parse(readFileSync(FILE, 'utf8'));

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
// ajv-formats is CommonJS whose types and value differ in where `default` is.
/** @type {import('ajv-formats').FormatsPlugin} */ (/** @type {unknown} */ (formats))(ajv);
const valid = ajv.compile(published);

const sample = () => sampleResult([{ outcome: 'good', service: spread(400, 1, 90), lag: 0.1 }]);

test('result.schema.json is what the declaration says', () => {
  assert.deepEqual(published, resultJsonSchema());
  assert.equal(published.$id, 'vault-pki-load/result/1');
  assert.equal(published.$schema, 'https://json-schema.org/draft/2020-12/schema');
});

/** @type {[string, Record<string, unknown>][]} */
const GOOD = [
  ['a whole result', sample()],
  ['a result without a sample', sampleResult([], { counts: { neverSent: 400 } })],
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
  test(`takes ${why}, by validator and by JSON Schema, as it is`, () => {
    assert.equal(validateResult(result), result);
    assert.equal(valid(JSON.parse(JSON.stringify(result))), true, JSON.stringify(valid.errors));
  });
}

/** @type {[string, unknown, RegExp][]} */
const BAD = [
  ['another schema', { ...sample(), schema: 'vault-pki-load/result/2' }, /schema: /],
  ['a missing part', { ...sample(), latencyMs: undefined }, /latencyMs: /],
  ['a negative count', { ...sample(), totals: { ...sample().totals, failed: -1 } }, /totals\.failed: /],
  ['a fraction of a request', { ...sample(), totals: { ...sample().totals, sent: 0.5 } }, /totals\.sent: /],
  ['a local time', { ...sample(), startedAt: '2026-01-02T03:04:05+02:00' }, /startedAt: /],
  [
    'an unknown verdict',
    { ...sample(), measurement: { verdict: 'fine', reasons: [] } },
    /measurement\.verdict: /,
  ],
  ['a number as outcome', { ...sample(), outcomes: { good: 'many' } }, /outcomes\.good: /],
  ['a list', [], /the whole: /],
  ['nothing', null, /the whole: /],
];

for (const [why, result, message] of BAD) {
  test(`refuses ${why}, by validator and by JSON Schema`, () => {
    assert.throws(
      () => validateResult(result, 'r.json'),
      (error) => {
        assert.ok(error instanceof PkiLoadError);
        assert.equal(error.code, 'bad_result');
        assert.match(error.message, /^r\.json is not a vault-pki-load\/result\/1: /);
        assert.match(error.message, message);
        return true;
      },
    );
    assert.equal(valid(JSON.parse(JSON.stringify(result))), false);
  });
}
