/** `ca-chain`: the issuer's certificate and those above it (`MOUNT/ca_chain`). No token. */
import { X509Certificate } from 'node:crypto';
import { pemBlocks } from '../pki/pem.js';
import { apiPath } from './issuance.js';
import { REFUSAL_OUTCOMES, refusal } from './refusals.js';
import { failed, passed, prepareCalls } from './vault-call.js';

/** Clocks may differ by so much. */
const SKEW_MS = 5000;

/** @type {import('./index.js').Operation} */
export const operation = {
  name: 'ca-chain',
  describe: "Fetch the mount's CA chain and check it",
  things: 'CA chains',
  examples: ["ca-chain --rate 20 --duration 1m --require 'p99<100ms'"],
  options: {},
  outcomes: Object.freeze({
    ...REFUSAL_OUTCOMES,
    chain: 'certificates that are valid now, each signed by the next',
    not_pem: 'HTTP 2xx, but no certificate can be read in the body',
    broken_chain: 'a certificate is not signed by the one that follows it',
    not_valid_now: 'a certificate is expired, or not valid yet',
  }),
  prepare: (context) => prepareCalls(context, { withToken: false }),
  createRequester({ target: { mount } }, { basePath, headers }) {
    /** @type {import('../http/exchange.js').Request} */
    const request = { method: 'GET', path: apiPath(basePath, mount, 'ca_chain'), headers, body: null };
    return () => request;
  },
  createClassifier() {
    const good = passed('chain');
    /** What was checked last, and until when the verdict holds: a chain is mostly the one before. */
    let last = { body: Buffer.alloc(0), verdict: failed('not_pem'), untilMs: 0 };
    return (status, body) => {
      if (status < 200 || status > 299) return refusal(status);
      const nowMs = Date.now();
      if (nowMs < last.untilMs && last.body.equals(body)) return last.verdict;
      const { failure, untilMs } = checkChain(Buffer.from(body).toString('latin1'), nowMs);
      last = { body: Buffer.from(body), verdict: failure === null ? good : failed(failure), untilMs };
      return last.verdict;
    };
  },
};

/**
 * @param {string} text PEM
 * @param {number} nowMs
 * @returns {{failure: string | null, untilMs: number}} `untilMs`: when a certificate expires
 */
function checkChain(text, nowMs) {
  const chain = readChain(text);
  if (chain === null) return { failure: 'not_pem', untilMs: 0 };
  const untilMs = Math.min(...chain.map(({ validTo }) => Date.parse(validTo)));
  const fromMs = Math.max(...chain.map(({ validFrom }) => Date.parse(validFrom)));
  if (nowMs > untilMs + SKEW_MS || nowMs < fromMs - SKEW_MS) return { failure: 'not_valid_now', untilMs: 0 };
  const isSigned = chain.every((one, i) => i === chain.length - 1 || one.verify(chain[i + 1].publicKey));
  return isSigned ? { failure: null, untilMs } : { failure: 'broken_chain', untilMs: 0 };
}

/** @param {string} text @returns {X509Certificate[] | null} */
function readChain(text) {
  try {
    const chain = [...pemBlocks(text)]
      .filter(({ label }) => label === 'CERTIFICATE')
      .map(({ body }) => new X509Certificate(Buffer.from(String(body), 'base64')));
    return chain.length === 0 ? null : chain;
  } catch {
    return null;
  }
}
