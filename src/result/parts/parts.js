/** Are these results the parts of one plan, all of them, each once? What is wrong is said with the names of the files. */
import { usageError } from '../../common/errors.js';
import { partName } from '../../plan/shard-part.js';
import { flatten, isAmong, PATHS, shortened } from '../settings.js';
import { readPart } from './read-part.js';

/** @typedef {import('../schema.js').Result} Result */
/** @typedef {import('./read-part.js').NamedResult} NamedResult */
/** @typedef {import('./read-part.js').Part} Part */

/** What a part may have of its own: how and when its machine sends, and paths on it. */
const OWN = Object.freeze([
  'load.shard',
  'load.threads',
  'load.pacing',
  'load.coldStart',
  'load.startAt',
  ...PATHS,
]);

/** Keys that are named where plans differ, and characters of a value. */
const [MOST_KEYS, MOST_CHARACTERS] = [5, 60];

/**
 * @param {readonly NamedResult[]} results
 * @param {boolean} [allowInterrupted] take parts that were not run to their end
 * @returns {Part[]} part 0 first
 * @throws {import('../../common/errors.js').PkiLoadError} where they are not the parts of one plan
 */
export function orderParts(results, allowInterrupted = false) {
  if (results.length === 0) {
    throw usageError('no_parts', 'There is nothing to merge.', 'Give the results of all parts of a plan.');
  }
  const parts = results.map((one) => readPart(one, allowInterrupted));
  for (const part of parts.slice(1)) checkSamePlan(parts[0], part);
  checkOnce(parts);
  checkSameTarget(parts);
  checkComplete(parts);
  return [...parts].sort((a, b) => a.shard.index - b.shard.index);
}

/**
 * @param {Part} one
 * @param {Part} other
 */
function checkSamePlan(one, other) {
  if (one.shard.of !== other.shard.of) {
    throw usageError(
      'different_splits',
      `${one.name} is ${partName(one.shard)}, but ${other.name} is ${partName(other.shard)}.`,
      'Give the parts of one plan.',
    );
  }
  const differences = differencesOf(settingsOf(one.result), settingsOf(other.result));
  if (differences.length === 0) return;
  const more = differences.length > MOST_KEYS ? ` and ${differences.length - MOST_KEYS} more` : '';
  throw usageError(
    'different_plans',
    `${one.name} and ${other.name} are parts of different plans: ${differences.slice(0, MOST_KEYS).join(', ')}${more}.`,
    'Give the parts of one plan: the same options and the same --seed everywhere.',
  );
}

/**
 * @param {Result} result
 * @returns {Map<string, string>} JSON of every setting, by `outer.inner`
 */
function settingsOf({ plan, target, operations }) {
  const all = flatten(plan);
  for (const key of all.keys()) {
    if (isAmong(key, OWN)) all.delete(key);
  }
  return all
    .set('address asked', JSON.stringify(target.url))
    .set('operations', JSON.stringify(Object.keys(operations)));
}

/**
 * @param {Map<string, string>} one
 * @param {Map<string, string>} other
 * @returns {string[]} `load.ratePerSecond (20 and 25)`; what one of them has not is null
 */
function differencesOf(one, other) {
  const shown = (/** @type {string} */ json) => shortened(json, MOST_CHARACTERS);
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((key) => {
    const [a, b] = [one.get(key) ?? 'null', other.get(key) ?? 'null'];
    return a === b ? [] : [`${key} (${shown(a)} and ${shown(b)})`];
  });
}

/**
 * One address may lead to several servers. One that did not say what it is (null) is not held to be another.
 *
 * @param {Part[]} parts
 */
function checkSameTarget(parts) {
  for (const key of /** @type {const} */ (['product', 'version'])) {
    const [one, ...others] = parts.filter(({ result: { target } }) => target[key] !== null);
    const other = others.find(({ result: { target } }) => target[key] !== one.result.target[key]);
    if (other === undefined) continue;
    const [a, b] = [one, other].map(({ result: { target } }) =>
      [target.product, target.version].filter((text) => text !== null).join(' '),
    );
    throw usageError(
      'different_targets',
      `${one.name} met ${a}, but ${other.name} met ${b}: the sum would be of neither.`,
      'Run the parts again, against servers of one product and version.',
    );
  }
}

/** @param {Part[]} parts */
function checkOnce(parts) {
  /** @type {Map<number, string>} */
  const seen = new Map();
  for (const { name, shard } of parts) {
    const before = seen.get(shard.index);
    if (before !== undefined) {
      throw usageError(
        'part_twice',
        before === name ? `${name} is given twice.` : `${before} and ${name} are both ${partName(shard)}.`,
        'Give each part once.',
      );
    }
    seen.set(shard.index, name);
  }
}

/** @param {Part[]} parts each once */
function checkComplete(parts) {
  const { of } = parts[0].shard;
  const there = new Set(parts.map(({ shard }) => shard.index));
  const missing = Array.from({ length: of }, (_, index) => index).filter((index) => !there.has(index));
  if (missing.length === 0) return;
  const named = missing.slice(0, 10).join(', ') + (missing.length > 10 ? ', ...' : '');
  throw usageError(
    'part_missing',
    missing.length === 1
      ? `Part ${named} of ${of} is missing.`
      : `${missing.length} of ${of} parts are missing: ${named}.`,
    'Give the results of all parts: without one of them the sum is not that of the plan.',
  );
}
