/** A recorder with a made-up operation, and samples for it. */
import { createRecorder } from '../../src/engine/recording/recorder.js';
import { NO_PHASES } from '../../src/engine/recording/ring.js';
/** @import { Delay } from '../../src/common/histogram.js' */
/** @import { Sample } from '../../src/engine/recording/ring.js' */
/** @import { SecondRow } from '../../src/engine/recording/seconds.js' */
/** @import { Classify } from '../../src/operations/index.js' */

/**
 * The operation says of a body what the body says of itself: `good`, `bad` (checked and found wrong), `refused` (there
 * was nothing to check). Good ones are kept.
 * @type {Classify}
 */
export const classify = (_status, body, index) => {
  const outcome = Buffer.from(body).toString();
  if (outcome === 'good') return { outcome, success: true, verification: 'passed', kept: index };
  return { outcome, success: false, verification: outcome === 'bad' ? 'failed' : null };
};

/**
 * @param {{warmupMs?: number, measuredMs?: number | null, operations?: number, shards?: number, judge?: typeof classify,
 *   delays?: (n: number) => Delay[]}} [options] `delays` of the sender's wake-ups
 */
export function setUp({
  warmupMs = 0,
  measuredMs = null,
  operations = 1,
  shards = 1,
  judge = classify,
  delays = () => [],
} = {}) {
  /** @type {SecondRow[]} */
  const rows = [];
  /** @type {[number, unknown][]} */
  const kept = [];
  const recorder = createRecorder({
    operations: Array.from({ length: operations }, (_, i) => ({ name: `operation ${i}`, classify: judge })),
    warmupMs,
    shards,
    measuredMs,
    onSecond: (row) => rows.push(row),
    onKept: (operation, item) => kept.push([operation, item]),
    wakes: { delays: () => delays },
  });
  return { recorder, rows, kept };
}

/**
 * @param {number} intended
 * @param {number} done
 * @param {string | {failure: string}} what body, or what went wrong
 * @param {Partial<Sample>} [changes]
 * @returns {Sample}
 */
export function sample(intended, done, what, changes = {}) {
  const isBody = typeof what === 'string';
  return {
    operation: 0,
    index: 0,
    intended,
    sent: intended,
    done,
    sendLateMs: 0,
    carriedMs: 0,
    readLateMs: 0,
    receivedAt: 0,
    ...NO_PHASES,
    failure: isBody ? null : what.failure,
    status: isBody ? 200 : 0,
    body: isBody ? Buffer.from(what) : null,
    ...changes,
  };
}
