/** What the checks of a Result's bookkeeping say it with. */

/**
 * @param {string} left
 * @param {number | null | undefined} a
 * @param {string} right
 * @param {number | null | undefined} b
 * @returns {string[]}
 */
export function same(left, a, right, b) {
  return unless(a === b, `${left} is ${a ?? 'missing'}, but ${right} is ${b ?? 'missing'}`);
}

/**
 * @param {boolean} holds
 * @param {string} problem
 * @returns {string[]}
 */
export function unless(holds, problem) {
  return holds ? [] : [problem];
}
