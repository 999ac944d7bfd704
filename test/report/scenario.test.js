/** Results of scenarios in every form that shows them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describe as describeDocument } from '../../src/report/describe/index.js';
import { renderDocument } from '../../src/report/index.js';
import { mixedRun, REQUIRED, scenarioOf, stagedRun, troubledRun } from '../result/scenario-sample.js';
import { INVALID as INVALID_RUN, SCENARIOS, taken } from './documents.js';

/** @import { ScenarioResult } from '../../src/result/scenario/scenario-schema.js' */
/** @import { Result } from '../../src/result/schema.js' */

const INVALID = INVALID_RUN.measurement;

const TROUBLED = SCENARIOS['scenario-errors'];

test('has a chart per figure over runs, with a group per target and a value per run', async () => {
  const { sections } = await describeDocument(SCENARIOS['scenario-compared']);
  const charts = sections
    .filter(({ id }) => id.startsWith('run-'))
    .flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'chart' ? [part] : [])));
  // Of the whole and of each of the two operations: mean, p99, max, min and throughput.
  assert.equal(charts.length, 15);
  const { groups } = /** @type {{groups: {runs: string[], values: number[]}[]}} */ (charts[0].data);
  assert.deepEqual(
    groups.map(({ runs, values }) => [runs.length, values.length]),
    [
      [5, 5],
      [5, 5],
      [5, 5],
    ],
  );
});

