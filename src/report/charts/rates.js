/** Requests offered, sent and succeeded over the time of a run. */
import { formatCount, formatDuration } from '../../common/units.js';
import { extent, perHourText, perSecondText } from '../describe/words.js';
import { compactLabel, linearAxis } from './axes.js';
import { binned, spanFor, sumOf, timeChart } from './time-chart.js';

/** @import { Result } from '../../result/schema.js' */
/** @import { Setting } from './frame.js' */
/** @import { Bin } from './time-chart.js' */

/** Requests in a span, on average: fewer would make the lines jump between 0 and 1. */
const [FEWEST_IN_SPAN, FEWEST_SPANS] = [5, 5];

/** The first is broad, to be seen below the others. */
const SERIES = /** @type {const} */ ([
  { name: 'offered', key: 'due', style: 6, mark: 'track' },
  { name: 'sent', key: 'sent', style: 2, mark: 'over' },
  { name: 'succeeded', key: 'succeeded', style: 1, mark: 'under' },
]);

/** @param {Result} run @param {Setting} setting @returns null where no request was sent */
export function rates(run, setting) {
  const { timeline, totals, load } = run;
  if (totals.sent === 0 || timeline.length === 0) return null;
  const average = totals.sent / timeline.length;
  // Below one request per second, rates are per hour, as users write them.
  const isPerHour = Math.max(average, load.ratePerSecond ?? 0) < 1;
  const seconds = isPerHour ? 3600 : 1;
  const longest = Math.max(1, Math.floor(timeline.length / FEWEST_SPANS));
  const span = Math.min(spanFor(Math.ceil(FEWEST_IN_SPAN / average), 1), longest);
  const rows = binned(timeline, span);
  // Results of older versions have no requests due.
  const shown = timeline.some(({ due }) => due !== undefined) ? SERIES : SERIES.slice(1);
  const series = shown.map(({ key, ...look }) => ({
    ...look,
    value: (/** @type {Bin} */ bin) => (sumOf(bin.rows, (row) => row[key] ?? 0) * seconds) / bin.span,
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
        'Where the lines part, requests waited, failed or were not sent; succeeded above offered is a backlog being worked off.',
      span > 1 && `Averages over ${formatDuration(span * 1000)} each.`,
    ],
    yAxis: linearAxis({ title, high, label: compactLabel }),
    text: isPerHour ? (value) => `${perHourText(value)}/h` : perSecondText,
  });
}
