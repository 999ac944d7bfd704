/**
 * Are the reported percentiles of a freezing target correct? It responds at once, except in the middle FREEZE_MS (F) of
 * every PERIOD_MS (P). At a constant rate the response times are known: a request due u after the start of a freeze waits
 * for the rest of it, F - u; all others get their response at once. A share F / P of the requests is due in a freeze,
 * evenly spread, so for p > 1 - F / P the percentile is F - (1 - p) P. exactPercentiles() computes it from the
 * individual due times, 1 / rate apart.
 *
 * It ignores the time to work off the backlog: with `rate` due and `capacity` possible per second, the last term becomes
 * (1 - p) P (1 - rate / capacity). The tool's figures include this time, which counts as its error.
 *
 * The row `h2` is over HTTP/2 and TLS: one connection, and Go's own server with the same behaviour, which is slower than
 * the target of the other rows. Its exact value includes the backlog at the capacity that h2load finds, if it is installed.
 */

import { shareCores } from './cores.js';
import { hasH2load, measureH2load } from './h2load.js';
import { measureInTurn, verdictOn } from './in-turn.js';
import { describePeers, measureOurs, measureOursHttp2, measurePeer, openLoopPeers } from './measure.js';
import { median, medianOfMost, quantile } from './statistics.js';
import { OCSP_REQUEST, withSubject } from './subject.js';
import { withTarget } from './target/start.js';

/** @import { Report, Settings } from './index.js' */
/** @import { Subject } from './subject.js' */

const PERIOD_MS = 2500;
/** No request is due exactly when a freeze starts, 994.5 ms into the period. */
const FREEZE_MS = 511;
const RATES = [100, 1000];
const CONNECTIONS = 50;
const SHARES = /** @type {const} */ ({ p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99 });
const JUDGED = /** @type {const} */ (['p90', 'p95', 'p99']);
const TOLERANCE = 0.02;
/** Fewer would make the percentiles unreliable. */
const MIN_PERIODS = 4;

const OVER_HTTP2 = 'ours, h2';

/** @typedef {Record<keyof typeof SHARES, number | null>} Percentiles ms */
/** @typedef {Record<keyof typeof SHARES, number>} Exact ms */

/** @param {Settings} settings @returns {Promise<Report>} */
export async function run(settings) {
  const { runs, seconds } = settings;
  const periods = Math.max(MIN_PERIODS, Math.round((seconds * 1000) / PERIOD_MS));
  return withSubject(async (subject) => {
    const sources = await sourcesOn(subject, (periods * PERIOD_MS) / 1000);
    const capacity = (await hasH2load()) ? await capacityOfHttp2(subject, settings) : null;
    /** @type {{rate: number, tool: string, runs: Percentiles[], exact: Exact}[]} */
    const rows = [];
    for (const rate of RATES) {
      const here = sources.map(({ tool, measure }) => ({ rate, tool, measure: () => measure(rate) }));
      const measured = await measureInTurn(here, settings, `${rate}/s`);
      const exact = { rate, tool: 'exact value', exact: exactPercentiles(rate, periods) };
      const exactHttp2 = {
        rate,
        tool: 'exact value, h2',
        exact: exactPercentiles(rate, periods, capacity ?? undefined),
      };
      rows.push(...[exact, exactHttp2].map((one) => ({ ...one, runs: [one.exact] })));
      rows.push(
        ...measured.map((one) => ({ ...one, exact: (one.tool === OVER_HTTP2 ? exactHttp2 : exact).exact })),
      );
    }
    return {
      question: `Reported response times in ms of a target that freezes for ${FREEZE_MS} ms in every ${PERIOD_MS} ms, ${periods} periods, open loop, ${CONNECTIONS} connections`,
      basis: `medians of ${runs} runs of ${(periods * PERIOD_MS) / 1000} s`,
      chart: { column: 'p90', unit: 'ms', named: 2, isLog: true },
      columns: ['rate/s', 'tool', 'p50', 'p90', 'p95', 'p99', 'worst error', 'goal', 'met'],
      rows: rows.map(({ rate, tool, runs: all, exact }) => figuresOf(rate, tool, all, exact)),
      summary: { peers: await describePeers(), 'HTTP/2 responses/s with h2load': capacity ?? 'not measured' },
      raw: rows,
    };
  });
}

