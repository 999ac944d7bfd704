/** Failed requests over time, stacked by outcome. */
import { formatCount, formatDuration } from '../../common/units.js';
import { counted, sentences } from '../describe/words.js';
import { compactLabel, linearAxis } from './axes.js';
import { binned, clockOf, spanFor, timeChart } from './time-chart.js';

/** @import { Result, TimelineRow } from '../../result/schema.js' */
/** @import { Place, Setting } from './frame.js' */
/** @import { Drawn } from './index.js' */

/** @typedef {{second: number, span: number, counts: number[]}} Bar one count per outcome, the lowest first */
/** @typedef {{name: string, style: number, count: (row: TimelineRow) => number}} Outcome */

const MOST_BARS = 100;

/** Of the most frequent outcomes; the others are one more. */
const STYLES = Object.freeze([2, 4, 1, 5, 3]);
const OTHER_STYLE = 6;

/**
 * @param {Pick<Result, 'timeline' | 'totals' | 'stages'>} result
 * @param {Setting} setting
 * @returns {Drawn | null} null where no request failed in any second
 */
export function errors({ timeline, totals, stages = [] }, setting) {
  const failed = timeline.reduce((sum, row) => sum + row.failed, 0);
  if (failed === 0) return null;
  const [seconds, span] = [timeline.length, spanFor(timeline.length, MOST_BARS)];
  const outcomes = outcomesOf(timeline, failed);
  const bars = binned(timeline, span).map(({ rows, ...moment }) => ({
    ...moment,
    counts: outcomes.map(({ count }) => rows.reduce((sum, row) => sum + count(row), 0)),
  }));
  const yAxis = linearAxis({
    title: span === 1 ? 'errors per second' : `errors in each ${formatDuration(span * 1000)}`,
    high: Math.max(...bars.map(totalOf)),
    label: compactLabel,
    whole: true,
  });
  return timeChart({
    setting,
    summary: summarise(bars, failed, totals),
    rows: bars,
    series: outcomes.map(({ name, style }, i) => ({
      name,
      style,
      value: (/** @type {Bar} */ { counts }) => counts[i],
    })),
    drawBars: (place) =>
      outcomes.map(({ style }, i) => {
        const path = bars.map((bar) => barPath(bar, i, { place, seconds, at: yAxis.at })).join('');
        return path === '' ? '' : `<path class="fill s${style}" d="${path}"/>`;
      }),
    yAxis,
    text: formatCount,
    weight: totalOf,
    heaviest: 'the one with the most errors',
    marks: stages,
  });
}

/** @param {TimelineRow[]} timeline @param {number} failed @returns {Outcome[]} the most frequent first */
function outcomesOf(timeline, failed) {
  /** @type {Map<string, number>} */
  const totals = new Map();
  for (const { failures = {} } of timeline) {
    for (const [name, count] of Object.entries(failures)) totals.set(name, (totals.get(name) ?? 0) + count);
  }
  const top = [...totals].sort(([, a], [, b]) => b - a).slice(0, STYLES.length);
  const named = top.map(([name], i) => ({
    name,
    style: STYLES[i],
    count: (/** @type {TimelineRow} */ row) => countOf(row, name),
  }));
  const rest = (/** @type {TimelineRow} */ row) =>
    Math.max(0, row.failed - top.reduce((sum, [name]) => sum + countOf(row, name), 0));
  const known = top.reduce((sum, [, count]) => sum + count, 0);
  if (known >= failed) return named;
  return [...named, { name: top.length === 0 ? 'failed' : 'other', style: OTHER_STYLE, count: rest }];
}

/** @param {TimelineRow} row @param {string} name */
function countOf({ failures = {} }, name) {
  return Object.hasOwn(failures, name) ? failures[name] : 0;
}

/**
 * @param {Bar} bar
 * @param {number} i the outcome
 * @param {{place: Place, seconds: number, at: (value: number) => number}} scale
 * @returns {string} at least a pixel high where the count is not 0
 */
function barPath({ second, span, counts }, i, { place, seconds, at }) {
  if (counts[i] === 0) return '';
  const below = counts.slice(0, i).reduce((sum, count) => sum + count, 0);
  const [left, right] = [place.x(second / seconds), place.x((second + span) / seconds)];
  const gap = right - left > 4 ? 0.5 : 0;
  const bottom = place.y(at(below));
  const top = Math.min(place.y(at(below + counts[i])), bottom - 1);
  return `M${left + gap} ${bottom}V${top}H${right - gap}V${bottom}Z`;
}

/** @param {Bar[]} bars @param {number} failed @param {Result['totals']} totals */
function summarise(bars, failed, { dropped, neverSentDue }) {
  const last = bars[bars.length - 1];
  const clock = clockOf(last.second + last.span);
  const bad = bars.filter((bar) => totalOf(bar) > 0);
  const worst = bars.reduce((most, bar) => (totalOf(bar) > totalOf(most) ? bar : most));
  const each = bars[0].span === 1 ? 'second' : formatDuration(bars[0].span * 1000);
  const isEven = bad.every((bar) => totalOf(bar) === totalOf(worst));
  const where =
    bad.length === 1
      ? `${failed === 1 ? '' : 'all '}${clock.place(worst)}`
      : isEven
        ? `${formatCount(totalOf(worst))} in each ${each} that has any, first ${clock.place(bad[0])}`
        : `at most ${formatCount(totalOf(worst))} in a ${each}, first ${clock.place(worst)}`;
  const unsent = dropped + neverSentDue;
  return sentences(
    `${counted(failed, 'request')} failed, ${where}.`,
    unsent > 0 && `Not drawn: ${counted(unsent, 'request')} dropped or never sent.`,
  );
}

/** @param {Bar} bar */
function totalOf({ counts }) {
  return counts.reduce((sum, count) => sum + count, 0);
}
