/** Charts over the time of a run: response times, rates, errors, send lag. */
import { formatCount, formatDuration, formatLatency } from '../../common/units.js';
import { latencySpanLength, latencySpans } from '../../result/latency-spans.js';
import { between, counted, extent, joined, perHourText, perSecondText } from '../describe/words.js';
import { compactLabel, linearAxis, timeAxis, valueAxis } from './axes.js';
import { drawChart } from './chart.js';

/** @import { Result, TimelineRow } from '../../result/schema.js' */
/** @import { Axis } from './axes.js' */
/** @import { Drawn } from './chart.js' */
/** @import { Place, Setting } from './frame.js' */
/** @import { Level, Look } from './lines.js' */

/** @typedef {Result & {stages?: readonly {name: string, startSeconds: number}[]}} Run */
/** @typedef {{second: number, span: number}} Moment `span` seconds from `second` on */
/** @template Row @typedef {Look & {name: string, value: (row: Row) => number | null | undefined}} RowSeries null is a gap, and the line skips undefined */

/** A line of more moments shares pixels: it becomes an area. */
const DENSE_FROM = 130;
const DENSE_NOTE =
  'Where seconds share a pixel, the area spans their smallest to largest value, and the line follows the median.';
const AFTER_NOTE = 'Shaded: the wait for the last responses.';

/**
 * @template {Moment} Row
 * @param {object} parts
 * @param {Run} parts.run
 * @param {Setting} parts.setting
 * @param {string[]} parts.summary sentences
 * @param {Row[]} parts.rows in order, without a gap
 * @param {RowSeries<Row>[]} parts.series
 * @param {Axis} parts.yAxis
 * @param {(value: number) => string} parts.text
 * @param {Level[]} [parts.levels]
 * @param {(place: Place) => string[]} [parts.drawBars] instead of lines
 * @returns {Drawn}
 */
function timeChart({ run, rows, series, summary, drawBars, ...parts }) {
  const last = rows[rows.length - 1];
  const seconds = last.second + last.span;
  const { windowSeconds = 0, stages = [] } = run;
  const isDense = rows.length > DENSE_FROM && drawBars === undefined;
  const hasAfter = windowSeconds > 0 && windowSeconds < seconds - 0.5 && drawBars === undefined;
  const under = (/** @type {Place} */ { x, right, top, bottom }) =>
    `<rect class="after" x="${x(windowSeconds / seconds)}" y="${top}" width="${(right - x(windowSeconds / seconds)).toFixed(1)}" height="${bottom - top}"/>`;
  return drawChart({
    ...parts,
    summary: joined([...summary, isDense && DENSE_NOTE, hasAfter && AFTER_NOTE], ' '),
    xAxis: timeAxis(seconds),
    heading: 'Time',
    moments: rows.map((row) => ({
      name: momentName(row, seconds),
      at: (row.second + row.span / 2) / seconds,
    })),
    series: series.map(({ value, ...look }) => ({
      mark: isDense ? 'dense' : undefined,
      ...look,
      values: rows.map(value),
    })),
    uprights: stages.map(({ name, startSeconds }) => ({ name, at: startSeconds / seconds })),
    drawBars,
    under: hasAfter ? under : undefined,
  });
}

/** Longer runs use the clock. */
const LONGEST_IN_SECONDS = 180;

/**
 * @param {Moment} moment
 * @param {number} seconds length of the run
 * @returns {string} `second 12`, `seconds 10 to 19`, `0:05:22`, `11:00:00 to 11:14:59`
 */
export function momentName({ second, span }, seconds) {
  const isLong = seconds > LONGEST_IN_SECONDS;
  const ends = [second, ...(span === 1 ? [] : [second + span - 1])].map(isLong ? clockText : formatCount);
  return `${isLong ? '' : span === 1 ? 'second ' : 'seconds '}${ends.join(' to ')}`;
}

/** @param {number} second @returns {string} `0:03:20` */
function clockText(second) {
  const twoDigits = (/** @type {number} */ value) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(second / 3600), Math.floor((second % 3600) / 60)];
  return `${formatCount(hours)}:${twoDigits(minutes)}:${twoDigits(second % 60)}`;
}

/** To add up over, in seconds. */
const SPANS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400];

/**
 * @param {number} seconds @param {number} most
 * @returns {number} seconds to add up over, so that there are no more than `most` sums
 */
