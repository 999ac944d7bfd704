/** Settings of runs, one by one, and those that differ between the runs of a set or of a comparison, apart from their targets. */

/** @import { Result } from '../schema.js' */
/** @import { NamedRun } from './run-metrics.js' */

/** Paths on the machine that ran it: another path is not another load. */
export const PATHS = Object.freeze([
  'target.tls.caCert',
  'target.tls.caPath',
  'target.tls.clientCert',
  'target.tls.clientKey',
  'options.keep',
]);

/**
 * Left out: settings that may differ without a run being another (each has a seed of its own), paths on the machine that ran it, what
 * is judged afterwards, and the target, which is what most comparisons are of.
 */
const IGNORED = Object.freeze([
  'load.seed',
  'load.connections',
  'load.startAt',
  'requirements',
  ...PATHS,
  'target.url',
  'target.namespace',
  'target.tls',
  'repeat',
  'shard',
]);

/** Keys named, and values of each. */
const [MOST_KEYS, MOST_VALUES, MOST_CHARACTERS] = [8, 4, 40];

/** @param {readonly Result[]} results @returns {string[]} a sentence, or none */
export function differenceWarnings(results) {
  const all = results.map(({ plan, load, environment: { node, platform, cpus }, tool }) =>
    flatten({ ...plan, load, environment: { node, platform, cpus }, tool }),
  );
  const keys = [...new Set(all.flatMap((one) => [...one.keys()]))].filter((key) => !isAmong(key, IGNORED));
  const differences = keys
    .map((key) => ({ key, values: [...new Set(all.map((one) => one.get(key) ?? 'null'))] }))
    .filter(({ values }) => values.length > 1);
  if (differences.length === 0) return [];
  const named = differences.slice(0, MOST_KEYS).map(({ key, values }) => {
    const shown = values.slice(0, MOST_VALUES).map((json) => shortened(json, MOST_CHARACTERS));
    return `${key} (${[...shown, ...(values.length > MOST_VALUES ? ['...'] : [])].join(', ')})`;
  });
  const more = differences.length > MOST_KEYS ? ` and ${differences.length - MOST_KEYS} more` : '';
  return [
    `The runs were not made alike: they differ in ${named.join(', ')}${more}. A difference may come from that.`,
  ];
}

/**
 * Runs of one group are to be samples of one thing.
 * @param {string} name of the group
 * @param {readonly Result[]} results of it
 * @returns {string[]} a sentence, or none
 */
export function targetWarnings(name, results) {
  const targets = [
    ...new Set(
      results.map(({ target: { product, version } }) => [product, version].filter(Boolean).join(' ')),
    ),
  ];
  if (targets.length < 2) return [];
  const named = targets.map((target) => (target === '' ? 'a target that did not say' : target));
  return [`The runs of ${name} were not all made against the same target: ${named.join(', ')}.`];
}

/**
 * Runs that replay one sequence of random arrivals differ less among themselves than from runs that replay another.
 * @param {string} name of the group
 * @param {readonly Result[]} results of it
 * @returns {string[]} a sentence, or none
 */
export function seedWarnings(name, results) {
  const random = results.filter(({ load }) => load.arrivals === 'poisson' && load.seed !== null);
  const seeds = new Set(random.map(({ load }) => load.seed));
  if (seeds.size === random.length) return [];
  return [
    `Of the ${random.length} runs of ${name} with Poisson arrivals, some share a seed and so the same arrivals: they are not ` +
      'independent of each other, and a difference may be called shown that is none. Give each run a seed of its own.',
  ];
}

/**
 * Groups that were run one after the other differ by the time of day, too.
 * @param {readonly {name: string, used: readonly NamedRun[]}[]} groups the first is the base
 * @returns {string[]} a sentence, or none
 */
export function orderNotes([base, ...others]) {
  const apart = others.filter((other) => areApart(times(base.used), times(other.used)));
  if (apart.length === 0) return [];
  const names = apart.map(({ name }) => name).join(', ');
  return [
    `The runs of ${base.name} and of ${names} were made one group after the other: whatever else changed meanwhile would look ` +
      'like a difference between them. Runs that take turns rule that out.',
  ];
}

/** @param {readonly NamedRun[]} runs @returns {number[]} */
function times(runs) {
  return runs.map(({ result }) => Date.parse(result.startedAt));
}

/** @param {number[]} a @param {number[]} b */
function areApart(a, b) {
  if (a.length < 2 || b.length < 2) return false;
  return Math.max(...a) < Math.min(...b) || Math.max(...b) < Math.min(...a);
}

/**
 * @param {unknown} value e.g. the plan of a result
 * @param {string} [prefix]
 * @returns {Map<string, string>} JSON of each value that is no object, by `outer.inner`
 */
export function flatten(value, prefix = '') {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return new Map([[prefix, JSON.stringify(value) ?? 'null']]);
  }
  const inner = Object.entries(value).map(([key, one]) =>
    flatten(one, prefix === '' ? key : `${prefix}.${key}`),
  );
  return new Map(inner.flatMap((map) => [...map]));
}

/** @param {string} key `outer.inner` @param {readonly string[]} names of settings, or of groups of them */
export function isAmong(key, names) {
  return names.some((name) => key === name || key.startsWith(`${name}.`));
}

/** @param {string} json @param {number} most characters */
export function shortened(json, most) {
  return json.length <= most ? json : `${json.slice(0, most)}...`;
}
