/** `issue`, `sign` and `sign-verbatim`: a role and parameters -> a certificate. */
import { createPublicKey } from 'node:crypto';
import { commonNameOf, OID, publicKeyBits, readExtensions, readSigned } from '../pki/certificate-der.js';
import { contextTag, DerError, TAG } from '../pki/der.js';
import { explicit, extension, implicit, oid, sequence } from '../pki/der-writer.js';
import { readAlternativeNames, splitNames, writeAlternativeNames } from '../pki/names.js';
import { verifySignature } from '../pki/signature.js';
import { colonHex, encodePem, pemBlocks } from '../pki/text.js';
import { createCertificate, epochSeconds, LEAF_EXTENDED_USAGE, LEAF_USAGE, makeKeys } from './certificate.js';
import { allowedNames, readIps } from './roles.js';
import { listParam, secondsParam, textParam, VaultError } from './routes.js';

/** @import { KeyObject } from 'node:crypto' */
/** @import { CsrKeyType } from '../pki/csr.js' */
/** @import { DerReader } from '../pki/der.js' */
/** @import { AlternativeNames } from '../pki/names.js' */
/** @import { Authority } from './certificate.js' */
/** @import { Params } from './routes.js' */
/** @import { Role } from './roles.js' */
/** @import { Store } from './status.js' */

/** @typedef {{issuer: Authority, root: Authority, store: Store, urls: Buffer[]}} Ca `urls`: from `urlExtensions` */
/** @typedef {Omit<Parameters<typeof createCertificate>[1], 'notAfter' | 'extensions'> & {names: AlternativeNames}} Subject */

/** @param {Ca} ca @param {Role} role @param {Params} params @returns {Promise<Record<string, unknown>>} */
export async function issue(ca, role, params) {
  const [other] = listParam(params, 'other_sans');
  if (other !== undefined) throw new VaultError(400, `other SAN ${other} not allowed by this role`);
  refuseUris(listParam(params, 'uri_sans'), 'the API');
  const commonName = textParam(params, 'common_name');
  const altNames = splitNames(listParam(params, 'alt_names'));
  const ip = readIps(listParam(params, 'ip_sans'));
  const names = { ...allowedNames(commonName, altNames), ip, others: [] };
  const { key_type: type, key_bits: bits } = role;
  const keyType = /** @type {CsrKeyType} */ (bits > 0 ? `${type}-${bits}` : type);
  const { privateKey, spki } = await makeKeys(keyType);
  const data = await certify(ca, role, params, { commonName, names, spki }, [LEAF_EXTENDED_USAGE]);
  return { ...data, private_key: exportKey(privateKey), private_key_type: type };
}

/** Takes the names from the CSR alone, by `use_csr_common_name` and `use_csr_sans`. @type {typeof issue} */
export async function signCsr(ca, role, params) {
  const { key, ...csr } = parseCsr(textParam(params, 'csr'));
  checkKey(role, key);
  refuseUris(csr.names.others, 'CSR');
  const names = { ...csr.names, ...allowedNames(csr.commonName, csr.names) };
  return certify(ca, role, params, { ...csr, names }, [LEAF_EXTENDED_USAGE]);
}

/** Takes lifetime and storage from the role. Unlike Vault, drops URIs and the subject except the common name. @type {typeof issue} */
export async function signVerbatim(ca, role, params) {
  const { key: _, ...subject } = parseCsr(textParam(params, 'csr'));
  return certify(ca, role, params, subject, []);
}

/** Vault's default lease, for a role without a `ttl`. */
const DEFAULT_TTL_SECONDS = 768 * 3600;

/** @param {Ca} ca @param {Role} role @param {Params} params @param {Subject} subject @param {Buffer[]} usage extKeyUsage, if any */
async function certify({ issuer, root, store, urls }, role, params, { names, ...subject }, usage) {
  if (!['', 'pem'].includes(textParam(params, 'format')))
    throw new VaultError(400, 'the embedded server supports only the "format" "pem"');
  const seconds = Math.min(secondsParam(params, 'ttl') || role.ttl || DEFAULT_TTL_SECONDS, role.max_ttl);
  const notAfter = Math.min(epochSeconds() + seconds, issuer.notAfter);
  const extensions = [LEAF_USAGE, ...usage, ...writeAlternativeNames(names), ...urls];
  const { serial, der } = await createCertificate(issuer, { ...subject, notAfter, extensions });
  if (!role.no_store) store.add(serial, der);
  const pems = [encodePem('CERTIFICATE', der), issuer.pem, root.pem];
  const [certificate, ...chain] = pems.map((pem) => pem.trimEnd());
  return {
    ...{ authority_key_id: colonHex(issuer.keyId), ca_chain: chain, certificate, expiration: notAfter },
    ...{ issuing_ca: chain[0], serial_number: colonHex(serial) },
  };
}

