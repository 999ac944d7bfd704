/** Events of a run, for tests of the view. */
import { load } from '../engine/load-plan.js';

/** @import { IntervalEvent } from '../../src/engine/interval.js' */
/** @import { LoadPlan } from '../../src/plan/load.js' */
/** @import { StartEvent } from '../../src/run.js' */

/** @param {Partial<IntervalEvent>} [changes] @returns {IntervalEvent} */
export function interval(changes) {
  return {
    type: 'interval',
    elapsedMs: 1003,
    totalMs: 20_000,
    sent: 20,
    succeeded: 19,
    failed: 0,
    inFlight: 1,
    waiting: 0,
    ratePerSecond: 19,
    p99Ms: 12.34,
    errors: {},
    phase: 'measuring',
    ...changes,
  };
}

/** @param {Partial<LoadPlan>} [changes] of the load @param {object} [ofPlan] @returns {StartEvent} */
export function start(changes, ofPlan) {
  const plan = {
    operation: 'ocsp',
    load: load({ ratePerSecond: 20, ...changes }),
    requirements: [],
    ...ofPlan,
  };
  return {
    type: 'start',
    plan: /** @type {any} */ (plan),
    target: { url: 'http://127.0.0.1:8200', product: 'Vault', version: '1.21.1' },
    planned: 400,
  };
}

export const START = start();
