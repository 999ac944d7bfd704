/** Failed requests over time, stacked by outcome. */
import { formatCount, formatDuration } from '../../../units.js';
import { countAxis } from '../axes.js';
import { frame, inBothSizes } from '../chart.js';
import { clockOf } from '../clock.js';
import { emptyFigure, figure, table } from '../parts.js';
import { binned, spanFor } from '../thin.js';
import { timeAxis } from '../time-axis.js';
import { drawMarks } from '../time-figure.js';
import { sentences, titled } from '../words.js';
import { summariseErrors, totalOf, unsentPhrase } from './errors-text.js';

/** @typedef {import('../../../results/schema.js').Result} Result */
/** @typedef {import('../../../results/schema.js').TimelineRow} TimelineRow */
/** @typedef {import('../chart.js').Place} Place */
/** @typedef {import('./errors-text.js').Bar} Bar */

const ID = 'errors-over-time';
const TITLE = 'Errors over time';
const MOST_BARS = 100;

/** Of the most frequent outcomes; what is left is one more. */
const STYLES = Object.freeze([2, 4, 1, 5, 3]);
const STYLE_OF_REST = 6;

/**
 * @param {Result} result
 * @returns {import('../time-figure.js').Drawn}
 */
export function errorsOverTime({ timeline, totals, stages = [] }) {
  const failed = timeline.reduce((sum, row) => sum + row.failed, 0);
  if (failed === 0) {
    const summary =
      totals.errors === 0
        ? 'There was no error.'
        : sentences(unsentPhrase(totals), 'There is nothing to draw.');
    return { html: emptyFigure({ id: ID, title: TITLE, summary }), charts: {} };
  }
  const span = spanFor(timeline.length, MOST_BARS);
  const outcomes = outcomesOf(timeline, failed);
  const bars = binned(timeline, span).map(({ second, span: length, rows }) => ({
    second,
    span: length,
    counts: outcomes.map(({ count }) => rows.reduce((sum, row) => sum + count(row), 0)),
  }));
  const summary = summariseErrors(bars, failed, totals);
  const svg = draw({
    bars,
    styles: outcomes.map(({ style }) => style),
    seconds: timeline.length,
    span,
    summary,
    marks: stages,
  });
  const legend = outcomes.map(({ name, style }) => ({ name, style, shape: /** @type {const} */ ('box') }));
  const names = outcomes.map(({ name }) => name);
  const html = figure({
    id: ID,
    title: TITLE,
    svg,
    summary,
    tableHtml: dataTable(bars, names, clockOf(timeline.length)),
    legend,
  });
  const readOuts = {
    x: bars.map((bar) => Number(((bar.second + bar.span / 2) / timeline.length).toFixed(4))),
    at: bars.map((bar) => titled(clockOf(timeline.length).phrase(bar))),
    values: bars.map(({ counts }) => counts.map(formatCount)),
  };
  return { html, charts: { [ID]: readOuts } };
}

/**
 * @param {TimelineRow[]} timeline
 * @param {number} failed
 * @returns {{name: string, style: number, count: (row: TimelineRow) => number}[]} the most frequent first
 */
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
  const counted = top.reduce((sum, [, count]) => sum + count, 0);
  if (counted >= failed) return named;
  return [...named, { name: top.length === 0 ? 'failed' : 'other', style: STYLE_OF_REST, count: rest }];
}

/**
 * @param {TimelineRow} row
 * @param {string} name
 */
function countOf({ failures = {} }, name) {
  return Object.hasOwn(failures, name) ? failures[name] : 0;
}

/**
 * @param {object} parts
 * @param {Bar[]} parts.bars
 * @param {number[]} parts.styles
 * @param {number} parts.seconds
 * @param {number} parts.span
 * @param {string} parts.summary
 * @param {readonly import('../time-figure.js').Mark[]} parts.marks
 */
function draw({ bars, styles, seconds, span, summary, marks }) {
  const highest = Math.max(...bars.map(totalOf));
  const xAxis = timeAxis(seconds);
  const yAxis = countAxis(
    span === 1 ? 'errors per second' : `errors in each ${formatDuration(span * 1000)}`,
    highest,
    true,
  );
  return inBothSizes((size) =>
    frame({
      id: ID,
      title: TITLE,
      summary,
      size,
      xAxis,
      yAxis,
      draw: (place) =>
        [
          ...styles.map((style, i) => {
            const path = bars.map((bar) => barPath(bar, i, { place, seconds, at: yAxis.at })).join('');
            return path === '' ? '' : `<path class="fill s${style}" d="${path}"/>`;
          }),
          // On top: a bar is as wide as its seconds, and would hide them.
          ...drawMarks(marks, seconds, place),
        ].join('\n'),
    }),
  );
}

/**
 * @param {Bar} bar
 * @param {number} i which outcome
 * @param {{place: Place, seconds: number, at: (value: number) => number}} scale
 * @returns {string} at least a pixel high where there is anything
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

/**
 * @param {Bar[]} bars
 * @param {string[]} names
 * @param {import('../clock.js').Clock} clock
 */
function dataTable(bars, names, clock) {
  return table({
    caption: `${TITLE}; rows without an error are left out`,
    columns: [clock.heading, ...names.map((name) => ({ label: name, numeric: true }))],
    rows: bars
      .filter((bar) => totalOf(bar) > 0)
      .map((bar) => [clock.name(bar), ...bar.counts.map((count) => formatCount(count))]),
  });
}
