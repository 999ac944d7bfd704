/** What the parts of a plan have in common: the plan, how many requests it has, and whom they asked. */
import { usageError } from '../../common/errors.js';
import { total } from '../../common/sums.js';
import { parseRequirement } from '../../plan/requirements.js';
import { partName, shareOf } from '../../plan/shard-part.js';

/** @typedef {import('../../plan/schedule.js').Schedule} Schedule */
/** @typedef {import('../../plan/plan.js').Plan} Plan */
/** @typedef {import('./parts.js').Part} Part */
/** @typedef {import('../schema.js').Result} Result */

/**
 * @param {Part[]} parts
 * @returns {Plan} the whole one; threads are those of all parts
 */
export function planOf(parts) {
  const [{ result }] = parts;
  const { load, requirements, ...rest } = /** @type {any} */ (result.plan);
  return {
    ...rest,
    mix: rest.mix ?? null,
    load: {
      ...load,
      threads: total(parts.map(({ result: { load: own } }) => own.threads)),
      shard: null,
      startAt: load.startAt ?? null,
      stages: load.stages ?? null,
    },
    requirements: requirements.map((/** @type {string} */ text) => parseRequirement(text)),
  };
}

/**
 * In an open loop the plan says how many requests each part has.
 *
 * @param {Part[]} parts
 * @param {Schedule} schedule of the whole plan
 */
export function checkPlanned(parts, { count, firstMeasured }) {
  for (const { name, shard, result } of parts) {
    const planned = shareOf(count, shard) - shareOf(firstMeasured, shard);
    if (result.totals.planned === planned) continue;
    throw usageError(
      'inconsistent_result',
      `${name} does not add up: ${partName(shard)} of its plan has ${planned} requests, but totals.planned is ${result.totals.planned}.`,
      'Give the file as vault-pki-load wrote it.',
    );
  }
}

/**
 * @param {Part[]} parts which contradict each other in nothing; one may not have been told
 * @returns {Result['target']}
 */
export function targetOf(parts) {
  const targets = parts.map(({ result }) => result.target);
  const told = (/** @type {'product' | 'version'} */ key) =>
    targets.find((target) => target[key] !== null)?.[key] ?? null;
  return { ...targets[0], product: told('product'), version: told('version') };
}
