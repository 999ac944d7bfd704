import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { render } from '../../src/reporters/terminal.js';
import { checkResult } from '../../src/results/check.js';
import { block, closedLoad, openLoad, sampleResult, spread } from '../results/sample.js';

/** @typedef {import('../../src/results/schema.js').Result} Result */

/** Golden text is written anew with UPDATE_GOLDEN=1; look at the difference before committing it. */
const UPDATE = process.env.UPDATE_GOLDEN === '1';

/** @type {Record<string, Result>} by what the summary shows */
const RESULTS = {
  'closed-loop-issue': sampleResult(
    [{ outcome: 'issued', service: spread(13_589, 2.345, 61.2), lag: 0.004 }],
    {
      command: 'issue',
      load: closedLoad(),
      warmup: { seconds: 5, sent: 3012 },
      requirements: [
        {
          text: 'rate>=1000/h',
          verdict: 'met',
          actual: 679.45,
          limit: 1000 / 3600,
          unit: '/s',
          reason:
            'The rate is 2,446,020/h, 2,450 times the limit of 1,000/h; at 95 % confidence it is at least 2,431,008/h.',
        },
      ],
    },
  ),
  'requirement-not-met': sampleResult(
    [
      { outcome: 'good', service: spread(390, 0.7, 95), lag: 0.12 },
      { outcome: 'timeout', success: false, service: spread(8, 10_000, 10_001), lag: 0.12 },
      { outcome: 'bad_signature', success: false, service: [3.2, 4.1], lag: 0.12 },
    ],
    {
      verification: {
        checked: 392,
        passed: 390,
        sampled: false,
        unchecked: 0,
        failures: { bad_signature: 2 },
      },
      requirements: [
        {
          text: 'p99<50ms',
          verdict: 'not met',
          actual: null,
          limit: 50,
          unit: 'ms',
          reason: '10 of 400 requests had no good answer and count as slower than any limit.',
        },
        {
          text: 'p50<60ms',
          verdict: 'not proven',
          actual: 48.2,
          limit: 60,
          unit: 'ms',
          reason:
            'p50 is 48.2 ms, 11.8 ms (19.7 %) below the limit of 60.0 ms; with 20 requests it could be as high as 61.0 ms.',
        },
      ],
    },
  ),
  'only-errors': sampleResult(
    [{ outcome: 'connection_refused', success: false, service: spread(40, 0.2, 0.9), lag: 0.05 }],
    { counts: { dropped: 358, neverSent: 2 }, load: openLoad({ overflow: 'drop' }) },
  ),
  'no-samples': sampleResult([], {
    interrupted: true,
    counts: { neverSent: 400 },
    target: { url: 'https://ocsp.example.test/v1/pki', product: null, version: null },
    measurement: {
      verdict: 'invalid',
      reasons: [
        { code: 'nothing_measured', text: 'Nothing was measured.', remedy: 'Let it run for longer.' },
      ],
    },
  }),
  'sampled-verification': sampleResult([{ outcome: 'good', service: spread(20_000, 0.1, 2400), lag: 0.02 }], {
    load: openLoad({
      ratePerSecond: 1000,
      arrivals: 'poisson',
      threads: 2,
      requests: 20_000,
      rampUpMs: 2000,
    }),
    verification: {
      checked: 2400,
      passed: 2400,
      sampled: true,
      unchecked: 17_600,
      failures: {},
      notes: ['Signatures were verified for 2,400 of 20,000 distinct responses.'],
    },
  }),
  'invalid-measurement': sampleResult([{ outcome: 'good', service: spread(400, 1, 2), lag: 812 }], {
    measurement: {
      verdict: 'invalid',
      reasons: [
        {
          code: 'send_lag',
          text: 'Requests went out late: the send lag is 812 ms at p99, more than the service time of 1.99 ms.',
          remedy: 'Lower --rate, raise --threads, or run on a faster machine.',
        },
        { code: 'too_short', text: 'The run was short.' },
      ],
    },
  }),
  'long-outcome-names': sampleResult([
    { outcome: 'good', service: spread(391, 1, 2) },
    {
      outcome: 'http_503_local_node_not_active_but_active_cluster_node_not_found_in_storage',
      success: false,
      service: [5],
    },
    { outcome: 'x'.repeat(100), success: false, service: spread(8, 1, 2) },
  ]),
};

const [issue, ocsp] = [
  block([{ outcome: 'issued', service: spread(100, 10, 40) }]),
  block([{ outcome: 'good', service: spread(300, 1, 4) }]),
];
RESULTS['two-operations'] = sampleResult(
  [
    { outcome: 'issued', service: spread(100, 10, 40) },
    { outcome: 'good', service: spread(300, 1, 4) },
  ],
  { command: 'run', operations: { issue, ocsp } },
);

for (const [name, result] of Object.entries(RESULTS)) {
  test(`the summary of ${name} is as agreed`, () => {
    assert.deepEqual(checkResult(result), [], 'the sample itself adds up');
    const file = new URL(`./golden/${name}.txt`, import.meta.url);
    const text = render(result);
    if (UPDATE) writeFileSync(file, text);
    assert.equal(text, readFileSync(file, 'utf8'));
    for (const line of text.split('\n')) assert.ok(line.length <= 80, `over 80 columns: ${line}`);
  });
}

test('colour adds escape sequences to the verdicts and nothing else', () => {
  const result = RESULTS['requirement-not-met'];
  const coloured = render(result, { color: true });
  assert.equal(stripVTControlCharacters(coloured), render(result));
  const painted = [...coloured.matchAll(/\p{Cc}\[\d+m([^\p{Cc}]+)\p{Cc}\[39m/gu)].map(([, text]) => text);
  assert.deepEqual(painted, ['not met', 'not proven', 'valid']);
});

test('what a server says of itself cannot drive the terminal', () => {
  const target = { url: 'http://127.0.0.1:8200', product: 'Va\u001b[2Jult', version: '1\n2' };
  const text = render(sampleResult([], { target }));
  assert.match(text, /Va\?\[2Jult 1\?2/);
});
