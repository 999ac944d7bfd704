/**
 * Computes what a tool without lateness would have reported, from captured packets: each request takes its captured time,
 * and in an open loop also waits from its due time for a free connection, first come, first served. A single server
 * responds faster after a late tool left it idle, so there only the captured time beyond the service time counts.
 */
import { createSchedule } from '../../src/plan/schedule.js';
import { quantile } from './statistics.js';
/** @import { LoadPlan } from '../../src/plan/load.js' */
/** @import { Result } from '../../src/result/schema.js' */
/** @import { Exchange } from './wire.js' */

/**
 * @typedef {object} Truth
 * @property {Float64Array} responses ms, ascending
 * @property {number} perSecond responses; for a closed loop, a lower bound
 */
/**
 * @typedef {object} OpenLoad
 * @property {number} planned
 * @property {(k: number) => number} dueMs
 * @property {number} connections
 * @property {number} giveUpMs no request starts later
 * @property {number} [serverMs] service time of a single server; omitted: requests do not wait for each other at the target
 */

/**
 * @param {readonly Exchange[]} exchanges in order of the requests; at least one
 * @param {Pick<Result, 'load' | 'totals' | 'startedAtMonotonicNs'>} result of a run without warm-up
 * @param {number} [serverMs] of a target that is a single server
 * @returns {Truth}
 */
export function truthOf(exchanges, { load, totals, startedAtMonotonicNs }, serverMs) {
  const beginNs = BigInt(/** @type {string} */ (startedAtMonotonicNs));
  const { timeoutMs, concurrency } = load;
  const wire = exchanges.map(({ requestAtNs, responseAtNs }) => {
    const sentMs = Number(requestAtNs - beginNs) / 1e6;
    return { sentMs, doneMs: responseAtNs === null ? null : Number(responseAtNs - beginNs) / 1e6 };
  });
  const onWireMs = wire.map(({ sentMs, doneMs }) => (doneMs === null ? timeoutMs : doneMs - sentMs));
  const windowMs = Number(load.durationMs);
  if (load.model === 'closed') {
    const respondedMs = wire.flatMap(({ doneMs }) => doneMs ?? []);
    const perSecond = closedRate(respondedMs, windowMs);
    return { responses: Float64Array.from(onWireMs).sort(), perSecond };
  }
  const plan = /** @type {LoadPlan} */ ({ stages: null, ...load });
  const { dueMs, endMs } = createSchedule(plan);
  const open = { planned: totals.planned, dueMs, connections: concurrency, giveUpMs: endMs + timeoutMs };
  const own = serverMs === undefined ? onWireMs : beyondServer(wire, onWireMs, serverMs);
  const responses = queue(own, { ...open, serverMs });
  const doneMs = Array.from(responses, (ms, k) => dueMs(k) + ms);
  return { responses: responses.sort(), perSecond: openRate(doneMs, onWireMs, windowMs) };
}

/**
 * @param {{sentMs: number}[]} wire in order
 * @param {number[]} onWireMs
 * @param {number} serverMs
 * @returns {number[]} ms of each beyond its time at the server
 */
function beyondServer(wire, onWireMs, serverMs) {
  const serve = createServer(serverMs);
  return wire.map(({ sentMs }, k) => onWireMs[k] - (serve(sentMs) - sentMs));
}

/** @param {number} serverMs @returns {(ms: number) => number} completion time of a request that arrives at `ms`; call in order */
function createServer(serverMs) {
  let busyUntil = 0;
  return (ms) => {
    busyUntil = Math.max(ms, busyUntil) + serverMs;
    return busyUntil;
  };
}

/**
 * @param {readonly number[]} ownMs time of each, without the service time of a single server; the k-th captured request was
 *   the k-th due; requests that were never captured count with the median
 * @param {OpenLoad} load
 * @returns {Float64Array} ms from due to done, in order; for a request that never starts, its age when the tool gives up
 */
export function queue(ownMs, { planned, dueMs, connections, giveUpMs, serverMs }) {
  const typical = medianOf(ownMs);
  const serve = serverMs === undefined ? (/** @type {number} */ ms) => ms : createServer(serverMs);
  const freeAt = new Float64Array(connections);
  return Float64Array.from({ length: planned }, (_, k) => {
    const due = dueMs(k);
    let first = 0;
    for (let i = 1; i < connections; i++) if (freeAt[i] < freeAt[first]) first = i;
    const begun = Math.max(due, freeAt[first]);
    if (begun >= giveUpMs) return giveUpMs - due;
    freeAt[first] = serve(begun) + (ownMs[k] ?? typical);
    return freeAt[first] - due;
  });
}

/**
 * In a closed loop a late tool sends later, so this is a lower bound of the target's capacity.
 * @param {readonly number[]} respondedMs
 * @param {number} windowMs
 */
export function closedRate(respondedMs, windowMs) {
  const last = respondedMs.reduce((a, b) => Math.max(a, b), windowMs);
  return (respondedMs.length / last) * 1000;
}

/**
 * A target kept up if it completed all requests within its slowest response time after the window. Otherwise, counts
 * responses in the window shifted by a median service time.
 * @param {readonly number[]} doneMs
 * @param {readonly number[]} onWireMs
 * @param {number} windowMs
 */
export function openRate(doneMs, onWireMs, windowMs) {
  const by = (/** @type {number} */ endMs) => doneMs.filter((ms) => ms <= endMs).length;
  const slowest = onWireMs.reduce((a, b) => Math.max(a, b), 0);
  const count = by(windowMs + slowest) === doneMs.length ? doneMs.length : by(windowMs + medianOf(onWireMs));
  return (count / windowMs) * 1000;
}

/** @param {readonly number[]} values */
function medianOf(values) {
  return quantile(Float64Array.from(values).sort(), 0.5);
}
