/**
 * A result as Prometheus text exposition, for a file and, while the run goes on, for scraping. Names follow from OpenTelemetry's
 * as its compatibility rules have it: dots become underscores, the unit is added, counters end in `_total`.
 */
import { metricsOf } from './metrics.js';
import { exposition, sample } from './prometheus-text.js';
import { histogramSamples, percentileSamples } from './prometheus-times.js';

/** @typedef {import('../../result/schema.js').Result} Result */
/** @typedef {import('./metrics.js').Metric} Metric */
/** @typedef {import('./prometheus-text.js').Family} Family */

const TYPES = /** @type {const} */ ({
  gauge: 'gauge',
  counter: 'counter',
  histogram: 'histogram',
  percentiles: 'summary',
});

/**
 * @param {Result} result
 * @returns {string} ends with a newline
 */
export function render(result) {
  return exposition([infoOf(result), ...metricsOf(result).map(familyOf)]);
}

/**
 * What OTLP has as attributes of its resource.
 *
 * @param {Result} result
 * @returns {Family}
 */
function infoOf({ tool, command, target, load }) {
  const labels = {
    version: tool.version,
    command,
    url: target.url,
    product: target.product ?? '',
    product_version: target.version ?? '',
    model: load.model,
  };
  const help = 'What was run, by which version, against what.';
  return { name: 'info', type: 'gauge', help, samples: [sample(1, labels)] };
}

/** @param {Metric} metric @returns {Family} */
function familyOf(metric) {
  return {
    name: nameOf(metric),
    type: TYPES[metric.kind],
    help: metric.help,
    samples: samplesOf(metric),
  };
}

/** @param {Metric} metric */
function nameOf({ name, unit, kind }) {
  const inUnit = unit === 's' ? '_seconds' : unit.endsWith('/s') ? '_per_second' : '';
  return `${name.replaceAll('.', '_')}${inUnit}${kind === 'counter' ? '_total' : ''}`;
}

/** @param {Metric} metric */
function samplesOf(metric) {
  switch (metric.kind) {
    case 'histogram':
      return metric.points.flatMap(({ labels, latency }) => histogramSamples(latency, labels));
    case 'percentiles':
      return metric.points.flatMap(({ labels, latency }) => percentileSamples(latency, labels));
    default:
      return metric.points.map(({ labels, value }) => sample(value, labels));
  }
}
