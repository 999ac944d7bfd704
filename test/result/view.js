/** Views for tests of requirements, from plain lists of milliseconds. */
import { createHistogram, recordMs } from '../../src/common/histogram.js';
import { rateBar } from '../../src/verdict/bars.js';
/** @import { RunView } from '../../src/result/requirements/judge.js' */
/** @import { Times } from '../../src/verdict/bars.js' */

/** @param {ArrayLike<number>} values ms */
export function histogramOf(values) {
  const histogram = createHistogram();
  for (let i = 0; i < values.length; i++) recordMs(histogram, values[i]);
  return histogram;
}

/**
 * @param {ArrayLike<number>} values ms
 * @param {Partial<Times>} [changes]
 * @returns {Times} of which the tool was never late, unless said otherwise
 */
export function timesOf(values, changes = {}) {
  const reported = histogramOf(values);
  return { reported, target: reported, ...changes };
}

/**
 * @param {{good?: number[], failed?: number[], dropped?: number, waiting?: number[], slowdown?: number,
 *   late?: Partial<Times>, completedPerSecond?: number[]} & Partial<Omit<RunView, 'failed' | 'dropped'>>} [given]
 *   `good`, `failed` and `waiting` are the ages of those requests; `late` changes the times of the good ones; the rest overrides the view
 * @returns {RunView}
 */
export function view({
  good = [],
  failed = [],
  waiting = [],
  dropped = 0,
  slowdown = 1,
  late = {},
  completedPerSecond = Array.from({ length: 20 }, () => good.length / 20),
  ...changes
} = {}) {
  const [own, all] = [timesOf(good, late), timesOf([...good, ...failed, ...waiting], late)];
  const checked = timesOf(good.slice(changes.unchecked ?? 0), late);
  const { ratePerSecond = good.length / 20, allOnTime = false, arrivals = 'poisson' } = changes;
  const bar = rateBar({
    perSecond: ratePerSecond,
    succeeded: good.length,
    errors: failed.length + dropped + waiting.length,
    completedPerSecond,
    offeredPerSecond: null,
    isServed: allOnTime && arrivals === 'constant',
    slowdown,
  });
  return {
    series: { response: own, service: own, sendLag: own },
    checked: { response: checked, service: checked, sendLag: checked },
    all: { response: all, service: all, sendLag: all },
    succeeded: good.length,
    dropped,
    neverSentDue: waiting.length,
    ratePerSecond,
    rateBar: bar,
    model: 'open',
    offeredPerSecond: 20,
    arrivals,
    allOnTime,
    measurementValid: true,
    ...changes,
    failed: failed.length,
  };
}
