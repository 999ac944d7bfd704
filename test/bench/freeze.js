/**
 * Are the reported percentiles of a freezing target correct? It responds at once, except in the middle FREEZE_MS (F) of
 * every PERIOD_MS (P). At a constant rate the response times are known: a request due u after the start of a freeze waits
 * for the rest of it, F - u; all others get their response at once. A share F / P of the requests is due in a freeze,
 * evenly spread, so for p > 1 - F / P the percentile is F - (1 - p) P. exactPercentiles() computes it from the
 * individual due times, 1 / rate apart.
 *
 * It ignores the time to work off the backlog: with `rate` due and `capacity` possible per second, the last term becomes
 * (1 - p) P (1 - rate / capacity). The reported percentiles include it (`error`), rightly: a user would have waited. So ours are also
 * compared with the response times that the target's own record gives (`error, as served`), and judged by these.
 *
 * The row `h2` is over HTTP/2 and TLS: one connection, and Go's own server with the same behaviour, which is slower than
 * the target of the other rows.
 */

import { measureInTurn, verdictOn } from './in-turn.js';
import { describePeers, measureOurs, measureOursHttp2, measurePeer, openLoopPeers } from './measure.js';
import { medianOfMost, quantile } from './statistics.js';
import { withSubject } from './subject.js';

/** @import { Report, Settings } from './index.js' */
/** @import { Subject } from './subject.js' */
/** @import { Arrivals } from './target/start.js' */

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

/** @typedef {Record<keyof typeof SHARES, number | null>} Percentiles ms */
/** @typedef {Record<keyof typeof SHARES, number>} Exact ms */
/** @typedef {{reported: Percentiles, served: Exact | null}} Run `served`: by the target's record; null: not known when the schedule started */

/** @param {Settings} settings @returns {Promise<Report>} */
export async function run(settings) {
  const { runs, seconds } = settings;
  const periods = Math.max(MIN_PERIODS, Math.round((seconds * 1000) / PERIOD_MS));
  return withSubject(async (subject) => {
    const sources = await sourcesOn(subject, (periods * PERIOD_MS) / 1000);
    /** @type {(string | number | null)[][]} */
    const rows = [];
    /** @type {object[]} */
    const raw = [];
    for (const rate of RATES) {
      const exact = exactPercentiles(rate, periods);
      const here = sources.map(({ tool, measure }) => ({ tool, measure: () => measure(rate) }));
      const measured = await measureInTurn(here, settings, `${rate}/s`);
      rows.push([rate, 'exact value', ...Object.values(exact), '', '', '', '']);
      rows.push(...measured.map(({ tool, runs: all }) => [rate, tool, ...figuresOf(all, exact)]));
      raw.push(...measured.map((one) => ({ ...one, rate, exact })));
    }
    return {
      question: `Reported response times in ms of a target that freezes for ${FREEZE_MS} ms in every ${PERIOD_MS} ms, ${periods} periods, open loop, ${CONNECTIONS} connections`,
      basis: `medians of ${runs} runs of ${(periods * PERIOD_MS) / 1000} s`,
      chart: { column: 'p90', unit: 'ms', named: 2, isLog: true },
      columns: ['rate/s', 'tool', 'p50', 'p90', 'p95', 'p99', 'error', 'error, as served', 'goal', 'met'],
      rows,
      summary: { peers: await describePeers() },
      raw,
    };
  });
}

/**
 * @param {Subject} subject
 * @param {number} seconds
 * @returns {Promise<{tool: string, measure: (rate: number) => Promise<Run>}[]>}
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
      const { p50Ms: p50, p90Ms: p90, p95Ms: p95, p99Ms: p99 } = figures;
      return { reported: { p50, p90, p95, p99 }, served: null };
    },
  }));
  const ours = [measureOurs, measureOursHttp2].map((measure, i) => ({
    tool: ['ours', 'ours, h2'][i],
    measure: async (/** @type {number} */ rate) => {
      const { result, arrivals } = await measure(subject, behaviour, loadOf(rate));
      const { p50, p90, p95, p99 } = result.latencyMs.response;
      const origin = BigInt(/** @type {string} */ (result.startedAtMonotonicNs));
      return { reported: { p50, p90, p95, p99 }, served: servedPercentiles(arrivals, rate, origin) };
    },
  }));
  return [...ours, ...peers];
}

/**
 * @param {number} rate per second; a period has a whole number of requests
 * @param {number} periods
 * @returns {Exact} by nearest rank
 */
export function exactPercentiles(rate, periods) {
  const begin = (PERIOD_MS - FREEZE_MS) / 2;
  return percentilesOf(
    Float64Array.from({ length: (rate * PERIOD_MS * periods) / 1000 }, (_, k) => {
      const into = ((k * 1000) / rate) % PERIOD_MS;
      return into >= begin && into < begin + FREEZE_MS ? begin + FREEZE_MS - into : 0;
    }),
  );
}

/**
 * The k-th response belongs to the k-th due time: requests are sent first come, first served, and responses that cross differ by
 * less than a millisecond.
 * @param {Pick<Arrivals, 'atNs' | 'heldNs'>} arrivals of all requests
 * @param {number} rate per second
 * @param {bigint} originNs when the schedule began
 * @returns {Exact}
 */
export function servedPercentiles({ atNs, heldNs }, rate, originNs) {
  const sentMs = Float64Array.from(atNs, (at, k) => Number(at + heldNs[k] - originNs) / 1e6).sort();
  return percentilesOf(sentMs.map((ms, k) => ms - (k * 1000) / rate));
}

/** @param {Float64Array} waits ms @returns {Exact} by nearest rank */
function percentilesOf(waits) {
  waits.sort();
  const at = (/** @type {keyof typeof SHARES} */ name) => quantile(waits, SHARES[name]);
  return { p50: at('p50'), p90: at('p90'), p95: at('p95'), p99: at('p99') };
}

/**
 * @param {Run[]} all of one tool
 * @param {Exact} exact
 * @returns {(number | string | null)[]} cells of the table
 */
function figuresOf(all, exact) {
  const names = /** @type {(keyof typeof SHARES)[]} */ (Object.keys(SHARES));
  const reported = names.map((name) => medianOfMost(all.map((one) => one.reported[name])));
  const error = worstOf(all, () => exact);
  const ofServed = worstOf(all, ({ served }) => served);
  const verdict = ofServed === null ? ['', ''] : verdictOn('2 %', Math.abs(ofServed) <= TOLERANCE);
  const percent = (/** @type {number | null} */ share) =>
    share === null ? '' : `${(share * 100).toFixed(1)} %`;
  return [...reported, percent(error), percent(ofServed), ...verdict];
}

/**
 * @param {Run[]} all
 * @param {(run: Run) => Exact | null} truthOf
 * @returns {number | null} the greatest of the percentiles' median errors; null: unknown
 */
function worstOf(all, truthOf) {
  const errors = JUDGED.map((name) =>
    medianOfMost(
      all.map((run) => {
        const [value, truth] = [run.reported[name], truthOf(run)?.[name]];
        return value === null || truth === undefined ? null : value / truth - 1;
      }),
    ),
  ).filter((error) => error !== null);
  return errors.length === 0 ? null : errors.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a));
}
