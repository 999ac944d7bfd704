/** The phases of a request, each with its mean time over all requests. */
import { total } from '../../common/sums.js';

/** @import { LatencyBlocks } from '../../result/schema.js' */

/** `ms`: on average over all requests sent. @typedef {{name: string, phases: {name: string, ms: number}[]}} Row */

/** @type {[name: string, key: 'sendLag' | 'connect' | 'tls' | 'firstByte' | 'transfer'][]} */
const PHASES = [
  ['wait', 'sendLag'],
  ['connect', 'connect'],
  ['TLS', 'tls'],
  ['first byte', 'firstByte'],
  ['transfer', 'transfer'],
];

/** @param {string} name @param {LatencyBlocks} latencies @returns {Row} the phases add up to the mean time from due to done */
export function phasesOf(name, latencies) {
  const { service, sendLag } = latencies;
  const phases = PHASES.map(([phase, key]) => {
    const { mean = null, count = 0 } = latencies[key] ?? {};
    return { name: phase, ms: (Number(mean) * count) / service.count };
  });
  const whole = Number(service.mean) + Number(sendLag.mean);
  const incomplete = {
    name: 'no complete response',
    ms: Math.max(0, whole - total(phases.map(({ ms }) => ms))),
  };
  return { name, phases: [...phases, incomplete].filter(({ ms }) => ms >= 0.001 * whole) };
}
