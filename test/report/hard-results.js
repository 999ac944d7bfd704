/** Results that are hard to draw. */

import { closedLoad, sampleResult } from '../result/sample.js';
import { lazily } from './lazily.js';
import { noise, simulate } from './simulation.js';
/** @import { Result, TimelineRow } from '../../src/result/schema.js' */

/** @param {number} second @param {Partial<TimelineRow>} [changes] @returns {TimelineRow} */
export function row(second, changes) {
  const wave = 1 + (second % 7) / 10;
  return {
    second,
    due: 20,
    sent: 20,
    succeeded: 20,
    failed: 0,
    failures: {},
    p50: 0.8 * wave,
    p90: 1.1 * wave,
    p99: 2.4 * wave,
    max: 5 * wave,
    lag99: 0.05 * wave,
    histogram: null,
    ...changes,
  };
}

/** No response came. @param {number} second */
export function silence(second) {
  return row(second, { sent: 0, succeeded: 0, p50: null, p90: null, p99: null, max: null, lag99: null });
}

/** @param {number} seconds @param {(second: number) => TimelineRow} [one] */
export function timeline(seconds, one = row) {
  return Array.from({ length: seconds }, (_, second) => one(second));
}

const LONG_NAME = `http_503_${'local_node_not_active_'.repeat(8)}`;

/**
 * @param {string} text
 * @param {'met' | 'not met' | 'not proven'} verdict
 * @param {number} limit
 * @returns {Result['requirements'][number]}
 */
function requirement(text, verdict, limit) {
  return { text, verdict, actual: limit / 2, limit, unit: 'ms', reason: `It is ${verdict}.` };
}

const FREEZE = Object.freeze({ fromMs: 20_030, toMs: 30_000 });

/** No response comes while the server is frozen. @param {number} index @param {number} sentMs */
function frozen(index, sentMs) {
  const service = noise(3)(index);
  const isCaught = sentMs + service > FREEZE.fromMs && sentMs < FREEZE.toMs;
  return isCaught ? FREEZE.toMs - sentMs + service : service;
}

/** @type {Result['measurement']} */
const FAILED_MEASUREMENT = {
  verdict: 'invalid',
  reasons: [
    { code: 'send_lag', text: 'Requests went out late.', remedy: 'Lower --rate.' },
    { code: 'x', text: 'Y.' },
  ],
};

const HOUR_MS = 3_600_000;
const PER_HOUR = 1000 / 3600;

/** Results that pass `checkResult`. @type {Record<string, Result>} */
export const HARD_RESULTS = lazily({
  'no sample': () => sampleResult([], { interrupted: true, counts: { neverSent: 400 }, timeline: [] }),
  'one sample': () => simulate({ load: { ratePerSecond: 1, durationMs: 1000 }, serviceMs: () => 1.5 }),
  'ten samples': () =>
    simulate({
      load: { ratePerSecond: 0.5 },
      serviceMs: noise(8),
      require: ['p99<50ms', 'p50<30ms'],
    }),
  'ten million samples': () =>
    simulate({
      load: { ratePerSecond: 10_000 / 1024, durationMs: 1_000_000 },
      serviceMs: noise(2, 0.9),
      times: 1024,
      require: ['p99.9<100ms'],
    }),
  'only errors': () =>
    simulate({
      serviceMs: (index) => (index < 320 ? noise(0.5)(index) : 1e9),
      failureOf: () => 'connection_refused',
      meanings: { timeout: 'no complete response within the timeout' },
      require: ['errors<0.1%'],
    }),
  'a freeze in the middle': () =>
    simulate({
      load: { durationMs: 60_000 },
      serviceMs: frozen,
      require: ['p99<200ms', 'p50<10ms'],
    }),
  'a closed loop that failed its measurement': () =>
    simulate({
      command: 'issue',
      success: 'issued',
      load: closedLoad(),
      serviceMs: noise(25),
      changes: { measurement: FAILED_MEASUREMENT },
    }),
  'a backlog, with requests that were never sent': () =>
    simulate({
      command: 'issue',
      success: 'issued',
      load: { ratePerSecond: 50, durationMs: 20_000 },
      serviceMs: noise(900),
      failureOf: (index) => (index % 40 === 7 ? 'http_503' : null),
      require: ['p99<200ms', 'rate>=1000/h', 'errors<1%'],
    }),
  '1000 an hour for six minutes': () =>
    simulate({
      command: 'issue',
      success: 'issued',
      load: { ratePerSecond: PER_HOUR, durationMs: HOUR_MS / 10 },
      serviceMs: noise(32),
      require: ['rate>=1000/h', 'p99<200ms'],
    }),
  'half an hour at a high rate': () =>
    simulate({
      load: { ratePerSecond: 2000 / 512, durationMs: HOUR_MS / 2 },
      serviceMs: (index, sentMs) => noise(4, 0.6)(index) * (1 + 0.4 * Math.sin(sentMs / 200_000)),
      times: 512,
      require: ['p99<50ms'],
    }),
  'long names': () =>
    simulate({
      serviceMs: noise(1.5),
      failureOf: (index) => (index % 44 === 9 ? LONG_NAME : null),
      command: `issue --cn ${'x'.repeat(300)}`,
      changes: {
        target: { url: `https://${'a'.repeat(200)}.example`, product: 'Vault', version: '1'.repeat(80) },
        requirements: [requirement(`p99.${'9'.repeat(80)}<50ms`, 'met', 50)],
      },
    }),
  'a day': () =>
    simulate({
      load: { ratePerSecond: 0.1, durationMs: 24 * HOUR_MS },
      serviceMs: (index) => (index === 4000 ? 999.5 : noise(18)(index)),
      failureOf: (index) => (index > 4000 && index < 4008 ? 'http_500' : null),
    }),
  'a slow trickle': () =>
    simulate({
      load: { ratePerSecond: 100 / 3600, durationMs: HOUR_MS },
      serviceMs: noise(12),
    }),
});
