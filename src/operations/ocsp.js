/** `ocsp`: certificate status from an OCSP responder; each response is checked by the rules of RFC 6960, 3.2. */
import { rejectIf } from '../common/errors.js';
import { inGroup, option } from '../common/options.js';
import { createOcspChecker, isOcspStatus, OCSP_FAILURES } from '../pki/ocsp-check.js';
import { chooseOcspMethod, ocspGetPath } from '../pki/ocsp-request.js';
import {
  DEFAULT_POOL,
  EXPECTED_STATUSES,
  KINDS,
  kindsToIssue,
  outcomesOf,
  readKinds,
  verdictsOf,
} from './ocsp-kinds.js';
import { openRequestSet } from './ocsp-requests.js';
import { isSuccess, REFUSAL_OUTCOMES, refusal } from './outcomes.js';
import { createChooser, repeatRequest } from './request-parts.js';

/** @import { Request } from '../http/exchange.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { Classify, Fixture, Operation } from './index.js' */
/** @import { Kind } from './ocsp-kinds.js' */
/** @import { RequestSet } from './ocsp-requests.js' */

/** @typedef {Fixture & {path: string, method: 'get' | 'post' | 'auto', issuerDer: Uint8Array, headers: Record<string, string>,
 *   kinds: (Kind & {requests: RequestSet})[]}} OcspFixture `headers`: for the responder of a Vault */

/** Keeps the choice of a kind independent of other random numbers, e.g. the choice of an operation in a mix. */
const KIND_STREAM = 60;

const OTHER_CERT_ID =
  "For certificates of another issuer, the responses had the CA's own CertID, not the requested one: a client has to reject them (RFC 6960, 3.2). Signature, times and status were correct.";

/** @type {Operation} */
export const ocsp = {
  name: 'ocsp',
  unit: 'OCSP responses',
  examples: [
    'ocsp --dev --rate 20 --duration 10s',
    "ocsp --cert leaf.crt --issuer issuer.pem --rate 20 --duration 2m --require 'p99<200ms'",
    'ocsp --serials issued.jsonl --hash sha256 --method auto --concurrency 50',
    'ocsp --cert leaf.crt --issuer issuer.pem --ocsp-url http://127.0.0.1:2560 --nonce --expect revoked',
    'ocsp --about good=90,revoked=5,never-issued=3,wrong-issuer=2 --pool 50 --rate 100 --duration 1m',
    'ocsp --about good=9,never-issued=1 --expect never-issued=unknown --cert leaf.crt --issuer issuer.pem',
  ],
  options: inGroup('OCSP', {
    cert: option('file', 'Certificate, PEM or DER; a chain file includes its issuer', {
      defaultText: 'issue one with --role',
    }),
    issuer: option('file', 'Issuer certificate', { defaultText: "from --cert, or the mount's CA" }),
    serials: option('file', 'Certificates (issue --keep) or one serial per line; --seed sets the order'),
    role: option('text', 'Role of issued certificates if no file is given', { default: 'example-dot-com' }),
    cn: option('text', 'Common name of issued certificates', { default: 'localhost' }),
    about: option('list', `Certificates by weight: ${Object.keys(KINDS).join(', ')}`, {
      placeholder: 'KIND=WEIGHT,...',
    }),
    pool: option('integer', 'With --about: number of good and of revoked certificates to issue', {
      min: 1,
      max: 100_000,
      defaultText: String(DEFAULT_POOL),
    }),
    'revoked-serials': option('file', 'With --about: revoked certificates, in the format of --serials'),
    'ocsp-url': option('url', 'Any OCSP responder', { defaultText: 'URL/v1/MOUNT/ocsp', isWhole: true }),
    'from-aia': option('flag', "Use the responder in the certificate's AIA"),
    method: option('choice', 'HTTP method; auto is GET for URLs up to 255 bytes (RFC 9919)', {
      choices: ['post', 'get', 'auto'],
      default: 'post',
    }),
    hash: option('choice', 'Hash of the CertID', { choices: ['sha1', 'sha256'], default: 'sha1' }),
    nonce: option('flag', 'Send a new 32-byte nonce with each request; Vault ignores it'),
    expect: option('list', `Expected status: ${EXPECTED_STATUSES.join(', ')}; with --about KIND=STATUS,...`, {
      placeholder: 'STATUS',
      defaultText: "good; with --about, Vault's",
    }),
  }),
  outcomes: {
    ...outcomesOf(),
    ...OCSP_FAILURES,
    ...REFUSAL_OUTCOMES,
    bad_request: 'HTTP 400 without an OCSP response; a sealed Vault sends this for POST (503 for GET)',
  },
  leaves(options) {
    const { good, revoked } = kindsToIssue(options);
    return good || revoked ? 'the issued certificates, in storage until tidied' : null;
  },
  check,
  async prepare(context) {
    const { probe, prepare } = await import('./ocsp-prepare.js');
    const { isVault, ...fixture } = await prepare(context);
    if (isVault) return fixture;
    const request = createRequester(context.plan, fixture)(0);
    const classify = createClassifier(context.plan, fixture);
    const firstResponse = await probe(context, fixture, { request, classify, meanings: ocsp.outcomes });
    return firstResponse === null ? fixture : { ...fixture, firstResponse };
  },
  createRequester,
  createClassifier,
};

