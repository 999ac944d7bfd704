/** `issue` and `sign`: from a role and parameters to a certificate. */
import {
  authorityKeyIdentifier,
  buildCertificate,
  LEAF_EXTENDED_KEY_USAGE,
  LEAF_KEY_USAGE,
  newSerial,
  subjectAltName,
  urlExtensions,
} from './certificate.js';
import { readCsr } from './csr.js';
import { colonHex, fromPem, toPem } from './der.js';
import { exportPrivateKey, newKeyPair } from './keys.js';
import { flagParam, listParam, secondsParam, textParam, VaultError } from './messages.js';
import { allowedNames } from './roles.js';

/** @import { AltNames, Authority, IssuerUrls } from './certificate.js' */
/** @import { Params } from './messages.js' */
/** @import { Store } from './store.js' */

/**
 * @typedef {import('./roles.js').Role} Role
 * @typedef {Params} Params
 * @typedef {{data: Record<string, unknown>, warnings: string[]}} Issued
 * @typedef {object} Ca
 * @property {Authority} issuer
 * @property {Authority} root
 * @property {Store} store
 * @property {IssuerUrls} urls replaced as a whole, never changed in place
 */

const COMMON_NAME_IGNORED =
  'the common_name field was provided but the role is set with "use_csr_common_name" set to true';

/**
 * @param {Ca} ca
 * @param {Role} role
 * @param {Params} params
 * @returns {Promise<Issued>}
 */
export async function issue(ca, role, params) {
  const format = readFormat(params);
  const { seconds, warnings } = lifetime(role, params);
  refuseOtherNames(params);
  const commonName = textParam(params, 'common_name');
  const names = allowedNames(role, {
    commonName,
    altNames: splitAltNames(textParam(params, 'alt_names'), listParam(params, 'ip_sans')),
    includeCommonName: !flagParam(params, 'exclude_cn_from_sans'),
  });
  const keys = await newKeyPair({ type: role.key_type, bits: role.key_bits });
  const issued = await certify(ca, role, { commonName, names, spki: keys.spki, seconds });
  const key = exportPrivateKey(keys.privateKey, textParam(params, 'private_key_format') === 'pkcs8');
  const data = { ...responseData(ca, issued, format, key), private_key_type: role.key_type };
  return { data, warnings: [...warnings, ...ignored(params, 'issue')] };
}

/**
 * Names come from the CSR alone, as `use_csr_common_name` and `use_csr_sans` say.
 *
 * @param {Ca} ca
 * @param {Role} role
 * @param {Params} params
 * @returns {Promise<Issued>}
 */
export async function signCsr(ca, role, params) {
  const format = readFormat(params);
  const { seconds, warnings } = lifetime(role, params);
  const csr = parseCsr(textParam(params, 'csr'));
  checkKey(role, csr.key);
  if (csr.uris.length > 0) throw new VaultError(400, uriRefusal('CSR'));
  const names = allowedNames(role, {
    commonName: csr.commonName,
    altNames: csr.altNames,
    includeCommonName: !flagParam(params, 'exclude_cn_from_sans'),
  });
  if (textParam(params, 'common_name') !== '') {
    warnings.push(COMMON_NAME_IGNORED);
  }
  const issued = await certify(ca, role, { commonName: csr.commonName, names, spki: csr.spki, seconds });
  return {
    data: responseData(ca, issued, format, null),
    warnings: [...warnings, ...ignored(params, 'sign')],
  };
}

/** What holds without a role. @type {Pick<Role, 'no_store' | 'not_before_duration' | 'ttl' | 'max_ttl'>} */
const NO_ROLE = Object.freeze({ no_store: false, not_before_duration: 30, ttl: 0, max_ttl: 768 * 3600 });

/**
 * Names and key are those of the CSR, whatever they are, but of its subject only the common name, and no URIs: Vault takes all of it.
 *
 * @param {Ca} ca
 * @param {Role | null} role determines lifetime and storage, nothing else
 * @param {Params} params
 * @returns {Promise<Issued>}
 */
export async function signVerbatim(ca, role, params) {
  const format = readFormat(params);
  const limits = /** @type {Role} */ (role ?? NO_ROLE);
  const { seconds, warnings } = lifetime(limits, params);
  const { commonName, altNames, spki } = parseCsr(textParam(params, 'csr'));
  if (textParam(params, 'common_name') !== '') warnings.push(COMMON_NAME_IGNORED);
  const subject = { commonName, names: altNames, spki, seconds, usage: [] };
  const issued = await certify(ca, limits, subject);
  return { data: responseData(ca, issued, format, null), warnings };
}

/**
 * @param {Ca} ca
 * @param {Role} role
 * @param {{commonName: string, names: AltNames, spki: Buffer, seconds: number, usage?: Buffer[]}} subject
 *   `usage`: the extended one, as an extension
 */
async function certify(ca, role, { commonName, names, spki, seconds, usage = [LEAF_EXTENDED_KEY_USAGE] }) {
  const { issuer, store } = ca;
  const { access, crl } = urlExtensionsOf(ca);
  const serial = newSerial();
  const now = Math.floor(Date.now() / 1000);
  const notAfter = Math.min(now + seconds, issuer.notAfter);
  const der = await buildCertificate({
    serial,
    issuerName: issuer.name,
    signer: issuer.signer,
    notBefore: now - role.not_before_duration,
    notAfter,
    commonName,
    spki,
    extensions: (ski) => [
      LEAF_KEY_USAGE,
      ...usage,
      ski,
      authorityKeyIdentifier(issuer.keyId),
      access,
      subjectAltName(names),
      crl,
    ],
  });
  if (!role.no_store) store.add(serial, der);
  return { serial, der, notAfter };
}

