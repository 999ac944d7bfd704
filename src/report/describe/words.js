/** Phrases that reports share. */

import { formatCount, formatDuration, formatLatency, formatRate } from '../../common/units.js';
import { formatPercent } from '../../result/wording.js';
/** @import { Result } from '../../result/schema.js' */
/** @import { Cell } from '../sections.js' */

/** Columns of a table of latencies: heading and key. */
export const LATENCY_COLUMNS = /** @type {const} */ ([
  ['mean', 'mean'],
  ['p50', 'p50'],
  ['p90', 'p90'],
  ['p95', 'p95'],
  ['p99', 'p99'],
  ['p99.9', 'p999'],
  ['max', 'max'],
]);

/** @param {string} verdict @returns {Cell} */
export function verdictCell(verdict) {
  return { text: verdict, verdict };
}

/** Kinds of errors that are named where there is room for a line only, and how long a name may be there. */
const NAMED_ERRORS = 3;
const SHORT_NAME = 40;

/** A rate that differs by less than this share is the one that was offered. */
const SMALL_SHARE = 0.02;

/**
 * @param {{url: string, product?: string | null, version?: string | null}} target
 * @returns {string} `http://127.0.0.1:8200 (Vault 1.21.1)`
 */
export function targetPhrase({ url, product, version }) {
  const name = [product, version].filter((part) => part).join(' ');
  return name === '' ? url : `${url} (${name})`;
}

/**
 * @param {Pick<Result['load'], 'model' | 'ratePerSecond' | 'concurrency' | 'threads' | 'arrivals' | 'durationMs' | 'requests' | 'rampUpMs' | 'stageCount'> &
 *   {stages?: readonly unknown[] | null}} load of a result, or of a plan
 * @returns {string} `open loop at 20/s, 20 s`; `open loop in 3 stages up to 200/s, 1 min`
 */
export function loadPhrase(load) {
  const { model, ratePerSecond, concurrency, threads, arrivals, durationMs, requests, rampUpMs } = load;
  const stages = load.stageCount ?? load.stages?.length ?? 0;
  const inStages = stages === 0 ? '' : ` in ${counted(stages, 'stage')}`;
  const upTo = stages === 0 ? '' : 'up to ';
  const parts = [
    model === 'open'
      ? `open loop${inStages} ${upTo || 'at '}${formatRate(Number(ratePerSecond))}`
      : `closed loop${inStages}, ${upTo}${formatCount(concurrency)} in flight`,
    arrivals === 'poisson' ? 'Poisson arrivals' : '',
    rampUpMs > 0 ? `ramp-up ${formatDuration(rampUpMs)}` : '',
    threads > 1 ? `${threads} threads` : '',
    durationMs === null ? '' : formatDuration(durationMs),
    requests === null ? '' : counted(requests, 'request'),
  ];
  return joined(parts);
}

/**
 * @param {Pick<Result['load'], 'model'>} load
 * @param {{least: number, most: number}} level of a stage
 * @returns {string} `100/s`, `0 to 100/s`, `10`: in flight
 */
export function levelPhrase({ model }, { least, most }) {
  const text = (/** @type {number} */ level) =>
    model === 'open' && level > 0 ? formatRate(level) : formatCount(level);
  return least === most ? text(most) : `${text(least).replace(/\/s$/, '')} to ${text(most)}`;
}

/** @param {Pick<Result['load'], 'model'>} load @returns {string} what the level of a stage is; a heading */
export function levelName({ model }) {
  return model === 'open' ? 'offered' : 'in flight';
}

/** @param {Result} result @returns {string} `open loop at 20/s, 20 s, shard 0/4` */
export function planPhrase({ load, shard }) {
  return shard === undefined ? loadPhrase(load) : `${loadPhrase(load)}, shard ${shard.index}/${shard.of}`;
}

/**
 * @param {Result} result
 * @returns {string} `issue on http://127.0.0.1:8200 (Vault 1.21.1), open loop at 20/s, 20 s`
 */
export function subjectPhrase(result) {
  const names = Object.keys(result.operations).join(', ') || result.command;
  return `${names} on ${targetPhrase(result.target)}, ${planPhrase(result)}`;
}

