/** What was offered against what was sent and what succeeded, over time. */
import { formatCount, formatDuration } from '../../../units.js';
import { counted, perHourText, perSecondText } from '../../phrases.js';
import { countAxis } from '../axes.js';
import { emptyFigure } from '../parts.js';
import { binned, spanFor } from '../thin.js';
import { hasAfter, isDense, timeFigure } from '../time-figure.js';
import { AFTER_NOTE, DENSE_NOTE, extent, sentences } from '../words.js';

/** @typedef {import('../../../results/schema.js').Result} Result */
/** @typedef {import('../../../results/schema.js').TimelineRow} TimelineRow */
/** @typedef {{second: number, span: number, due: number, sent: number, succeeded: number}} RateRow */

const ID = 'rates';

/** So few requests a second are added up over longer spans: else the lines would jump between none and one. */
const FEWEST_IN_SPAN = 5;
const FEWEST_SPANS = 5;

/** Fewer than one a second are told by the hour, as they are asked for. */
const PER_SECOND = { noun: 'second', seconds: 1, text: perSecondText };
const PER_HOUR = {
  noun: 'hour',
  seconds: 3600,
  text: (/** @type {number} */ value) => `${perHourText(value)}/h`,
};

/** Broad, so that it is seen where the others lie on it. */
const OFFERED = Object.freeze({ name: 'offered', style: 6, mark: 'track' });

/**
 * @param {Result} result
 * @returns {import('../time-figure.js').Drawn}
 */
export function rates({ timeline, totals, load, windowSeconds, stages }) {
  const title = load.model === 'open' ? 'Offered and achieved rate' : 'Achieved rate';
  if (totals.sent === 0 || timeline.length === 0) {
    const summary = 'No request was sent: there is nothing to draw.';
    return { html: emptyFigure({ id: ID, title, summary }), charts: {} };
  }
  const average = totals.sent / timeline.length;
  const { noun, seconds, text } = Math.max(average, load.ratePerSecond ?? 0) < 1 ? PER_HOUR : PER_SECOND;
  const rows = rateRows(timeline, spanOf(timeline, totals.sent), seconds);
  const hasDue = timeline.some(({ due }) => due !== undefined);
  const series = [
    ...(hasDue ? [{ ...OFFERED, value: (/** @type {RateRow} */ row) => row.due }] : []),
    { name: 'sent', style: 2, mark: 'over', value: (/** @type {RateRow} */ row) => row.sent },
    { name: 'succeeded', style: 1, mark: 'under', value: (/** @type {RateRow} */ row) => row.succeeded },
  ];
  const levels =
    !hasDue && load.ratePerSecond !== null && load.rampUpMs === 0
      ? [{ ...OFFERED, value: load.ratePerSecond * seconds }]
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
    yAxis: countAxis(`requests per ${noun}`, high),
    text,
    weight: ({ due, sent, succeeded }) => Math.abs((hasDue ? due : sent) - succeeded),
    heaviest: 'the one in which the lines are farthest apart',
    measuredSeconds: windowSeconds,
    marks: stages,
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
 * @param {number} seconds that the rates are of
 * @returns {RateRow[]}
 */
function rateRows(timeline, span, seconds) {
  return binned(timeline, span).map(({ second, span: length, rows }) => {
    const rate = (/** @type {(row: TimelineRow) => number} */ count) =>
      (rows.reduce((sum, row) => sum + count(row), 0) * seconds) / length;
    return {
      second,
      span: length,
      due: rate(({ due = 0 }) => due),
      sent: rate(({ sent }) => sent),
      succeeded: rate(({ succeeded }) => succeeded),
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
