/**
 * `ocsp`: certificate status from an OCSP responder, every response judged by the rules of RFC 6960, 3.2. `ocsp-prepare.js` is loaded
 * on use: neither `--help` nor the threads that judge responses need it.
 */
import { usageError } from '../common/errors.js';
import { createOcspChecker, isOcspStatus, OCSP_FAILURES } from '../pki/ocsp-check.js';
import { chooseOcspMethod, ocspGetPath } from '../pki/ocsp-request.js';
import { ANSWERS, answerOutcomes, DEFAULT_POOL, KINDS, readKinds, verdictsOf } from './ocsp-kinds.js';
import { openRequestSet } from './ocsp-requests.js';
import { REFUSAL_OUTCOMES, refusal } from './outcomes.js';
import { createChooser, inGroup } from './request-parts.js';
/** @import { Request } from '../http/exchange.js' */
/** @import { OcspChecker, OcspExpectation } from '../pki/ocsp-check.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { Classify, Fixture, Operation, Verdict } from './index.js' */
/** @import { Kind } from './ocsp-kinds.js' */
/** @import { RequestSet } from './ocsp-requests.js' */

export const options = inGroup('OCSP', {
  cert: {
    type: 'file',
    placeholder: 'FILE',
    describe: 'Certificate, PEM or DER; a chain file includes its issuer',
    defaultText: 'issue one with --role',
  },
  issuer: {
    type: 'file',
    placeholder: 'FILE',
    describe: 'Issuer certificate',
    defaultText: "from --cert, or the mount's CA",
  },
  serials: {
    type: 'file',
    placeholder: 'FILE',
    describe: 'Many certificates: from issue --keep, or one serial per line, in seeded order',
  },
  role: {
    type: 'text',
    placeholder: 'NAME',
    default: 'example-dot-com',
    describe: 'Role to issue certificates with if no file is given',
  },
  cn: {
    type: 'text',
    placeholder: 'NAME',
    default: 'localhost',
    describe: 'Common name of issued certificates',
  },
  about: {
    type: 'list',
    placeholder: 'KIND=WEIGHT,...',
    describe: `Kinds by weight: ${Object.keys(KINDS).join(', ')}`,
  },
  pool: {
    type: 'integer',
    placeholder: 'N',
    min: 1,
    max: 100_000,
    describe: 'With --about: good certificates to issue, and as many to revoke',
    defaultText: String(DEFAULT_POOL),
  },
  'revoked-serials': {
    type: 'file',
    placeholder: 'FILE',
    describe: 'With --about: already revoked certificates, as for --serials',
  },
  'ocsp-url': {
    type: 'url',
    placeholder: 'URL',
    describe: 'Any OCSP responder',
    defaultText: 'URL/v1/MOUNT/ocsp',
  },
  'from-aia': {
    type: 'flag',
    describe: "Use the responder in the certificate's AIA",
  },
  method: {
    type: 'choice',
    choices: ['post', 'get', 'auto'],
    default: 'post',
    describe: 'HTTP method; auto is GET for URLs up to 255 bytes (RFC 9919)',
  },
  hash: {
    type: 'choice',
    choices: ['sha1', 'sha256'],
    default: 'sha1',
    describe: 'Hash of the CertID',
  },
  nonce: {
    type: 'flag',
    describe: 'Send a new 32-byte nonce with each request; Vault ignores it',
  },
  expect: {
    type: 'list',
    placeholder: 'ANSWER',
    describe: `Expected status: ${ANSWERS.join(', ')}; with --about KIND=STATUS,...`,
    defaultText: "good; with --about, Vault's",
  },
});

