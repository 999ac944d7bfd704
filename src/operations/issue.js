/** `issue`, `sign` and `sign-verbatim`: certificates with keys from Vault, or for CSRs created before the run. */
import { availableParallelism } from 'node:os';
import { describeWriteError } from '../common/atomic-write.js';
import { badValue, rejectIf, usageError } from '../common/errors.js';
import { inGroup, option } from '../common/options.js';
import { CERTIFICATE_FAILURES, checkIssuedCertificate, expectNames } from '../pki/certificate-check.js';
import { ipBytes } from '../pki/names.js';
import { decodePem, encodePem, serialHex } from '../pki/text.js';
import { expectedRequests } from '../plan/due.js';
import { describeFootprint } from '../vault/check-role.js';
import { numberOf, textOf } from '../vault/client.js';
import { redact } from '../vault/redact.js';
import { openKeepFile } from './keep-file.js';
import { CALL_OUTCOMES, createJsonClassifier } from './outcomes.js';
import { checkIssuance, makeMany } from './prepare.js';
import {
  apiPath,
  certificateParameters,
  hasPlaceholder,
  namesOf,
  repeatRequest,
  vaultDuration,
} from './request-parts.js';
import { openSerialSet, serialMemoryFor } from './serial-set.js';

/** @import { Request } from '../http/exchange.js' */
/** @import { Operation, PrepareContext } from './index.js' */

const KEY_TYPES = /** @type {const} */ (['rsa-2048', 'ec-256', 'ed25519']);
const DEFAULT_POOL = 100;

const { role, ...names } = inGroup('Certificates', {
  role: option('text', 'Role of the certificates', { default: 'example-dot-com' }),
  cn: option('text', 'Common name; {n} is the number of the request or CSR, {random} a random string', {
    default: 'localhost',
  }),
  'alt-names': option('list', 'DNS names or e-mail addresses, comma-separated; {n} and {random} work too', {
    placeholder: 'NAMES',
  }),
  'ip-sans': option('list', 'IP addresses, comma-separated', { placeholder: 'IPS', check: checkIps }),
  ttl: option('duration', 'Requested lifetime', { min: 1000, defaultText: "the role's" }),
  keep: option('file', 'Append serials and certificates, for ocsp --serials'),
});

const { sign: signFlag, ...csrs } = inGroup('CSRs', {
  sign: option('flag', 'Create CSRs before the run and send them to sign/ROLE'),
  'key-type': option('choice', 'Key type of the CSRs', { choices: KEY_TYPES, defaultText: "the role's" }),
  pool: option('integer', 'CSRs to create and use in turn', {
    min: 1,
    max: 100_000,
    defaultText: `${DEFAULT_POOL}`,
  }),
});

/** @typedef {ReturnType<typeof namesOf> & {pem: string, spki: Uint8Array}} Csr */

/** @type {Operation} */
export const issue = {
  name: 'issue',
  unit: 'certificates',
  examples: [
    'issue --dev --role example-dot-com-ec --duration 10s',
    "issue --concurrency 10 --duration 2m --require 'rate>=1000/h'",
    "issue --rate 1000/h --duration 10m --role web --cn 'host-{n}.example.com' --require 'p99<1s'",
    "issue --sign --role example-dot-com-ec --key-type ec-256 --pool 200 --cn 'host-{random}.example.com' --rate 50/s --keep issued.jsonl",
  ],
  options: { role, ...names, sign: signFlag, ...csrs },
  outcomes: {
    issued: 'a certificate that passed every check',
    no_private_key: 'HTTP 2xx, but the response has no private key',
    serial_repeated: 'an earlier certificate of this run has the same serial number',
    ...CERTIFICATE_FAILURES,
    ...CALL_OUTCOMES,
  },
  leaves: (options) => `certificates in storage until tidied, unless the role ${options.role} has no_store`,
  check({ keyType, pool, sign: isSign }) {
    const flag = keyType !== null ? '--key-type' : pool !== null ? '--pool' : null;
    const message = `${flag} applies to CSRs, but --sign is not given.`;
    rejectIf(flag !== null && isSign === false, message, `Add --sign, or leave ${flag} out.`);
  },
  prepare,
  createRequester,
  createClassifier,
  openKeeper: ({ options: { keep } }) => (keep === null ? null : openKeepFile(keep)),
  describeKept({ options: { keep } }, { count, failure }) {
    const text = `Kept ${count} certificates in ${keep}`;
    if (failure === null) return `${text}.`;
    const { why, remedy } = describeWriteError(keep, failure);
    return `${text}; the rest are missing, because the file could not be written: ${why}. ${remedy}`;
  },
};

/** @type {Operation} */
export const sign = {
  ...issue,
  name: 'sign',
  examples: [
    'sign --dev --duration 10s',
    "sign --role example-dot-com-ec --key-type ec-256 --pool 200 --cn 'host-{random}.example.com' --rate 50 --duration 1m",
  ],
  options: { role, ...names, ...csrs },
};

const { 'ip-sans': _ipSans, ...verbatimNames } = names;

/** @type {Operation} */
export const signVerbatim = {
  ...issue,
  name: 'sign-verbatim',
  examples: [
    'sign-verbatim --dev --duration 10s',
    "sign-verbatim --key-type ec-256 --pool 200 --cn 'host-{n}.example.com' --rate 50 --duration 1m",
  ],
  options: {
    ...verbatimNames,
    ...csrs,
    ttl: { ...names.ttl, defaultText: "the mount's" },
    'key-type': { ...csrs['key-type'], default: 'ec-256', defaultText: undefined },
  },
  leaves: () => 'certificates in storage until tidied',
};

