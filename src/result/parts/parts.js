/** Checks that results are the parts of one plan, all of them, each once; errors name the files. */
import { usageError } from '../../common/errors.js';
import { parseRequirement } from '../../plan/requirements.js';
import { partName } from '../../plan/shard-part.js';
import { flatten, isAmong, PATHS, shortened } from '../settings.js';
import { MergeBlock } from './merge-block-schema.js';

/** @import { ShardPart } from '../../plan/shard-part.js' */
/** @import { Result } from '../schema.js' */

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
 * @throws {PkiLoadError} where they are not the parts of one plan
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

/** @param {Part} one @param {Part} other */
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

/** @param {Result} result @returns {Map<string, string>} JSON of every setting, by `outer.inner` */
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
 * One address may lead to several servers. One that did not report its product (null) counts as the same.
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

/** @typedef {import('./merge-block-schema.js').MergeBlock} MergeBlockOfPart */
/** @typedef {{name: string, result: Result}} NamedResult */
/** @typedef {NamedResult & {shard: ShardPart, merge: MergeBlockOfPart}} Part */

/**
 * @param {NamedResult} one
 * @param {boolean} allowInterrupted
 * @returns {Part}
 * @throws {PkiLoadError} where it is none, or not all of it is there
 */
function readPart({ name, result }, allowInterrupted) {
  const { shard, interrupted, unfinished } = result;
  if (!shard) {
    throw usageError(
      'not_a_part',
      `${name} is no part of a plan: it was run without --shard, or is a sum already.`,
      'Several whole runs are reported as a set of runs: vault-pki-load report FILE...',
    );
  }
  if ((unfinished === true || interrupted) && !allowInterrupted) {
    throw usageError(
      'interrupted_part',
      `${name}, ${partName(shard)}, was ${interrupted ? 'interrupted' : 'written while its run went on, which did not end by itself'}.`,
      'Run the parts again, or merge the parts that exist with --allow-interrupted.',
    );
  }
  const scenario = ofScenario(result);
  if (scenario !== null) {
    throw usageError(
      'not_mergeable',
      `${name} cannot be added to other parts: its plan has ${scenario}, which a part does not tell apart.`,
      'Run the scenario on one machine, with --threads.',
    );
  }
  const merge = MergeBlock.safeParse(result.merge);
  const missing = merge.success
    ? (missingIn(result, merge.data) ?? missingInPlan(result))
    : 'it has no "merge" block, or one that is broken';
  if (merge.success && missing === null) return { name, result, shard, merge: merge.data };
  throw usageError(
    'not_mergeable',
    `${name} does not hold what is needed to add it to other parts: ${missing}.`,
    'Give the file as --out FILE.json wrote it.',
  );
}

/**
 * A merge block has the seconds and the ends of the whole only.
 *
 * @param {Result} result
 * @returns {string | null} the setting that parts cannot have; null: none
 */
function ofScenario({ stages, operations, plan }) {
  const load = /** @type {Record<string, unknown> | null} */ (plan.load ?? null);
  if (stages !== undefined || (load?.stages ?? null) !== null) return 'stages';
  return Object.keys(operations).length > 1 || (plan.mix ?? null) !== null ? 'several operations' : null;
}

/** @param {Result} result @param {MergeBlockOfPart} merge @returns {string | null} what; null: nothing */
function missingIn({ operations, timeline, shard }, merge) {
  const gone = Object.keys(operations).find((name) => !Object.hasOwn(merge.operations, name));
  if (gone !== undefined) return `its "merge" block has nothing of the operation ${gone}`;
  const busy = timeline.filter(({ succeeded, failed }) => succeeded + failed > 0);
  const unnamed = busy.find(({ failed, failures, p90 }) => p90 === undefined || (failed > 0 && !failures));
  if (unnamed !== undefined) return `second ${unnamed.second} does not say its p90, or what failed in it`;
  // The seconds of a single part are added to no others.
  const joined = busy.find(
    ({ second, histogram, histogramSeconds = 1 }) =>
      typeof histogram !== 'string' || histogramSeconds !== 1 || !merge.lags[second],
  );
  if (joined === undefined || shard?.of === 1) return null;
  return `second ${joined.second} has no histogram of its own, of response times and of send lags`;
}

/** @param {Result} result @returns {string | null} what; null: nothing */
function missingInPlan({ plan, load, shard }) {
  const { load: planned, requirements } = plan;
  if (typeof planned !== 'object' || planned === null) return 'its plan has no load';
  const [own, given] = [flatten(load), flatten(planned)];
  // Of stages a part has none (ofScenario).
  const keys = [...new Set([...own.keys(), ...given.keys()])].filter((key) => key !== 'stages');
  const other = keys.find((key) => own.get(key) !== given.get(key));
  if (other !== undefined) return `its load and that of its plan differ in ${other}`;
  const { index, of } = /** @type {any} */ (load).shard ?? {};
  if (index !== shard?.index || of !== shard?.of) return 'its load is that of another part';
  if (index >= of) return `it says that it is ${partName({ index, of })}, which there is not`;
  if (load.model === 'open' && !hasSchedule(load))
    return 'its load is an open loop without a rate, or without an end';
  if (!Array.isArray(requirements)) return 'its plan has no list of requirements';
  const bad = requirements.find((text) => !isRequirement(text));
  return bad === undefined ? null : `its plan requires ${JSON.stringify(bad)}, which is no requirement`;
}

/** @param {Result['load']} load */
function hasSchedule({ ratePerSecond, durationMs, requests, seed }) {
  return Number(ratePerSecond) > 0 && (durationMs !== null || requests !== null) && seed !== null;
}

/** @param {unknown} text */
function isRequirement(text) {
  try {
    return typeof text === 'string' && parseRequirement(text) !== undefined;
  } catch {
    return false;
  }
}
