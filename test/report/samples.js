/** Results that reports are looked at with: the usual, and what breaks a layout. */
import { closedLoad, openLoad, sampleResult, spread } from '../result/sample.js';
import { syntheticRun } from '../synthetic-run.js';
import { runOf, withoutDetails } from './even-run.js';
import { lazily } from './lazily.js';

/** @import { Result } from '../../src/result/schema.js' */

/**
 * @param {string} text
 * @param {Result['requirements'][number]['verdict']} verdict
 * @param {[actual: number | null, limit: number, unit: 'ms' | '/s' | 'fraction']} figures
 * @param {string} reason
 */
const judged = (text, verdict, [actual, limit, unit], reason) => ({
  text,
  verdict,
  actual,
  limit,
  unit,
  reason,
});

/** @param {'suspect' | 'invalid'} verdict @param {string} code @param {string} text @param {string} remedy */
const doubted = (verdict, code, text, remedy) => ({ verdict, reasons: [{ code, text, remedy }] });

const FAILING = [
  { outcome: 'good', service: spread(390, 0.7, 95), lag: 0.12 },
  {
    outcome: 'timeout',
    success: false,
    service: spread(8, 10_000, 10_001),
    lag: 0.12,
    fromSecond: 10,
    meaning: 'no complete response within the timeout',
  },
  {
    outcome: 'bad_signature',
    success: false,
    service: [3.2, 4.1],
    lag: 0.12,
    meaning: 'the signature is not that of the issuer, nor of a responder it appointed',
  },
];

const BACKLOG = [
  { outcome: 'issued', service: spread(300, 20, 900), lag: 1.5 },
  { outcome: 'unavailable', success: false, service: spread(12, 1, 3), lag: 1.5 },
  { outcome: 'never_sent', service: spread(60, 500, 4000) },
];

const HOSTILE_NAME = '<b>&"x"</b> | `y` @team #12 http://a.example \\ \u001b[31m\u202e';

/** Every name that a server, or a file that somebody else wrote, could bring. */
const HOSTILE = [
  { outcome: 'good', service: spread(396, 1, 2) },
  { outcome: HOSTILE_NAME, success: false, service: [7], meaning: HOSTILE_NAME },
  { outcome: 'constructor', success: false, service: [8] },
  { outcome: 'a\u0001', success: false, service: [9] },
  { outcome: 'a\u0002', success: false, service: [9] },
];

/** Two operations in three stages, and requirements of each. */
function stagedRun() {
  const line = (/** @type {number} */ seconds, /** @type {number} */ from, /** @type {number} */ to) => ({
    durationMs: seconds * 1000,
    from,
    to,
  });
  const stages = [
    { name: 'ramp', lines: [line(4, 0, 60)] },
    { name: 'steady', lines: [line(6, 60, 60)] },
    { name: 'a | burst', lines: [line(1, 90, 90), line(1, 20, 20)] },
  ];
  return {
    ...syntheticRun({
      load: { ratePerSecond: 90, durationMs: 12_000, stages },
      weights: { 'kv-read': 9, 'kv-write': 1 },
      unsent: 20,
      requirements: [
        'p50<100ms',
        ['errors<30%', { operation: 'kv-write' }],
        ['rate>=60/s', { stage: 'steady' }],
        ['p50<200ms', { stage: 'steady', operation: 'kv-read' }],
      ],
    }),
    environment: { node: '20.19.0', platform: 'linux x64', cpus: 2 },
  };
}

