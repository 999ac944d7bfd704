import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkResult } from '../../src/result/check/check.js';
import { validateResult } from '../../src/result/schema.js';
import { HARD_RESULTS } from './hard-results.js';
import { SAMPLES } from './samples.js';

for (const [name, result] of Object.entries({ ...SAMPLES, ...HARD_RESULTS })) {
  test(`the sample ${name} is realistic: it adds up and matches the schema`, () => {
    assert.deepEqual(checkResult(result), []);
    assert.equal(validateResult(result), result);
  });
}
