/** Issues a certificate, queries every node, revokes it, and polls each node until it reports revoked. */
import { PkiLoadError } from '../../common/errors.js';
import { isTime } from '../../common/json.js';
import { certificateParameters } from '../../operations/request-parts.js';
import { saysExpired } from '../../operations/revoke.js';
import { assertIssued, readCertificates } from '../../pki/certificate.js';
import { CERTIFICATE_FAILURES } from '../../pki/certificate-check.js';
import { serialHex } from '../../pki/text.js';
import { mayNotWrite } from '../../vault/check-role.js';
import { mayHaveTakenEffect, textOf } from '../../vault/client.js';
import { createNode, queryOnce, watchNode } from './watch.js';
/** @import { PropagationRow } from '../../result/propagation/propagation-schema.js' */
/** @import { VaultClient } from '../../vault/client.js' */
/** @import { PropagationPlan } from './propagation-plan.js' */
/** @import { Query } from './responder.js' */
/** @import { NodeRow, Run } from './watch.js' */

/** @typedef {Pick<VaultClient, 'write'>} Writer */
/**
 * `unrevoked`: error code of the failed call to revoke a certificate that is not followed; `followedMs`: from
 * the response to the revocation until every node reported revoked, --give-up or a stop; `nodes`: in plan
 * order, empty if none was queried; `left`: on the server; `valid`: not revoked; `unknown`:
 * possibly issued; `possibly revoked`: the call may have taken effect
 * @typedef {Pick<PropagationRow, 'certificate' | 'failure' | 'revokeMs' | 'nodes'> & {unrevoked?: string,
 *   outcome: 'followed' | 'issue_failed' | 'revoke_failed' | 'not_good_before' | 'undecided',
 *   followedMs: number, left: 'none' | 'revoked' | 'possibly revoked' | 'valid' | 'unknown'}} Row
 */

/**
 * @param {number} certificate from 1 @param {Writer} client must have no other calls in flight
 * @param {Run} run @returns {Promise<Row>} server failures become outcomes, never exceptions
 */
export async function followCertificate(certificate, client, run) {
  const { plan, nodes, buildQuery, stop } = run;
  /** @type {Row} */
  const row = { certificate, outcome: 'followed', revokeMs: null, followedMs: 0, nodes: [], left: 'none' };
  let issued;
  try {
    issued = await issue(client, plan);
  } catch (error) {
    const left = mayHaveTakenEffect(error) ? 'unknown' : 'none';
    return { ...row, ...failureOf('issue_failed', error), left };
  }
  const { serial } = issued;
  /** Revokes a certificate that is not followed. @param {Partial<Row>} outcome @returns {Promise<Row>} */
  const revokeOnly = (outcome) =>
    revoke(client, plan, serial).then(
      () => ({ ...row, ...outcome, left: 'revoked' }),
      (error) => ({ ...row, ...outcome, left: leftBy(error), unrevoked: codeOf(error) }),
    );
  if (stop.aborted) return revokeOnly({ outcome: 'undecided' });
  let query;
  try {
    const { leaf, issuer } = readIssued(issued.data);
    query = buildQuery(issuer, leaf.serial);
  } catch (error) {
    const failure = error instanceof PkiLoadError ? error.code : 'certificate_unreadable';
    return revokeOnly({ outcome: 'issue_failed', failure });
  }
  const before = await Promise.all(nodes.map((node) => queryOnce(node, query)));
  if (stop.aborted) return revokeOnly({ outcome: 'undecided' });
  if (!before.includes('good'))
    return revokeOnly({ outcome: 'not_good_before', nodes: before.map(notGoodBefore) });
  return { ...row, ...(await revokeAndWatch({ certificate, query, serial, before }, client, run)) };
}

/**
 * @param {{certificate: number, query: Query, serial: string, before: string[]}} subject `before`: by node
 * @param {Writer} client @param {Run} run @returns {Promise<Partial<Row>>}
 */
