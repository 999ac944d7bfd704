/**
 * `ocsp`: certificate status from an OCSP responder, every answer judged by the rules of RFC 6960, 3.2. What happens before the
 * run is loaded for it: neither `--help` nor the threads that judge answers need it.
 */
import { createOcspChecker } from '../pki/ocsp-check.js';
import { chooseOcspMethod, ocspGetPath } from '../pki/ocsp-request.js';
import { isOcspStatus, OCSP_FAILURES } from '../pki/ocsp-verdicts.js';
import { createChooser } from './chooser.js';
import { answerOutcomes, readKinds, verdictsOf } from './ocsp-kinds.js';
import { checkOptions, options } from './ocsp-options.js';
import { openRequestSet } from './ocsp-requests.js';
import { REFUSAL_OUTCOMES, refusal } from './refusals.js';

/** Keeps the choice of a kind apart from what else is drawn, such as the choice of this operation in a mix. */
const KIND_STREAM = 60;

const OTHER_CERT_ID =
  "About certificates of another issuer the answers named the CA's own CertID, not the one that was asked about: a client has to reject them (RFC 6960, 3.2). Signature, times and status were as they should be.";

/** @type {Readonly<Record<string, string>>} */
const OUTCOMES = Object.freeze({
  ...answerOutcomes(),
  ...OCSP_FAILURES,
  ...REFUSAL_OUTCOMES,
  bad_request: 'HTTP 400 without an OCSP response; a sealed Vault answers so to POST (503 to GET)',
});

/**
 * @typedef {import('./index.js').Fixture & {path: string, method: 'get' | 'post' | 'auto', issuerDer: Uint8Array,
 *   kinds: AskedKind[], namespace: string | null}} OcspFixture
 */
/** @typedef {import('./ocsp-kinds.js').Kind & {requests: import('./ocsp-requests.js').RequestSet}} AskedKind */

/** @type {import('./index.js').Operation} */
export const operation = {
  name: 'ocsp',
  things: 'OCSP responses',
  examples: [
    'ocsp --dev --rate 20 --duration 10s',
    "ocsp --cert leaf.crt --issuer issuer.pem --rate 20 --duration 2m --require 'p99<200ms'",
    'ocsp --serials issued.jsonl --hash sha256 --method auto --concurrency 50',
    'ocsp --cert leaf.crt --issuer issuer.pem --ocsp-url http://127.0.0.1:2560 --nonce --expect revoked',
    'ocsp --about good=90,revoked=5,never-issued=3,wrong-issuer=2 --pool 50 --rate 100 --duration 1m',
    'ocsp --about good=9,never-issued=1 --expect never-issued=unknown --cert leaf.crt --issuer issuer.pem',
  ],
  options,
  outcomes: OUTCOMES,
  leaves({ about, cert, serials, revokedSerials }) {
    const isGiven = cert !== null || serials !== null;
    const kinds = readKinds(about, []);
    const asks = (/** @type {string} */ kind) => kinds.some(({ name }) => name === kind);
    const isGood = about.length === 0 || asks('good');
    const isRevoked = asks('revoked') && revokedSerials === null;
    return !isGiven && (isGood || isRevoked)
      ? 'the certificates that it asks about, in storage until it is tidied'
      : null;
  },
  check: checkOptions,
  async prepare(context) {
    const { prepare } = await import('./ocsp-prepare.js');
    return prepare(context, { createRequester, createClassifier, meanings: OUTCOMES });
  },
  createRequester,
  createClassifier,
};

/**
 * @param {import('../plan/plan.js').Plan} plan
 * @param {OcspFixture} fixture
 * @returns {(index: number) => import('../http/exchange.js').Request}
 */
function createRequester({ load: { seed } }, fixture) {
  const requesters = fixture.kinds.map(({ requests }) =>
    requesterOf(openRequestSet(requests, seed), fixture),
  );
  if (requesters.length === 1) return requesters[0];
  const kindOf = kindChooser(fixture.kinds, seed);
  return (index) => requesters[kindOf(index)](index);
}

