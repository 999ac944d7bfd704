/** One certificate: issue it, wait for every node to report it good, revoke it, and poll every node until it reports it revoked. */
import { PkiLoadError, targetError } from '../../common/errors.js';
import { certificateParameters } from '../../operations/request-parts.js';
import { assertIssued, readCertificates } from '../../pki/certificate.js';
import { mayBeDone } from '../../vault/client.js';
import { createNode, queryOnce, watchNode } from './watch.js';
/** @import { VaultClient } from '../../vault/client.js' */
/** @import { PropagationPlan } from './propagation-plan.js' */
/** @import { NodeRow, Run } from './watch.js' */

/** @typedef {Pick<VaultClient, 'write'>} Writer */
/**
 * @typedef {object} Row
 * @property {number} certificate from 1
 * @property {'followed' | 'issue_failed' | 'revoke_failed' | 'not_good_before' | 'undecided'} outcome `followed`: see the nodes
 * @property {string} [failure] code of a call that failed
 * @property {string} [unrevoked] error code where a certificate that was not followed could not be revoked either
 * @property {number | null} revokeMs from the sending of the revocation to its response
 * @property {number} followedMs from the response to the revocation until every node reported it, the end of waiting or an interruption
 * @property {NodeRow[]} nodes in the order of the plan; empty where none was queried
 * @property {'none' | 'revoked' | 'valid' | 'unknown'} left on the server; `valid`: as far as is known it was not revoked;
 *   `unknown`: it may have been issued
 */

/**
 * @param {number} certificate from 1 @param {Writer} client without other calls in the meantime
 * @param {Run} run @returns {Promise<Row>} never throws for what a server does
 */
export async function followCertificate(certificate, client, run) {
  const { plan, nodes, buildQuery, stop } = run;
  /** @type {Row} */
  const row = { certificate, outcome: 'followed', revokeMs: null, followedMs: 0, nodes: [], left: 'none' };
  let issued;
  try {
    issued = await issue(client, plan);
  } catch (error) {
    return { ...row, ...failureOf('issue_failed', error), left: mayBeDone(error) ? 'unknown' : 'none' };
  }
  const { serial } = issued;
  /** A certificate that is not followed is revoked, too. @param {Partial<Row>} outcome @returns {Promise<Row>} */
  const takeBack = (outcome) =>
    revoke(client, plan, serial).then(
      () => ({ ...row, ...outcome, left: 'revoked' }),
      (error) => ({ ...row, ...outcome, left: 'valid', unrevoked: codeOf(error) }),
    );
  if (stop.aborted) return takeBack({ outcome: 'undecided' });
  let query;
  try {
    const { leaf, issuer } = readIssued(issued.data);
    query = await buildQuery(issuer, leaf.serial);
  } catch (error) {
    const failure = error instanceof PkiLoadError ? error.code : 'certificate_unreadable';
    return takeBack({ outcome: 'issue_failed', failure });
  }
  const before = await Promise.all(nodes.map((node) => queryOnce(node, query)));
  if (stop.aborted) return takeBack({ outcome: 'undecided' });
  if (!before.includes('good'))
    return takeBack({ outcome: 'not_good_before', nodes: before.map(notGoodBefore) });
  return { ...row, ...(await revokeAndWatch({ certificate, query, serial, before }, client, run)) };
}

/** @typedef {{certificate: number, query: import('./responder.js').Query, serial: string, before: string[]}} Subject `before`: the
 *   status at each node */

