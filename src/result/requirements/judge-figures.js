/** Judges requirements on a rate, on a share of the requests, and on times: percentiles, mean, min and max. */
import { valueAtRank } from '../../common/histogram.js';
import { formatCount, formatLatency } from '../../common/units.js';
import { countFirst } from '../../plan/due.js';
import { METRICS } from '../../plan/requirements.js';
import { extremeBar, meanBar, percentileBar } from '../../verdict/bars.js';
import { proportionLowerBound, samplesNeeded, samplesToProve } from '../../verdict/statistics.js';
import { countErrors, shareBar } from '../build.js';
import { formatPercent, rateFormatter, rateMargin, sentence, timeMargin } from '../wording.js';

/** @import { Comparator, Metric, Requirement } from '../../plan/requirements.js' */
/** @import { ErrorsInBar, Times } from '../../verdict/bars.js' */
/** @import { Judge, Judgement, RunView } from './judge.js' */

const REQUESTS = {
  unit: 'request',
  units: 'requests',
  longest: '--timeout',
  wereErrors: 'had no good response',
  oneError: 'a request without a good response',
  doubt: "this tool's own lateness: give the tool more CPU, or lower the load",
};
/** @typedef {typeof REQUESTS} Words for what a requirement counts; `doubt`: what the difference between reported and target times is, and its remedy */

/** Rates are quotients, and equal within this relative error. */
const TOLERANCE = 1e-9;

const REPEAT = 'repeat the run, with more CPU or, if the token ended, with a new one';

/** @type {Judge} */
export function judgeRate(requirement, view) {
  const { ratePerSecond: actual, rateBar } = view;
  const [low, high] = [rateBar.low, rateBar.high ?? Number.POSITIVE_INFINITY];
  const format = rateFormatter(requirement);
  const margin = rateMargin(requirement, actual);
  const judged = judgementOf({ actual, low, high });
  const bound = boundText(false, { low: Math.max(0, low), high }, format);
  if (reaches(low, requirement)) return judged('met', null, margin, servedText(view, format) ?? bound);
  if (!reaches(high, requirement)) return judged('not met', null, margin);
  if (reaches(actual, requirement)) {
    const isClose =
      servedText(view, format) === null && actual - requirement.limit <= requirement.limit * 1e-4;
    const remedy = isClose ? 'it is too close to the limit for any duration to prove it' : 'run it longer';
    return judged('not proven', 'sample', margin, bound, remedy);
  }
  // The rate that a tool without lateness might have reached.
  const slowdown = rateBar.sampled > 0 ? high / rateBar.sampled : Number.POSITIVE_INFINITY;
  const ownRate = actual > 0 ? actual * slowdown : high - rateBar.sampled;
  const doubt = doubtOf(reaches(rateBar.sampled, requirement), reaches(ownRate, requirement));
  const bestCase = `at 95 % confidence it may be ${Number.isFinite(high) ? `as high as ${format(high)}` : 'higher'}`;
  if (doubt === 'sample') return judged('not proven', doubt, margin, bestCase, 'run it longer');
  const [tool, cause] = lessThanPossible(view);
  const remedy = `${cause}${doubt === 'both' ? ', and run it longer' : ''}`;
  return judged('not proven', doubt, margin, tool, bestCase, remedy);
}

/** @param {RunView} view @returns {[why: string, remedy: string]} */
function lessThanPossible(view) {
  const { toolErrors = 0, measurementValid, rateBar } = view;
  if (toolErrors > 0) return [`but ${errorsText(view)}: ${doubtfulText(toolErrors)}`, REPEAT];
  if (!measurementValid && rateBar.high === null) return ['but the measurement is invalid', 'repeat the run'];
  const why = 'but the tool was short of CPU and sent less than the target could have handled';
  return [why, 'give the tool more CPU'];
}

/** @param {RunView} view @param {(perSecond: number) => string} format @returns {string | null} null: not all was served */
function servedText({ arrivals, allOnTime, offeredPerSecond, offeredAs }, format) {
  if (arrivals !== 'constant' || !allOnTime || offeredPerSecond === null) return null;
  const rate = format(offeredPerSecond);
  return `every request offered (${offeredAs === 'mean' ? `${rate} on average` : rate}) succeeded`;
}

