/** Charts over the time of a run: response times, rates, send lag. */
import { formatCount, formatDuration, formatLatency } from '../../common/units.js';
import { latencySpanLength, latencySpans } from '../../result/latency-spans.js';
import { between, counted, extent, perHourText, perSecondText, sentences } from '../describe/words.js';
import { compactLabel, latencyAxis, linearAxis } from './axes.js';
import {
  AFTER_NOTE,
  binned,
  clockOf,
  DENSE_NOTE,
  hasAfter,
  isDense,
  spanFor,
  timeChart,
} from './time-chart.js';

/** @import { LatencySpan } from '../../result/latency-spans.js' */
/** @import { Result, TimelineRow } from '../../result/schema.js' */
/** @import { Setting } from './frame.js' */
/** @import { Drawn } from './index.js' */
/** @import { Level } from './lines.js' */
/** @import { Series } from './time-chart.js' */

/** @typedef {Series<LatencySpan>} LatencySeries */

/** @type {LatencySeries[]} */
const LATENCY_SERIES = [
  { name: 'p50', style: 1, value: unlessIdle((row) => row.p50) },
  { name: 'p90', style: 3, value: unlessIdle((row) => row.p90) },
  { name: 'p99', style: 2, value: unlessIdle((row) => row.p99) },
  { name: 'max', style: 4, shows: 'greatest', value: unlessIdle((row) => row.max) },
];

/** A limit has the colour of its series; limits of anything else are grey. @type {Record<string, number>} */
const LIMIT_STYLES = { p50: 1, p90: 3, p99: 2, max: 4 };
const OTHER_STYLE = 6;

const MOST_LIMITS = 3;

/** Limits beyond this multiple of the measured range would flatten the lines; they are left out. */
const LIMIT_REACH = 3;

/**
 * @param {Pick<Result, 'timeline' | 'requirements' | 'windowSeconds' | 'stages'>} result
 * @param {Setting} setting
 * @returns {Drawn | null} null where no response came
 */
export function latencyOverTime({ timeline, requirements = [], windowSeconds, stages }, setting) {
  if (!timeline.some(({ max }) => max !== null)) return null;
  const rows = latencySpans(timeline);
  const present = LATENCY_SERIES.filter(({ value }) => rows.some((row) => typeof value(row) === 'number'));
  const series = joinEqual(present, rows);
  const values = series.flatMap(({ value }) => rows.map(value)).filter((ms) => typeof ms === 'number');
  const levels = limitsOf(requirements, extent(values));
  return timeChart({
    setting,
    summary: latencySummary(rows, windowSeconds),
    rows,
    series,
    levels,
    yAxis: latencyAxis('response time', [...values, ...levels.map(({ value }) => value)]),
    text: formatLatency,
    weight: ({ max }) => max ?? -1,
    heaviest: 'the one with the longest response',
    measuredSeconds: windowSeconds,
    marks: stages,
  });
}

/**
 * @param {(row: LatencySpan) => number | null | undefined} value
 * @returns {LatencySeries['value']} skipped where no response was due
 */
function unlessIdle(value) {
  return (row) => (row.idle ? undefined : value(row));
}

/**
 * Joins neighbouring series with the same values, as p99 and max of fewer than 100 responses: `p99 = max`.
 *
 * @param {LatencySeries[]} series
 * @param {LatencySpan[]} rows
 * @returns {LatencySeries[]}
 */
function joinEqual(series, rows) {
  /** @type {LatencySeries[]} */
  const joined = [];
  for (const one of series) {
    const before = joined.at(-1);
    if (before !== undefined && rows.every((row) => before.value(row) === one.value(row))) {
      joined[joined.length - 1] = { ...before, name: `${before.name} = ${one.name}`, shows: one.shows };
    } else joined.push(one);
  }
  return joined;
}

/**
 * Limits on the response time of the whole run: a line across applies to all of it.
 *
 * @param {Result['requirements']} requirements
 * @param {[number, number]} measured smallest and largest, milliseconds
 * @returns {Level[]}
 */
