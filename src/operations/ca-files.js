/** `crl` and `ca-chain`: fetch the revocation list and the CA certificates of a mount, and check them. No token. */
import { createPublicKey, X509Certificate } from 'node:crypto';
import { maxOf, minOf } from '../common/sums.js';
import { formatCount } from '../common/units.js';
import { readCertificates } from '../pki/certificate.js';
import { allowsUsage, checkTimes, isCa, isNamedIssuer, parseCertificate } from '../pki/certificate-der.js';
import { CRL_KINDS, parseCrl } from '../pki/crl.js';
import { SIGNATURE_FAILURES, verifySignature } from '../pki/signature.js';
import { decodeBody, pemBlocks } from '../pki/text.js';
import { checkIssuer, checkMount } from '../vault/check-target.js';
import { failed, isSuccess, passed, REFUSAL_OUTCOMES, refusal } from './outcomes.js';
import { prepareCalls } from './prepare.js';
import { apiPath, repeatRequest } from './request-parts.js';

/** @import { KeyObject } from 'node:crypto' */
/** @import { CertificateFields } from '../pki/certificate-der.js' */
/** @import { Crl } from '../pki/crl.js' */
/** @import { Classify, Operation, PrepareContext } from './index.js' */

/** Go's maxChainSignatureChecks (crypto/x509): n certificates with one name would take n² verifications. */
const MAX_CHECKS = 100;

const BY_OUR_CLOCK = 'by the clock of this machine';

/** @type {Operation} */
export const crl = {
  name: 'crl',
  unit: 'CRLs',
  examples: ['crl --dev --duration 10s', "crl --rate 5 --duration 1m --require 'p99<500ms'"],
  options: {},
  outcomes: {
    ...REFUSAL_OUTCOMES,
    crl: 'a current CRL of the issuer, with a valid signature',
    not_crl: 'HTTP 2xx, but the body is not a CRL in DER',
    other_issuer: 'a CRL of another issuer, or of another of its keys (authorityKeyIdentifier)',
    ...SIGNATURE_FAILURES,
    issuer_key_usage: "the key usage of the issuer's certificate does not allow CRLs (cRLSign)",
    delta_crl: 'a delta CRL, which lists only changes (RFC 5280, 5.2.4)',
    partial_crl: 'a CRL for a distribution point, perhaps not of all certificates (RFC 5280, 5.2.5)',
    indirect_crl: 'a CRL with entries of other issuers (RFC 5280, 5.3.3)',
    unknown_critical_extension: 'a critical extension unknown to this tool, of the CRL or of its issuer',
    no_next_update: 'the CRL has no nextUpdate, which RFC 5280, 5.1.2.5 requires',
    not_yet_valid: `thisUpdate is in the future, or the issuer's certificate is not valid yet, ${BY_OUR_CLOCK}`,
    expired: `nextUpdate has passed, or the issuer's certificate has expired, ${BY_OUR_CLOCK}`,
  },
  prepare: prepareIssuer,
  createRequester: requesterOf('crl'),
  createClassifier(_plan, { issuerPem }) {
    const { raw, publicKey } = new X509Certificate(issuerPem);
    let largest = { bytes: 0, revoked: 0, thisUpdateMs: 0 };
    const outcomes = { current: 'crl', early: 'not_yet_valid', late: 'expired', unreadable: 'not_crl' };
    const classify = createFileClassifier(outcomes, (der) => {
      const list = parseCrl(der);
      const issuer = parseCertificate(raw);
      const failure = findFailure(list, issuer, publicKey);
      if (failure === null && der.length > largest.bytes) largest = { ...list, bytes: der.length };
      const notBefore = Math.max(list.thisUpdateMs, issuer.notBefore);
      const notAfter = Math.min(Number(list.nextUpdateMs), issuer.notAfter);
      return { failure, notBefore, notAfter };
    });
    classify.notes = () => (largest.bytes === 0 ? [] : [describeCrl(largest)]);
    return classify;
  },
};

