/** Parses requirements (`p99<200ms`); result/requirements judges them. */
import { PkiLoadError, quote, rejectIf, usageError } from '../common/errors.js';
import { parseDuration, parseRate } from '../common/units.js';

/** @typedef {typeof SERIES[number]} Series */
/** @typedef {typeof COMPARATORS[number]} Comparator */
/** @typedef {'s' | 'min' | 'h' | 'd'} RateUnit */
/**
 * @typedef {object} Requirement
 * @property {string} text as the user wrote it
 * @property {keyof typeof METRICS} metric
 * @property {number} [quantile] of a percentile, 0..1, both excluded
 * @property {Series} series of times; ignored for rate and errors
 * @property {Comparator} comparator
 * @property {number} limit milliseconds for times, events per second for rate, a fraction for errors
 * @property {RateUnit} [rateUnit] the unit that the user chose for a rate
 */

/**
 * @typedef {object} Metric
 * @property {'ms' | '/s' | 'fraction'} unit of its limit; also determines how it is judged
 * @property {(counts: Record<'succeeded' | 'failed' | 'dropped' | 'neverSentDue', number>) => number} [counted] for a
 *   fraction: how many of the due requests it counts
 * @property {string} [predicate] for a fraction: said of these requests, e.g. `failed`, `were dropped`
 */

/** @template {string} Name @param {Record<Name, Metric>} metrics @returns {Readonly<Record<Name, Metric>>} */
const declare = (metrics) => Object.freeze(metrics);

/** By name. A new fraction needs only an entry here; a new latency also needs an error bar (`judgeTime`). */
export const METRICS = declare({
  rate: { unit: '/s' },
  errors: {
    unit: 'fraction',
    counted: ({ failed, dropped, neverSentDue }) => failed + dropped + neverSentDue,
    predicate: 'failed',
  },
  min: { unit: 'ms' },
  mean: { unit: 'ms' },
  max: { unit: 'ms' },
  percentile: { unit: 'ms' },
});

/** All but `percentile`, which is written as `p99`. */
const WORDS = /** @type {(keyof typeof METRICS)[]} */ (Object.keys(METRICS)).filter(
  (name) => name !== 'percentile',
);
const MAX_LENGTH = 200; // characters; parsing takes quadratic time
const EXAMPLES = "'rate>=1000/h', 'p99<200ms', 'p95(service)<50ms', 'errors<0.1%', 'max<2s'";
const NAMES = `${WORDS.join(', ')}, or a percentile such as p50, p99, p99.9`;
const SHAPE = /^([\w.%]+)\s*(?:\(([^)]*)\))?\s*([<>=≤≥]*)\s*(.*)$/s;

const SERIES = /** @type {const} */ (['response', 'service', 'sendLag']);
const COMPARATORS = /** @type {const} */ (['<', '<=', '>', '>=']);

/** By their first letter. @type {Record<string, RateUnit>} */
const RATE_UNITS = { s: 's', m: 'min', h: 'h', d: 'd' };

/**
 * @param {string} text e.g. `rate>=1000/h`, `p99.9 < 1s`, `p95(service)<50ms`, `errors<=0`
 * @returns {Requirement} @throws {PkiLoadError} code `bad_requirement`, naming the part that is wrong
 */
export function parseRequirement(text) {
  const source = String(text).trim();
  try {
    return { text: source, ...parseParts(source) };
  } catch (error) {
    if (!(error instanceof PkiLoadError)) throw error;
    const message = `Requirement ${quote(source)}: ${error.message}`;
    throw usageError('bad_requirement', message, `Examples: ${EXAMPLES}.`);
  }
}

/** Of a run: each judgement of a mean looks at every value of a histogram. */
export const MAX_REQUIREMENTS = 200;

/**
 * @template {Requirement & {operation?: string, stage?: string}} R @param {R[]} requirements
 * @returns {R[]} each once @throws {PkiLoadError} code `contradiction` if no run can meet two of them
 */
export function withoutContradiction(requirements) {
  const keyOf = (/** @type {R} */ { metric, quantile, series, operation, stage }) =>
    JSON.stringify([metric, quantile, series, operation, stage]);
  /** The strictest upper limits. @type {Map<string, R>} */
  const highest = new Map();
  for (const one of requirements.filter(({ comparator }) => comparator[0] === '<')) {
    const known = highest.get(keyOf(one));
    if (known === undefined || one.limit < known.limit) highest.set(keyOf(one), one);
  }
  for (const low of requirements.filter(({ comparator }) => comparator[0] === '>')) {
    const high = highest.get(keyOf(low));
    // At the same limit, `<=` and `>=` together require exactly that value.
    const isExact =
      high?.limit === low.limit && [high, low].every(({ comparator }) => comparator.endsWith('='));
    if (high === undefined || high.limit > low.limit || isExact) continue;
    const message = `${low.text} and ${high.text} cannot both be met.`;
    throw usageError('contradiction', message, 'Leave one of them out.');
  }
  const scopeOf = (/** @type {R} */ { text, operation, stage }) => JSON.stringify([text, operation, stage]);
  return [...new Map(requirements.map((one) => [scopeOf(one), one])).values()];
}

