/** One figure over runs: a row for each group, a dot for each run, a bar at the median, a box over the middle half. */

import { figureText } from '../../result/runs/figures.js';
import { between } from '../describe/words.js';
import { fitText } from '../html/escape.js';
import { compactLabel, latencyLabel, latencyLabeller, linearAxis, logAxis, numberLabel } from './axes.js';
import { frames, round, textAt } from './frame.js';

/** @import { Axis } from './axes.js' */
/** @import { Place, Setting } from './frame.js' */
/** @import { Drawn } from './index.js' */

/** @typedef {'ms' | '/s' | 'fraction'} Unit */
/**
 * @typedef {object} Group
 * @property {string} name empty where there is only one group
 * @property {string[]} runs their names
 * @property {(number | null)[]} values one per run, in the same order
 */
/** @typedef {{low: number, q1: number, median: number, q3: number, high: number}} Box */

/** Colours of the style sheet. */
const STYLES = 6;

/** Smaller groups have no box. */
const FEWEST_FOR_BOX = 5;

/** Pixels. */
const ROW_HEIGHT = 34;

/**
 * @param {{unit: Unit, groups: Group[]}} data
 * @param {Setting} setting
 * @returns {Drawn | null} null where no run has a value
 */
export function runs({ unit, groups }, setting) {
  const values = groups.flatMap((group) => known(group));
  if (values.length === 0) return null;
  const text = (/** @type {number} */ value) => figureText(unit, value);
  const [xAxis, yAxis] = [axisFor(unit, values), rowAxis(groups)];
  const sizes = setting.sizes.map((size) => ({ ...size, height: ROW_HEIGHT * groups.length }));
  const draw = (/** @type {Place} */ { left, right, x, y }) =>
    groups
      .map((group, i) => {
        const style = (i % STYLES) + 1;
        return drawGroup(group, style, (value) => x(xAxis.at(value)), { left, right, y: y(yAxis.at(i)) });
      })
      .join('\n');
  const summary = summarise(groups, between(values, text), text);
  const hasNames = groups.some(({ name }) => name !== '');
  const rows = groups.flatMap(({ name, runs: names, values: own }) =>
    own.map((value, i) => [names[i], ...(hasNames ? [name] : []), figureText(unit, value)]),
  );
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
      rows,
    },
    readOuts: {
      at: groups.flatMap((group) =>
        dotsOf(group).map(({ name, value }) =>
          fitText(`${group.name === '' ? name : `${group.name}, ${name}`}: ${text(value)}`),
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

/**
 * @param {number[]} values at least one
 * @returns {Box} quartiles by linear interpolation (type 7 of Hyndman and Fan)
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
 * Does not begin at zero: the chart is of the differences between runs.
 *
 * @param {Unit} unit
 * @param {number[]} values at least one
 * @returns {Axis}
 */
function axisFor(unit, values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (unit === 'ms' && low > 0 && high > 30 * low) return logAxis('log scale', low, high, latencyLabel);
  const margin = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
  return linearAxis({
    title: '',
    low: low >= 0 ? Math.max(0, low - margin) : low - margin,
    high: high + margin,
    label: labeller(unit, high),
  });
}

/** @param {Unit} unit @param {number} high @returns {(value: number) => string} */
export function labeller(unit, high) {
  if (unit === 'ms') return latencyLabeller(high);
  if (unit === '/s') return (value) => `${compactLabel(value)}/s`;
  return (value) => `${numberLabel(value * 100)} %`;
}

/** @param {Group[]} groups @returns {Axis} a row each, from the top */
function rowAxis(groups) {
  const at = (/** @type {number} */ i) => 1 - (i + 0.5) / groups.length;
  return { title: '', at, ticks: () => groups.map(({ name }, i) => ({ at: at(i), label: name })) };
}

/**
 * @param {Group} group
 * @param {number} style
 * @param {(value: number) => number} x
 * @param {{left: number, right: number, y: number}} row
 */
function drawGroup(group, style, x, { left, right, y }) {
  const values = known(group);
  if (values.length === 0)
    return textAt({ x: left + 8, y: y + 4.5, text: 'no run to show', room: right - left });
  const { low, q1, median, q3, high } = boxOf(values);
  const box = [
    `<line class="whisker s${style}" x1="${x(low)}" x2="${x(high)}" y1="${y}" y2="${y}"/>`,
    `<rect class="box s${style}" x="${x(q1)}" y="${y - 9}" width="${Math.max(1, x(q3) - x(q1)).toFixed(1)}" height="18"/>`,
  ];
  const places = dotsOf(group).map(({ value }) => x(value));
  const offsets = jitter(places);
  const dots = places.map(
    (cx, i) => `<circle class="dot run s${style}" cx="${cx}" cy="${round(y + offsets[i])}" r="${RADIUS}"/>`,
  );
  return [
    ...(values.length >= FEWEST_FOR_BOX ? box : []),
    ...dots,
    `<line class="median s${style}" x1="${x(median)}" x2="${x(median)}" y1="${y - 11}" y2="${y + 11}"/>`,
  ].join('\n');
}

/** @param {Group[]} groups @param {string} range of all runs @param {(value: number) => string} text */
function summarise(groups, range, text) {
  const median = (/** @type {Group} */ group) => {
    const values = known(group);
    return values.length === 0 ? 'no run' : text(boxOf(values).median);
  };
  const [{ name }] = groups;
  const medians = groups.map((group) => `${group.name} ${median(group)}`).join(', ');
  return groups.length === 1 && name === ''
    ? `Median ${median(groups[0])}; all runs ${range}.`
    : `Medians: ${medians}. All runs ${range}.`;
}

/** Of a group; more would be a smear. */
const MOST_DOTS = 200;

/** Of a dot. */
const RADIUS = 3;

/** Dots whose centres are nearer than this hide one another. */
const APART = 5;

/** How far from the middle of its row a dot may stand. */
const REACH = 8;

/** Places to try besides those of the dots nearby. */
const TRIES = 4;

/**
 * @param {{values: readonly (number | null)[], runs: readonly string[]}} group
 * @returns {{name: string, value: number}[]} ascending; none where there are too many
 */
function dotsOf({ values, runs }) {
  const dots = values.flatMap((value, i) =>
    value === null ? [] : [{ name: runs[i] ?? `run ${i + 1}`, value }],
  );
  return dots.length > MOST_DOTS ? [] : dots.sort((a, b) => a.value - b.value);
}

/**
 * Moves dots that would hide one another up or down. The same data give the same picture.
 *
 * @param {readonly number[]} places along the axis, ascending, in pixels
 * @returns {number[]} offsets from the middle of the row
 */
export function jitter(places) {
  /** @type {number[]} */
  const offsets = [];
  for (const [i, x] of places.entries()) {
    let first = i;
    while (first > 0 && x - places[first - 1] < APART) first--;
    const near = offsets.slice(first).map((y, j) => ({ x: places[first + j], y }));
    const room = (/** @type {number} */ y) =>
      Math.min(APART, ...near.map((other) => Math.hypot(x - other.x, y - other.y)));
    const steps = Array.from({ length: near.length + TRIES }, (_, k) => step(k));
    const most = Math.max(...steps.map(room));
    offsets.push(steps[steps.findIndex((y) => room(y) === most)]);
  }
  return offsets;
}

/**
 * 0, then halves, quarters, eighths of the way up and down, without repeating (van der Corput's sequence).
 *
 * @param {number} k from 0
 * @returns {number} -REACH to REACH
 */
function step(k) {
  let [rest, share, at] = [k + 1, 0.5, 0];
  while (rest > 0) {
    at += (rest % 2) * share;
    [rest, share] = [Math.floor(rest / 2), share / 2];
  }
  return (2 * at - 1) * REACH;
}
