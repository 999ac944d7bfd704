/**
 * Measures how soon nodes report revocations: issues and revokes certificates, and polls every node's OCSP responder until it reports
 * so. Top to bottom; emits events, prints nothing.
 */
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHistogram, recordMs } from '../../common/histogram.js';
import { interrupted } from '../../common/stop.js';
import { formatCount } from '../../common/units.js';
import { loadTls } from '../../http/tls.js';
import { startRenewal } from '../../vault/check-token.js';
import { createVaultClient } from '../../vault/client.js';
import { createAsker, createQuestioner } from './asker.js';
import { followCertificate, warm } from './certificate.js';
import { conclude } from './conclude.js';
import { prepare } from './prepare.js';

/** @import { Tls } from '../../http/tls.js' */
/** @import { Propagation } from '../../result/propagation/propagation-schema.js' */
/** @import { VaultClient } from '../../vault/client.js' */
/** @import { NodeWatch, Row } from './certificate.js' */
/** @import { PropagationPlan } from './propagation-plan.js' */
/** @import { PollClock } from './watch.js' */

/** @typedef {{type: 'notice' | 'warning', text: string} | {type: 'progress', label: string, done: number, total: number}} PropagationEvent */
/**
 * @typedef {object} PropagationOptions
 * @property {string | null} [token] a secret
 * @property {AbortSignal} [signal] first abort: begins no more certificates, ends the waiting, reports
 * @property {AbortSignal} [cutOff] ends requests in flight, too
 * @property {(event: PropagationEvent) => void} [onEvent]
 * @property {string} [command] the command line, for the result; no secrets
 */

/** @type {PollClock} */
const CLOCK = {
  now: () => performance.now(),
  setTimer: setTimeout,
  clearTimer: clearTimeout,
};

/**
 * @param {PropagationPlan} plan
 * @param {PropagationOptions} [options]
 * @returns {Promise<Propagation>}
 * @throws {PkiLoadError} when it could not begin; what the target refuses later is an outcome
 */
export async function measurePropagation(plan, options = {}) {
  if (!plan.dev) return measureOn(plan, options);
  const { startDevServer } = await import('../../dev/spawn.js');
  const server = await startDevServer({ mount: plan.target.mount });
  try {
    const aimed = { ...plan, target: { ...plan.target, url: server.url } };
    return await measureOn(aimed, { ...options, token: server.token });
  } finally {
    await server.stop();
  }
}

/** @param {PropagationPlan} plan @param {PropagationOptions} options @returns {Promise<Propagation>} */
async function measureOn(plan, { token = null, signal, cutOff, onEvent = () => {}, command = '' }) {
  const stop = signal ?? new AbortController().signal;
  const { url, namespace, tls: files } = plan.target;
  const tls = loadTls(files);
  const connect = () => createVaultClient({ url, token, namespace, tls, timeoutMs: plan.timeoutMs });
  const client = connect();
  // A client sends one request at a time: each certificate under way has one of its own, lest its revocation wait for another's.
  const clients = Array.from({ length: Math.min(plan.concurrency, plan.certificates) }, connect);
  const warn = (/** @type {string} */ text) => onEvent({ type: 'warning', text });
  let renewal = /** @type {{stop: () => void} | null} */ (null);
  const keepAlive = (/** @type {number} */ renewEveryMs) => {
    renewal?.stop();
    renewal = startRenewal(client, { renewEveryMs, onWarning: ({ text }) => warn(text) });
  };
  /** @type {NodeWatch[]} */
  let nodes = [];
  const endAll = () =>
    Promise.all([...nodes.map(({ asker }) => asker.close()), ...clients.map((one) => one.close())]);
  cutOff?.addEventListener('abort', endAll, { once: true });
  try {
    const found = await prepare({ plan, client, tls, keepAlive, warn });
    if (stop.aborted) throw interrupted();
    nodes = found.nodes.map((node) => watchOf(node.url, plan, tls));
    const lag = createHistogram();
    const warming = await warm({ plan, nodes, client: clients[0], clock: CLOCK, stop });
    const startedAt = new Date();
    const fromMs = CLOCK.now();
    const rows = await followAll({ plan, nodes, clients, stop, onEvent, onLag: (ms) => recordMs(lag, ms) });
    const left = leftBehind([warming, ...rows]);
    if (left !== '') onEvent({ type: 'notice', text: left });
    return conclude({
      plan,
      command,
      startedAt,
      durationSeconds: (CLOCK.now() - fromMs) / 1000,
      interrupted: stop.aborted,
      found,
      watched: nodes,
      lag,
      rows,
      environment: { node: process.version, platform: process.platform, cpus: cpus().length },
    });
  } finally {
    cutOff?.removeEventListener('abort', endAll);
    /** @type {{stop: () => void} | null} */ (renewal)?.stop();
    await endAll();
    await client.close();
  }
}

/**
 * @param {string} url
 * @param {PropagationPlan} plan
 * @param {Tls} tls
 * @returns {NodeWatch}
 */
function watchOf(url, { target: { mount, namespace }, timeoutMs }, tls) {
  return {
    asker: createAsker({ url, mount, namespace, tls, timeoutMs, clock: CLOCK }),
    answers: {},
    counts: { sent: 0, missed: 0, skipped: 0 },
  };
}

/**
 * @param {object} parts
 * @param {PropagationPlan} parts.plan
 * @param {NodeWatch[]} parts.nodes
 * @param {VaultClient[]} parts.clients
 * @param {AbortSignal} parts.stop
 * @param {(event: PropagationEvent) => void} parts.onEvent
 * @param {(ms: number) => void} parts.onLag
 * @returns {Promise<Row[]>} in the order in which they were begun
 */
async function followAll({ plan, nodes, clients, stop, onEvent, onLag }) {
  const { about } = createQuestioner();
  const circumstances = { plan, nodes, clock: CLOCK, onLag, about, stop };
  /** @type {Row[]} */
  const rows = [];
  let begun = 0;
  let done = 0;
  const lane = async (/** @type {VaultClient} */ client) => {
    while (begun < plan.certificates && !stop.aborted) {
      const number = ++begun;
      rows[number - 1] = await followCertificate(number, client, circumstances);
      onEvent({
        type: 'progress',
        label: 'Certificates revoked and followed',
        done: ++done,
        total: plan.certificates,
      });
      if (begun < plan.certificates) await sleep(plan.pauseMs, undefined, { signal: stop }).catch(() => {});
    }
  };
  await Promise.all(clients.map(lane));
  return rows;
}

/** @type {[Row['left'], string, string][]} kind, sentence on one, what follows the number of several */
const LEFT = [
  [
    'revoked',
    'One revoked certificate stays in storage and on the CRL until it expires.',
    'revoked certificates stay in storage and on the CRL until they expire.',
  ],
  [
    'valid',
    'One certificate could not be revoked, and may be valid until it expires.',
    'certificates could not be revoked, and may be valid until they expire.',
  ],
  [
    'unknown',
    'One certificate may have been issued all the same, and be valid until it expires: the call that issues it had no good response.',
    'certificates may have been issued all the same, and be valid until they expire: the calls that issue them had no good response.',
  ],
];

/**
 * @param {Pick<Row, 'left'>[]} rows that of warming included
 * @returns {string} empty where nothing is left
 */
export function leftBehind(rows) {
  return LEFT.flatMap(([kind, one, several]) => {
    const count = rows.filter(({ left }) => left === kind).length;
    return count === 0 ? [] : count === 1 ? [one] : [`${formatCount(count)} ${several}`];
  }).join(' ');
}
