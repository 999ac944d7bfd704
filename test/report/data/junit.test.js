import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sanitizeText } from '../../../src/common/sanitize.js';
import { renderDocument } from '../../../src/report/index.js';
import { sampleResult, spread } from '../../result/sample.js';
import { SAMPLES } from '../samples.js';
import { readJunit } from './junit-document.js';

/** @import { Result } from '../../../src/result/schema.js' */

/** @param {Result} result */
async function suiteOf(result) {
  const { suites } = readJunit(await renderDocument('junit', result));
  assert.equal(suites.length, 1);
  return suites[0];
}

for (const [name, result] of Object.entries(SAMPLES)) {
  test(`the report of ${name} matches the schema, and its counts match its cases`, async () => {
    await suiteOf(result);
  });
}

test('a requirement on an operation or a stage is a case of its run', async () => {
  const { cases } = await suiteOf(SAMPLES.staged);
  assert.deepEqual(
    cases.map(({ name }) => name),
    [
      'p50<100ms',
      'kv-write: errors<30%',
      'steady: rate>=60/s',
      'steady in kv-read: p50<200ms',
      'the measurement is valid',
    ],
  );
});

/** @type {[string, Result, [string, string, string | null][]][]} what, result, cases: name, kind of problem, its type */
const CASES = [
  [
    'a requirement that is not met fails, one that is not proven is an error',
    SAMPLES['requirement-not-met'],
    [
      ['p99<50ms', 'failure', 'not met'],
      ['p50<60ms', 'error', 'not proven'],
      ['the measurement is valid', 'none', null],
    ],
  ],
  [
    'a requirement that is met passes',
    SAMPLES['closed-loop-issue'],
    [
      ['rate>=1000/h', 'none', null],
      ['the measurement is valid', 'none', null],
    ],
  ],
  [
    'an invalid measurement fails',
    SAMPLES['invalid-measurement'],
    [['the measurement is valid', 'failure', 'invalid']],
  ],
  ['a suspect measurement passes', SAMPLES.backlog, [['the measurement is valid', 'none', null]]],
  [
    'an interrupted run is an error',
    SAMPLES['no-samples'],
    [
      ['the measurement is valid', 'failure', 'invalid'],
      ['the run is complete', 'error', 'interrupted'],
    ],
  ],
  [
    'an unfinished run is an error, and its measurement is not judged',
    SAMPLES.unfinished,
    [
      ['p99<200ms', 'error', 'not proven'],
      ['the run is complete', 'error', 'unfinished'],
    ],
  ],
];

for (const [what, result, expected] of CASES) {
  test(what, async () => {
    const found = (await suiteOf(result)).cases.map(({ name, problems: [problem] }) => [
      name,
      problem?.kind ?? 'none',
      problem?.type ?? null,
    ]);
    assert.deepEqual(found, expected);
  });
}

test('the reason is in the message and in the text, the summary in the output', async () => {
  const { cases, attributes, output } = await suiteOf(SAMPLES['requirement-not-met']);
  const [{ problems, classname }] = cases;
  const message = '10 of 400 requests had no good response and count as slower than any limit.';
  assert.deepEqual(problems, [
    { kind: 'failure', type: 'not met', message, text: `p99<50ms: not met. ${message}` },
  ]);
  assert.equal(classname, 'vault-pki-load.ocsp');
  assert.match(output, /^ {2}not met {6}p99<50ms /);
  assert.equal(attributes.timestamp, '2026-01-02T03:04:05');
});

test('arbitrary text round-trips, except characters that XML or a terminal cannot represent', async () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.string({
      unit: fc.constantFrom('<', '>', '&', '"', "'", ']', '\u0000', '\ud800', '\ufffe', '\n', 'a'),
    }),
  );
  await fc.assert(
    fc.asyncProperty(anything, anything, async (text, reason) => {
      const result = sampleResult([{ outcome: 'good', service: spread(3, 1, 2) }], {
        requirements: [{ text, verdict: 'not met', actual: 1, limit: 1, unit: 'ms', reason }],
      });
      const [{ name, problems }] = (await suiteOf(result)).cases;
      assert.equal(name, sanitizeText(text));
      assert.equal(problems[0].message, sanitizeText(reason));
    }),
    { numRuns: 200 },
  );
});

/** @type {[string, string, RegExp][]} */
const WRONG = [
  ['an unknown attribute', '<testsuites colour="red"/>', /colour/],
  ['a case outside of a suite', '<testsuites><testcase name="x"/></testsuites>', /testcase/],
  ['a suite without counts', '<testsuites><testsuite name="x"/></testsuites>', /tests/],
  ['a time in words', '<testsuites time="soon"/>', /time/],
  ['invalid XML', '<testsuites name="a & b"/>', /xmlParse|Entity|Parse/i],
];

for (const [what, xml, expected] of WRONG) {
  test(`the schema that checks reports rejects ${what}`, () => {
    assert.throws(() => readJunit(xml), expected);
  });
}