export function spanFor(seconds, most) {
  return SPANS.find((span) => Math.ceil(seconds / span) <= most) ?? Math.ceil(seconds / most);
}

/**
 * @template Row @param {Row[]} rows one a second @param {number} span seconds
 * @returns {(Moment & {rows: Row[]})[]} the last may be shorter
 */
export function binned(rows, span) {
  return Array.from({ length: Math.ceil(rows.length / span) }, (_, i) => {
    const part = rows.slice(i * span, (i + 1) * span);
    return { second: i * span, span: part.length, rows: part };
  });
}

/** @typedef {ReturnType<typeof latencySpans>[number]} LatencySpan */

/** @type {(Look & {name: string, key: 'p50' | 'p90' | 'p99' | 'max'})[]} */
const LATENCY_SERIES = [
  { name: 'p50', key: 'p50', style: 1 },
  { name: 'p90', key: 'p90', style: 3 },
  { name: 'p99', key: 'p99', style: 2 },
  { name: 'max', key: 'max', style: 4 },
];

/** Of limits of anything but a series. */
const OTHER_STYLE = 6;

const MOST_LIMITS = 3;

/** Limits beyond this multiple of the measured range would flatten the lines; they are left out. */
const LIMIT_REACH = 3;

/** @param {Run} run @param {Setting} setting @returns {Drawn | null} null where no response came */
export function latencyOverTime(run, setting) {
  if (!run.timeline.some(({ max }) => max !== null)) return null;
  const rows = latencySpans(run.timeline);
  const series = latencySeries(rows);
  const values = series.flatMap(({ value }) => rows.flatMap((row) => value(row) ?? []));
  const levels = limitsOf(run.requirements, extent(values));
  return timeChart({
    run,
    setting,
    summary: latencySummary(rows),
    rows,
    series,
    levels,
    yAxis: valueAxis('ms', 'response time', [...values, ...levels.map(({ value }) => value)]),
    text: formatLatency,
  });
}

/**
 * Neighbours with the same values are one, as p99 and max of fewer than 100 responses: `p99 = max`.
 * @param {LatencySpan[]} rows
 * @returns {RowSeries<LatencySpan>[]} skipped where no response was due
 */
function latencySeries(rows) {
  /** @type {typeof LATENCY_SERIES} */
  const series = [];
  for (const one of LATENCY_SERIES) {
    const before = series.at(-1);
    if (!rows.some((row) => typeof row[one.key] === 'number')) continue;
    if (before !== undefined && rows.every((row) => row[before.key] === row[one.key]))
      series[series.length - 1] = { ...before, name: `${before.name} = ${one.name}` };
    else series.push(one);
  }
  return series.map(({ key, ...look }) => ({ ...look, value: (row) => (row.idle ? undefined : row[key]) }));
}

/**
 * Limits on the response time of the whole run: a line across applies to all of it.
 * @param {Run['requirements']} requirements
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
      const style = LATENCY_SERIES.find(({ name }) => name === metric)?.style ?? OTHER_STYLE;
      const label = text.replace(/[<>]=?/, ' $& ');
      return { name: `limit: ${text}`, label, style, mark: 'limit', value: limit };
    });
}

/** @param {LatencySpan[]} rows with at least one response */
function latencySummary(rows) {
  const last = rows[rows.length - 1];
  const worst = rows.reduce((longest, row) => ((row.max ?? -1) > (longest.max ?? -1) ? row : longest));
  const silent = rows.filter(({ answers, idle }) => answers === 0 && !idle).length;
  const [{ span }] = rows;
  const each = span === 1 ? 'Each second' : `Over ${formatDuration(span * 1000)} each`;
  const range = (/** @type {'p50' | 'p99'} */ key) =>
    between(
      rows.map((row) => row[key]),
      formatLatency,
    );
  return [
    `${each}, p50 was ${range('p50')} and p99 ${range('p99')}.`,
    `The longest response took ${formatLatency(Number(worst.max))} (${momentName(worst, last.second + last.span)}).`,
    silent === 0
      ? ''
      : `No response came in ${formatCount(silent)} of ${counted(rows.length, span === 1 ? 'second' : 'span')}, the gaps in the lines.`,
  ];
}

/** @typedef {Moment & {due: number, sent: number, succeeded: number}} RateRow */