async function revokeAndWatch({ certificate, query, serial, before }, client, run) {
  const { clock } = run;
  const sentMs = clock.now();
  const watches = before.map((status, i) =>
    status === 'good' ? watchNode(run, i, { certificate, query, sentMs }) : null,
  );
  // When the tool read the head of the response. If it read late, bounds measured from here are too small.
  let respondedMs = sentMs;
  const onHead = () => {
    respondedMs = clock.now();
  };
  try {
    await revoke(client, run.plan, serial, onHead);
  } catch (error) {
    await Promise.all(watches.map((watch) => watch?.end()));
    return { ...failureOf('revoke_failed', error), left: leftBy(error) };
  }
  const ends = await Promise.all(watches.map((watch) => watch?.until(respondedMs)));
  return {
    left: 'revoked',
    revokeMs: respondedMs - sentMs,
    followedMs: Math.max(0, clock.now() - respondedMs),
    nodes: ends.map((end, i) => end ?? notGoodBefore(before[i])),
  };
}

/** @param {unknown} error of a revocation @returns {Row['left']} */
const leftBy = (error) => {
  if (codeOf(error) === 'already_expired') return 'none';
  return mayHaveTakenEffect(error) ? 'possibly revoked' : 'valid';
};

/** Not the fault of the target: the token expired, or the certificate did before its revocation. */
const UNDECIDED = ['token_invalid', 'already_expired'];

/**
 * @param {'issue_failed' | 'revoke_failed'} outcome @param {unknown} error @returns {Pick<Row, 'outcome' | 'failure'>}
 */
function failureOf(outcome, error) {
  const failure = codeOf(error);
  // The tool aborted the call.
  if (failure === 'aborted') return { outcome: 'undecided' };
  return { outcome: UNDECIDED.includes(failure) ? 'undecided' : outcome, failure };
}

/** @param {unknown} error @throws any error that is not a PkiLoadError */
function codeOf(error) {
  if (error instanceof PkiLoadError) return error.code;
  throw error;
}

/** @param {string} before @returns {NodeRow} */
const notGoodBefore = (before) => ({ outcome: 'not_good_before', before, interval: null });

/** As Vault writes it. RFC 5280, 4.1.2.2 allows 20 bytes; some CAs use more. */
const SERIAL = /^[\da-f:]{1,200}$/i;

/** @param {Writer} client @param {PropagationPlan} plan @returns {Promise<{serial: string, data: Record<string, any>}>} */
async function issue(client, { target: { mount }, role, cn, ttlMs }) {
  const parameters = certificateParameters({ commonName: cn, altNames: [], ipSans: [], ttlMs });
  const { data } = await client.write(`${mount}/issue/${role}`, parameters);
  const serial = data?.serial_number;
  if (data !== null && typeof serial === 'string' && SERIAL.test(serial)) return { serial, data };
  throw new PkiLoadError('not_issued', 'The response has no serial number.');
}

/** @param {Record<string, any>} data */
function readIssued(data) {
  const names = { leaf: 'the certificate that was issued', issuer: 'its issuing_ca' };
  const [leaf] = readCertificates(Buffer.from(textOf(data.certificate)), names.leaf);
  const [issuer] = readCertificates(Buffer.from(textOf(data.issuing_ca)), names.issuer);
  assertIssued(leaf, issuer, names);
  if (data.serial_number.toLowerCase() !== serialHex(leaf.serial))
    throw new PkiLoadError('serial_mismatch', CERTIFICATE_FAILURES.serial_mismatch);
  return { leaf, issuer };
}

/** @type {(client: Writer, plan: PropagationPlan, serial: string, onHead?: () => void) => Promise<void>} */
async function revoke(client, { target: { mount } }, serial, onHead) {
  const { data, warnings } = await client.write(`${mount}/revoke`, { serial_number: serial }, onHead);
  if (isTime(data?.revocation_time)) return;
  if (saysExpired(warnings)) throw new PkiLoadError('already_expired', 'The certificate has expired.');
  throw new PkiLoadError('not_revoked', 'The response does not confirm the revocation.');
}

const MAX_WARM_UP_MS = 2000;

/**
 * Warms up connections and code with a certificate that does not count.
 * @param {Run} run @param {Writer} client @returns {Promise<Row>}
 * @throws {PkiLoadError} if the token may not issue or revoke; the earlier checks can miss this
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
  const left = isIssued ? ' The certificate issued for the check stays valid until it expires.' : '';
  throw mayNotWrite(`${plan.target.mount}/${isIssued ? 'revoke' : `issue/${plan.role}`}`, left);
}
