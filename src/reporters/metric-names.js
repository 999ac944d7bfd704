/** What metrics are called and what their labels say, to Prometheus and to OpenTelemetry alike. */

/** Outcomes of requests that were not sent; they have metrics of their own. */
export const UNSENT = new Set(['dropped', 'never_sent']);

/** Label and key of a latency block. */
export const QUANTILES = /** @type {const} */ ([
  ['0.5', 'p50'],
  ['0.9', 'p90'],
  ['0.95', 'p95'],
  ['0.99', 'p99'],
  ['0.999', 'p999'],
]);

/** Label and key of a result's `latencyMs`. */
export const TIMES = /** @type {const} */ ([
  ['response', 'response'],
  ['service', 'service'],
  ['send_lag', 'sendLag'],
]);

export const REQUIREMENT_STATES = /** @type {const} */ (['met', 'not met', 'not proven']);
export const MEASUREMENT_STATES = /** @type {const} */ (['valid', 'suspect', 'invalid']);