/** @param {number} rate @param {Requirement} requirement */
function reaches(rate, requirement) {
  const limit = rateLimit(requirement);
  return requirement.comparator === '>' ? rate > limit : rate >= limit;
}

/** Despite rounding errors of rates. @param {Pick<Requirement, 'comparator' | 'limit'>} requirement */
export const rateLimit = ({ comparator, limit }) =>
  limit * (comparator === '>' ? 1 + TOLERANCE : 1 - TOLERANCE);

/** A share of the due requests. @type {Judge} */
export function judgeShare(requirement, view) {
  const { comparator, limit } = requirement;
  const { counted, predicate } = /** @type {Required<Metric>} */ (METRICS[requirement.metric]);
  const { units } = view.words ?? REQUESTS;
  const count = counted(view);
  const due = view.succeeded + countErrors(view);
  const toolErrors = Math.min(count, view.toolErrors ?? 0);
  const actual = count / due;
  const bar = shareBar(count, due, toolErrors);
  const isWithin = within(actual, comparator, limit);
  const isCertain = isWithin && (limit === 1 || (limit === 0 && count === 0));
  const verdict = isCertain ? 'met' : verdictOn(requirement, bar);
  const judged = judgementOf({ actual, ...bar });
  const observed = `${formatPercent(actual)} of ${units} ${predicate} (${formatCount(count)} of ${formatCount(due)})`;
  const against = `the limit is ${formatPercent(limit)}`;
  const bound = isCertain || verdict === 'not met' ? '' : boundText(isWithin, bar, formatPercent);
  if (verdict !== 'not proven') return judged(verdict, null, observed, against, bound);
  if (!within(proportionLowerBound(count, due), comparator, limit))
    return judged(verdict, 'tool', observed, against, bound, toolErrorsText(toolErrors));
  const needed = samplesNeeded(count, due, limit);
  const more = isWithin ? neededText(needed, units) : `more ${units} would decide it`;
  return judged(verdict, 'sample', observed, against, bound, more);
}

/**
 * A percentile, distribution-free. With <, (1 - q) n requests may be above the limit; with >, q n may be below it.
 * Their actual number is binomial.
 * @type {Judge}
 */
export function judgeTime(requirement, view) {
  if (requirement.metric !== 'percentile') return judgeExtreme(requirement, view);
  const { quantile = 0.5, comparator, limit, series } = requirement;
  const isUpper = comparator[0] === '<';
  const times = view.series[series];
  /** @type {ErrorsInBar} */
  const errors = { count: countErrors(view), tool: view.toolErrors ?? 0, as: isUpper ? 'slow' : 'fast' };
  const bar = percentileBar(times, quantile, errors);
  const { value, tool } = bar;
  const actual = (isUpper ? Number.isFinite(value) : value > 0 || errors.count === 0) ? value : null;
  const judged = judgementOf({ ...bar, actual });
  const verdict = verdictOn(requirement, bar);
  const as = `count as ${isUpper ? 'slower' : 'faster'} than any limit`;
  const errorsNote = errors.count === 0 ? '' : `${errorsText(view)} and ${as}`;
  const margin = actual === null ? errorsNote : timeMargin(requirement, actual);
  if (verdict === 'met') return judged(verdict, null, margin, boundText(isUpper, bar, formatLatency));
  if (verdict === 'not met') return judged(verdict, null, margin, actual === null ? '' : errorsNote);
  const samplingBar = percentileBar({ ...times, target: times.reported }, quantile, { ...errors, tool: 0 });
  const withoutTool = Number.isFinite(value) || errors.tool === 0 ? value - tool : 0;
  const isTool = within(value, comparator, limit) !== within(withoutTool, comparator, limit);
  const doubt = doubtOf(verdictOn(requirement, samplingBar) === 'not proven', isTool);
  const sample = doubt === 'tool' ? '' : sampleText(requirement, view, { errors, samplingBar, value });
  const own = actual === null ? toolErrorsText(errors.tool) : toolText(tool, view);
  return judged(verdict, doubt, margin, sample, doubt === 'sample' ? '' : own);
}

