/**
 * The highest level at which every requirement is met: a rate, or in a closed loop requests in flight. Coarse steps up (or down) by
 * two, then bisection, then a run of its own at the answer that must bear it out. Knows nothing of how a level is measured.
 */

/**
 * @typedef {'met' | 'not met' | 'not offered'} StepVerdict `not offered`: the generator could not honestly offer it
 */
/**
 * @typedef {object} Step
 * @property {number} level
 * @property {'coarse' | 'bisection' | 'confirmation'} phase
 * @property {StepVerdict} verdict
 * @property {string} reason a sentence
 */
/**
 * @typedef {object} Found
 * @property {number | null} level the highest that was confirmed; null: none was
 * @property {number | null} above the lowest above it at which a requirement was not met; null: none was tried
 * @property {Step[]} steps in order
 * @property {'bracketed' | 'highest level reached' | 'generator' | 'lowest level failed' | 'not confirmed' | 'stopped'} why the search ended
 */
/**
 * @typedef {object} SearchOptions
 * @property {number} start
 * @property {number} lowest
 * @property {number} highest
 * @property {number} tolerance the bracket is narrow enough when its ends are at most this share apart, e.g. 0.03
 * @property {boolean} whole levels are whole numbers
 * @property {(level: number, phase: Step['phase']) => Promise<Pick<Step, 'verdict' | 'reason'>>} measure
 * @property {() => boolean} [isStopped] the user has ended it
 */

/** A confirmation that fails is tried again so much lower, so often. */
const CONFIRMATIONS = 5;

/** A single bad step among many must not decide: at the edge, what failed is tried once more. */
const SECOND_TRIES = 1;

/**
 * @param {SearchOptions} options
 * @returns {Promise<Found>}
 */
export async function findHighest(options) {
  const { start, lowest, highest, tolerance, whole, measure, isStopped = () => false } = options;
  /** @type {Step[]} */
  const steps = [];
  const rounded = (/** @type {number} */ level) =>
    Math.min(highest, Math.max(lowest, whole ? Math.round(level) : tidy(level)));
  /** @param {number} level @param {Step['phase']} phase */
  const tryAt = async (level, phase) => {
    const { verdict, reason } = await measure(level, phase);
    steps.push({ level, phase, verdict, reason });
    return verdict;
  };

  const bracket = await bracketFrom(rounded(start), { lowest, highest, rounded, tryAt, isStopped });
  if (bracket.low === null) {
    return { level: null, above: bracket.high, steps, why: bracket.why ?? 'lowest level failed' };
  }
  let { low, high } = bracket;
  let why = bracket.why;
  while (high !== null && !isNarrow(low, high, tolerance, whole) && !isStopped()) {
    const middle = rounded(Math.sqrt(low * high));
    if (middle <= low || middle >= high) break;
    const verdict = await tryTwice(middle, 'bisection', tryAt);
    if (verdict === 'met') low = middle;
    else {
      high = middle;
      if (verdict === 'not offered') why = 'generator';
    }
  }
  if (isStopped()) return { level: null, above: high, steps, why: 'stopped' };
  const confirmed = await confirm(low, { lowest, rounded, tolerance, whole, tryAt, isStopped });
  if (confirmed === null)
    return { level: null, above: high, steps, why: isStopped() ? 'stopped' : 'not confirmed' };
  return { level: confirmed, above: lowestFailure(steps, confirmed) ?? high, steps, why: why ?? 'bracketed' };
}

/**
 * @param {number} start
 * @param {{lowest: number, highest: number, rounded: (level: number) => number, tryAt: (level: number, phase: Step['phase']) => Promise<StepVerdict>,
 *   isStopped: () => boolean}} how
 * @returns {Promise<{low: number | null, high: number | null, why: Found['why'] | null}>} a level that was met and one that was not
 */
async function bracketFrom(start, { lowest, highest, rounded, tryAt, isStopped }) {
  /** @type {number | null} */
  let low = null;
  /** @type {number | null} */
  let high = null;
  let level = start;
  for (;;) {
    if (isStopped()) return { low: null, high, why: 'stopped' };
    const verdict = await tryTwice(level, 'coarse', tryAt);
    if (verdict === 'met') {
      low = level;
      if (high !== null) return { low, high, why: null };
      if (level >= highest) return { low, high: null, why: 'highest level reached' };
      level = rounded(level * 2);
    } else if (verdict === 'not offered' && low !== null) {
      return { low, high: level, why: 'generator' };
    } else {
      high = level;
      if (low !== null) return { low, high, why: null };
      if (level <= lowest)
        return { low: null, high, why: verdict === 'not offered' ? 'generator' : 'lowest level failed' };
      level = rounded(level / 2);
    }
  }
}

/**
 * @param {number} level
 * @param {Step['phase']} phase
 * @param {(level: number, phase: Step['phase']) => Promise<StepVerdict>} tryAt
 * @returns {Promise<StepVerdict>} of the best of the tries
 */
async function tryTwice(level, phase, tryAt) {
  let verdict = await tryAt(level, phase);
  for (let i = 0; i < SECOND_TRIES && verdict !== 'met'; i++) verdict = await tryAt(level, phase);
  return verdict;
}

/**
 * @param {number} low
 * @param {{lowest: number, rounded: (level: number) => number, tolerance: number, whole: boolean,
 *   tryAt: (level: number, phase: Step['phase']) => Promise<StepVerdict>, isStopped: () => boolean}} how
 * @returns {Promise<number | null>}
 */
async function confirm(low, { lowest, rounded, tolerance, whole, tryAt, isStopped }) {
  let level = low;
  for (let i = 0; i < CONFIRMATIONS && !isStopped(); i++) {
    if ((await tryAt(level, 'confirmation')) === 'met') return level;
    const lower = rounded(whole ? Math.min(level - 1, level * (1 - tolerance)) : level * (1 - tolerance));
    if (lower >= level || level <= lowest) return null;
    level = lower;
  }
  return null;
}

/**
 * @param {Step[]} steps
 * @param {number} level
 */
function lowestFailure(steps, level) {
  const failed = steps
    .filter((step) => step.verdict !== 'met' && step.level > level)
    .map((step) => step.level);
  return failed.length === 0 ? null : Math.min(...failed);
}

/**
 * @param {number} low
 * @param {number} high
 * @param {number} tolerance
 * @param {boolean} whole
 */
function isNarrow(low, high, tolerance, whole) {
  return high / low <= 1 + tolerance || (whole && high - low <= 1);
}

/** @param {number} level @returns {number} three significant digits: more would not be borne out by another measurement */
function tidy(level) {
  return Number(level.toPrecision(3));
}
