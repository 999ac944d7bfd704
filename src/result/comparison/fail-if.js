/**
 * `--fail-if p99 slower by 10%`: fires if the difference is shown and reaches the limit. `not proven`: the runs cannot
 * decide it, because of too few runs, failed requests, the tool's part in the values, invalid or excluded runs, or a base
 * from which it could not fire.
 */
import { quote, usageError } from '../../common/errors.js';
import { median, total } from '../../common/sums.js';
import { PERCENTILES } from '../latency.js';
import { formatFigure } from '../runs/figures.js';
import { METRICS, withoutNulls } from '../runs/run-set.js';
import { ALPHA, mannWhitney } from './run-statistics.js';

/** @import { ErrorBias } from './compare.js' */
/** @import { ComparedMetric, Difference, DifferenceVerdict, FailIfVerdict } from './comparison-schema.js' */

/**
 * `why`: it is not a whole, valid run; `metrics`: by key
 * @typedef {{name: string, runs: readonly {used: boolean, why: string | null}[], missing?: number, metrics: Record<string, {values?: readonly (number | null)[], median: number | null, mean: number | null, unknown?: readonly number[]}>}} JudgedGroup
 */
/** @typedef {{groups: readonly JudgedGroup[], bias: Pick<ErrorBias, 'whyMore'>}} Context */
/** @typedef {{verdict: FailIfVerdict, reason: string}} Judged */
/**
 * `metric`: key of METRICS; `direction`: 1 if it fires on a rise; `min`: percent, or points of a share; null: any
 * @typedef {{text: string, metric: string, direction: 1 | -1, min: number | null}} FailIf
 */

const EXAMPLES = "'p99 slower by 10%', 'p99 slower', 'rate lower by 5%', 'errors higher by 0.1%'";

/** By name in lower case, without spaces, brackets, `-` and `_`. */
const KEYS = new Map([
  ...METRICS.flatMap(({ key, label }) => [key, label].map((one) => /** @type {const} */ ([plain(one), key]))),
  ['median', 'p50'],
]);

const METRIC_NAMES = METRICS.map(({ label }) => label)
  .join(', ')
  .replace(/, (\w+)$/, ' or $1');

const SHAPE = /^(.*?) ?\b(slower|faster|higher|lower|worse|better)\b ?(.*)$/i;
const BY = /^by (\d+(?:\.\d+)?|\.\d+) ?%$/i;

/** @type {readonly FailIfVerdict[]} */
const WORST_FIRST = ['failed', 'not proven', 'passed'];

const ROUNDING = 1e-9;

/** @type {[DifferenceVerdict[], DifferenceVerdict[]]} */
const [RISES, FALLS] = [
  ['slower', 'higher'],
  ['faster', 'lower'],
];

/** @param {string} text `p99 slower by 10%` @returns {FailIf} @throws {PkiLoadError} `bad_fail_if`, naming the fault */
export function parseFailIf(text) {
  const source = String(text).trim().replace(/\s+/g, ' ');
  const bad = (/** @type {string} */ problem) =>
    usageError('bad_fail_if', `--fail-if ${quote(source)}: ${problem}.`, `Examples: ${EXAMPLES}.`);
  if (source === '') throw bad('it is empty');
  const match = SHAPE.exec(source);
  if (match === null) throw bad('it needs one of slower, faster, higher, lower, worse, better');
  const [, name, given, rest] = match;
  if (name === '') throw bad(`it does not begin with a metric (${METRIC_NAMES})`);
  const metric = KEYS.get(plain(name));
  if (metric === undefined) throw bad(`${quote(name)} is not a metric; use ${METRIC_NAMES}`);
  const word = given.toLowerCase();
  const isRate = metric === 'rate';
  if ((isRate || metric === 'errors') && (word === 'slower' || word === 'faster'))
    throw bad(`only times can be ${word}; use "${metric} higher" or "${metric} lower"`);
  const isRise = ['slower', 'higher', isRate ? 'better' : 'worse'].includes(word);
  const min = rest === '' ? null : Number(BY.exec(rest)?.[1]);
  if (Number.isNaN(min)) throw bad(`${quote(rest)} is not a limit such as "by 10%" or "by 0.5%"`);
  if (min === 0) throw bad('0% is no difference; omit "by"');
  if (Number(min) > 100 && (!isRise || metric === 'errors')) throw bad('the limit cannot be more than 100%');
  return { text: source, metric, direction: isRise ? 1 : -1, min };
}

