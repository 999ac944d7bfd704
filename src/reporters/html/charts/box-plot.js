/**
 * Box plots of one figure over runs, one group of runs below the other: from least to greatest, a box round the middle
 * half, a bar at the median, and each run as a dot, which `readOutsOf` of dots.js names. Fewer than five runs are dots and a bar.
 */
import { createHash } from 'node:crypto';
import { compactLabel, latencyLabel, latencyLabeller, linearAxis, logAxis, numberLabel } from '../axes.js';
import {
  FONT_SIZE,
  FOOT,
  inBothSizes,
  layOutX,
  makePlace,
  round,
  svgOf,
  textAt,
  xAxisMarks,
} from '../chart.js';
import { textWidth } from '../text-width.js';
import { dotsOf, jitter, RADIUS } from './dots.js';

/** @typedef {import('../axes.js').Axis} Axis */
/** @typedef {import('../chart.js').Size} Size */
/** @typedef {import('../chart.js').Place} Place */
/**
 * @typedef {object} Group
 * @property {string} label of any length; empty where there is one group, whose name stands above the charts
 * @property {number[]} values one per run, in any order
 * @property {string[]} [names] of the runs, in the same order
 * @property {number} [style] 1 to 6: its colour
 */
/** @typedef {{low: number, q1: number, median: number, q3: number, high: number}} Box */

const FEWEST_FOR_BOX = 5;
const TOP = 8;

/** Below the plot, where the axis has no title: its labels. */
const LABELS_ONLY = 30;

/** Of a group, by size: the narrow one has its label above. */
const ROW_HEIGHT = { wide: 34, narrow: 54 };
const WIDEST_LABEL = 200;

/**
 * @param {object} parts
 * @param {Group[]} parts.groups
 * @param {string} parts.unit `ms`, `/s`, `fraction`, or what to put behind the numbers
 * @param {string} [parts.id] of the figure it goes into, unique in the page; made up from the data without
 * @param {string} [parts.title] for those who do not see it
 * @param {string} [parts.summary] for those who do not see it
 * @returns {string} one SVG for each width, for `figure({svg})`
 */
export function boxPlot({ groups, unit, id, title = 'Box plot', summary = '' }) {
  const hash = createHash('sha256').update(JSON.stringify([title, unit, groups]));
  const own = id ?? `box-plot-${hash.digest('hex').slice(0, 12)}`;
  const axis = axisFor(
    unit,
    groups.flatMap(({ values }) => values),
  );
  const said = summary === '' ? groups.map((group) => describe(group, unit)).join(' ') : summary;
  return inBothSizes((size) => drawAll({ groups, axis, size, id: own, title, summary: said }));
}

/**
 * @param {number[]} values at least one
 * @returns {Box} quartiles between values by linear interpolation (type 7 of Hyndman and Fan)
 */
export function boxOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (/** @type {number} */ share) => {
    const place = share * (sorted.length - 1);
    const below = Math.floor(place);
    const above = sorted[Math.min(below + 1, sorted.length - 1)];
    return sorted[below] + (place - below) * (above - sorted[below]);
  };
  return { low: at(0), q1: at(0.25), median: at(0.5), q3: at(0.75), high: at(1) };
}

/**
 * @param {string} unit
 * @param {number} high the largest there will be
 * @returns {(value: number) => string}
 */
export function unitLabeller(unit, high) {
  if (unit === 'ms') return latencyLabeller(high);
  if (unit === '/s') return (value) => `${compactLabel(value)}/s`;
  if (unit === 'fraction') return (value) => `${numberLabel(value * 100)} %`;
  return (value) => `${compactLabel(value)} ${unit}`.trim();
}

/**
 * Not from zero: the differences between runs are what is to be seen.
 *
 * @param {string} unit
 * @param {number[]} values
 * @returns {Axis}
 */
function axisFor(unit, values) {
  const [low, high] = values.length === 0 ? [0, 1] : [Math.min(...values), Math.max(...values)];
  if (unit === 'ms' && low > 0 && high > 30 * low) return logAxis('log scale', low, high, latencyLabel);
  const margin = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
  return linearAxis({
    title: '',
    low: low >= 0 ? Math.max(0, low - margin) : low - margin,
    high: high + margin,
    label: unitLabeller(unit, high),
  });
}

