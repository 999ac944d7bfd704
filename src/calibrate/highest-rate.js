/**
 * The highest rate that passes a test, found by doubling (or halving) from a start and then by bisection. Rates have
 * two significant digits, so that a try more would tell nothing that a measurement could hold.
 */

/** The search ends when the lowest rate that failed is at most so many times the highest that passed. */
const CLOSE_ENOUGH = 1.12;

/**
 * @param {object} search per second, all of them
 * @param {number} search.start
 * @param {number} search.lowest nothing below it is tried
 * @param {number} search.highest nothing above it is tried
 * @param {number} search.maxTries
 * @param {(rate: number) => Promise<boolean>} search.passes
 * @returns {Promise<{passed: number | null, failed: number | null}>} the highest that passed and the lowest above it that
 *   failed; null: there was none
 */
export async function findHighestRate({ start, lowest, highest, maxTries, passes }) {
  /** @type {number | null} */
  let passed = null;
  /** @type {number | null} */
  let failed = null;
  let rate = twoDigits(Math.min(Math.max(start, lowest), highest));
  for (let tries = 0; tries < maxTries; tries++) {
    if (await passes(rate)) passed = rate;
    else failed = rate;
    const next = nextRate({ passed, failed, lowest, highest });
    if (next === null) break;
    rate = next;
  }
  return { passed, failed };
}

/**
 * @param {{passed: number | null, failed: number | null, lowest: number, highest: number}} known
 * @returns {number | null} null: nothing is left to try
 */
function nextRate({ passed, failed, lowest, highest }) {
  const [low, high] = [twoDigits(lowest), twoDigits(highest)];
  if (failed === null) return passed === high ? null : Math.min(twoDigits(2 * Number(passed)), high);
  if (passed === null) return failed === low ? null : Math.max(twoDigits(failed / 2), low);
  if (failed / passed <= CLOSE_ENOUGH) return null;
  const between = twoDigits(Math.sqrt(passed * failed));
  return between > passed && between < failed ? between : null;
}

/** @param {number} value */
export function twoDigits(value) {
  return Number(value.toPrecision(2));
}
