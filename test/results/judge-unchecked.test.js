import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeRequirement, lacksChecks } from '../../src/results/requirements/judge.js';
import { parseRequirement } from '../../src/results/requirements/requirements.js';
import { view } from './view.js';

const good = Array.from({ length: 10_000 }, () => 5);

/** @type {[string, string, number, string][]} sentence, requirement, unchecked, verdict */
const TABLE = [
  ['every answer checked', 'errors<1%', 0, 'met'],
  ['so few unchecked that they could not break it', 'errors<1%', 10, 'met'],
  ['were the unchecked wrong, there would be too many errors', 'errors<1%', 200, 'not proven'],
  ['the same for a percentile', 'p99<200ms', 200, 'not proven'],
  ['and for a rate', 'rate>=490/s', 1000, 'not proven'],
  ['a rate far above the limit holds by the checked ones alone', 'rate>=10/s', 1000, 'met'],
  ['what is not met stays so', 'p99<1ms', 1000, 'not met'],
];

for (const [sentence, text, unchecked, verdict] of TABLE) {
  test(`${text} with ${unchecked} unchecked: ${sentence}`, () => {
    const judged = judgeRequirement(parseRequirement(text), view({ good, unchecked }));
    assert.equal(judged.verdict, verdict, judged.reason);
    if (verdict === 'not proven') assert.match(judged.reason, /were not checked/);
  });
}

/** @type {[string, Parameters<typeof view>[0], boolean][]} */
const WANTING = [
  ['met but for unchecked answers', { unchecked: 200 }, true],
  ['unchecked answers that could not break it', { unchecked: 10 }, false],
  ['all were checked, and the measurement is invalid', { measurementValid: false }, false],
  ['checks would not help: the measurement is invalid', { unchecked: 200, measurementValid: false }, false],
];

for (const [sentence, changes, expected] of WANTING) {
  test(`only checks are lacking: ${expected}: ${sentence}`, () => {
    const judged = judgeRequirement(parseRequirement('p99<200ms'), view({ good, ...changes }));
    assert.equal(lacksChecks(judged), expected);
  });
}
