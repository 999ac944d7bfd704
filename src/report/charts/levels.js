/** Figures of a search by level: one value per level for each series. */

import { figureText } from '../../result/runs/figures.js';
import { extent } from '../describe/words.js';
import { compactLabel, latencyAxis, linearAxis, logAxis } from './axes.js';
import { frames } from './frame.js';
import { drawLevels, drawPoints, lineClass } from './lines.js';
import { labeller } from './runs.js';

/** @import { Axis } from './axes.js' */
/** @import { Place, Setting } from './frame.js' */
/** @import { Drawn } from './index.js' */

/**
 * @typedef {object} Data
 * @property {string} heading of a column of levels
 * @property {string} axis title of the level axis
 * @property {'ms' | '/s' | 'fraction'} unit of the values
 * @property {{level: number, name: string, verdict: string}[]} levels ascending
 * @property {{name: string, values: (number | null)[]}[]} series a value per level
 * @property {{text: string, value: number}[]} [limits]
 * @property {{level: number, name: string} | null} [answer]
 */

/** The level axis is logarithmic when the highest level is more than this many times the lowest. */
const LOG_FROM = 4;

/** Limits beyond this multiple of the measured range would flatten the lines; they are left out. */
const LIMIT_REACH = 10;

/** Of the series. Style 3 is that of the answer. */
const STYLES = Object.freeze([1, 2, 4, 5]);

/** @param {Data} data @param {Setting} setting @returns {Drawn | null} null where no level has a value */
export function levels(data, setting) {
  const { heading, unit, levels: all, series, answer = null } = data;
  const [low, high] = extent(series.flatMap(({ values }) => values));
  if (low > high) return null;
  const limits = (data.limits ?? [])
    .filter(({ value }) => value < high * LIMIT_REACH && value > low / LIMIT_REACH)
    .map(({ text, value }) => ({ name: `limit: ${text}`, label: text, style: 6, mark: 'limit', value }));
  const [xAxis, yAxis] = [levelAxis(data), valueAxis(data, limits)];
  const styled = series.map((one, i) => ({
    ...one,
    style: STYLES[i % STYLES.length],
  }));
  const draw = (/** @type {Place} */ place) => {
    const x = answer === null ? 0 : place.x(xAxis.at(answer.level));
    return [
      answer === null
        ? ''
        : `<line class="line s3 limit" x1="${x}" x2="${x}" y1="${place.top}" y2="${place.bottom}"/>`,
      ...styled.map(({ style, values }) => {
        const points = all.map(({ level }, i) => ({ at: xAxis.at(level), value: values[i] ?? null }));
        return drawPoints(points, { style }, yAxis, place);
      }),
      drawLevels(limits, yAxis, place),
    ].join('\n');
  };
  const summary = answer === null ? '' : `The dotted line is the answer, ${answer.name}.`;
  const cells = all.map((_, i) => series.map(({ values }) => figureText(unit, values[i] ?? null)));
  return {
    svg: frames({ ...setting, summary, xAxis, yAxis, draw }),
    summary,
    legend: [
      ...styled.map(({ name, style }) => ({ name, className: lineClass(style) })),
      ...limits.map(({ name, style, mark }) => ({ name, className: lineClass(style, mark) })),
      ...(answer === null ? [] : [{ name: 'answer', className: lineClass(3, 'limit') }]),
    ],
    table: {
      kind: 'table',
      caption: setting.title,
      columns: [
        { name: heading, isText: true },
        ...series.map(({ name }) => ({ name })),
        { name: 'Verdict', isText: true },
      ],
      rows: all.map(({ name, verdict }, i) => [name, ...cells[i], { text: verdict, verdict }]),
    },
    readOuts: {
      x: all.map(({ level }) => Number(xAxis.at(level).toFixed(4))),
      at: all.map(({ name, verdict }) => `${name}: ${verdict}`),
      values: cells.map((own) => [
        ...own,
        ...limits.map(({ value }) => figureText(unit, value)),
        ...(answer === null ? [] : [answer.name]),
      ]),
    },
  };
}

/** @param {Data} data @returns {Axis} */
function levelAxis({ axis, levels: all }) {
  const [low, high] = [all[0].level, all[all.length - 1].level];
  if (high > LOG_FROM * low) return logAxis(`${axis} (log scale)`, low, high, compactLabel);
  return linearAxis({ title: axis, low: low === high ? 0 : low, high, label: compactLabel });
}

/** @param {Data} data @param {{value: number}[]} limits @returns {Axis} */
function valueAxis({ unit, series }, limits) {
  const names = series.map(({ name }) => name).join(', ');
  const values = [...series.flatMap((one) => one.values), ...limits.map(({ value }) => value)];
  if (unit === 'ms')
    return latencyAxis(
      names,
      values.filter((ms) => ms !== null),
    );
  const [, high] = extent(values);
  return linearAxis({ title: names, high, label: labeller(unit, high) });
}
