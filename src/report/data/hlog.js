/**
 * An HdrHistogram interval log, format 1.3, as HistogramLogReader and HistogramLogProcessor of HdrHistogram's Java read it:
 * `[Tag=T,]start,length,max,histogram`, start and length in seconds, the histogram V2 compressed and base64.
 *
 * - Starts are relative. A reader takes them for absolute unless they are a year before StartTime, or a BaseTime is given:
 *   it is.
 * - A reader asked for a range stops at the first start behind it, so starts never go down: what covers the whole run
 *   stands first.
 * - Service time and send lag are known of the whole run only: one interval each, tagged. HistogramLogProcessor leaves
 *   tagged intervals out unless asked (-tag service), so by default it adds up the response times, and those alone.
 * - Histograms are in microseconds, and max is in milliseconds (the reader skips it). HistogramLogProcessor takes values
 *   for nanoseconds and divides by 1,000,000 to print milliseconds; -outputValueUnitRatio 1000 makes that right.
 */
import { createHistogram, encodeHistogram } from '../../common/histogram.js';
import { formatCount } from '../../common/units.js';
import { FINE_SECONDS } from '../../engine/recording/spans.js';
import { subjectPhrase } from '../describe/words.js';
import { clean } from '../layout.js';

/** @import { Result } from '../../result/schema.js' */

/** @typedef {{tag?: string, start: number, seconds: number, maxMs: number | null, histogram: string | null}} Interval */

const UNITS =
  'Values are in microseconds, Interval_Max in milliseconds: HistogramLogProcessor -outputValueUnitRatio 1000';
const TAGS =
  'Without a tag: response times. Tag=service and Tag=sendLag: service times and send lag of the whole run';
const LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"';

/** @param {Result} result @returns {string} ends with a newline */
export function render(result) {
  const startedAt = `${(Date.parse(result.startedAt) / 1000).toFixed(3)} (seconds since epoch)`;
  const neverSent = neverSentIntervals(result);
  const comments = [
    `vault-pki-load ${result.tool.version}: ${subjectPhrase(result)}`,
    '[Histogram log format version 1.3]',
    `[StartTime: ${startedAt}, ${result.startedAt}]`,
    `[BaseTime: ${startedAt}]`,
    UNITS,
    TAGS,
    ...(neverSent.length === 0 ? [] : [neverSentComment(result)]),
  ].map((text) => `#${clean(text)}`);
  const intervals = [...wholeIntervals(result), ...responseIntervals(result), ...neverSent];
  return `${[...comments, LEGEND, ...intervals.map(intervalLine)].join('\n')}\n`;
}

/** @param {Result} result @returns {Interval[]} */
function wholeIntervals({ latencyMs, durationSeconds }) {
  return /** @type {const} */ (['service', 'sendLag']).map((tag) => {
    const { max: maxMs, histogram } = latencyMs[tag];
    return { tag, start: 0, seconds: durationSeconds, maxMs, histogram };
  });
}

/**
 * @param {Result} result
 * @returns {Interval[]} one a second, in the first hour (see engine/recording/spans.js); of an older result, which has no histograms by
 *   the second, one of the whole run
 */
function responseIntervals(result) {
  const { timeline, latencyMs, durationSeconds } = result;
  if (!isBySecond(result)) {
    const { max: maxMs, histogram } = latencyMs.response;
    return [{ start: 0, seconds: durationSeconds, maxMs, histogram }];
  }
  return timeline.flatMap(({ second, histogram = null, histogramSeconds = 1 }) => {
    if (histogram === null && second >= FINE_SECONDS) return [];
    const start = second + 1 - histogramSeconds;
    const longest = timeline.slice(start, second + 1).map(({ max }) => max ?? 0);
    return [{ start, seconds: histogramSeconds, maxMs: Math.max(...longest), histogram }];
  });
}

/**
 * Requests that were due and never sent belong to the response times of the run, but to no second of it: they are an
 * interval behind the last one.
 *
 * @param {Result} result
 * @returns {Interval[]} none where there are no such requests, or where the whole run is one interval that has them
 */
function neverSentIntervals(result) {
  const response = result.outcomeDetails.never_sent?.latencyMs.response;
  if (!isBySecond(result) || response === undefined || response.count === 0) return [];
  const { max: maxMs, histogram } = response;
  return [{ start: result.timeline.length, seconds: 1, maxMs, histogram }];
}

/** @param {Result} result */
function neverSentComment({ outcomeDetails }) {
  const { count } = outcomeDetails.never_sent;
  return `The last interval is no second of the run: ${formatCount(count)} requests, due and never sent, by the age they reached`;
}

/** @param {Result} result */
function isBySecond({ timeline }) {
  return timeline
    .slice(0, FINE_SECONDS)
    .every(({ succeeded, failed, histogram }) => succeeded + failed === 0 || typeof histogram === 'string');
}

/** @param {Interval} interval */
function intervalLine({ tag, start, seconds, maxMs, histogram }) {
  const times = [start, seconds, maxMs ?? 0].map((value) => value.toFixed(3));
  const fields = [...times, histogram ?? encodeHistogram(createHistogram())];
  return (tag === undefined ? fields : [`Tag=${tag}`, ...fields]).join(',');
}