/** @param {{bytes: number, revoked: number, thisUpdateMs: number}} list */
function describeCrl({ bytes, revoked, thisUpdateMs }) {
  const entries = revoked === 1 ? '1 entry' : `${formatCount(revoked)} entries`;
  const time = new Date(thisUpdateMs).toISOString().replace('T', ' ').slice(0, 19);
  return `The largest CRL had ${formatCount(bytes)} bytes and ${entries}; it was issued at ${time} UTC.`;
}

const UNSUPPORTED = 'unsupported_signature_algorithm';

/** @type {Operation} */
export const caChain = {
  name: 'ca-chain',
  unit: 'CA chains',
  examples: ['ca-chain --dev --duration 10s', "ca-chain --rate 20 --duration 1m --require 'p99<100ms'"],
  options: {},
  outcomes: {
    ...REFUSAL_OUTCOMES,
    chain: "the issuer's certificate and its CAs, each the signer of one before it, all valid now",
    not_pem: 'HTTP 2xx, but the body does not consist of certificates in PEM',
    other_issuer: "the first certificate is not the mount's issuer",
    not_ca: 'a certificate that is not a CA certificate (basicConstraints, keyCertSign)',
    unknown_critical_extension:
      'a certificate with an unknown critical extension, or one that must not be critical',
    broken_chain: 'a certificate that signed none of those before it, or whose own signature is wrong',
    [UNSUPPORTED]: SIGNATURE_FAILURES[UNSUPPORTED],
    path_too_long: 'a certificate below more CAs than its pathLenConstraint allows (RFC 5280, 4.2.1.9)',
    chain_too_long: `more than ${MAX_CHECKS} signatures to verify`,
    not_valid_now: `a certificate is expired, or not valid yet, ${BY_OUR_CLOCK}`,
  },
  prepare: prepareIssuer,
  createRequester: requesterOf('ca_chain'),
  createClassifier(_plan, { issuerPem }) {
    const issuer = new X509Certificate(issuerPem);
    const [early, late] = ['not_valid_now', 'not_valid_now'];
    const outcomes = { current: 'chain', early, late, unreadable: 'not_pem' };
    return createFileClassifier(outcomes, (pem) => checkChain(pem.toString('latin1'), issuer));
  },
};

/** @param {PrepareContext} context */
async function prepareIssuer(context) {
  const { client, plan } = context;
  const fixture = await prepareCalls(context, { withToken: false });
  await checkMount(client, plan.target.mount);
  const { pem } = await checkIssuer(client, plan.target.mount);
  readCertificates(Buffer.from(pem), `The CA certificate of the mount ${plan.target.mount}`);
  return { ...fixture, issuerPem: pem };
}

/** @param {string} name of the file @returns {Operation['createRequester']} */
function requesterOf(name) {
  return ({ target: { mount } }, { basePath, headers }) =>
    repeatRequest({ path: apiPath(basePath, mount, name), headers });
}

/** @typedef {{failure: string | null, notBefore: number, notAfter: number}} Checked `failure`: independent of the time */

/**
 * @param {Record<'current' | 'early' | 'late' | 'unreadable', string>} outcomes by the current time, without a failure
 * @param {(body: Buffer) => Checked} check throws for an unreadable body @returns {Classify}
 */
function createFileClassifier({ current, early, late, unreadable }, check) {
  // Most bodies equal the previous one.
  let last = Buffer.alloc(0);
  /** @type {Checked} */
  let checked = { failure: unreadable, notBefore: 0, notAfter: 0 };
  return (status, body, _index, receivedAt = Date.now()) => {
    if (!isSuccess(status)) return refusal(status);
    if (!last.equals(body)) {
      last = Buffer.from(body);
      checked = { failure: unreadable, notBefore: 0, notAfter: 0 };
      try {
        checked = check(last);
      } catch {
        // Unreadable.
      }
    }
    const failure = checked.failure ?? checkTimes(checked, receivedAt, early, late);
    return failure === null ? passed(current) : failed(failure);
  };
}

