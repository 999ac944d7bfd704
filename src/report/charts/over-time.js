/** Charts over the time of a run: response times, rates, errors, send lag. */
import { formatCount, formatDuration, formatLatency } from '../../common/units.js';
import { latencySpanLength, latencySpans } from '../../result/latency-spans.js';
import { between, counted, extent, joined, perHourText, perSecondText } from '../describe/words.js';
import { compactLabel, linearAxis, timeAxis, valueAxis } from './axes.js';
import { drawChart } from './chart.js';

/** @import { Result, TimelineRow } from '../../result/schema.js' */
/** @import { Declaration, Drawn } from './chart.js' */
/** @import { Place, Setting } from './frame.js' */
/** @import { Level, Look } from './lines.js' */

/** @typedef {{second: number, span: number}} Moment `span` seconds from `second` on */
/** @typedef {Moment & {rows: TimelineRow[]}} Bin */
/**
 * @template Row
 * @typedef {Look & {name: string, value: (row: Row) => number | null | undefined}} RowSeries null is a gap, and the line skips undefined
 */

/** A line of more moments shares pixels: it becomes an area. */
const DENSE_FROM = 130;
const DENSE_NOTE =
  'Where seconds share a pixel, the area spans their smallest to largest value, and the line follows the median.';
const AFTER_NOTE = 'Shaded: the wait for the last responses.';

/**
 * @template {Moment} Row
 * @param {Pick<Declaration, 'setting' | 'yAxis' | 'text' | 'levels' | 'drawBars'> & {run: Result, summary: (string | false)[], rows: Row[], series: RowSeries<Row>[]}} parts `rows` in order, without a gap
 * @returns {Drawn}
 */
function timeChart({ run, rows, series, summary, ...parts }) {
  const seconds = endOf(rows);
  const { windowSeconds = 0, stages = [] } = run;
  const isDense = rows.length > DENSE_FROM && parts.drawBars === undefined;
  const hasAfter = windowSeconds > 0 && windowSeconds < seconds - 0.5 && parts.drawBars === undefined;
  const under = (/** @type {Place} */ { x, right, top, bottom }) =>
    `<rect class="after" x="${x(windowSeconds)}" y="${top}" width="${(right - x(windowSeconds)).toFixed(1)}" height="${bottom - top}"/>`;
  return drawChart({
    ...parts,
    summary: joined([...summary, isDense && DENSE_NOTE, hasAfter && AFTER_NOTE], ' '),
    xAxis: timeAxis(seconds),
    heading: 'Time',
    moments: rows.map((row) => ({ name: momentName(row, seconds), x: row.second + row.span / 2 })),
    series: series.map(({ value, ...look }) => ({
      mark: isDense ? 'dense' : undefined,
      ...look,
      values: rows.map(value),
    })),
    uprights: stages.map(({ name, startSeconds }) => ({ name, x: startSeconds })),
    under: hasAfter ? under : undefined,
  });
}

/** @param {Moment[]} rows at least one @returns {number} seconds from the start of the run to the end of the last */
function endOf(rows) {
  const { second, span } = rows[rows.length - 1];
  return second + span;
}

/** Longer runs use the clock. */
const LONGEST_IN_SECONDS = 180;

/**
 * @param {Moment} moment @param {number} seconds length of the run
 * @returns {string} `second 12`, `seconds 10 to 19`, `0:05:22`, `11:00:00 to 11:14:59`
 */
export function momentName({ second, span }, seconds) {
  const isLong = seconds > LONGEST_IN_SECONDS;
  const ends = [second, ...(span === 1 ? [] : [second + span - 1])].map(isLong ? clockText : formatCount);
  return `${isLong ? '' : span === 1 ? 'second ' : 'seconds '}${ends.join(' to ')}`;
}

/** @param {number} second @returns {string} `0:03:20` */
function clockText(second) {
  const twoDigits = (/** @type {number} */ value) => String(Math.floor(value)).padStart(2, '0');
  const hours = formatCount(Math.floor(second / 3600));
  return `${hours}:${twoDigits((second % 3600) / 60)}:${twoDigits(second % 60)}`;
}

/** To add up over, in seconds. */
const SPANS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400];