/** @type {Record<string, Result>} by what the report shows */
export const SAMPLES = lazily({
  staged: stagedRun,
  'closed-loop-issue': () =>
    withoutDetails(
      runOf([{ outcome: 'issued', service: spread(13_589, 2.345, 61.2), lag: 0.004 }], {
        command: 'issue',
        load: closedLoad(),
        warmup: { seconds: 5, sent: 3012 },
        requirements: [
          judged(
            'rate>=1000/h',
            'met',
            [679.45, 1000 / 3600, '/s'],
            'The rate is 2,446,020/h, 2,450 times the limit of 1,000/h; at 95 % confidence it is at least 2,431,008/h.',
          ),
        ],
      }),
    ),
  'requirement-not-met': () =>
    runOf(FAILING, {
      verification: {
        checked: 392,
        passed: 390,
        sampled: false,
        unchecked: 0,
        failures: { bad_signature: 2 },
      },
      requirements: [
        judged(
          'p99<50ms',
          'not met',
          [null, 50, 'ms'],
          '10 of 400 requests had no good response and count as slower than any limit.',
        ),
        judged(
          'p50<60ms',
          'not proven',
          [48.2, 60, 'ms'],
          'p50 is 48.2 ms, 11.8 ms (19.7 %) below the limit of 60.0 ms; with 20 requests it could be as high as 61.0 ms.',
        ),
      ],
    }),
  'only-errors': () =>
    runOf([{ outcome: 'connection_refused', success: false, service: spread(40, 0.2, 0.9), lag: 0.05 }], {
      counts: { dropped: 358, neverSent: 2 },
      load: openLoad({ overflow: 'drop' }),
    }),
  'no-samples': () =>
    sampleResult([], {
      interrupted: true,
      counts: { neverSent: 400 },
      target: { url: 'https://ocsp.example.test/v1/pki', product: null, version: null },
      measurement: doubted('invalid', 'nothing_measured', 'Nothing was measured.', 'Let it run for longer.'),
    }),
  'one-request': () =>
    sampleResult([{ outcome: 'issued', service: [12.345], lag: 0.02 }], {
      command: 'issue',
      load: closedLoad({ durationMs: null, requests: 1 }),
      durationSeconds: 4000,
      measurement: doubted(
        'suspect',
        'too_few_samples',
        'Only 1 requests: with fewer than 100, p99 is just the slowest.',
        'Raise --duration, --requests or --rate.',
      ),
    }),
  'ten-million': () =>
    runOf(
      [
        { outcome: 'good', service: spread(10_000, 0.4, 9), lag: 0.01, times: 999 },
        {
          outcome: 'timeout',
          success: false,
          service: spread(10, 10_000, 10_001),
          lag: 0.01,
          times: 1000,
          fromSecond: 10,
        },
      ],
      {
        durationSeconds: 1000,
        load: openLoad({ ratePerSecond: 10_000, concurrency: 400, threads: 2, durationMs: 1_000_000 }),
        requirements: [
          judged(
            'errors<0.2%',
            'met',
            [0.001, 0.002, 'fraction'],
            '0.1 % of requests failed (10,000 of 10,000,000); the limit is 0.2 %; at 95 % confidence it is at most 0.102 %.',
          ),
          judged(
            'p99<20ms',
            'met',
            [8.92, 20, 'ms'],
            'p99 is 8.92 ms, 11.1 ms (55.4 %) below the limit of 20.0 ms; at 95 % confidence it is at most 8.93 ms.',
          ),
        ],
      },
    ),
  'sampled-verification': () =>
    runOf([{ outcome: 'good', service: spread(20_000, 0.1, 2400), lag: 0.02 }], {
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
  'invalid-measurement': () =>
    runOf([{ outcome: 'good', service: spread(400, 1, 2), lag: 812, fromSecond: 1 }], {
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
  backlog: () =>
    runOf(BACKLOG, {
      command: 'issue',
      counts: { neverSent: 28 },
      load: openLoad({ durationMs: 20_000 }),
      measurement: doubted(
        'suspect',
        'sends_short_of_plan',
        '88 of 400 planned requests were still waiting for a free connection when the run ended: the backlog grew, so the percentiles tell the length of the run.',
        'Lower --rate to a level the target can sustain, or raise --concurrency.',
      ),
    }),
  unfinished: () =>
    runOf([{ outcome: 'good', service: spread(120, 1.2, 1.9), lag: 0.02 }], {
      unfinished: true,
      durationSeconds: 6,
      counts: { neverSent: 280 },
      requirements: [
        judged(
          'p99<200ms',
          'not proven',
          [1.89, 200, 'ms'],
          'p99 is 1.89 ms, 198 ms (99.1 %) below the limit of 200 ms; 120 requests are too few to prove it: at least 299 are needed.',
        ),
      ],
    }),
  'long-outcome-names': () =>
    runOf([
      { outcome: 'good', service: spread(391, 1, 2) },
      {
        outcome: 'http_503_local_node_not_active_but_active_cluster_node_not_found_in_storage',
        success: false,
        service: [5],
      },
      { outcome: 'x'.repeat(100), success: false, service: spread(8, 1, 2) },
    ]),
  hostile: () =>
    runOf(HOSTILE, {
      target: { url: `http://127.0.0.1:8200/${HOSTILE_NAME}`, product: 'Va\u001b[2Jult', version: '1\n2' },
      verification: {
        checked: 399,
        passed: 396,
        sampled: false,
        unchecked: 0,
        failures: { [HOSTILE_NAME]: 1, 'a\u0001': 1, 'a\u0002': 1 },
        notes: [HOSTILE_NAME],
      },
      requirements: [
        { text: HOSTILE_NAME, verdict: 'not met', actual: 7, limit: 5, unit: 'ms', reason: HOSTILE_NAME },
      ],
      measurement: {
        verdict: 'suspect',
        reasons: [{ code: 'constructor', text: HOSTILE_NAME, remedy: HOSTILE_NAME }],
      },
    }),
  'two-operations': twoOperations,
});

function twoOperations() {
  const pair = [
    { outcome: 'issued', service: spread(100, 10, 40) },
    { outcome: 'good', service: spread(300, 1, 4) },
  ];
  const [issue, ocsp] = pair.map((group) => runOf([group]).operations.ocsp);
  return runOf(pair, {
    command: 'run',
    operations: { issue: { ...issue, unit: 'certificates' }, ocsp },
  });
}
