/** One certificate: issue it, see that every node calls it good, revoke it, and poll every node until it calls it revoked. */
import { PkiLoadError, targetError } from '../../common/errors.js';
import { certificateParameters } from '../../operations/request-parts.js';
import { assertIssued, readCertificates } from '../../pki/certificate.js';
import { createQuestioner } from './asker.js';
import { lookOnce, watchNode } from './watch.js';

/** @import { Asker, Question } from './asker.js' */
/** @import { PropagationPlan } from './propagation-plan.js' */
/** @import { Interval, PollClock, PollCounts } from './watch.js' */

/** @typedef {{write: (path: string, data: Record<string, any>, onHead?: () => void) => Promise<{data: Record<string, any> | null}>}} Writer
 *   see VaultClient */
/**
 * @typedef {object} NodeRow one node's statuses of one certificate
 * @property {'revoked' | 'never_revoked' | 'never_answered' | 'not_good_before' | 'undecided'} outcome
 * @property {string} [before] with `not_good_before`: its status
 * @property {Interval | null} interval from when the revocation was sent; null unless revoked
 */
/**
 * @typedef {object} Row
 * @property {number} certificate from 1
 * @property {'followed' | 'issue_failed' | 'revoke_failed' | 'not_good_before' | 'undecided'} outcome `followed`: the nodes tell
 * @property {string} [failure] code of what went wrong with a call
 * @property {string} [unrevoked] error code where a certificate that was not followed could not be revoked either
 * @property {number | null} revokeMs how long the revocation took to be answered
 * @property {number} followedMs from the revocation's answer until it was seen everywhere, given up or interrupted
 * @property {NodeRow[]} nodes in the order of the plan; empty where it did not come to that
 * @property {'none' | 'revoked' | 'valid' | 'unknown'} left what stays behind on the server; `valid`: as far as is known it was not revoked;
 *   `unknown`: whether it was issued was not heard
 */
/**
 * @typedef {object} NodeWatch a node that is asked, and what has been counted there
 * @property {Asker} asker
 * @property {Record<string, number>} answers by outcome, first looks included
 * @property {PollCounts} counts
 */
/**
 * @typedef {object} Circumstances of all certificates of a run
 * @property {PropagationPlan} plan
 * @property {NodeWatch[]} nodes
 * @property {PollClock} clock
 * @property {(ms: number) => void} onLag
 * @property {(issuer: {der: Uint8Array}, serial: Uint8Array) => Promise<Question>} about
 * @property {AbortSignal} stop ends the waiting
 */

/** Codes of calls that the server may have carried out all the same. */
const MAY_BE_DONE = new Set([
  'no_answer',
  'connect_timeout',
  'connection_reset',
  'truncated',
  'bad_http',
  'answer_too_large',
  'transport_error',
  'aborted',
  'not_vault',
  'not_issued',
  'vault_internal_error',
]);

/**
 * @param {number} certificate from 1
 * @param {Writer} client with nothing else to do meanwhile
 * @param {Circumstances} circumstances
 * @returns {Promise<Row>} never throws for what a server does
 */
export async function followCertificate(certificate, client, circumstances) {
  const { plan, nodes, about, stop } = circumstances;
  /** @type {Row} */
  const row = { certificate, outcome: 'followed', revokeMs: null, followedMs: 0, nodes: [], left: 'none' };
  const issued = await attempt(() => issue(client, plan));
  if ('failure' in issued) {
    const left = MAY_BE_DONE.has(issued.failure) ? 'unknown' : 'none';
    return { ...row, ...failed('issue_failed', issued.failure), left };
  }
  const { serialText } = issued.value;
  // A certificate that is not followed is revoked all the same.
  /** @returns {Promise<Pick<Row, 'left' | 'unrevoked'>>} */
  const takeBack = async () => {
    const revoked = await attempt(() => revoke(client, plan, serialText));
    return 'failure' in revoked ? { left: 'valid', unrevoked: revoked.failure } : { left: 'revoked' };
  };
  if (stop.aborted) return { ...row, outcome: 'undecided', ...(await takeBack()) };
  const read = await attempt(() => questionOf(issued.value, about), 'certificate_unreadable');
  if ('failure' in read) {
    return { ...row, ...failed('issue_failed', read.failure), ...(await takeBack()) };
  }
  const question = read.value;
  const looks = await Promise.all(nodes.map((node) => lookOnce(node, question)));
  if (stop.aborted) return { ...row, outcome: 'undecided', ...(await takeBack()) };
  if (looks.every((look) => look !== 'good')) {
    return { ...row, outcome: 'not_good_before', nodes: looks.map(notGood), ...(await takeBack()) };
  }
  return {
    ...row,
    ...(await revokeAndWatch({ certificate, question, serialText, looks }, client, circumstances)),
  };
}

/**
 * @param {{certificate: number, question: Question, serialText: string, looks: string[]}} subject
 * @param {Writer} client
 * @param {Circumstances} circumstances
 * @returns {Promise<Partial<Row>>}
 */
