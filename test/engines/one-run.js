/** What three parts that an engine started must have done: 1,200 OCSP requests as one run. */
import assert from 'node:assert/strict';
import { EXIT } from '../../src/common/errors.js';
import { assertScheduled } from '../vault/scheduled.js';

/**
 * @param {{codes: number[], logs: string[], report: string, arrivals: number[]}} seen exit codes and standard errors by
 *   part; standard output of part 0; when Vault received the requests, Unix times in ms
 */
export function assertOneRun({ codes, logs, report, arrivals }) {
  // On a busy machine the measurement may be invalid.
  assert.ok(codes[0] === EXIT.ok || codes[0] === EXIT.invalidMeasurement, logs.join('\n'));
  assert.deepEqual(codes.slice(1), [0, 0], logs.join('\n'));
  const verdict = codes[0] === EXIT.ok ? 'met' : 'not proven';
  for (const requirement of ['errors<1%', 'p50<1s'])
    assert.ok(
      report.split('\n').some((line) => line.includes(requirement) && line.includes(verdict)),
      report,
    );
  assertScheduled(arrivals, { startedMs: Math.min(...arrivals), rate: 60, seconds: 20 });
}
