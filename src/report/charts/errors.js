/** Failed requests over the time of a run, stacked by outcome. */
import { sumRecords, total } from '../../common/sums.js';
import { formatCount, formatDuration } from '../../common/units.js';
import { counted } from '../describe/words.js';
import { compactLabel, linearAxis } from './axes.js';
import { binned, momentName, timeChart } from './time-chart.js';

/** @import { Result } from '../../result/schema.js' */
/** @import { Setting } from './frame.js' */
/** @import { Bin } from './time-chart.js' */

/** Colours of the most frequent outcomes; the others share one. */
const STYLES = [2, 4, 1, 5, 3];

/** @param {Bin} bin */
function failedIn({ rows }) {
  return total(rows.map(({ failed }) => failed));
}

/** @param {Result} run @param {Setting} setting @returns null if none failed */
export function errors(run, setting) {
  const { timeline, totals } = run;
  const rows = binned(timeline);
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
      `${counted(failed, 'request')} failed, the most in ${when}: ${formatCount(high)}.`,
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