/** @param {Result} result @returns {string} what its total `neverSent` counts; a heading */
export function neverSentPhrase({ unfinished }) {
  return unfinished ? 'unanswered' : 'never sent';
}

/**
 * @param {Result} result
 * @returns {string} the answer in a line: `Not met: 1 of 2 requirements`; without requirements, the rate
 */
export function headline(result) {
  const { requirements } = result;
  const all = requirements.length;
  if (all === 0) return ratePhrase(result);
  const missed = requirements.filter(({ verdict }) => verdict === 'not met').length;
  if (missed > 0) return `Not met: ${missed} of ${counted(all, 'requirement')}`;
  const unproven = requirements.filter(({ verdict }) => verdict === 'not proven').length;
  if (unproven > 0) return `Not proven: ${unproven} of ${counted(all, 'requirement')}`;
  return `Met: ${counted(all, 'requirement')}`;
}

/** @param {Result} result @returns {string} why it is not the result of a whole run; empty where it is */
export function statePhrase({ unfinished, interrupted }) {
  if (unfinished) return 'Unfinished: the run was still going on when this was written.';
  return interrupted ? 'Interrupted: these are the figures up to then.' : '';
}

/**
 * @param {Result} result
 * @returns {string} the unit of the counts: `certificates`; `responses` of several operations
 */
export function unitName({ operations }) {
  const names = [
    ...new Set(Object.values(operations).map(({ unit, things }) => unit ?? things ?? 'responses')),
  ];
  return names.length === 1 ? names[0] : 'responses';
}

/** @param {Result} result @returns {string} `679/s = 2,446,020 certificates an hour` */
export function ratePhrase(result) {
  const { perSecond, perHour } = result.rates;
  return `${perSecondText(perSecond)} = ${perHourText(perHour)} ${unitName(result)} an hour`;
}

/** @param {Result} result @returns {string} `10 of 400 (2.5 %): 8 timeout, 2 bad_signature`; `none` */
export function errorsPhrase({ totals: { succeeded, errors }, errorShare, outcomeDetails }) {
  if (errorShare === null) return 'nothing was measured';
  if (errors === 0) return 'none';
  const kinds = errorKinds(outcomeDetails);
  const named = kinds
    .slice(0, NAMED_ERRORS)
    .map(([name, { count }]) => `${formatCount(count)} ${shortened(name)}`);
  const more = kinds.length > NAMED_ERRORS ? [`${counted(kinds.length - NAMED_ERRORS, 'kind')} more`] : [];
  const detail = named.length === 0 ? '' : `: ${[...named, ...more].join(', ')}`;
  return `${formatCount(errors)} of ${formatCount(succeeded + errors)} (${formatPercent(errorShare)})${detail}`;
}

/**
 * @template {{success: boolean, count: number}} T
 * @param {Record<string, T>} outcomeDetails
 * @returns {[name: string, detail: T][]} errors, the most frequent first
 */
export function errorKinds(outcomeDetails) {
  return Object.entries(outcomeDetails)
    .filter(([, { success, count }]) => !success && count > 0)
    .sort(([, a], [, b]) => b.count - a.count);
}

/**
 * @param {Pick<Result, 'outcomes' | 'outcomeDetails'>} block
 * @returns {string[]} names: successes first, then the most frequent
 */
export function outcomeNames({ outcomes, outcomeDetails }) {
  const succeeded = (/** @type {string} */ name) => Number(outcomeDetails[name]?.success ?? false);
  return Object.keys(outcomes).sort((a, b) => succeeded(b) - succeeded(a) || outcomes[b] - outcomes[a]);
}

/** @param {string} name */
function shortened(name) {
  return name.length > SHORT_NAME ? `${name.slice(0, SHORT_NAME - 1)}…` : name;
}