/** @param {string[]} addresses @param {string} flag */
function checkIps(addresses, flag) {
  const wrong = addresses.find((address) => ipBytes(address) === null);
  if (wrong !== undefined) throw badValue(flag, wrong, 'not an IP address');
}

/** @param {PrepareContext} context */
async function prepare(context) {
  const { plan, notice, owns } = context;
  const { options, load, target } = plan;
  const { keep, keyType, ttl, role: roleName = null } = options;
  const verb = options.sign ? 'sign' : plan.operation;
  if (keep !== null) openKeepFile(keep).close();
  const [type, bits = null] = keyType?.split('-') ?? [null];
  const { fixture, role: facts } = await checkIssuance(context, {
    operation: verb === 'issue' ? 'issue' : 'sign',
    role: roleName,
    ...namesOf(options, load.seed, 0),
    ttl: ttl === null ? null : vaultDuration(ttl),
    keyType: type,
    keyBits: bits === null ? null : Number(bits),
  });
  const count = expectedRequests(load, owns);
  if (!plan.dev) {
    describeFootprint({ role: facts, count, mount: target.mount, health: fixture.health }).forEach(notice);
    if (roleName === null)
      notice('sign-verbatim uses no role: the certificate contains everything that the CSR requests.');
  }
  return {
    ...fixture,
    path: apiPath(fixture.basePath, target.mount, verb, ...(roleName === null ? [] : [roleName])),
    serials: serialMemoryFor(load, owns),
    csrs: verb === 'issue' ? null : await createCsrs(context, facts),
  };
}

/** @param {PrepareContext} context @param {Record<string, any> | null} facts Vault's role @returns {Promise<Csr[]>} */
async function createCsrs({ plan, progress, signal }, facts) {
  const { createCsr } = await import('../pki/csr.js');
  const { pool } = plan.options;
  const keyType = plan.options.keyType ?? keyTypeOf(facts);
  const context = { progress, signal, label: 'Creating CSRs', atOnce: availableParallelism() };
  return makeMany(pool ?? DEFAULT_POOL, context, async (i) => {
    const csrNames = namesOf(plan.options, plan.load.seed, i);
    return { ...csrNames, ...(await createCsr({ keyType, ...csrNames })) };
  });
}

/** @param {Record<string, any> | null} facts of a role @returns {typeof KEY_TYPES[number]} that it accepts */
function keyTypeOf(facts) {
  const [type, bits] = [textOf(facts?.key_type, 'any'), numberOf(facts?.key_bits) ?? 0];
  if (type === 'any') return 'ec-256';
  const match = KEY_TYPES.find((keyType) => {
    const [name, nameBits = bits] = keyType.split('-');
    return name === type && bits <= Number(nameBits);
  });
  if (match !== undefined) return match;
  const message = `The role accepts only ${redact(type)} keys of ${bits} bits, but CSRs can have ${KEY_TYPES.join(', ')}.`;
  throw usageError('unsupported_key_type', message, 'Choose another role with --role.');
}

/** @type {Operation['createRequester']} */
function createRequester({ options, load: { seed } }, { path, headers, csrs: pool }) {
  /** @param {object} csr @param {ReturnType<typeof namesOf>} subject @returns {Request} */
  const build = (csr, subject) => {
    const parameters = certificateParameters({ ...subject, ttlMs: options.ttl });
    return { method: 'POST', path, headers, body: JSON.stringify({ ...csr, ...parameters }) };
  };
  if (pool !== null) {
    const requests = pool.map((/** @type {Csr} */ csr) => build({ csr: csr.pem }, csr));
    return (index) => requests[index % requests.length];
  }
  if (isFixed(options)) return repeatRequest(build({}, namesOf(options, seed, 0)));
  return (index) => build({}, namesOf(options, seed, index));
}

/** @param {Record<string, any>} options @returns {boolean} whether all requests have the same names */
const isFixed = ({ cn, altNames }) => ![cn, ...altNames].some(hasPlaceholder);

/** @type {Operation['createClassifier']} */
function createClassifier({ options, load: { seed, shard } }, { serials, csrs: pool }) {
  const serialSet = openSerialSet(serials);
  const fixed = isFixed(options) ? expectNames(namesOf(options, seed, 0)) : null;
  const classify = createJsonClassifier('issued', ({ data }, index, receivedAt) => {
    const csr = pool === null ? null : pool[index % pool.length];
    const { failure, serial } = checkIssuedCertificate({
      certificatePem: data?.certificate,
      issuingCaPem: data?.issuing_ca,
      privateKeyPem: csr === null ? (data?.private_key ?? null) : null,
      expectedSpki: csr?.spki ?? null,
      expected: fixed ?? expectNames(csr ?? namesOf(options, seed, index)),
      serialNumber: data?.serial_number,
      isVerbatim: options.role === undefined,
      nowMs: receivedAt,
    });
    if (failure !== null) return failure;
    if (csr === null && !data.private_key) return 'no_private_key';
    if (serial === null) return null;
    if (serialSet.add(serial) === 'repeated') return 'serial_repeated';
    if (options.keep === null) return null;
    // Only checked fields: the file must not contain a private key.
    const der = decodePem(data.certificate, /^CERTIFICATE$/) ?? Buffer.alloc(0);
    const kept = { serial: serialHex(serial), certificate: encodePem('CERTIFICATE', der).trimEnd() };
    return { outcome: 'issued', success: true, verification: 'passed', kept };
  });
  classify.notes = () => serialSet.notes('Serials', shard);
  return classify;
}
