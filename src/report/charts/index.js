/** The charts of HTML reports by name. */
import { levels } from './levels.js';
import { errors, latencyOverTime, rates, sendLag } from './over-time.js';
import { percentiles } from './percentiles.js';
import { runs } from './runs.js';

/** @import { Drawn } from './chart.js' */
/** @import { Setting } from './frame.js' */

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