/** @param {number} number @param {string} noun */
export function counted(number, noun) {
  return `${formatCount(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/**
 * @param {number} perSecond
 * @returns {string} always per second, three digits: `0.278/s`, `19.9/s`, `1,234/s`
 */
export function perSecondText(perSecond) {
  return `${formatCount(perSecond >= 100 ? Math.round(perSecond) : Number(perSecond.toPrecision(3)))}/s`;
}

/** @param {number} perHour @returns {string} without a unit; whole, where that has three digits */
export function perHourText(perHour) {
  return formatCount(perHour >= 100 ? Math.round(perHour) : Number(perHour.toPrecision(3)));
}

/** @param {number | null | undefined} ms @returns {string} a dash for a missing value */
export function timeText(ms) {
  return ms === null || ms === undefined ? '–' : formatLatency(ms);
}

/** @param {Result} result @returns {string} how many responses were checked, and how many passed */
export function verificationPhrase(result) {
  const { checked, passed, sampled, unchecked } = result.verification;
  const unit = unitName(result);
  if (checked + unchecked === 0) return 'nothing: no response could be checked';
  if (checked === 0) return `none of ${formatCount(unchecked)} ${unit} checked`;
  const all = checked + unchecked;
  const share = sampled ? `sampled (${formatPercent(checked / all)}): ` : '';
  const verdict = passed === checked ? 'all passed' : `${formatCount(checked - passed)} did not pass`;
  return `${share}${formatCount(checked)} of ${formatCount(all)} ${unit} checked, ${verdict}`;
}

/**
 * @param {Result} result
 * @returns {string} `at 20/s`; `at 18.2/s of the 20/s offered`; `at 679/s, 2,446,020/h`
 */
export function pacePhrase({ load, rates: { perSecond, perHour } }) {
  const { model, ratePerSecond, rampUpMs, stageCount = 0 } = load;
  if (model === 'closed' || ratePerSecond === null || rampUpMs > 0 || stageCount > 0)
    return `at ${perSecondText(perSecond)}, ${perHourText(perHour)}/h`;
  const offered = formatRate(ratePerSecond);
  return Math.abs(perSecond - ratePerSecond) <= SMALL_SHARE * ratePerSecond
    ? `at ${offered}`
    : `at ${perSecondText(perSecond)} of the ${offered} offered`;
}

/**
 * @param {Result} result
 * @returns {boolean} whether every response is good and nothing that was required is missed or in doubt
 */
export function isKept({ totals, measurement, requirements, interrupted, unfinished }) {
  return (
    totals.succeeded > 0 &&
    totals.errors === 0 &&
    !interrupted &&
    !unfinished &&
    measurement.verdict !== 'invalid' &&
    requirements.every(({ verdict }) => verdict === 'met')
  );
}

/** @param {Result} result @returns {string[]} how the load has to be taken into account */
export function loadNotes({ load, warmup }) {
  return [
    ...(load.model === 'closed'
      ? [
          'A closed loop hides waiting: a slow target gets fewer requests. Use --rate to see what users would wait.',
        ]
      : []),
    ...(warmup.seconds > 0
      ? [
          `The warm-up (${formatDuration(warmup.seconds * 1000)}, ${counted(warmup.sent, 'request')}) is not counted.`,
        ]
      : []),
  ];
}

/** @param {string} text @returns {string} with a capital, as a title; `p99` stays small */
export function titled(text) {
  return /^p\d/.test(text) ? text : `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/**
 * @param {(number | null | undefined)[]} values at least one is a number
 * @param {(value: number) => string} text
 * @returns {string} `1.2 ms`, `between 1.2 ms and 3.4 ms`
 */
export function between(values, text) {
  const [low, high] = extent(values).map(text);
  return low === high ? low : `between ${low} and ${high}`;
}

/**
 * @param {Iterable<number | null | undefined>} values
 * @returns {[number, number]} smallest and largest; infinite where there is no number
 */
export function extent(values) {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value === null || value === undefined) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

/**
 * @param {readonly (string | false)[]} parts
 * @param {string} [separator]
 * @returns {string} without the empty ones
 */
export function joined(parts, separator = ', ') {
  return parts.filter((part) => part !== false && part !== '').join(separator);
}

/** @param {(string | false)[]} parts */
export function sentences(...parts) {
  return joined(parts, ' ');
}
