/** Checks that results are all the parts of one plan, each once; errors name the files. */
import { z } from 'zod';
import { total } from '../../common/sums.js';
import { listFirst } from '../../common/units.js';
import { commonOptions } from '../../plan/common-options.js';
import { parseRequirement } from '../../plan/requirements.js';
import { checkArrivals } from '../../plan/schedule.js';
import { partName } from '../../plan/shard-part.js';
import { tryOrNull } from '../check/check-latency.js';
import { amount, FIRST_ISSUE } from '../declared.js';
import { fileError } from '../document.js';
import { flatten, isAmong, PATHS, truncate } from '../runs/run-differences.js';
import { MergeBlock } from '../schema.js';
import { stagesOfPart } from './merge-block.js';

/** @import { PlannedRequirement } from '../../plan/plan.js' */
/** @import { ShardPart } from '../../plan/shard-part.js' */
/** @import { MergeBlock as Merge, Result } from '../schema.js' */

/** @typedef {{name: string, result: Result}} NamedResult */
/** @typedef {NamedResult & {shard: ShardPart, merge: Merge}} Part */
/** @typedef {{index: number, why: string}} MissingPart wholly or in part; `why`: a clause, such as `its connection closed` */

/** Settings that may differ between parts: how, when and from where a machine sends, and its paths. */
export const OWN = ['shard', 'threads', 'pacing', 'coldStart', 'startAt', 'localAddresses']
  .map((key) => `load.${key}`)
  .concat(PATHS);

/** Of a plan in a file. */
const Stages = z
  .array(
    z.object({
      name: z.string(),
      lines: z.array(z.object({ durationMs: amount.gt(0), from: amount, to: amount })).min(1),
    }),
  )
  .min(1);

/** Limits of error messages: differing settings or requirements, characters of a name or a value, missing parts. */
const [MAX_KEYS, MAX_CHARACTERS, MAX_MISSING] = [5, 60, 10];

/**
 * @param {readonly NamedResult[]} results @param {boolean} [allowInterrupted] accept unfinished parts
 * @param {readonly MissingPart[]} [missing] parts without a result
 * @returns {Part[]} part 0 first @throws {PkiLoadError} if they are not the parts of one plan
 */
export function orderParts(results, allowInterrupted = false, missing = []) {
  if (results.length === 0)
    throw fileError('no_parts', 'There is nothing to merge.', 'Pass the results of all parts of a plan.');
  const parts = results.map((one) => readPart(one, allowInterrupted));
  for (const part of parts.slice(1)) checkSamePlan(parts[0], part);
  checkEachOnce(parts, missing);
  checkSameTarget(parts);
  return [...parts].sort((a, b) => a.shard.index - b.shard.index);
}

/** @param {Part} one @param {Part} other */
function checkSamePlan(one, other) {
  if (one.shard.of !== other.shard.of) {
    const message = `${one.name} is ${partName(one.shard)}, but ${other.name} is ${partName(other.shard)}.`;
    throw fileError('different_splits', message, 'Pass the parts of one plan.');
  }
  const differences = describeDifferences(settingsOf(one.result), settingsOf(other.result), OWN);
  if (differences === null) return;
  const message = `${one.name} and ${other.name} are parts of different plans: ${differences}.`;
  throw fileError('different_plans', message, 'Use the same options and the same --seed for all parts.');
}

/** @param {Result} result */
const settingsOf = ({ plan, target, operations }) => {
  return { ...plan, 'target address': target.url, operations: Object.keys(operations) };
};

/** @param {string} key of a plan, such as `load.ratePerSecond` @returns {string} its option, such as `--rate`, or else the key */
export function optionOf(key) {
  const [, group, name = ''] = /^(load|options|target)\.(\w+?)(?:Ms|PerSecond)?$/.exec(key) ?? [];
  const flag =
    key === 'requirements' ? 'require' : name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return group === 'options' || Object.hasOwn(commonOptions, flag) ? `--${flag}` : key;
}

/** @param {any} plan @returns {string[]} */
const requiredBy = ({ requirements = [] }) => [requirements].flat().map((one) => one?.text ?? one);

