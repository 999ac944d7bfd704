/** `crl`: the mount's revocation list (`MOUNT/crl`), read and checked, with a note on its size and age. No token. */
import { X509Certificate } from 'node:crypto';
import { formatCount, formatDuration } from '../common/units.js';
import { parseCertificate } from '../pki/certificate-der.js';
import { parseCrl, verifyCrl } from '../pki/crl.js';
import { failed, isSuccess, passed, REFUSAL_OUTCOMES, refusal } from './outcomes.js';
import { CLOCK_SKEW_MS, prepareIssuer } from './prepare.js';
import { apiPath, sendAlways } from './request-parts.js';
/** @import { Crl } from '../pki/crl.js' */
/** @import { Operation } from './index.js' */

/** @type {Operation} */
export const crl = {
  name: 'crl',
  unit: 'CRLs',
  examples: ['crl --dev --duration 10s', "crl --rate 5 --duration 1m --require 'p99<500ms'"],
  options: {},
  outcomes: {
    ...REFUSAL_OUTCOMES,
    crl: 'a CRL of the issuer, with a good signature, and current',
    not_crl: 'HTTP 2xx, but the body is not a CRL in DER',
    other_issuer: 'a CRL of another issuer',
    unsupported_signature_algorithm: 'this tool cannot verify the signature',
    bad_signature: 'the signature is not that of the issuer',
    unknown_critical_extension:
      'a critical extension that this tool does not know, such as that of a delta CRL or of a part of a list',
    not_yet_valid: 'thisUpdate is in the future',
    expired: 'nextUpdate has passed',
  },
  prepare: async (context) => ({
    ...(await prepareIssuer(context)),
    largest: new SharedArrayBuffer(3 * BigInt64Array.BYTES_PER_ELEMENT),
  }),
  createRequester: ({ target: { mount } }, { basePath, headers }) =>
    sendAlways({ path: apiPath(basePath, mount, 'crl'), headers }),
  createClassifier(_plan, { issuerPem, largest }) {
    const issuer = new X509Certificate(issuerPem);
    const figures = new BigInt64Array(largest);
    /** Most CRLs equal the one before. */
    let last = { body: Buffer.alloc(0), ...checkCrl(Buffer.alloc(0), issuer) };
    return (status, body) => {
      if (!isSuccess(status)) return refusal(status);
      if (!last.body.equals(body)) {
        const copy = Buffer.from(body);
        last = { body: copy, ...checkCrl(copy, issuer) };
      }
      if (last.failure !== null) return failed(last.failure);
      const nowMs = Date.now();
      raise(figures, 0, last.body.length);
      raise(figures, 1, last.revoked);
      raise(figures, 2, nowMs - last.thisUpdateMs);
      if (last.thisUpdateMs > nowMs + CLOCK_SKEW_MS) return failed('not_yet_valid');
      return last.nextUpdateMs < nowMs - CLOCK_SKEW_MS ? failed('expired') : passed('crl');
    };
  },
  takeNotes({ largest }) {
    const figures = new BigInt64Array(largest);
    const [bytes, revoked, ageMs] = Array.from(figures, (_, i) => Number(Atomics.exchange(figures, i, 0n)));
    if (bytes === 0) return [];
    const entries = revoked === 1 ? '1 entry' : `${formatCount(revoked)} entries`;
    const age = formatDuration(Math.ceil(ageMs / 1000) * 1000);
    return [
      `The largest CRL had ${formatCount(bytes)} bytes, the longest ${entries}; the oldest was up to ${age} old.`,
    ];
  },
};

/**
 * Keeps the largest figure of all threads.
 *
 * @param {BigInt64Array} figures shared
 * @param {number} place
 * @param {number} figure negative: the age on a clock that is behind
 */
function raise(figures, place, figure) {
  const found = BigInt(Math.round(figure));
  for (let known = Atomics.load(figures, place); known < found; ) {
    known = Atomics.compareExchange(figures, place, known, found);
  }
}

/**
 * @param {Buffer} der
 * @param {X509Certificate} issuer
 * @returns {{failure: string | null, revoked: number, thisUpdateMs: number, nextUpdateMs: number}} `failure`: outcome of these bytes at
 *   any time
 */
function checkCrl(der, issuer) {
  try {
    const list = parseCrl(der);
    const { revoked, thisUpdateMs, nextUpdateMs } = list;
    const untilMs = nextUpdateMs ?? Number.POSITIVE_INFINITY;
    return { failure: findFault(list, issuer), revoked, thisUpdateMs, nextUpdateMs: untilMs };
  } catch {
    return { failure: 'not_crl', revoked: 0, thisUpdateMs: 0, nextUpdateMs: 0 };
  }
}

/** @param {Crl} list @param {X509Certificate} issuer @returns {string | null} outcome; null: reliable while it is current */
function findFault(list, issuer) {
  if (!list.issuer.equals(parseCertificate(issuer.raw).subject)) return 'other_issuer';
  const signature = verifyCrl(list, issuer.publicKey);
  if (signature === 'bad') return 'bad_signature';
  if (signature !== 'valid') return 'unsupported_signature_algorithm';
  return list.critical === null ? null : 'unknown_critical_extension';
}
