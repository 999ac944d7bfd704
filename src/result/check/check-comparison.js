/**
 * What a report of a comparison takes for granted, checked before a file is trusted: groups are named by their place, so the
 * place must be there; each group has figures for each metric; each but the base is compared with it, once.
 */

/** @typedef {import('../comparison/comparison-schema.js').Comparison} Comparison */

/**
 * @param {Pick<Comparison, 'groups' | 'metrics'>} comparison
 * @returns {string[]} one sentence per broken identity; empty when all hold
 */
export function checkComparison({ groups, metrics }) {
  const keys = metrics.map(({ key }) => key);
  const twice = keys.filter((key, i) => keys.indexOf(key) !== i);
  return [
    ...twice.map((key) => `the metric ${key} is there twice`),
    ...metrics.flatMap((metric) => [...checkSummaries(groups, metric), ...checkDifferences(groups, metric)]),
  ];
}

/**
 * @param {Comparison['groups']} groups
 * @param {Comparison['metrics'][number]} metric
 */
function checkSummaries(groups, { key }) {
  return groups.flatMap(({ name, metrics }) =>
    Object.hasOwn(metrics, key) ? [] : [`the group ${JSON.stringify(name)} has no figures for ${key}`],
  );
}

/**
 * @param {Comparison['groups']} groups
 * @param {Comparison['metrics'][number]} metric
 */
function checkDifferences(groups, { key, comparisons, best, bestMedian }) {
  const { length } = groups;
  const named = [...comparisons.flatMap(({ base, other }) => [base, other]), best ?? 0, bestMedian ?? 0];
  const gone = named.filter((index) => index >= length);
  const times = groups.map((_, i) => comparisons.filter(({ other }) => other === i).length);
  return [
    ...[...new Set(gone)].map((index) => `${key} names group ${index}, but there are only ${length} groups`),
    ...comparisons.flatMap(({ base, other }) =>
      base === other ? [`${key} compares group ${other} with itself`] : [],
    ),
    ...times.flatMap((count, i) =>
      i === 0 || count === 1 ? [] : [`${key} of group ${i} is compared ${count} times, not once`],
    ),
  ];
}
