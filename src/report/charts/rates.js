/** Requests over the time of a run: offered, sent and succeeded; and the failed ones, stacked by outcome. */
import { sumRecords, total } from '../../common/sums.js';
import { formatCount, formatDuration } from '../../common/units.js';
import { toBins } from '../../result/latency-spans.js';
import { counted, extent, perHourText, perSecondText } from '../describe/words.js';
import { compactLabel, linearAxis } from './axes.js';
import { momentName, timeChart } from './time-chart.js';

/** @import { Bin } from '../../result/latency-spans.js' */
/** @import { Result } from '../../result/schema.js' */
/** @import { Setting } from './frame.js' */

/** The last line is wide, to show behind the others. */
const SERIES = /** @type {const} */ ([
  { name: 'sent', key: 'sent', style: 2, mark: 'over' },
  { name: 'succeeded', key: 'succeeded', style: 1, mark: 'under' },
  { name: 'offered', key: 'due', style: 6, mark: 'track' },
]);

/** @param {Result} run @param {Setting} setting @returns null where no request was sent */
export function rates(run, setting) {
  const { timeline, totals, load } = run;
  if (totals.sent === 0 || timeline.length === 0) return null;
  // Below one request per second, rates are per hour, as users write them.
  const isPerHour = Math.max(totals.sent / timeline.length, load.ratePerSecond ?? 0) < 1;
  const rows = toBins(timeline);
  const [{ span }] = rows;
  // Older results lack the number of requests due.
  const shown = timeline.some(({ due }) => due !== undefined) ? SERIES : SERIES.slice(0, -1);
  const series = shown.map(({ key, ...lineStyle }) => ({
    ...lineStyle,
    value: (/** @type {Bin} */ bin) =>
      (total(bin.rows.map((row) => row[key] ?? 0)) * (isPerHour ? 3600 : 1)) / bin.span,
  }));
  const [, high] = extent(series.flatMap(({ value }) => rows.map(value)));
  const isOpen = load.model === 'open';
  const planned = isOpen ? `${formatCount(totals.planned)} planned, ` : '';
  const title = `requests per ${isPerHour ? 'hour' : 'second'}`;
  return timeChart({
    ...{ run, setting, rows, series },
    summary: [
      `Requests: ${planned}${formatCount(totals.sent)} sent and ${formatCount(totals.succeeded)} succeeded.`,
      isOpen &&
        'Where succeeded is below offered, requests waited, failed or were not sent; where above, a backlog cleared.',
      span > 1 && `Averages over spans of ${formatDuration(span * 1000)}.`,
    ],
    yAxis: linearAxis({ title, high, label: compactLabel }),
    text: isPerHour ? (value) => `${perHourText(value)}/h` : perSecondText,
  });
}

/** Colours of the most frequent outcomes; the others share one. */
const STYLES = [2, 4, 1, 5, 3];

/** @param {Bin} bin */
const failedIn = ({ rows }) => total(rows.map(({ failed }) => failed));

/** @param {Result} run @param {Setting} setting @returns null if none failed */
export function errors(run, setting) {
  const { timeline, totals } = run;
  const rows = toBins(timeline);
  const failed = total(rows.map(failedIn));
  if (failed === 0) return null;
  const [{ span }] = rows;
  const series = outcomeSeries(rows);
  const worst = rows.reduce((most, bin) => (failedIn(bin) > failedIn(most) ? bin : most));
  const [high, when] = [failedIn(worst), momentName(worst, timeline.length)];
  const unsent = totals.dropped + totals.neverSentDue;
  const title = span === 1 ? 'errors per second' : `errors in each ${formatDuration(span * 1000)}`;
  return timeChart({
    ...{ run, setting, rows },
    series: series.map((one) => ({ ...one, mark: 'stacked' })),
    summary: [
      `${counted(failed, 'request')} failed; the peak was ${formatCount(high)} in ${when}.`,
      unsent > 0 && `Not drawn: ${counted(unsent, 'request')} dropped or never sent.`,
    ],
    yAxis: linearAxis({ title, high, label: compactLabel, isWhole: true }),
    text: formatCount,
  });
}

/** @param {Bin[]} bins @returns the most frequent outcomes first; the others, and failures without a name, are one series */
function outcomeSeries(bins) {
  const countsOf = (/** @type {Bin['rows']} */ rows) =>
    new Map(Object.entries(sumRecords(rows.map(({ failures = {} }) => failures))));
  const all = [...countsOf(bins.flatMap(({ rows }) => rows))].sort(([, a], [, b]) => b - a);
  const named = all.slice(0, STYLES.length).map(([name], i) => ({
    name,
    style: STYLES[i],
    value: (/** @type {Bin} */ { rows }) => countsOf(rows).get(name) ?? 0,
  }));
  const rest = (/** @type {Bin} */ bin) =>
    Math.max(0, failedIn(bin) - total(named.map(({ value }) => value(bin))));
  if (bins.every((bin) => rest(bin) === 0)) return named;
  return [...named, { name: named.length === 0 ? 'failed' : 'other', style: 6, value: rest }];
}
