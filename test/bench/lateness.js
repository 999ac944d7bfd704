/**
 * Send lateness, measured at the target: arrival k compared with the time k / rate after the start.
 *
 * Ours is absolute: the result contains the start of its schedule, on the target's clock. The peers do not report theirs,
 * so all tools also have a *spread*: lateness relative to their own earliest 1 %, which hides a constant lateness. If each
 * connection has its own schedule (fortio), it is relative to the earliest of each. The absolute figures include the
 * loopback interface, about 20 us.
 *
 * `machine` is a bare thread that sleeps until the same times and sends nothing: the limit of the machine, to which the goals
 * are compared. `machine, busy` spins instead, and shows what other threads cost a thread that keeps its core busy, such
 * as a sender at 10,000/s. `ours, h2` is over HTTP/2 and TLS: Go's own server notes when it has read the request from its socket.
 */
import { shareCores } from './cores.js';
import { measureInTurn } from './in-turn.js';
import { describePeers, measureOurs, measureOursHttp2, measurePeer, openLoopPeers } from './measure.js';
import { medianOfMost, quantile } from './statistics.js';
import { withSubject } from './subject.js';
import { buildTarget } from './target/build.js';
import { withTarget } from './target/start.js';
import { runTimed } from './timed.js';

/** @import { Report, Settings } from './index.js' */
/** @import { Load } from './measure.js' */
/** @import { Subject } from './subject.js' */
/** @import { Arrivals } from './target/start.js' */

const RATES = [20, 100, 1000, 10_000];
/** The goals apply to these rates; peers are measured only at these. */
const GOAL_RATES = [100, 1000, 10_000];
const MODES = ['auto', 'spin', 'sleep'];
const CONNECTIONS = 10;
const MIN_SAMPLES = 200;
const PROMPT = 0.01;
const BEST = { p50: 0.05, p99: 0.3 };
const AUTO_P99 = 1;

const NOTHING = { p50: null, p99: null, max: null, spreadP50: null, spreadP99: null };

/**
 * @typedef {object} Late milliseconds; null: not known
 * @property {number | null} p50
 * @property {number | null} p99
 * @property {number | null} max
 * @property {number | null} spreadP50
 * @property {number | null} spreadP99
 * @property {number} share of the planned requests that arrived
 */
/** @typedef {{name: string, rate: number, runs: Late[]}} Row */

/** @param {Settings} settings @returns {Promise<Report>} */
export async function run(settings) {
  return withSubject(async (subject) => {
    /** @type {Row[]} */
    const rows = [];
    for (const rate of RATES) {
      // With fewer samples, the p99 would be the maximum.
      const sources = await sourcesAt(rate, {
        subject,
        seconds: Math.max(settings.seconds, MIN_SAMPLES / rate),
      });
      const measured = await measureInTurn(sources, settings, `${rate}/s`);
      rows.push(...measured.map((row) => ({ ...row, rate })));
    }
    return {
      question: `Send lateness in ms, measured at the target: constant rate, ${CONNECTIONS} connections, the target on another core`,
      chart: { column: 'spread p99', unit: 'ms', named: 2, isLog: true },
      columns: ['rate/s', 'tool', 'p50', 'p99', 'max', 'spread p50', 'spread p99', 'received', 'goal', 'met'],
      rows: rows.map((row) => [...figuresOf(row), ...judge(row, rows)]),
      summary: { peers: await describePeers() },
      raw: rows,
    };
  });
}

/**
 * @param {number} rate
 * @param {{subject: Subject, seconds: number}} context
 * @returns {Promise<{name: string, measure: () => Promise<Late>}[]>}
 */
async function sourcesAt(rate, { subject, seconds }) {
  const { sleeper } = await buildTarget();
  const load = { ratePerSecond: rate, connections: CONNECTIONS, seconds };
  const sources = [
    { name: 'machine', measure: () => measureSleeper([sleeper], rate, seconds) },
    { name: 'machine, busy', measure: () => measureSleeper([sleeper, '-spin'], rate, seconds) },
  ];
  for (const pacing of [...MODES, 'h2']) {
    const measure = async () => {
      const run = pacing === 'h2' ? measureOursHttp2 : measureOurs;
      const { arrivals, result } = await run(subject, {}, load, pacing === 'h2' ? {} : { pacing });
      const origin = BigInt(/** @type {string} */ (result.startedAtMonotonicNs));
      return lateness(arrivals, { rate, seconds }, origin);
    };
    sources.push({ name: `ours, ${pacing}`, measure });
  }
  for (const peer of GOAL_RATES.includes(rate) ? await openLoopPeers() : []) {
    const measure = async () => {
      const { arrivals } = await measurePeer(peer, subject, {}, load);
      return peer.scheduleEach
        ? spreadEach(arrivals, load, peer.scheduleEach)
        : lateness(arrivals, { rate, seconds }, null);
    };
    sources.push({ name: peer.name, measure });
  }
  return sources;
}

/**
 * The target spins on its core, as for the other sources.
 * @param {string[]} sleeper
 * @param {number} rate
 * @param {number} seconds
 * @returns {Promise<Late>}
 */
function measureSleeper(sleeper, rate, seconds) {
  return withTarget({}, async () => {
    const command = [...sleeper, '-rate', `${rate}`, '-seconds', `${seconds}`];
    const { stdout } = await runTimed(command, { cores: shareCores().generator });
    const { p50, p99, max } = JSON.parse(stdout);
    return { ...NOTHING, p50: p50 / 1e6, p99: p99 / 1e6, max: max / 1e6, share: 1 };
  });
}

