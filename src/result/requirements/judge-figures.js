/** Requirements of a rate, of a share of the requests, and of times: percentiles, mean, min and max. */
import { formatCount, formatLatency } from '../../common/units.js';
import { METRICS } from '../../plan/requirements.js';
import {
  batchesOf,
  extremeBar,
  LEAST_SECONDS,
  meanBar,
  percentileBar,
  reportedAt,
} from '../../verdict/bars.js';
import {
  firstTrue,
  meanAndVariance,
  proportionLowerBound,
  samplesNeeded,
  samplesToProve,
  studentT95,
} from '../../verdict/statistics.js';
import { countErrors, shareBar } from '../build.js';
import { formatPercent, rateMargin, rateTexter, sentence, timeMargin } from '../wording.js';

/** @import { Comparator, Metric, Requirement } from '../../plan/requirements.js' */
/** @import { Lost, Times } from '../../verdict/bars.js' */
/** @import { Judgement, RunView } from './judge.js' */

const REQUESTS = {
  unit: 'request',
  units: 'requests',
  wereLost: 'had no good response',
  oneLost: 'a request without a good response',
};
/** @typedef {typeof REQUESTS} Words for what a requirement counts */

/** Rates are quotients: equal within this relative error is equal. */
const TOLERANCE = 1e-12;

const REMEDY = 'give it more CPU, or lower the load';

/**
 * Constant arrivals that all succeeded prove a rate; otherwise its error bar must (verdict/bars.js).
 * @param {Requirement} requirement @param {RunView} view @returns {Judgement}
 */
export function judgeRate(requirement, view) {
  const { ratePerSecond: actual, rateBar, perhapsOfferedPerSecond: level = null, succeeded } = view;
  const text = rateTexter(requirement);
  const margin = rateMargin(requirement, actual);
  const bar = { low: rateBar.low, high: rateBar.high ?? Number.POSITIVE_INFINITY };
  const judged = (/** @type {Judgement['verdict']} */ verdict, /** @type {string[]} */ ...reasons) => {
    return { verdict, actual, ...bar, reason: sentence(margin, ...reasons) };
  };
  if (isOfferedAndServed(requirement, view, view.offeredPerSecond))
    return judged('met', `all that was offered, ${offeredText(view, text)}, succeeded`);
  const bound = `at 95 % confidence it is at least ${text(Math.max(0, bar.low))}`;
  if (reaches(bar.low, requirement)) return judged('met', bound);
  // A target that has responded to all it was sent is not blamed for an arrival that fell into another stage.
  if (level !== null && isOfferedAndServed(requirement, view, level)) {
    const few = `all that was offered succeeded, but ${formatCount(succeeded)} arrivals are too few to show whether its level of ${text(level)} was kept, 100 are enough`;
    return { ...judged('not proven', few), doubt: 'sample' };
  }
  if (!reaches(bar.high, requirement)) return judged('not met');
  if (reaches(actual, requirement))
    return { ...judged('not proven', bound, neededTime(requirement, view)), doubt: 'sample' };
  // Had the tool not slowed it down, in so large a sample.
  const slowdown = rateBar.sampled > 0 ? bar.high / rateBar.sampled : Number.POSITIVE_INFINITY;
  const doubt = doubtOf(reaches(rateBar.sampled, requirement), reaches(actual * slowdown, requirement));
  const most = Number.isFinite(bar.high) ? `it may be as high as ${text(bar.high)}` : 'it may be higher';
  const tool = 'but the tool was short of CPU and sent less than the target could have handled';
  const few = `with so few requests ${most} (95 % confidence)`;
  const why = {
    tool: [`${tool}: ${most}`, 'give the tool more CPU'],
    sample: [few, 'run longer'],
    both: [`${tool}, and ${few}`, 'give the tool more CPU, and run longer'],
  };
  return { ...judged('not proven', ...why[doubt]), doubt };
}

