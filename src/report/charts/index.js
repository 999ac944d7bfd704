/** The charts of HTML reports by name. */
import { levels } from './levels.js';
import { errors, latencyOverTime, rates, sendLag } from './over-time.js';
import { percentiles } from './percentiles.js';
import { runs } from './runs.js';

/** @type {Record<string, (data: any, setting: import('./frame.js').Setting) => import('./chart.js').Drawn | null>} null: there is nothing to draw */
export const CHARTS = {
  ...{ 'latency-over-time': latencyOverTime, rates, errors, 'send-lag': sendLag },
  ...{ percentiles, runs, levels },
};