test('several targets: a finding first, then a row per target', async () => {
  const text = await renderDocument('text', SCENARIOS['scenario-compared']);
  assert.match(text, /^ {2}raft is 50\.0 % slower than inmem \(p99 /);
  assert.match(text, /^Run +count .*\ninmem .*\nraft .*\npostgresql /m);
});

test('begins with the figures if there are no verdicts or comparisons', async () => {
  const text = await renderDocument('text', SCENARIOS['scenario-runs']);
  assert.match(
    text,
    /^ {2}1,600 requests at 20\/s: p99 19\.6 to 78\.6 ms, no errors\.\n\nStorage backends: /,
  );
  const markdown = await renderDocument('md', SCENARIOS['scenario-runs']);
  assert.match(markdown, /^## Storage backends: 1,600 requests at 20\/s: p99 19\.6 to 78\.6 ms, no errors\n/);
});

describe('verdicts', () => {
  /** @param {number} count of requirements, the last not met @param {object} [changes] of each */
  const required = (count, changes = {}) =>
    Array.from({ length: count }, (_, i) => ({
      ...REQUIRED,
      ...{ low: 9, high: 15.5, ...changes },
      text: `p99<${200 + i}ms`,
      stage: undefined,
      ...(i === count - 1 ? { verdict: /** @type {const} */ ('not met'), reason: 'Too slow.' } : {}),
    }));
  /** @param {Result['requirements'][]} runs of target a */
  const answerOf = async (...runs) => {
    const results = runs.map((requirements, i) => stagedRun(1, i, { requirements }));
    const text = await renderDocument('text', scenarioOf({ a: results, b: [] }));
    return [text.split('\n\n')[0], text];
  };

  test('have a value and an error bar', async () => {
    const [answer] = await answerOf(required(2));
    assert.equal(
      answer,
      '  met       a: p99<200ms   12 ms (9 to 15.5 ms)\n' +
        '  not met   a: p99<201ms   12 ms (9 to 15.5 ms)\n            Too slow.',
    );
  });

  test('of several runs are summarised by count', async () => {
    const [met] = required(2);
    const [answer] = await answerOf([met], [met], [{ ...met, verdict: 'not met', reason: 'Too slow.' }]);
    assert.match(
      answer,
      /a: p99<200ms +met in 2 runs, not met in 1 run, e\.g\. 12 ms \(9 to\n +15\.5 ms\)\n +Too slow\.$/,
    );
  });

  test('beyond ten, all met ones share a line in the answer, and the section of the run lists them', async () => {
    const [answer, text] = await answerOf(required(11));
    assert.match(answer, /^ {2}met +a +10 requirements\n {2}not met +a: p99<210ms +12 ms \(9 to 15\.5 ms\)/);
    assert.match(text, /^met +a: p99<200ms +12 ms \(9 to 15\.5 ms\)$/m);
  });

  test('of an older file without figures show their reasons', async () => {
    const scenario = scenarioOf({ a: [stagedRun(1, 0)] });
    const { text, verdict, verdicts, reason } = scenario.steps[0].requirements[0];
    const older = { text, operation: null, stage: null, verdict, verdicts, reason };
    const steps = [{ ...scenario.steps[0], requirements: [older] }];
    assert.match(await renderDocument('text', { ...scenario, steps }), /^ {2}met +a: .* p99 is 12 ms\./);
  });
});

describe('errors', () => {
  /** @param {ScenarioResult} scenario @param {string} form @returns {Promise<string[]>} the table, to the line before the next part */
  const tableOf = async (scenario, form) => {
    const text = await renderDocument(form, scenario);
    const parts = text.split('\n\n').filter((part) => /^(?:\| )?Errors /.test(part));
    assert.ok(parts.length < 2, text);
    return parts.flatMap((part) => part.split('\n'));
  };

  test('are listed by kind and operation, only for targets that had any', async () => {
    assert.deepEqual(
      await tableOf(TROUBLED, 'text'),
      [
        'Errors                count  share of all  in runs',
        'inmem                    49        4.08 %         ',
        '– login: timeout          9        0.75 %   3 of 3',
        '– write: unavailable     40        3.33 %   1 of 3',
        '    Vault is sealed, overloaded or without a leader (503).',
      ].map((line) => line.trimEnd()),
    );
    assert.deepEqual(await tableOf(TROUBLED, 'md'), [
      '| Errors | count | share of all | in runs | meaning |',
      '| :--- | ---: | ---: | ---: | :--- |',
      '| inmem | 49 | 4.08 % |  |  |',
      '| – login: timeout | 9 | 0.75 % | 3 of 3 |  |',
      '| – write: unavailable | 40 | 3.33 % | 1 of 3 | Vault is sealed, overloaded or without a leader (503). |',
    ]);
  });

  test('of a single operation are listed without its name, the most frequent first, drops included', async () => {
    const { operations: _, ...run } = troubledRun(0, { timedOut: 3, sealed: 20, dropped: 10 });
    const scenario = scenarioOf({ a: [{ ...run, operations: { mixed: run } }] });
    assert.deepEqual((await tableOf(scenario, 'text')).slice(0, 6), [
      'Errors         count  share of all',
      'all requests      33        8.25 %',
      '– unavailable     20           5 %',
      '    Vault is sealed, overloaded or without a leader (503).',
      '– dropped         10         2.5 %',
      '– timeout          3        0.75 %',
    ]);
  });

  test('of uncounted runs are marked', async () => {
    const scenario = scenarioOf({ a: [troubledRun(0, { timedOut: 4 }, { measurement: INVALID })], b: [] });
    assert.deepEqual(await tableOf(scenario, 'text'), [
      'Errors              count  share of all',
      'a *                     4           1 %',
      '– login: timeout *      4           1 %',
    ]);
  });

  test('of an older file without kinds are only counted', async () => {
    const rows = TROUBLED.rows.map(({ outcomeDetails: _, ...row }) => row);
    assert.deepEqual(await tableOf({ ...TROUBLED, rows }, 'text'), [
      'Errors        count  share of all',
      'inmem            49        4.08 %',
    ]);
  });

  test('have no table if there are none', async () => {
    for (const form of ['text', 'md']) {
      assert.deepEqual(await tableOf(SCENARIOS['scenario-compared'], form), []);
    }
  });
});

test('figures of uncounted runs are marked everywhere', async () => {
  const invalid = taken(1.5, 1).map((result) => ({ ...result, measurement: INVALID }));
  const scenario = scenarioOf({ inmem: taken(1, 0), raft: invalid });
  for (const form of ['text', 'md', 'html']) {
    const text = await renderDocument(form, scenario);
    for (const metric of ['mean', 'p99', 'max', 'min', 'throughput']) {
      assert.match(text, new RegExp(`${metric}, raft \\\\?\\*`), `${form}: ${metric}`);
      assert.match(text, new RegExp(`${metric}, inmem(?! \\\\?\\*)`), `${form}: ${metric}`);
    }
  }
});

test('differences that involve uncounted runs are marked', async () => {
  const invalid = taken(1, 0).map((result) => ({ ...result, measurement: INVALID }));
  const text = await renderDocument('text', scenarioOf({ inmem: invalid, raft: taken(1.5, 1) }));
  assert.match(text, /^Compared with inmem [\s\S]*^raft \* +\+50\.0 %/m);
});

test('a target without a name appears once', async () => {
  const url = 'http://127.0.0.1:8200';
  const scenario = scenarioOf({ [url]: [mixedRun(1, 0)] });
  scenario.steps[0].aim = { url: `${url}/v1/pki/ocsp`, product: 'Vault', version: '1.21.1' };
  const text = await renderDocument('text', scenario);
  assert.match(text, /^Target +http:\/\/127\.0\.0\.1:8200\/v1\/pki\/ocsp \(Vault 1\.21\.1\)$/m);
  assert.match(text, /^Operation +count .*\nall requests +[\d,]+ /m);
});

test('a target keeps its name, even if that is http', async () => {
  const scenario = scenarioOf({ http: [mixedRun(1, 0)], https: [mixedRun(1, 1)] });
  for (const step of scenario.steps) {
    step.aim = { url: `${step.target}://127.0.0.1:8200`, product: null, version: null };
  }
  const text = await renderDocument('text', scenario);
  assert.match(text, /^Target +http: http:\/\/127\.0\.0\.1:8200$/m);
  assert.match(text, /^Target +https: https:\/\/127\.0\.0\.1:8200$/m);
});

test('JUnit: each step is a suite with its requirements and the validity of its measurement', async () => {
  const xml = await renderDocument('junit', SCENARIOS['scenario-stages']);
  assert.match(xml, /<testsuites name="vault-pki-load" tests="4" failures="1" errors="0">/);
  assert.match(xml, /<testsuite name="vault-pki-load Burst load vault-2" tests="2" failures="1" errors="0"/);
  assert.match(xml, /<failure message="p99 is 240 ms\." type="not met">/);
  const cut = await renderDocument('junit', SCENARIOS['scenario-interrupted']);
  assert.match(cut, /<testsuite name="[^"]* c" tests="1" failures="0" errors="1"/);
  assert.match(cut, /<error message="http:\/\/c refused the connection\. Start it\." type="failed to run">/);
});

test('JUnit: a step with missing runs does not pass, and its completed runs are still judged', async () => {
  const whole = SCENARIOS['scenario-stages'];
  const [step, ...others] = whole.steps;
  const cut = { ...whole, interrupted: true, steps: [{ ...step, repeat: step.runs.length + 3 }, ...others] };
  const last = { ...step.runs[0], why: 'it was interrupted' };
  const stopped = {
    ...whole,
    interrupted: true,
    steps: [{ ...step, runs: [last, ...step.runs.slice(1)], used: [] }, ...others],
  };
  const failed = {
    ...whole,
    steps: [{ ...step, failure: { code: 'refused', text: 'It went away.' } }, ...others],
  };
  const made = `${step.runs.length} of ${step.repeat + 3} runs completed.`;
  assert.doesNotMatch(await renderDocument('junit', whole), /all runs completed/);
  for (const [changed, message] of /** @type {const} */ ([
    [cut, made],
    [stopped, `${step.runs.length - 1} of ${step.repeat} ${step.repeat === 1 ? 'run' : 'runs'} completed.`],
    [failed, 'It went away.'],
  ])) {
    const xml = await renderDocument('junit', changed);
    assert.match(xml, /name="all runs completed"/);
    assert.ok(xml.includes(`message="${message}"`), xml);
    assert.match(xml, /name="the measurement is valid"/);
  }
});
