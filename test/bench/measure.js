/** One measurement: starts the target, runs one load generator, reads the figures of both, stops the target. */
import { shareCores } from './cores.js';
import { runOcsp } from './ours.js';
import { peers } from './peers/index.js';
import { OCSP_REQUEST } from './subject.js';
import { withTarget } from './target/start.js';
import { withCapture } from './wire.js';

/** @import { Measured } from './ours.js' */
/** @import { Figures, Job, Peer } from './peers/peer.js' */
/** @import { Subject } from './subject.js' */
/** @import { Arrivals, TargetOptions, TargetStats } from './target/start.js' */
/** @import { Exchange } from './wire.js' */

/** `ocsp --ocsp-url` sends one request before the load, to check the responder. */
const OUR_SETUP_REQUESTS = 1;

/** @typedef {Parameters<typeof runOcsp>[2]} Options */
/** @typedef {{ratePerSecond: number | null, connections: number, seconds: number} & Pick<Job, 'expectedMs' | 'rawLatencies'> & {oneCore?: boolean}} Load null: closed
 *   loop; `oneCore`: on one core, even if the machine has more */
/**
 * @typedef {object} Seen by the target
 * @property {TargetStats} stats
 * @property {Arrivals} arrivals
 */

/**
 * @param {Subject} subject
 * @param {TargetOptions} behaviour if the target is not pinned (`cores: null`), neither is ours
 * @param {Load} load
 * @param {Options} [options] of the command, in addition to the load
 * @returns {Promise<Measured & Seen>}
 */
export function measureOurs(subject, behaviour, load, options = {}) {
  return withTarget(behaviourFor(subject, behaviour, OUR_SETUP_REQUESTS), async (target) => {
    const measured = await runOurs(subject, target.url, { behaviour, load, options });
    return { ...measured, stats: await target.stats(), arrivals: await target.arrivals() };
  });
}

/**
 * measureOurs over HTTP/2 and TLS: one connection, with as many streams as the load has connections.
 * @type {typeof measureOurs}
 */
export function measureOursHttp2(subject, behaviour, load, options = {}) {
  const { tls } = subject;
  if (tls === undefined) throw new Error('This subject has no certificate for its target.');
  const http2 = { http: '2', streams: load.connections, 'ca-cert': tls.caFile };
  return measureOurs(subject, { ...behaviour, tls }, load, { ...options, ...http2 });
}

/**
 * Like measureOurs, with a packet capture.
 * @param {Subject} subject
 * @param {TargetOptions} behaviour
 * @param {Load} load
 * @param {Options} options
 * @returns {Promise<Measured & {exchanges: Exchange[]}>} `exchanges`: without setup requests
 */
export function measureOnWire(subject, behaviour, load, options) {
  const own = { ...behaviourFor(subject, behaviour, OUR_SETUP_REQUESTS), record: false };
  return withTarget(own, async ({ url }) => {
    const work = () => runOurs(subject, url, { behaviour, load, options });
    const { value, exchanges } = await withCapture(url, work);
    const beginNs = BigInt(/** @type {string} */ (value.result.startedAtMonotonicNs));
    return { ...value, exchanges: exchanges.filter(({ requestAtNs }) => requestAtNs >= beginNs) };
  });
}

/**
 * @param {Subject} subject
 * @param {string} url
 * @param {{behaviour: TargetOptions, load: Load, options: Options}} run
 */
function runOurs(subject, url, { behaviour, load, options }) {
  const { ratePerSecond, connections, seconds, oneCore } = load;
  /** @type {Options} */
  const given = { concurrency: connections, duration: seconds };
  if (ratePerSecond !== null) given.rate = ratePerSecond;
  const cores = behaviour.cores === null ? null : coresFor(oneCore);
  return runOcsp(subject, url, { ...given, ...options }, cores);
}

/**
 * @param {Peer} peer that supports the load
 * @param {Subject} subject
 * @param {TargetOptions} behaviour
 * @param {Load} load
 * @returns {Promise<{figures: Figures} & Seen>}
 */
export function measurePeer(peer, subject, behaviour, { ratePerSecond, oneCore, ...load }) {
  const skip = peer.setupRequests?.(load.connections) ?? 0;
  return withTarget(behaviourFor(subject, behaviour, skip), async ({ url, stats, arrivals }) => {
    const { request: bodyFile, folder } = subject;
    const given = { url, bodyFile, contentType: OCSP_REQUEST, folder, cores: coresFor(oneCore) };
    const job = { ...given, ...load };
    const { name, openLoop, closedLoop } = peer;
    if (ratePerSecond !== null && openLoop === undefined) throw new Error(`${name} has no open loop`);
    const figures = await (ratePerSecond === null || openLoop === undefined
      ? closedLoop(job)
      : openLoop({ ...job, ratePerSecond }));
    return { figures, stats: await stats(), arrivals: await arrivals() };
  });
}

/** @param {boolean} [oneCore] */
function coresFor(oneCore) {
  const { one, generator } = shareCores();
  return oneCore ? one : generator;
}

/** @param {Subject} subject @param {TargetOptions} behaviour @param {number} skip */
function behaviourFor({ response }, behaviour, skip) {
  return { bodyFile: response, record: true, skip, ...behaviour };
}

/** @returns {Promise<Peer[]>} installed ones */
export async function presentPeers() {
  const versions = await Promise.all(peers.map((peer) => peer.available()));
  return peers.filter((_, i) => versions[i] !== null);
}

/** @returns {Promise<Peer[]>} installed ones with an open loop */
export async function openLoopPeers() {
  return (await presentPeers()).filter(({ openLoop }) => openLoop !== undefined);
}

/** @returns {Promise<string>} installed ones, with versions */
export async function describePeers() {
  const versions = await Promise.all(peers.map((peer) => peer.available()));
  const present = peers.flatMap(({ name }, i) => (versions[i] === null ? [] : [`${name} ${versions[i]}`]));
  return present.join(', ') || 'none on this machine';
}
