/**
 * The bookkeeping of a Result, checked after every run and before a file is trusted.
 *
 * - sent + dropped + neverSent = planned; succeeded + failed = sent; failed + dropped + neverSentDue = errors, of which
 *   `errorShare` is the share
 * - rates are of the successes, over `windowSeconds` where that is there; no success came later than a request due in it can
 * - `outcomes` counts every sent request once; `dropped` and `never_sent`, where they stand there, equal the totals
 *   `dropped` and `neverSentDue`
 * - service time and send lag cover the sent requests; response time also those that were due but never sent
 * - an outcome's own times cover its own requests
 * - a histogram decodes to the count and the figures beside it; the outcomes' add up to the whole's, bucket for bucket
 * - the timeline, and the operations together, add up to the whole; no second has more than the peak
 * - where a second has more fields (its failures, its send lag, a histogram), that fits the requests done in it; whether its
 *   histogram holds just that is for the reader of a file to ask (check-timeline.js), as is what a part of a plan has for
 *   `merge` (check-merge-block.js)
 * - the stages together add up to the whole, and the operations of each to it
 * - a response passed, failed by one rule, was left unchecked, or had nothing to check; the outcomes agree
 */

import { total } from '../../common/sums.js';
import { countErrors, shareOfErrors } from '../errors.js';
import { checkLatencies, checkSums, SERIES, same, unless } from './check-latency.js';
import { checkMergeBlock } from './check-merge-block.js';
import { checkRates, checkSeconds, checkTimeline } from './check-timeline.js';

/** @import { OperationBlock, Result, StageBlock } from '../schema.js' */

/** Outcomes of requests that were not sent. */
const UNSENT = Object.freeze({ dropped: 'dropped', never_sent: 'neverSentDue' });

/**
 * @param {Result} result
 * @param {{eachSecond?: boolean}} [options] `eachSecond`: decode the histograms of seconds, too, which takes some tenths of a
 *   second for a run of an hour
 * @returns {string[]} one sentence per broken identity; empty when all hold
 */
export function checkResult(result, { eachSecond = false } = {}) {
  return [
    ...checkRates(result),
    ...checkBlock(result, ''),
    ...Object.entries(result.operations).flatMap(([name, block]) => checkBlock(block, `operation ${name}: `)),
    ...checkTimeline(result),
    ...checkParts('the operations', Object.values(result.operations), result),
    ...checkStages(result),
    ...(eachSecond ? [...checkSeconds(result), ...checkMergeBlock(result)] : []),
  ];
}

/** @param {OperationBlock} block @param {string} where */
function checkBlock(block, where) {
  return [
    ...checkTotals(block),
    ...checkOutcomes(block),
    ...checkLatencies(block.latencyMs, expectedCounts(block), 'latencyMs'),
    ...checkDetails(block),
    ...checkSums(
      block.latencyMs,
      Object.values(block.outcomeDetails).map(({ latencyMs }) => latencyMs),
    ),
    ...checkVerification(block),
  ].map((problem) => where + problem);
}

/** @param {OperationBlock} block */
function checkTotals({ totals, rates, errorShare }) {
  const { planned, sent, succeeded, failed, dropped, neverSent, neverSentDue } = totals;
  return [
    ...same('sent + dropped + neverSent', sent + dropped + neverSent, 'planned', planned),
    ...same('succeeded + failed', succeeded + failed, 'sent', sent),
    ...same('failed + dropped + neverSentDue', countErrors(totals), 'errors', totals.errors),
    ...same('errors / (succeeded + errors)', shareOfErrors(totals), 'errorShare', errorShare),
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
      total(sentOutcomes.map(([, count]) => count)),
      'sent',
      totals.sent,
    ),
    ...Object.entries(UNSENT).flatMap(([name, total]) =>
      Object.hasOwn(outcomes, name) ? same(`outcome ${name}`, outcomes[name], total, totals[total]) : [],
    ),
    ...same('the successful outcomes', total(successes), 'succeeded', totals.succeeded),
    ...[...new Set([...Object.keys(outcomes), ...details.map(([name]) => name)])].flatMap((name) =>
      same(`outcomes.${name}`, outcomes[name], `outcomeDetails.${name}.count`, outcomeDetails[name]?.count),
    ),
  ];
}