/**
 * @param {object} one @param {object} other @param {readonly string[]} ignored settings
 * @returns {string | null} `--seed (1 and 2), ...`; null: they are equal
 */
export function describeDifferences(one, other, ignored) {
  const [a, b] = [flatten(one), flatten(other)];
  const shown = (/** @type {unknown} */ text) => truncate(String(text), MAX_CHARACTERS);
  const only = (/** @type {string[]} */ own, /** @type {string[]} */ theirs) =>
    listFirst(own.filter((text) => !theirs.includes(text)).map(shown), MAX_KEYS) || 'none';
  const [required, others] = [requiredBy(one), requiredBy(other)];
  const valuesOf = (/** @type {string} */ key) =>
    key === 'requirements'
      ? [only(required, others), only(others, required)]
      : [a, b].map((all) => shown(all.get(key) ?? 'null'));
  const differences = [...new Set([...a.keys(), ...b.keys()])]
    .filter((key) => !isAmong(key, ignored) && (a.get(key) ?? 'null') !== (b.get(key) ?? 'null'))
    .map((key) => `${shown(optionOf(key))} (${valuesOf(key).join(' and ')})`);
  return differences.length === 0 ? null : listFirst(differences, MAX_KEYS);
}

/** @param {Part[]} parts of one split @param {readonly MissingPart[]} known to be missing */
function checkEachOnce(parts, known) {
  for (const [i, { name, shard }] of parts.entries()) {
    const before = parts.slice(0, i).find((one) => one.shard.index === shard.index);
    if (before === undefined) continue;
    const both = `${before.name} and ${name} are both ${partName(shard)}.`;
    const message = before.name === name ? `${name} is given twice.` : both;
    throw fileError('part_twice', message, 'Pass each part only once.');
  }
  const { of } = parts[0].shard;
  const given = new Set([...parts.map(({ shard }) => shard), ...known].map(({ index }) => index));
  const missing = of - given.size;
  if (missing === 0) return;
  const first = Array.from({ length: Math.min(of, given.size + MAX_MISSING) }, (_, index) => index);
  const named = first.filter((index) => !given.has(index)).slice(0, MAX_MISSING);
  const more = missing > MAX_MISSING ? ', ...' : '';
  const message = `${missing} of ${of} parts ${missing === 1 ? 'is' : 'are'} missing: ${named.join(', ')}${more}.`;
  throw fileError('part_missing', message, 'Pass the results of all parts.');
}

/** An address may lead to several servers, and a target may not report its product. @param {Part[]} parts */
function checkSameTarget(parts) {
  for (const key of /** @type {const} */ (['product', 'version'])) {
    const [one, ...others] = parts.filter(({ result: { target } }) => target[key] !== null);
    const other = others.find(({ result: { target } }) => target[key] !== one.result.target[key]);
    if (other === undefined) continue;
    const [a, b] = [one, other].map(({ name, result: { target } }) =>
      [`${name} tested`, target.product, target.version].filter((text) => text !== null).join(' '),
    );
    const remedy = 'Repeat the parts against servers of the same product and version.';
    throw fileError('different_targets', `${a}, but ${b}.`, remedy);
  }
}

/** @param {NamedResult} one @param {boolean} allowInterrupted @returns {Part} @throws {PkiLoadError} */
function readPart({ name, result }, allowInterrupted) {
  const { shard, interrupted, unfinished } = result;
  if (!shard) {
    const remedy = 'To report several whole runs: vault-pki-load report FILE...';
    throw fileError('not_a_part', `${name} is not a part of a plan: it was run without --shard.`, remedy);
  }
  if ((unfinished || interrupted) && !allowInterrupted) {
    const message = `${name}, ${partName(shard)}, was ${interrupted ? 'interrupted' : 'written before its run ended'}.`;
    const remedy = 'Repeat the parts, or merge these with --allow-interrupted.';
    throw fileError('interrupted_part', message, remedy);
  }
  const { success, data } = MergeBlock.safeParse(result.merge, FIRST_ISSUE);
  const [missing] = success ? missingIn(result, data) : ['it has no valid "merge" block'];
  if (success && missing === undefined) return { name, result, shard, merge: data };
  const remedy = 'Use the unmodified file from --out FILE.json.';
  throw fileError('not_mergeable', `${name} cannot be merged: ${missing}.`, remedy);
}