/** Requests in a span, on average: fewer would make the lines jump between 0 and 1. */
const [FEWEST_IN_SPAN, FEWEST_SPANS] = [5, 5];

/** Below one request per second, rates are per hour, as users write them. */
const PER_SECOND = { noun: 'second', seconds: 1, text: perSecondText };
const PER_HOUR = {
  noun: 'hour',
  seconds: 3600,
  text: (/** @type {number} */ value) => `${perHourText(value)}/h`,
};

/** The first is broad, to be seen below the others. @type {RowSeries<RateRow>[]} */
const RATE_SERIES = [
  { name: 'offered', style: 6, mark: 'track', value: ({ due }) => due },
  { name: 'sent', style: 2, mark: 'over', value: ({ sent }) => sent },
  { name: 'succeeded', style: 1, mark: 'under', value: ({ succeeded }) => succeeded },
];

/** @param {Run} run @param {Setting} setting @returns {Drawn | null} null where no request was sent */
export function rates(run, setting) {
  const { timeline, totals, load } = run;
  if (totals.sent === 0 || timeline.length === 0) return null;
  const average = totals.sent / timeline.length;
  const { noun, seconds, text } = Math.max(average, load.ratePerSecond ?? 0) < 1 ? PER_HOUR : PER_SECOND;
  const rows = rateRows(timeline, totals.sent, seconds);
  // Results of older versions have no requests due.
  const series = timeline.some(({ due }) => due !== undefined) ? RATE_SERIES : RATE_SERIES.slice(1);
  const [, high] = extent(series.flatMap(({ value }) => rows.map(value)));
  const [{ span }] = rows;
  const counts = `${formatCount(totals.sent)} sent and ${formatCount(totals.succeeded)} succeeded.`;
  return timeChart({
    run,
    setting,
    summary: [
      `Requests: ${load.model === 'open' ? `${formatCount(totals.planned)} planned, ` : ''}${counts}`,
      load.model === 'open'
        ? 'Where the lines part, requests waited, failed or were not sent; succeeded above offered is a backlog being worked off.'
        : '',
      span > 1 ? `Averages over ${formatDuration(span * 1000)} each.` : '',
    ],
    rows,
    series,
    yAxis: linearAxis({ title: `requests per ${noun}`, high, label: compactLabel }),
    text,
  });
}

/**
 * @param {TimelineRow[]} timeline @param {number} sent
 * @param {number} seconds that the rates are per @returns {RateRow[]}
 */
function rateRows(timeline, sent, seconds) {
  const wanted = Math.ceil((FEWEST_IN_SPAN * timeline.length) / sent);
  const longest = Math.max(1, Math.floor(timeline.length / FEWEST_SPANS));
  const length = Math.min(spanFor(Math.min(wanted, longest), 1), longest);
  return binned(timeline, length).map(({ rows, ...moment }) => {
    const rate = (/** @type {'due' | 'sent' | 'succeeded'} */ key) =>
      (rows.reduce((sum, row) => sum + (row[key] ?? 0), 0) * seconds) / moment.span;
    return { ...moment, due: rate('due'), sent: rate('sent'), succeeded: rate('succeeded') };
  });
}

const MOST_BARS = 100;

/** Of the most frequent outcomes; the others are one more. */
const OUTCOME_STYLES = [2, 4, 1, 5, 3];

/** @typedef {Moment & {rows: TimelineRow[]}} Bin */
/** @typedef {Look & {name: string, value: (bin: Bin) => number}} OutcomeSeries */

/**
 * Failed requests, stacked by outcome. @param {Run} run @param {Setting} setting
 * @returns {Drawn | null} null where none failed in any second
 */
export function errors(run, setting) {
  const { timeline, totals } = run;
  const failed = timeline.reduce((sum, row) => sum + row.failed, 0);
  if (failed === 0) return null;
  const bars = binned(timeline, spanFor(timeline.length, MOST_BARS));
  const [{ span }] = bars;
  const series = outcomeSeries(timeline);
  const totalOf = (/** @type {Bin} */ { rows }) => rows.reduce((sum, row) => sum + row.failed, 0);
  const worst = bars.reduce((most, bar) => (totalOf(bar) > totalOf(most) ? bar : most));
  const unsent = totals.dropped + totals.neverSentDue;
  const yAxis = linearAxis({
    title: span === 1 ? 'errors per second' : `errors in each ${formatDuration(span * 1000)}`,
    high: totalOf(worst),
    label: compactLabel,
    isWhole: true,
  });
  return timeChart({
    run,
    setting,
    summary: [
      `${counted(failed, 'request')} failed, the most in ${momentName(worst, timeline.length)}: ${formatCount(totalOf(worst))}.`,
      unsent > 0 ? `Not drawn: ${counted(unsent, 'request')} dropped or never sent.` : '',
    ],
    rows: bars,
    series,
    drawBars: (place) => stackedBars(bars, series, yAxis, place),
    yAxis,
    text: formatCount,
  });
}