/** @param {number} seconds @param {number} most @returns {number} seconds to add up over, for at most `most` sums */
export function spanFor(seconds, most) {
  return SPANS.find((span) => Math.ceil(seconds / span) <= most) ?? Math.ceil(seconds / most);
}

/** @template Row @param {Row[]} rows one a second @param {number} span seconds; the last bin may be shorter */
export function binned(rows, span) {
  return Array.from({ length: Math.ceil(rows.length / span) }, (_, i) => {
    const part = rows.slice(i * span, (i + 1) * span);
    return { second: i * span, span: part.length, rows: part };
  });
}

/** @template Row @param {Row[]} rows @param {(row: Row) => number} read */
function sumOf(rows, read) {
  return rows.reduce((sum, row) => sum + read(row), 0);
}

/** @typedef {ReturnType<typeof latencySpans>[number]} LatencySpan */

/** @type {(Look & {key: 'p50' | 'p90' | 'p99' | 'max'})[]} */
const LATENCY_SERIES = [
  { key: 'p50', style: 1 },
  { key: 'p90', style: 3 },
  { key: 'p99', style: 2 },
  { key: 'max', style: 4 },
];

/** Of limits of anything but a series. */
const OTHER_STYLE = 6;

const MOST_LIMITS = 3;

/** Limits beyond this multiple of the measured range would flatten the lines; they are left out. */
const LIMIT_REACH = 3;

/** @param {Result} run @param {Setting} setting @returns {Drawn | null} null where no response came */
export function latencyOverTime(run, setting) {
  if (!run.timeline.some(({ max }) => max !== null)) return null;
  const rows = latencySpans(run.timeline);
  const series = latencySeries(rows);
  const values = series.flatMap(({ value }) => rows.flatMap((row) => value(row) ?? []));
  const levels = limitsOf(run.requirements, extent(values));
  const yAxis = valueAxis('ms', 'response time', [...values, ...levels.map(({ value }) => value)]);
  return timeChart({
    run,
    setting,
    summary: latencySummary(rows),
    rows,
    series,
    levels,
    yAxis,
    text: formatLatency,
  });
}

/**
 * Neighbours with the same values are one, as p99 and max of fewer than 100 responses: `p99 = max`.
 * @param {LatencySpan[]} rows @returns {RowSeries<LatencySpan>[]} skipped where no response was due
 */
function latencySeries(rows) {
  /** @type {(typeof LATENCY_SERIES[number] & {name: string})[]} */
  const series = [];
  for (const one of LATENCY_SERIES) {
    const before = series.at(-1);
    if (!rows.some((row) => typeof row[one.key] === 'number')) continue;
    if (before !== undefined && rows.every((row) => row[before.key] === row[one.key]))
      before.name += ` = ${one.key}`;
    else series.push({ ...one, name: one.key });
  }
  return series.map(({ key, ...look }) => ({ ...look, value: (row) => (row.idle ? undefined : row[key]) }));
}

/**
 * Limits on the response time of the whole run: a line across applies to all of it.
 * @param {Result['requirements']} requirements
 * @param {[number, number]} measured smallest and largest, milliseconds @returns {Level[]}
 */
function limitsOf(requirements, [low, high]) {
  return requirements
    .filter(
      ({ unit, text, operation, stage }) => unit === 'ms' && !text.includes('(') && !operation && !stage,
    )
    .filter(({ limit }) => limit > 0 && limit <= high * LIMIT_REACH && limit >= low / LIMIT_REACH)
    .slice(0, MOST_LIMITS)
    .map(({ text, limit }) => {
      const [metric] = text.split(/[<>]/);
      const style = LATENCY_SERIES.find(({ key }) => key === metric)?.style ?? OTHER_STYLE;
      const label = text.replace(/[<>]=?/, ' $& ');
      return { name: `limit: ${text}`, label, style, mark: 'limit', value: limit };
    });
}

