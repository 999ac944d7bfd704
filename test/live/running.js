/** A run that goes on, as its recorders would report it, without threads, clocks or a target. */

import { plannedWindow } from '../../src/engine/window.js';
import { createResultSoFar } from '../../src/live/result-so-far.js';
import { parseRequirement } from '../../src/plan/requirements.js';
import { createSchedule } from '../../src/plan/schedule.js';
import { shardOfThread } from '../../src/plan/shard-part.js';
import { load as loadOf } from '../engine/load-plan.js';
import { sample, setUp } from '../engine/recording.js';
/** @import { Report } from '../../src/engine/recording/recorder.js' */
/** @import { Mix } from '../../src/operations/mix.js' */
/** @import { LoadPlan } from '../../src/plan/load.js' */

/** Named as the recorders of test/engine/recording.js call theirs. @type {Mix} */
export const MIX = /** @type {any} */ ({
  members: [{ name: 'operation 0' }],
  units: { 'operation 0': 'answers' },
  outcomes: { bad: 'not what was asked for', refused: 'the target refused' },
});

export const STARTED_AT = new Date('2026-01-02T03:04:05.000Z');

/** @param {Partial<LoadPlan>} changes @param {string[]} [requirements] */
export function startRun(changes, requirements = []) {
  const load = loadOf(changes);
  const window = plannedWindow(load);
  /** @type {any} */
  const plan = {
    operation: 'operation 0',
    dev: false,
    target: { url: 'http://192.0.2.1:8200' },
    load,
    options: {},
    mix: null,
    requirements: requirements.map((text) => parseRequirement(text)),
  };
  const target = { url: 'http://192.0.2.1:8200', product: 'Vault', version: '1.21.1' };
  const start = { type: /** @type {const} */ ('start'), plan, target, planned: window.planned };
  const zero = { startedAt: STARTED_AT, startedAtNs: 5_000_000_000n, windowMs: window.windowMs };
  const soFar = createResultSoFar({ mix: MIX, start, zero, command: 'vault-pki-load x' });
  const recorders = Array.from({ length: load.threads }, (_, thread) => ({
    ...setUp({
      warmupMs: load.warmupMs,
      measuredMs: window.windowMs,
      shards: shardOfThread(load.shard, thread, load.threads).shards,
    }),
    told: 0,
    recordedMs: 0,
  }));
  return { load, start, zero, soFar, recorders };
}

/**
 * What a recorder says at a time: every arrival of its own that is answered by then is, after `tookMs`. As it takes what
 * there is when it is told the time, some that was done later is in it as well.
 *
 * @param {ReturnType<typeof startRun>} run
 * @param {number} thread
 * @param {number} fromMs from time zero: what was done before was recorded before
 * @param {number} atMs
 * @param {{tookMs?: number, laterMs?: number, what?: (index: number) => string}} [options]
 * @returns {Report}
 */
export function reportAt(
  { load, recorders },
  thread,
  fromMs,
  atMs,
  { tookMs = 5, laterMs = 0, what = () => 'good' } = {},
) {
  const one = recorders[thread];
  const { shard, shards } = shardOfThread(load.shard, thread, load.threads);
  const schedule = createSchedule(load);
  for (let index = shard; index < schedule.count; index += shards) {
    const intended = schedule.dueMs(index);
    const done = intended + tookMs;
    if (done >= atMs + laterMs) break;
    if (done >= Math.max(fromMs, one.recordedMs))
      one.recorder.record(sample(intended, done, what(index), { index }));
  }
  one.recordedMs = Math.max(one.recordedMs, atMs + laterMs);
  one.recorder.advance(atMs);
  const rows = one.rows.slice(one.told);
  one.told = one.rows.length;
  // As it comes through a message port.
  return structuredClone({ atMs, rows, ...one.recorder.soFar() });
}
