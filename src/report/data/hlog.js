/**
 * An HdrHistogram interval log, format 1.3, as HistogramLogReader and HistogramLogProcessor of HdrHistogram's Java read it:
 * `[Tag=T,]start,length,max,histogram`, start and length in seconds, the histogram V2 compressed and base64.
 *
 * - Starts are relative. A reader takes them for absolute unless they are a year before StartTime, or a BaseTime is given:
 *   it is.
 * - A reader of a range stops at the first start behind it, so starts never go down: what covers the whole run stands first.
 * - Service time and send lag are known of the whole run only: one interval each, tagged. HistogramLogProcessor leaves
 *   tagged intervals out unless it gets -tag service, so by default it adds up the response times, and those alone.
 * - Histograms are in microseconds, and max is in milliseconds (the reader skips it). HistogramLogProcessor takes values
 *   for nanoseconds and divides by 1,000,000 to print milliseconds; -outputValueUnitRatio 1000 makes that right.
 */
import { createHistogram, encodeHistogram } from '../../common/histogram.js';
import { formatCount } from '../../common/units.js';
import { FINE_SECONDS } from '../../engine/recording/spans.js';
import { subjectPhrase } from '../describe/words.js';

/** @import { Result } from '../../result/schema.js' */

/**
 * @typedef {{tag?: string, start: number, seconds: number, max: number | null, histogram: string | null}} Interval max in ms
 */

const UNITS =
  'Values are in microseconds, Interval_Max in milliseconds: HistogramLogProcessor -outputValueUnitRatio 1000';
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
  // Requests that were due and never sent belong to the response times of the run, but to no second of it.
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
        `The last interval is no second of the run: ${formatCount(count)} requests, due and never sent, by the age they reached`,
    ),
  ].map((text) => `#${text}`);
  const responses = isBySecond(result) ? secondIntervals(result) : [{ ...whole, ...latencyMs.response }];
  return `${[...comments, LEGEND, ...[...tagged, ...responses, ...last].map(intervalLine)].join('\n')}\n`;
}

/** @param {Result} result @returns one a second in the first hour; then seconds share one (engine/recording/spans.js) */
function secondIntervals({ timeline }) {
  return timeline.flatMap(({ second, histogram = null, histogramSeconds: seconds = 1 }) => {
    if (histogram === null && second >= FINE_SECONDS) return [];
    const start = second + 1 - seconds;
    const max = Math.max(...timeline.slice(start, second + 1).map((row) => row.max ?? 0));
    return [{ start, seconds, max, histogram }];
  });
}

/** @param {Result} result @returns {boolean} whether it has histograms by the second, as older ones do not */
function isBySecond({ timeline }) {
  return timeline
    .slice(0, FINE_SECONDS)
    .every(({ succeeded, failed, histogram }) => succeeded + failed === 0 || typeof histogram === 'string');
}

/** @param {Interval} interval */
function intervalLine({ tag, start, seconds, max, histogram }) {
  const times = [start, seconds, max ?? 0].map((value) => value.toFixed(3));
  const fields = [...times, histogram ?? encodeHistogram(createHistogram())];
  return (tag === undefined ? fields : [`Tag=${tag}`, ...fields]).join(',');
}
