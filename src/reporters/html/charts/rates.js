/** What was offered against what was sent and what succeeded, over time. */
import { formatCount, formatDuration } from '../../../units.js';
import { counted, perSecondText } from '../../phrases.js';
import { countAxis } from '../axes.js';
import { emptyFigure } from '../parts.js';
import { binned, spanFor } from '../thin.js';
import { hasAfter, isDense, timeFigure } from '../time-figure.js';
import { AFTER_NOTE, DENSE_NOTE, extent, sentences } from '../words.js';

/** @typedef {import('../../../results/schema.js').Result} Result */
/** @typedef {import('../../../results/schema.js').TimelineRow} TimelineRow */
/** @typedef {{second: number, span: number, due: number, sent: number, succeeded: number}} RateRow per second */

const ID = 'rates';

/** So few requests a second are added up over longer spans: else the lines would jump between none and one. */
const FEWEST_IN_SPAN = 5;
const FEWEST_SPANS = 5;

/** Broad, so that it is seen where the others lie on it. */
const OFFERED = Object.freeze({ name: 'offered', style: 6, mark: 'track' });

/**
 * @param {Result} result
 * @returns {import('../time-figure.js').Drawn}
 */
export function rates({ timeline, totals, load, windowSeconds }) {
  const title = load.model === 'open' ? 'Offered and achieved rate' : 'Achieved rate';
  if (totals.sent === 0 || timeline.length === 0) {
    const summary = 'No request was sent: there is nothing to draw.';
    return { html: emptyFigure({ id: ID, title, summary }), charts: {} };
  }
  const rows = rateRows(timeline, spanOf(timeline, totals.sent));
  const hasDue = timeline.some(({ due }) => due !== undefined);
  const series = [
    ...(hasDue ? [{ ...OFFERED, value: (/** @type {RateRow} */ row) => row.due }] : []),
    { name: 'sent', style: 2, mark: 'over', value: (/** @type {RateRow} */ row) => row.sent },
    { name: 'succeeded', style: 1, mark: 'under', value: (/** @type {RateRow} */ row) => row.succeeded },
  ];
  const levels =
    !hasDue && load.ratePerSecond !== null && load.rampUpMs === 0
      ? [{ ...OFFERED, value: load.ratePerSecond }]
      : [];
  const [, high] = extent([
    ...series.flatMap(({ value }) => rows.map(value)),
    ...levels.map(({ value }) => value),
  ]);
  return timeFigure({
    id: ID,
    title,
    summary: summarise({ totals, load, timeline, windowSeconds }, rows),
    rows,
    series,
    levels,
    yAxis: countAxis('requests per second', high),
    text: perSecondText,
    weight: ({ due, sent, succeeded }) => Math.abs((hasDue ? due : sent) - succeeded),
    heaviest: 'the one in which the lines are farthest apart',
    measuredSeconds: windowSeconds,
  });
}

/**
 * @param {TimelineRow[]} timeline
 * @param {number} sent
 * @returns {number} seconds to add up over
 */
function spanOf({ length }, sent) {
  const wanted = Math.ceil((FEWEST_IN_SPAN * length) / sent);
  const longest = Math.max(1, Math.floor(length / FEWEST_SPANS));
  const span = spanFor(Math.min(wanted, longest), 1);
  return Math.min(span, longest);
}

/**
 * @param {TimelineRow[]} timeline
 * @param {number} span seconds
 * @returns {RateRow[]}
 */
function rateRows(timeline, span) {
  return binned(timeline, span).map(({ second, span: length, rows }) => {
    const perSecond = (/** @type {(row: TimelineRow) => number} */ count) =>
      rows.reduce((sum, row) => sum + count(row), 0) / length;
    return {
      second,
      span: length,
      due: perSecond(({ due = 0 }) => due),
      sent: perSecond(({ sent }) => sent),
      succeeded: perSecond(({ succeeded }) => succeeded),
    };
  });
}

/**
 * @param {Pick<Result, 'totals' | 'load' | 'timeline' | 'windowSeconds'>} result
 * @param {RateRow[]} rows
 */
function summarise({ totals, load, timeline, windowSeconds }, rows) {
  const { planned, sent, succeeded } = totals;
  const [{ span }] = rows;
  const counts = `${formatCount(sent)} ${sent === 1 ? 'was' : 'were'} sent and ${formatCount(succeeded)} succeeded.`;
  return sentences(
    load.model === 'open' ? `Of ${counted(planned, 'request')} planned, ${counts}` : `Requests: ${counts}`,
    load.model === 'open' &&
      'Where the lines part, requests waited, failed or were not sent; where succeeded rises above offered, a backlog was worked off.',
    span > 1 && `Averages over ${formatDuration(span * 1000)} each.`,
    isDense(rows) && DENSE_NOTE,
    hasAfter(windowSeconds, timeline.length) && AFTER_NOTE,
  );
}
