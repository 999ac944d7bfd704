/**
 * A target that refuses everything at once has the best times. So no time or rate of a group with more errors is called
 * better, and where all requests failed there is no response time to compare.
 */
import { median } from '../../common/sums.js';
import { figureText } from '../runs/figures.js';
import { headOf, known, METRICS } from '../runs/run-metrics.js';
import { isShownBetter } from './compare-samples.js';

/** @import { MetricHead } from '../runs/run-metrics.js' */
/** @import { ComparedGroup, DifferenceVerdict } from './comparison-schema.js' */

/** @typedef {{name: string, shares: number[], dead: number}} Group error share of each run; `dead`: runs without a success */

const [ERRORS] = METRICS.filter(({ key }) => key === 'errors').map(headOf);

/** @param {readonly Pick<ComparedGroup, 'name' | 'metrics'>[]} given */
export function createErrorBias(given) {
  const groups = given.map(({ name, metrics }) => {
    const shares = known(metrics.errors.values);
    return { name, shares, dead: shares.filter((share) => share === 1).length };
  });
  const more = groups.map((one) => groups.map((other) => moreErrors(one, other)));

  const allFailed = (/** @type {number[]} */ ...indices) => {
    const found = indices
      .map((i) => groups[i])
      .find(({ shares, dead }) => dead > 0 && dead === shares.length);
    return found ? `all requests of ${found.name} failed, so there are no response times` : null;
  };

  return {
    /** @param {number} group index @returns {boolean} it has more errors than another: it cannot win */
    isOutOfContest: (group) => more[group].some((why) => why !== null),

    /**
     * @param {MetricHead} metric @param {DifferenceVerdict} verdict of `other` against `base`
     * @param {number} base index @param {number} other index
     * @returns {string | null} why the verdict would mislead; null where it does not
     */
    objection({ unit, lowerIsBetter }, verdict, base, other) {
      if (unit === 'fraction') return null;
      const isTime = unit === 'ms';
      const dead = isTime ? allFailed(other, base) : null;
      if (dead !== null || verdict === 'not enough runs') return dead;
      const [ofOther, ofBase] = [more[other][base], more[base][other]];
      const isBetter = (verdict === 'slower' || verdict === 'higher') !== lowerIsBetter;
      // Where neither would win: a rate is of successes, so errors did not make it the same.
      const neither = isTime ? (ofOther ?? ofBase) : null;
      const why = verdict === 'no difference shown' ? neither : isBetter ? ofOther : ofBase;
      if (why === null) return null;
      return `${why}, and ${isTime ? 'a fast failure is not a fast response' : 'a rate with more errors is not better'}`;
    },

    /** @returns {string[]} a sentence for each group that has more errors than the base, or fewer */
    warnings() {
      const warning = (/** @type {number} */ one, /** @type {number} */ other) => {
        const why = more[one][other];
        return why === null ? [] : [`No time and no rate of ${groups[one].name} is called better: ${why}.`];
      };
      return [...new Set(groups.slice(1).flatMap((_, i) => [...warning(i + 1, 0), ...warning(0, i + 1)]))];
    },
  };
}

/** @param {Group} one @param {Group} other @returns {string | null} that `one` is shown to have more errors, or has dead runs */
function moreErrors(one, other) {
  if (one === other) return null;
  if (isShownBetter(ERRORS, other.shares, one.shares)) {
    const [a, b] = [one, other].map(({ shares }) => figureText('fraction', median(shares)));
    return `${one.name} has more errors than ${other.name} (${a} and ${b})`;
  }
  if (one.dead === 0) return null;
  const runs = one.dead === one.shares.length ? '' : `${one.dead} of ${one.shares.length} runs of `;
  return `all requests of ${runs}${one.name} failed`;
}