/** @param {Result} result @param {Merge} merge @returns {Generator<string, void>} */
function* missingIn(result, merge) {
  const { timeline, shard, plan, load } = result;
  yield* problemsOfStages(result);
  for (const { blocks, own } of stagesOfPart(result, merge))
    for (const name of Object.keys(result.operations))
      if (!Object.hasOwn(blocks, name) || !Object.hasOwn(own, name))
        yield `its "merge" block lacks the operation ${name}`;
  for (const row of timeline) {
    const { second, succeeded, failed, failures, p90, histogram, histogramSeconds = 1 } = row;
    if (succeeded + failed === 0) continue;
    if (p90 === undefined || (failed > 0 && !failures))
      yield `second ${second} lacks its p90 or its failures`;
    // Not for a single part, whose seconds are not added to others.
    if (shard?.of !== 1 && (typeof histogram !== 'string' || histogramSeconds !== 1 || !merge.lags[second]))
      yield `second ${second} lacks a histogram of its own`;
  }
  const [own, given] = [flatten(load), flatten(plan.load)];
  for (const key of new Set([...own.keys(), ...given.keys()]))
    if (own.get(key) !== given.get(key) && key !== 'stages' && key !== 'stageCount')
      yield `its load differs from that of its plan in ${key}`;
  const { index, of } = Object(load).shard ?? {};
  if (index !== shard?.index || of !== shard?.of) yield 'its load is that of another part';
  if (index >= of) yield `${partName({ index, of })} does not exist`;
  const { model, ratePerSecond, durationMs, requests, seed } = load;
  const hasSchedule = Number(ratePerSecond) > 0 && (durationMs ?? requests) !== null && seed !== null;
  if (model === 'open' && !hasSchedule) yield 'its load is an open loop without a rate, or without an end';
  if (tryOrNull(() => [checkArrivals([/** @type {any} */ (plan.load)])]) === null)
    yield 'its load has more Poisson arrivals than any plan may have';
  const { requirements } = plan;
  if (!Array.isArray(requirements)) return yield 'its plan has no list of requirements';
  for (const [i, text] of requirements.entries())
    if (typeof text !== 'string' || tryOrNull(() => requirementAt(result, i)) === null)
      yield `its plan requires ${JSON.stringify(text)}, which is not a requirement`;
}

/** @param {Result} result of a part @returns {Generator<string, void>} */
function* problemsOfStages({ plan: { load }, stages }) {
  const { stages: given = null, durationMs } = Object(load);
  if (given === null && stages === undefined) return;
  const { success, data = [] } = Stages.safeParse(given, FIRST_ISSUE);
  const planned = total(data.flatMap(({ lines }) => lines.map((line) => line.durationMs)));
  const isSame = data.length === stages?.length && data.every(({ name }, i) => name === stages[i].name);
  if (!success || !isSame || Math.abs(planned - durationMs) > 1) yield 'its stages are not those of its plan';
}

/**
 * @param {Result} result of a part @param {number} i @returns {PlannedRequirement} the scope of one precedes it: `reads: p99<1s`
 * @throws {Error} if it is none
 */
export function requirementAt({ plan, requirements, operations, stages }, i) {
  const text = /** @type {string[]} */ (plan.requirements)[i];
  const judged = requirements[i];
  const { operation, stage } = judged?.text === text ? judged : {};
  const isKnown =
    (operation === undefined || Object.hasOwn(operations, operation)) &&
    (stage === undefined || stages?.some(({ name }) => name === stage));
  if (!isKnown) throw new RangeError('its scope is not in the result');
  const isScoped = operation !== undefined || stage !== undefined;
  const parsed = parseRequirement(isScoped ? String(text.split(': ').at(-1)) : text);
  return { ...parsed, text, ...(operation && { operation }), ...(stage && { stage }) };
}
