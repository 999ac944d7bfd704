/** Figures of a search by level: one value per level for each series. */
import { figureText } from '../../result/runs/figures.js';
import { extent } from '../describe/words.js';
import { compactLabel, linearAxis, logAxis, valueAxis } from './axes.js';
import { drawChart } from './chart.js';

/** @import { Unit } from './axes.js' */
/** @import { Drawn } from './chart.js' */
/** @import { Setting } from './frame.js' */

/**
 * `heading`: of a column of levels; `axis`: title of the level axis; levels ascend; `unit`: of the values, one per level and series.
 * @typedef {object} Data
 * @property {string} heading
 * @property {string} axis
 * @property {{level: number, name: string, verdict: string}[]} levels
 * @property {Unit} unit
 * @property {{name: string, values: (number | null)[]}[]} series
 * @property {{text: string, value: number}[]} limits
 * @property {{level: number, name: string} | null} answer
 */

/** The level axis is logarithmic when the highest level is more than this many times the lowest. */
const LOG_FROM = 4;

/** Limits beyond this multiple of the measured range would flatten the lines; they are left out. */
const LIMIT_REACH = 10;

/** @param {Data} data @param {Setting} setting @returns {Drawn | null} null where no level has a value */
export function levels({ heading, axis, unit, levels: all, series, limits, answer }, setting) {
  const values = series.flatMap((one) => one.values);
  const [low, high] = extent(values);
  if (low > high) return null;
  const shown = limits.filter(({ value }) => value < high * LIMIT_REACH && value > low / LIMIT_REACH);
  const [first, last] = [all[0].level, all[all.length - 1].level];
  return drawChart({
    setting,
    summary: answer === null ? '' : `The upright line is the answer, ${answer.name}.`,
    xAxis:
      last > LOG_FROM * first
        ? logAxis(`${axis} (log scale)`, first, last, compactLabel)
        : linearAxis({ title: axis, low: first === last ? 0 : first, high: last, label: compactLabel }),
    yAxis: valueAxis(unit, series.map(({ name }) => name).join(', '), [
      ...values,
      ...shown.map(({ value }) => value),
    ]),
    heading,
    moments: all.map(({ level, name, verdict }) => ({ name: `${name}: ${verdict}`, x: level })),
    series: series.map((one, i) => ({ ...one, style: i + 1 })),
    text: (value) => figureText(unit, value),
    levels: shown.map(({ text, value }) => ({
      ...{ name: `limit: ${text}`, label: text, value },
      ...{ style: 6, mark: 'limit' },
    })),
    uprights: answer === null ? [] : [{ name: answer.name, x: answer.level }],
  });
}
