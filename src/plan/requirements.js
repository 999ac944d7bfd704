/**
 * Requirements as users write them (`p99<200ms`), parsed. `judge.js` decides whether they are met.
 */
import { PkiLoadError, usageError } from '../common/errors.js';
import { parseDuration, parseRate } from '../common/units.js';

/** @typedef {'response' | 'service' | 'sendLag'} Series */
/** @typedef {'<' | '<=' | '>' | '>='} Comparator */
/** @typedef {'s' | 'min' | 'h' | 'd'} RateUnit */

/**
 * @typedef {object} Requirement
 * @property {string} text as the user wrote it
 * @property {'percentile' | 'min' | 'mean' | 'max' | 'rate' | 'errors'} metric
 * @property {number} [quantile] of a percentile, 0..1, both excluded
 * @property {Series} series which times; of no meaning for rate and errors
 * @property {Comparator} comparator
 * @property {number} limit milliseconds for times, events per second for rate, a fraction for errors
 * @property {RateUnit} [rateUnit] the unit the user chose for a rate
 */

const EXAMPLES = "'rate>=1000/h', 'p99<200ms', 'p95(service)<50ms', 'errors<0.1%', 'max<2s'";
const METRICS = 'rate, errors, min, mean, max, or a percentile such as p50, p99, p99.9';
const SHAPE = /^([\w.%]*)\s*(?:\(([^)]*)\))?\s*(<=|>=|=<|=>|==|=|<|>|≤|≥)?\s*(.*)$/s;

/** @type {Record<string, Series>} by name, lower case, without separators */
const SERIES = { response: 'response', service: 'service', sendlag: 'sendLag' };

/** @type {Record<string, RateUnit>} */
const RATE_UNITS = { s: 's', sec: 's', min: 'min', m: 'min', h: 'h', hour: 'h', d: 'd', day: 'd' };

/**
 * @param {string} text e.g. `rate>=1000/h`, `p99.9 < 1s`, `p95(service)<50ms`, `errors<=0`
 * @returns {Requirement}
 * @throws {PkiLoadError} code `bad_requirement`, naming the part that is wrong
 */
export function parseRequirement(text) {
  const source = String(text).trim();
  const match = SHAPE.exec(source);
  if (match === null || match[1] === '')
    throw bad(source, `it does not begin with what to measure (${METRICS})`);
  const [, name, seriesName, comparator, limitText] = match;
  const metric = parseMetric(source, name);
  const series = parseSeries(source, metric.metric, seriesName);
  if (comparator === undefined)
    throw bad(source, `after ${quote(name)} comes no comparison; use <, <=, > or >=`);
  if (!isComparator(comparator))
    throw bad(source, `${quote(comparator)} is not a comparison; use <, <=, > or >=`);
  if (limitText === '') throw bad(source, `there is no limit after ${quote(comparator)}`);
  return {
    text: source,
    ...metric,
    series,
    comparator,
    ...parseLimit(source, metric.metric, comparator, limitText),
  };
}

/** @param {string} source @param {string} name @returns {Pick<Requirement, 'metric' | 'quantile'>} */
function parseMetric(source, name) {
  const lower = name.toLowerCase();
  if (lower === 'rate' || lower === 'errors' || lower === 'min' || lower === 'mean' || lower === 'max') {
    return { metric: lower };
  }
  if (!/^p[\d.]+$/.test(lower)) throw bad(source, `${quote(name)} cannot be measured; use ${METRICS}`);
  if (/^p100(\.0*)?$/.test(lower)) throw bad(source, `${quote(name)} is the slowest request; write max`);
  const quantile = parseQuantile(lower.slice(1));
  if (quantile === null) {
    throw bad(source, `${quote(name)} is not a percentile between 0 and 100; write p50, p99, p99.9 or p999`);
  }
  return { metric: 'percentile', quantile };
}

/**
 * `99` and `99.9` are percent; three digits or more need no point: `999` is 99.9 %, `975` is 97.5 %.
 *
 * @param {string} digits
 * @returns {number | null}
 */
