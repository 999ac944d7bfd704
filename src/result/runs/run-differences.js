/** Differences between runs, apart from those of their targets, that may explain a difference of their figures. */

/** @import { Result } from '../schema.js' */
/** @import { NamedRun } from './run-metrics.js' */

/** Paths on the machine that ran it: another path is not another load. */
export const PATHS = Object.freeze([
  ...['caCert', 'caPath', 'clientCert', 'clientKey'].map((key) => `target.tls.${key}`),
  'options.keep',
]);

/**
 * Left out: settings that may differ between equal runs (each has a seed of its own), paths, requirements, which are judged
 * afterwards, and the target, which most comparisons are of.
 */
const IGNORED = Object.freeze([
  ...['load.seed', 'load.connections', 'load.startAt', 'requirements', 'repeat', 'shard'],
  ...['target.url', 'target.namespace', 'target.tls', ...PATHS],
]);

/** Settings named, values of each, and characters of a value. */
const [MAX_KEYS, MAX_VALUES, MAX_CHARACTERS] = [8, 4, 40];

/** @param {readonly {name: string, results: readonly Result[]}[]} groups @returns {string[]} sentences */
export function runWarnings(groups) {
  return [
    ...differenceWarnings(groups.flatMap(({ results }) => results)),
    ...groups.flatMap(targetWarnings),
    ...groups.flatMap(seedWarnings),
  ];
}

/** @param {readonly Result[]} results */
function differenceWarnings(results) {
  const all = results.map(({ plan, load, environment: { node, platform, cpus }, tool }) =>
    flatten({ ...plan, load, environment: { node, platform, cpus }, tool }),
  );
  const keys = [...new Set(all.flatMap((one) => [...one.keys()]))].filter((key) => !isAmong(key, IGNORED));
  const differences = keys.flatMap((key) => {
    const values = [...new Set(all.map((one) => one.get(key) ?? 'null'))];
    if (values.length < 2) return [];
    const shown = values.slice(0, MAX_VALUES).map((json) => shortened(json, MAX_CHARACTERS));
    return `${key} (${[...shown, ...(values.length > MAX_VALUES ? ['...'] : [])].join(', ')})`;
  });
  if (differences.length === 0) return [];
  const named = listed(differences, MAX_KEYS);
  return [`The runs were not made alike: they differ in ${named}. A difference may come from that.`];
}

/** @param {{name: string, results: readonly Result[]}} group */
function targetWarnings({ name, results }) {
  const targets = results.map(
    ({ target: { product, version } }) => [product, version].filter(Boolean).join(' ') || 'an unknown target',
  );
  const different = [...new Set(targets)];
  if (different.length < 2) return [];
  return [`The runs of ${name} were not all made against the same target: ${different.join(', ')}.`];
}

/**
 * Runs that replay one sequence of random arrivals differ less among themselves than from runs that replay another.
 * @param {{name: string, results: readonly Result[]}} group
 */
function seedWarnings({ name, results }) {
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
  const times = (/** @type {readonly NamedRun[]} */ runs) =>
    runs.map(({ result }) => Date.parse(result.startedAt));
  const areApart = (/** @type {number[]} */ a, /** @type {number[]} */ b) =>
    a.length > 1 && b.length > 1 && (Math.max(...a) < Math.min(...b) || Math.max(...b) < Math.min(...a));
  const apart = others.filter((other) => areApart(times(base.used), times(other.used)));
  if (apart.length === 0) return [];
  const names = apart.map(({ name }) => name).join(', ');
  return [
    `The runs of ${base.name} and of ${names} were made one group after the other: whatever else changed meanwhile would look ` +
      'like a difference between them. Runs that take turns rule that out.',
  ];
}

/**
 * @param {unknown} value e.g. the plan of a result @param {string} [prefix]
 * @returns {Map<string, string>} JSON of each value that is no object, by `outer.inner`
 */
export function flatten(value, prefix = '') {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return new Map([[prefix, JSON.stringify(value) ?? 'null']]);
  const inner = Object.entries(value).flatMap(([key, one]) => [
    ...flatten(one, prefix === '' ? key : `${prefix}.${key}`),
  ]);
  return new Map(inner);
}

/** @param {string} key `outer.inner` @param {readonly string[]} names of settings, or of groups of them */
export function isAmong(key, names) {
  return names.some((name) => key === name || key.startsWith(`${name}.`));
}

/** @param {string} json @param {number} max characters */
export function shortened(json, max) {
  return json.length <= max ? json : `${json.slice(0, max)}...`;
}

/** @param {string[]} texts @param {number} max @returns {string} `a, b and 3 more` */
export function listed(texts, max) {
  const more = texts.length > max ? ` and ${texts.length - max} more` : '';
  return `${texts.slice(0, max).join(', ')}${more}`;
}
