/** Checks that results are the parts of one plan, all of them, each once; errors name the files. */
import { parseRequirement } from '../../plan/requirements.js';
import { partName } from '../../plan/shard-part.js';
import { fileError } from '../document.js';
import { flatten, isAmong, listed, PATHS, shortened } from '../runs/run-differences.js';
import { MergeBlock } from '../schema.js';

/** @import { ShardPart } from '../../plan/shard-part.js' */
/** @import { MergeBlock as Merge, Result } from '../schema.js' */

/** @typedef {{name: string, result: Result}} NamedResult */
/** @typedef {NamedResult & {shard: ShardPart, merge: Merge}} Part */

/** Settings that a part may have of its own: how and when its machine sends, and paths on it. */
const OWN = ['shard', 'threads', 'pacing', 'coldStart', 'startAt'].map((key) => `load.${key}`).concat(PATHS);

/** Settings named where plans differ, characters of a value, and missing parts named. */
const [MAX_KEYS, MAX_CHARACTERS, MAX_MISSING] = [5, 60, 10];

/**
 * @param {readonly NamedResult[]} results
 * @param {boolean} [allowInterrupted] accept parts that did not run to their end
 * @returns {Part[]} part 0 first @throws {PkiLoadError} where they are not the parts of one plan
 */
export function orderParts(results, allowInterrupted = false) {
  if (results.length === 0)
    throw fileError('no_parts', 'There is nothing to merge.', 'Give the results of all parts of a plan.');
  const parts = results.map((one) => readPart(one, allowInterrupted));
  for (const part of parts.slice(1)) checkSamePlan(parts[0], part);
  checkEachOnce(parts);
  checkSameTarget(parts);
  return [...parts].sort((a, b) => a.shard.index - b.shard.index);
}

/** @param {Part} one @param {Part} other */
function checkSamePlan(one, other) {
  if (one.shard.of !== other.shard.of)
    throw fileError(
      'different_splits',
      `${one.name} is ${partName(one.shard)}, but ${other.name} is ${partName(other.shard)}.`,
      'Give the parts of one plan.',
    );
  const [a, b] = [settingsOf(one.result), settingsOf(other.result)];
  const shown = (/** @type {string | undefined} */ json) => shortened(json ?? 'null', MAX_CHARACTERS);
  const differences = [...new Set([...a.keys(), ...b.keys()])]
    .filter((key) => (a.get(key) ?? 'null') !== (b.get(key) ?? 'null'))
    .map((key) => `${key} (${shown(a.get(key))} and ${shown(b.get(key))})`);
  if (differences.length === 0) return;
  throw fileError(
    'different_plans',
    `${one.name} and ${other.name} are parts of different plans: ${listed(differences, MAX_KEYS)}.`,
    'Give the parts of one plan: the same options and the same --seed everywhere.',
  );
}

/** @param {Result} result @returns {Map<string, string>} JSON of every setting, by `outer.inner` */
function settingsOf({ plan, target, operations }) {
  const settings = [...flatten(plan)].filter(([key]) => !isAmong(key, OWN));
  return new Map(settings)
    .set('target address', JSON.stringify(target.url))
    .set('operations', JSON.stringify(Object.keys(operations)));
}

/** @param {Part[]} parts of one split */
function checkEachOnce(parts) {
  for (const [i, { name, shard }] of parts.entries()) {
    const before = parts.slice(0, i).find((one) => one.shard.index === shard.index);
    if (before === undefined) continue;
    const both = `${before.name} and ${name} are both ${partName(shard)}.`;
    throw fileError(
      'part_twice',
      before.name === name ? `${name} is given twice.` : both,
      'Give each part once.',
    );
  }
  const { of } = parts[0].shard;
  const missing = of - parts.length;
  if (missing === 0) return;
  const given = new Set(parts.map(({ shard }) => shard.index));
  const first = Array.from({ length: Math.min(of, parts.length + MAX_MISSING) }, (_, index) => index);
  const named = first.filter((index) => !given.has(index)).slice(0, MAX_MISSING);
  throw fileError(
    'part_missing',
    missing === 1
      ? `Part ${named[0]} of ${of} is missing.`
      : `${missing} of ${of} parts are missing: ${named.join(', ')}${missing > MAX_MISSING ? ', ...' : ''}.`,
    'Give the results of all parts: without one of them the sum is not that of the plan.',
  );
}

