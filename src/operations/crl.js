/** `crl`: the mount's revocation list (`MOUNT/crl`), read and checked, with notes on its size and age. No token. */
import { X509Certificate } from 'node:crypto';
import { formatCount, formatDuration } from '../common/units.js';
import { parseCertificate } from '../pki/certificate-der.js';
import { parseCrl, verifyCrl } from '../pki/crl.js';
import { checkIssuer, checkMount } from '../vault/check-target.js';
import { failed, passed, REFUSAL_OUTCOMES, refusal } from './outcomes.js';
import { prepareCalls } from './prepare.js';
import { apiPath, sendAlways } from './request-parts.js';

/** @import { Crl } from '../pki/crl.js' */
/** @import { Operation } from './index.js' */

/** Clocks may differ by so much. */
const SKEW_MS = 5000;

/** What holds for the same bytes at any time. @typedef {{failure: string | null, revoked: number, thisUpdateMs: number, nextUpdateMs: number}} Seen */

/** @type {Operation} */
export const operation = {
  name: 'crl',
  unit: 'CRLs',
  examples: ['crl --dev --duration 10s', "crl --rate 5 --duration 1m --require 'p99<500ms'"],
  options: {},
  outcomes: Object.freeze({
    ...REFUSAL_OUTCOMES,
    crl: 'a CRL of the issuer, with a good signature, and current',
    not_crl: 'HTTP 2xx, but the body is not a CRL in DER',
    other_issuer: 'a CRL of another issuer',
    unsupported_signature_algorithm: 'the signature cannot be verified here',
    bad_signature: 'the signature is not that of the issuer',
    unknown_critical_extension:
      'a critical extension that is not understood here, such as that of a delta CRL or of a part of a list',
    not_yet_valid: 'thisUpdate is in the future',
    expired: 'nextUpdate has passed',
  }),
  async prepare(context) {
    const { client, plan } = context;
    const fixture = await prepareCalls(context, { withToken: false });
    await checkMount(client, plan.target.mount);
    const { pem } = await checkIssuer(client, plan.target.mount);
    return { ...fixture, issuerPem: pem, most: new SharedArrayBuffer(3 * 8) };
  },
  createRequester({ target: { mount } }, { basePath, headers }) {
    return sendAlways({ path: apiPath(basePath, mount, 'crl'), headers });
  },
  createClassifier(_plan, { issuerPem, most }) {
    const issuer = new X509Certificate(issuerPem);
    const subject = parseCertificate(issuer.raw).subject;
    const good = passed('crl');
    const largest = openLargest(most);
    let last = Buffer.alloc(0);
    /** Of `last`. @type {Seen | null} */
    let seen = null;
    return (status, body) => {
      if (status < 200 || status > 299) return refusal(status);
      if (seen === null || !last.equals(body)) {
        last = Buffer.from(body);
        seen = look(last, subject, issuer);
      }
      if (seen.failure !== null) return failed(seen.failure);
      const nowMs = Date.now();
      largest.add(last.length, seen.revoked, nowMs - seen.thisUpdateMs);
      if (seen.thisUpdateMs > nowMs + SKEW_MS) return failed('not_yet_valid');
      return seen.nextUpdateMs < nowMs - SKEW_MS ? failed('expired') : good;
    };
  },
  takeNotes: ({ most }) => openLargest(most).takeNotes(),
};

/**
 * The largest figures of a run, in memory that all threads share: no thread knows them before all have ended.
 *
 * @param {SharedArrayBuffer} memory
 */
function openLargest(memory) {
  const figures = new BigInt64Array(memory);
  return {
    /** @param {...number} values bytes, entries, age in ms: whole numbers; a clock that is behind makes an age negative */
    add(...values) {
      for (const [i, value] of values.entries()) {
        const found = BigInt(Math.round(value));
        for (let known = Atomics.load(figures, i); known < found; ) {
          known = Atomics.compareExchange(figures, i, known, found);
        }
      }
    },
    /** @returns {string[]} */
    takeNotes() {
      const [bytes, revoked, ageMs] = Array.from(figures, (_, i) => Number(Atomics.exchange(figures, i, 0n)));
      if (bytes === 0) return [];
      const entries = revoked === 1 ? '1 entry' : `${formatCount(revoked)} entries`;
      const seconds = Math.ceil(ageMs / 1000) * 1000;
      return [
        `The largest CRL had ${formatCount(bytes)} bytes, the longest ${entries}; the oldest was up to ${formatDuration(seconds)} old.`,
      ];
    },
  };
}

/**
 * @param {Buffer} der
 * @param {Buffer} subject of the issuer, DER
 * @param {X509Certificate} issuer
 * @returns {Seen}
 */
function look(der, subject, issuer) {
  try {
    const crl = parseCrl(der);
    const { revoked, thisUpdateMs, nextUpdateMs } = crl;
    const until = nextUpdateMs ?? Number.POSITIVE_INFINITY;
    return { failure: whyNot(crl, subject, issuer), revoked, thisUpdateMs, nextUpdateMs: until };
  } catch {
    return { failure: 'not_crl', revoked: 0, thisUpdateMs: 0, nextUpdateMs: 0 };
  }
}

/**
 * @param {Crl} crl
 * @param {Buffer} subject
 * @param {X509Certificate} issuer
 * @returns {string | null} outcome; null: it may be relied on while it is current
 */
function whyNot(crl, subject, issuer) {
  if (!crl.issuer.equals(subject)) return 'other_issuer';
  const verdict = verifyCrl(crl, issuer.publicKey);
  if (verdict !== 'valid') return verdict === 'bad' ? 'bad_signature' : 'unsupported_signature_algorithm';
  return crl.critical === null ? null : 'unknown_critical_extension';
}