/**
 * @param {Subject} subject
 * @param {number} seconds
 * @returns {Promise<{tool: string, measure: (rate: number) => Promise<Percentiles>}[]>}
 */
async function sourcesOn(subject, seconds) {
  const behaviour = { freezeEveryMs: PERIOD_MS, freezeForMs: FREEZE_MS };
  const loadOf = (/** @type {number} */ ratePerSecond) => ({
    ratePerSecond,
    connections: CONNECTIONS,
    seconds,
  });
  const peers = (await openLoopPeers()).map((peer) => ({
    tool: peer.name,
    measure: async (/** @type {number} */ rate) => {
      const { figures } = await measurePeer(peer, subject, behaviour, loadOf(rate));
      return { p50: figures.p50Ms, p90: figures.p90Ms, p95: figures.p95Ms, p99: figures.p99Ms };
    },
  }));
  const ours = [measureOurs, measureOursHttp2].map((measure, i) => ({
    tool: ['ours', OVER_HTTP2][i],
    measure: async (/** @type {number} */ rate) => {
      const { result } = await measure(subject, behaviour, loadOf(rate));
      const { p50, p90, p95, p99 } = result.latencyMs.response;
      return { p50, p90, p95, p99 };
    },
  }));
  return [...ours, ...peers];
}

/** @param {Subject} subject @param {Settings} settings @returns {Promise<number>} responses per second of the target without freezes */
async function capacityOfHttp2({ request: bodyFile, response, tls }, { runs, seconds }) {
  return withTarget({ bodyFile: response, tls }, async ({ url }) => {
    const job = { url, bodyFile, contentType: OCSP_REQUEST, streams: CONNECTIONS, seconds };
    const rates = [];
    for (let i = 0; i < runs; i++) rates.push((await measureH2load(job, shareCores().generator)).perSecond);
    return median(rates);
  });
}

/**
 * @param {number} rate per second; a period has a whole number of requests
 * @param {number} periods
 * @param {number} [capacity] responses per second after a freeze
 * @returns {Exact} by nearest rank
 */
export function exactPercentiles(rate, periods, capacity = Number.POSITIVE_INFINITY) {
  const begin = (PERIOD_MS - FREEZE_MS) / 2;
  const count = (rate * PERIOD_MS * periods) / 1000;
  let freeAtMs = 0;
  const waits = Float64Array.from({ length: count }, (_, k) => {
    const dueMs = (k * 1000) / rate;
    const into = dueMs % PERIOD_MS;
    const waitMs = into >= begin && into < begin + FREEZE_MS ? begin + FREEZE_MS - into : 0;
    freeAtMs = Math.max(freeAtMs, dueMs + waitMs) + 1000 / capacity;
    return freeAtMs - dueMs;
  }).sort();
  const at = (/** @type {keyof typeof SHARES} */ name) => quantile(waits, SHARES[name]);
  return { p50: at('p50'), p90: at('p90'), p95: at('p95'), p99: at('p99') };
}

/**
 * @param {number} rate
 * @param {string} tool
 * @param {Percentiles[]} all
 * @param {Exact} exact
 */
function figuresOf(rate, tool, all, exact) {
  const names = /** @type {(keyof typeof SHARES)[]} */ (Object.keys(SHARES));
  const reported = Object.fromEntries(names.map((name) => [name, medianOfMost(all.map((one) => one[name]))]));
  const errors = JUDGED.flatMap((name) => {
    const value = reported[name];
    return value === null ? [] : [value / exact[name] - 1];
  });
  const worst = errors.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);
  const isMet = errors.length === JUDGED.length && Math.abs(worst) <= TOLERANCE;
  const verdict = tool.startsWith('ours') ? verdictOn('2 %', isMet) : ['', ''];
  const error = tool.startsWith('exact') ? '' : `${(worst * 100).toFixed(1)} %`;
  return [rate, tool, ...names.map((name) => reported[name]), error, ...verdict];
}
