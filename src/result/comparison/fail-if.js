/**
 * What a pipeline must not let pass, as people write it (`p99 slower by 10%`), and whether it fired. Judged so that
 * chance alone seldom fails a pipeline: the difference must be shown, and be as large as the rule has it. And so that a gate that could
 * not have failed is not called passed: with too few runs, times of failures, or half of the runs left out it is `not proven`.
 */
import { usageError } from '../../common/errors.js';
import { saidOf } from '../wording.js';

/** @import { Result } from '../schema.js' */
/** @import { ComparedMetric, Difference, FailIfVerdict } from './comparison-schema.js' */

/** @typedef {{name: string, runs: readonly {used: boolean, verdict: Result['measurement']['verdict']}[]}} JudgedGroup */

/**
 * @typedef {object} FailIf
 * @property {string} text as the user wrote it
 * @property {string} metric key of METRICS
 * @property {1 | -1} direction 1: the value rises from the base to the other
 * @property {number | null} least percent; percentage points of a share; null: any difference that is shown
 */

const EXAMPLES = "'p99 slower by 10%', 'p99 slower', 'rate lower by 5%', 'errors higher by 0.1%'";

/** By name in lower case, without spaces, brackets, `-` and `_`. @type {Readonly<Record<string, string>>} */
const METRIC_KEYS = Object.freeze({
  mean: 'mean',
  p50: 'p50',
  median: 'p50',
  p90: 'p90',
  p95: 'p95',
  p99: 'p99',
  p999: 'p999',
  'p99.9': 'p999',
  max: 'max',
  min: 'min',
  p99service: 'serviceP99',
  servicep99: 'serviceP99',
  rate: 'rate',
  errors: 'errors',
});

const METRIC_NAMES = 'mean, p50, p90, p95, p99, p99.9, max, min, p99 service, rate or errors';

/** @type {Readonly<Record<string, 1 | -1>>} */
const DIRECTIONS = { slower: 1, faster: -1, higher: 1, lower: -1 };

const SHAPE = /^(.*?)\s*\b(slower|faster|higher|lower|worse|better)\b\s*(.*)$/is;

/** Verdicts from the worst to the best, for several groups. @type {readonly FailIfVerdict[]} */
const WORST_FIRST = ['failed', 'not proven', 'passed'];

/** A median that reaches the limit but for rounding reaches it. */
const TOLERANCE = 1e-9;

/**
 * @param {string} text e.g. `p99 slower by 10%`
 * @returns {FailIf}
 * @throws {PkiLoadError} code `bad_fail_if`, naming the part that is wrong
 */
export function parseFailIf(text) {
  const source = String(text).trim().replace(/\s+/g, ' ');
  if (source === '') throw bad(source, 'it is empty');
  const match = SHAPE.exec(source);
  if (match === null) {
    throw bad(source, 'it does not say slower, faster, higher, lower, worse or better');
  }
  const [, name, word, rest] = match;
  const metric = parseMetric(source, name);
  const direction = parseDirection(source, metric, word.toLowerCase());
  return { text: source, metric, direction, least: parseLeast(source, metric, direction, rest) };
}

/**
 * Every group beside the base is judged: one that fails is enough, and so is one without a verdict.
 *
 * @param {FailIf} rule
 * @param {readonly ComparedMetric[]} metrics
 * @param {readonly JudgedGroup[]} groups
 * @returns {{text: string, verdict: FailIfVerdict, reason: string}}
 */
export function judgeFailIf(rule, metrics, groups) {
  const metric = metrics.find(({ key }) => key === rule.metric);
  if (metric === undefined) throw new Error(`no metric ${rule.metric}`);
  const judged = metric.comparisons.map((difference) => {
    const { verdict, reason } = judgeOne(rule, metric, difference, groups);
    const { name } = groups[difference.other];
    return { verdict, reason: groups.length > 2 ? saidOf(name, metric.label, reason) : reason };
  });
  const verdict = WORST_FIRST.find((one) => judged.some((other) => other.verdict === one)) ?? 'not proven';
  const told = judged.filter((one) => one.verdict === verdict);
  return { text: rule.text, verdict, reason: told.map(({ reason }) => reason).join(' ') };
}

/**
 * @param {FailIf} rule
 * @param {ComparedMetric} metric
 * @param {Difference} difference
 * @param {readonly JudgedGroup[]} groups
 * @returns {{verdict: FailIfVerdict, reason: string}}
 */
function judgeOne(rule, metric, difference, groups) {
  const { verdict, text } = difference;
  if (verdict === 'not enough runs' || verdict === 'not comparable') {
    return { verdict: 'not proven', reason: text };
  }
  const judged = judgeShown(rule, metric, difference);
  if (judged.verdict === 'failed') return judged;
  const doubt = [groups[difference.base], groups[difference.other]]
    .flatMap((group) => [invalidDoubt(group), leftOutDoubt(group)])
    .find((one) => one !== '');
  return doubt === undefined ? judged : { verdict: 'not proven', reason: `${judged.reason} ${doubt}` };
}

