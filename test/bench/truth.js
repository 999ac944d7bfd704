/**
 * What a tool that is never late would have reported, from what was on the wire: each request takes the time it took there, and
 * in an open loop it also waits for a free connection, first come, first served, from when it was due. A target that is a single
 * server answers faster when a late tool leaves it idle; there, what was on the wire beyond that server's own time counts.
 */
import { createSchedule } from '../../src/plan/schedule.js';
import { quantile } from './statistics.js';
/** @import { LoadPlan } from '../../src/plan/load.js' */
/** @import { Result } from '../../src/result/schema.js' */
/** @import { Exchange } from './wire.js' */

/**
 * @typedef {object} Truth
 * @property {Float64Array} responses ms, ascending
 * @property {number} perSecond responses; closed loop: at least
 */
/**
 * @typedef {object} OpenLoad
 * @property {number} planned
 * @property {(k: number) => number} dueMs
 * @property {number} connections
 * @property {number} giveUpMs no request begins later
 * @property {number} [serverMs] service time of a single server; left out: requests do not wait for each other at the target
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
 * @returns {number[]} ms that each took beyond its time at a single server
 */
function beyondServer(wire, onWireMs, serverMs) {
  const serve = createServer(serverMs);
  return wire.map(({ sentMs }, k) => onWireMs[k] - (serve(sentMs) - sentMs));
}

/** @param {number} serverMs @returns {(ms: number) => number} when a request is done that comes at `ms`, in order */
function createServer(serverMs) {
  let busyUntil = 0;
  return (ms) => {
    busyUntil = Math.max(ms, busyUntil) + serverMs;
    return busyUntil;
  };
}

/**
 * @param {readonly number[]} ownMs what each takes, at a single server beyond its service; the k-th on the wire was the k-th that
 *   was due; those that never were on the wire count with the median
 * @param {OpenLoad} load
 * @returns {Float64Array} ms from due to done, in order; of what never begins, the age when the tool gives up
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
 * In a closed loop a tool that is late asks later, so the target could do more than this.
 * @param {readonly number[]} respondedMs
 * @param {number} windowMs
 */
export function closedRate(respondedMs, windowMs) {
  const last = respondedMs.reduce((a, b) => Math.max(a, b), windowMs);
  return (respondedMs.length / last) * 1000;
}

/**
 * A target that is done with all of them as soon after the window as its slowest response allows has kept up. Else what was
 * done in the window counts, which begins a service time later for responses.
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