/** As in Vault's responses: PKCS#1 for RSA, SEC 1 for EC, PKCS#8 for Ed25519. @param {KeyObject} key */
function exportKey(key) {
  const format = { rsa: 'pkcs1', ec: 'sec1' }[String(key.asymmetricKeyType)] ?? 'pkcs8';
  return String(key.export({ type: /** @type {'pkcs8'} */ (format), format: 'pem' })).trimEnd();
}

/** AIA and CRL distribution points. @param {string} mountUrl */
export function urlExtensions(mountUrl) {
  const uri = (/** @type {string} */ path) => implicit(6, Buffer.from(`${mountUrl}/${path}`, 'latin1'));
  const access = sequence(sequence(oid(OID.ocsp), uri('ocsp')), sequence(oid(OID.caIssuers), uri('ca')));
  const point = sequence(explicit(0, explicit(0, uri('crl'))));
  return [extension(OID.authorityInfoAccess, access), extension(OID.crlDistributionPoints, sequence(point))];
}

/** @param {string} text PEM of a CSR (RFC 2986), whose signature must be valid */
function parseCsr(text) {
  if (text === '') throw new VaultError(400, '"csr" is empty');
  const [block] = pemBlocks(text);
  if (!block?.body) throw new VaultError(400, 'csr contains no data');
  try {
    return readCsr(Buffer.from(block.body, 'base64'));
  } catch (error) {
    if (error instanceof VaultError) throw error;
    const { message } = /** @type {Error} */ (error);
    throw new VaultError(400, `certificate request could not be parsed: ${message}`);
  }
}

/** @param {Buffer} der @throws {Error} */
function readCsr(der) {
  const { signed, tbs } = readSigned(der);
  tbs.readInteger();
  const commonName = commonNameOf(tbs.readRaw(TAG.sequence)) ?? '';
  const spki = tbs.readRaw(TAG.sequence);
  publicKeyBits(spki); // Go, too, is stricter than OpenSSL
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  if (verifySignature(signed, key) !== null) throw new VaultError(400, 'request signature invalid');
  const names = readAlternativeNames(readRequestedNames(tbs));
  if (names.ip.some(({ length }) => length !== 4 && length !== 16)) throw new DerError('Not an IP address');
  return { commonName, spki, key, names };
}

/** From the extensionRequest attribute (RFC 2985 section 5.4.2). @param {DerReader} info after the public key */
function readRequestedNames(info) {
  if (info.atEnd) return undefined;
  for (const attributes = info.enter(contextTag(0)); !attributes.atEnd; ) {
    const attribute = attributes.enter(TAG.sequence);
    if (attribute.readOid() === OID.extensionRequest)
      return readExtensions(attribute.enter(TAG.set), new Set()).values.get(OID.subjectAltName);
  }
  return undefined;
}

/** By OpenSSL's names. A key on another curve counts as too short. @type {Record<string, number>} */
const CURVE_BITS = { prime256v1: 256, secp384r1: 384, secp521r1: 521 };

/** @param {Role} role @param {KeyObject} key */
function checkKey(role, { asymmetricKeyType: type, asymmetricKeyDetails = {} }) {
  if (type !== role.key_type) throw new VaultError(400, `role requires keys of type ${role.key_type}`);
  const { namedCurve = '', modulusLength = 0 } = asymmetricKeyDetails;
  const bits = type === 'ec' ? (CURVE_BITS[namedCurve] ?? 0) : modulusLength;
  const message = `role requires a minimum of a ${role.key_bits}-bit key, but CSR's key is ${bits} bits`;
  if (bits < role.key_bits) throw new VaultError(400, message);
}

/** @param {readonly unknown[]} uris @param {string} source */
function refuseUris(uris, source) {
  const message = `URI Subject Alternative Names are not allowed in this role, but were provided via ${source}`;
  if (uris.length > 0) throw new VaultError(400, message);
}