/** @param {Requirement} requirement @param {RunView} view */
function neededTime({ limit }, { completedPerSecond, ratePerSecond }) {
  if (completedPerSecond.length < LEAST_SECONDS) return `run it for at least ${LEAST_SECONDS} s`;
  const { size, means } = batchesOf(completedPerSecond);
  const gap = ratePerSecond - limit;
  if (gap <= limit * 1e-4) return 'it is too close to the limit for any duration to prove it';
  const t = studentT95(means.length - 1);
  const batches = Math.ceil((t ** 2 * meanAndVariance(means).variance) / gap ** 2);
  const seconds = Math.max(batches * size, Math.ceil(1 / gap));
  return `about ${formatCount(seconds)} s like these would prove it`;
}

/** @param {RunView} view @param {(perSecond: number) => string} text */
function offeredText({ offeredPerSecond, offeredAs }, text) {
  const rate = text(Number(offeredPerSecond));
  if (offeredAs === 'level') return `its level of ${rate}`;
  return offeredAs === 'mean' ? `${rate} on average` : rate;
}

/** @param {Requirement} requirement @param {RunView} view @param {number | null} offeredPerSecond */
function isOfferedAndServed(requirement, { model, arrivals, allOnTime }, offeredPerSecond) {
  const isServed = model === 'open' && arrivals === 'constant' && allOnTime;
  return isServed && offeredPerSecond !== null && reaches(offeredPerSecond, requirement);
}

/** @param {number} rate @param {Requirement} requirement */
function reaches(rate, { comparator, limit }) {
  return comparator === '>' ? rate > limit * (1 + TOLERANCE) : rate >= limit * (1 - TOLERANCE);
}

/**
 * Of the requests that were due, those that the metric counts.
 * @param {Requirement} requirement @param {RunView} view @returns {Judgement}
 */
export function judgeShare(requirement, view) {
  const { comparator, limit } = requirement;
  const { counted, called } = /** @type {Required<Metric>} */ (METRICS[requirement.metric]);
  const { units } = view.words ?? REQUESTS;
  const count = counted(view);
  const due = view.succeeded + countErrors(view);
  const ownLosses = Math.min(count, view.ownLosses ?? 0);
  const actual = count / due;
  const bar = shareBar(count, due, ownLosses);
  const isKept = within(actual, comparator, limit);
  const isCertain = isKept && (limit === 1 || (limit === 0 && count === 0));
  const verdict = isCertain ? 'met' : verdictOn(requirement, bar);
  const judged = { verdict, actual, ...bar };
  if (limit === 0 && count === 0)
    return { ...judged, reason: `None of ${formatCount(due)} ${units} ${called} in this run.` };
  const observed = `${formatPercent(actual)} of ${units} ${called} (${formatCount(count)} of ${formatCount(due)})`;
  const against = limit === 0 ? 'none may' : `the limit is ${formatPercent(limit)}`;
  if (verdict === 'not met') return { ...judged, reason: sentence(observed, against) };
  const bound = boundText(isKept, bar, formatPercent);
  if (verdict === 'met') return { ...judged, reason: sentence(observed, against, bound) };
  const isTool = !within(proportionLowerBound(count, due), comparator, limit);
  const more = isKept ? neededText(samplesNeeded(count, due, limit), units) : `more ${units} would decide it`;
  const remedy = isTool ? ownLossesText(ownLosses) : more;
  return { ...judged, doubt: isTool ? 'tool' : 'sample', reason: sentence(observed, against, bound, remedy) };
}

/**
 * A percentile, distribution-free: q n requests may be on the wrong side of the limit; the number that are is a binomial
 * count.
 * @param {Requirement} requirement @param {RunView} view @returns {Judgement}
 */
