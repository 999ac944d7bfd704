/** Which certificates `ocsp` asks about, and who issued them: from files, or one issued for the purpose. */
import { createReadStream } from 'node:fs';
import { access, constants, readFile, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { usageError } from '../common/errors.js';
import { assertIssued, parseSerial, readCertificates } from '../pki/certificate.js';
import { parseCertificate } from '../pki/certificate-der.js';
import { decodePem } from '../pki/pem.js';
import { longestRunMs } from '../plan/expected.js';
import { checkIssuer } from '../vault/preflight.js';
import { certificateParameters } from './issuance.js';
import { checkIssuance } from './issuance-check.js';

/** @typedef {import('../pki/certificate.js').Certificate} Certificate */
/**
 * @typedef {object} Subjects
 * @property {Uint8Array[]} serials INTEGER contents
 * @property {Certificate} issuer
 * @property {Certificate | null} example one of the certificates, where there is one
 */

/** More serials than this would take the memory that a load test should not. */
const MAX_SERIALS = 1_000_000;

const REMEDY = 'Write the file with issue --keep FILE, or one serial a line.';

/**
 * @param {import('./index.js').PrepareContext} context
 * @returns {Promise<Subjects>}
 */
export async function findSubjects(context) {
  const { cert, serials } = context.plan.options;
  if (serials !== null) return fromSerials(context, serials, '--serials');
  if (cert !== null) return fromCertificate(context, cert);
  return fromNewCertificate(context);
}

/**
 * @param {import('./index.js').PrepareContext} context
 * @param {string} file
 * @returns {Promise<Subjects>}
 */
async function fromCertificate(context, file) {
  const [leaf, ...others] = readCertificates(await read(file, '--cert'), file);
  const issuer = await issuerOf(context, leaf, file, others);
  return { serials: [leaf.serial], issuer, example: leaf };
}

/**
 * The issuer from --issuer, else from the leaf's own chain file, else the mount's.
 *
 * @param {import('./index.js').PrepareContext} context
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

/**
 * @param {import('../vault/client.js').VaultClient} client
 * @param {string} mount
 */
async function mountIssuer(client, mount) {
  const { pem } = await checkIssuer(client, mount);
  return readCertificates(Buffer.from(pem), `the CA of ${mount}`);
}

/**
 * @param {import('./index.js').PrepareContext} context
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

/**
 * What is in --issuer, else the mount's.
 *
 * @param {import('./index.js').PrepareContext} context
 */
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
 * @param {import('./index.js').PrepareContext} context
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

/**
 * @param {string} path
 * @param {string} flag
 */
function read(path, flag) {
  return readFile(path).catch((error) => {
    throw cannotRead(path, flag, error);
  });
}

/**
 * Says what is wrong with a file that is read later, line by line.
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

/**
 * @param {string} path
 * @param {string} flag
 * @param {unknown} error
 */
function cannotRead(path, flag, error) {
  const { code } = /** @type {NodeJS.ErrnoException} */ (error);
  const why =
    code === 'ENOENT' ? 'is not there' : code === 'EISDIR' ? 'is a folder' : `cannot be read (${code})`;
  return usageError('cannot_read', `${flag} ${path} ${why}.`, 'Check the path.', error);
}
