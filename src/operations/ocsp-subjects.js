/** Which certificates `ocsp` asks about, and their issuer: from files, or issued (and revoked) for the purpose. */
import { createReadStream } from 'node:fs';
import { access, constants, readFile, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { usageError } from '../common/errors.js';
import { assertIssued, readCertificates } from '../pki/certificate.js';
import { parseCertificate } from '../pki/certificate-der.js';
import { decodePem, parseSerial } from '../pki/text.js';
import { longestRunMs } from '../plan/expected.js';
import { checkPermission } from '../vault/check-role.js';
import { checkIssuer } from '../vault/check-target.js';
import { DEFAULT_POOL } from './ocsp-kinds.js';
import { checkIssuance, describeLifetime, issueBefore, lifetimeMs, revokeBefore } from './prepare.js';
import { certificateParameters, expandName } from './request-parts.js';

/** @import { Certificate } from '../pki/certificate.js' */
/** @import { VaultClient } from '../vault/client.js' */
/** @import { PrepareContext } from './index.js' */
/** @import { Kind } from './ocsp-kinds.js' */

/**
 * @typedef {object} Subjects
 * @property {Uint8Array[]} serials INTEGER contents
 * @property {Certificate} issuer
 * @property {Certificate | null} example one of the certificates, where there is one
 */

/** More serials than this would take the memory that a load test should not. */
const MAX_SERIALS = 1_000_000;

const REMEDY = 'Write the file with issue --keep FILE, or one serial a line.';

/** @param {PrepareContext} context @returns {Promise<Subjects>} */
export async function findSubjects(context) {
  const { cert, serials } = context.plan.options;
  if (serials !== null) return fromSerials(context, serials, '--serials');
  if (cert !== null) return fromCertificate(context, cert);
  return fromNewCertificate(context);
}

/** @param {PrepareContext} context @param {string} file @returns {Promise<Subjects>} */
async function fromCertificate(context, file) {
  const [leaf, ...others] = readCertificates(await read(file, '--cert'), file);
  const issuer = await issuerOf(context, leaf, file, others);
  return { serials: [leaf.serial], issuer, example: leaf };
}

/**
 * The issuer from --issuer, else from the leaf's own chain file, else the mount's.
 *
 * @param {PrepareContext} context
 * @param {Certificate} leaf
 * @param {string} leafName
 * @param {Certificate[]} chain
 */
async function issuerOf({ plan, client }, leaf, leafName, chain) {
  const file = plan.options.issuer;
  const { candidates, name } =
    file !== null
      ? { candidates: readCertificates(await read(file, '--issuer'), file), name: file }
      : chain.length > 0
        ? { candidates: chain, name: leafName }
        : {
            candidates: await mountIssuer(client, plan.target.mount),
            name: `the CA of ${plan.target.mount}`,
          };
  const issuer = candidates.find((candidate) => candidate.subjectDer.equals(leaf.issuerDer)) ?? candidates[0];
  assertIssued(leaf, issuer, { leaf: leafName, issuer: name });
  return issuer;
}

/** @param {VaultClient} client @param {string} mount */
async function mountIssuer(client, mount) {
  const { pem } = await checkIssuer(client, mount);
  return readCertificates(Buffer.from(pem), `the CA of ${mount}`);
}

/**
 * @param {PrepareContext} context
 * @param {string} file JSON lines of `issue --keep`, or one serial a line
 * @param {string} flag that names it
 * @returns {Promise<Subjects>}
 */
export async function fromSerials(context, file, flag) {
  await checkReadable(file, flag);
  const { issuers, name } = await issuersOf(context);
  /** @type {Uint8Array[]} */
  const serials = [];
  /** @type {Certificate | null} */
  let example = null;
  let number = 0;
  for await (const line of createInterface({
    input: createReadStream(file),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    number++;
    if (line.trim() === '') continue;
    const { serial, certificate } = parseLine(line, file, number);
    if (typeof certificate === 'string')
      checkKept({ serial, certificate, issuers, place: `${file} line ${number}`, name });
    example ??=
      typeof certificate === 'string'
        ? readCertificates(Buffer.from(certificate), `${file} line ${number}`)[0]
        : null;
    if (serials.push(serial) > MAX_SERIALS) {
      throw usageError('too_many_serials', `${file} has more than ${MAX_SERIALS} serials.`, 'Split it.');
    }
  }
  if (serials.length === 0)
    throw usageError('no_serials', `${file} holds no serial.`, 'Write one with issue --keep FILE.');
  const issuer =
    issuers.find((candidate) => example === null || candidate.subjectDer.equals(example.issuerDer)) ??
    issuers[0];
  if (example !== null) assertIssued(example, issuer, { leaf: file, issuer: name });
  return { serials, issuer, example };
}

/** The certificates of --issuer, else the mount's. @param {PrepareContext} context */
export async function issuersOf({ plan, client }) {
  const file = plan.options.issuer;
  const { mount } = plan.target;
  if (file === null) return { issuers: await mountIssuer(client, mount), name: `the CA of ${mount}` };
  return { issuers: readCertificates(await read(file, '--issuer'), file), name: file };
}

/**
 * A responder may call a serial good that its CA never issued, as Vault does: each certificate must be of the issuer.
 *
 * @param {{serial: Uint8Array, certificate: string, issuers: Certificate[], place: string, name: string}} kept
 */
function checkKept({ serial, certificate, issuers, place, name }) {
  const der = decodePem(certificate, /^CERTIFICATE$/);
  const fields = der === null ? null : parseCertificate(der);
  if (fields === null || Buffer.compare(fields.serial, serial) !== 0) {
    throw usageError(
      'bad_serials_file',
      `${place} holds a certificate that cannot be read or has another serial.`,
      REMEDY,
    );
  }
  if (issuers.some(({ subjectDer }) => subjectDer.equals(fields.issuer))) return;
  throw usageError(
    'wrong_issuer',
    `${place} holds a certificate that ${name} did not issue.`,
    'Name its issuer with --issuer, or ask about the certificates of one issuer at a time.',
  );
}

/**
 * @param {string} line
 * @param {string} file
 * @param {number} number
 * @returns {{serial: Uint8Array, certificate?: unknown}}
 */
function parseLine(line, file, number) {
  try {
    const text = line.trim();
    const kept = text.startsWith('{') ? JSON.parse(text) : { serial: text };
    return { serial: parseSerial(kept.serial), certificate: kept.certificate };
  } catch {
    throw usageError(
      'bad_serials_file',
      `${file} line ${number} is neither a serial (1a:2b:...) nor a JSON line with one.`,
      REMEDY,
    );
  }
}

/**
 * One certificate, issued on the mount and role given.
 *
 * @param {PrepareContext} context
 * @returns {Promise<Subjects>}
 */
async function fromNewCertificate(context) {
  const { plan, client, notice } = context;
  const { mount } = plan.target;
  const { role, cn } = plan.options;
  await checkIssuance(context, {
    operation: 'issue',
    role,
    commonName: cn,
    requests: 1,
    neededMs: Math.min(longestRunMs(plan.load) ?? 0, 10_000),
  });
  const { data } = await client.write(
    `${mount}/issue/${role}`,
    certificateParameters({ commonName: cn, altNames: [], ipSans: [], ttlMs: null }),
  );
  const [leaf] = readCertificates(Buffer.from(String(data?.certificate)), 'the certificate that was issued');
  const [issuer] = readCertificates(Buffer.from(String(data?.issuing_ca)), "the issuing CA's certificate");
  assertIssued(leaf, issuer, {
    leaf: 'the certificate that was issued',
    issuer: 'the issuing_ca it came with',
  });
  notice(`Issued one certificate for ${cn} with role ${role} to ask about.`);
  return { serials: [leaf.serial], issuer, example: leaf };
}

/** @param {string} path @param {string} flag */
function read(path, flag) {
  return readFile(path).catch((error) => {
    throw cannotRead(path, flag, error);
  });
}

/**
 * Checks a file early that is read later, line by line.
 *
 * @param {string} path
 * @param {string} flag
 */
async function checkReadable(path, flag) {
  try {
    if ((await stat(path)).isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
    await access(path, constants.R_OK);
  } catch (error) {
    throw cannotRead(path, flag, error);
  }
}

/** @param {string} path @param {string} flag @param {unknown} error */
function cannotRead(path, flag, error) {
  const { code } = /** @type {NodeJS.ErrnoException} */ (error);
  const why =
    code === 'ENOENT' ? 'is not there' : code === 'EISDIR' ? 'is a folder' : `cannot be read (${code})`;
  return usageError('cannot_read', `${flag} ${path} ${why}.`, 'Check the path.', error);
}

/** Preparing takes no longer for this many certificates. */
const PREPARING_MS = 60_000;

/**
 * @param {PrepareContext} context
 * @param {Kind[]} kinds
 * @returns {Promise<Subjects & {revoked: Uint8Array[]}>} `serials` are good; either is empty where nothing asks for it
 */
export async function findSubjectsOfKinds(context, kinds) {
  const { cert, serials, revokedSerials } = context.plan.options;
  const asks = (/** @type {string} */ name) => kinds.some((kind) => kind.name === name);
  const isGiven = cert !== null || serials !== null;
  const given = isGiven ? await findSubjects(context) : null;
  const known =
    revokedSerials === null ? null : await fromSerials(context, revokedSerials, '--revoked-serials');
  const toIssue = { good: asks('good') && given === null, revoked: asks('revoked') && known === null };
  const made = toIssue.good || toIssue.revoked ? await issueAndRevoke(context, toIssue) : null;
  const issuers = [given, known, made].flatMap((one) => (one === null ? [] : [one.issuer]));
  const [issuer = (await issuersOf(context)).issuers[0]] = issuers;
  const other = issuers.find((one) => !isSameIssuer(one, issuer));
  if (other !== undefined) throw severalIssuers(issuer, other);
  return {
    serials: given?.serials ?? made?.good ?? [],
    revoked: known?.serials ?? made?.revoked ?? [],
    issuer,
    example: given?.example ?? made?.example ?? known?.example ?? null,
  };
}

/**
 * @param {PrepareContext} context
 * @param {{good: boolean, revoked: boolean}} toIssue
 * @returns {Promise<{good: Uint8Array[], revoked: Uint8Array[], issuer: Certificate, example: Certificate}>}
 */
async function issueAndRevoke(context, toIssue) {
  const { plan, notice } = context;
  const { role, cn, pool } = plan.options;
  const each = pool ?? DEFAULT_POOL;
  const size = each * (toIssue.good && toIssue.revoked ? 2 : 1);
  await checkIssuance(context, {
    operation: 'issue',
    role,
    commonName: expandName(cn, plan.load.seed, 0),
    ttl: `${Math.round(lifetimeMs(plan.load) / 1000)}s`,
    requests: size * 2,
    neededMs: PREPARING_MS,
  });
  if (toIssue.revoked) await checkPermission(context.client, `${plan.target.mount}/revoke`);
  const fates = [
    ...(toIssue.good ? [`${each} to be asked about`] : []),
    ...(toIssue.revoked ? [`${each} to be revoked at once and asked about`] : []),
  ];
  notice(
    `Issues with role ${role} ${fates.join(' and ')}, ${describeLifetime(plan.load)}; until they are tidied after that they stay in storage${toIssue.revoked ? ', and what is revoked on the CRL' : ''}.`,
  );
  const issued = await issueBefore(context, { size, label: 'Issuing certificates to ask about' });
  const toRevoke = toIssue.revoked ? issued.slice(-each) : [];
  const [{ certificate, issuingCa }] = issued;
  const [example] = readCertificates(Buffer.from(certificate), 'a certificate that was issued');
  const [issuer] = readCertificates(Buffer.from(issuingCa), "the issuing CA's certificate");
  const names = { leaf: 'a certificate that was issued', issuer: 'the issuing_ca it came with' };
  assertIssued(example, issuer, names);
  await revokeBefore(context, toRevoke);
  return {
    good: toIssue.good ? issued.slice(0, each).map(({ serial }) => parseSerial(serial)) : [],
    revoked: toRevoke.map(({ serial }) => parseSerial(serial)),
    issuer,
    example,
  };
}

/**
 * CertIDs of both have the same hashes.
 *
 * @param {Certificate} one
 * @param {Certificate} other
 */
function isSameIssuer(one, other) {
  return one.subjectDer.equals(other.subjectDer) && one.spkiBits.equals(other.spkiBits);
}

/** @param {Certificate} one @param {Certificate} other */
function severalIssuers(one, other) {
  const [first, second] = [one, other].map(({ x509 }) => x509.subject.replace(/\n/g, ', ').slice(0, 200));
  return usageError(
    'several_issuers',
    `What is asked about was issued by ${first} and by ${second}${first === second ? ', whose keys differ' : ''}.`,
    'Ask about the certificates of one issuer at a time.',
  );
}
