/** `crl` and `ca-chain`: fetch the revocation list and the CA certificates of a mount, and check them. No token. */
import { X509Certificate } from 'node:crypto';
import { formatCount } from '../common/units.js';
import { parseCertificate } from '../pki/certificate-der.js';
import { parseCrl } from '../pki/crl.js';
import { verifySignature } from '../pki/signature.js';
import { pemBlocks } from '../pki/text.js';
import { checkIssuer, checkMount } from '../vault/check-target.js';
import { failed, isSuccess, passed, REFUSAL_OUTCOMES, refusal } from './outcomes.js';
import { prepareCalls } from './prepare.js';
import { apiPath, sendAlways } from './request-parts.js';

/** @import { Crl } from '../pki/crl.js' */
/** @import { Classify, Operation, PrepareContext } from './index.js' */

/** Allowed difference between the clocks of this machine and the target. */
const CLOCK_SKEW_MS = 5000;

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
    other_issuer: 'a CRL of another issuer',
    unsupported_signature_algorithm: 'this tool cannot verify the signature',
    bad_signature: 'the issuer did not sign it',
    unknown_critical_extension:
      'a critical extension unknown to this tool, e.g. of a delta or partitioned CRL',
    not_yet_valid: 'thisUpdate is in the future',
    expired: 'nextUpdate has passed',
  },
  prepare: prepareIssuer,
  createRequester: requesterOf('crl'),
  createClassifier(_plan, { issuerPem }) {
    const issuer = new X509Certificate(issuerPem);
    let largest = { bytes: 0, revoked: 0, fromMs: 0 };
    const outcomes = { current: 'crl', early: 'not_yet_valid', late: 'expired' };
    const classify = createFileClassifier(outcomes, (der) => {
      const checked = checkCrl(der, issuer);
      const isLarger = checked.failure === null && der.length > largest.bytes;
      if (isLarger) largest = { ...checked, bytes: der.length };
      return checked;
    });
    classify.notes = () => (largest.bytes === 0 ? [] : [describeCrl(largest)]);
    return classify;
  },
};

/** @param {{bytes: number, revoked: number, fromMs: number}} list */
function describeCrl({ bytes, revoked, fromMs }) {
  const entries = revoked === 1 ? '1 entry' : `${formatCount(revoked)} entries`;
  const time = new Date(fromMs).toISOString().replace('T', ' ').slice(0, 19);
  return `The largest CRL had ${formatCount(bytes)} bytes and ${entries}; it was issued at ${time} UTC.`;
}

/** @type {Operation} */
export const caChain = {
  name: 'ca-chain',
  unit: 'CA chains',
  examples: ['ca-chain --dev --duration 10s', "ca-chain --rate 20 --duration 1m --require 'p99<100ms'"],
  options: {},
  outcomes: {
    ...REFUSAL_OUTCOMES,
    chain:
      "the issuer's certificate and its CAs, each of which signed a certificate before it, all valid now",
    not_pem: 'HTTP 2xx, but the body does not consist of certificates in PEM',
    other_issuer: "the first certificate is not the mount's issuer",
    broken_chain: 'a certificate that did not sign any certificate before it',
    not_valid_now: 'a certificate is expired, or not valid yet',
  },
  prepare: prepareIssuer,
  createRequester: requesterOf('ca_chain'),
  createClassifier(_plan, { issuerPem }) {
    const issuer = new X509Certificate(issuerPem);
    const outcomes = { current: 'chain', early: 'not_valid_now', late: 'not_valid_now' };
    return createFileClassifier(outcomes, (pem) => checkChain(pem.toString('latin1'), issuer));
  },
};

/** @param {PrepareContext} context */
async function prepareIssuer(context) {
  const { client, plan } = context;
  const fixture = await prepareCalls(context, { withToken: false });
  await checkMount(client, plan.target.mount);
  const { pem } = await checkIssuer(client, plan.target.mount);
  return { ...fixture, issuerPem: pem };
}