/**
 * @param {object} parts
 * @param {Group[]} parts.groups
 * @param {Axis} parts.axis
 * @param {Size} parts.size
 * @param {string} parts.id
 * @param {string} parts.title
 * @param {string} parts.summary
 */
function drawAll({ groups, axis, size, id, title, summary }) {
  const isWide = size.name === 'wide' || groups.every(({ label }) => label === '');
  const labels = groups.map(({ label }) => textWidth(label, FONT_SIZE));
  const least = isWide ? 14 + Math.ceil(Math.min(WIDEST_LABEL, Math.max(24, ...labels))) : 24;
  const { left, right, ticks } = layOutX(axis, least, size.width);
  const rowHeight = ROW_HEIGHT[isWide ? 'wide' : 'narrow'];
  const place = makePlace({ left, right, top: TOP, bottom: TOP + rowHeight * Math.max(1, groups.length) });
  const { top, bottom, x } = place;
  const content = [
    ...ticks.map(({ at }) => `<line class="grid" x1="${x(at)}" x2="${x(at)}" y1="${top}" y2="${bottom}"/>`),
    xAxisMarks(ticks, place),
    `<line class="axis" x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}"/>`,
    textAt({ x: right, y: bottom + 44, text: axis.title, anchor: 'end', room: right }),
    ...groups.map((group, i) => {
      const y = TOP + i * rowHeight;
      const label = isWide
        ? textAt({ x: 0, y: y + rowHeight / 2 + 4.5, text: group.label, room: left - 14 })
        : textAt({ x: 0, y: y + 18, text: group.label, room: size.width });
      return `${label}\n${drawGroup(group, axis, place, isWide ? y + rowHeight / 2 : y + 36)}`;
    }),
  ];
  const height = bottom + (axis.title === '' ? LABELS_ONLY : FOOT);
  return svgOf({ id, title, summary, size, height, place, content: content.join('\n') });
}

/**
 * @param {Group} group
 * @param {Axis} axis
 * @param {Place} place
 * @param {number} y middle of its row
 */
function drawGroup(group, axis, place, y) {
  const { values, style = 1 } = group;
  if (values.length === 0) {
    return textAt({ x: place.left + 8, y: y + 4.5, text: 'no run to show', room: place.right - place.left });
  }
  const x = (/** @type {number} */ value) => place.x(axis.at(value));
  const { low, q1, median, q3, high } = boxOf(values);
  /** @type {string[]} */
  const parts = [];
  if (values.length >= FEWEST_FOR_BOX) {
    const width = Math.max(1, x(q3) - x(q1)).toFixed(1);
    parts.push(
      `<line class="whisker s${style}" x1="${x(low)}" x2="${x(high)}" y1="${y}" y2="${y}"/>`,
      `<rect class="box s${style}" x="${x(q1)}" y="${y - 9}" width="${width}" height="18"/>`,
    );
  }
  const places = dotsOf(group).map(({ value }) => x(value));
  const offsets = jitter(places);
  parts.push(
    ...places.map(
      (cx, i) => `<circle class="dot run s${style}" cx="${cx}" cy="${round(y + offsets[i])}" r="${RADIUS}"/>`,
    ),
  );
  parts.push(
    `<line class="median s${style}" x1="${x(median)}" x2="${x(median)}" y1="${y - 11}" y2="${y + 11}"/>`,
  );
  return parts.join('\n');
}

/**
 * @param {Group} group
 * @param {string} unit
 */
function describe({ label, values }, unit) {
  if (values.length === 0) return `${label}: no run to show.`;
  const { low, median, high } = boxOf(values);
  const text = unitLabeller(unit, high);
  const short = (/** @type {number} */ value) => text(Number(value.toPrecision(4)));
  return `${label}: median ${short(median)}, from ${short(low)} to ${short(high)} over ${values.length} runs.`;
}
