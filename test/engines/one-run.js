/** What three parts that an engine started must have done. */
import assert from 'node:assert/strict';
import { EXIT } from '../../src/common/errors.js';
import { assertScheduled } from '../vault/scheduled.js';

/** In the live view. */
export const IS_SENDING = /^\d+ s\/20 s .* of \d+\/s/m;

/**
 * 1,200 OCSP requests as one run.
 * @param {{codes: number[], logs: string[], report: string, arrivals: number[]}} seen exit codes and standard errors by
 *   part; standard output of part 0; when Vault received the requests, Unix times in ms
 */
export function assertOneRun({ codes, logs, report, arrivals }) {
  // On a busy machine the measurement may be invalid, but only for that reason.
  assert.ok(codes[0] === EXIT.ok || codes[0] === EXIT.invalidMeasurement, logs.join('\n'));
  assert.deepEqual(codes.slice(1), [0, 0], logs.join('\n'));
  const verdict = codes[0] === EXIT.ok ? 'met' : 'not proven';
  if (verdict !== 'met') assert.match(report, /The\s+tool\s+was\s+late/);
  for (const requirement of ['errors<1%', 'p50<1s'])
    assert.match(report, new RegExp(`^ +${verdict} +${requirement}`, 'm'));
  assert.match(report, /,\s3\sparts/);
  assertScheduled(arrivals, { startedMs: Math.min(...arrivals), rate: 60, seconds: 20 });
}

/** @param {string} report of a run in which part 2 was killed */
export function assertPartMissing(report) {
  assert.match(report, /invalid +measurement/);
  assert.match(report, /missing\s+or\s+incomplete:\s+part\s+2\s+of\s+3/);
  assert.match(report, /^ +not proven +errors<1%/m);
  assert.doesNotMatch(report, /^ +met /m);
}