export function judgeTime(requirement, view) {
  if (requirement.metric !== 'percentile') return judgeExtreme(requirement, view);
  const { quantile = 0.5, comparator, limit } = requirement;
  const isUpper = comparator[0] === '<';
  const words = view.words ?? REQUESTS;
  const times = view.series[requirement.series];
  /** @type {Lost} */
  const lost = { count: countErrors(view), own: view.ownLosses ?? 0, as: isUpper ? 'slow' : 'fast' };
  const bar = percentileBar(times, quantile, lost);
  const isLost = isUpper ? !Number.isFinite(bar.value) : bar.value === 0 && lost.count > 0;
  const actual = isLost ? null : bar.value;
  const judged = { verdict: verdictOn(requirement, bar), actual, low: bar.low, high: bar.high };
  const n = view.succeeded + lost.count;
  const as = `count as ${isUpper ? 'slower' : 'faster'} than any limit`;
  const losses = lost.count === 0 ? '' : `${lossesText(lost.count, n, words)} and ${as}`;
  const margin = actual === null ? losses : timeMargin(requirement, actual);
  if (judged.verdict === 'met')
    return { ...judged, reason: sentence(margin, boundText(isUpper, bar, formatLatency)) };
  if (judged.verdict === 'not met')
    return { ...judged, reason: sentence(margin, actual === null ? '' : losses) };
  const exact = percentileBar({ ...times, own: times.reported }, quantile, { ...lost, own: 0 });
  const least = Number.isFinite(bar.value) ? bar.value - bar.tool : 0;
  const isTool = within(bar.value, comparator, limit) !== within(least, comparator, limit);
  const doubt = doubtOf(verdictOn(requirement, exact) === 'not proven', isTool);
  const sample = () => sampleText(requirement, { times, lost, n, exact, value: bar.value, words });
  const tool = isLost ? ownLossesText(lost.own) : toolText(bar.tool);
  const reason = sentence(margin, doubt === 'tool' ? '' : sample(), doubt === 'sample' ? '' : tool);
  return { ...judged, doubt, reason };
}

/**
 * @param {Requirement} requirement
 * @param {{times: Times, lost: Lost, n: number, exact: {low: number, high: number}, value: number, words: Words}} found
 *   `exact`: the bar of the sample alone
 */
function sampleText(requirement, { times, lost, n, exact, value, words: { units, oneLost } }) {
  const { quantile = 0.5, comparator, limit } = requirement;
  const isUpper = comparator[0] === '<';
  const isKept = within(value, comparator, limit);
  const share = isUpper ? 1 - quantile : quantile;
  const least = samplesToProve(share);
  if (isKept && n < least)
    return `${formatCount(n)} ${units} are too few to prove it, at least ${formatCount(least)} are needed`;
  const [side, bound] = isKept === isUpper ? ['high', exact.high] : ['low', exact.low];
  const far = Number.isFinite(bound)
    ? `it could be as ${side} as ${formatLatency(bound)}`
    : `it could fall on ${oneLost}`;
  const doubt = `with ${formatCount(n)} ${units} ${far} (95 % confidence)`;
  if (!isKept) return `${doubt}; more ${units} would decide it`;
  // Requests on the wrong side of the limit hold the top ranks for `<`, the bottom ranks for `>`.
  const isGood = (/** @type {number} */ rank) => within(reportedAt(times, rank, lost), comparator, limit);
  const first = firstTrue(1, n + 1, (rank) => rank > n || isGood(rank) !== isUpper);
  const misses = isUpper ? n - first + 1 : first - 1;
  return `${doubt}; ${neededText(samplesNeeded(misses, n, share), units)}`;
}

/**
 * min and max are statements on this run, the mean is one on all requests. A request without a good response would have
 * taken longer than the age it reached, by an unknown time: it can break a limit but not keep it.
 * @param {Requirement} requirement @param {RunView} view @returns {Judgement}
 */