/**
 * @param {TimelineRow[]} timeline
 * @returns {OutcomeSeries[]} the most frequent first; the others, and those without a name, are one
 */
function outcomeSeries(timeline) {
  /** @type {Map<string, number>} */
  const totals = new Map();
  for (const { failures = {} } of timeline)
    for (const [name, count] of Object.entries(failures)) totals.set(name, (totals.get(name) ?? 0) + count);
  const names = [...totals.keys()].sort((a, b) => Number(totals.get(b)) - Number(totals.get(a)));
  const named = names.slice(0, OUTCOME_STYLES.length).map((name, i) => ({
    name,
    style: OUTCOME_STYLES[i],
    value: (/** @type {Bin} */ { rows }) => rows.reduce((sum, row) => sum + failedWith(row, name), 0),
  }));
  const rest = (/** @type {Bin} */ bin) =>
    Math.max(
      0,
      bin.rows.reduce((sum, row) => sum + row.failed, 0) -
        named.reduce((sum, { value }) => sum + value(bin), 0),
    );
  if (rest({ second: 0, span: 0, rows: timeline }) === 0) return named;
  return [...named, { name: named.length === 0 ? 'failed' : 'other', style: OTHER_STYLE, value: rest }];
}

/** @param {TimelineRow} row @param {string} name of an outcome, which may be that of a property of every object */
function failedWith({ failures = {} }, name) {
  return Object.hasOwn(failures, name) ? failures[name] : 0;
}

/**
 * @param {Bin[]} bars @param {OutcomeSeries[]} series @param {Axis} yAxis @param {Place} place
 * @returns {string[]} a path per series
 */
function stackedBars(bars, series, yAxis, { x, y }) {
  const last = bars[bars.length - 1];
  const seconds = last.second + last.span;
  const below = bars.map(() => 0);
  return series.map(({ style, value }) => {
    const paths = bars.map((bar, i) => {
      const count = value(bar);
      if (count === 0) return '';
      const [left, right] = [x(bar.second / seconds), x((bar.second + bar.span) / seconds)];
      const gap = right - left > 4 ? 0.5 : 0;
      const bottom = y(yAxis.at(below[i]));
      below[i] += count;
      // At least a pixel high.
      const top = Math.min(y(yAxis.at(below[i])), bottom - 1);
      return `M${left + gap} ${bottom}V${top}H${right - gap}V${bottom}Z`;
    });
    const path = paths.join('');
    return path === '' ? '' : `<path class="fill s${style}" d="${path}"/>`;
  });
}

/** @param {Run} run @param {Setting} setting @returns {Drawn | null} null where no request was sent, and in older results */
export function sendLag(run, setting) {
  const { timeline } = run;
  const values = timeline.flatMap(({ lag99 }) => lag99 ?? []);
  if (values.length === 0) return null;
  const span = latencySpanLength(timeline);
  const rows = binned(timeline, span);
  /** @type {RowSeries<Bin>['value']} undefined: nothing was due */
  const lagOf = ({ rows: seconds }) => {
    const lags = seconds.flatMap(({ lag99 }) => lag99 ?? []);
    if (lags.length > 0) return Math.max(...lags);
    return seconds.every(({ due }) => due === 0) ? undefined : null;
  };
  return timeChart({
    run,
    setting,
    summary: [
      `Each second, 99 % of requests were sent within this time of when they were due: ${between(values, formatLatency)}.`,
      span > 1 ? `The line is the largest of each ${formatDuration(span * 1000)}.` : '',
      'A lag that grows is a backlog: the target took less than was offered.',
    ],
    rows,
    series: [{ name: 'p99 of the send lag', style: 5, value: lagOf }],
    yAxis: valueAxis('ms', 'send lag', values),
    text: formatLatency,
  });
}
