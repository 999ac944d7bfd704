/** Things made before a run of which each request takes one that no other takes, on whatever thread or machine. */
import { allRequests } from '../plan/expected.js';

/** So many indexes are looked at, 50 ns each, or so many for each thing: whoever has next to no share of a mix gets fewer things. */
const LOOKED_AT = 10_000_000;
const LOOKED_AT_EACH = 1000;

/**
 * @param {import('../plan/plan.js').LoadPlan} load
 * @param {object} what
 * @param {(index: number) => boolean} [what.owns] which requests are about these things; none: all
 * @param {number} what.most things
 * @returns {Float64Array} ascending indexes of the requests that get a thing of their own: the first ones of this part of the plan
 */
export function ownIndexes(load, { owns = () => true, most }) {
  const { index: first, of: step } = load.shard ?? { index: 0, of: 1 };
  const looks = Math.max(LOOKED_AT, LOOKED_AT_EACH * most);
  const end = Math.min(allRequests(load) ?? Number.POSITIVE_INFINITY, first + looks * step);
  const found = [];
  for (let index = first; index < end && found.length < most; index += step) {
    if (owns(index)) found.push(index);
  }
  return Float64Array.from(found);
}

/**
 * @param {Float64Array} indexes ascending
 * @param {number} index
 * @returns {number} where it stands among them; -1: nowhere
 */
export function placeOf(indexes, index) {
  let low = 0;
  let high = indexes.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (indexes[middle] === index) return middle;
    if (indexes[middle] < index) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
