/** Response and service time by percentile: what lies between them is waiting for a connection, coordinated omission made visible. */
import { formatLatency } from '../../../units.js';
import { counted, timeText } from '../../phrases.js';
import { sentences } from '../words.js';
import { distribution } from './distribution.js';

/** @typedef {import('../../../results/schema.js').LatencyBlock} LatencyBlock */
/** @typedef {import('../../../results/schema.js').LatencyBlocks} LatencyBlocks */

/** Times that differ by less lie on each other in the chart. */
const VISIBLE_SHARE = 0.05;

/**
 * @param {import('../../../results/schema.js').Result} result
 * @returns {import('../time-figure.js').Drawn}
 */
export function latencyDistribution({ latencyMs, load }) {
  const { response, service } = latencyMs;
  return distribution({
    id: 'latency-distribution',
    title: 'Latency by percentile',
    summary: summarise(latencyMs, load.model),
    empty: 'No latency was recorded: there is nothing to draw.',
    yTitle: 'latency',
    series: [
      { name: 'response time (from when it was due)', style: 2, mark: 'headline', latency: response },
      { name: 'service time (from when it was sent)', style: 1, mark: 'behind', latency: service },
    ],
    shaded: response.count === service.count,
  });
}

/**
 * @param {LatencyBlocks} latencies
 * @param {'open' | 'closed'} model
 */
function summarise(latencies, model) {
  const { response, service } = latencies;
  if (response.p50 === null || response.p99 === null || response.max === null) return '';
  const [p50, p99, max] = [response.p50, response.p99, response.max].map(formatLatency);
  const served = service.p99 === null ? '' : ` By service time, p99 is ${formatLatency(service.p99)}.`;
  const all =
    response.count === 1
      ? `The one request took ${max}.`
      : `Half of the requests took no longer than ${p50}, 99 % no longer than ${p99}, the longest ${max}.${served}`;
  return sentences(all, aboutTheGap(latencies, model));
}

/**
 * @param {LatencyBlocks} latencies
 * @param {'open' | 'closed'} model
 * @returns {string} what lies between the lines, if that can be told
 */
function aboutTheGap({ response, service, sendLag }, model) {
  if (model === 'closed') {
    return 'In a closed loop the next request is sent only after an answer, so waiting does not show here.';
  }
  const unsent = response.count - service.count;
  if (unsent > 0) {
    return `${counted(unsent, 'request')} that ${unsent === 1 ? 'was' : 'were'} never sent ${unsent === 1 ? 'is' : 'are'} in the response time only, with the age they reached: the lines are not of the same requests.`;
  }
  const isApart = /** @type {const} */ (['p50', 'p99', 'max']).some((key) =>
    areApart(response[key], service[key]),
  );
  return isApart
    ? 'The shaded gap is the time requests waited before they were sent; a measurement by service time alone would leave it out.'
    : `The lines lie on each other, or nearly so: 99 % of requests were sent within ${timeText(sendLag.p99)} of when they were due.`;
}

/**
 * @param {LatencyBlock['p50']} a
 * @param {LatencyBlock['p50']} b
 */
function areApart(a, b) {
  return Math.abs(Number(a) - Number(b)) > VISIBLE_SHARE * Math.max(Number(a), Number(b));
}
