/** The counters and histograms behind the recorder: by operation, by outcome, by second. */
import { createHistogram, encodeHistogram, figures, recordMs, valueAtShare } from '../../common/histogram.js';

/** @param {string} name @param {number} stage */
export function createBlock(name, stage) {
  return {
    name,
    stage,
    /** @type {Map<string, ReturnType<typeof createOutcome>>} */
    outcomes: new Map(),
    verification: {
      checked: 0,
      passed: 0,
      unchecked: 0,
      failures: /** @type {Record<string, number>} */ ({}),
      notes: /** @type {string[]} */ ([]),
    },
    dropped: 0,
    neverSentDue: 0,
    warmup: 0,
    perSecond: {
      sent: /** @type {number[]} */ ([]),
      succeeded: /** @type {number[]} */ ([]),
      failed: /** @type {number[]} */ ([]),
    },
    lastSuccessMs: 0,
    firstHalf: { count: 0, responseMs: 0 },
    successesAfter: 0,
  };
}

/** @param {boolean} success */
function createOutcome(success) {
  return {
    success,
    count: 0,
    response: createHistogram(),
    service: createHistogram(),
    sendLag: createHistogram(),
    ownResponse: createHistogram(),
    ownService: createHistogram(),
  };
}

/**
 * @param {ReturnType<typeof createBlock>} block
 * @param {import('./recorder.js').Verdict} verdict
 */
export function outcomeOf(block, verdict) {
  let outcome = block.outcomes.get(verdict.outcome);
  if (outcome === undefined) {
    outcome = createOutcome(verdict.success);
    block.outcomes.set(verdict.outcome, outcome);
  }
  return outcome;
}

/**
 * @param {ReturnType<typeof createBlock>['verification']} verification
 * @param {import('./recorder.js').Verdict} verdict
 */
export function countVerification(verification, verdict) {
  if (verdict.outcome === 'unchecked') verification.unchecked++;
  if (verdict.verification === null) return;
  verification.checked++;
  if (verdict.verification === 'passed') verification.passed++;
  else verification.failures[verdict.outcome] = (verification.failures[verdict.outcome] ?? 0) + 1;
}

/** @param {number} second */
export function createSecond(second) {
  const row = { second, succeeded: 0, failed: 0, failures: /** @type {Record<string, number>} */ ({}) };
  const response = createHistogram();
  const sendLag = createHistogram();
  const empty = () => row.succeeded + row.failed === 0;
  return {
    second,
    empty,
    response,
    /**
     * @param {import('./recorder.js').Verdict} verdict
     * @param {number} responseMs
     * @param {number} sendLagMs
     */
    add(verdict, responseMs, sendLagMs) {
      recordMs(response, responseMs);
      recordMs(sendLag, sendLagMs);
      if (verdict.success) row.succeeded++;
      else {
        row.failed++;
        row.failures[verdict.outcome] = (row.failures[verdict.outcome] ?? 0) + 1;
      }
    },
    /**
     * @param {boolean} isPart other shards' have to be added to it, so it has histograms of its own
     * @returns {import('./recorder.js').SecondRow} as far as it has come
     */
    row(isPart) {
      const isEmpty = empty();
      const { p50, p99, max } = figures(response);
      return {
        ...row,
        failures: { ...row.failures },
        p50,
        p90: isEmpty ? null : valueAtShare(response, 0.9),
        p99,
        max,
        lag99: isEmpty ? null : valueAtShare(sendLag, 0.99),
        lagMax: isEmpty ? null : sendLag.maxValue / 1000,
        histogram: isEmpty || !isPart ? null : encodeHistogram(response),
        histogramSeconds: 1,
        lag: isEmpty || !isPart ? null : encodeHistogram(sendLag),
      };
    },
  };
}

/** @param {number} ms */
export function secondOf(ms) {
  return Math.max(0, Math.floor(ms / 1000));
}

/**
 * @param {number[]} counts
 * @param {number} second
 */
export function increment(counts, second) {
  while (counts.length <= second) counts.push(0);
  counts[second]++;
}

/**
 * @param {ReturnType<typeof createBlock>} block
 * @returns {import('./recorder.js').OperationSnapshot}
 */
export function snapshotOf({ outcomes, ...rest }) {
  /** @type {Record<string, import('./recorder.js').OutcomeSnapshot>} */
  const plain = {};
  for (const [name, { success, count, response, service, sendLag, ownResponse, ownService }] of outcomes) {
    plain[name] = {
      success,
      count,
      latency: {
        response: encodeHistogram(response),
        service: encodeHistogram(service),
        sendLag: encodeHistogram(sendLag),
        ownResponse: encodeHistogram(ownResponse),
        ownService: encodeHistogram(ownService),
      },
    };
  }
  return { ...rest, outcomes: plain };
}
