/** Response and service time by percentile: what lies between them is waiting for a connection, coordinated omission made visible. */
import { formatLatency } from '../../../units.js';
import { sentences } from '../words.js';
import { distribution } from './distribution.js';

/**
 * @param {import('../../../results/schema.js').Result} result
 * @returns {import('../time-figure.js').Drawn}
 */
export function latencyDistribution({ latencyMs: { response, service }, load }) {
  return distribution({
    id: 'latency-distribution',
    title: 'Latency by percentile',
    summary: summarise(response, service, load.model),
    empty: 'No latency was recorded: there is nothing to draw.',
    yTitle: 'latency',
    series: [
      { name: 'response time (from when it was due)', style: 2, latency: response },
      { name: 'service time (from when it was sent)', style: 1, latency: service },
    ],
  });
}

/**
 * @param {import('../../../results/schema.js').LatencyBlock} response
 * @param {import('../../../results/schema.js').LatencyBlock} service
 * @param {'open' | 'closed'} model
 */
function summarise(response, service, model) {
  if (response.p50 === null || response.p99 === null || response.max === null) return '';
  const [p50, p99, max] = [response.p50, response.p99, response.max].map(formatLatency);
  const served = service.p99 === null ? '' : ` By service time, p99 is ${formatLatency(service.p99)}.`;
  return sentences(
    `Half of the requests took no longer than ${p50}, 99 % no longer than ${p99}, the longest ${max}.${served}`,
    model === 'open'
      ? 'The shaded gap is the time requests waited before they were sent; a measurement by service time alone would leave it out.'
      : 'In a closed loop the next request is sent only after an answer, so waiting does not show here.',
  );
}
