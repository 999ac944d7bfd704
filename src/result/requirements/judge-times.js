/** Requirements of times: percentiles, mean, min and max. */
import { formatCount, formatLatency } from '../../common/units.js';
import { extremeBar, meanBar, percentileBar, reportedAt } from '../../verdict/bars.js';
import { firstTrue, samplesNeeded, samplesToProve } from '../../verdict/statistics.js';
import { countErrors } from '../errors.js';
import { sentence, timeMargin } from '../wording.js';
import { doubtOf, neededText, ownLossesText, toolText, verdictOn, within } from './judge-common.js';
/** @import { Requirement } from '../../plan/requirements.js' */
/** @import { Lost, Times } from '../../verdict/bars.js' */
/** @import { Judgement, RunView } from './judge.js' */

/**
 * Distribution-free: q n requests may be on the wrong side of the limit; how many are is a binomial count.
 *
 * @param {Requirement} requirement
 * @param {RunView} view
 * @returns {Judgement}
 */
export function judgePercentile(requirement, view) {
  const { quantile = 0.5, comparator } = requirement;
  const atMost = comparator[0] === '<';
  const times = view.series[requirement.series];
  const lost = lostOf(view, atMost ? 'slow' : 'fast');
  const bar = percentileBar(times, quantile, lost);
  const isLost = atMost ? !Number.isFinite(bar.value) : bar.value === 0 && lost.count > 0;
  const actual = isLost ? null : bar.value;
  const judged = { verdict: verdictOn(requirement, bar), actual, low: bar.low, high: bar.high };
  const n = view.succeeded + lost.count;
  const losses = lost.count === 0 ? '' : lossesText(lost, n);
  const margin = actual === null ? losses : timeMargin(requirement, actual);
  if (judged.verdict === 'met') {
    const bound = atMost ? `at most ${formatLatency(bar.high)}` : `at least ${formatLatency(bar.low)}`;
    return { ...judged, reason: sentence(margin, `at 95 % confidence it is ${bound}`) };
  }
  if (judged.verdict === 'not met')
    return { ...judged, reason: sentence(margin, actual === null ? '' : losses) };
  const exact = percentileBar({ ...times, own: times.reported }, quantile, { ...lost, own: 0 });
  const isSample = verdictOn(requirement, exact) === 'not proven';
  const least = Number.isFinite(bar.value) ? bar.value - bar.tool : 0;
  const isTool =
    within(bar.value, comparator, requirement.limit) !== within(least, comparator, requirement.limit);
  const doubt = doubtOf(isSample, isTool);
  return {
    ...judged,
    doubt,
    reason: sentence(
      margin,
      doubt === 'tool' ? '' : sampleText(requirement, times, lost, { bar, exact, n }),
      doubt === 'sample' ? '' : isLost ? ownLossesText(lost.own) : toolText(bar.tool),
    ),
  };
}

/** @param {RunView} view @param {Lost['as']} as @returns {Lost} */
function lostOf(view, as) {
  return { count: countErrors(view), own: view.ownLosses ?? 0, as };
}

/** @param {Lost} lost @param {number} n */
function lossesText({ count, as }, n) {
  const than = as === 'slow' ? 'slower' : 'faster';
  return `${formatCount(count)} of ${formatCount(n)} requests had no good response and count as ${than} than any limit`;
}

/**
 * @param {Requirement} requirement
 * @param {Times} times
 * @param {Lost} lost
 * @param {object} found
 * @param {{value: number, low: number, high: number}} found.bar
 * @param {{low: number, high: number}} found.exact of the sample alone
 * @param {number} found.n
 */
function sampleText(requirement, times, lost, { bar, exact, n }) {
  const { quantile = 0.5, comparator, limit } = requirement;
  const atMost = comparator[0] === '<';
  const keeps = within(bar.value, comparator, limit);
  const share = atMost ? 1 - quantile : quantile;
  if (keeps && n < samplesToProve(share)) {
    return `${formatCount(n)} requests are too few to prove it, at least ${formatCount(samplesToProve(share))} are needed`;
  }
  const bound = keeps === atMost ? exact.high : exact.low;
  const far = Number.isFinite(bound)
    ? `it could be as ${keeps === atMost ? 'high' : 'low'} as ${formatLatency(bound)}`
    : 'it could fall on a request without a good response';
  const doubt = `with ${formatCount(n)} requests ${far} (95 % confidence)`;
  if (!keeps) return `${doubt}; more requests would decide it`;
  const misses = countMisses(requirement, times, lost, n);
  return `${doubt}; ${neededText(samplesNeeded(misses, n, share))}`;
}

