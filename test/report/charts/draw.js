/** Draws charts for tests. */
import { MAIN_SIZES } from '../../../src/report/charts/frame.js';
import { CHARTS } from '../../../src/report/charts/index.js';
/** @import { Drawn } from '../../../src/report/charts/chart.js' */
/** @import { Result } from '../../../src/result/schema.js' */

/** @param {string} name @param {unknown} data @returns {Drawn | null} */
export function drawOrNull(name, data) {
  return CHARTS[name](data, { id: 'a-chart', title: 'A chart', sizes: MAIN_SIZES });
}

/** @param {string} name @param {unknown} data @returns {Drawn} */
export function draw(name, data) {
  const drawn = drawOrNull(name, data);
  if (drawn === null) throw new Error(`${name} drew nothing`);
  return drawn;
}

/** @param {Drawn} drawn @returns {string[]} classes of the lines of the first SVG, from below */
export function linesOf({ svg }) {
  const [first] = svg.split('</svg>');
  return [...first.matchAll(/<path class="line ([^"]*)"/g)].map(([, names]) => names);
}

/** @param {Drawn} drawn @returns {string[]} */
export function legendOf({ legend }) {
  return legend.map(({ name }) => name);
}

/** @param {Result} result @returns {Drawn[]} all charts of a result */
export function chartsOf(result) {
  const { response, service } = result.latencyMs;
  const series = [
    { name: 'response time', latency: response },
    { name: 'service time', latency: service },
  ];
  return [
    ...['latency-over-time', 'rates', 'errors', 'send-lag'].map((name) => drawOrNull(name, result)),
    drawOrNull('percentiles', { axis: 'latency', series }),
  ].filter((drawn) => drawn !== null);
}
