/** Creates keys, certificates (RFC 5280 section 4), and a PKI of a root and an issuing intermediate. */
import { createHash, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { OID, publicKeyBits } from '../pki/certificate-der.js';
import { KEY_TYPES } from '../pki/csr.js';
import * as write from '../pki/der-writer.js';
import { ipBytes, writeAlternativeNames } from '../pki/names.js';
import { encodePem } from '../pki/text.js';

/** @import { KeyObject } from 'node:crypto' */
/** @import { CsrKeyType } from '../pki/csr.js' */

/** @typedef {Awaited<ReturnType<typeof createAuthority>>} Authority */
/** @typedef {{name: Buffer, keyId: Buffer, privateKey: KeyObject, algorithm: Buffer}} Issuer */

/** Generating an RSA key blocks a thread for 100 ms; this leaves one of the pool's four threads for signatures. */
const limitRsa = pLimit(3);

/** @param {CsrKeyType} type */
export async function makeKeys(type) {
  const { make } = KEY_TYPES[type];
  const { publicKey, privateKey } = await (type.startsWith('rsa') ? limitRsa(make) : make());
  return { privateKey, spki: publicKey.export({ type: 'spki', format: 'der' }) };
}

const signOnThread = /** @type {(hash: string, data: Buffer, key: KeyObject) => Promise<Buffer>} */ (
  promisify(sign)
);

/** SEQUENCE { fields, algorithm, signature }. @param {Issuer} issuer @param {...Buffer} fields */
export async function signed({ privateKey, algorithm }, ...fields) {
  const tbs = write.sequence(...fields);
  // A P-256 signature takes less time than a round trip to a thread.
  const isRsa = privateKey.asymmetricKeyType === 'rsa';
  const signature = isRsa ? await signOnThread('sha256', tbs, privateKey) : sign('sha256', tbs, privateKey);
  return write.sequence(tbs, algorithm, write.bitString(signature));
}

/** @param {number} unusedBits @param {number} bits one octet */
const keyUsage = (unusedBits, bits) =>
  write.extension(OID.keyUsage, write.element(0x03, Buffer.from([unusedBits, bits])), true);

/** digitalSignature, keyEncipherment, keyAgreement: Vault's default for a role. */
export const LEAF_USAGE = keyUsage(3, 0xa8);
const PURPOSES = write.sequence(write.oid(OID.serverAuth), write.oid(OID.clientAuth));
export const LEAF_EXTENDED_USAGE = write.extension(OID.extKeyUsage, PURPOSES);
const BASIC_CONSTRAINTS = write.extension(OID.basicConstraints, write.sequence(write.TRUE), true);
/** The usage is keyCertSign, cRLSign. */
const CA_EXTENSIONS = [keyUsage(1, 0x06), BASIC_CONSTRAINTS];

/** @param {Uint8Array} keyId */
export const authorityKeyIdentifier = (keyId) =>
  write.extension(OID.authorityKeyIdentifier, write.sequence(write.implicit(0, keyId)));

/** Key identifier, method 1 of RFC 5280 section 4.2.1.2. @param {Buffer} keyBits */
const keyIdOf = (keyBits) => createHash('sha1').update(keyBits).digest();

const BACKDATE_SECONDS = 30;

/**
 * @param {Issuer} issuer
 * @param {{commonName: string, spki: Buffer, notAfter: number, extensions: Buffer[]}} subject `notAfter`: epoch seconds;
 *   `extensions`: without the key identifiers
 */
export async function createCertificate(issuer, { commonName, spki, notAfter, extensions }) {
  const serial = randomBytes(20);
  serial[0] = serial[0] & 0x7f || 1;
  const der = await signed(
    issuer,
    write.explicit(0, write.integer(2)), // version 3
    write.integer(serial),
    issuer.algorithm,
    issuer.name,
    write.sequence(write.time(epochSeconds() - BACKDATE_SECONDS), write.time(notAfter)),
    write.nameOf(commonName),
    spki,
    write.explicit(
      3,
      write.sequence(
        ...extensions,
        write.extension(OID.subjectKeyIdentifier, write.octetString(keyIdOf(publicKeyBits(spki)))),
        authorityKeyIdentifier(issuer.keyId),
      ),
    ),
  );
  return { serial, der };
}

export const epochSeconds = () => Math.floor(Date.now() / 1000);

const YEAR_SECONDS = 365 * 86_400;

/** The root's key is always EC: an RSA key takes 100 ms at every start. @param {'rsa' | 'ec'} keyType of the intermediate */
export async function createAuthorities(keyType) {
  const type = keyType === 'rsa' ? 'rsa-2048' : 'ec-256';
  const [rootKeys, keys] = await Promise.all([makeKeys('ec-256'), makeKeys(type)]);
  const root = await createAuthority('vault-pki-load dev root', 'ec-256', rootKeys, 10, null);
  const intermediate = await createAuthority('vault-pki-load dev intermediate', type, keys, 5, root);
  return { root, intermediate };
}

/**
 * @param {string} commonName @param {CsrKeyType} type @param {Awaited<ReturnType<typeof makeKeys>>} keys
 * @param {number} years @param {Issuer | null} parent
 */
async function createAuthority(commonName, type, { privateKey, spki }, years, parent) {
  const { algorithm } = KEY_TYPES[type];
  const keyBits = publicKeyBits(spki);
  const self = { name: write.nameOf(commonName), keyId: keyIdOf(keyBits), keyBits, privateKey, algorithm };
  const notAfter = epochSeconds() + years * YEAR_SECONDS;
  const subject = { commonName, spki, notAfter, extensions: CA_EXTENSIONS };
  const { der } = await createCertificate(parent ?? self, subject);
  return { ...self, der, pem: encodePem('CERTIFICATE', der), notAfter };
}

/** For the HTTPS listener. Issued by the root, unlike in production. @param {Authority} root @param {string} host */
export async function createServerCertificate(root, host) {
  const { privateKey, spki } = await makeKeys('ec-256');
  const hosts = [...new Set(['localhost', '127.0.0.1', '::1', host])];
  const dns = hosts.filter((name) => isIP(name) === 0);
  const names = writeAlternativeNames({ dns, email: [], ip: hosts.flatMap((name) => ipBytes(name) ?? []) });
  const notAfter = epochSeconds() + YEAR_SECONDS;
  const extensions = [LEAF_USAGE, LEAF_EXTENDED_USAGE, ...names];
  const { der } = await createCertificate(root, { commonName: 'localhost', spki, notAfter, extensions });
  const key = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return { key, cert: encodePem('CERTIFICATE', der) };
}
