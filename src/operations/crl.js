/** `crl`: the mount's revocation list (`MOUNT/crl`), read and checked; its size and age are told. No token. */
import { X509Certificate } from 'node:crypto';
import { parseCertificate } from '../pki/certificate-der.js';
import { isSignedBy, parseCrl } from '../pki/crl.js';
import { formatCount, formatDuration } from '../units.js';
import { checkIssuer } from '../vault/preflight.js';
import { apiPath } from './issuance.js';
import { REFUSAL_OUTCOMES, refusal } from './refusals.js';
import { failed, passed, prepareCalls } from './vault-call.js';

/** Clocks may differ by so much. */
const SKEW_MS = 5000;

/** @typedef {{failure: string | null, bytes: number, revoked: number, thisUpdateMs: number, nextUpdateMs: number}} Seen */

/** @type {import('./index.js').Operation} */
export const operation = {
  name: 'crl',
  describe: "Fetch the mount's certificate revocation list and check it",
  things: 'CRLs',
  examples: ["crl --rate 5 --duration 1m --require 'p99<500ms'"],
  options: {},
  outcomes: Object.freeze({
    ...REFUSAL_OUTCOMES,
    crl: 'a CRL of the issuer, with a good signature, and current',
    not_crl: 'HTTP 2xx, but the body is not a CRL',
    other_issuer: 'a CRL of another issuer',
    bad_signature: 'the signature is not that of the issuer',
    not_current: 'thisUpdate is in the future, or nextUpdate is past',
  }),
  async prepare(context) {
    const fixture = await prepareCalls(context, { withToken: false });
    const { pem } = await checkIssuer(context.client, context.plan.target.mount);
    return { ...fixture, issuerPem: pem };
  },
  createRequester({ target: { mount } }, { basePath, headers }) {
    /** @type {import('../http/exchange.js').Request} */
    const request = { method: 'GET', path: apiPath(basePath, mount, 'crl'), headers, body: null };
    return () => request;
  },
  createClassifier(_plan, { issuerPem }) {
    const issuer = new X509Certificate(issuerPem);
    const subject = parseCertificate(issuer.raw).subject;
    const good = passed('crl');
    let last = Buffer.alloc(0);
    /** Of `last`. @type {Seen | null} */
    let seen = null;
    /** Of all. */
    const most = { bytes: 0, revoked: 0, ageMs: 0 };
    /** @type {import('../load/recording/recorder.js').Classify} */
    const classify = (status, body) => {
      if (status < 200 || status > 299) return refusal(status);
      if (seen === null || !last.equals(body)) {
        last = Buffer.from(body);
        seen = look(last, subject, issuer);
      }
      const nowMs = Date.now();
      most.bytes = Math.max(most.bytes, seen.bytes);
      most.revoked = Math.max(most.revoked, seen.revoked);
      if (seen.failure !== null) return failed(seen.failure);
      most.ageMs = Math.max(most.ageMs, nowMs - seen.thisUpdateMs);
      const isCurrent = nowMs >= seen.thisUpdateMs - SKEW_MS && nowMs <= seen.nextUpdateMs + SKEW_MS;
      return isCurrent ? good : failed('not_current');
    };
    classify.notes = () =>
      seen === null
        ? []
        : [
            `The largest CRL had ${formatCount(most.bytes)} bytes and ${formatCount(most.revoked)} entries; the oldest was ${formatDuration(most.ageMs)} old.`,
          ];
    return classify;
  },
};

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
    const failure = !crl.issuer.equals(subject)
      ? 'other_issuer'
      : isSignedBy(crl, issuer.publicKey)
        ? null
        : 'bad_signature';
    const until = nextUpdateMs ?? Number.POSITIVE_INFINITY;
    return { failure, bytes: der.length, revoked, thisUpdateMs, nextUpdateMs: until };
  } catch {
    return { failure: 'not_crl', bytes: der.length, revoked: 0, thisUpdateMs: 0, nextUpdateMs: 0 };
  }
}