function limitsOf(requirements, [low, high]) {
  return requirements
    .filter(({ unit, text }) => unit === 'ms' && !text.includes('('))
    .filter(({ operation, stage }) => operation === undefined && stage === undefined)
    .filter(({ limit }) => limit > 0 && limit <= high * LIMIT_REACH && limit >= low / LIMIT_REACH)
    .slice(0, MOST_LIMITS)
    .map(({ text, limit }) => {
      const [metric] = text.split(/[<>]/);
      const style = Object.hasOwn(LIMIT_STYLES, metric) ? LIMIT_STYLES[metric] : OTHER_STYLE;
      const label = text.replace(/[<>]=?/, ' $& ');
      return { name: `limit: ${text}`, label, style, mark: 'limit', value: limit };
    });
}

/** @param {LatencySpan[]} rows with at least one response @param {number | null | undefined} windowSeconds */
function latencySummary(rows, windowSeconds) {
  const last = rows[rows.length - 1];
  const seconds = last.second + last.span;
  const worst = rows.reduce((longest, row) => ((row.max ?? -1) > (longest.max ?? -1) ? row : longest));
  const silent = rows.filter(({ answers, idle }) => answers === 0 && !idle).length;
  const [p50, p99] = [rows.map((row) => row.p50), rows.map((row) => row.p99)];
  const [{ span }] = rows;
  const [each, noun] =
    span === 1 ? ['Each second', 'seconds'] : [`Over ${formatDuration(span * 1000)} each`, 'spans'];
  return sentences(
    `${each}, p50 was ${between(p50, formatLatency)} and p99 ${between(p99, formatLatency)}.`,
    `The longest response, ${formatLatency(Number(worst.max))}, ended ${clockOf(seconds).place(worst)}.`,
    silent > 0 &&
      `No response came in ${formatCount(silent)} of ${formatCount(rows.length)} ${noun}, the gaps in the lines.`,
    isDense(rows) && `${DENSE_NOTE} The line of max follows the largest.`,
    hasAfter(windowSeconds, seconds) && AFTER_NOTE,
  );
}

/** @typedef {Pick<Result, 'timeline' | 'totals' | 'load' | 'windowSeconds' | 'stages'>} RatesData */
/** @typedef {{second: number, span: number, due: number, sent: number, succeeded: number}} RateRow */

/** Requests in a span, on average: fewer would make the lines jump between 0 and 1. */
const FEWEST_IN_SPAN = 5;
const FEWEST_SPANS = 5;

/** Below one request per second, rates are per hour, as users write them. */
const PER_SECOND = { noun: 'second', seconds: 1, text: perSecondText };
const PER_HOUR = {
  noun: 'hour',
  seconds: 3600,
  text: (/** @type {number} */ value) => `${perHourText(value)}/h`,
};

/** The first is broad, to be seen below the others. @type {Series<RateRow>[]} */
const RATE_SERIES = [
  { name: 'offered', style: 6, mark: 'track', value: ({ due }) => due },
  { name: 'sent', style: 2, mark: 'over', value: ({ sent }) => sent },
  { name: 'succeeded', style: 1, mark: 'under', value: ({ succeeded }) => succeeded },
];

/** @param {RatesData} data @param {Setting} setting @returns {Drawn | null} null where no request was sent */
export function rates(data, setting) {
  const { timeline, totals, load, windowSeconds, stages } = data;
  if (totals.sent === 0 || timeline.length === 0) return null;
  const average = totals.sent / timeline.length;
  const { noun, seconds, text } = Math.max(average, load.ratePerSecond ?? 0) < 1 ? PER_HOUR : PER_SECOND;
  const rows = rateRows(timeline, rateSpan(timeline, totals.sent), seconds);
  const hasDue = timeline.some(({ due }) => due !== undefined);
  // Results of older versions have no requests due.
  const series = hasDue ? RATE_SERIES : RATE_SERIES.slice(1);
  const [, high] = extent(series.flatMap(({ value }) => rows.map(value)));
  return timeChart({
    setting,
    summary: ratesSummary(data, rows),
    rows,
    series,
    yAxis: linearAxis({ title: `requests per ${noun}`, high, label: compactLabel }),
    text,
    weight: ({ due, sent, succeeded }) => Math.abs((hasDue ? due : sent) - succeeded),
    heaviest: 'the one in which the lines are farthest apart',
    measuredSeconds: windowSeconds,
    marks: stages,
  });
}

