/**
 * The highest rate that passes a test, found by doubling (or halving) from a start and then by bisection. Rates are
 * whole numbers of two significant digits: more would tell nothing that another measurement would bear out. A machine that
 * was disturbed for some seconds must not decide: at the end the lowest failed rate above the highest that passed is tried
 * again, and if it passes, the search goes on from there.
 */

/** Two rates count as the same when one is at most so many times the other: nothing is looked for between them. */
const CLOSE_ENOUGH = 1.25;

/**
 * @param {object} search per second, all of them
 * @param {number} search.start
 * @param {number} search.lowest nothing below it is tried
 * @param {number} search.highest nothing above it is tried, where two digits leave a rate between both
 * @param {number} search.maxTries
 * @param {(rate: number) => Promise<boolean>} search.passes
 * @returns {Promise<{passed: number | null, failed: number | null}>} the highest that passed and the lowest above it that
 *   failed, again at the end unless the tries were used up; null: none passed, none above it failed
 */
export async function findHighestRate({ start, lowest, highest, maxTries, passes }) {
  /** @type {number | null} */
  let passed = null;
  /** The lowest that failed since a failed one was tried again and passed: nothing above it is tried. @type {number | null} */
  let bound = null;
  /** @type {number[]} */
  const failures = [];
  const failed = () => lowestOf(failures.filter((one) => one > Number(passed)));
  const low = twoDigits(lowest, Math.ceil);
  const high = Math.max(low, twoDigits(highest, Math.floor));
  let rate = twoDigits(Math.min(Math.max(start, low), high));
  let isEnd = false;
  for (let tries = 0; tries < maxTries; tries++) {
    if (await passes(rate)) {
      passed = rate;
      // What failed above it may have failed for the same reason.
      if (isEnd) bound = null;
    } else {
      if (isEnd) break;
      failures.push(rate);
      bound = rate;
    }
    const next = nextRate({ passed, failed: bound, low, high });
    const nextOrAgain = next ?? failed();
    if (nextOrAgain === null) break;
    isEnd = next === null;
    rate = nextOrAgain;
  }
  return { passed, failed: failed() };
}

/** @param {number[]} rates */
function lowestOf(rates) {
  return rates.length === 0 ? null : Math.min(...rates);
}

/**
 * @param {{passed: number | null, failed: number | null, low: number, high: number}} known
 * @returns {number | null} null: nothing is left to try
 */
function nextRate({ passed, failed, low, high }) {
  if (failed === null) {
    const double = twoDigits(2 * Number(passed));
    return passed === high ? null : double * CLOSE_ENOUGH < high ? double : high;
  }
  if (passed === null) {
    const half = twoDigits(failed / 2);
    return failed === low ? null : half > low * CLOSE_ENOUGH ? half : low;
  }
  if (failed / passed <= CLOSE_ENOUGH) return null;
  const between = twoDigits(Math.sqrt(passed * failed));
  return between > passed && between < failed ? between : null;
}

/**
 * @param {number} value at least one
 * @param {(value: number) => number} [round]
 */
function twoDigits(value, round = Math.round) {
  const unit = Math.max(1, 10 ** (Math.floor(Math.log10(value)) - 1));
  return round(value / unit) * unit;
}