/** @param {LatencySpan[]} rows with at least one response */
function latencySummary(rows) {
  const worst = rows.reduce((longest, row) => ((row.max ?? -1) > (longest.max ?? -1) ? row : longest));
  const silent = rows.filter(({ answers, idle }) => answers === 0 && !idle).length;
  const [{ span }] = rows;
  const [p50, p99] = /** @type {const} */ (['p50', 'p99']).map((key) =>
    between(
      rows.map((row) => row[key]),
      formatLatency,
    ),
  );
  const spans = counted(rows.length, span === 1 ? 'second' : 'span');
  return [
    `${span === 1 ? 'Each second' : `Over ${formatDuration(span * 1000)} each`}, p50 was ${p50} and p99 ${p99}.`,
    `The longest response took ${formatLatency(Number(worst.max))} (${momentName(worst, endOf(rows))}).`,
    silent > 0 && `No response came in ${formatCount(silent)} of ${spans}, the gaps in the lines.`,
  ];
}

/** Requests in a span, on average: fewer would make the lines jump between 0 and 1. */
const [FEWEST_IN_SPAN, FEWEST_SPANS] = [5, 5];

/** Below one request per second, rates are per hour, as users write them. */
const PER_SECOND = { noun: 'second', seconds: 1, text: perSecondText };
const PER_HOUR = {
  noun: 'hour',
  seconds: 3600,
  text: (/** @type {number} */ value) => `${perHourText(value)}/h`,
};

/** The first is broad, to be seen below the others. */
const RATE_SERIES = /** @type {const} */ ([
  { name: 'offered', key: 'due', style: 6, mark: 'track' },
  { name: 'sent', key: 'sent', style: 2, mark: 'over' },
  { name: 'succeeded', key: 'succeeded', style: 1, mark: 'under' },
]);

/** @param {Result} run @param {Setting} setting @returns {Drawn | null} null where no request was sent */
export function rates(run, setting) {
  const { timeline, totals, load } = run;
  if (totals.sent === 0 || timeline.length === 0) return null;
  const average = totals.sent / timeline.length;
  const { noun, seconds, text } = Math.max(average, load.ratePerSecond ?? 0) < 1 ? PER_HOUR : PER_SECOND;
  const longest = Math.max(1, Math.floor(timeline.length / FEWEST_SPANS));
  const wanted = Math.min(Math.ceil(FEWEST_IN_SPAN / average), longest);
  const rows = binned(timeline, Math.min(spanFor(wanted, 1), longest));
  const [{ span }] = rows;
  // Results of older versions have no requests due.
  const shown = timeline.some(({ due }) => due !== undefined) ? RATE_SERIES : RATE_SERIES.slice(1);
  const series = shown.map(({ key, ...look }) => ({
    ...look,
    value: (/** @type {Bin} */ bin) => (sumOf(bin.rows, (row) => row[key] ?? 0) * seconds) / bin.span,
  }));
  const [, high] = extent(series.flatMap(({ value }) => rows.map(value)));
  const isOpen = load.model === 'open';
  return timeChart({
    run,
    setting,
    summary: [
      `Requests: ${isOpen ? `${formatCount(totals.planned)} planned, ` : ''}${formatCount(totals.sent)} sent and ${formatCount(totals.succeeded)} succeeded.`,
      isOpen &&
        'Where the lines part, requests waited, failed or were not sent; succeeded above offered is a backlog being worked off.',
      span > 1 && `Averages over ${formatDuration(span * 1000)} each.`,
    ],
    rows,
    series,
    yAxis: linearAxis({ title: `requests per ${noun}`, high, label: compactLabel }),
    text,
  });
}

const MOST_BARS = 100;

/** Of the most frequent outcomes; the others are one more. */
const OUTCOME_STYLES = [2, 4, 1, 5, 3];

/** @param {Bin} bin */
function failedIn({ rows }) {
  return sumOf(rows, ({ failed }) => failed);
}

