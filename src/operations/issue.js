/**
 * `issue`: certificates from Vault's `issue/<role>`, or from `sign/<role>` with CSRs made beforehand. What happens before the
 * run is loaded for it: neither `--help` nor the threads that judge answers need it.
 */
import { isIP } from 'node:net';
import { usageError } from '../common/errors.js';
import { formatCount } from '../common/units.js';
import { CERTIFICATE_FAILURES, checkIssuedCertificate } from '../pki/certificate-check.js';
import { decodePem, encodePem, serialHex } from '../pki/text.js';
import { DEFAULT_POOL, KEY_TYPES, MAX_SERIALS, openKeepFile, openSerialSet } from './issue-parts.js';
import { failed, REFUSAL_OUTCOMES, refusal } from './outcomes.js';
import { certificateParameters, hasPlaceholder, inGroup, namesOf } from './request-parts.js';

/** @import { Request } from '../http/exchange.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { Classify, Fixture, Operation, Verdict } from './index.js' */
/** @import { PooledCsr } from './issue-parts.js' */

const options = inGroup('Certificates', {
  role: {
    type: 'text',
    placeholder: 'NAME',
    default: 'example-dot-com',
    describe: 'Role of the certificates',
  },
  cn: {
    type: 'text',
    placeholder: 'NAME',
    default: 'localhost',
    describe: 'Common name; {n} is the request number (with --sign: CSR number), {random} a random string',
  },
  'alt-names': {
    type: 'list',
    placeholder: 'NAMES',
    describe: 'DNS names or e-mail addresses, comma-separated; {n} and {random} work, too',
  },
  'ip-sans': {
    type: 'list',
    placeholder: 'IPS',
    describe: 'IP addresses, comma-separated',
  },
  ttl: {
    type: 'duration',
    placeholder: 'TIME',
    min: 1000,
    describe: 'Requested lifetime',
    defaultText: "the role's",
  },
  sign: {
    type: 'flag',
    describe: 'Send CSRs to sign/ROLE; their keys are made before the run',
  },
  'key-type': {
    type: 'choice',
    choices: KEY_TYPES,
    describe: 'With --sign: key type of the CSRs',
    defaultText: "the role's",
  },
  pool: {
    type: 'integer',
    placeholder: 'N',
    min: 1,
    max: 100_000,
    describe: 'With --sign: CSRs to make; they are used in turn',
    defaultText: String(DEFAULT_POOL),
  },
  keep: {
    type: 'file',
    placeholder: 'FILE',
    describe: 'Append serials and certificates, for ocsp --serials',
  },
});

const SERIALS_FULL = `Each serial was compared with the first ${formatCount(MAX_SERIALS)} of this run, not with later ones.`;

const SERIALS_OF_PART =
  'Each serial was compared with those of its own part of the plan (--shard), not with those of the other parts.';

/** @type {Readonly<Record<string, string>>} */
const OUTCOMES = Object.freeze({
  issued: 'a certificate that passed every check',
  not_json: 'HTTP 2xx, but the body is not JSON',
  error_body: 'HTTP 2xx, but the body reports errors',
  no_private_key: 'HTTP 2xx, but the response has no private key',
  serial_repeated: 'the serial number was given out before in this run',
  ...CERTIFICATE_FAILURES,
  ...REFUSAL_OUTCOMES,
});

/**
 * @typedef {Fixture & {path: string, headers: Record<string, string>, serials: SharedArrayBuffer,
 *   csrs: PooledCsr[] | null}} IssueFixture
 */