/** @param {string} name */
function plain(name) {
  return name.toLowerCase().replace(/[\s()_-]/g, '');
}

/** The worst verdict counts. @param {FailIf} rule @param {readonly ComparedMetric[]} metrics @param {Context} context */
export function judgeFailIf(rule, metrics, context) {
  const { groups } = context;
  const metric = /** @type {ComparedMetric} */ (metrics.find(({ key }) => key === rule.metric));
  const judged = metric.comparisons.map((difference) => {
    const { verdict, reason } = judgeOne(rule, metric, difference, context);
    const { name } = groups[difference.other];
    return { verdict, reason: groups.length > 2 ? `${name}: ${reason}` : reason };
  });
  const verdict = WORST_FIRST.find((one) => judged.some((other) => other.verdict === one)) ?? 'not proven';
  const reasons = judged.flatMap((one) => (one.verdict === verdict ? one.reason : []));
  return { text: rule.text, verdict, reason: reasons.join(' ') };
}

/**
 * @param {FailIf} rule @param {ComparedMetric} metric @param {Difference} difference
 * @param {Context} context @returns {Judged}
 */
function judgeOne(rule, metric, difference, { groups, bias }) {
  const { verdict, text, base, other } = difference;
  if (verdict === 'not enough runs' || verdict === 'not comparable')
    return { verdict: 'not proven', reason: text };
  const judged = judgeShown(rule, metric, difference);
  const [doubt] = [
    ...cannotFire(rule, metric, groups[base]),
    ...mayBeLonger(rule, metric, groups[base], groups[other], bias.whyMore(other, base, metric.unit)),
    ...[groups[base], groups[other]].flatMap(doubtsOf),
  ];
  if (judged.verdict === 'failed' || doubt === undefined) return judged;
  return { verdict: 'not proven', reason: `${judged.reason} ${doubt}` };
}

/** @param {FailIf} rule @param {ComparedMetric} metric @param {Difference} difference @returns {Judged} */
function judgeShown({ direction, min }, { differenceIn }, difference) {
  const { verdict, differencePercent, text, possible = [difference] } = difference;
  const isIn = (/** @type {Difference['verdict']} */ word) => (direction > 0 ? RISES : FALLS).includes(word);
  const fires = possible.map(
    (one) =>
      isIn(one.verdict) &&
      (min === null ||
        one.differencePercent === null ||
        Math.abs(one.differencePercent) >= min * (1 - ROUNDING)),
  );
  const judged = !fires.includes(false) ? 'failed' : fires.includes(true) ? 'not proven' : 'passed';
  // Otherwise the text says it.
  if (min === null || !isIn(verdict)) return { verdict: judged, reason: text };
  const limit = `${min} ${differenceIn === 'percent' ? '%' : 'points'}`;
  const why = {
    failed:
      differencePercent === null
        ? 'The base is 0, so any difference is more than'
        : 'That reaches the limit of',
    passed: 'That is less than the limit of',
    'not proven': "The tool's possible part in it decides whether it reaches the limit of",
  }[judged];
  return { verdict: judged, reason: `${text} ${why} ${limit}.` };
}

