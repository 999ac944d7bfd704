/** Reading a certificate request (RFC 2986) and proving that its sender holds the key. */
import { verify } from 'node:crypto';
import { contextTag, DerReader, TAG } from '../pki/der.js';
import { OID, SIGNATURE_DIGEST } from './der.js';
import { readPublicKey } from './keys.js';
/** @import { AltNames } from './certificate.js' */

/**
 * @typedef {object} CertificateRequest
 * @property {string} commonName empty where there is none
 * @property {Buffer} spki
 * @property {{type: string, bits: number}} key
 * @property {AltNames} altNames
 * @property {string[]} uris
 * @property {boolean} signatureValid
 */

/** @param {Buffer} der @returns {CertificateRequest} @throws {Error} when it cannot be read */
export function readCsr(der) {
  const outer = new DerReader(der);
  const request = outer.enter(TAG.sequence);
  outer.finish();
  const tbs = request.readRaw(TAG.sequence);
  const algorithm = request.enter(TAG.sequence).readOid();
  const signature = request.readBitString();
  const info = new DerReader(tbs).enter(TAG.sequence);
  info.readInteger();
  const subject = info.enter(TAG.sequence);
  const spki = info.readRaw(TAG.sequence);
  const { key, type, bits } = readPublicKey(spki);
  const digest = SIGNATURE_DIGEST[algorithm];
  const signatureValid = digest !== undefined && verify(digest, tbs, key, signature);
  return {
    commonName: readCommonName(subject),
    spki,
    key: { type, bits },
    signatureValid,
    ...readAltNames(info),
  };
}

/** @param {DerReader} subject contents of a Name */
function readCommonName(subject) {
  let commonName = '';
  while (!subject.atEnd) {
    const attribute = subject.enter(TAG.set).enter(TAG.sequence);
    const oid = attribute.readOid();
    const text = attribute.read();
    if (oid === OID.commonName) commonName = text.toString('utf8');
  }
  return commonName;
}

/**
 * subjectAltName from the extensionRequest attribute (RFC 2985 section 5.4.2).
 *
 * @param {DerReader} info after the public key
 */
function readAltNames(info) {
  const names = {
    dns: /** @type {string[]} */ ([]),
    emails: /** @type {string[]} */ ([]),
    ips: /** @type {string[]} */ ([]),
  };
  const uris = /** @type {string[]} */ ([]);
  const attributes = info.enterOptional(contextTag(0));
  while (attributes !== null && !attributes.atEnd) {
    const attribute = attributes.enter(TAG.sequence);
    if (attribute.readOid() !== OID.extensionRequest) continue;
    const extensions = attribute.enter(TAG.set).enter(TAG.sequence);
    while (!extensions.atEnd) {
      const extension = extensions.enter(TAG.sequence);
      const oid = extension.readOid();
      if (extension.tag === TAG.boolean) extension.readBoolean();
      const value = extension.read(TAG.octetString);
      if (oid === OID.subjectAltName) readGeneralNames(new DerReader(value).enter(TAG.sequence), names, uris);
    }
  }
  return { altNames: names, uris };
}

/** @param {DerReader} list @param {AltNames} names filled @param {string[]} uris filled */
function readGeneralNames(list, names, uris) {
  while (!list.atEnd) {
    const { tag } = list;
    const value = list.read();
    if (tag === contextTag(2, false)) names.dns.push(value.toString('latin1'));
    else if (tag === contextTag(1, false)) names.emails.push(value.toString('latin1'));
    else if (tag === contextTag(7, false)) names.ips.push(ipText(value));
    else if (tag === contextTag(6, false)) uris.push(value.toString('latin1'));
  }
}

/** @param {Buffer} bytes */
function ipText(bytes) {
  if (bytes.length === 4) return bytes.join('.');
  return bytes.toString('hex').replace(/....(?!$)/g, '$&:');
}
