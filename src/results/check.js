/**
 * The bookkeeping of a Result, checked after every run and before a file is trusted.
 *
 * - sent + dropped + neverSent = planned; succeeded + failed = sent
 * - `outcomes` counts every sent request once; `dropped` and `never_sent`, where they stand there, equal the totals
 *   `dropped` and `neverSentDue`
 * - service time and send lag cover the sent requests; response time also those that were due but never sent
 * - an outcome's own times cover its own requests
 * - the timeline, and the operations together, add up to the whole
 * - a histogram decodes to the count beside it
 */
import { decodeHistogram } from '../histogram.js';

/** @typedef {import('./schema.js').Result} Result */
/** @typedef {import('./schema.js').OperationBlock} OperationBlock */
/** @typedef {import('./schema.js').LatencyBlock} LatencyBlock */
/** @typedef {import('./schema.js').LatencyBlocks} LatencyBlocks */

/** Outcomes of requests that were not sent. */
const UNSENT = Object.freeze({ dropped: 'dropped', never_sent: 'neverSentDue' });

const SERIES = /** @type {const} */ (['response', 'service', 'sendLag']);

/**
 * @param {Result} result
 * @returns {string[]} one sentence per broken identity; empty when all hold
 */
export function checkResult(result) {
  return [
    ...checkBlock(result, ''),
    ...Object.entries(result.operations).flatMap(([name, block]) => checkBlock(block, `operation ${name}: `)),
    ...checkTimeline(result),
    ...checkOperations(result),
  ];
}

/**
 * @param {OperationBlock} block
 * @param {string} where
 */
function checkBlock(block, where) {
  return [
    ...checkTotals(block),
    ...checkOutcomes(block),
    ...checkLatencies(block.latencyMs, expectedCounts(block), 'latencyMs'),
    ...checkDetails(block),
    ...checkVerification(block.verification),
  ].map((problem) => where + problem);
}

/** @param {OperationBlock} block */
function checkTotals({ totals, rates }) {
  const { planned, sent, succeeded, failed, dropped, neverSent, neverSentDue } = totals;
  return [
    ...same('sent + dropped + neverSent', sent + dropped + neverSent, 'planned', planned),
    ...same('succeeded + failed', succeeded + failed, 'sent', sent),
    ...unless(
      neverSentDue <= neverSent,
      `neverSentDue (${neverSentDue}) is more than neverSent (${neverSent})`,
    ),
    ...unless(
      Math.abs(rates.perHour - rates.perSecond * 3600) <= 1e-6 * rates.perHour,
      `rates.perHour (${rates.perHour}) is not 3600 times rates.perSecond (${rates.perSecond})`,
    ),
  ];
}

/** @param {OperationBlock} block */
function checkOutcomes({ totals, outcomes, outcomeDetails }) {
  const sentOutcomes = Object.entries(outcomes).filter(([name]) => !Object.hasOwn(UNSENT, name));
  const details = Object.entries(outcomeDetails);
  const successes = details.filter(([, detail]) => detail.success).map(([, detail]) => detail.count);
  return [
    ...same(
      'the outcomes of sent requests',
      sum(sentOutcomes.map(([, count]) => count)),
      'sent',
      totals.sent,
    ),
    ...Object.entries(UNSENT).flatMap(([name, total]) =>
      Object.hasOwn(outcomes, name) ? same(`outcome ${name}`, outcomes[name], total, totals[total]) : [],
    ),
    ...same('the successful outcomes', sum(successes), 'succeeded', totals.succeeded),
    ...[...new Set([...Object.keys(outcomes), ...details.map(([name]) => name)])].flatMap((name) =>
      same(`outcomes.${name}`, outcomes[name], `outcomeDetails.${name}.count`, outcomeDetails[name]?.count),
    ),
  ];
}

/**
 * @param {OperationBlock} block
 * @returns {Record<string, number>} what each series must hold
 */
function expectedCounts({ totals: { sent, neverSentDue } }) {
  return { response: sent + neverSentDue, service: sent, sendLag: sent };
}

/** @param {OperationBlock} block */
function checkDetails({ outcomeDetails }) {
  return Object.entries(outcomeDetails).flatMap(([name, { count, latencyMs }]) => {
    const sent = Object.hasOwn(UNSENT, name) ? 0 : count;
    const response = name === 'dropped' ? 0 : count;
    return checkLatencies(
      latencyMs,
      { response, service: sent, sendLag: sent },
      `outcomeDetails.${name}.latencyMs`,
    );
  });
}

