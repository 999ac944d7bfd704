/**
 * What a tool that is never late would have reported, from what was on the wire: each request takes the time it took there, and
 * in an open loop it also waits for a free connection, first come, first served, from when it was due.
 */
import { createSchedule } from '../../src/load/pacing/schedule.js';
import { quantile } from './statistics.js';

/**
 * @typedef {object} Truth
 * @property {Float64Array} responses ms, ascending
 * @property {number} perSecond responses on the wire
 */
/**
 * @typedef {object} OpenLoad
 * @property {number} planned
 * @property {(k: number) => number} dueMs
 * @property {number} connections
 * @property {number} giveUpMs no request begins later
 */

/**
 * @param {readonly import('./wire.js').Exchange[]} exchanges in order of the requests; at least one
 * @param {Pick<import('../../src/results/schema.js').Result, 'load' | 'totals' | 'startedAtMonotonicNs'>} result of a run without
 *   warm-up
 * @returns {Truth}
 */
export function truthOf(exchanges, { load, totals, startedAtMonotonicNs }) {
  const beginNs = BigInt(/** @type {string} */ (startedAtMonotonicNs));
  const { timeoutMs, concurrency } = load;
  const serviceMs = exchanges.map(({ requestAtNs, responseAtNs }) =>
    responseAtNs === null ? timeoutMs : Number(responseAtNs - requestAtNs) / 1e6,
  );
  const respondedMs = exchanges.flatMap(({ responseAtNs }) =>
    responseAtNs === null ? [] : [Number(responseAtNs - beginNs) / 1e6],
  );
  const windowMs = Number(load.durationMs);
  if (load.model === 'closed') {
    const perSecond = closedRate(respondedMs, windowMs);
    return { responses: Float64Array.from(serviceMs).sort(), perSecond };
  }
  const plan = /** @type {import('../../src/plan.js').LoadPlan} */ ({ stages: null, ...load });
  const { dueMs, endMs } = createSchedule(plan);
  const open = { planned: totals.planned, dueMs, connections: concurrency, giveUpMs: endMs + timeoutMs };
  return { responses: queue(serviceMs, open), perSecond: openRate(respondedMs, serviceMs, windowMs) };
}

/**
 * @param {readonly number[]} serviceMs the k-th on the wire was the k-th that was due; those that never were on the wire
 *   count with the median
 * @param {OpenLoad} load
 * @returns {Float64Array} ms from due to done, ascending; of what never begins, the age when the tool gives up
 */
export function queue(serviceMs, { planned, dueMs, connections, giveUpMs }) {
  const typical = medianOf(serviceMs);
  const freeAt = new Float64Array(connections);
  return Float64Array.from({ length: planned }, (_, k) => {
    const due = dueMs(k);
    let first = 0;
    for (let i = 1; i < connections; i++) if (freeAt[i] < freeAt[first]) first = i;
    const begun = Math.max(due, freeAt[first]);
    if (begun >= giveUpMs) return giveUpMs - due;
    freeAt[first] = begun + (serviceMs[k] ?? typical);
    return freeAt[first] - due;
  }).sort();
}

/**
 * In a closed loop a tool that is late asks later, so the target could do more than this.
 *
 * @param {readonly number[]} respondedMs
 * @param {number} windowMs
 */
export function closedRate(respondedMs, windowMs) {
  const last = respondedMs.reduce((a, b) => Math.max(a, b), windowMs);
  return (respondedMs.length / last) * 1000;
}

/**
 * The first responses come a service time after the window begins, so the window of responses is as much later.
 *
 * @param {readonly number[]} respondedMs
 * @param {readonly number[]} serviceMs
 * @param {number} windowMs
 */
export function openRate(respondedMs, serviceMs, windowMs) {
  const endMs = windowMs + medianOf(serviceMs);
  return (respondedMs.filter((at) => at <= endMs).length / windowMs) * 1000;
}

/** @param {readonly number[]} values */
function medianOf(values) {
  return quantile(Float64Array.from(values).sort(), 0.5);
}