/** @param {OperationBlock} block @returns {Record<string, number>} what each series must hold */
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

/** @param {OperationBlock} block */
function checkVerification({ verification, outcomes, totals }) {
  const { checked, passed, sampled, unchecked, failures } = verification;
  return [
    ...unless(
      passed <= checked,
      `verification.passed (${passed}) is more than verification.checked (${checked})`,
    ),
    ...same(
      'verification.failures, together,',
      total(Object.values(failures)),
      'checked less passed',
      checked - passed,
    ),
    ...Object.entries(failures).flatMap(([rule, count]) =>
      same(`verification.failures.${rule}`, count, `outcomes.${rule}`, outcomes[rule]),
    ),
    ...unless(
      (outcomes.unchecked ?? 0) <= unchecked,
      `outcome unchecked is ${outcomes.unchecked}, but verification.unchecked is ${unchecked}`,
    ),
    ...unless(
      passed + unchecked <= totals.succeeded,
      `verification says ${passed} passed and ${unchecked} unchecked, but only ${totals.succeeded} succeeded`,
    ),
    ...unless(
      sampled === unchecked > 0,
      `verification left ${unchecked} unchecked, but ${sampled ? 'says' : 'does not say'} it is sampled`,
    ),
  ];
}

/** @param {Result} result @returns {string[]} */
function checkStages({ stages, operations, ...whole }) {
  if (stages === undefined) return [];
  const names = Object.keys(operations);
  const inEach = stages.flatMap(({ operations: own, ...stage }) => {
    const where = `stage ${stage.name}: `;
    return [
      ...checkBlock(stage, where),
      ...checkWindow(stage).map((problem) => where + problem),
      ...Object.entries(own).flatMap(([name, block]) => checkBlock(block, `${where}operation ${name}: `)),
      ...checkParts('the operations', Object.values(own), stage).map((problem) => where + problem),
      ...unless(
        names.length === Object.keys(own).length && names.every((name) => Object.hasOwn(own, name)),
        `${where}its operations are not those of the run`,
      ),
    ];
  });
  const together = names.flatMap((name) => {
    const blocks = stages.flatMap((stage) =>
      Object.hasOwn(stage.operations, name) ? stage.operations[name] : [],
    );
    return checkParts('the stages', blocks, operations[name]).map(
      (problem) => `operation ${name}: ${problem}`,
    );
  });
  return [...inEach, ...checkParts('the stages', stages, whole), ...together];
}

/** @param {StageBlock | Omit<StageBlock, 'operations'>} stage */
function checkWindow({ windowSeconds, totals: { succeeded }, rates: { perSecond } }) {
  const expected = windowSeconds > 0 ? succeeded / windowSeconds : 0;
  return unless(
    Math.abs(perSecond - expected) <= 1e-6 * expected,
    `rates.perSecond is ${perSecond}, but ${succeeded} successes in ${windowSeconds} s are ${expected}/s`,
  );
}

/**
 * @param {string} name of the parts
 * @param {readonly OperationBlock[]} blocks
 * @param {OperationBlock} whole
 * @returns {string[]}
 */
function checkParts(name, blocks, whole) {
  if (blocks.length === 0) return [`there are no ${name.replace('the ', '')}`];
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
  return [
    ...figures.flatMap(([key, read]) => same(`${name}' ${key}`, total(blocks.map(read)), key, read(whole))),
    // One block, checked by itself, is the whole.
    ...(blocks.length === 1
      ? []
      : checkSums(
          whole.latencyMs,
          blocks.map(({ latencyMs }) => latencyMs),
          name,
        )),
  ];
}

/**
 * @param {string} name
 * @param {(block: OperationBlock) => number} read
 * @returns {[string, (block: OperationBlock) => number]}
 */
function figure(name, read) {
  return [name, read];
}
