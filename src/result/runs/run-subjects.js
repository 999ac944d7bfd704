/** What runs were: which operations, and the load that was offered. */

/** @typedef {import('../schema.js').Result} Result */
/** @typedef {import('../comparison/comparison-schema.js').ComparedGroup['subjects'][number]} Subject */

/**
 * @param {readonly Result[]} results
 * @returns {Subject[]} each that differs once, with the number of runs, in order of appearance
 */
export function subjectsOf(results) {
  /** @type {Map<string, Subject>} */
  const subjects = new Map();
  for (const result of results) {
    const one = subjectOf(result);
    const key = JSON.stringify(one);
    const { runs } = subjects.get(key) ?? one;
    subjects.set(key, { ...one, runs: runs + 1 });
  }
  return [...subjects.values()];
}

/**
 * @param {Result} result
 * @returns {Subject}
 */
function subjectOf({ operations, command, load }) {
  const { model, ratePerSecond, concurrency, threads, arrivals, durationMs, requests, rampUpMs, stageCount } =
    load;
  const names = Object.keys(operations);
  return {
    operations: names.length > 0 ? names : [command],
    load: {
      model,
      ratePerSecond,
      concurrency,
      threads,
      arrivals,
      durationMs,
      requests,
      rampUpMs,
      ...(stageCount === undefined ? {} : { stageCount }),
    },
    runs: 0,
  };
}