/** @param {Record<string, any>} options */
function check(options) {
  const { about, cert, serials, issuer, pool, ocspUrl, fromAia, revokedSerials } = options;
  const hasRevoked = readKinds(about, options.expect).some(({ name }) => name === 'revoked');
  const { good, revoked } = kindsToIssue(options);
  const fileFlag = cert !== null ? '--cert' : serials !== null ? '--serials' : null;
  rejectIf(cert !== null && serials !== null, '--cert and --serials are both given.', 'Use one of them.');
  const isNamedTwice = ocspUrl !== null && fromAia;
  rejectIf(isNamedTwice, '--ocsp-url and --from-aia both name a responder.', 'Use one of them.');
  const allGood = `with ${fileFlag} the run issues none, and those in the file count as good`;
  const addFile = 'Add --revoked-serials FILE, or leave the file out to issue and revoke some.';
  const hasNone = fileFlag !== null && revoked;
  rejectIf(hasNone, `--about includes revoked certificates, but ${allGood}.`, addFile);
  const noRevoked = '--revoked-serials is given, but --about does not include revoked certificates.';
  const addRevoked = 'Add --about revoked=WEIGHT, or use --serials FILE --expect revoked.';
  rejectIf(revokedSerials !== null && !hasRevoked, noRevoked, addRevoked);
  const ownIssuer = '--issuer is given, but the certificates to query are issued for the run.';
  const addCert =
    'Add --cert or --serials (--revoked-serials for revoked certificates), or leave --issuer out.';
  rejectIf(issuer !== null && (good || revoked), ownIssuer, addCert);
  const noPool = '--pool is given, but the run issues no good or revoked certificates.';
  const addKinds = 'Leave it out, or add --about good=WEIGHT,revoked=WEIGHT without files.';
  rejectIf(pool !== null && (about.length === 0 || !(good || revoked)), noPool, addKinds);
}

/** @param {Plan} plan @param {OcspFixture} fixture @returns {(index: number) => Request} */
function createRequester({ load: { seed } }, fixture) {
  const requesters = fixture.kinds.map(({ requests }) => createKindRequester(requests, seed, fixture));
  if (requesters.length === 1) return requesters[0];
  const kindOf = chooseKind(fixture.kinds, seed);
  return (index) => requesters[kindOf(index)](index);
}

/** @param {readonly Kind[]} kinds @param {number} seed */
function chooseKind(kinds, seed) {
  const weights = kinds.map(({ weight }) => weight);
  return createChooser(weights, seed, KIND_STREAM);
}

/** @type {(requests: RequestSet, seed: number, fixture: OcspFixture) => (index: number) => Request} */
function createKindRequester(requests, seed, { origin, path, method, headers: own }) {
  const set = openRequestSet(requests, seed);
  const headers = { accept: 'application/ocsp-response', ...own };
  const postHeaders = { ...headers, 'content-type': 'application/ocsp-request' };
  /** @param {number} index @returns {Request} */
  const build = (index) => {
    const der = set.request(index);
    const getPath = method === 'post' ? '' : ocspGetPath(path, der);
    const isPost = method === 'post' || (method === 'auto' && chooseOcspMethod(origin, getPath) === 'POST');
    if (isPost) return { method: 'POST', path, headers: postHeaders, body: der };
    return { method: 'GET', path: getPath, headers, body: null };
  };
  return set.constant ? repeatRequest(build(0)) : build;
}

/**
 * RFC 6960 allows OCSP errors with any HTTP status, so an OCSP response takes precedence over the HTTP status.
 * @param {Plan} plan @param {OcspFixture} fixture @returns {Classify}
 */
function createClassifier({ load: { seed } }, { issuerDer, kinds }) {
  const checker = createOcspChecker({ issuerDer });
  const sets = kinds.map(({ requests }) => openRequestSet(requests, seed));
  const verdicts = kinds.map(verdictsOf);
  const kindOf = chooseKind(kinds, seed);
  let hasOtherCertId = false;
  /** @type {Classify} */
  const classify = (status, body, index, receivedAt = Date.now()) => {
    const kind = kindOf(index);
    const expected = sets[kind].expectation(index);
    expected.nowMs = receivedAt;
    let verdict = checker.check(body, expected);
    const { ownCertId } = expected;
    if (verdict === 'cert_id_mismatch' && ownCertId !== null) {
      // For an unknown issuer, Vault returns the CA's own CertID: check everything else.
      const ownVerdict = checker.check(body, { ...expected, certId: ownCertId });
      if (ownVerdict === 'unknown') hasOtherCertId = true;
      if (ownVerdict === 'unknown' || !isOcspStatus(ownVerdict)) verdict = ownVerdict;
    }
    const isResponse = verdict !== 'not_ocsp' && !isOcspStatus(verdict);
    return isResponse || isSuccess(status) ? verdicts[kind][verdict] : refusal(status);
  };
  classify.notes = () => (hasOtherCertId ? [OTHER_CERT_ID] : []);
  return classify;
}