/** @param {Record<string, any>} given */
export function checkOptions(given) {
  const kinds = readKinds(given.about, given.expect);
  const asks = (/** @type {string} */ name) => kinds.some((kind) => kind.name === name);
  const isGiven = given.cert !== null || given.serials !== null;
  const issues = given.about.length > 0 ? asks('good') && !isGiven : !isGiven;
  const revokes = asks('revoked') && given.revokedSerials === null;
  /** @type {[boolean, string, string][]} */
  const clashes = [
    [
      given.cert !== null && given.serials !== null,
      '--cert and --serials are both given.',
      'Give one of them.',
    ],
    [
      given.ocspUrl !== null && given.fromAia,
      '--ocsp-url and --from-aia both name a responder.',
      'Give one of them.',
    ],
    [
      isGiven && revokes,
      `--about asks about revoked certificates, but with ${given.cert !== null ? '--cert' : '--serials'} none is issued, and none that is given is revoked.`,
      'Name some that are revoked already with --revoked-serials, or leave the file out, so that they are issued and revoked.',
    ],
    [
      given.revokedSerials !== null && !asks('revoked'),
      '--revoked-serials is given, but nothing asks about revoked certificates.',
      'Add --about revoked=WEIGHT, or name the file with --serials and --expect revoked.',
    ],
    [
      given.issuer !== null && (issues || revokes),
      `--issuer is given, but ${given.about.length > 0 ? 'certificates to ask about are issued' : 'neither --cert nor --serials'}.`,
      'Name the certificate with --cert, or the serials with --serials (revoked ones with --revoked-serials).',
    ],
    [
      given.pool !== null && (given.about.length === 0 || !(issues || revokes)),
      '--pool is given, but no such certificates are issued.',
      'Leave it out, or ask about some with --about good=WEIGHT,revoked=WEIGHT and without files.',
    ],
  ];
  for (const [clash, message, remedy] of clashes) {
    if (clash) throw usageError('contradiction', message, remedy);
  }
}

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
 * @typedef {Fixture & {path: string, method: 'get' | 'post' | 'auto', issuerDer: Uint8Array,
 *   kinds: AskedKind[], namespace: string | null}} OcspFixture
 */
/** @typedef {Kind & {requests: RequestSet}} AskedKind */

/** @type {Operation} */
export const operation = {
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

/** @param {Plan} plan @param {OcspFixture} fixture @returns {(index: number) => Request} */
function createRequester({ load: { seed } }, fixture) {
  const requesters = fixture.kinds.map(({ requests }) =>
    requesterOf(openRequestSet(requests, seed), fixture),
  );
  if (requesters.length === 1) return requesters[0];
  const kindOf = kindChooser(fixture.kinds, seed);
  return (index) => requesters[kindOf(index)](index);
}

/** @param {readonly AskedKind[]} kinds @param {number} seed */
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
 * @returns {(index: number) => Request}
 */
function requesterOf(set, { origin, path, method, namespace }) {
  const headers = {
    accept: 'application/ocsp-response',
    ...(namespace === null ? {} : { 'x-vault-namespace': namespace }),
  };
  const postHeaders = { ...headers, 'content-type': 'application/ocsp-request' };
  /** @param {number} index @returns {Request} */
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

/** @param {Plan} plan @param {OcspFixture} fixture @returns {Classify} */
function createClassifier({ load: { seed } }, { issuerDer, kinds }) {
  const checker = createOcspChecker({ issuerDer });
  const judges = kinds.map((kind) => createJudge(kind, checker, seed));
  const kindOf = kindChooser(kinds, seed);
  /** @type {Classify} */
  const classify = (status, body, index) => judges[kindOf(index)].judge(status, body, index);
  classify.notes = () => (judges.some(({ isOther }) => isOther()) ? [OTHER_CERT_ID] : []);
  return classify;
}

/**
 * RFC 6960 lets errors come with HTTP 200 or any other status, so a body that is an OCSP response counts before the
 * HTTP status does.
 *
 * @param {AskedKind} kind
 * @param {OcspChecker} checker
 * @param {number} seed
 */
function createJudge(kind, checker, seed) {
  const set = openRequestSet(kind.requests, seed);
  const verdicts = verdictsOf(kind);
  /** @type {OcspExpectation} */
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
    /** @type {(status: number, body: Uint8Array, index: number) => Verdict} */
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