/**
 * @param {Requirement} requirement @param {RunView} view
 * @param {{errors: ErrorsInBar, samplingBar: {low: number, high: number}, value: number}} found `samplingBar`: the bar from the sample size alone
 */
function sampleText({ quantile = 0.5, comparator, limit, series }, view, { errors, samplingBar, value }) {
  const { units, oneError } = view.words ?? REQUESTS;
  const { reported } = view.series[series];
  const n = view.succeeded + errors.count;
  const isUpper = comparator[0] === '<';
  const isWithin = within(value, comparator, limit);
  const share = isUpper ? 1 - quantile : quantile;
  const needed = samplesToProve(share);
  if (isWithin && n < needed)
    return `${formatCount(n)} ${units} are too few to prove it: at least ${formatCount(needed)} are needed`;
  const [side, bound] = isWithin === isUpper ? ['high', samplingBar.high] : ['low', samplingBar.low];
  const far = Number.isFinite(bound)
    ? `it could be as ${side} as ${formatLatency(bound)}`
    : `it could fall on ${oneError}`;
  const doubt = `with ${formatCount(n)} ${units} ${far} (95 % confidence)`;
  if (!isWithin) return `${doubt}; more ${units} would decide it`;
  // Requests on the wrong side of the limit have the top ranks with `<`, the bottom ranks with `>`.
  const isGood = (/** @type {number} */ rank) => within(valueAtRank(reported, rank), comparator, limit);
  const count = reported.totalCount;
  const below = countFirst(count, (nth) => isGood(nth + 1) === isUpper);
  const misses = errors.count + (isUpper ? count - below : below);
  return `${doubt}; ${neededText(samplesNeeded(misses, n, share), units)}`;
}

const NO_BOUNDS = Object.freeze({ low: 0, high: Number.POSITIVE_INFINITY });

/** Of a view: many requirements share it, and a wide histogram takes 10 ms. @type {WeakMap<Times, ReturnType<typeof meanBar>>} */
const meanBars = new WeakMap();

/** @param {Times} times of one view @param {number} [longestMs] see meanBar */
function meanBarOf(times, longestMs) {
  const bar = meanBars.get(times) ?? meanBar(times, longestMs);
  meanBars.set(times, bar);
  return bar;
}

/**
 * min and max describe this run only; the mean describes all requests. A request without a good response would have
 * taken longer than its age at the end, by an unknown time: it can show that a requirement is not met, never that it
 * is met; and only if it was certainly the target's. @type {Judge}
 */
function judgeExtreme(requirement, view) {
  const { comparator, series, limit } = requirement;
  const metric = /** @type {'min' | 'mean' | 'max'} */ (requirement.metric);
  const isUpper = comparator[0] === '<';
  /** A single request proves it: the fastest was fast, or the slowest was slow. */
  const isByExample = metric === (isUpper ? 'min' : 'max');
  const barsOf = (/** @type {RunView['all'][]} */ ...of) =>
    of
      .map((times) => times[series])
      .filter(({ reported }) => reported.totalCount > 0)
      .map((times) => (metric === 'mean' ? meanBarOf(times, view.timeoutMs) : extremeBar(times, metric)));
  const { series: good, all, certain = all } = view;
  const bars = isByExample ? barsOf(good) : barsOf(good, all);
  if (bars.length === 0) {
    const { toolErrors = 0 } = view;
    if (toolErrors === 0) return { verdict: 'not met', actual: null, reason: sentence(errorsText(view)) };
    const reason = sentence(errorsText(view), toolErrorsText(toolErrors));
    return { verdict: 'not proven', actual: null, doubt: 'tool', reason };
  }
  const worstOf = (/** @type {typeof bars} */ some) =>
    some.reduce((a, b) => (a.value > b.value === isUpper ? a : b), some[0]);
  const withErrors = worstOf(bars);
  const better = worstOf(isByExample ? bars : barsOf(good, certain)) ?? NO_BOUNDS;
  const bar = isUpper
    ? { ...withErrors, low: Math.min(withErrors.low, better.low) }
    : { ...withErrors, high: Math.max(withErrors.high, better.high) };
  const { value, low, high, tool } = bar;
  const judged = judgementOf({ ...bar, actual: value });
  const verdict = verdictOn(requirement, bar);
  const margin = timeMargin(requirement, value);
  if (verdict === 'not met') return judged(verdict, null, margin);
  if (verdict === 'not proven') {
    if (verdictOn(requirement, withErrors) === 'not met')
      return judged(verdict, 'tool', margin, `but ${errorsText(view)}`, toolErrorsText(view.toolErrors ?? 0));
    if (within(value, comparator, limit) !== within(value - tool, comparator, limit))
      return judged(verdict, 'tool', margin, toolText(tool, view));
    const { units, longest } = view.words ?? REQUESTS;
    const between = `at 95 % confidence it lies between ${formatLatency(low)} and ${formatLatency(high)}`;
    const remedy =
      isUpper && within(value, comparator, limit)
        ? `more ${units}, or a shorter ${longest},`
        : `more ${units}`;
    return judged(verdict, 'sample', margin, between, `${remedy} would decide it`);
  }
  if (countErrors(view) > 0 && !isByExample)
    return judged('not proven', 'failures', margin, `but ${errorsText(view)}, and their times are unknown`);
  const how = metric === 'mean' ? boundText(isUpper, bar, formatLatency) : 'it describes this run only';
  return judged(verdict, null, margin, how);
}

