/** Views for tests of requirements, from plain lists of milliseconds. */

/** @param {number[]} values @returns {import('../../src/results/requirements/judge.js').Quantiles} */
export function quantiles(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const mean = sorted.length === 0 ? null : sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  return {
    count: sorted.length,
    valueAtRank: (rank) => {
      if (!(rank >= 1 && rank <= sorted.length)) throw new RangeError(`rank ${rank} of ${sorted.length}`);
      return sorted[rank - 1];
    },
    min: sorted[0] ?? null,
    mean,
    max: sorted.at(-1) ?? null,
  };
}

/**
 * @param {{good?: number[], failed?: number[], dropped?: number, waiting?: number[]} & Partial<Omit<import('../../src/results/requirements/judge.js').RunView, 'failed' | 'dropped'>>} [given]
 *   `good`, `failed` and `waiting` are the ages of those requests; the rest overrides the view
 * @returns {import('../../src/results/requirements/judge.js').RunView}
 */
export function view({ good = [], failed = [], waiting = [], dropped = 0, ...changes } = {}) {
  const [own, all] = [quantiles(good), quantiles([...good, ...failed, ...waiting])];
  return {
    series: { response: own, service: own, sendLag: own },
    all: { response: all, service: all, sendLag: all },
    succeeded: good.length,
    dropped,
    neverSentDue: waiting.length,
    ratePerSecond: good.length / 20,
    completedPerSecond: Array.from({ length: 20 }, () => good.length / 20),
    model: 'open',
    offeredPerSecond: 20,
    arrivals: 'poisson',
    allOnTime: false,
    measurementValid: true,
    ...changes,
    failed: failed.length,
  };
}