/**
 * Only their order identifies requests: the k-th arrival is compared with the k-th due time. If requests are missing or
 * extra, the lateness of all is unknown.
 * @param {{atNs: BigInt64Array}} arrivals
 * @param {{rate: number, seconds: number}} load
 * @param {bigint | null} originNs when the schedule began; null: not known
 * @returns {Late}
 * @throws {Error} if the schedule is known, and the count is wrong or a request arrived early
 */
export function lateness({ atNs }, { rate, seconds }, originNs) {
  const planned = Math.round(rate * seconds);
  const share = atNs.length / planned;
  if (originNs !== null && atNs.length !== planned) {
    throw new Error(
      `${atNs.length} of ${planned} requests arrived, so arrivals cannot be matched to due times`,
    );
  }
  if (!arrivedAsPlanned(atNs.length, planned)) return { ...NOTHING, share };
  const late = latenessOf(atNs, rate, originNs ?? atNs[0]);
  const spread = { ...spreadOf(late), share };
  if (originNs === null) return { ...NOTHING, ...spread };
  if (late[0] < 0) throw new Error(`A request arrived ${-late[0]} ms before it was due.`);
  return { p50: quantile(late, 0.5), p99: quantile(late, 0.99), max: quantile(late, 1), ...spread };
}

/**
 * @param {Arrivals} arrivals
 * @param {Load & {ratePerSecond: number}} load
 * @param {(requests: number) => number} stretch
 * @returns {Late}
 */
function spreadEach({ atNs, connection }, { ratePerSecond, connections, seconds }, stretch) {
  const planned = Math.round(ratePerSecond * seconds);
  const share = atNs.length / planned;
  const own = new Map(Array.from(connection, (number) => [number, /** @type {bigint[]} */ ([])]));
  for (const [i, number] of connection.entries()) own.get(number)?.push(atNs[i]);
  if (!arrivedAsPlanned(atNs.length, planned) || own.size !== connections) return { ...NOTHING, share };
  const ownRate = ratePerSecond / connections;
  const beyondPrompt = [...own.values()].flatMap((times) => {
    const late = latenessOf(BigInt64Array.from(times), ownRate / stretch(times.length), times[0]);
    const prompt = quantile(late, PROMPT);
    return Array.from(late, (ms) => ms - prompt);
  });
  return { ...NOTHING, ...spreadOf(Float64Array.from(beyondPrompt).sort()), share };
}

/** @param {number} arrived @param {number} planned */
function arrivedAsPlanned(arrived, planned) {
  return arrived > 0 && Math.abs(arrived - planned) <= Math.max(2, planned / 200);
}

/**
 * @param {BigInt64Array} atNs
 * @param {number} rate
 * @param {bigint} originNs
 * @returns {Float64Array} ms, ascending
 */
function latenessOf(atNs, rate, originNs) {
  return Float64Array.from(atNs, (at, k) => Number(at - originNs) / 1e6 - (k * 1000) / rate).sort();
}

/** @param {Float64Array} late ascending */
function spreadOf(late) {
  const prompt = quantile(late, PROMPT);
  return { spreadP50: quantile(late, 0.5) - prompt, spreadP99: quantile(late, 0.99) - prompt };
}

/** @param {Row} row */
function figuresOf(row) {
  const { rate, name } = row;
  const keys = /** @type {const} */ (['p50', 'p99', 'max', 'spreadP50', 'spreadP99', 'share']);
  const [p50, p99, max, spreadP50, spreadP99, share] = keys.map((key) => medianFor(row, key));
  return [rate, name, p50, p99, max, spreadP50, spreadP99, `${((share ?? 0) * 100).toFixed(1)} %`];
}

/**
 * Judges our mode that comes closest to both goals. If the machine itself misses a goal, the cell compares with the
 * machine.
 * @param {Row} row
 * @param {Row[]} rows
 * @returns {[string, string]}
 */
function judge(row, rows) {
  const here = rows.filter(({ rate }) => rate === row.rate);
  const ours = here.filter(({ name }) => name.startsWith('ours') && name !== 'ours, h2');
  const distance = (/** @type {Row} */ one) =>
    Math.max(
      ...[medianFor(one, 'p50'), medianFor(one, 'p99')].map((ms, i) => (ms ?? 0) / [BEST.p50, BEST.p99][i]),
    );
  const best = ours.reduce((a, b) => (distance(b) < distance(a) ? b : a));
  const machine = here[0];
  /** @type {['p50' | 'p99', number][]} */
  const limits = [];
  if (row === best && GOAL_RATES.includes(row.rate)) limits.push(['p50', BEST.p50], ['p99', BEST.p99]);
  else if (row.name === 'ours, auto') limits.push(['p99', AUTO_P99]);
  if (limits.length === 0) return ['', ''];
  const verdicts = limits.map(([key, limit]) => {
    const [value, floor] = [medianFor(row, key) ?? Number.POSITIVE_INFINITY, medianFor(machine, key) ?? 0];
    if (value <= limit) return 'yes';
    return floor > limit ? `${(value / floor).toFixed(1)} x the machine's own` : 'no';
  });
  const met = new Set(verdicts).size === 1 ? verdicts[0] : verdicts.join(', ');
  return [limits.map(([key, limit]) => `${key} <= ${limit}`).join(', '), met];
}

/** @param {Row} row @param {keyof Late} key */
function medianFor(row, key) {
  return medianOfMost(row.runs.map((late) => late[key]));
}