/** @param {Pick<Judgement, 'actual' | 'low' | 'high'>} figure with its error bar */
function judgementOf({ actual, low, high }) {
  /**
   * @param {Judgement['verdict']} verdict @param {NonNullable<Judgement['doubt']> | null} doubt
   * @param {string[]} reason parts of a sentence @returns {Judgement}
   */
  return (verdict, doubt, ...reason) => {
    return { verdict, actual, low, high, ...(doubt && { doubt }), reason: sentence(...reason) };
  };
}

/**
 * @param {Pick<Requirement, 'comparator' | 'limit'>} requirement
 * @param {{low: number, high: number}} bar Infinity: no bound, or beyond any limit
 * @returns {Judgement['verdict']} met or not met only by the whole error bar
 */
export function verdictOn({ comparator, limit }, { low, high }) {
  const [best, worst] = comparator[0] === '<' ? [low, high] : [high, low];
  if (within(worst, comparator, limit)) return 'met';
  return within(best, comparator, limit) ? 'not proven' : 'not met';
}

/** Why it is undecided. @param {boolean} sample too few samples @param {boolean} tool its lateness; equal: 'both' */
function doubtOf(sample, tool) {
  if (sample === tool) return 'both';
  return tool ? 'tool' : 'sample';
}

/** @param {boolean} isUpper @param {{low: number, high: number}} bar @param {(value: number) => string} format */
function boundText(isUpper, { low, high }, format) {
  return `at 95 % confidence it is at ${isUpper ? `most ${format(high)}` : `least ${format(low)}`}`;
}

/** @param {RunView} view */
function errorsText(view) {
  const { units, wereErrors } = view.words ?? REQUESTS;
  const errors = countErrors(view);
  return `${formatCount(errors)} of ${formatCount(view.succeeded + errors)} ${units} ${wereErrors}`;
}

/** @param {number | null} needed see samplesNeeded @param {string} units */
function neededText(needed, units) {
  if (needed === null) return `it is too close to the limit for any number of ${units} to prove it`;
  return `about ${formatCount(needed)} ${units} like these would prove it`;
}

/** @param {number} ms that this tool may have added @param {RunView} view */
function toolText(ms, { words = REQUESTS }) {
  const part = Number.isFinite(ms) ? `up to ${formatLatency(ms)}` : 'all';
  return `${part} of it may be ${words.doubt}`;
}

/** @param {number} count of errors that may not be the target's */
const toolErrorsText = (count) => `${doubtfulText(count)}: ${REPEAT}`;

/** @param {number} count of errors */
const doubtfulText = (count) =>
  `up to ${formatCount(count)} of them may be due to this tool or its token, or were cut off`;

/** @param {number} value @param {Comparator} comparator @param {number} limit */
function within(value, comparator, limit) {
  if (value === limit) return comparator.endsWith('=');
  return comparator[0] === '<' ? value < limit : value > limit;
}
