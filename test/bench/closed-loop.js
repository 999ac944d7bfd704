/** Closed loops of several load generators on one target, in turn, so that changes in its load affect all alike. */
import { measureInTurn } from './in-turn.js';
import { measureOurs, measurePeer } from './measure.js';
import { median, medianOf } from './statistics.js';
/** @import { Settings } from './index.js' */
/** @import { Peer } from './peers/peer.js' */
/** @import { Subject } from './subject.js' */
/** @import { TargetOptions } from './target/start.js' */

/**
 * @typedef {object} Measured
 * @property {number} perSecond responses; of ours, checked and unchecked ones
 * @property {number} cpuUs CPU time of the whole process per response, including startup
 * @property {number} [uncheckedShare] of ours: responses too fast to be checked
 * @property {boolean} [isExact] of ours: requests, outcomes and histograms equal the target's counts
 */
/** @typedef {{name: string, measure: (seconds: number) => Promise<Measured>}} Source */
/** @typedef {{name: string, runs: Measured[]}} Row */

/** @param {Source[]} sources @param {Settings} settings @returns {Promise<Row[]>} */
export function measureAll(sources, settings) {
  const all = sources.map(({ name, measure }) => ({ name, measure: () => measure(settings.seconds) }));
  return measureInTurn(all, settings);
}

/**
 * @param {string} name
 * @param {Subject} subject
 * @param {{connections: number, behaviour?: TargetOptions, oneCore?: boolean, options?: Record<string, string | number>}} load
 * @returns {Source}
 */
export function ourSource(name, subject, { connections, behaviour = {}, oneCore, options = {} }) {
  const measure = async (/** @type {number} */ seconds) => {
    const load = { ratePerSecond: null, connections, seconds, oneCore };
    const { result, cpuSeconds, stats } = await measureOurs(
      subject,
      { record: false, ...behaviour },
      load,
      options,
    );
    const { totals, rates, verification, outcomes, latencyMs } = result;
    if (totals.failed > 0) throw new Error(`ours failed: ${JSON.stringify(outcomes)}`);
    const counts = Object.values(latencyMs).map(({ count }) => count);
    return {
      perSecond: rates.perSecond,
      cpuUs: (cpuSeconds * 1e6) / totals.sent,
      uncheckedShare: verification.unchecked / totals.sent,
      isExact: [...counts, totals.succeeded].every((count) => count === stats.requests),
    };
  };
  return { name, measure };
}

/**
 * @param {Peer} peer
 * @param {Subject} subject
 * @param {{connections: number, behaviour?: TargetOptions, oneCore?: boolean}} load
 * @returns {Source}
 */
export function peerSource(peer, subject, { connections, behaviour = {}, oneCore }) {
  const measure = async (/** @type {number} */ seconds) => {
    const load = { ratePerSecond: null, connections, seconds, oneCore };
    const { figures } = await measurePeer(peer, subject, { record: false, ...behaviour }, load);
    if (figures.failed > 0) throw new Error(`${figures.failed} requests of ${peer.name} failed`);
    const { perSecond, cpuSeconds } = figures;
    return { perSecond, cpuUs: (cpuSeconds * 1e6) / (perSecond * seconds) };
  };
  return { name: peer.name, measure };
}

/**
 * @param {Row[]} rows
 * @returns {(number | string | null)[][]} name, responses/s, CPU us per response, % unchecked
 */
export function closedLoopRows(rows) {
  return rows.map(({ name, runs }) => [
    name,
    median(runs.map(({ perSecond }) => perSecond)),
    median(runs.map(({ cpuUs }) => cpuUs)),
    percent(medianOf(runs.map(({ uncheckedShare }) => uncheckedShare ?? null))),
  ]);
}

/** @param {Measured} measured @returns {number} checked responses; of a peer, all */
export function checkedPerSecond({ perSecond, uncheckedShare = 0 }) {
  return perSecond * (1 - uncheckedShare);
}

/**
 * Our checked responses divided by all of theirs, run by run: a slow phase of the machine affects this less than a ratio of medians.
 * @param {Row} ours
 * @param {Row} theirs
 */
export function ratioTo(ours, theirs) {
  return median(ours.runs.map((one, i) => checkedPerSecond(one) / theirs.runs[i].perSecond));
}

/** @param {number | null} share */
function percent(share) {
  return share === null ? null : 100 * share;
}
