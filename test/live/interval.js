/** What a run says once a second, for tests of the view. */
/** @import { IntervalEvent } from '../../src/engine/interval.js' */

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

export const START = /** @type {const} */ ({
  type: 'start',
  plan: { operation: 'ocsp', load: { ratePerSecond: 20, rampUpMs: 0, shard: null } },
  target: { url: 'http://127.0.0.1:8200', product: 'Vault', version: '1.21.1' },
  planned: 400,
});
