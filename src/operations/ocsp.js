/**
 * `ocsp`: certificate status from an OCSP responder, every answer judged by the rules of RFC 6960, 3.2. What happens before the
 * run is loaded for it: neither `--help` nor the threads that judge answers need it.
 */
import { usageError } from '../errors.js';
import { createOcspChecker } from '../pki/ocsp-check.js';
import { chooseOcspMethod, ocspGetPath } from '../pki/ocsp-request.js';
import { isOcspStatus, OCSP_FAILURES, OCSP_STATUSES, OCSP_VERDICTS } from '../pki/ocsp-verdicts.js';
import { openRequestSet } from './ocsp-requests.js';
import { REFUSAL_OUTCOMES, refusal } from './refusals.js';

const GROUP = 'OCSP';
const STATUSES = Object.freeze(['good', 'revoked', 'unknown']);

/** @type {Record<string, import('../options.js').OptionSpec>} */
const options = {
  cert: {
    type: 'file',
    group: GROUP,
    placeholder: 'FILE',
    describe: 'Certificate to ask about, PEM or DER; a chain file brings its issuer along',
    defaultText: 'one is issued with --role',
  },
  issuer: {
    type: 'file',
    group: GROUP,
    placeholder: 'FILE',
    describe: 'Certificate of its issuer',
    defaultText: "the chain in --cert, or the mount's CA",
  },
  serials: {
    type: 'file',
    group: GROUP,
    placeholder: 'FILE',
    describe: 'Ask about many: a file of issue --keep, or one serial a line; in a seeded order',
  },
  role: {
    type: 'text',
    group: GROUP,
    placeholder: 'NAME',
    default: 'example-dot-com',
    describe: 'Without --cert and --serials: role to issue one certificate with',
  },
  cn: { type: 'text', group: GROUP, placeholder: 'NAME', default: 'localhost', describe: 'Its common name' },
  'ocsp-url': {
    type: 'url',
    group: GROUP,
    placeholder: 'URL',
    describe: 'Any OCSP responder',
    defaultText: 'URL/v1/MOUNT/ocsp',
  },
  'from-aia': {
    type: 'flag',
    group: GROUP,
    describe: 'Take the responder from the certificate (Authority Information Access)',
  },
  method: {
    type: 'choice',
    group: GROUP,
    choices: ['post', 'get', 'auto'],
    default: 'post',
    describe: 'auto: GET where the URL has at most 255 bytes (RFC 9919)',
  },
  hash: {
    type: 'choice',
    group: GROUP,
    choices: ['sha1', 'sha256'],
    default: 'sha1',
    describe: 'Hash of the CertID',
  },
  nonce: {
    type: 'flag',
    group: GROUP,
    describe: 'Send a nonce of 32 bytes, new for each request; Vault ignores it',
  },
  expect: {
    type: 'choice',
    group: GROUP,
    choices: STATUSES,
    default: 'good',
    describe: 'Status that counts as success',
  },
};

/** @type {Readonly<Record<string, string>>} */
const OUTCOMES = Object.freeze({
  ...Object.fromEntries(
    STATUSES.map((status) => [status, `the expected status, ${status}, and every check passed`]),
  ),
  ...Object.fromEntries(
    STATUSES.map((status) => [
      `status_${status}`,
      `a proper answer, but ${status} where another status was expected`,
    ]),
  ),
  ...OCSP_FAILURES,
  ...REFUSAL_OUTCOMES,
  bad_request: 'HTTP 400 without an OCSP response; a sealed Vault answers so to POST (503 to GET)',
});

/**
 * @typedef {import('./index.js').Fixture & {path: string, method: 'get' | 'post' | 'auto', issuerDer: Uint8Array,
 *   requests: import('./ocsp-requests.js').RequestSet, namespace: string | null}} OcspFixture
 */

