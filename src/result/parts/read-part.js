/** A result -> a part of a plan, with all that is needed to add it to others. What is missing is said with the name of its file. */
import { usageError } from '../../common/errors.js';
import { parseRequirement } from '../../plan/requirements.js';
import { partName } from '../../plan/shard-part.js';
import { flatten } from '../settings.js';
import { MergeBlock } from './merge-block-schema.js';

/** @typedef {import('../schema.js').Result} Result */
/** @typedef {import('./merge-block-schema.js').MergeBlock} MergeBlockOfPart */
/** @typedef {{name: string, result: Result}} NamedResult */
/** @typedef {NamedResult & {shard: import('../../plan/shard-part.js').ShardPart, merge: MergeBlockOfPart}} Part */

/**
 * @param {NamedResult} one
 * @param {boolean} allowInterrupted
 * @returns {Part}
 * @throws {import('../../common/errors.js').PkiLoadError} where it is none, or not all of it is there
 */
export function readPart({ name, result }, allowInterrupted) {
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
      'Run the parts again, or take what there is with --allow-interrupted.',
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
 * @returns {string | null} what it is that parts cannot have; null: nothing
 */
function ofScenario({ stages, operations, plan }) {
  const load = /** @type {Record<string, unknown> | null} */ (plan.load ?? null);
  if (stages !== undefined || (load?.stages ?? null) !== null) return 'stages';
  return Object.keys(operations).length > 1 || (plan.mix ?? null) !== null ? 'several operations' : null;
}

/**
 * @param {Result} result
 * @param {MergeBlockOfPart} merge
 * @returns {string | null} what; null: nothing
 */
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

/**
 * @param {Result} result
 * @returns {string | null} what; null: nothing
 */
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
