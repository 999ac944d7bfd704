/** The two-level PKI: a root, and the intermediate that issues. */
import { buildCertificate, keyIdOf, newSerial } from './certificate.js';
import {
  authorityKeyIdentifier,
  CA_CONSTRAINTS,
  CA_KEY_USAGE,
  LEAF_EXTENDED_KEY_USAGE,
  LEAF_KEY_USAGE,
  nameOf,
  subjectAltName,
} from './extensions.js';
import { exportPrivateKey, newKeyPair, publicKeyBits } from './keys.js';
import { createSigner } from './signer.js';
import { toPem } from './text.js';

const YEAR_SECONDS = 365 * 86_400;
const BACKDATE_SECONDS = 30;

/**
 * @typedef {object} Authority
 * @property {Buffer} name DER of its subject
 * @property {Buffer} keyId
 * @property {Buffer} keyBits public key, as CertIDs hash it
 * @property {Buffer} der its certificate
 * @property {string} pem
 * @property {Buffer} serial
 * @property {number} notAfter epoch seconds
 * @property {import('./signer.js').Signer} signer
 */

/**
 * @param {'rsa' | 'ec'} keyType
 * @returns {Promise<{root: Authority, intermediate: Authority}>}
 */
export async function createAuthorities(keyType) {
  const kind = { type: keyType, bits: keyType === 'rsa' ? 2048 : 256 };
  const [rootKeys, issuerKeys] = await Promise.all([newKeyPair(kind), newKeyPair(kind)]);
  const root = await createAuthority('vault-pki-load dev root', rootKeys, 10, null);
  const intermediate = await createAuthority('vault-pki-load dev intermediate', issuerKeys, 5, root);
  return { root, intermediate };
}

/**
 * @param {string} commonName
 * @param {import('./keys.js').KeyPair} keys
 * @param {number} years
 * @param {Authority | null} parent null: signs itself
 * @returns {Promise<Authority>}
 */
async function createAuthority(commonName, { privateKey, spki }, years, parent) {
  const signer = createSigner(privateKey);
  const name = nameOf(commonName);
  const keyId = keyIdOf(spki);
  const serial = newSerial();
  const now = Math.floor(Date.now() / 1000);
  const notAfter = now + years * YEAR_SECONDS;
  const der = await buildCertificate({
    serial,
    issuerName: parent?.name ?? name,
    signer: parent?.signer ?? signer,
    notBefore: now - BACKDATE_SECONDS,
    notAfter,
    commonName,
    spki,
    extensions: (ski) => [CA_KEY_USAGE, CA_CONSTRAINTS, ski, authorityKeyIdentifier(parent?.keyId ?? keyId)],
  });
  const pem = toPem('CERTIFICATE', der);
  return { name, keyId, keyBits: publicKeyBits(spki), der, pem, serial, notAfter, signer };
}

/**
 * A certificate for the HTTPS listener, issued by the root as such a set-up would not do in production.
 *
 * @param {Authority} root
 * @param {string} host listening address, named besides localhost
 * @returns {Promise<{key: string, cert: string}>} PEM
 */
export async function createServerCertificate(root, host) {
  const { privateKey, spki } = await newKeyPair({ type: 'ec', bits: 256 });
  const isIp = /^[0-9.]+$|:/.test(host);
  const names = subjectAltName({
    dns: [...new Set(['localhost', ...(isIp ? [] : [host])])],
    emails: [],
    ips: [...new Set(['127.0.0.1', '::1', ...(isIp ? [host] : [])])],
  });
  const now = Math.floor(Date.now() / 1000);
  const der = await buildCertificate({
    serial: newSerial(),
    issuerName: root.name,
    signer: root.signer,
    notBefore: now - BACKDATE_SECONDS,
    notAfter: now + YEAR_SECONDS,
    commonName: 'localhost',
    spki,
    extensions: (ski) => [
      LEAF_KEY_USAGE,
      LEAF_EXTENDED_KEY_USAGE,
      ski,
      authorityKeyIdentifier(root.keyId),
      names,
    ],
  });
  const key = exportPrivateKey(privateKey, true);
  return { key: `${toPem(key.label, key.der)}\n`, cert: `${toPem('CERTIFICATE', der)}\n` };
}