/**
 * @param {readonly AskedKind[]} kinds
 * @param {number} seed
 */
function kindChooser(kinds, seed) {
  return createChooser(
    kinds.map(({ weight }) => weight),
    seed,
    KIND_STREAM,
  );
}

/**
 * @param {ReturnType<typeof openRequestSet>} set
 * @param {OcspFixture} fixture
 * @returns {(index: number) => import('../http/exchange.js').Request}
 */
function requesterOf(set, { origin, path, method, namespace }) {
  const headers = {
    accept: 'application/ocsp-response',
    ...(namespace === null ? {} : { 'x-vault-namespace': namespace }),
  };
  const postHeaders = { ...headers, 'content-type': 'application/ocsp-request' };
  /** @param {number} index @returns {import('../http/exchange.js').Request} */
  const build = (index) => {
    const der = set.request(index);
    if (method !== 'post') {
      const getPath = ocspGetPath(path, der);
      if (method === 'get' || chooseOcspMethod(origin, getPath) === 'GET') {
        return { method: 'GET', path: getPath, headers, body: null };
      }
    }
    return { method: 'POST', path, headers: postHeaders, body: der };
  };
  if (!set.constant) return build;
  const same = build(0);
  return () => same;
}

/**
 * @param {import('../plan/plan.js').Plan} plan
 * @param {OcspFixture} fixture
 * @returns {import('./index.js').Classify}
 */
function createClassifier({ load: { seed } }, { issuerDer, kinds }) {
  const checker = createOcspChecker({ issuerDer });
  const judges = kinds.map((kind) => createJudge(kind, checker, seed));
  const kindOf = kindChooser(kinds, seed);
  /** @type {import('./index.js').Classify} */
  const classify = (status, body, index) => judges[kindOf(index)].judge(status, body, index);
  classify.notes = () => (judges.some(({ isOther }) => isOther()) ? [OTHER_CERT_ID] : []);
  return classify;
}

/**
 * RFC 6960 lets errors come with HTTP 200 or any other status, so a body that is an OCSP response counts before the
 * HTTP status does.
 *
 * @param {AskedKind} kind
 * @param {import('../pki/ocsp-check.js').OcspChecker} checker
 * @param {number} seed
 */
function createJudge(kind, checker, seed) {
  const set = openRequestSet(kind.requests, seed);
  const verdicts = verdictsOf(kind);
  /** @type {import('../pki/ocsp-check.js').OcspExpectation} */
  const expected = { ...set.expectation(0), nowMs: 0 };
  let isOther = false;
  /**
   * Vault answers about an issuer that it does not know under the CertID of its own: all else about such an `unknown` is checked too.
   *
   * @param {Uint8Array} body
   * @param {{raw: Uint8Array}} ownCertId
   */
  const checkOther = (body, ownCertId) => {
    expected.certId = ownCertId;
    const verdict = checker.check(body, expected);
    if (verdict === 'unknown') isOther = true;
    else if (isOcspStatus(verdict)) return 'cert_id_mismatch';
    return verdict;
  };
  return {
    isOther: () => isOther,
    /** @type {(status: number, body: Uint8Array, index: number) => import('./index.js').Verdict} */
    judge(status, body, index) {
      const { certId, ownCertId, nonce } = set.expectation(index);
      expected.certId = certId;
      expected.nonce = nonce;
      expected.nowMs = Date.now();
      const first = checker.check(body, expected);
      const verdict =
        first === 'cert_id_mismatch' && ownCertId !== null ? checkOther(body, ownCertId) : first;
      if (status >= 200 && status < 300) return verdicts[verdict];
      return verdict === 'not_ocsp' || isOcspStatus(verdict) ? refusal(status) : verdicts[verdict];
    },
  };
}
