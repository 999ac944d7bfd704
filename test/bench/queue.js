/**
 * Is the reported wait correct? The target is a single server with a fixed service time S, and arrivals are Poisson: M/D/1,
 * whose mean wait is rho / (2 (1 - rho)) S (Pollaczek and Khinchine) at load rho = rate x S. The reported wait is the mean
 * response time minus S.
 *
 * A short run estimates a mean wait poorly: successive waits are correlated, so at 80 % load the mean of 800 requests is
 * often off by a quarter. But the seed determines the due times, and these determine the waits (Lindley, 1952:
 * W(k+1) = max(0, W(k) + S - gap(k))). So the bench uses the first seeds whose exact mean wait is within NEAR of the
 * formula; the remaining difference is the tool's error. `at target` is the time that the target held requests, minus S:
 * if it differs from `these arrivals`, requests did not arrive as planned.
 */
import { dueTimes } from './due-times.js';
import { measureInTurn, verdictOn } from './in-turn.js';
import { measureOurs } from './measure.js';
import { mean } from './statistics.js';
import { withSubject } from './subject.js';
/** @import { Report, Settings } from './index.js' */

/** Long compared with the 0.1 ms of a round trip, which the bench `delay` measures. */
export const SERVICE_MS = 20;
const CONNECTIONS = 64;
const LOADS = [
  { rho: 0.5, tolerance: 0.03 },
  { rho: 0.8, tolerance: 0.03 },
  { rho: 0.9, tolerance: 0.1 },
];
const NEAR = 0.01;

/** The default, and the most precise: the target has its own core, so spinning does not slow it down. */
const MODES = ['auto', 'spin'];

/** @typedef {{seed: number, requests: number, exactMs: number, heldMs: number, reportedMs: number}} Run */

/** @param {Settings} settings @returns {Promise<Report>} */
export async function run(settings) {
  const { runs, seconds } = settings;
  return withSubject(async (subject) => {
    const rows = [];
    for (const { rho, tolerance } of LOADS) {
      const seeds = typicalSeeds(rho, seconds, runs);
      const load = { ratePerSecond: (rho * 1000) / SERVICE_MS, connections: CONNECTIONS, seconds };
      const modes = MODES.map((pacing) => ({
        ...{ rho, tolerance, formulaMs: meanWait(rho, SERVICE_MS), pacing },
        measure: async (/** @type {number} */ i) => {
          const { seed, exactMs } = seeds[i];
          const options = { arrivals: 'poisson', seed, pacing };
          const { result, stats } = await measureOurs(subject, { serviceMs: SERVICE_MS }, load, options);
          const { mean: responseMs, count } = result.latencyMs.response;
          const heldMs = (stats.heldNs?.mean ?? 0) / 1e6 - SERVICE_MS;
          return { seed, requests: count, exactMs, heldMs, reportedMs: (responseMs ?? 0) - SERVICE_MS };
        },
      }));
      rows.push(...(await measureInTurn(modes, settings, `${rho * 100} % load`)));
    }
    return {
      question: `Reported mean wait in ms at a single server with a service time of ${SERVICE_MS} ms; Poisson arrivals with seeds whose exact mean wait is within ${NEAR * 100} % of the formula's`,
      basis: `${runs} runs of ${seconds} s, pooled`,
      chart: { column: 'reported', unit: 'ms', named: 2 },
      columns: [
        'load',
        'pacing',
        'seeds',
        'requests',
        'formula',
        'these arrivals',
        'at target',
        'reported',
        'error vs formula',
        'error vs arrivals',
        'worst run',
        'goal',
        'met',
      ],
      rows: rows.map(figuresOf),
      summary: {},
      raw: rows,
    };
  });
}

/** @param {{rho: number, pacing: string, tolerance: number, formulaMs: number, runs: Run[]}} row */
function figuresOf({ rho, pacing, tolerance, formulaMs, runs }) {
  const requests = runs.reduce((sum, run) => sum + run.requests, 0);
  const pooled = (/** @type {'exactMs' | 'heldMs' | 'reportedMs'} */ key) =>
    runs.reduce((sum, run) => sum + run[key] * run.requests, 0) / requests;
  const [exact, held, reported] = [pooled('exactMs'), pooled('heldMs'), pooled('reportedMs')];
  const percent = (/** @type {number} */ ratio) => `${((ratio - 1) * 100).toFixed(1)} %`;
  const ratios = runs.map((run) => run.reportedMs / run.exactMs);
  const worst = ratios.reduce((a, b) => (Math.abs(b - 1) > Math.abs(a - 1) ? b : a));
  return [
    `${rho * 100} %`,
    pacing,
    runs.map(({ seed }) => seed).join(' '),
    requests,
    formulaMs,
    exact,
    held,
    reported,
    percent(reported / formulaMs),
    percent(reported / exact),
    percent(worst),
    ...verdictOn(`${tolerance * 100} %`, Math.abs(reported / formulaMs - 1) <= tolerance),
  ];
}

/** @param {number} rho @param {number} serviceMs @returns {number} ms: mean wait of M/D/1 */
export function meanWait(rho, serviceMs) {
  return (rho / (2 * (1 - rho))) * serviceMs;
}

/**
 * @param {ArrayLike<number>} arrivals ms, ascending
 * @param {number} serviceMs
 * @returns {Float64Array} ms: the wait of each for a first-come, first-served server
 */
export function lindleyWaits(arrivals, serviceMs) {
  const waits = new Float64Array(arrivals.length);
  for (let k = 1; k < arrivals.length; k++) {
    waits[k] = Math.max(0, waits[k - 1] + serviceMs - (arrivals[k] - arrivals[k - 1]));
  }
  return waits;
}

/**
 * @param {number} rho
 * @param {number} seconds
 * @param {number} count
 * @returns {{seed: number, exactMs: number}[]} the first seeds whose exact mean wait is near the formula's
 */
export function typicalSeeds(rho, seconds, count) {
  const formula = meanWait(rho, SERVICE_MS);
  const found = [];
  for (let seed = 1; found.length < count; seed++) {
    const exactMs = mean(lindleyWaits(dueTimes((rho * 1000) / SERVICE_MS, seconds, seed), SERVICE_MS));
    if (Math.abs(exactMs / formula - 1) <= NEAR) found.push({ seed, exactMs });
  }
  return found;
}
