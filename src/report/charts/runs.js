/** One figure over runs: a row for each group, a dot for each run, a bar at the median, a box over the middle half. */
import { figureText } from '../../result/runs/figures.js';
import { between } from '../describe/words.js';
import { rangeAxis } from './axes.js';
import { frames, round, textAt } from './frame.js';

/** @import { Axis, Unit } from './axes.js' */
/** @import { Drawn } from './chart.js' */
/** @import { Place, Setting } from './frame.js' */

/** @typedef {{name: string, runs: string[], values: (number | null)[]}} Group `name` is empty where there is only one; `runs`: their names */
/** @typedef {{unit: Unit, groups: Group[]}} Data */

/** Colours of the style sheet. */
const STYLES = 6;

/** Smaller groups have no box; of larger ones, dots would be a smear. */
const [FEWEST_FOR_BOX, MOST_DOTS] = [5, 200];

/** Pixels: a row; a dot; dots whose centres are nearer than APART would hide one another; REACH from the middle of its row. */
const [ROW_HEIGHT, RADIUS, APART, REACH] = [34, 3, 5, 8];

/** @param {Data} data @param {Setting} setting @returns {Drawn | null} null where no run has a value */
export function runs({ unit, groups }, setting) {
  const values = groups.flatMap(known);
  if (values.length === 0) return null;
  const text = (/** @type {number | null} */ value) => figureText(unit, value);
  const xAxis = rangeAxis(unit, values);
  const rowAt = (/** @type {number} */ i) => 1 - (i + 0.5) / groups.length;
  const ticks = groups.map(({ name }, i) => ({ at: rowAt(i), label: name }));
  const yAxis = { title: '', at: rowAt, ticks: () => ticks };
  const sizes = setting.sizes.map((size) => ({ ...size, height: ROW_HEIGHT * groups.length }));
  const draw = (/** @type {Place} */ place) =>
    groups.map((group, i) => drawGroup(group, (i % STYLES) + 1, xAxis, place, place.y(rowAt(i)))).join('\n');
  const medians = groups.map((group) => {
    const own = known(group);
    return `${group.name} ${own.length === 0 ? 'no run' : text(boxOf(own).median)}`.trimStart();
  });
  const summary = `Median: ${medians.join(', ')}. All runs: ${between(values, text)}.`;
  const hasNames = groups.some(({ name }) => name !== '');
  return {
    svg: frames({ ...setting, sizes, summary, xAxis, yAxis, draw, isUpright: true }),
    summary,
    legend: [],
    table: {
      kind: 'table',
      caption: setting.title,
      columns: [
        { name: 'Run', isText: true },
        ...(hasNames ? [{ name: 'Group', isText: true }] : []),
        { name: setting.title },
      ],
      rows: groups.flatMap(({ name, runs: names, values: own }) =>
        own.map((value, i) => [names[i], ...(hasNames ? [name] : []), text(value)]),
      ),
    },
    readOuts: {
      at: groups.flatMap((group) =>
        dotsOf(group).map(
          ({ name, value }) => `${group.name === '' ? '' : `${group.name}, `}${name}: ${text(value)}`,
        ),
      ),
      values: [],
    },
  };
}

/** @param {Group} group */
function known({ values }) {
  return values.filter((value) => value !== null);
}

/** @param {number[]} values at least one; quartiles by linear interpolation (type 7 of Hyndman and Fan) */
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

/** @param {Group} group @param {number} style @param {Axis} xAxis @param {Place} place @param {number} y */
function drawGroup(group, style, xAxis, place, y) {
  const { left, right } = place;
  const x = (/** @type {number} */ value) => place.x(xAxis.at(value));
  const values = known(group);
  if (values.length === 0)
    return textAt({ x: left + 8, y: y + 4.5, text: 'no run to show', room: right - left });
  const { low, q1, median, q3, high } = boxOf(values);
  const box = [
    `<line class="whisker s${style}" x1="${x(low)}" x2="${x(high)}" y1="${y}" y2="${y}"/>`,
    `<rect class="box s${style}" x="${x(q1)}" y="${y - 9}" width="${Math.max(1, x(q3) - x(q1)).toFixed(1)}" height="18"/>`,
  ];
  const places = dotsOf(group).map(({ value }) => x(value));
  const offsets = spreadOut(places);
  const dots = places.map(
    (cx, i) => `<circle class="dot run s${style}" cx="${cx}" cy="${round(y + offsets[i])}" r="${RADIUS}"/>`,
  );
  return [
    ...(values.length >= FEWEST_FOR_BOX ? box : []),
    ...dots,
    `<line class="median s${style}" x1="${x(median)}" x2="${x(median)}" y1="${y - 11}" y2="${y + 11}"/>`,
  ].join('\n');
}

/** @param {Group} group @returns {{name: string, value: number}[]} ascending; none where there are too many */
function dotsOf({ values, runs }) {
  const dots = values.flatMap((value, i) => (value === null ? [] : [{ name: runs[i], value }]));
  return dots.length > MOST_DOTS ? [] : dots.sort((a, b) => a.value - b.value);
}

/**
 * @param {readonly number[]} places along the axis, in pixels
 * @returns {number[]} offsets across it: places close together share the height of the row
 */
export function spreadOut(places) {
  const columnOf = (/** @type {number} */ x) => Math.round(x / APART);
  return places.map((x, i) => {
    const own = places.flatMap((other, k) => (columnOf(other) === columnOf(x) ? [k] : []));
    return own.length === 1 ? 0 : round((2 * REACH * own.indexOf(i)) / (own.length - 1) - REACH);
  });
}
