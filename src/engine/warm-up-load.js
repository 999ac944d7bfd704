/** The loads of warm-ups: the plan's, shorter. */
/** @import { LoadPlan } from '../plan/load.js' */

/** For a response, where there is time. */
const TIMEOUT_MS = 1000;

/**
 * @typedef {object} Part
 * @property {number} requests
 * @property {number} perSecond in an open loop
 * @property {number} longestMs waiting for the last responses included
 */

/**
 * Numbers of the same kinds as in the plan, null where it has null: V8 throws code away that has seen other kinds.
 *
 * @param {LoadPlan} load
 * @param {Part} part
 * @returns {LoadPlan}
 */
export function partOf(load, { requests, perSecond, longestMs }) {
  const isOpen = load.model === 'open';
  const durationMs = isOpen ? (1000 * requests) / perSecond : longestMs;
  return {
    ...load,
    ratePerSecond: isOpen ? perSecond : null,
    durationMs,
    requests: isOpen && load.requests === null ? null : requests,
    rampUpMs: 0,
    warmupMs: 0,
    timeoutMs: isOpen ? longestMs - durationMs : TIMEOUT_MS,
    threads: 1,
    stages: null,
  };
}
