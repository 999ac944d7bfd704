/** Requests offered, sent and succeeded over the time of a run. */
import { total } from '../../common/sums.js';
import { formatCount, formatDuration } from '../../common/units.js';
import { extent, perHourText, perSecondText } from '../describe/words.js';
import { compactLabel, linearAxis } from './axes.js';
import { binned, timeChart } from './time-chart.js';

/** @import { Result } from '../../result/schema.js' */
/** @import { Setting } from './frame.js' */
/** @import { Bin } from './time-chart.js' */

/** The last is wide, to show behind the others. */
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
  const rows = binned(timeline);
  const [{ span }] = rows;
  // Results of older versions have no requests due.
  const shown = timeline.some(({ due }) => due !== undefined) ? SERIES : SERIES.slice(0, -1);
  const series = shown.map(({ key, ...look }) => ({
    ...look,
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
        'Where succeeded is below offered, requests waited, failed or were not sent; above, a backlog was cleared.',
      span > 1 && `Averages over ${formatDuration(span * 1000)} each.`,
    ],
    yAxis: linearAxis({ title, high, label: compactLabel }),
    text: isPerHour ? (value) => `${perHourText(value)}/h` : perSecondText,
  });
}