/** @type {WeakMap<IssuerUrls, ReturnType<typeof urlExtensions>>} */
const encodedUrls = new WeakMap();

/** @param {Ca} ca */
function urlExtensionsOf({ urls }) {
  const known = encodedUrls.get(urls) ?? urlExtensions(urls);
  encodedUrls.set(urls, known);
  return known;
}

/**
 * @param {Ca} ca
 * @param {{serial: Buffer, der: Buffer, notAfter: number}} issued
 * @param {string} format
 * @param {{label: string, der: Buffer} | null} key
 */
function responseData({ issuer, root }, { serial, der, notAfter }, format, key) {
  const text =
    format === 'der'
      ? (/** @type {string} */ _label, /** @type {Buffer} */ bytes) => bytes.toString('base64')
      : toPem;
  const isDer = format === 'der';
  const chain = isDer ? [issuer, root].map((ca) => ca.der.toString('base64')) : [issuer.pem, root.pem];
  const keyText = key === null ? null : text(key.label, key.der);
  const certificate = text('CERTIFICATE', der);
  const bundle = [...(keyText === null ? [] : [keyText]), certificate, ...chain].join('\n');
  return {
    authority_key_id: colonHex(issuer.keyId),
    ca_chain: chain,
    certificate: format === 'pem_bundle' ? bundle : certificate,
    expiration: notAfter,
    issuing_ca: chain[0],
    ...(keyText === null ? {} : { private_key: keyText }),
    serial_number: colonHex(serial),
  };
}

/** @param {string} text */
function parseCsr(text) {
  if (text === '') throw new VaultError(400, '"csr" is empty');
  const der = fromPem(text);
  if (der === null) throw new VaultError(400, 'csr contains no data');
  let csr;
  try {
    csr = readCsr(der);
  } catch (error) {
    throw new VaultError(
      400,
      `certificate request could not be parsed: ${/** @type {Error} */ (error).message}`,
    );
  }
  if (!csr.signatureValid) throw new VaultError(400, 'request signature invalid');
  return csr;
}

/** @param {Role} role @param {{type: string, bits: number}} key */
function checkKey(role, key) {
  if (key.type !== role.key_type) throw new VaultError(400, `role requires keys of type ${role.key_type}`);
  if (key.bits < role.key_bits) {
    throw new VaultError(
      400,
      `role requires a minimum of a ${role.key_bits}-bit key, but CSR's key is ${key.bits} bits`,
    );
  }
}

/** Vault's default lease, which a role without a `ttl` takes. */
const DEFAULT_TTL_SECONDS = 768 * 3600;

const BOTH = [
  'common_name',
  'alt_names',
  'ip_sans',
  'uri_sans',
  'other_sans',
  'ttl',
  'format',
  'exclude_cn_from_sans',
];
const KNOWN = Object.freeze({
  issue: new Set([...BOTH, 'private_key_format']),
  sign: new Set([...BOTH, 'csr']),
});

/** @param {Params} params */
export function readFormat(params) {
  const format = textParam(params, 'format') || 'pem';
  if (!['pem', 'der', 'pem_bundle'].includes(format)) {
    throw new VaultError(400, 'the "format" path parameter must be "pem", "der", or "pem_bundle"');
  }
  return format;
}

/** @param {Role} role @param {Params} params */
export function lifetime(role, params) {
  const asked = secondsParam(params, 'ttl') || role.ttl || DEFAULT_TTL_SECONDS;
  if (asked <= role.max_ttl) return { seconds: asked, warnings: /** @type {string[]} */ ([]) };
  const warning = `TTL "${goDuration(asked)}" is longer than permitted maxTTL "${goDuration(role.max_ttl)}", so maxTTL is being used`;
  return { seconds: role.max_ttl, warnings: [warning] };
}

/** @param {number} seconds */
function goDuration(seconds) {
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m${seconds % 60}s`;
}

/** @param {Params} params */
export function refuseOtherNames(params) {
  if (listParam(params, 'uri_sans').length > 0) throw new VaultError(400, uriRefusal('the API'));
  const [other] = listParam(params, 'other_sans');
  if (other !== undefined) throw new VaultError(400, `other SAN ${other} not allowed by this role`);
}

/** @param {string} source */
export const uriRefusal = (source) =>
  `URI Subject Alternative Names are not allowed in this role, but were provided via ${source}`;

/** @param {string} altNames separated by commas @param {string[]} ips */
export function splitAltNames(altNames, ips) {
  const names = altNames
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return {
    dns: names.filter((name) => !name.includes('@')),
    emails: names.filter((name) => name.includes('@')),
    ips,
  };
}

/** @param {Params} params @param {keyof typeof KNOWN} path */
export function ignored(params, path) {
  const names = Object.keys(params).filter((name) => !KNOWN[path].has(name));
  return names.length > 0
    ? [`Endpoint ignored these unrecognized parameters: [${names.sort().join(' ')}]`]
    : [];
}