function judgeExtreme(requirement, view) {
  const { comparator, series, limit } = requirement;
  const metric = /** @type {'min' | 'mean' | 'max'} */ (requirement.metric);
  const isUpper = comparator[0] === '<';
  /** One request is proof enough: the fastest was fast, the slowest was slow. */
  const isByExample = metric === (isUpper ? 'min' : 'max');
  const sources = isByExample ? [view.series[series]] : [view.series[series], view.all[series]];
  const bars = sources
    .filter(({ reported }) => reported.totalCount > 0)
    .map((times) => (metric === 'mean' ? meanBar(times) : extremeBar(times, metric)));
  const lost = countErrors(view);
  const words = view.words ?? REQUESTS;
  const losses = lossesText(lost, view.succeeded + lost, words);
  if (bars.length === 0) return { verdict: 'not met', actual: null, reason: sentence(losses) };
  const { value, low, high, tool } = bars.reduce((a, b) => (a.value > b.value === isUpper ? a : b));
  const judged = { verdict: verdictOn(requirement, { low, high }), actual: value, low, high };
  const margin = timeMargin(requirement, value);
  if (judged.verdict === 'not met') return { ...judged, reason: sentence(margin) };
  if (judged.verdict === 'not proven') {
    const isTool = within(value, comparator, limit) !== within(value - tool, comparator, limit);
    const between = Number.isFinite(high)
      ? `at 95 % confidence it lies between ${formatLatency(low)} and ${formatLatency(high)}; more ${words.units} would decide it`
      : `one ${words.unit} is too few to tell`;
    const doubt = isTool ? 'tool' : 'sample';
    return { ...judged, doubt, reason: sentence(margin, isTool ? toolText(tool) : between) };
  }
  if (lost > 0 && !isByExample) {
    const reason = sentence(margin, `but ${losses}, and how long one would have taken is unknown`);
    return { ...judged, verdict: 'not proven', doubt: 'failures', reason };
  }
  if (metric !== 'mean') return { ...judged, reason: sentence(`${margin}, as observed in this run`) };
  return { ...judged, reason: sentence(margin, boundText(isUpper, { low, high }, formatLatency)) };
}

/**
 * @param {Pick<Requirement, 'comparator' | 'limit'>} requirement
 * @param {{low: number, high: number}} bar Infinity: no bound, or beyond any limit
 * @returns {Judgement['verdict']} met or not by the whole error bar
 */
function verdictOn({ comparator, limit }, { low, high }) {
  const [best, worst] = comparator[0] === '<' ? [low, high] : [high, low];
  if (within(worst, comparator, limit)) return 'met';
  return within(best, comparator, limit) ? 'not proven' : 'not met';
}

/**
 * @param {boolean} sample more requests would decide it
 * @param {boolean} tool less lateness of the tool would; where neither alone leaves it open, both together do
 */
function doubtOf(sample, tool) {
  if (sample === tool) return 'both';
  return tool ? 'tool' : 'sample';
}

/** @param {boolean} isUpper @param {{low: number, high: number}} bar @param {(value: number) => string} text */
function boundText(isUpper, { low, high }, text) {
  return `at 95 % confidence it is at ${isUpper ? `most ${text(high)}` : `least ${text(low)}`}`;
}

/** @param {number} lost @param {number} n @param {Words} words */
function lossesText(lost, n, words) {
  return `${formatCount(lost)} of ${formatCount(n)} ${words.units} ${words.wereLost}`;
}

/** @param {number | null} needed see samplesNeeded @param {string} units */
function neededText(needed, units) {
  if (needed === null) return `it is too close to the limit for any number of ${units} to prove it`;
  return `about ${formatCount(needed)} ${units} like these would prove it`;
}

/** @param {number} ms of a time, that this tool may have added */
function toolText(ms) {
  const most = Number.isFinite(ms) ? `up to ${formatLatency(ms)}` : 'all';
  return `${most} of it may be this tool's own: ${REMEDY}`;
}

/** @param {number} count of errors, that may be this tool's fault */
function ownLossesText(count) {
  return `up to ${formatCount(count)} of them may be this tool's: ${REMEDY}`;
}

/** @param {number} value @param {Comparator} comparator @param {number} limit */
function within(value, comparator, limit) {
  if (value === limit) return comparator.endsWith('=');
  return comparator[0] === '<' ? value < limit : value > limit;
}