function parseQuantile(digits) {
  const match = /^(?:(\d{1,2})(?:\.(\d{1,6}))?|(9\d)(\d{1,6}))$/.exec(digits);
  if (match === null) return null;
  const [whole, fraction] = [match[1] ?? match[3], match[2] ?? match[4] ?? ''];
  const quantile = Number(`0.${whole.padStart(2, '0')}${fraction}`);
  return quantile > 0 ? quantile : null;
}

/**
 * @param {string} source
 * @param {Requirement['metric']} metric
 * @param {string | undefined} name
 * @returns {Series}
 */
function parseSeries(source, metric, name) {
  if (name === undefined) return 'response';
  if (metric === 'rate' || metric === 'errors') throw bad(source, `${metric} takes no ${quote(`(${name})`)}`);
  const key = name.toLowerCase().replace(/[\s_-]/g, '');
  if (!Object.hasOwn(SERIES, key)) {
    throw bad(source, `${quote(`(${name})`)} is not a kind of time; use (response), (service) or (send-lag)`);
  }
  return SERIES[key];
}

/** @param {string} text @returns {text is Comparator} */
function isComparator(text) {
  return ['<', '<=', '>', '>='].includes(text);
}

/**
 * @param {string} source
 * @param {Requirement['metric']} metric
 * @param {Comparator} comparator
 * @param {string} text
 * @returns {Pick<Requirement, 'limit' | 'rateUnit'>}
 */
function parseLimit(source, metric, comparator, text) {
  if (metric === 'rate') return parseRateLimit(source, comparator, text);
  if (metric === 'errors') return { limit: parseErrorsLimit(source, comparator, text) };
  const limit = parseTimeLimit(source, text);
  if (limit <= 0) throw bad(source, `the limit ${quote(text)} is not above zero`);
  return { limit };
}

/** @param {string} source @param {string} text */
function parseTimeLimit(source, text) {
  if (/^[\d._]+$/.test(text))
    throw bad(source, `the limit ${quote(text)} has no unit; say ${text}ms or ${text}s`);
  return translate(
    () => parseDuration(text),
    () => bad(source, `the limit ${quote(text)} is not a duration such as 200ms, 1.5s or 2m`),
  );
}

/**
 * @param {string} source
 * @param {Comparator} comparator
 * @param {string} text
 * @returns {Pick<Requirement, 'limit' | 'rateUnit'>}
 */
function parseRateLimit(source, comparator, text) {
  if (comparator[0] === '<') throw bad(source, 'a rate is required at least, not at most; use >= or >');
  const limit = translate(
    () => parseRate(text),
    () => bad(source, `the limit ${quote(text)} is not a rate above zero such as 20/s or 1000/h`),
  );
  const unit = /\/\s*([a-z]+)$/.exec(text)?.[1] ?? 's';
  return { limit, rateUnit: RATE_UNITS[unit] };
}

/** @param {string} source @param {Comparator} comparator @param {string} text */
function parseErrorsLimit(source, comparator, text) {
  if (comparator[0] === '>') throw bad(source, 'errors are allowed at most, not required; use < or <=');
  const match = /^(\d+(?:\.\d+)?|\.\d+)\s*(%)?$/.exec(text);
  if (match === null) throw bad(source, `the limit ${quote(text)} is not a share such as 0.1% or 0.001`);
  const number = Number(match[1]);
  if (match[2] === undefined && number >= 1) {
    throw bad(source, `the limit ${quote(text)} is not a fraction below 1; for percent say ${text}%`);
  }
  const limit = match[2] === undefined ? number : number / 100;
  if (limit > 1) throw bad(source, `the limit ${quote(text)} is more than all requests`);
  if (limit === 0 && comparator === '<')
    throw bad(source, 'there cannot be fewer than 0 errors; write errors<=0');
  return limit;
}

/**
 * @template T
 * @param {() => T} parse
 * @param {() => PkiLoadError} complain
 * @returns {T}
 */
function translate(parse, complain) {
  try {
    return parse();
  } catch (error) {
    throw error instanceof PkiLoadError ? complain() : error;
  }
}

/** @param {string} source @param {string} problem */
function bad(source, problem) {
  return usageError('bad_requirement', `Requirement ${quote(source)}: ${problem}.`, `Examples: ${EXAMPLES}.`);
}

/** @param {string} text */
function quote(text) {
  return JSON.stringify(text.slice(0, 80));
}
