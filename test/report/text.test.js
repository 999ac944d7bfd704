import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nextSteps } from '../../src/report/describe/next.js';
import { describeResult } from '../../src/report/describe/result.js';
import { render as renderMarkdown } from '../../src/report/markdown.js';
import { render as renderReport } from '../../src/report/text.js';
import { openLoad, sampleResult, spread } from '../result/sample.js';
import { SAMPLES } from './samples.js';

/** @import { Result } from '../../src/result/schema.js' */

/** @param {Result} result */
const render = (result) => renderReport(describeResult(result));

/** @param {Result} result @returns {string[]} up to the line of what was run on what */
function answerOf(result) {
  const lines = render(result).split('\n');
  return lines.slice(
    0,
    lines.findIndex((line) => /^\S/.test(line)),
  );
}

const GOOD = [{ outcome: 'good', service: spread(400, 1, 9), lag: 0.1 }];

/** @type {Result['requirements'][number]} */
const MET = { text: 'p99<1s', verdict: 'met', actual: 9.6, limit: 1000, unit: 'ms', reason: 'So.' };

/**
 * @param {Result} result
 * @param {Record<string, {low: number, high: number | null, tool: number}>} bars
 * @returns {Result} with error bars of its response time
 */
function withBars(result, bars) {
  const { response, ...others } = result.latencyMs;
  return { ...result, latencyMs: { response: /** @type {any} */ ({ ...response, bars }), ...others } };
}

test('the answer has at most ten lines: verdicts, a sentence, key figures, the main remark', () => {
  const text = 'This machine was busy: up to 4.5 ms of the p99 may be this tool’s own.';
  const bars = { p50: { low: 4.9, high: 5.1, tool: 0 }, p99: { low: 5.1, high: 12, tool: 4.5 } };
  const result = sampleResult(GOOD, {
    requirements: [
      { ...MET, text: 'rate>=1000/h', actual: 20, limit: 1000 / 3600, unit: '/s' },
      /** @type {any} */ ({ ...MET, text: 'p99<200ms', limit: 200, low: 5.1, high: 12 }),
    ],
    measurement: { verdict: 'valid', reasons: [{ code: 'busy_machine', text }] },
  });
  assert.deepEqual(answerOf(withBars(result, bars)), [
    '  met   rate>=1000/h   72,000/h, 72 times the limit',
    '  met   p99<200ms      9.6 ms (5.1 to 12 ms)',
    '',
    '  400 of 400 OCSP responses good, all checked, in 20 s at 20/s',
    '  p50 5.09 ms    p95 8.7 ms    p99 9.02 ms (5.1 to 12 ms)    max 9.1 ms',
    '',
    '  This machine was busy: up to 4.5 ms of the p99 may be this tool’s own.',
    '',
  ]);
});

test('Markdown has the error bars of key figures, too', () => {
  const result = withBars(sampleResult(GOOD), { p99: { low: 5.1, high: null, tool: 4.5 } });
  assert.match(renderMarkdown(describeResult(result)), /p99 \*\*9\.02 ms \(5\.1 ms or more\)\*\*/);
});

test('a run without requirements begins with its sentence, and ends with a next step', () => {
  const lines = render(sampleResult(GOOD)).trimEnd().split('\n');
  assert.match(lines[0], /^ {2}400 of 400 OCSP responses good/);
  assert.deepEqual(lines.slice(-2), [
    'Next',
    "  --require 'p99<200ms'  makes this run a test that passes or fails",
  ]);
});

test('an invalid measurement is one of the verdicts, and its reason appears once', () => {
  const result = sampleResult(GOOD, {
    requirements: [
      /** @type {any} */ ({ ...MET, verdict: 'not proven', doubt: 'invalid', reason: 'Invalid.' }),
    ],
    measurement: {
      verdict: 'invalid',
      reasons: [
        /** @type {any} */ ({ code: 'connection_setup', text: 'A remark.', grade: 'remark' }),
        /** @type {any} */ ({
          code: 'load_not_offered',
          text: 'Too few.',
          remedy: 'Do this.',
          grade: 'invalid',
        }),
      ],
    },
  });
  const text = render(result);
  assert.match(text, /^ {2}not proven {3}p99<1s {8}9\.6 ms, 99 % below the limit\n/);
  assert.match(text, /^ {2}invalid {6}measurement {3}Too few\.\n {15}Do this\.$/m);
  assert.doesNotMatch(text, /Invalid\.|Succeeded/);
  assert.match(text, /^Remarks\n- A remark\.$/m);
});

