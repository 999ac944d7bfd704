/** Requirements around the expected figures of a run, and judgements of the verdicts on them. */
import { quantile } from './statistics.js';
/** @import { Truth } from './truth.js' */

/** @typedef {'p50' | 'p95' | 'p99' | 'max' | 'rate'} Figure */
/** @typedef {Record<Figure, number>} Figures ms; rate: per second */
/** @typedef {{figure: Figure, limit: number, text: string}} Limit */
/** @typedef {'false pass' | 'false fail' | 'inconclusive' | 'borderline' | 'correct' | 'unknown'} Judgement */

export const TIMES = /** @type {const} */ (['p50', 'p95', 'p99', 'max']);
const SHARES = /** @type {const} */ ({ p50: 0.5, p95: 0.95, p99: 0.99, max: 1 });
const TIME_GRID = { from: 0.3, to: 4, count: 12 };
const RATE_GRID = { from: 0.3, to: 2, count: 8 };

/** Either verdict is accepted for a limit this close to the true value. */
const TOLERANCE = 0.02;
/** A limit off by this factor or more must be decided. */
const CLEAR = 2;

/** @param {Truth} truth @returns {Figures} */
export function figuresOf({ responses, perSecond }) {
  const [p50, p95, p99, max] = TIMES.map((name) => quantile(responses, SHARES[name]));
  return { p50, p95, p99, max, rate: perSecond };
}

/** @param {Figures} expected @returns {Limit[]} */
export function limitsAround(expected) {
  const times = TIMES.flatMap((figure) =>
    steps(TIME_GRID).map((factor) => {
      const limit = (expected[figure] * factor).toFixed(3);
      return { figure, limit: Number(limit), text: `${figure}<${limit}ms` };
    }),
  );
  const rates = steps(RATE_GRID).map((factor) => {
    const limit = (expected.rate * factor).toFixed(3);
    return { figure: /** @type {const} */ ('rate'), limit: Number(limit), text: `rate>=${limit}/s` };
  });
  return [...times, ...rates];
}

/** @param {{from: number, to: number, count: number}} grid @returns {number[]} evenly spaced by ratio */
function steps({ from, to, count }) {
  return Array.from({ length: count }, (_, i) => from * (to / from) ** (i / (count - 1)));
}

/**
 * @param {object} requirement
 * @param {Figure} requirement.figure times must be below the limit, rates above
 * @param {number} requirement.limit
 * @param {'met' | 'not met' | 'not proven'} verdict
 * @param {number} truth
 * @param {boolean} [isLowerBound] the true rate may be higher
 * @returns {Judgement} inconclusive: not proven, although the limit is clear; borderline: not proven, and the limit is close; unknown: the true value is unknown
 */
export function judgeVerdict({ figure, limit }, verdict, truth, isLowerBound = false) {
  /** Above 1: the requirement is met. */
  const margin = figure === 'rate' ? truth / limit : limit / truth;
  if (verdict === 'met') return margin < 1 / (1 + TOLERANCE) ? 'false pass' : 'correct';
  if (isLowerBound && margin < 1) return 'unknown';
  if (verdict === 'not met') return margin > 1 + TOLERANCE ? 'false fail' : 'correct';
  return margin >= CLEAR || margin <= 1 / CLEAR ? 'inconclusive' : 'borderline';
}

/**
 * @typedef {object} Bar ms, or per second
 * @property {number} low
 * @property {number | null} high null: no upper bound
 */

/** Histograms have three significant digits. */
const RESOLUTION = 0.001;

/** @param {Bar} bar @param {number} truth @returns {'below' | 'inside' | 'above'} position of the true value */
export function placeTruth({ low, high }, truth) {
  if (truth * (1 + RESOLUTION) < low) return 'below';
  return high !== null && truth * (1 - RESOLUTION) > high ? 'above' : 'inside';
}
