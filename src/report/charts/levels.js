/** Figures of a search by level: one value per level for each series. */
import { formatFigure } from '../../result/runs/figures.js';
import { extent } from '../describe/words.js';
import { compactLabel, linearAxis, logAxis, valueAxis } from './axes.js';
import { drawChart } from './chart.js';
import { limitsNear } from './lines.js';

/** @import { Unit } from './axes.js' */
/** @import { Drawn } from './chart.js' */
/** @import { Setting } from './frame.js' */

/**
 * `heading` of the column of levels, which ascend; `axis`: title of their axis; `values`: one per level.
 * @typedef {{heading: string, axis: string, levels: {level: number, name: string, verdict: string}[], unit: Unit,
 *   series: {name: string, values: (number | null)[]}[], limits: {text: string, value: number}[],
 *   answer: {level: number, name: string} | null}} Data
 */

/** The level axis is logarithmic when the highest level is more than this many times the lowest. */
const LOG_FROM = 4;

/** @param {Data} data @param {Setting} setting @returns {Drawn | null} null where no level has a value */
export function levels({ heading, axis, unit, levels: all, series, limits, answer }, setting) {
  const values = series.flatMap((one) => one.values);
  if (values.every((value) => value === null)) return null;
  const styled = limits.map((limit) => ({ ...limit, style: 6 }));
  const shown = limitsNear(styled, extent(values));
  const [first, last] = [all[0].level, all[all.length - 1].level];
  const names = series.map(({ name }) => name).join(', ');
  return drawChart({
    setting,
    summary: answer === null ? '' : `The vertical line marks the answer, ${answer.name}.`,
    xAxis:
      last > LOG_FROM * first
        ? logAxis(`${axis} (log scale)`, first, last, compactLabel)
        : linearAxis({ title: axis, low: first === last ? 0 : first, high: last, label: compactLabel }),
    yAxis: valueAxis(unit, names, [...values, ...shown.map(({ value }) => value)]),
    heading,
    moments: all.map(({ level, name, verdict }) => ({ name: `${name}: ${verdict}`, x: level })),
    series: series.map((one, i) => ({ ...one, style: i + 1 })),
    text: (value) => formatFigure(unit, value),
    horizontalLines: shown,
    verticalLines: answer === null ? [] : [{ name: answer.name, x: answer.level }],
  });
}
