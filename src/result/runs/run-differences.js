/** Differences between runs, other than their targets, that may explain differences in their figures. */
import { maxOf, minOf, total } from '../../common/sums.js';
import { listFirst } from '../../common/units.js';

/** @import { Result } from '../schema.js' */
/** @import { NamedRun } from './run-set.js' */

/** Settings that are paths on a machine. */
export const PATHS = Object.freeze([
  ...['caCert', 'caPath', 'clientCert', 'clientKey', 'clientCerts'].map((key) => `target.tls.${key}`),
  'options.keep',
]);

/** Settings that may differ between equal runs, and the target, the subject of most comparisons. */
const IGNORED = Object.freeze([
  ...['load.seed', 'load.connections', 'load.startAt', 'requirements', 'repeat', 'shard'],
  ...['target.url', 'target.namespace', 'target.tls', 'target.connectTo', 'target.proxySource', ...PATHS],
]);

/** Limits of a warning: settings, values of each, characters of a value. */
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
  /** By setting, and value: in how many runs. @type {Map<string, Map<string, number>>} */
  const settings = new Map();
  for (const [before, { plan, load, environment, tool }] of results.entries()) {
    const { node, platform, cpus } = environment;
    for (const [key, json] of flatten({ ...plan, load, environment: { node, platform, cpus }, tool })) {
      const values = settings.get(key) ?? new Map(before > 0 ? [['null', before]] : []);
      settings.set(key, values.set(json, (values.get(json) ?? 0) + 1));
    }
  }
  const differences = [...settings].flatMap(([key, counts]) => {
    const isInAll = total([...counts.values()]) === results.length;
    const values = [...new Set([...counts.keys(), ...(isInAll ? [] : ['null'])])];
    if (values.length < 2 || isAmong(key, IGNORED)) return [];
    const shown = values.slice(0, MAX_VALUES).map((json) => truncate(json, MAX_CHARACTERS));
    return `${key} (${[...shown, ...(values.length > MAX_VALUES ? ['...'] : [])].join(', ')})`;
  });
  if (differences.length === 0) return [];
  const named = listFirst(differences, MAX_KEYS);
  return [`The runs differ in ${named}, which may explain a difference.`];
}

/** @param {{name: string, results: readonly Result[]}} group */
function targetWarnings({ name, results }) {
  const targets = results.map(
    ({ target: { product, version } }) => [product, version].filter(Boolean).join(' ') || 'an unknown target',
  );
  const different = [...new Set(targets)];
  return different.length < 2 ? [] : [`The runs of ${name} had different targets: ${different.join(', ')}.`];
}

/** Equal random arrivals make runs differ less. @param {{name: string, results: readonly Result[]}} group */
function seedWarnings({ name, results }) {
  const random = results.filter(({ load }) => load.arrivals === 'poisson' && load.seed !== null);
  if (new Set(random.map(({ load }) => load.seed)).size === random.length) return [];
  const text = `Some of the ${random.length} runs of ${name} with Poisson arrivals share a seed, so they are not independent and a difference may be chance.`;
  return [`${text} Use a different seed for each run.`];
}

/** A note on groups run one after the other. @param {readonly {name: string, used: readonly NamedRun[]}[]} groups */
export function orderNotes([base, ...others]) {
  const times = (/** @type {readonly NamedRun[]} */ runs) =>
    runs.map(({ result }) => Date.parse(result.startedAt));
  const isBefore = (/** @type {number[]} */ a, /** @type {number[]} */ b) =>
    a.length > 1 && b.length > 1 && maxOf(a) < minOf(b);
  const first = times(base.used);
  const apart = others.filter(({ used }) => isBefore(first, times(used)) || isBefore(times(used), first));
  if (apart.length === 0) return [];
  const names = apart.map(({ name }) => name).join(', ');
  const text = `The groups ${base.name} and ${names} ran one after the other, so any other change in between would look like a difference.`;
  return [`${text} Alternate between the groups to rule that out.`];
}

/** @param {unknown} value @param {string} [prefix] @returns {Map<string, string>} JSON of leaves, by `outer.inner` */
export function flatten(value, prefix = '') {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return new Map([[prefix, JSON.stringify(value) ?? 'null']]);
  const placeOf = (/** @type {string} */ key) => (prefix === '' ? key : `${prefix}.${key}`);
  return new Map(Object.entries(value).flatMap(([key, inner]) => [...flatten(inner, placeOf(key))]));
}

/** @param {string} key `outer.inner` @param {readonly string[]} names of settings, or of groups of them */
export const isAmong = (key, names) => names.some((name) => key === name || key.startsWith(`${name}.`));

/** @param {string} json @param {number} max characters */
export const truncate = (json, max) => (json.length <= max ? json : `${json.slice(0, max)}...`);
