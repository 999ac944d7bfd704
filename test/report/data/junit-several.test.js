import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sanitizeText } from '../../../src/common/sanitize.js';
import { renderDocument } from '../../../src/report/index.js';
import { compareGroups } from '../../../src/result/comparison/compare.js';
import { createRunSet } from '../../../src/result/runs/run-set.js';
import { runOf, runsOf, slower, TEN } from '../../result/runs.js';
import { readJunit } from './junit-document.js';

/** @import { Comparison } from '../../../src/result/comparison/comparison-schema.js' */
/** @import { Result } from '../../../src/result/schema.js' */

const NASTY = '</testcase>]]>"&\u001b[2J\u202e';

/** @param {Result['requirements'][number]['verdict']} verdict @returns {Partial<Result>} */
function judged(verdict) {
  const reason = `It is ${verdict}.`;
  return { requirements: [{ text: 'p99<10ms', verdict, actual: 9, limit: 10, unit: 'ms', reason }] };
}

const BELIEVED = 'the measurement is valid';

const RUN_SET = createRunSet(NASTY, [
  runOf(1, 0, judged('met')),
  runOf(1.1, 1, judged('not met')),
  runOf(1, 2, { ...judged('not proven'), measurement: { verdict: 'invalid', reasons: [] } }),
  runOf(1, 3, { ...judged('met'), interrupted: true }),
]);

/** What `compare` writes; how it judges is tested there. @type {Comparison} */
const COMPARISON = {
  ...compareGroups(
    [
      { name: 'old', runs: runsOf(TEN, 0) },
      { name: NASTY, runs: runsOf(slower(1.1), 100) },
    ],
    { resamples: 100 },
  ),
  tool: { version: '0.1.0' },
  createdAt: '2026-01-02T03:04:05.678Z',
  command: 'vault-pki-load compare old.json --with new.json',
  failIf: [
    {
      text: 'p99 slower by 10%',
      verdict: 'failed',
      reason: 'p99 is 12 % slower. That reaches the limit of 10 %.',
    },
    { text: 'rate lower', verdict: 'passed', reason: 'The rate is 3 % higher.' },
    { text: 'errors higher', verdict: 'not proven', reason: `2 runs are too few. ${NASTY}` },
  ],
};

test('runs of a set that did not take place or were interrupted are an error', async () => {
  const runs = [runOf(1, 0, judged('met')), runOf(1, 1, { ...judged('met'), interrupted: true })];
  const set = createRunSet('issue', runs, 3);
  const { suites, attributes } = readJunit(await renderDocument('junit', set));
  assert.deepEqual(
    suites[0].cases[0].problems.map(({ kind, message }) => [kind, message]),
    [['error', '1 of 3 runs completed.']],
  );
  assert.deepEqual([suites.length, attributes.errors], [3, '2']);
});

test('each run of a set is a suite with the same cases as a single run', async () => {
  const { suites, attributes } = readJunit(await renderDocument('junit', RUN_SET));
  assert.deepEqual(
    suites.map(({ name, cases }) => [
      name,
      ...cases.map((one) => `${one.name}: ${one.problems[0]?.type ?? 'passed'}`),
    ]),
    [
      ['vault-pki-load ocsp run 1', 'p99<10ms: passed', `${BELIEVED}: passed`],
      ['vault-pki-load ocsp run 2', 'p99<10ms: not met', `${BELIEVED}: passed`],
      ['vault-pki-load ocsp run 3', 'p99<10ms: not proven', `${BELIEVED}: invalid`],
      [
        'vault-pki-load ocsp run 4',
        'p99<10ms: passed',
        `${BELIEVED}: passed`,
        'the run is complete: interrupted',
      ],
    ],
  );
  for (const [i, { cases }] of suites.entries()) {
    assert.deepEqual(
      new Set(cases.map(({ classname }) => classname)),
      new Set([`vault-pki-load.ocsp.run ${i + 1}`]),
    );
  }
  const { tests, failures, errors } = attributes;
  assert.deepEqual([tests, failures, errors], ['9', '2', '2']);
});

test('each rule of a comparison is a case: failed is a failure, not proven an error', async () => {
  const { suites } = readJunit(await renderDocument('junit', COMPARISON));
  assert.equal(suites[0].name, 'vault-pki-load compare');
  assert.match(suites[0].output, /is 10\.0 % slower\s+than old/);
  assert.deepEqual(
    suites[0].cases.map(({ name, problems: [problem], output }) => [
      name,
      problem?.kind ?? 'passed',
      problem?.type ?? '',
      problem?.message ?? output,
    ]),
    [
      ['p99 slower by 10%', 'failure', 'failed', 'p99 is 12 % slower. That reaches the limit of 10 %.'],
      ['rate lower', 'passed', '', 'The rate is 3 % higher.'],
      ['errors higher', 'error', 'not proven', `2 runs are too few. ${sanitizeText(NASTY)}`],
    ],
  );
});

test('a comparison without rules, time or command is a suite without cases', async () => {
  const { suites } = readJunit(
    await renderDocument('junit', { ...COMPARISON, createdAt: null, command: null, failIf: [] }),
  );
  assert.deepEqual(suites[0].cases, []);
  assert.equal(suites[0].attributes.timestamp, undefined);
});