/**
 * @param {FailIf} rule
 * @param {ComparedMetric} metric
 * @param {Difference} difference
 * @returns {{verdict: FailIfVerdict, reason: string}}
 */
function judgeShown({ direction, least }, metric, difference) {
  const { verdict, differencePercent, text, isTools, surePercent = differencePercent } = difference;
  if (isTools) return { verdict: 'not proven', reason: text };
  const rose = verdict === 'slower' || verdict === 'higher';
  const isOther = verdict === 'no difference shown' || rose !== direction > 0;
  if (isOther) return { verdict: 'passed', reason: text };
  if (least === null) return { verdict: 'failed', reason: text };
  const unit = metric.differenceIn === 'percent' ? '%' : 'points';
  if (differencePercent === null) {
    return {
      verdict: 'failed',
      reason: `${text} The base is 0, of which anything is more than ${least} ${unit}.`,
    };
  }
  const isBy = (/** @type {number | null} */ percent) => Math.abs(percent ?? 0) >= least * (1 - TOLERANCE);
  const reaches = isBy(differencePercent);
  if (reaches && !isBy(surePercent)) {
    const reason = `${text} Without what may be this tool's own lateness it is less than the limit of ${least} ${unit}.`;
    return { verdict: 'not proven', reason };
  }
  const side = reaches ? 'That reaches' : 'That is less than';
  return {
    verdict: reaches ? 'failed' : 'passed',
    reason: `${text} ${side} the limit of ${least} ${unit}.`,
  };
}

/**
 * An invalid measurement passes no rule, even where a flag admits it.
 *
 * @param {JudgedGroup} group
 * @returns {string} a sentence, or nothing
 */
function invalidDoubt({ name, runs }) {
  const invalid = runs.filter(({ used, verdict }) => used && verdict === 'invalid').length;
  if (invalid === 0) return '';
  return `But ${invalid} of ${runs.length} runs of ${name} ${invalid === 1 ? 'is' : 'are'} invalid, and nothing passes on such runs.`;
}

/**
 * With half of the runs gone, the median of them all could be anything: the runs left no longer bound it.
 *
 * @param {JudgedGroup} group
 * @returns {string} a sentence, or nothing
 */
function leftOutDoubt({ name, runs }) {
  const out = runs.filter(({ used }) => !used).length;
  if (out * 2 < runs.length || out === 0) return '';
  return `But ${out} of ${runs.length} runs of ${name} are left out: with half or more of them, the median of all could be anything.`;
}

/** @param {string} source @param {string} name */
function parseMetric(source, name) {
  if (name === '') throw bad(source, `it does not begin with what to compare (${METRIC_NAMES})`);
  const key = name.toLowerCase().replace(/[\s()_-]/g, '');
  if (!Object.hasOwn(METRIC_KEYS, key)) throw bad(source, `${quote(name)} is not ${METRIC_NAMES}`);
  return METRIC_KEYS[key];
}

/**
 * @param {string} source
 * @param {string} metric
 * @param {string} word
 * @returns {1 | -1}
 */
function parseDirection(source, metric, word) {
  const isTime = metric !== 'rate' && metric !== 'errors';
  if (word === 'worse') return metric === 'rate' ? -1 : 1;
  if (word === 'better') return metric === 'rate' ? 1 : -1;
  if (!isTime && (word === 'slower' || word === 'faster')) {
    throw bad(source, `times are ${word}; say ${metric} higher or ${metric} lower`);
  }
  return DIRECTIONS[word];
}

/**
 * @param {string} source
 * @param {string} metric
 * @param {1 | -1} direction
 * @param {string} rest the text after the direction
 * @returns {number | null}
 */
function parseLeast(source, metric, direction, rest) {
  if (rest === '') return null;
  const [, amount] = /^by\b\s*(.*)$/is.exec(rest) ?? [];
  if (amount === undefined) throw bad(source, `${quote(rest)} is not "by" and a percentage such as by 10%`);
  if (amount === '') throw bad(source, 'after "by" comes no percentage');
  const match = /^(\d+(?:\.\d+)?|\.\d+)\s*(%?)$/.exec(amount);
  if (match === null) throw bad(source, `${quote(amount)} is not a percentage such as 10% or 0.5%`);
  if (match[2] === '') throw bad(source, `${quote(amount)} has no unit; say ${amount}%`);
  const least = Number(match[1]);
  if (least === 0) throw bad(source, 'a difference of 0% is none; leave "by" out');
  if (least > 100 && (direction < 0 || metric === 'errors')) {
    throw bad(source, 'nothing can differ so by more than 100%');
  }
  return least;
}

/** @param {string} source @param {string} problem */
function bad(source, problem) {
  return usageError('bad_fail_if', `--fail-if ${quote(source)}: ${problem}.`, `Examples: ${EXAMPLES}.`);
}

/** @param {string} text */
function quote(text) {
  return JSON.stringify(text.slice(0, 80));
}