/** @param {Crl} list @param {CertificateFields} issuer @param {KeyObject} key @returns {string | null} outcome; null: good while current */
function findFailure(list, issuer, key) {
  if (!isNamedIssuer(list, issuer)) return 'other_issuer';
  const failure = verifySignature(list.signed, key);
  if (failure !== null) return failure;
  if (!allowsUsage(issuer, 'crlSign')) return 'issuer_key_usage';
  const unknown = list.unknownCritical ?? issuer.unknownCritical;
  if (unknown !== null) return CRL_KINDS.get(unknown) ?? 'unknown_critical_extension';
  return list.nextUpdateMs === null ? 'no_next_update' : null;
}

/** @param {string} text PEM @param {X509Certificate} issuer @returns {Checked} when all certificates are valid */
function checkChain(text, issuer) {
  const blocks = [...pemBlocks(text)];
  if (blocks.length === 0 || blocks.some(({ label }) => label !== 'CERTIFICATE')) throw new Error();
  const ders = blocks.map(({ body }) => decodeBody(body) ?? Buffer.alloc(0));
  const chain = ders.map((der) => parseCertificate(der));
  return {
    failure: ders[0].equals(issuer.raw) ? findChainFailure(chain) : 'other_issuer',
    notBefore: maxOf(chain.map(({ notBefore }) => notBefore)),
    notAfter: minOf(chain.map(({ notAfter }) => notAfter)),
  };
}

/**
 * Vault appends the chains of all parents of an issuer; a cross-signed CA has several. Each ends with a root,
 * or with a certificate whose issuer the mount does not know.
 * @param {CertificateFields[]} chain @returns {string | null} outcome; null: good while valid
 */
function findChainFailure(chain) {
  if (chain.length > MAX_CHECKS) return 'chain_too_long';
  if (!chain.every((ca) => isCa(ca) && allowsUsage(ca, 'keyCertSign'))) return 'not_ca';
  if (chain.some(({ unknownCritical }) => unknownCritical !== null)) return 'unknown_critical_extension';
  /** For each certificate: the indexes of those whose issuer it should be. */
  const named = chain.map((above) => [...chain.keys()].filter((j) => isNamedIssuer(chain[j], above)));
  if (named.flat().length > MAX_CHECKS) return 'chain_too_long';
  const unsupported = new Set();
  const signed = chain.map(({ spki }, i) => {
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
    return named[i].filter((j) => {
      const failure = verifySignature(chain[j].signed, key);
      if (failure === UNSUPPORTED) unsupported.add(j);
      // That of a root need not be verified (RFC 5280, 6.1).
      return failure === null || (failure === UNSUPPORTED && i === j);
    });
  });
  const verified = new Set(signed.flat());
  const wrong = named.flat().filter((j) => !verified.has(j));
  if (wrong.length > 0) return wrong.every((j) => unsupported.has(j)) ? UNSUPPORTED : 'broken_chain';
  /** By certificate: CAs between it and a leaf on the shortest path, not counting self-issued ones (6.1.4). @type {number[]} */
  const depths = [];
  for (const [i, above] of chain.entries()) {
    const below = signed[i].filter((j) => j < i);
    const lengths = below.map((j) => depths[j] + (chain[j].issuer.equals(chain[j].subject) ? 0 : 1));
    // Another certificate of the same CA can take the place of an earlier one.
    for (const [j, { subject, spki }] of chain.slice(0, i).entries())
      if (subject.equals(above.subject) && spki.equals(above.spki)) lengths.push(depths[j]);
    if (i > 0 && lengths.length === 0) return 'broken_chain';
    depths.push(i === 0 ? 0 : minOf(lengths));
    if (!isCa(above, depths[i])) return 'path_too_long';
  }
  return null;
}
