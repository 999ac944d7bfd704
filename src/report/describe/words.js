/** Phrases and columns that reports share. */
import { formatCount, formatDuration, formatRate } from '../../common/units.js';
import { labelOf } from '../../result/latency.js';
import { formatFigure } from '../../result/runs/figures.js';
import { formatPercent } from '../../result/wording.js';
import { worstVerdict } from './bars.js';

/** @import { Result } from '../../result/schema.js' */
/** @import { Column } from '../sections.js' */

/** Kinds of errors named in a line. */
const NAMED_ERRORS = 3;

/** A rate within this share of the offered rate counts as the offered rate. */
const SMALL_SHARE = 0.02;

/**
 * @template {string} Key @template Row @param {readonly Key[]} keys of times, also the headings
 * @param {(row: Row) => {readonly [key in Key]?: number | null} | undefined} read milliseconds
 * @param {readonly Key[]} [details] that narrow tables omit @returns {Column<Row>[]}
 */
export function timeColumns(keys, read, details = []) {
  return keys.map((key) => [
    labelOf(key),
    (row) => timeText(read(row)?.[key]),
    details.includes(key) ? 'detail' : undefined,
  ]);
}

/**
 * @template {string} Key @template Row @param {readonly Key[]} keys of counts, also the headings
 * @param {(row: Row) => {readonly [key in Key]: number}} read @returns {Column<Row>[]}
 */
export const countColumns = (keys, read) => keys.map((key) => [key, (row) => formatCount(read(row)[key])]);

/** `http://a:8200 (Vault 1.21.1)`. @param {{url: string, product?: string | null, version?: string | null}} target */
export function targetPhrase({ url, product, version }) {
  const name = joined([product ?? '', version ?? ''], ' ');
  return name === '' ? url : `${url} (${name})`;
}

/**
 * @param {Pick<Result['load'], 'model' | 'ratePerSecond' | 'concurrency' | 'threads' | 'arrivals' | 'durationMs' | 'requests' | 'rampUpMs' | 'stageCount'> & {stages?: readonly unknown[] | null}} load of a result, or of a plan
 * @returns {string} `open loop at 20/s, 20 s`; `open loop in 3 stages up to 200/s, 1 min`
 */
export function loadPhrase(load) {
  const { model, ratePerSecond, concurrency, threads, arrivals, durationMs, requests, rampUpMs } = load;
  const stages = load.stageCount ?? load.stages?.length ?? 0;
  const inStages = stages === 0 ? '' : ` in ${counted(stages, 'stage')}`;
  const upTo = stages === 0 ? '' : 'up to ';
  return joined([
    model === 'open'
      ? `open loop${inStages} ${upTo || 'at '}${formatRate(Number(ratePerSecond))}`
      : `closed loop${inStages}, ${upTo}${formatCount(concurrency)} in flight`,
    arrivals === 'poisson' && 'Poisson arrivals',
    rampUpMs > 0 && `ramp-up ${formatDuration(rampUpMs)}`,
    threads > 1 && `${threads} threads`,
    durationMs !== null && formatDuration(durationMs),
    requests !== null && counted(requests, 'request'),
  ]);
}

/** `0 to 100/s`; `10` in flight. @param {Pick<Result['load'], 'model'>} load @param {number} from @param {number} to */
export function levelPhrase({ model }, from, to) {
  const text = (/** @type {number} */ level) =>
    model === 'open' && level > 0 ? formatRate(level) : formatCount(level);
  return text(from) === text(to) ? text(to) : `${text(from).replace(/\/s$/, '')} to ${text(to)}`;
}

/** @param {Result} result @returns {string} `open loop at 20/s, 20 s, shard 0/4`; `..., 3 parts`, or `2 of 3 parts` if one is missing */
export function planPhrase({ load, shard, merged = [] }) {
  const [{ of = merged.length } = {}] = merged;
  const parts = counted(of, 'part');
  return joined([
    loadPhrase(load),
    shard !== undefined && `shard ${shard.index}/${shard.of}`,
    merged.length > 0 && (merged.length < of ? `${formatCount(merged.length)} of ${parts}` : parts),
  ]);
}

/** @param {Result} result @returns {string} */
export const operationsPhrase = ({ operations, command }) => Object.keys(operations).join(', ') || command;

/** @param {Result} result @returns {string} `issue on http://127.0.0.1:8200 (Vault 1.21.1), open loop at 20/s, 20 s` */
export function subjectPhrase(result) {
  return `${operationsPhrase(result)} on ${targetPhrase(result.target)}, ${planPhrase(result)}`;
}

