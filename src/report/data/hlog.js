/**
 * An HdrHistogram interval log, format 1.3, as HistogramLogReader and HistogramLogProcessor of HdrHistogram's Java read it:
 * `[Tag=T,]start,length,max,histogram`, start and length in seconds, the histogram V2 compressed and base64.
 *
 * - Starts are relative, so there is a BaseTime: without it, a reader treats starts as absolute unless they are a year before
 *   StartTime.
 * - A reader of a time range stops at the first start beyond it, so starts never decrease: the whole run comes first.
 * - Service time and send lag, which have no figures per second, are one tagged interval each. HistogramLogProcessor
 *   omits them without -tag, so by default it adds up the response times alone.
 * - Histograms are in microseconds, and max is in milliseconds (the reader skips it). HistogramLogProcessor reads
 *   nanoseconds and prints milliseconds unless it gets -outputValueUnitRatio 1000.
 */
import { createHistogram, encodeHistogram } from '../../common/histogram.js';
import { formatCount } from '../../common/units.js';
import { FINE_SECONDS } from '../../engine/recording/spans.js';
import { subjectPhrase } from '../describe/words.js';

/** @import { Result } from '../../result/schema.js' */

/** @typedef {{tag?: string, start: number, seconds: number, max: number | null, histogram: string | null}} Interval */

const UNITS =
  'Values are in microseconds, Interval_Max in milliseconds; use HistogramLogProcessor -outputValueUnitRatio 1000';
const TAGS =
  'Without a tag: response times. Tag=service and Tag=sendLag: service times and send lag of the whole run';
const LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"';

/** @param {Result} result @returns {string} ends with a newline */
export function render(result) {
  const { startedAt, tool, timeline, latencyMs, durationSeconds, outcomeDetails } = result;
  const time = `${(Date.parse(startedAt) / 1000).toFixed(3)} (seconds since epoch)`;
  const whole = { start: 0, seconds: durationSeconds };
  const tagged = [
    { tag: 'service', ...whole, ...latencyMs.service },
    { tag: 'sendLag', ...whole, ...latencyMs.sendLag },
  ];
  // Requests that were never sent count in the response times of the run, but belong to no second.
  const neverSent = outcomeDetails.never_sent?.latencyMs.response;
  const hasNeverSent = isBySecond(result) && neverSent !== undefined && neverSent.count > 0;
  const last = hasNeverSent ? [{ start: timeline.length, seconds: 1, ...neverSent }] : [];
  const comments = [
    `vault-pki-load ${tool.version}: ${subjectPhrase(result)}`,
    '[Histogram log format version 1.3]',
    `[StartTime: ${time}, ${startedAt}]`,
    `[BaseTime: ${time}]`,
    UNITS,
    TAGS,
    ...last.map(
      ({ count }) =>
        `The last interval is not a second of the run: it has ${formatCount(count)} requests that were never sent, with their age at the end`,
    ),
  ].map((text) => `#${text}`);
  const responses = isBySecond(result) ? secondIntervals(result) : [{ ...whole, ...latencyMs.response }];
  return `${[...comments, LEGEND, ...[...tagged, ...responses, ...last].map(intervalLine)].join('\n')}\n`;
}

/** @param {Result} result @returns one per second in the first ten minutes, then one per several seconds (engine/recording/spans.js) */
function secondIntervals({ timeline }) {
  return timeline.flatMap(({ second, histogram = null, histogramSeconds: seconds = 1 }) => {
    if (histogram === null && second >= FINE_SECONDS) return [];
    const start = second + 1 - seconds;
    const rows = timeline.slice(start, second + 1);
    const max = rows.reduce((highest, row) => Math.max(highest, row.max ?? 0), 0);
    return [{ start, seconds, max, histogram }];
  });
}

/** @param {Result} result @returns {boolean} older results have no histograms per second */
function isBySecond({ timeline }) {
  return timeline
    .slice(0, FINE_SECONDS)
    .every(({ succeeded, failed, histogram }) => succeeded + failed === 0 || typeof histogram === 'string');
}

/** @param {Interval} interval `max` in ms */
function intervalLine({ tag, start, seconds, max, histogram }) {
  const times = [start, seconds, max ?? 0].map((value) => value.toFixed(3));
  const fields = [...times, histogram ?? encodeHistogram(createHistogram())];
  return (tag === undefined ? fields : [`Tag=${tag}`, ...fields]).join(',');
}
