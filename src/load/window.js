/** How long the measured part is and how many requests it holds: planned, and as it came. */
import { total } from '../results/merge.js';
import { createSchedule } from './schedule.js';

/**
 * @param {import('../plan.js').LoadPlan} load
 * @returns {{planned: number | null, windowMs: number | null}} measured requests, null where a closed loop sends as
 *   many as are answered; planned length of the measured part, null where the requests decide
 */
export function plannedWindow(load) {
  if (load.model === 'closed') return { planned: load.requests, windowMs: load.durationMs };
  const { count, firstMeasured, endMs } = createSchedule(load);
  return { planned: count - firstMeasured, windowMs: endMs - load.warmupMs };
}

/**
 * @param {import('../plan.js').Plan} plan
 * @param {import('../results/merge.js').MergedOperation[]} operations
 * @param {{ends: import('./shard.js').ShardEnd[], stoppedMs: number}} sent `stoppedMs`: when it was interrupted, from time
 *   zero; Infinity when it was not
 * @returns {import('../results/build.js').RunFacts}
 */
export function factsOf({ load }, operations, { ends, stoppedMs }) {
  const { planned, windowMs } = plannedWindow(load);
  const counts = operations.flatMap(({ outcomes, dropped }) => [
    dropped,
    ...Object.entries(outcomes).map(([name, { count }]) => (name === 'never_sent' ? 0 : count)),
  ]);
  const lastSuccessMs = Math.max(0, ...operations.map((operation) => operation.lastSuccessMs));
  const isWhole = load.model === 'closed' && stoppedMs === Number.POSITIVE_INFINITY;
  return {
    planned: planned === null || isWhole ? total(counts) : planned,
    windowMs: Math.max(0, Math.min(windowMs ?? lastSuccessMs, stoppedMs - load.warmupMs)),
    endedMs: Math.max(0, ...ends.map(({ endedMs }) => endedMs - load.warmupMs)),
    model: load.model,
    warmupMs: load.warmupMs,
  };
}
