/** Rates over time: offered, sent, succeeded. */
import { formatCount, formatDuration } from '../../common/units.js';
import { counted, perHourText, perSecondText } from '../describe/words.js';
import { compactLabel, linearAxis } from './draw/axes.js';
import { binned, spanFor } from './draw/thin.js';
import { hasAfter, isDense, timeChart } from './draw/time-chart.js';
import { AFTER_NOTE, DENSE_NOTE, extent, sentences } from './draw/words.js';

/** @typedef {import('../../result/schema.js').Result} Result */
/** @typedef {import('../../result/schema.js').TimelineRow} TimelineRow */
/** @typedef {Pick<Result, 'timeline' | 'totals' | 'load' | 'windowSeconds' | 'stages'>} Data */
/** @typedef {{second: number, span: number, due: number, sent: number, succeeded: number}} RateRow */

/** Requests in a span, on average: fewer would make the lines jump between 0 and 1. */
const FEWEST_IN_SPAN = 5;
const FEWEST_SPANS = 5;

/** Below one request per second, rates are per hour, as users write them. */
const PER_SECOND = { noun: 'second', seconds: 1, text: perSecondText };
const PER_HOUR = {
  noun: 'hour',
  seconds: 3600,
  text: (/** @type {number} */ value) => `${perHourText(value)}/h`,
};

/** The first is broad, to be seen below the others. @type {import('./draw/time-chart.js').Series<RateRow>[]} */
const SERIES = [
  { name: 'offered', style: 6, mark: 'track', value: ({ due }) => due },
  { name: 'sent', style: 2, mark: 'over', value: ({ sent }) => sent },
  { name: 'succeeded', style: 1, mark: 'under', value: ({ succeeded }) => succeeded },
];

/**
 * @param {Data} data
 * @param {import('./index.js').Setting} setting
 * @returns {import('./index.js').Drawn | null} null where no request was sent
 */
export function rates(data, setting) {
  const { timeline, totals, load, windowSeconds, stages } = data;
  if (totals.sent === 0 || timeline.length === 0) return null;
  const average = totals.sent / timeline.length;
  const { noun, seconds, text } = Math.max(average, load.ratePerSecond ?? 0) < 1 ? PER_HOUR : PER_SECOND;
  const rows = rateRows(timeline, spanOf(timeline, totals.sent), seconds);
  const hasDue = timeline.some(({ due }) => due !== undefined);
  // Results of older versions have no requests due.
  const series = hasDue ? SERIES : SERIES.slice(1);
  const [, high] = extent(series.flatMap(({ value }) => rows.map(value)));
  return timeChart({
    setting,
    summary: summarise(data, rows),
    rows,
    series,
    yAxis: linearAxis({ title: `requests per ${noun}`, high, label: compactLabel }),
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
  return Math.min(spanFor(Math.min(wanted, longest), 1), longest);
}

/**
 * @param {TimelineRow[]} timeline
 * @param {number} span seconds
 * @param {number} seconds that the rates are per
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
 * @param {Data} data
 * @param {RateRow[]} rows
 */
function summarise({ totals: { planned, sent, succeeded }, load, timeline, windowSeconds }, rows) {
  const [{ span }] = rows;
  const counts = `${formatCount(sent)} ${sent === 1 ? 'was' : 'were'} sent and ${formatCount(succeeded)} succeeded.`;
  return sentences(
    load.model === 'open' ? `Of ${counted(planned, 'request')} planned, ${counts}` : `Requests: ${counts}`,
    load.model === 'open' &&
      'Where the lines part, requests waited, failed or were not sent; succeeded above offered is a backlog being worked off.',
    span > 1 && `Averages over ${formatDuration(span * 1000)} each.`,
    isDense(rows) && DENSE_NOTE,
    hasAfter(windowSeconds, timeline.length) && AFTER_NOTE,
  );
}