/** The base is at the end of the scale, or near it. @param {FailIf} rule @param {ComparedMetric} metric @param {JudgedGroup} group */
function cannotFire({ direction, min }, { key, unit }, { name, metrics }) {
  const { median, mean } = metrics[key] ?? {};
  const from = (median === 0 ? mean : median) ?? null;
  if (from === null) return [];
  const isRise = direction > 0;
  const most =
    unit === 'fraction' ? (isRise ? 1 - from : from) : isRise ? Number.POSITIVE_INFINITY : Math.sign(from);
  const canFire = most > 0 && 100 * most >= (min ?? 0) * (1 - ROUNDING);
  return canFire ? [] : [`But with ${name} at ${formatFigure(unit, from)}, the rule could not have failed.`];
}

/** Of the requests above a percentile: so few more failures, if each had taken longest, move e.g. the p99 at most to the p99.1. */
const FEW = 0.1;

/**
 * A longer time counts also with more errors; a limit that it does not reach may be reached without them.
 * @param {FailIf} rule @param {ComparedMetric} metric @param {JudgedGroup} before @param {JudgedGroup} after
 * @param {string | null} why it is shown to have more errors
 */
function mayBeLonger(rule, { key, unit }, before, after, why) {
  if (unit !== 'ms' || rule.direction < 0) return [];
  const few = FEW * (1 - (PERCENTILES.find(({ figure }) => figure === key)?.share ?? 1));
  const areFew = mostErrors(after) - Number(before.metrics.errors?.mean) < few;
  const more = (areFew ? null : why) ?? moreInRuns(rule, key, [before, after], few);
  return more === null
    ? []
    : [`But ${more}, and a failure may have ended before the response would have come.`];
}

/**
 * More errors may be too rare to be shown, and yet decide: if each run with more of them than the base had the longest time,
 * the rule would fail. Those of the base count as well, so that chance alone decides nothing where both have the same errors.
 * @param {FailIf} rule @param {string} key of a time @param {[JudgedGroup, JudgedGroup]} pair @param {number} few
 */
function moreInRuns({ min }, key, pair, few) {
  const [ofBase, ofOther] = pair.map(({ metrics }) => metrics.errors?.values ?? []);
  const usual = median(withoutNulls(ofBase));
  const isMore = (/** @type {number | null} */ share) => share !== null && share > usual + few;
  const count = ofOther.filter(isMore).length;
  if (count === 0) return null;
  const [base, other] = pair.map(({ metrics }) =>
    withoutNulls(
      (metrics[key]?.values ?? []).map((value, i) =>
        isMore(metrics.errors?.values?.[i] ?? null) ? Number.POSITIVE_INFINITY : value,
      ),
    ),
  );
  const [from, to] = [median(base), median(other)];
  const isReached = to > from && to >= from * (1 + ((min ?? 0) / 100) * (1 - ROUNDING));
  if (!isReached || mannWhitney(base, other).pValue >= ALPHA) return null;
  const [one, two] = pair.map(({ name }) => name);
  return `${count} of ${ofOther.length} runs of ${two} have more errors than ${one} (${formatFigure('fraction', usual)})`;
}

/** @param {JudgedGroup} group @returns {number} mean share of its runs, with all that is unknown; NaN: not known */
function mostErrors({ metrics: { errors } }) {
  const unknown = errors?.unknown ?? [];
  return Number(errors?.mean) + total(unknown) / Math.max(1, unknown.length);
}

/** With half of the runs excluded or missing, the others no longer bound the median of all. @param {JudgedGroup} group */
function doubtsOf({ name, runs, missing = 0 }) {
  const count = runs.length + missing;
  const all = `of ${count} runs of ${name}`;
  const unfit = runs.filter(({ used, why }) => used && why !== null).length;
  const out = missing + runs.filter(({ used }) => !used).length;
  if (unfit > 0)
    return `But ${unfit} ${all} ${unfit === 1 ? 'is' : 'are'} invalid or incomplete, and no rule passes on such runs.`;
  if (out === 0 || out * 2 < count) return [];
  const how = missing > 0 ? 'left out or did not take place' : 'left out';
  return `But ${out} ${all} ${out === 1 ? 'is' : 'are'} ${how}, so the median of all is unknown.`;
}