async function revokeAndWatch({ certificate, question, serialText, looks }, client, circumstances) {
  const { plan, nodes, clock } = circumstances;
  const sentMs = clock.now();
  const watches = nodes.map((node, i) =>
    looks[i] === 'good' ? watchNode(node, i, { certificate, question, sentMs }, circumstances) : null,
  );
  // Stamped at the first byte of the response: a late stamp makes bounds since then too small. Its own lateness stays unknown.
  let answeredMs = sentMs;
  const onHead = () => {
    answeredMs = clock.now();
  };
  const revoked = await attempt(() => revoke(client, plan, serialText, onHead));
  if ('failure' in revoked) {
    await Promise.all(watches.map((watch) => watch?.end()));
    return { ...failed('revoke_failed', revoked.failure), left: 'valid' };
  }
  const ends = await Promise.all(watches.map((watch) => watch?.until(answeredMs)));
  return {
    left: 'revoked',
    revokeMs: answeredMs - sentMs,
    followedMs: Math.max(0, clock.now() - answeredMs),
    nodes: ends.map((end, i) => end ?? notGood(looks[i])),
  };
}

/**
 * @param {'issue_failed' | 'revoke_failed'} outcome
 * @param {string} failure code
 * @returns {Pick<Row, 'outcome' | 'failure'>} a call that we ended ourselves is no fault of the target
 */
function failed(outcome, failure) {
  return failure === 'aborted' ? { outcome: 'undecided' } : { outcome, failure };
}

/** @param {string} look @returns {NodeRow} */
function notGood(look) {
  return { outcome: 'not_good_before', before: look, interval: null };
}

/**
 * @template T
 * @param {() => Promise<T>} call
 * @param {string} [otherwise] code of an error that has none; without it such a one is thrown
 * @returns {Promise<{value: T} | {failure: string}>} the code of what the target did
 */
async function attempt(call, otherwise) {
  try {
    return { value: await call() };
  } catch (error) {
    if (error instanceof PkiLoadError) return { failure: error.code };
    if (otherwise !== undefined) return { failure: otherwise };
    throw error;
  }
}

/**
 * @param {Writer} client
 * @param {PropagationPlan} plan
 * @returns {Promise<{serialText: string, data: Record<string, any>}>} what can be revoked, though the rest may not be a certificate
 */
async function issue(client, { target: { mount }, role, cn, ttlMs }) {
  const { data } = await client.write(
    `${mount}/issue/${role}`,
    certificateParameters({ commonName: cn, altNames: [], ipSans: [], ttlMs }),
  );
  const serialText = data?.serial_number;
  if (data !== null && typeof serialText === 'string') return { serialText, data };
  throw new PkiLoadError('not_issued', 'The answer has no serial number.');
}

/**
 * @param {{data: Record<string, any>}} issued
 * @param {Circumstances['about']} about
 * @returns {Promise<Question>}
 */
function questionOf({ data }, about) {
  const names = { leaf: 'the certificate that was issued', issuer: 'the issuing_ca it came with' };
  const [leaf] = readCertificates(Buffer.from(String(data.certificate)), names.leaf);
  const [issuer] = readCertificates(Buffer.from(String(data.issuing_ca)), names.issuer);
  assertIssued(leaf, issuer, names);
  return about(issuer, leaf.serial);
}

/**
 * @param {Writer} client
 * @param {PropagationPlan} plan
 * @param {string} serial
 * @param {() => void} [onHead] called as soon as the head of the answer is read
 */
async function revoke(client, { target: { mount } }, serial, onHead) {
  const { data } = await client.write(`${mount}/revoke`, { serial_number: serial }, onHead);
  if (data?.revocation_time > 0) return;
  throw new PkiLoadError('not_revoked', 'The answer does not say that the certificate is revoked.');
}

const MOST_WARMING_MS = 2000;

/**
 * @param {object} parts
 * @param {PropagationPlan} parts.plan
 * @param {NodeWatch[]} parts.nodes nothing is counted there
 * @param {Writer} parts.client
 * @param {PollClock} parts.clock
 * @param {AbortSignal} parts.stop
 * @returns {Promise<Row>}
 * @throws {PkiLoadError} where the token may not issue or not revoke
 */
export async function warm({ plan, nodes, client, clock, stop }) {
  const row = await followCertificate(0, client, {
    plan: { ...plan, giveUpMs: Math.min(plan.giveUpMs, MOST_WARMING_MS) },
    nodes: nodes.map(({ asker }) => ({ asker, answers: {}, counts: { sent: 0, missed: 0, skipped: 0 } })),
    clock,
    onLag: () => {},
    about: createQuestioner().about,
    stop,
  });
  if ([row.failure, row.unrevoked].includes('vault_permission_denied')) throw denied(row, plan);
  return row;
}

/**
 * A token without `sys/capabilities-self` is checked by use.
 *
 * @param {Row} row
 * @param {PropagationPlan} plan
 */
function denied({ left: what }, { target: { mount }, role }) {
  const isIssued = what === 'valid';
  const path = isIssued ? `${mount}/revoke` : `${mount}/issue/${role}`;
  const left = isIssued ? ' The one certificate that was issued to try it stays valid until it expires.' : '';
  return targetError(
    'role_permission_denied',
    `The token may not write to ${path}.${left}`,
    `Use a token whose policy has: path "${path}" { capabilities = ["update"] }.`,
  );
}