/** @param {string} name of the file @returns {Operation['createRequester']} */
function requesterOf(name) {
  return ({ target: { mount } }, { basePath, headers }) =>
    sendAlways({ path: apiPath(basePath, mount, name), headers });
}

/** @typedef {{failure: string | null, fromMs: number, untilMs: number}} Checked `failure`: an outcome at any time */

/**
 * @param {{current: string, early: string, late: string}} outcomes of a body without a failure, by the current time
 * @param {(body: Buffer) => Checked} check
 * @returns {Classify}
 */
function createFileClassifier({ current, early, late }, check) {
  // Most bodies equal the previous one.
  let last = Buffer.alloc(0);
  let checked = check(last);
  return (status, body) => {
    if (!isSuccess(status)) return refusal(status);
    if (!last.equals(body)) {
      last = Buffer.from(body);
      checked = check(last);
    }
    const { failure, fromMs, untilMs } = checked;
    if (failure !== null) return failed(failure);
    const nowMs = Date.now();
    if (fromMs > nowMs + CLOCK_SKEW_MS) return failed(early);
    return untilMs < nowMs - CLOCK_SKEW_MS ? failed(late) : passed(current);
  };
}

/** @param {Buffer} der @param {X509Certificate} issuer @returns {Checked & {revoked: number}} */
function checkCrl(der, issuer) {
  try {
    const list = parseCrl(der);
    const { revoked, thisUpdateMs: fromMs, nextUpdateMs } = list;
    return { failure: findFault(list, issuer), revoked, fromMs, untilMs: nextUpdateMs ?? Infinity };
  } catch {
    return { failure: 'not_crl', revoked: 0, fromMs: 0, untilMs: 0 };
  }
}

/** @param {Crl} list @param {X509Certificate} issuer @returns {string | null} outcome; null: good while current */
function findFault(list, issuer) {
  if (!list.issuer.equals(parseCertificate(issuer.raw).subject)) return 'other_issuer';
  const signature = verifySignature(list.signed, issuer.publicKey);
  if (signature === 'bad') return 'bad_signature';
  if (signature !== 'valid') return 'unsupported_signature_algorithm';
  return list.critical === null ? null : 'unknown_critical_extension';
}

/** @param {string} text PEM @param {X509Certificate} issuer @returns {Checked} when all certificates are valid */
function checkChain(text, issuer) {
  try {
    const blocks = [...pemBlocks(text)];
    if (blocks.length === 0 || blocks.some(({ label }) => label !== 'CERTIFICATE')) throw new Error();
    const ders = blocks.map(({ body }) => Buffer.from(/** @type {string} */ (body), 'base64'));
    const times = ders.map((der) => parseCertificate(der));
    const chain = ders.map((der) => new X509Certificate(der));
    const fault = isChain(chain) ? null : 'broken_chain';
    return {
      failure: chain[0].raw.equals(issuer.raw) ? fault : 'other_issuer',
      fromMs: Math.max(...times.map(({ notBefore }) => notBefore)),
      untilMs: Math.min(...times.map(({ notAfter }) => notAfter)),
    };
  } catch {
    return { failure: 'not_pem', fromMs: 0, untilMs: 0 };
  }
}

/**
 * Vault appends the chains of all parents of an issuer; a cross-signed CA has several. Each ends with a root,
 * or with a certificate whose issuer the mount does not know.
 * @param {X509Certificate[]} chain
 */
function isChain(chain) {
  const isSignedBy = (/** @type {X509Certificate} */ below, /** @type {X509Certificate} */ above) =>
    below.checkIssued(above) && below.verify(above.publicKey);
  return chain.every((above, i) => {
    if (above.checkIssued(above) && !isSignedBy(above, above)) return false;
    return i === 0 || chain.slice(0, i).some((below) => isSignedBy(below, above));
  });
}
