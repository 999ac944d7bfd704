/** The charts of HTML reports by name. Each draws the `data` of a chart part as SVG that needs no script. */
import { errors } from './errors.js';
import { levels } from './levels.js';
import { latencyOverTime, rates, sendLag } from './over-time.js';
import { percentiles } from './percentiles.js';
import { runs } from './runs.js';
/** @import { Table } from '../sections.js' */
/** @import { Setting } from './frame.js' */

/** @typedef {{name: string, className: string, isBox?: boolean}} LegendEntry `className` of its line or box */
/**
 * What the script reads out.
 *
 * @typedef {object} ReadOuts
 * @property {number[]} [x] places along the x axis, 0 to 1, ascending; without them `at` names the dots of class `run`, in drawing order
 * @property {string[]} at the name of each, e.g. `second 12`
 * @property {string[][]} values of each, one per entry of the legend
 */
/**
 * @typedef {object} Drawn
 * @property {string} svg one SVG for each size
 * @property {string} summary a sentence or two: what the chart shows
 * @property {LegendEntry[]} legend
 * @property {Table} table its data
 * @property {ReadOuts} readOuts
 */

/** @type {Record<string, (data: any, setting: Setting) => Drawn | null>} null: there is nothing to draw */
export const CHARTS = {
  'latency-over-time': latencyOverTime,
  rates,
  errors,
  'send-lag': sendLag,
  percentiles,
  runs,
  levels,
};
