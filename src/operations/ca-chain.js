/** `ca-chain`: the issuer's certificate and those above it (`MOUNT/ca_chain`). No token. */
import { X509Certificate } from 'node:crypto';
import { parseCertificate } from '../pki/certificate-der.js';
import { pemBlocks } from '../pki/text.js';
import { checkIssuer, checkMount } from '../vault/check-target.js';
import { failed, passed, REFUSAL_OUTCOMES, refusal } from './outcomes.js';
import { prepareCalls } from './prepare.js';
import { apiPath, sendAlways } from './request-parts.js';

/** @import { Operation } from './index.js' */

/** Clocks may differ by so much. */
const SKEW_MS = 5000;

/** @typedef {{x509: X509Certificate, notBefore: number, notAfter: number}} Link */

/** @type {Operation} */
export const operation = {
  name: 'ca-chain',
  unit: 'CA chains',
  examples: ['ca-chain --dev --duration 10s', "ca-chain --rate 20 --duration 1m --require 'p99<100ms'"],
  options: {},
  outcomes: Object.freeze({
    ...REFUSAL_OUTCOMES,
    chain: "the issuer's certificate and those above it, each of which signed one before it, all valid now",
    not_pem: 'HTTP 2xx, but the body does not consist of certificates in PEM',
    other_issuer: "the first certificate is not the mount's issuer",
    broken_chain: 'a certificate issued and signed none of those before it',
    not_valid_now: 'a certificate is expired, or not valid yet',
  }),
  async prepare(context) {
    const { client, plan } = context;
    const fixture = await prepareCalls(context, { withToken: false });
    await checkMount(client, plan.target.mount);
    const { pem } = await checkIssuer(client, plan.target.mount);
    return { ...fixture, issuerPem: pem };
  },
  createRequester({ target: { mount } }, { basePath, headers }) {
    return sendAlways({ path: apiPath(basePath, mount, 'ca_chain'), headers });
  },
  createClassifier(_plan, { issuerPem }) {
    const issuer = new X509Certificate(issuerPem);
    const good = passed('chain');
    /** A chain is mostly the one before. @type {{body: Buffer, failure: string | null, fromMs: number, untilMs: number}} */
    let last = { body: Buffer.alloc(0), failure: 'not_pem', fromMs: 0, untilMs: 0 };
    return (status, body) => {
      if (status < 200 || status > 299) return refusal(status);
      if (!last.body.equals(body)) {
        const copy = Buffer.from(body);
        last = { body: copy, ...checkChain(copy.toString('latin1'), issuer) };
      }
      if (last.failure !== null) return failed(last.failure);
      const nowMs = Date.now();
      const isNow = nowMs >= last.fromMs - SKEW_MS && nowMs <= last.untilMs + SKEW_MS;
      return isNow ? good : failed('not_valid_now');
    };
  },
};

/**
 * @param {string} text PEM
 * @param {X509Certificate} issuer
 * @returns {{failure: string | null, fromMs: number, untilMs: number}} and when all certificates are valid
 */
function checkChain(text, issuer) {
  const chain = readChain(text);
  if (chain === null) return { failure: 'not_pem', fromMs: 0, untilMs: 0 };
  return {
    failure: whyBroken(
      chain.map(({ x509 }) => x509),
      issuer,
    ),
    fromMs: Math.max(...chain.map(({ notBefore }) => notBefore)),
    untilMs: Math.min(...chain.map(({ notAfter }) => notAfter)),
  };
}

/**
 * Vault puts the chain of each of an issuer's parents after it, one after the other: where a CA is cross-signed there are several. A last
 * one may have signed itself, or its own issuer is one that the mount does not know.
 *
 * @param {X509Certificate[]} chain
 * @param {X509Certificate} issuer
 */
function whyBroken(chain, issuer) {
  if (!chain[0].raw.equals(issuer.raw)) return 'other_issuer';
  const isIn = chain.every((one, i) => {
    const isRoot = one.checkIssued(one);
    if (isRoot && !isSignedBy(one, one)) return false;
    return i === 0 || chain.slice(0, i).some((below) => isSignedBy(below, one));
  });
  return isIn ? null : 'broken_chain';
}

/** @param {X509Certificate} one @param {X509Certificate} above */
function isSignedBy(one, above) {
  return one.checkIssued(above) && one.verify(above.publicKey);
}

/** @param {string} text @returns {Link[] | null} */
function readChain(text) {
  try {
    const chain = [];
    for (const { label, body } of pemBlocks(text)) {
      if (label !== 'CERTIFICATE' || body === null) return null;
      const der = Buffer.from(body, 'base64');
      const { notBefore, notAfter } = parseCertificate(der);
      chain.push({ x509: new X509Certificate(der), notBefore, notAfter });
    }
    return chain.length === 0 ? null : chain;
  } catch {
    return null;
  }
}