test('details follow the answer, each only if it adds information', () => {
  const full = render(SAMPLES['requirement-not-met']);
  const order = [
    /^ocsp on http/,
    /^Latency /,
    /^Response time /,
    /^Requests /,
    /^Outcome /,
    /^Failed check/,
    /^Run$/,
    /^Next$/,
  ];
  const at = order.map((pattern) => full.split('\n').findIndex((line) => pattern.test(line)));
  assert.deepEqual(
    at,
    [...at].sort((a, b) => a - b),
  );
  assert.ok(
    at.every((line) => line > 0),
    at.join(),
  );
  const plain = render(sampleResult(GOOD));
  for (const heading of ['Requests', 'Outcome', 'Failed check', 'Operation', 'Stage', 'Remarks'])
    assert.doesNotMatch(plain, new RegExp(`^${heading}`, 'm'));
});

/** @param {number} of how many parts @returns {Result} merged from two */
function mergedOf(of) {
  const merged = [2, 8].map((cpus, index) => ({ index, of, environment: { cpus } }));
  return sampleResult([], {
    merged: /** @type {any} */ (merged),
    target: { url: 'http://a', product: null, version: null },
  });
}
const OF_PARTS = mergedOf(2);

/** @type {[string, Result, RegExp][]} */
const SAID = [
  [
    'an interrupted run',
    SAMPLES['no-samples'],
    /^ {2}Interrupted: the figures cover the time until then\.$/m,
  ],
  [
    'an unfinished run',
    SAMPLES.unfinished,
    /^ {2}Unfinished: the run had not ended when this was written\.$/m,
  ],
  ['no verdict during the run', SAMPLES.unfinished, /^- The measurement is judged at the end of the run\.$/m],
  ['requests without a response yet', SAMPLES.unfinished, /dropped {2}unanswered$/m],
  ['no request', SAMPLES['no-samples'], /^ {2}Nothing was measured\.$/m],
  ['a rate too low for whole certificates', SAMPLES['one-request'], /at 0\.00025\/s, 0\.9\/h/],
  ['ten million requests', SAMPLES['ten-million'], /^all +10,000,000 {2}10,000,000 {2}9,990,000 {2}10,000 /m],
  ['a rate below the offered rate', SAMPLES['requirement-not-met'], /at 19\.5\/s of the 20\/s\s+offered/],
  ['a sampled share of checks', SAMPLES['sampled-verification'], /good, 12 % checked, in/],
  [
    'a shard',
    sampleResult([], {
      shard: { index: 1, of: 4 },
      target: { url: 'http://a', product: null, version: null },
    }),
    /^ocsp on http:\/\/a, open loop at 20\/s, 20 s, shard 1\/4$/m,
  ],
  ['parts', OF_PARTS, /, open loop at 20\/s, 20 s, 2 parts$/m],
  ['the machines of parts', OF_PARTS, /, 2 to 8 cores per\s+part$/m],
  ['a missing part', mergedOf(3), /, open loop at 20\/s, 20 s, 2 of 3 parts$/m],
];

for (const [what, result, pattern] of SAID) {
  test(`reports ${what}`, () => assert.match(render(result), pattern));
}

/** @type {[string, Result, string[]][]} what the result says, result, commands */
const STEPS = [
  [
    'there are errors: the most frequent first, before the requirement',
    sampleResult([
      { outcome: 'rate_limited', success: false, service: [1] },
      { outcome: 'timeout', success: false, service: [1, 2] },
      { outcome: 'unavailable', success: false, service: [] },
    ]),
    ['--timeout', 'vault list sys/quotas/rate-limit', "--require 'p99<200ms'"],
  ],
  ['there are no requirements', sampleResult(GOOD), ["--require 'p99<200ms'"]],
  ['every requirement is met', sampleResult(GOOD, { requirements: [MET] }), ['--repeat 10']],
  [
    'a requirement is not met',
    sampleResult(GOOD, { requirements: [MET, { ...MET, verdict: 'not met' }] }),
    ['--out result.html'],
  ],
  [
    'a requirement is not proven',
    sampleResult(GOOD, { requirements: [{ ...MET, verdict: 'not proven' }] }),
    ['--duration'],
  ],
  [
    'a requirement is not proven in stages, which --duration would replace',
    sampleResult(GOOD, {
      requirements: [{ ...MET, verdict: 'not proven' }],
      load: { ...openLoad(), stageCount: 2 },
    }),
    ['longer stages'],
  ],
  [
    'the tool was late, and the requests are too few',
    sampleResult(GOOD, { requirements: [{ ...MET, verdict: 'not proven', doubt: 'both' }] }),
    ['--threads'],
  ],
  [
    'connections rested',
    sampleResult(GOOD, { requirements: [{ ...MET, verdict: 'not proven', doubt: 'rested' }] }),
    ['--rate'],
  ],
  ['nothing was sent', sampleResult([], { requirements: [MET] }), []],
  ['the run has not ended', SAMPLES.unfinished, []],
];

describe('the next steps if', () => {
  for (const [what, result, commands] of STEPS) {
    test(what, () =>
      assert.deepEqual(
        nextSteps(result).map(([command]) => command),
        commands,
      ),
    );
  }
});
