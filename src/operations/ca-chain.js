/** `ca-chain`: the issuer's certificate and those above it (`MOUNT/ca_chain`). No token. */
import { X509Certificate } from 'node:crypto';
import { parseCertificate } from '../pki/certificate-der.js';
import { pemBlocks } from '../pki/text.js';
import { failed, isSuccess, passed, REFUSAL_OUTCOMES, refusal } from './outcomes.js';
import { CLOCK_SKEW_MS, prepareIssuer } from './prepare.js';
import { apiPath, sendAlways } from './request-parts.js';
/** @import { Operation } from './index.js' */

/** @type {Operation} */
export const caChain = {
  name: 'ca-chain',
  unit: 'CA chains',
  examples: ['ca-chain --dev --duration 10s', "ca-chain --rate 20 --duration 1m --require 'p99<100ms'"],
  options: {},
  outcomes: {
    ...REFUSAL_OUTCOMES,
    chain: "the issuer's certificate and those above it, each of which signed one before it, all valid now",
    not_pem: 'HTTP 2xx, but the body does not consist of certificates in PEM',
    other_issuer: "the first certificate is not the mount's issuer",
    broken_chain: 'a certificate issued and signed none of those before it',
    not_valid_now: 'a certificate is expired, or not valid yet',
  },
  prepare: prepareIssuer,
  createRequester: ({ target: { mount } }, { basePath, headers }) =>
    sendAlways({ path: apiPath(basePath, mount, 'ca_chain'), headers }),
  createClassifier(_plan, { issuerPem }) {
    const issuer = new X509Certificate(issuerPem);
    /** Most chains equal the one before. */
    let last = { body: Buffer.alloc(0), ...checkChain('', issuer) };
    return (status, body) => {
      if (!isSuccess(status)) return refusal(status);
      if (!last.body.equals(body)) {
        const copy = Buffer.from(body);
        last = { body: copy, ...checkChain(copy.toString('latin1'), issuer) };
      }
      if (last.failure !== null) return failed(last.failure);
      const nowMs = Date.now();
      const isNow = nowMs >= last.fromMs - CLOCK_SKEW_MS && nowMs <= last.untilMs + CLOCK_SKEW_MS;
      return isNow ? passed('chain') : failed('not_valid_now');
    };
  },
};

/**
 * @param {string} text PEM
 * @param {X509Certificate} issuer
 * @returns {{failure: string | null, fromMs: number, untilMs: number}} and when all certificates are valid
 */
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
 * Vault appends the chains of all parents of an issuer: a cross-signed CA has several. The last one of each is a root, or its own issuer
 * is unknown to the mount.
 *
 * @param {X509Certificate[]} chain
 */
function isChain(chain) {
  return chain.every((one, i) => {
    if (one.checkIssued(one) && !isSignedBy(one, one)) return false;
    return i === 0 || chain.slice(0, i).some((below) => isSignedBy(below, one));
  });
}

/** @param {X509Certificate} one @param {X509Certificate} above */
function isSignedBy(one, above) {
  return one.checkIssued(above) && one.verify(above.publicKey);
}