/** One address may lead to several servers. A target that did not report its product counts as the same. @param {Part[]} parts */
function checkSameTarget(parts) {
  for (const key of /** @type {const} */ (['product', 'version'])) {
    const [one, ...others] = parts.filter(({ result: { target } }) => target[key] !== null);
    const other = others.find(({ result: { target } }) => target[key] !== one.result.target[key]);
    if (other === undefined) continue;
    const [a, b] = [one, other].map(({ result: { target } }) =>
      [target.product, target.version].filter((text) => text !== null).join(' '),
    );
    throw fileError(
      'different_targets',
      `${one.name} met ${a}, but ${other.name} met ${b}: the sum would be of neither.`,
      'Run the parts again, against servers of one product and version.',
    );
  }
}

/** @param {NamedResult} one @param {boolean} allowInterrupted @returns {Part} @throws {PkiLoadError} if it is none, or not whole */
function readPart({ name, result }, allowInterrupted) {
  const { shard, interrupted, unfinished, stages, operations, plan } = result;
  if (!shard)
    throw fileError(
      'not_a_part',
      `${name} is no part of a plan: it was run without --shard, or is a sum already.`,
      'Several whole runs are reported as a set of runs: vault-pki-load report FILE...',
    );
  if ((unfinished || interrupted) && !allowInterrupted)
    throw fileError(
      'interrupted_part',
      `${name}, ${partName(shard)}, was ${interrupted ? 'interrupted' : 'written while its run went on'}.`,
      'Run the parts again, or merge the parts that exist with --allow-interrupted.',
    );
  // A merge block has the seconds and the ends of the whole only.
  const hasStages = stages !== undefined || (Object(plan.load).stages ?? null) !== null;
  if (hasStages || Object.keys(operations).length > 1 || (plan.mix ?? null) !== null)
    throw fileError(
      'not_mergeable',
      `${name} cannot be added to other parts: its plan has ${hasStages ? 'stages' : 'several operations'}, which a part does not tell apart.`,
      'Run the scenario on one machine, with --threads.',
    );
  const { success, data } = MergeBlock.safeParse(result.merge);
  const [missing] = success ? missingIn(result, data) : ['it has no "merge" block, or one that is broken'];
  if (success && missing === undefined) return { name, result, shard, merge: data };
  throw fileError(
    'not_mergeable',
    `${name} does not hold what is needed to add it to other parts: ${missing}.`,
    'Give the file as --out FILE.json wrote it.',
  );
}

/** @param {Result} result @param {Merge} merge @returns {Generator<string, void>} */
function* missingIn({ operations, timeline, shard, plan, load }, merge) {
  for (const name of Object.keys(operations))
    if (!Object.hasOwn(merge.operations, name))
      yield `its "merge" block has nothing of the operation ${name}`;
  for (const row of timeline) {
    const { second, succeeded, failed, failures, p90, histogram, histogramSeconds = 1 } = row;
    if (succeeded + failed === 0) continue;
    if (p90 === undefined || (failed > 0 && !failures))
      yield `second ${second} has no p90, or no list of its failures`;
    // The seconds of a single part are added to no others.
    if (shard?.of !== 1 && (typeof histogram !== 'string' || histogramSeconds !== 1 || !merge.lags[second]))
      yield `second ${second} has no histogram of its own, of response times and of send lags`;
  }
  const { load: planned, requirements } = plan;
  if (typeof planned !== 'object' || planned === null) return yield 'its plan has no load';
  const [own, given] = [flatten(load), flatten(planned)];
  // Of stages a part has none.
  for (const key of new Set([...own.keys(), ...given.keys()]))
    if (own.get(key) !== given.get(key) && key !== 'stages')
      yield `its load and that of its plan differ in ${key}`;
  const { index, of } = Object(load).shard ?? {};
  if (index !== shard?.index || of !== shard?.of) yield 'its load is that of another part';
  if (index >= of) yield `it says that it is ${partName({ index, of })}, which does not exist`;
  const { model, ratePerSecond, durationMs, requests, seed } = load;
  const hasSchedule = Number(ratePerSecond) > 0 && (durationMs ?? requests) !== null && seed !== null;
  if (model === 'open' && !hasSchedule) yield 'its load is an open loop without a rate, or without an end';
  if (!Array.isArray(requirements)) return yield 'its plan has no list of requirements';
  for (const text of requirements)
    if (!isRequirement(text)) yield `its plan requires ${JSON.stringify(text)}, which is no requirement`;
}

/** @param {unknown} text */
function isRequirement(text) {
  try {
    return typeof text === 'string' && parseRequirement(text) !== undefined;
  } catch {
    return false;
  }
}