/** @type {import('./index.js').Operation} */
export const operation = {
  name: 'ocsp',
  describe: 'Ask an OCSP responder for certificate status and check every answer',
  things: 'OCSP responses',
  examples: [
    'ocsp --dev --rate 20 --duration 10s',
    "ocsp --cert leaf.crt --issuer issuer.pem --rate 20 --duration 2m --require 'p99<200ms'",
    'ocsp --serials issued.jsonl --hash sha256 --method auto --concurrency 50',
    'ocsp --cert leaf.crt --issuer issuer.pem --ocsp-url http://127.0.0.1:2560 --nonce --expect revoked',
  ],
  options,
  outcomes: OUTCOMES,
  check(given) {
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
        given.issuer !== null && given.cert === null && given.serials === null,
        '--issuer is given, but neither --cert nor --serials.',
        'Name the certificate with --cert, or the serials with --serials.',
      ],
    ];
    for (const [clash, message, remedy] of clashes) {
      if (clash) throw usageError('contradiction', String(message), String(remedy));
    }
  },
  async prepare(context) {
    const { prepare } = await import('./ocsp-prepare.js');
    return prepare(context, { createRequester, createClassifier, meanings: OUTCOMES });
  },
  createRequester,
  createClassifier,
};

/**
 * @param {import('../plan.js').Plan} plan
 * @param {OcspFixture} fixture
 * @returns {(index: number) => import('../http/exchange.js').Request}
 */
function createRequester({ load: { seed } }, { origin, path, method, requests, namespace }) {
  const set = openRequestSet(requests, seed);
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
 * RFC 6960 lets errors come with HTTP 200 or any other status, so a body that is an OCSP response counts before the
 * HTTP status does.
 *
 * @param {import('../plan.js').Plan} plan
 * @param {OcspFixture} fixture
 * @returns {import('../load/recording/recorder.js').Classify}
 */
function createClassifier({ options: { expect }, load: { seed } }, { issuerDer, requests }) {
  const set = openRequestSet(requests, seed);
  const checker = createOcspChecker({ issuerDer });
  const expected = { ...set.expectation(0), nowMs: 0 };
  return (status, body, index) => {
    const { certId, nonce } = set.expectation(index);
    expected.certId = certId;
    expected.nonce = nonce;
    expected.nowMs = Date.now();
    const verdict = checker.check(body, expected);
    if (status >= 200 && status < 300) return verdict === expect ? EXPECTED[verdict] : UNEXPECTED[verdict];
    return verdict === 'not_ocsp' || isOcspStatus(verdict) ? refusal(status) : UNEXPECTED[verdict];
  };
}

/** @typedef {import('../load/recording/recorder.js').Verdict} Verdict */
/** @typedef {import('../pki/ocsp-verdicts.js').OcspVerdict} OcspVerdict */

/** @type {Readonly<Record<string, Verdict>>} */
const EXPECTED = Object.freeze(
  Object.fromEntries(
    Object.keys(OCSP_STATUSES).map((status) => [
      status,
      Object.freeze({ outcome: status, success: true, verification: 'passed' }),
    ]),
  ),
);

/** Of an answer that is not the one expected. @type {Readonly<Record<OcspVerdict, Verdict>>} */
const UNEXPECTED = Object.freeze(
  /** @type {Record<OcspVerdict, Verdict>} */ (
    Object.fromEntries(
      /** @type {OcspVerdict[]} */ (Object.keys(OCSP_VERDICTS)).map((verdict) => [
        verdict,
        Object.freeze(unexpected(verdict)),
      ]),
    )
  ),
);

/** @param {OcspVerdict} verdict @returns {Verdict} */
function unexpected(verdict) {
  if (isOcspStatus(verdict)) return { outcome: `status_${verdict}`, success: false, verification: 'failed' };
  const refused = verdict.startsWith('ocsp_') && verdict !== 'ocsp_wrong_type';
  return { outcome: verdict, success: false, verification: refused ? null : 'failed' };
}
