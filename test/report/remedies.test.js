/** What a reader needs to know first, or to do next. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderDocument } from '../../src/report/index.js';
import { compareGroups } from '../../src/result/comparison/compare.js';
import { createRunSet } from '../../src/result/runs/run-set.js';
import { sampleSearch } from '../campaigns/search/sample.js';
import { simulateStep } from '../campaigns/search/simulated-server.js';
import { runOf, runsOf, TEN } from '../result/runs.js';

test('a run that is left out of a set has its remedy', async () => {
  const grade = /** @type {const} */ ('invalid');
  const reasons = [{ code: 'load_not_offered', grade, text: 'The tool was late.', remedy: 'Lower --rate.' }];
  const runs = [runOf(1, 0), runOf(1, 1, { measurement: { verdict: 'invalid', reasons } })];
  const text = await renderDocument('text', createRunSet('nightly', runs), {});
  assert.match(text, /Left out: run 2: its measurement is invalid: The tool was late\.\s+Lower\s+--rate\./);
});

test('the first warning of a comparison is that the operations differ', () => {
  const other = runsOf(TEN, 1, { command: 'issue' });
  const groups = [
    { name: 'old', runs: runsOf(TEN, 0) },
    { name: 'new', runs: other },
  ];
  const { warnings } = compareGroups(groups, { resamples: 10 });
  assert.equal(warnings[0], 'The groups ran different operations: old ocsp; new issue.');
});

test('requests that the early end of a search step left unsent are not errors of the target', async () => {
  const search = await sampleSearch(
    {},
    {
      runStep: async (plan) => {
        const { result, ...ended } = simulateStep(plan, 10);
        const counts = {
          succeeded: 90,
          failed: 10,
          dropped: 0,
          errors: 910,
          neverSent: 900,
          neverSentDue: 900,
        };
        const cut = { ...result, totals: { ...result.totals, ...counts }, errorShare: 0.91 };
        return { ...ended, result: cut, cutShort: { why: 'The step was cut short.', isClear: true } };
      },
    },
  );
  assert.deepEqual([...new Set(search.steps.map(({ errorShare }) => errorShare))], [0.1]);
});
