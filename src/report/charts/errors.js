/** Failed requests over the time of a run, stacked by outcome. */
import { formatCount, formatDuration } from '../../common/units.js';
import { counted } from '../describe/words.js';
import { compactLabel, linearAxis } from './axes.js';
import { binned, momentName, spanFor, sumOf, timeChart } from './time-chart.js';

/** @import { Result, TimelineRow } from '../../result/schema.js' */
/** @import { Place, Setting } from './frame.js' */
/** @import { Bin } from './time-chart.js' */

const MOST_BARS = 100;

/** Of the most frequent outcomes; the others are one more. */
const STYLES = [2, 4, 1, 5, 3];

/** @param {Bin} bin */
function failedIn({ rows }) {
  return sumOf(rows, ({ failed }) => failed);
}

/** @param {Result} run @param {Setting} setting @returns null where none failed */
export function errors(run, setting) {
  const { timeline, totals } = run;
  const failed = sumOf(timeline, (row) => row.failed);
  if (failed === 0) return null;
  const span = spanFor(timeline.length, MOST_BARS);
  const rows = binned(timeline, span);
  const series = outcomeSeries(timeline);
  const worst = rows.reduce((most, bin) => (failedIn(bin) > failedIn(most) ? bin : most));
  const [high, when] = [failedIn(worst), momentName(worst, timeline.length)];
  const unsent = totals.dropped + totals.neverSentDue;
  const title = span === 1 ? 'errors per second' : `errors in each ${formatDuration(span * 1000)}`;
  return timeChart({
    ...{ run, setting, rows, series },
    summary: [
      `${counted(failed, 'request')} failed, the most in ${when}: ${formatCount(high)}.`,
      unsent > 0 && `Not drawn: ${counted(unsent, 'request')} dropped or never sent.`,
    ],
    drawBars: (place) => stackedBars(rows, series, place),
    yAxis: linearAxis({ title, high, label: compactLabel, isWhole: true }),
    text: formatCount,
  });
}

/** @param {TimelineRow[]} timeline the most frequent outcomes first; the others, and those without a name, are one */
function outcomeSeries(timeline) {
  /** @type {Map<string, number>} */
  const totals = new Map();
  for (const [name, count] of timeline.flatMap(({ failures = {} }) => Object.entries(failures)))
    totals.set(name, (totals.get(name) ?? 0) + count);
  const names = [...totals].sort(([, a], [, b]) => b - a).slice(0, STYLES.length);
  const named = names.map(([name], i) => ({
    name,
    style: STYLES[i],
    // The name may be that of a property of every object.
    value: (/** @type {Bin} */ { rows }) =>
      sumOf(rows, ({ failures = {} }) => (Object.hasOwn(failures, name) ? failures[name] : 0)),
  }));
  const rest = (/** @type {Bin} */ bin) =>
    Math.max(0, failedIn(bin) - sumOf(named, ({ value }) => value(bin)));
  if (rest({ second: 0, span: timeline.length, rows: timeline }) === 0) return named;
  return [...named, { name: named.length === 0 ? 'failed' : 'other', style: 6, value: rest }];
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