/**
 * @param {LatencyBlocks} latencies
 * @param {Record<string, number>} expected
 * @param {string} where
 */
function checkLatencies(latencies, expected, where) {
  return SERIES.flatMap((series) => {
    const { count } = latencies[series];
    return [
      ...unless(count === expected[series], `${where}.${series}.count is ${count}, not ${expected[series]}`),
      ...checkLatency(latencies[series]).map((problem) => `${where}.${series}${problem}`),
    ];
  });
}

/** @param {LatencyBlock} block */
function checkLatency({ count, min, mean, p50, p90, p95, p99, p999, max, histogram }) {
  const values = [min, p50, p90, p95, p99, p999, max, mean];
  const ordered = values.slice(0, 7).every((value, i) => i === 0 || Number(values[i - 1]) <= Number(value));
  const recorded = histogramCount(histogram);
  return [
    ...unless(
      values.every((value) => (value === null) === (count === 0)),
      ` has ${count} values but ${count === 0 ? 'numbers' : 'nulls'} among its figures`,
    ),
    ...unless(ordered, ': min, percentiles and max are not in ascending order'),
    ...unless(recorded === count, `.histogram holds ${recorded ?? 'something unreadable'}, not ${count}`),
  ];
}

/**
 * @param {string | null} histogram
 * @returns {number | null} null when it cannot be read
 */
function histogramCount(histogram) {
  if (histogram === null) return 0;
  try {
    return decodeHistogram(histogram).totalCount;
  } catch {
    return null;
  }
}

/** @param {import('./schema.js').VerificationBlock} verification */
function checkVerification({ checked, passed, sampled, unchecked, failures }) {
  const failed = checked - passed;
  const broken = sum(Object.values(failures));
  return [
    ...unless(failed >= 0, `verification.passed (${passed}) is more than verification.checked (${checked})`),
    ...unless(
      broken >= failed,
      `verification.failures name ${broken} rules broken, but ${failed} answers did not pass`,
    ),
    ...unless(failed > 0 || broken === 0, `verification.failures name ${broken}, but every answer passed`),
    ...unless(
      sampled || unchecked === 0,
      `verification left ${unchecked} unchecked, but does not say it is sampled`,
    ),
  ];
}

/** @param {Result} result */
function checkTimeline({ timeline, totals }) {
  return /** @type {const} */ (['sent', 'succeeded', 'failed']).flatMap((key) =>
    same(`the timeline's ${key}`, sum(timeline.map((row) => row[key])), `totals.${key}`, totals[key]),
  );
}

/** @param {Result} result */
function checkOperations({ operations, ...whole }) {
  const blocks = Object.values(operations);
  if (blocks.length === 0) return ['there are no operations'];
  /** @type {[string, (block: OperationBlock) => number][]} */
  const figures = [
    ...Object.keys(whole.totals).map((key) =>
      figure(`totals.${key}`, ({ totals }) => Object(totals)[key] ?? 0),
    ),
    ...Object.keys(whole.outcomes).map((key) =>
      figure(`outcomes.${key}`, ({ outcomes }) => outcomes[key] ?? 0),
    ),
    ...SERIES.map((key) => figure(`latencyMs.${key}.count`, ({ latencyMs }) => latencyMs[key].count)),
    figure('verification.checked', ({ verification }) => verification.checked),
    figure('verification.passed', ({ verification }) => verification.passed),
    figure('verification.unchecked', ({ verification }) => verification.unchecked),
  ];
  return figures.flatMap(([name, read]) =>
    same(`the operations' ${name}`, sum(blocks.map(read)), name, read(whole)),
  );
}

/**
 * @param {string} name
 * @param {(block: OperationBlock) => number} read
 * @returns {[string, (block: OperationBlock) => number]}
 */
function figure(name, read) {
  return [name, read];
}

/**
 * @param {string} left
 * @param {number | undefined} a
 * @param {string} right
 * @param {number | undefined} b
 */
function same(left, a, right, b) {
  return unless(a === b, `${left} is ${a ?? 'missing'}, but ${right} is ${b ?? 'missing'}`);
}

/**
 * @param {boolean} holds
 * @param {string} problem
 */
function unless(holds, problem) {
  return holds ? [] : [problem];
}

/** @param {number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
