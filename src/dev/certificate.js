/** Certificates (RFC 5280 section 4), what signs them, and the two-level PKI: a root, and the intermediate that issues. */
import { createHash, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { OID, publicKeyBits } from '../pki/certificate-der.js';
import { KEY_TYPES } from '../pki/csr.js';
import {
  bitString,
  element,
  explicit,
  extension,
  implicit,
  integer,
  nameOf,
  octetString,
  oid,
  sequence,
  TRUE,
  time,
} from '../pki/der-writer.js';
import { ipBytes, writeAlternativeNames } from '../pki/names.js';
import { encodePem } from '../pki/text.js';

/** @import { KeyObject } from 'node:crypto' */
/** @import { CsrKeyType } from '../pki/csr.js' */

/** @typedef {{privateKey: KeyObject, spki: Buffer}} KeyPair */
/**
 * @typedef {object} Authority
 * @property {Buffer} name DER of its subject
 * @property {Buffer} keyId
 * @property {Buffer} keyBits public key, as CertIDs hash it
 * @property {KeyObject} privateKey RSA or P-256
 * @property {Buffer} algorithm AlgorithmIdentifier of its signatures, with SHA-256
 * @property {Buffer} der its certificate
 * @property {string} pem
 * @property {number} notAfter epoch seconds
 */

/** An RSA key takes a thread for 100 ms: one of the pool's four threads stays free for signatures. */
const limitRsa = pLimit(3);

/** @param {CsrKeyType} type @returns {Promise<KeyPair>} */
export async function makeKeys(type) {
  const { make } = KEY_TYPES[type];
  const { publicKey, privateKey } = await (type.startsWith('rsa') ? limitRsa(make) : make());
  return { privateKey, spki: publicKey.export({ type: 'spki', format: 'der' }) };
}

const signOnThread = /** @type {(hash: string, data: Buffer, key: KeyObject) => Promise<Buffer>} */ (
  promisify(sign)
);

/**
 * SEQUENCE { tbs, algorithm, signature }: a certificate, a CRL, or the head of a BasicOCSPResponse.
 * @param {Pick<Authority, 'privateKey' | 'algorithm'>} issuer
 * @param {...Buffer} fields
 */
export async function signed({ privateKey, algorithm }, ...fields) {
  const tbs = sequence(...fields);
  // A P-256 signature takes less time than the way to a thread and back.
  const isRsa = privateKey.asymmetricKeyType === 'rsa';
  const signature = isRsa ? await signOnThread('sha256', tbs, privateKey) : sign('sha256', tbs, privateKey);
  return sequence(tbs, algorithm, bitString(signature));
}

/** @param {number} unusedBits @param {number} bits of its one octet */
const keyUsage = (unusedBits, bits) =>
  extension(OID.keyUsage, element(0x03, Buffer.from([unusedBits, bits])), true);

/** digitalSignature, keyEncipherment, keyAgreement: Vault's default for a role. */
export const LEAF_USAGE = keyUsage(3, 0xa8);
export const LEAF_EXTENDED_USAGE = extension(
  OID.extKeyUsage,
  sequence(oid(OID.serverAuth), oid(OID.clientAuth)),
);
/** keyCertSign, cRLSign. */
const CA_EXTENSIONS = [keyUsage(1, 0x06), extension(OID.basicConstraints, sequence(TRUE), true)];

/** @param {Uint8Array} keyId */
export const authorityKeyIdentifier = (keyId) =>
  extension(OID.authorityKeyIdentifier, sequence(implicit(0, keyId)));

/** Key identifier, method 1 of RFC 5280 section 4.2.1.2. @param {Buffer} keyBits */
const keyIdOf = (keyBits) => createHash('sha1').update(keyBits).digest();

const BACKDATE_SECONDS = 30;

/**
 * @param {Pick<Authority, 'name' | 'keyId' | 'privateKey' | 'algorithm'>} issuer
 * @param {object} subject
 * @param {string} subject.commonName
 * @param {Buffer} subject.spki
 * @param {number} subject.notAfter epoch seconds
 * @param {Buffer[]} subject.extensions beside the key identifiers
 * @returns {Promise<{serial: Buffer, der: Buffer}>} `serial`: 20 octets, positive
 */
export async function createCertificate(issuer, { commonName, spki, notAfter, extensions }) {
  const serial = randomBytes(20);
  serial[0] = serial[0] & 0x7f || 1;
  const der = await signed(
    issuer,
    explicit(0, integer(2)), // version 3
    integer(serial),
    issuer.algorithm,
    issuer.name,
    sequence(time(epochSeconds() - BACKDATE_SECONDS), time(notAfter)),
    nameOf(commonName),
    spki,
    explicit(
      3,
      sequence(
        ...extensions,
        extension(OID.subjectKeyIdentifier, octetString(keyIdOf(publicKeyBits(spki)))),
        authorityKeyIdentifier(issuer.keyId),
      ),
    ),
  );
  return { serial, der };
}

export const epochSeconds = () => Math.floor(Date.now() / 1000);

const YEAR_SECONDS = 365 * 86_400;

/** @param {'rsa' | 'ec'} keyType @returns {Promise<{root: Authority, intermediate: Authority}>} */
export async function createAuthorities(keyType) {
  const type = keyType === 'rsa' ? 'rsa-2048' : 'ec-256';
  const root = await createAuthority('vault-pki-load dev root', type, 10, null);
  const intermediate = await createAuthority('vault-pki-load dev intermediate', type, 5, root);
  return { root, intermediate };
}

/**
 * @param {string} commonName
 * @param {CsrKeyType} type
 * @param {number} years
 * @param {Authority | null} parent null: signs itself
 * @returns {Promise<Authority>}
 */
async function createAuthority(commonName, type, years, parent) {
  const { privateKey, spki } = await makeKeys(type);
  const { algorithm } = KEY_TYPES[type];
  const keyBits = publicKeyBits(spki);
  const self = { name: nameOf(commonName), keyId: keyIdOf(keyBits), keyBits, privateKey, algorithm };
  const notAfter = epochSeconds() + years * YEAR_SECONDS;
  const subject = { commonName, spki, notAfter, extensions: CA_EXTENSIONS };
  const { der } = await createCertificate(parent ?? self, subject);
  return { ...self, der, pem: encodePem('CERTIFICATE', der), notAfter };
}

/**
 * A certificate for the HTTPS listener, issued by the root, unlike in production.
 * @param {Authority} root
 * @param {string} host listening address, named besides localhost
 * @returns {Promise<{key: string, cert: string}>} PEM
 */
export async function createServerCertificate(root, host) {
  const { privateKey, spki } = await makeKeys('ec-256');
  const ips = new Set(['127.0.0.1', '::1', ...(isIP(host) ? [host] : [])]);
  const names = writeAlternativeNames({
    dns: [...new Set(['localhost', ...(isIP(host) ? [] : [host])])],
    email: [],
    ip: [...ips].map((ip) => ipBytes(ip) ?? Buffer.alloc(4)),
  });
  const { der } = await createCertificate(root, {
    commonName: 'localhost',
    spki,
    notAfter: epochSeconds() + YEAR_SECONDS,
    extensions: [LEAF_USAGE, LEAF_EXTENDED_USAGE, ...names],
  });
  return {
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    cert: encodePem('CERTIFICATE', der),
  };
}