/** `Not met: 1 of 2 requirements`; without any, `679/s = 2,446,020 certificates an hour`. @param {Result} result */
export function headline({ requirements, ...result }) {
  if (result.measurement.verdict === 'invalid' && !result.unfinished) return 'Invalid measurement';
  const worst = worstVerdict(requirements);
  const { perSecond, perHour } = result.rates;
  if (worst === undefined)
    return `${perSecondText(perSecond)} = ${perHourText(perHour)} ${unitName(result)} an hour`;
  const count = requirements.filter(({ verdict }) => verdict === worst).length;
  return `${titled(worst)}: ${worst === 'met' ? '' : `${count} of `}${counted(requirements.length, 'requirement')}`;
}

/** @param {Pick<Result, 'unfinished' | 'interrupted' | 'merged'>} result @returns empty for a complete run */
export function statePhrase({ unfinished, interrupted, merged }) {
  if (unfinished) return 'Unfinished: the run had not ended when this was written.';
  if (interrupted && merged !== undefined) return 'Interrupted: not all parts ran to their end.';
  return interrupted ? 'Interrupted: the figures cover the time until then.' : '';
}

/** `certificates`; `responses` of several operations. @param {Pick<Result, 'operations'>} result */
export function unitName({ operations }) {
  const names = new Set(Object.values(operations).map(({ unit, things }) => unit ?? things ?? 'responses'));
  return names.size === 1 ? [...names][0] : 'responses';
}

/** @param {Result} result @returns {string} `10 of 400 (2.5 %): 8 timeout, 2 bad_signature`; `none` */
export function errorsPhrase({ totals: { succeeded, errors }, errorShare, outcomeDetails }) {
  if (errorShare === null) return 'nothing was measured';
  if (errors === 0) return 'none';
  const kinds = errorKinds(outcomeDetails);
  const named = kinds.slice(0, NAMED_ERRORS).map(([name, { count }]) => `${formatCount(count)} ${name}`);
  const more = kinds.length > NAMED_ERRORS && `${counted(kinds.length - NAMED_ERRORS, 'kind')} more`;
  const all = `${formatCount(errors)} of ${formatCount(succeeded + errors)} (${formatPercent(errorShare)})`;
  return joined([all, joined([...named, more])], ': ');
}

/** @template {{success: boolean, count: number}} T @param {Record<string, T>} outcomeDetails the most frequent first */
export function errorKinds(outcomeDetails) {
  return Object.entries(outcomeDetails)
    .filter(([, { success, count }]) => !success && count > 0)
    .sort(([, a], [, b]) => b.count - a.count);
}

/** @param {number} number @param {string} noun */
export const counted = (number, noun) => `${formatCount(number)} ${noun}${number === 1 ? '' : 's'}`;

/** @param {number} perSecond @returns {string} always per second, three digits: `0.278/s`, `19.9/s`, `1,234/s` */
export const perSecondText = (perSecond) => `${perHourText(perSecond)}/s`;

/** @param {number} perHour @returns {string} without a unit, at least three digits */
export function perHourText(perHour) {
  return formatCount(perHour >= 100 ? Math.round(perHour) : Number(perHour.toPrecision(3)));
}

/** @param {number | null | undefined} ms @returns {string} a dash for a missing value */
export const timeText = (ms) => formatFigure('ms', ms ?? null);

/** @param {string} text @returns {string} with a capital letter; `p99` stays lower case */
export function titled(text) {
  return /^p\d/.test(text) ? text : `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** `between 1.2 ms and 3 ms`. @param {(number | null | undefined)[]} values @param {(value: number) => string} text */
export function between(values, text) {
  const [low, high] = extent(values).map(text);
  return low === high ? low : `between ${low} and ${high}`;
}

/** @param {Iterable<number | null | undefined>} values @returns {[number, number]} low, high; infinite without any */
export function extent(values) {
  const known = [...values].filter((value) => value !== null && value !== undefined);
  const low = known.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  return [low, known.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)];
}

/** @param {readonly (string | false)[]} parts @param {string} [separator] @returns {string} without the empty ones */
export function joined(parts, separator = ', ') {
  return parts.filter((part) => part !== false && part !== '').join(separator);
}

/** @param {Result} result @returns {string} `at 20/s`; `at 18.2/s of the 20/s offered`; `at 679/s, 2,446,020/h` */
export function pacePhrase({ load, shard, rates: { perSecond, perHour } }) {
  const { model, rampUpMs, stageCount = 0 } = load;
  const ratePerSecond = load.ratePerSecond === null ? null : load.ratePerSecond / (shard?.of ?? 1);
  if (model === 'closed' || ratePerSecond === null || rampUpMs > 0 || stageCount > 0)
    return `at ${perSecondText(perSecond)}, ${perHourText(perHour)}/h`;
  const offered = formatRate(ratePerSecond);
  const isAsOffered = Math.abs(perSecond - ratePerSecond) <= SMALL_SHARE * ratePerSecond;
  if (isAsOffered) return `at ${offered}`;
  const of = perSecond < ratePerSecond ? ` of the ${offered} offered` : '';
  return `at ${perSecondText(perSecond)}${of}`;
}
