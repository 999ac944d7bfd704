/** What `ocsp --about` asks about: certificates from files, or issued and revoked for the purpose. */
import { usageError } from '../common/errors.js';
import { assertIssued, parseSerial, readCertificates } from '../pki/certificate.js';
import { checkPermission } from '../vault/preflight.js';
import { checkIssuance } from './issuance-check.js';
import { describeLifetime, issueBefore, lifetimeMs, revokeBefore } from './issued-before.js';
import { expandName } from './names.js';
import { DEFAULT_POOL } from './ocsp-options.js';
import { findSubjects, fromSerials, issuersOf } from './ocsp-subjects.js';

/** @typedef {import('./ocsp-subjects.js').Subjects} Subjects */
/** @typedef {import('../pki/certificate.js').Certificate} Certificate */

/** Preparing takes no longer for this many certificates. */
const PREPARING_MS = 60_000;

/**
 * @param {import('./index.js').PrepareContext} context
 * @param {import('./ocsp-kinds.js').Kind[]} kinds
 * @returns {Promise<Subjects & {revoked: Uint8Array[]}>} `serials` are good; either is empty where nothing asks for it
 */
export async function findSubjectsOfKinds(context, kinds) {
  const { cert, serials, revokedSerials } = context.plan.options;
  const asks = (/** @type {string} */ name) => kinds.some((kind) => kind.name === name);
  const isGiven = cert !== null || serials !== null;
  const given = isGiven ? await findSubjects(context) : null;
  const known =
    revokedSerials === null ? null : await fromSerials(context, revokedSerials, '--revoked-serials');
  const toIssue = { good: asks('good') && given === null, revoked: asks('revoked') && known === null };
  const made = toIssue.good || toIssue.revoked ? await issueAndRevoke(context, toIssue) : null;
  const issuers = [given, known, made].flatMap((one) => (one === null ? [] : [one.issuer]));
  const [issuer = (await issuersOf(context)).issuers[0]] = issuers;
  const other = issuers.find((one) => !isSameIssuer(one, issuer));
  if (other !== undefined) throw severalIssuers(issuer, other);
  return {
    serials: given?.serials ?? made?.good ?? [],
    revoked: known?.serials ?? made?.revoked ?? [],
    issuer,
    example: given?.example ?? made?.example ?? known?.example ?? null,
  };
}

/**
 * @param {import('./index.js').PrepareContext} context
 * @param {{good: boolean, revoked: boolean}} toIssue
 * @returns {Promise<{good: Uint8Array[], revoked: Uint8Array[], issuer: Certificate, example: Certificate}>}
 */
async function issueAndRevoke(context, toIssue) {
  const { plan, notice } = context;
  const { role, cn, pool } = plan.options;
  const each = pool ?? DEFAULT_POOL;
  const size = each * (toIssue.good && toIssue.revoked ? 2 : 1);
  await checkIssuance(context, {
    operation: 'issue',
    role,
    commonName: expandName(cn, plan.load.seed, 0),
    ttl: `${Math.round(lifetimeMs(plan.load) / 1000)}s`,
    requests: size * 2,
    neededMs: PREPARING_MS,
  });
  if (toIssue.revoked) await checkPermission(context.client, `${plan.target.mount}/revoke`);
  const fates = [
    ...(toIssue.good ? [`${each} to be asked about`] : []),
    ...(toIssue.revoked ? [`${each} to be revoked at once and asked about`] : []),
  ];
  notice(
    `Issues with role ${role} ${fates.join(' and ')}, ${describeLifetime(plan.load)}; until they are tidied after that they stay in storage${toIssue.revoked ? ', and what is revoked on the CRL' : ''}.`,
  );
  const issued = await issueBefore(context, { size, label: 'Issuing certificates to ask about' });
  const toRevoke = toIssue.revoked ? issued.slice(-each) : [];
  const [{ certificate, issuingCa }] = issued;
  const [example] = readCertificates(Buffer.from(certificate), 'a certificate that was issued');
  const [issuer] = readCertificates(Buffer.from(issuingCa), "the issuing CA's certificate");
  const names = { leaf: 'a certificate that was issued', issuer: 'the issuing_ca it came with' };
  assertIssued(example, issuer, names);
  await revokeBefore(context, toRevoke);
  return {
    good: toIssue.good ? issued.slice(0, each).map(({ serial }) => parseSerial(serial)) : [],
    revoked: toRevoke.map(({ serial }) => parseSerial(serial)),
    issuer,
    example,
  };
}

/**
 * CertIDs of both have the same hashes.
 *
 * @param {Certificate} one
 * @param {Certificate} other
 */
function isSameIssuer(one, other) {
  return one.subjectDer.equals(other.subjectDer) && one.spkiBits.equals(other.spkiBits);
}

/**
 * @param {Certificate} one
 * @param {Certificate} other
 */
function severalIssuers(one, other) {
  const [first, second] = [one, other].map(({ x509 }) => x509.subject.replace(/\n/g, ', ').slice(0, 200));
  return usageError(
    'several_issuers',
    `What is asked about was issued by ${first} and by ${second}${first === second ? ', whose keys differ' : ''}.`,
    'Ask about the certificates of one issuer at a time.',
  );
}
