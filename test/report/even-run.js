/** Results with a timeline in which the same happens all the time. */
import { sampleResult, timelineOf } from '../result/sample.js';
/** @import { Result } from '../../src/result/schema.js' */

/** @typedef {import('../result/sample.js').Group & {fromSecond?: number}} Group `fromSecond`: no answer comes before */
/** @typedef {NonNullable<Parameters<typeof sampleResult>[1]>} Changes */

/**
 * Arrivals are spread evenly over the run, and so are answers, those of each group in their order.
 *
 * @param {Group[]} groups
 * @param {Changes} [changes]
 * @returns {Result}
 */
export function runOf(groups, changes) {
  const result = sampleResult(groups, changes);
  const seconds = Math.ceil(result.durationSeconds);
  const { planned, neverSent, neverSentDue, sent } = result.totals;
  const due = planned - neverSent + neverSentDue;
  const timeline = Array.from({ length: seconds }, (_, second) => ({
    ...timelineOf(answersIn(groups, second, seconds), 1)[0],
    second,
    due: shareOf(due, second, seconds),
    sent: shareOf(sent, second, seconds),
  }));
  const peakOneSecond = Math.max(...timeline.map(({ succeeded }) => succeeded));
  const rates = { ...result.rates, peakOneSecond };
  const operations = { [result.command]: { ...result.operations[result.command], rates } };
  return { ...result, rates, timeline, operations: changes?.operations ?? operations };
}

/**
 * @param {Group[]} groups
 * @param {number} second
 * @param {number} seconds
 * @returns {Group[]} no more by the end of a second than were sent by then
 */
function answersIn(groups, second, seconds) {
  return groups.map(({ fromSecond = 0, ...group }) => {
    const part = (/** @type {number} */ at) =>
      Math.floor((Math.max(0, at - fromSecond) / (seconds - fromSecond)) * group.service.length);
    return { ...group, service: group.service.slice(part(second), part(second + 1)) };
  });
}

/** @param {number} count @param {number} second @param {number} seconds */
function shareOf(count, second, seconds) {
  return Math.ceil(((second + 1) * count) / seconds) - Math.ceil((second * count) / seconds);
}

/**
 * As an older version wrote it.
 *
 * @param {Result} result
 * @returns {Result}
 */
export function withoutDetails(result) {
  return {
    ...result,
    timeline: result.timeline.map(({ due, p90, lag99, failures, histogram, ...row }) => row),
  };
}