/**
 * Requests on the wrong side of the limit: they hold the top ranks for `<`, the bottom ranks for `>`.
 *
 * @param {Requirement} requirement
 * @param {Times} times
 * @param {Lost} lost
 * @param {number} n
 */
function countMisses({ comparator, limit }, times, lost, n) {
  const good = (/** @type {number} */ rank) => within(reportedAt(times, rank, lost), comparator, limit);
  return comparator[0] === '<'
    ? n - (firstTrue(1, n + 1, (k) => k > n || !good(k)) - 1)
    : firstTrue(1, n + 1, (k) => k > n || good(k)) - 1;
}

/**
 * min and max are statements on this run, the mean is one on all requests. A request without a good response would have taken
 * longer than the age it reached, by an unknown time: it can break a limit but not keep it.
 *
 * @param {Requirement} requirement
 * @param {RunView} view
 * @returns {Judgement}
 */
export function judgeExtreme(requirement, view) {
  const { comparator, series } = requirement;
  const metric = /** @type {'min' | 'mean' | 'max'} */ (requirement.metric);
  const atMost = comparator[0] === '<';
  /** One request is proof enough: the fastest was fast, the slowest was slow. */
  const byExample = metric === (atMost ? 'min' : 'max');
  const sources = byExample ? [view.series[series]] : [view.series[series], view.all[series]];
  const bars = sources
    .filter(({ reported }) => reported.totalCount > 0)
    .map((times) => (metric === 'mean' ? meanBar(times) : extremeBar(times, metric)));
  const lost = countErrors(view);
  const losses = `${formatCount(lost)} of ${formatCount(view.succeeded + lost)} requests had no good response`;
  if (bars.length === 0) return { verdict: 'not met', actual: null, reason: sentence(losses) };
  const worse = (/** @type {typeof bars[0]} */ a, /** @type {typeof bars[0]} */ b) =>
    a.value > b.value === atMost ? a : b;
  const { value, low, high, tool } = bars.reduce(worse);
  const judged = { verdict: verdictOn(requirement, { low, high }), actual: value, low, high };
  const margin = timeMargin(requirement, value);
  if (judged.verdict === 'not met') return { ...judged, reason: sentence(margin) };
  if (judged.verdict === 'not proven') return unproven(requirement, judged, { margin, value, tool });
  if (lost === 0 || byExample) {
    const end = formatLatency(atMost ? high : low);
    const reason =
      metric === 'mean'
        ? sentence(margin, `at 95 % confidence it is at ${atMost ? 'most' : 'least'} ${end}`)
        : sentence(`${margin}, as observed in this run`);
    return { ...judged, reason };
  }
  const reason = sentence(margin, `but ${losses}, and how long one would have taken is unknown`);
  return { ...judged, verdict: 'not proven', doubt: 'failures', reason };
}

/**
 * @param {Requirement} requirement
 * @param {Pick<Judgement, 'verdict' | 'actual'> & {low: number, high: number}} judged
 * @param {{margin: string, value: number, tool: number}} found
 * @returns {Judgement}
 */
function unproven({ comparator, limit }, judged, { margin, value, tool }) {
  const isTool = within(value, comparator, limit) !== within(value - tool, comparator, limit);
  const { low, high } = judged;
  const between = Number.isFinite(high)
    ? `at 95 % confidence it lies between ${formatLatency(low)} and ${formatLatency(high)}; more requests would decide it`
    : 'one request is too few to tell';
  return {
    ...judged,
    doubt: isTool ? 'tool' : 'sample',
    reason: sentence(margin, isTool ? toolText(tool) : between),
  };
}
