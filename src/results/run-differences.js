/** In what the runs of a comparison were not made alike, beside what they were aimed at. */
import { flatten, isAmong, shortened } from './settings.js';

/** @typedef {import('./schema.js').Result} Result */
/** @typedef {import('./run-metrics.js').NamedRun} NamedRun */

/**
 * Not told: what may differ without a run being another (`load.seed` is drawn anew for each), what is judged afterwards, and
 * the target, which is what most comparisons are of.
 */
const IGNORED = Object.freeze([
  'load.seed',
  'load.connections',
  'load.startAt',
  'requirements',
  'target.url',
  'target.namespace',
  'target.tls',
  'repeat',
  'shard',
]);

/** Keys named, and values of each. */
const [MOST_KEYS, MOST_VALUES, MOST_CHARACTERS] = [8, 4, 40];

/**
 * @param {readonly Result[]} results
 * @returns {{key: string, values: string[]}[]} values as JSON, each once, in order of appearance
 */
export function runDifferences(results) {
  const all = results.map((result) => flatten(settings(result)));
  const keys = [...new Set(all.flatMap((one) => [...one.keys()]))].filter((key) => !isAmong(key, IGNORED));
  return keys
    .map((key) => ({ key, values: [...new Set(all.map((one) => one.get(key) ?? 'null'))] }))
    .filter(({ values }) => values.length > 1);
}

/**
 * @param {readonly Result[]} results
 * @returns {string[]} a sentence, or none
 */
export function differenceWarnings(results) {
  const differences = runDifferences(results);
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
 * Groups that were run one after the other differ by the time of day, too.
 *
 * @param {{name: string, used: NamedRun[]}[]} groups the first is the base
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

/** @param {Result} result */
function settings({ plan, load, environment, tool }) {
  const { node, platform, cpus } = environment;
  return { ...plan, load, environment: { node, platform, cpus }, tool };
}

/** @param {NamedRun[]} runs @returns {number[]} */
function times(runs) {
  return runs.map(({ result }) => Date.parse(result.startedAt));
}

/**
 * @param {number[]} a
 * @param {number[]} b
 */
function areApart(a, b) {
  if (a.length < 2 || b.length < 2) return false;
  return Math.max(...a) < Math.min(...b) || Math.max(...b) < Math.min(...a);
}
