/** One figure over runs: a row for each group, a dot for each run, a bar at the median, a box over the middle half. */
import { groupBy } from '../../common/sums.js';
import { formatFigure } from '../../result/runs/figures.js';
import { withoutNulls } from '../../result/runs/run-set.js';
import { between, joined } from '../describe/words.js';
import { escapeHtml } from '../html/escape.js';
import { valueAxis } from './axes.js';
import { frames, line, round, textAt } from './frame.js';

/** @import { Unit } from './axes.js' */
/** @import { Drawn } from './chart.js' */
/** @import { Plot, Setting } from './frame.js' */

/** @typedef {{name: string, runs: string[], values: (number | null)[]}} Group `name`: empty for a single group */

/** Colours of the style sheet. */
const STYLES = 6;

/** A chart of more would be higher than a screen; the tables have them all. */
const MAX_GROUPS = 100;

/** Smaller groups have no box. */
const MIN_FOR_BOX = 5;

/** Pixels: dots closer than APART would overlap; REACH is their maximum distance from the middle of the row. */
const [ROW_HEIGHT, RADIUS, APART, REACH] = [34, 3, 5, 8];

/** @param {{unit: Unit, groups: Group[]}} data @param {Setting} setting @returns {Drawn | null} */
export function runs({ unit, groups }, setting) {
  const values = withoutNulls(groups.flatMap((group) => group.values));
  if (values.length === 0 || groups.length > MAX_GROUPS) return null;
  const text = (/** @type {number | null} */ value) => formatFigure(unit, value);
  const rowAt = (/** @type {number} */ i) => 1 - (i + 0.5) / groups.length;
  const ticks = groups.map(({ name }, i) => ({ at: rowAt(i), label: name }));
  const medians = groups.map((group) => {
    const numbers = withoutNulls(group.values);
    return `${group.name} ${numbers.length === 0 ? 'no runs' : text(quantileOf(numbers, 0.5))}`.trimStart();
  });
  const summary = `Median: ${medians.join(', ')}. All runs: ${between(values, text)}.`;
  return {
    svg: frames({
      ...setting,
      sizes: setting.sizes.map((size) => ({ ...size, height: ROW_HEIGHT * groups.length })),
      summary,
      xAxis: valueAxis(unit, '', values, { isFromZero: false }),
      yAxis: { title: '', at: rowAt, ticks: () => ticks },
      draw: (plot) => groups.map((group, i) => drawGroup(group, i, plot, text)).join('\n'),
      hasXGrid: true,
    }),
    summary,
    legend: [],
    table: {
      kind: 'table',
      caption: setting.title,
      columns: [{ name: 'Run', isText: true }, { name: setting.title }],
      rows: groups.flatMap((group) =>
        group.values.map((value, i) => [joined([group.name, group.runs[i]]), text(value)]),
      ),
    },
  };
}

/** @param {number[]} values at least one @param {number} share by linear interpolation (type 7 of Hyndman and Fan) */
export function quantileOf(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  return sorted[below] + (place - below) * ((sorted[below + 1] ?? 0) - sorted[below]);
}

/** @param {Group} group @param {number} row @param {Plot} plot @param {(value: number) => string} text */
function drawGroup(group, row, { left, right, x, y: yOf }, text) {
  const [style, y] = [`s${(row % STYLES) + 1}`, yOf(row)];
  const values = withoutNulls(group.values);
  if (values.length === 0)
    return textAt({ x: left + 8, y: y + 4.5, text: 'no usable runs', room: right - left });
  const [low, q1, middle, q3, high] = [0, 0.25, 0.5, 0.75, 1].map((share) => x(quantileOf(values, share)));
  const box = [
    line(`whisker ${style}`, low, high, y, y),
    `<rect class="box ${style}" x="${q1}" y="${y - 9}" width="${round(Math.max(1, q3 - q1))}" height="18"/>`,
  ];
  const names = group.runs.filter((_, i) => group.values[i] !== null);
  const offsets = spreadOut(values.map(x));
  return [
    ...(values.length >= MIN_FOR_BOX ? box : []),
    ...values.map((value, i) => {
      const title = `<title>${escapeHtml(`${names[i]}: ${text(value)}`)}</title>`;
      return `<circle class="dot run ${style}" cx="${x(value)}" cy="${round(y + offsets[i])}" r="${RADIUS}">${title}</circle>`;
    }),
    line(`median ${style}`, middle, middle, y - 11, y + 11),
  ].join('\n');
}

/** Offsets across the axis that keep dots from overlapping. @param {readonly number[]} places along it, pixels */
export function spreadOut(places) {
  const offsets = places.map(() => 0);
  for (const peers of groupBy([...places.keys()], (i) => Math.round(places[i] / APART)))
    for (const [nth, i] of peers.entries())
      if (peers.length > 1) offsets[i] = round((2 * REACH * nth) / (peers.length - 1) - REACH);
  return offsets;
}
