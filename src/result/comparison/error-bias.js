/**
 * Where errors make times and rates incomparable. A target that refuses everything at once has the best times there are: of a
 * group with more errors, nothing is ever better, and where all requests failed there is no time of a response at all.
 */

import { median } from '../../common/median.js';
import { figureText } from '../runs/figures.js';
import { headOf, known, METRICS } from '../runs/run-metrics.js';
import { isShownBetter } from './compare-samples.js';

/** @import { MetricHead } from '../runs/run-metrics.js' */
/** @import { DifferenceVerdict } from './comparison-schema.js' */

/** @typedef {{name: string, errors: (number | null)[]}} ErrorGroup `errors`: the share of each run */
/** @typedef {{name: string, shares: number[], dead: number}} CountedGroup `dead`: runs of which all requests failed */

const [ERRORS] = METRICS.filter(({ key }) => key === 'errors').map(headOf);

export class ErrorBias {
  /** @param {readonly ErrorGroup[]} groups */
  constructor(groups) {
    this.groups = groups.map(({ name, errors }) => {
      const shares = known(errors);
      return { name, shares, dead: shares.filter((share) => share === 1).length };
    });
    /** Of each group with each: asked for every metric, reckoned once. @type {(string | null)[][]} */
    this.more = this.groups.map((one) => this.groups.map((other) => moreErrors(one, other)));
  }

  /**
   * @param {number} group index
   * @returns {boolean} nothing of it, or less than in another group, was answered: it cannot win
   */
  isOutOfContest(group) {
    return this.groups.some((_, other) => other !== group && this.more[group][other] !== null);
  }

  /**
   * @param {MetricHead} metric
   * @param {DifferenceVerdict} verdict of `other` beside `base`
   * @param {number} base index
   * @param {number} other index
   * @returns {string | null} why the verdict would mislead; null where it does not
   */
  objection(metric, verdict, base, other) {
    if (metric.unit === 'fraction') return null;
    const isTime = metric.unit === 'ms';
    const dead = isTime ? (this.allFailed(other) ?? this.allFailed(base)) : null;
    if (dead !== null || verdict === 'not enough runs') return dead;
    const why = this.doubt(metric, verdict, base, other);
    if (why === null) return null;
    const moral = isTime
      ? 'failing fast is not answering fast'
      : 'a rate that comes with more errors is no better one';
    return `${why}, and ${moral}`;
  }

  /**
   * @param {MetricHead} metric
   * @param {DifferenceVerdict} verdict
   * @param {number} base index
   * @param {number} other index
   * @returns {string | null} that the one that would win has more errors; where neither would win a time, that one of them has
   */
  doubt(metric, verdict, base, other) {
    const [ofOther, ofBase] = [this.more[other][base], this.more[base][other]];
    if (verdict !== 'no difference shown') return isBetter(metric, verdict) ? ofOther : ofBase;
    // A rate is of successes: where it is the same, errors did not make it so.
    return metric.unit === 'ms' ? (ofOther ?? ofBase) : null;
  }

  /** @returns {string[]} a sentence for each group that has more errors than the base, or the base than it */
  warnings() {
    const pairs = this.groups.slice(1).flatMap((_, i) => [
      [i + 1, 0],
      [0, i + 1],
    ]);
    const warnings = pairs.flatMap(([one, other]) => {
      const why = this.more[one][other];
      const { name } = this.groups[one];
      return why === null ? [] : [`No time and no rate of ${name} is called better: ${why}.`];
    });
    return [...new Set(warnings)];
  }

  /** @param {number} group index @returns {string | null} */
  allFailed(group) {
    const { name, shares, dead } = this.groups[group];
    if (dead === 0 || dead < shares.length) return null;
    return `all requests of ${name} failed, so there are no response times`;
  }
}

/**
 * @param {CountedGroup} one
 * @param {CountedGroup} other
 * @returns {string | null} that `one` is shown to have more errors than `other`, or has runs without a single response
 */
function moreErrors(one, other) {
  if (one === other) return null;
  if (isShownBetter(ERRORS, other.shares, one.shares)) {
    const share = (/** @type {CountedGroup} */ { shares }) => figureText('fraction', median(shares));
    return `${one.name} has more errors than ${other.name} (${share(one)} and ${share(other)})`;
  }
  if (one.dead === 0) return null;
  const runs = one.dead === one.shares.length ? '' : `${one.dead} of ${one.shares.length} runs of `;
  return `all requests of ${runs}${one.name} failed`;
}

/**
 * @param {MetricHead} metric
 * @param {DifferenceVerdict} verdict that something differs
 * @returns {boolean} that the other group is the better one
 */
function isBetter({ lowerIsBetter }, verdict) {
  const rose = verdict === 'slower' || verdict === 'higher';
  return rose !== lowerIsBetter;
}
