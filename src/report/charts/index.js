/** The charts of HTML reports by name. */
import { latencyOverTime, sendLag } from './latency-over-time.js';
import { levels } from './levels.js';
import { percentiles } from './percentiles.js';
import { phases } from './phases.js';
import { errors, rates } from './rates.js';
import { runs } from './runs.js';

/**
 * Null if there is nothing to draw.
 * @type {Record<string, (data: any, setting: import('./frame.js').Setting) => import('./chart.js').Drawn | null>}
 */
export const CHARTS = {
  ...{ 'latency-over-time': latencyOverTime, rates, errors, 'send-lag': sendLag },
  ...{ percentiles, phases, runs, levels },
};