/** @param {Subject} subject @param {Writer} client @param {Run} run @returns {Promise<Partial<Row>>} */
async function revokeAndWatch({ certificate, query, serial, before }, client, run) {
  const { clock } = run;
  const sentMs = clock.now();
  const watches = before.map((status, i) =>
    status === 'good' ? watchNode(run, i, { certificate, query, sentMs }) : null,
  );
  // The time at which the response's status line and headers were read. How late this program read them is unknown; the later
  // it did, the smaller are the bounds since then.
  let answeredMs = sentMs;
  const onHead = () => {
    answeredMs = clock.now();
  };
  try {
    await revoke(client, run.plan, serial, onHead);
  } catch (error) {
    await Promise.all(watches.map((watch) => watch?.end()));
    return { ...failureOf('revoke_failed', error), left: 'valid' };
  }
  const ends = await Promise.all(watches.map((watch) => watch?.until(answeredMs)));
  return {
    left: 'revoked',
    revokeMs: answeredMs - sentMs,
    followedMs: Math.max(0, clock.now() - answeredMs),
    nodes: ends.map((end, i) => end ?? notGoodBefore(before[i])),
  };
}

/**
 * @param {'issue_failed' | 'revoke_failed'} outcome @param {unknown} error
 * @returns {Pick<Row, 'outcome' | 'failure'>} a call that this program aborted is no fault of the target
 */
function failureOf(outcome, error) {
  const failure = codeOf(error);
  return failure === 'aborted' ? { outcome: 'undecided' } : { outcome, failure };
}

/** @param {unknown} error @throws where it is no target's */
function codeOf(error) {
  if (error instanceof PkiLoadError) return error.code;
  throw error;
}

/** @param {string} before @returns {NodeRow} */
const notGoodBefore = (before) => ({ outcome: 'not_good_before', before, interval: null });

/** @param {Writer} client @param {PropagationPlan} plan @returns {Promise<{serial: string, data: Record<string, any>}>} */
async function issue(client, { target: { mount }, role, cn, ttlMs }) {
  const parameters = certificateParameters({ commonName: cn, altNames: [], ipSans: [], ttlMs });
  const { data } = await client.write(`${mount}/issue/${role}`, parameters);
  const serial = data?.serial_number;
  if (data !== null && typeof serial === 'string') return { serial, data };
  throw new PkiLoadError('not_issued', 'The response has no serial number.');
}

/** @param {Record<string, any>} data */
function readIssued(data) {
  const names = { leaf: 'the certificate that was issued', issuer: 'its issuing_ca' };
  const [leaf] = readCertificates(Buffer.from(String(data.certificate)), names.leaf);
  const [issuer] = readCertificates(Buffer.from(String(data.issuing_ca)), names.issuer);
  assertIssued(leaf, issuer, names);
  return { leaf, issuer };
}

/**
 * @param {Writer} client @param {PropagationPlan} plan @param {string} serial
 * @param {() => void} [onHead] called when the response's status line and headers have been read
 */
async function revoke(client, { target: { mount } }, serial, onHead) {
  const { data } = await client.write(`${mount}/revoke`, { serial_number: serial }, onHead);
  if (data?.revocation_time > 0) return;
  throw new PkiLoadError('not_revoked', 'The response does not say that the certificate is revoked.');
}

const MAX_WARM_UP_MS = 2000;

/**
 * One more certificate, which does not count: connections and code are used for the first time.
 * @param {Run} run @param {Writer} client @returns {Promise<Row>}
 * @throws {PkiLoadError} where the token may not issue or not revoke: one without `sys/capabilities-self` is checked by use
 */
export async function warmUp(run, client) {
  const { plan, nodes } = run;
  const row = await followCertificate(0, client, {
    ...run,
    plan: { ...plan, giveUpMs: Math.min(plan.giveUpMs, MAX_WARM_UP_MS) },
    nodes: nodes.map(({ responder }) => createNode(responder)),
    onLag: () => {},
  });
  if (![row.failure, row.unrevoked].includes('vault_permission_denied')) return row;
  const isIssued = row.left === 'valid';
  const path = `${plan.target.mount}/${isIssued ? 'revoke' : `issue/${plan.role}`}`;
  const left = isIssued ? ' The one certificate that was issued to try it stays valid until it expires.' : '';
  throw targetError(
    'role_permission_denied',
    `The token may not write to ${path}.${left}`,
    `Use a token whose policy has: path "${path}" { capabilities = ["update"] }.`,
  );
}
