/**
 * Measures how soon nodes report revocations: issues and revokes certificates, and polls every node's OCSP
 * responder until it reports them revoked. Emits events, prints nothing.
 */
import { setMaxListeners } from 'node:events';
import { cpus } from 'node:os';
import { targetError } from '../../common/errors.js';
import { createHistogram, recordMs } from '../../common/histogram.js';
import { parseJson } from '../../common/json.js';
import { isolated } from '../../common/listener.js';
import { delayedSignal, interruptedError, LAST_CALLS_MS, pauseFor, rejectOnStop } from '../../common/stop.js';
import { formatCount } from '../../common/units.js';
import { createRequester, parseTargetUrl } from '../../http/request.js';
import { loadTls } from '../../http/tls.js';
import { checkIssuance } from '../../operations/prepare.js';
import { checkPermission } from '../../vault/check-role.js';
import { startRenewal } from '../../vault/check-token.js';
import { createVaultClient, textOf, unlessRefused } from '../../vault/client.js';
import { describeProxy, readNetwork } from '../../vault/network.js';
import { redact } from '../../vault/redact.js';
import { followCertificate, warmUp } from './certificate.js';
import { conclude } from './conclude.js';
import { createQueryBuilder, createResponder } from './responder.js';
import { createNode } from './watch.js';

/** @import { Tls } from '../../http/tls.js' */
/** @import { PrepareContext } from '../../operations/index.js' */
/** @import { Propagation } from '../../result/propagation/propagation-schema.js' */
/** @import { VaultClient } from '../../vault/client.js' */
/** @import { Row } from './certificate.js' */
/** @import { PropagationPlan } from './propagation-plan.js' */
/** @import { Node, Run } from './watch.js' */

/** @typedef {{type: 'notice' | 'warning', text: string} | {type: 'progress', label: string, done: number, total: number}} PropagationEvent */
/**
 * `token`: a secret; `signal`: issues no more certificates, stops waiting and reports; `cutOff` also aborts
 * requests in flight, as does `signal` after 5 s; `command`: the command line, for the result; no secrets
 * @typedef {{token?: string | null, signal?: AbortSignal, cutOff?: AbortSignal, command?: string,
 *   onEvent?: (event: PropagationEvent) => void}} PropagationOptions
 */

const CLOCK = { now: () => performance.now(), setTimer: setTimeout, clearTimer: clearTimeout };

/**
 * @param {PropagationPlan} plan @param {PropagationOptions} [options] @returns {Promise<Propagation>}
 * @throws {PkiLoadError} if the measurement cannot start; later errors of the target become outcomes
 */
export async function measurePropagation(plan, options = {}) {
  if (!plan.dev) return measureOn(plan, options);
  const { startDevTarget } = await import('../../dev/spawn.js');
  const { server, target } = await startDevTarget(plan.target);
  try {
    return await measureOn({ ...plan, target }, { ...options, token: server.token });
  } finally {
    await server.stop();
  }
}

/** @param {PropagationPlan} plan @param {PropagationOptions} options */
async function measureOn(plan, { token = null, signal, cutOff, command = '', ...options }) {
  const onEvent = isolated(options.onEvent);
  const stop = signal ?? new AbortController().signal;
  // One listener for each certificate and node.
  setMaxListeners(0, stop);
  const { timeoutMs } = plan;
  const { url, mount, namespace, tls: files } = plan.target;
  const network = readNetwork(plan.target, plan.nodes);
  const tls = { ...loadTls(files), network };
  const connect = () => createVaultClient({ url, token, namespace, tls, timeoutMs });
  const client = connect();
  // A client sends one request at a time; revocations must not wait for each other.
  const clients = Array.from({ length: Math.min(plan.concurrency, plan.certificates) }, connect);
  const warn = (/** @type {string} */ text) => onEvent({ type: 'warning', text });
  for (const one of [url, ...plan.nodes]) {
    const note = describeProxy(one, network, one === url ? 'the token' : null);
    if (note !== null) onEvent({ type: note.isWarning ? 'warning' : 'notice', text: note.text });
  }
  let renewal = { stop() {} };
  const keepAlive = (/** @type {number} */ renewEveryMs) => {
    // The preparation may go on for a while after a stop.
    if (stop.aborted) return;
    renewal.stop();
    renewal = startRenewal(client, { renewEveryMs, onWarning: ({ text }) => warn(text) });
  };
  /** @type {Node[]} */
  let nodes = [];
  const closeAll = () =>
    Promise.all([...nodes.map((node) => node.responder), ...clients].map((connection) => connection.close()));
  const tooLate = delayedSignal(stop, LAST_CALLS_MS);
  for (const end of [cutOff, tooLate.signal]) end?.addEventListener('abort', closeAll, { once: true });
  try {
    const found = await rejectOnStop(prepare({ plan, client, tls, keepAlive, warn, stop }), stop);
    nodes = found.nodes.map((node) =>
      createNode(createResponder({ url: node.url, mount, namespace, tls, timeoutMs, clock: CLOCK })),
    );
    const lag = createHistogram();
    const onLag = (/** @type {number} */ ms) => recordMs(lag, ms);
    const run = { plan, nodes, clock: CLOCK, onLag, buildQuery: createQueryBuilder(), stop };
    const first = await warmUp(run, clients[0]);
    const startedAt = new Date();
    const fromMs = CLOCK.now();
    const rows = await followAll(run, clients, onEvent);
    const text = describeLeft([first, ...rows]);
    if (text !== '') onEvent({ type: 'notice', text });
    if (rows.length === 0) throw interruptedError('Interrupted before the first certificate.');
    return conclude({
      ...{ plan, command, startedAt, found, watched: nodes, lag, rows },
      durationSeconds: (CLOCK.now() - fromMs) / 1000,
      interrupted: stop.aborted,
      environment: { node: process.version, platform: process.platform, cpus: cpus().length },
    });
  } finally {
    cutOff?.removeEventListener('abort', closeAll);
    tooLate.close();
    renewal.stop();
    await closeAll();
    await client.close();
  }
}