/** @template {Requirement & {operation?: string, stage?: string}} R @param {R[]} given of a run @returns {R[]} each once */
export function admitRequirements(given) {
  const requirements = withoutContradiction(given);
  const problem = `There are ${requirements.length} requirements; the limit is ${MAX_REQUIREMENTS}.`;
  rejectIf(requirements.length > MAX_REQUIREMENTS, problem, 'Use fewer.');
  return requirements;
}

/** @param {string} problem without its period */
const badRequirement = (problem) => usageError('bad_requirement', `${problem}.`);

/** @param {string} source @returns {Omit<Requirement, 'text'>} */
function parseParts(source) {
  if (source.length > MAX_LENGTH) throw badRequirement(`it is longer than ${MAX_LENGTH} characters`);
  const match = SHAPE.exec(source);
  if (match === null) throw badRequirement(`it does not begin with a metric (${NAMES})`);
  const [, name, seriesName, sign, limit] = match;
  const metric = parseMetric(name);
  const series = parseSeries(metric.metric, seriesName);
  const comparator = COMPARATORS.find((known) => known === sign);
  const wrong = `${quote(sign || name)} ${sign === '' ? 'has no' : 'is not a'} comparison operator`;
  if (comparator === undefined) throw badRequirement(`${wrong}; use <, <=, > or >=`);
  if (limit === '') throw badRequirement(`there is no limit after ${quote(sign)}`);
  return { ...metric, series, comparator, ...parseLimit(metric.metric, comparator, limit) };
}

/** @param {string} name @returns {Pick<Requirement, 'metric' | 'quantile'>} */
function parseMetric(name) {
  const text = name.toLowerCase();
  const metric = WORDS.find((word) => word === text);
  if (metric !== undefined) return { metric };
  if (!/^p[\d.]+$/.test(text)) throw badRequirement(`${quote(name)} is not a metric; use ${NAMES}`);
  if (/^p100(\.0*)?$/.test(text)) throw badRequirement(`${quote(name)} is the slowest request; write max`);
  // `99` and `99.9` are percent; three digits or more need no point: `999` is 99.9 %, `975` is 97.5 %.
  const [, whole = '', decimals = ''] = /^p(9\d(?=\d{1,6}$)|\d{1,2}(?=$|\.\d))\.?(\d{0,6})$/.exec(text) ?? [];
  const quantile = Number(`0.${whole.padStart(2, '0')}${decimals}`);
  if (quantile > 0) return { metric: 'percentile', quantile };
  throw badRequirement(`${quote(name)} is not a percentile between 0 and 100; write p50, p99, p99.9 or p999`);
}

/** @param {Requirement['metric']} metric @param {string | undefined} name @returns {Series} */
function parseSeries(metric, name) {
  if (name === undefined) return 'response';
  const shown = quote(`(${name})`);
  if (METRICS[metric].unit !== 'ms') throw badRequirement(`${metric} takes no ${shown}`);
  const plain = name.toLowerCase().replace(/[\s_-]/g, '');
  const series = SERIES.find((known) => known.toLowerCase() === plain);
  if (series !== undefined) return series;
  throw badRequirement(`${shown} is not a kind of time; use (response), (service) or (sendLag)`);
}

/** @param {Requirement['metric']} metric @param {Comparator} comparator @param {string} text */
function parseLimit(metric, comparator, text) {
  const shown = `the limit ${quote(text)}`;
  const { unit } = METRICS[metric];
  if (unit === '/s') {
    if (comparator[0] === '<') throw badRequirement('a rate takes a lower limit; use >= or >');
    const [, letter = 's'] = /\/\s*([smhd])/.exec(text) ?? [];
    return { limit: parseRate(text, 'the limit'), rateUnit: RATE_UNITS[letter] };
  }
  if (unit === 'fraction') return { limit: parseFraction(metric, comparator, text, shown) };
  if (/^[\d._]+(?:e[+-]?\d+)?$/i.test(text))
    throw badRequirement(`${shown} has no unit; write ${text}ms or ${text}s`);
  const limit = parseDuration(text, 'the limit');
  if (limit > 0) return { limit };
  throw badRequirement(`${shown} is not above zero`);
}

/** @param {string} metric @param {Comparator} comparator @param {string} text @param {string} shown @returns a fraction */
function parseFraction(metric, comparator, text, shown) {
  if (comparator[0] === '>') throw badRequirement(`${metric} take an upper limit; use < or <=`);
  const match = /^(\d+(?:\.\d+)?|\.\d+)\s*(%)?$/.exec(text);
  if (!match) throw badRequirement(`${shown} is not a percentage or a fraction, such as 0.1% or 0.001`);
  const [number, isPercent] = [Number(match[1]), match[2] !== undefined];
  if (!isPercent && number >= 1)
    throw badRequirement(`${shown} is not a fraction below 1; for percent write ${text}%`);
  if (number > 100) throw badRequirement(`${shown} is more than 100%`);
  if (number === 0 && comparator === '<')
    throw badRequirement(`there cannot be fewer than 0 ${metric}; write ${metric}<=0`);
  return isPercent ? number / 100 : number;
}