/** @param {TimelineRow[]} timeline @param {number} sent @returns {number} seconds to add up over */
function rateSpan({ length }, sent) {
  const wanted = Math.ceil((FEWEST_IN_SPAN * length) / sent);
  const longest = Math.max(1, Math.floor(length / FEWEST_SPANS));
  return Math.min(spanFor(Math.min(wanted, longest), 1), longest);
}

/**
 * @param {TimelineRow[]} timeline
 * @param {number} span seconds
 * @param {number} seconds that the rates are per
 * @returns {RateRow[]}
 */
function rateRows(timeline, span, seconds) {
  return binned(timeline, span).map(({ second, span: length, rows }) => {
    const rate = (/** @type {(row: TimelineRow) => number} */ count) =>
      (rows.reduce((sum, row) => sum + count(row), 0) * seconds) / length;
    return {
      second,
      span: length,
      due: rate(({ due = 0 }) => due),
      sent: rate(({ sent }) => sent),
      succeeded: rate(({ succeeded }) => succeeded),
    };
  });
}

/** @param {RatesData} data @param {RateRow[]} rows */
function ratesSummary({ totals: { planned, sent, succeeded }, load, timeline, windowSeconds }, rows) {
  const [{ span }] = rows;
  const counts = `${formatCount(sent)} ${sent === 1 ? 'was' : 'were'} sent and ${formatCount(succeeded)} succeeded.`;
  return sentences(
    load.model === 'open' ? `Of ${counted(planned, 'request')} planned, ${counts}` : `Requests: ${counts}`,
    load.model === 'open' &&
      'Where the lines part, requests waited, failed or were not sent; succeeded above offered is a backlog being worked off.',
    span > 1 && `Averages over ${formatDuration(span * 1000)} each.`,
    isDense(rows) && DENSE_NOTE,
    hasAfter(windowSeconds, timeline.length) && AFTER_NOTE,
  );
}

/**
 * @param {Pick<Result, 'timeline' | 'windowSeconds' | 'stages'>} result
 * @param {Setting} setting
 * @returns {Drawn | null} null where no request was sent, and in older results
 */
export function sendLag({ timeline, windowSeconds, stages }, setting) {
  const values = timeline.map(({ lag99 }) => lag99).filter((ms) => typeof ms === 'number');
  if (values.length === 0) return null;
  const span = latencySpanLength(timeline);
  const rows = lagRows(timeline, span);
  return timeChart({
    setting,
    summary: sentences(
      `Each second, 99 % of requests were sent within this time of when they were due: ${between(values, formatLatency)}.`,
      span > 1 && `The line is the largest of each ${formatDuration(span * 1000)}.`,
      'A lag that grows is a backlog: the target took less than was offered.',
      isDense(rows) && DENSE_NOTE,
      hasAfter(windowSeconds, timeline.length) && AFTER_NOTE,
    ),
    rows,
    series: [{ name: 'p99 of the send lag', style: 5, value: ({ lag }) => lag }],
    yAxis: latencyAxis(
      'send lag',
      rows.map(({ lag }) => lag ?? 0),
    ),
    text: formatLatency,
    weight: ({ lag }) => lag ?? -1,
    heaviest: 'the one with the longest lag',
    measuredSeconds: windowSeconds,
    marks: stages,
  });
}

/**
 * @param {TimelineRow[]} timeline
 * @param {number} span seconds
 * @returns {{second: number, span: number, lag: number | null | undefined}[]} undefined: nothing was due
 */
function lagRows(timeline, span) {
  return binned(timeline, span).map(({ rows, ...moment }) => {
    const lags = rows.flatMap(({ lag99 }) => lag99 ?? []);
    if (lags.length > 0) return { ...moment, lag: Math.max(...lags) };
    return { ...moment, lag: rows.every(({ due }) => due === 0) ? undefined : null };
  });
}
