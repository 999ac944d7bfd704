/**
 * How much does the tool add to a response time? The target responds after a known delay. The excess is caused by the tool,
 * the loopback interface, or the target itself, which reports its part: `target` is the time from reading a request to
 * handing the response to the kernel. The row `h2` is over HTTP/2 and TLS: one connection to Go's own server, whose time for both
 * is not in `target`.
 */
import { measureInTurn, verdictOn } from './in-turn.js';
import {
  describePeers,
  measureOurs,
  measureOursHttp2,
  measurePeer,
  openLoopPeers,
  presentPeers,
} from './measure.js';
import { medianOfMost } from './statistics.js';
import { withSubject } from './subject.js';

/** @import { Report, Settings } from './index.js' */
/** @import { Subject } from './subject.js' */
/** @import { TargetStats } from './target/start.js' */

const DELAYS_MS = [0.2, 1, 10, 100];
/** One connection in a closed loop; in the open loop, enough that no request waits for a connection. */
const CLOSED = { ratePerSecond: null, connections: 1 };
const OPEN = { ratePerSecond: 100, connections: 20 };
/** @type {{load: typeof OPEN | typeof CLOSED, options: Record<string, string>}[]} */
const OURS = [
  { load: OPEN, options: {} },
  { load: OPEN, options: { pacing: 'spin' } },
  { load: CLOSED, options: {} },
];
const GOAL = { p50: 0.15, p99: 1 };
/** On one connection; with fewer, the p99 would be the maximum. */
const MIN_SAMPLES = 150;

/** @typedef {{p50: number | null, p99: number | null, targetP50: number, targetP99: number}} Added ms above the delay */
/** @typedef {{delayMs: number, tool: string, ours: boolean, runs: Added[]}} Row */

/** @param {Settings} settings @returns {Promise<Report>} */
export async function run(settings) {
  return withSubject(async (subject) => {
    const sources = await sourcesOn(subject);
    /** @type {Row[]} */
    const rows = [];
    for (const delayMs of DELAYS_MS) {
      const enough = Math.max(settings.seconds, (MIN_SAMPLES * delayMs) / 1000);
      const here = sources.map(({ tool, ours, measure }) => ({
        ...{ delayMs, tool, ours },
        measure: () => measure(delayMs, enough),
      }));
      rows.push(...(await measureInTurn(here, settings, `${delayMs} ms`)));
    }
    return {
      question: `Reported response time minus the delay of the target, in ms: open loop at ${OPEN.ratePerSecond}/s, and closed loop on one connection, at least ${MIN_SAMPLES} responses`,
      chart: { column: 'p99', unit: 'ms', named: 2 },
      columns: ['delay', 'tool', 'p50', 'p99', 'target p50', 'target p99', 'goal', 'met'],
      rows: rows.map(figuresOf),
      summary: { peers: await describePeers() },
      raw: rows,
    };
  });
}

/**
 * @param {Subject} subject
 * @returns {Promise<{tool: string, ours: boolean, measure: (delayMs: number, seconds: number) => Promise<Added>}[]>}
 */
async function sourcesOn(subject) {
  const own = [
    ...OURS.map((one) => ({ ...one, run: measureOurs, name: Object.values(one.options) })),
    { load: OPEN, options: {}, run: measureOursHttp2, name: ['h2'] },
  ];
  const ours = own.map(({ load, options, run, name }) => ({
    tool: `ours, ${[nameOf(load), ...name].join(', ')}`,
    ours: true,
    measure: async (/** @type {number} */ delayMs, /** @type {number} */ seconds) => {
      const { result, stats } = await run(subject, { delayMs }, { ...load, seconds }, options);
      const { p50, p99 } = result.latencyMs.response;
      return added({ p50, p99 }, stats, delayMs);
    },
  }));
  const open = (await openLoopPeers()).map((peer) => ({ peer, load: OPEN }));
  const closedOnly = (await presentPeers()).filter(({ openLoop }) => openLoop === undefined);
  const peers = [...open, ...closedOnly.map((peer) => ({ peer, load: CLOSED }))].map(({ peer, load }) => ({
    tool: `${peer.name}, ${nameOf(load)}`,
    ours: false,
    measure: async (/** @type {number} */ delayMs, /** @type {number} */ seconds) => {
      // There is no coordinated omission here, so a correction for it would only distort the figures.
      const raw = { expectedMs: delayMs, rawLatencies: true };
      const { figures, stats } = await measurePeer(peer, subject, { delayMs }, { ...load, ...raw, seconds });
      return added({ p50: figures.p50Ms, p99: figures.p99Ms }, stats, delayMs);
    },
  }));
  return [...ours, ...peers];
}

/** @param {{ratePerSecond: number | null}} load */
function nameOf({ ratePerSecond }) {
  return ratePerSecond === null ? 'closed' : 'open';
}

/**
 * @param {{p50: number | null, p99: number | null}} reported
 * @param {TargetStats} stats
 * @param {number} delayMs
 * @returns {Added}
 */
function added({ p50, p99 }, { heldNs }, delayMs) {
  if (heldNs === null) throw new Error('The target sent no responses.');
  const above = (/** @type {number | null} */ value) => (value === null ? null : value - delayMs);
  return {
    p50: above(p50),
    p99: above(p99),
    targetP50: heldNs.p50 / 1e6 - delayMs,
    targetP99: heldNs.p99 / 1e6 - delayMs,
  };
}

/** @param {Row} row */
function figuresOf({ delayMs, tool, ours, runs }) {
  const keys = /** @type {const} */ (['p50', 'p99', 'targetP50', 'targetP99']);
  const [p50, p99, targetP50, targetP99] = keys.map((key) => medianOfMost(runs.map((run) => run[key])));
  const isMet = (p50 ?? Number.POSITIVE_INFINITY) < GOAL.p50 && (p99 ?? Number.POSITIVE_INFINITY) < GOAL.p99;
  const verdict = ours ? verdictOn(`p50 < ${GOAL.p50}, p99 < ${GOAL.p99}`, isMet) : ['', ''];
  return [delayMs, tool, p50, p99, targetP50, targetP99, ...verdict];
}