/** Failed requests, stacked by outcome. @param {Result} run @param {Setting} setting @returns null where none failed */
export function errors(run, setting) {
  const { timeline, totals } = run;
  const failed = sumOf(timeline, (row) => row.failed);
  if (failed === 0) return null;
  const rows = binned(timeline, spanFor(timeline.length, MOST_BARS));
  const [{ span }] = rows;
  const series = outcomeSeries(timeline);
  const worst = rows.reduce((most, bin) => (failedIn(bin) > failedIn(most) ? bin : most));
  const [high, when] = [failedIn(worst), momentName(worst, timeline.length)];
  const unsent = totals.dropped + totals.neverSentDue;
  const title = span === 1 ? 'errors per second' : `errors in each ${formatDuration(span * 1000)}`;
  return timeChart({
    run,
    setting,
    summary: [
      `${counted(failed, 'request')} failed, the most in ${when}: ${formatCount(high)}.`,
      unsent > 0 && `Not drawn: ${counted(unsent, 'request')} dropped or never sent.`,
    ],
    rows,
    series,
    drawBars: (place) => stackedBars(rows, series, place),
    yAxis: linearAxis({ title, high, label: compactLabel, isWhole: true }),
    text: formatCount,
  });
}

/** @param {TimelineRow[]} timeline the most frequent outcomes first; the others, and those without a name, are one */
function outcomeSeries(timeline) {
  /** @type {Map<string, number>} */
  const totals = new Map();
  for (const { failures = {} } of timeline)
    for (const [name, count] of Object.entries(failures)) totals.set(name, (totals.get(name) ?? 0) + count);
  const names = [...totals.keys()].sort((a, b) => Number(totals.get(b)) - Number(totals.get(a)));
  const named = names.slice(0, OUTCOME_STYLES.length).map((name, i) => ({
    name,
    style: OUTCOME_STYLES[i],
    value: (/** @type {Bin} */ { rows }) => sumOf(rows, (row) => failedWith(row, name)),
  }));
  const rest = (/** @type {Bin} */ bin) =>
    Math.max(0, failedIn(bin) - sumOf(named, ({ value }) => value(bin)));
  const hasRest = rest({ second: 0, span: timeline.length, rows: timeline }) > 0;
  const other = { name: named.length === 0 ? 'failed' : 'other', style: 6, value: rest };
  return hasRest ? [...named, other] : named;
}

/** @param {TimelineRow} row @param {string} name of an outcome, which may be that of a property of every object */
function failedWith({ failures = {} }, name) {
  return Object.hasOwn(failures, name) ? failures[name] : 0;
}

/**
 * @param {Bin[]} bins @param {ReturnType<typeof outcomeSeries>} series @param {Place} place
 * @returns {string[]} a path per series
 */
function stackedBars(bins, series, { x, y }) {
  const below = bins.map(() => 0);
  return series.map(({ style, value }) => {
    const paths = bins.map((bin, i) => {
      const count = value(bin);
      if (count === 0) return '';
      const [left, right] = [x(bin.second), x(bin.second + bin.span)];
      const gap = right - left > 4 ? 0.5 : 0;
      const bottom = y(below[i]);
      below[i] += count;
      // At least a pixel high.
      const top = Math.min(y(below[i]), bottom - 1);
      return `M${left + gap} ${bottom}V${top}H${right - gap}V${bottom}Z`;
    });
    return `<path class="fill s${style}" d="${paths.join('')}"/>`;
  });
}

/** @param {Result} run @param {Setting} setting @returns null where no request was sent, and in older results */
export function sendLag(run, setting) {
  const { timeline } = run;
  const values = timeline.flatMap(({ lag99 }) => lag99 ?? []);
  if (values.length === 0) return null;
  const span = latencySpanLength(timeline);
  /** @type {RowSeries<Bin>['value']} undefined: nothing was due */
  const lagOf = ({ rows }) => {
    const [, high] = extent(rows.map(({ lag99 }) => lag99));
    if (high >= 0) return high;
    return rows.every(({ due }) => due === 0) ? undefined : null;
  };
  return timeChart({
    run,
    setting,
    summary: [
      `Each second, 99 % of requests were sent within this time of when they were due: ${between(values, formatLatency)}.`,
      span > 1 && `The line is the largest of each ${formatDuration(span * 1000)}.`,
      'A lag that grows is a backlog: the target took less than was offered.',
    ],
    rows: binned(timeline, span),
    series: [{ name: 'p99 of the send lag', style: 5, value: lagOf }],
    yAxis: valueAxis('ms', 'send lag', values),
    text: formatLatency,
  });
}