/** @param {Run} run @param {VaultClient[]} clients @param {(event: PropagationEvent) => void} onEvent */
async function followAll(run, clients, onEvent) {
  const { certificates: total, pauseMs } = run.plan;
  /** @type {Row[]} */
  const rows = [];
  let [started, done] = [0, 0];
  const followSeveral = async (/** @type {VaultClient} */ client) => {
    while (started < total && !run.stop.aborted) {
      const number = ++started;
      rows[number - 1] = await followCertificate(number, client, run);
      onEvent({ type: 'progress', label: 'Certificates revoked and followed', done: ++done, total });
      if (started < total) await pauseFor(pauseMs, run.stop);
    }
  };
  await Promise.all(clients.map(followSeveral));
  return rows;
}

const LEFT = {
  revoked: 'revoked, in storage and on the CRL',
  'possibly revoked': 'possibly revoked, as the call got no valid response',
  valid: 'not revoked, as the call failed',
  unknown: 'possibly issued, as the call got no valid response',
};

/** @param {Pick<Row, 'left'>[]} rows including the warm-up @returns {string} empty if nothing is left */
export function describeLeft(rows) {
  const parts = Object.entries(LEFT).flatMap(([kind, text]) => {
    const count = rows.filter(({ left }) => left === kind).length;
    return count === 0 ? [] : [`${formatCount(count)} ${text}`];
  });
  return parts.length === 0 ? '' : `Certificates left on the server until expiry: ${parts.join('; ')}.`;
}

/** @typedef {Pick<Propagation['nodes'][number], 'url' | 'version' | 'state'>} NodeFacts */
/** @typedef {Propagation['crl']} CrlFacts */
/** @typedef {{plan: PropagationPlan, client: VaultClient, tls: Tls, keepAlive: (everyMs: number) => void,
 *   warn: (text: string) => void, stop: AbortSignal}} Context */

/** Node states by HTTP status of sys/health. @type {Record<number, NodeFacts['state']>} */
const STATES = { 200: 'active', 429: 'standby', 473: 'performance standby' };

/** Checks that the measurement can work; reads the nodes' states and config/crl. @param {Context} context */
export async function prepare(context) {
  const { plan, client } = context;
  const { role, cn, certificates, ttlMs } = plan;
  const { mount, url } = plan.target;
  // checkIssuance uses no other properties of its context.
  const target = /** @type {PrepareContext} */ (/** @type {unknown} */ (context));
  const { fixture } = await checkIssuance(target, {
    ...{ operation: 'issue', role, mustStore: true, commonName: cn },
    ttl: ttlMs === null ? null : `${Math.round(ttlMs / 1000)}s`,
    ...{ usesBefore: 2 * certificates, usesInRun: false, neededMs: null },
  });
  await checkPermission(client, `${mount}/revoke`);
  const crl = (await unlessRefused(client.read(`${mount}/config/crl`)))?.data ?? {};
  if (crl.ocsp_disable === true) {
    const message = `The mount ${mount} serves no OCSP requests (ocsp_disable in its config/crl).`;
    const remedy = `Enable it with vault write ${mount}/config/crl ocsp_disable=false.`;
    throw targetError('ocsp_disabled', message, remedy);
  }
  const named = plan.nodes.map((node) => ({ url: node, name: `--node ${node}` }));
  const places = named.length > 0 ? named : [{ url, name: '--url (VAULT_ADDR)' }];
  const flag = (/** @type {unknown} */ value) => (typeof value === 'boolean' ? value : null);
  return {
    target: fixture.target,
    /** @type {CrlFacts} */
    crl: {
      autoRebuild: flag(crl.auto_rebuild),
      disabled: flag(crl.disable),
      ocspExpiry: redact(textOf(crl.ocsp_expiry)).slice(0, 20) || null,
    },
    nodes: await Promise.all(places.map((place) => readNode(place, context))),
  };
}

/** @param {{url: string, name: string}} node @param {Context} context @returns {Promise<NodeFacts>} */
async function readNode({ url, name }, { plan: { timeoutMs }, tls, stop }) {
  const { origin, basePath } = parseTargetUrl(url, '--node');
  const requester = createRequester({ origin, tls, timeoutMs, urlOption: name });
  try {
    const response = requester.request({ path: `${basePath}/v1/sys/health` });
    const { status, body } = await rejectOnStop(response, stop);
    const { sealed, initialized, version } = parseJson(body) ?? {};
    if (sealed === true || initialized === false) {
      const message = `The node ${url} is ${sealed === true ? 'sealed' : 'not initialised'}.`;
      throw targetError('node_sealed', message, 'Unseal it with vault operator unseal, or leave it out.');
    }
    return { url, version: redact(textOf(version)).slice(0, 60) || null, state: STATES[status] ?? null };
  } finally {
    await requester.close();
  }
}