/** @type {Operation} */
export const operation = {
  name: 'issue',
  unit: 'certificates',
  examples: [
    'issue --dev --role example-dot-com-ec --duration 10s',
    "issue --concurrency 10 --duration 2m --require 'rate>=1000/h'",
    "issue --rate 1000/h --duration 10m --role web --cn 'host-{n}.example.com' --require 'p99<1s'",
    "issue --sign --key-type ec-256 --pool 200 --cn 'host-{random}.example.com' --rate 50/s --keep issued.jsonl",
  ],
  options,
  outcomes: OUTCOMES,
  leaves: ({ role }) => `certificates in storage until it is tidied, unless the role ${role} has no_store`,
  check(given) {
    const notAnIp = given.ipSans.find((/** @type {string} */ text) => isIP(text) === 0);
    if (notAnIp !== undefined) {
      throw usageError(
        'bad_option',
        `--ip-sans holds ${JSON.stringify(notAnIp)}, which is not an IP address.`,
      );
    }
    for (const [flag, value] of [
      ['--key-type', given.keyType],
      ['--pool', given.pool],
    ]) {
      if (value !== null && !given.sign) {
        throw usageError(
          'contradiction',
          `${flag} is about CSRs, but --sign is not given.`,
          'Add --sign, or leave it out.',
        );
      }
    }
  },
  prepare: async (context) => (await import('./issue-prepare.js')).prepare(context),
  createRequester,
  createClassifier,
  openKeeper: ({ options: { keep } }) => (keep === null ? null : openKeepFile(keep)),
  describeKept({ options: { keep } }, { count, failure }) {
    const said = `Kept ${count} certificates in ${keep}`;
    return failure === null
      ? `${said}.`
      : `${said}; then writing failed (${failure}), the rest is not there.`;
  },
};

/** @param {Plan} plan @param {IssueFixture} fixture @returns {(index: number) => Request} */
function createRequester({ options: given, load: { seed } }, { path, headers, csrs }) {
  const { ttl: ttlMs } = given;
  /** @param {number} index @returns {Request} */
  const build = (index) => {
    const csr = csrs === null ? null : csrs[index % csrs.length];
    const names = csr === null ? namesOf(given, seed, index) : { ...csr, ipSans: given.ipSans };
    const parameters = certificateParameters({ ...names, ttlMs });
    const body = JSON.stringify(csr === null ? parameters : { csr: csr.pem, ...parameters });
    return { method: 'POST', path, headers, body };
  };
  if (csrs !== null) {
    const requests = csrs.map((_, i) => build(i));
    return (index) => requests[index % requests.length];
  }
  if ([given.cn, ...given.altNames].some(hasPlaceholder)) return build;
  const same = build(0);
  return () => same;
}

/** @param {Plan} plan @param {IssueFixture} fixture @returns {Classify} */
function createClassifier({ options: given, load: { seed, shard } }, { serials, csrs }) {
  const seen = openSerialSet(serials);
  /** @type {Classify} */
  const classify = (status, body, index) => {
    if (status < 200 || status > 299) return refusal(status);
    const data = readAnswer(body);
    if (typeof data === 'string') return failed(data);
    const csr = csrs === null ? null : csrs[index % csrs.length];
    const { failure, serial } = checkIssuedCertificate({
      certificatePem: data.certificate,
      issuingCaPem: data.issuing_ca,
      privateKeyPem: csr === null ? (data.private_key ?? null) : null,
      expectedSpki: csr === null ? null : csr.spki,
      expected: csr === null ? namesOf(given, seed, index) : { ...csr, ipSans: given.ipSans },
      nowMs: Date.now(),
    });
    if (failure !== null) return failed(failure);
    if (csr === null && !data.private_key) return failed('no_private_key');
    if (serial !== null && seen.add(serial) === 'repeated') return failed('serial_repeated');
    /** @type {Verdict} */
    const verdict = { outcome: 'issued', success: true, verification: 'passed' };
    if (given.keep !== null && serial !== null) verdict.kept = keepable(serial, data.certificate);
    return verdict;
  };
  classify.notes = () => [...(seen.isFull() ? [SERIALS_FULL] : []), ...(shard ? [SERIALS_OF_PART] : [])];
  return classify;
}

/**
 * Made from the checked fields only: nothing else of the response gets into the file.
 *
 * @param {Uint8Array} serial
 * @param {string} pem
 */
function keepable(serial, pem) {
  const der = decodePem(pem, /^CERTIFICATE$/) ?? Buffer.alloc(0);
  return { serial: serialHex(serial), certificate: encodePem('CERTIFICATE', der).trimEnd() };
}

/**
 * @param {Uint8Array} body
 * @returns {Record<string, any> | string} Vault's `data`, or the outcome where there is none
 */
function readAnswer(body) {
  try {
    const json = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
    if (Array.isArray(json?.errors) && json.errors.length > 0) return 'error_body';
    return typeof json?.data === 'object' && json.data !== null ? json.data : 'no_certificate';
  } catch {
    return 'not_json';
  }
}
