/** X.509 certificates (RFC 5280 section 4.1), put together from parts that mostly never change. */
import { createHash, randomBytes } from 'node:crypto';
import { explicit, integer, rawInteger, sequence, time } from './der.js';
import { nameOf, subjectKeyIdentifier } from './extensions.js';
import { publicKeyBits } from './keys.js';
import { signed } from './signer.js';

const VERSION_3 = explicit(0, integer(2));

/** @returns {Buffer} 20 random bytes that are a positive, minimal INTEGER */
export function newSerial() {
  const serial = randomBytes(20);
  serial[0] = serial[0] & 0x7f || 1;
  return serial;
}

/**
 * Key identifier, method 1 of RFC 5280 section 4.2.1.2.
 *
 * @param {Uint8Array} spki
 */
export function keyIdOf(spki) {
  return createHash('sha1').update(publicKeyBits(spki)).digest();
}

/**
 * @param {object} parts
 * @param {Buffer} parts.serial
 * @param {Buffer} parts.issuerName DER
 * @param {import('./signer.js').Signer} parts.signer of the issuer
 * @param {number} parts.notBefore epoch seconds
 * @param {number} parts.notAfter epoch seconds
 * @param {string} parts.commonName
 * @param {Buffer} parts.spki
 * @param {(keyIdExtension: Buffer) => Buffer[]} parts.extensions gets the subject key identifier to place among them
 * @returns {Promise<Buffer>} DER
 */
export async function buildCertificate(parts) {
  const { serial, issuerName, signer, notBefore, notAfter, commonName, spki } = parts;
  const tbs = sequence(
    VERSION_3,
    rawInteger(serial),
    signer.algorithm,
    issuerName,
    sequence(time(notBefore), time(notAfter)),
    nameOf(commonName),
    spki,
    explicit(3, sequence(...parts.extensions(subjectKeyIdentifier(keyIdOf(spki))))),
  );
  return signed(signer, tbs);
}
