/** Certificates for TLS tests, made in memory: `npm test` needs nothing but Node. */
import { webcrypto } from 'node:crypto';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';

const crypto = webcrypto;
const engine = new pkijs.CryptoEngine({ name: 'node', crypto: /** @type {any} */ (webcrypto) });
pkijs.setEngine('node', engine);

const DAY_MS = 86_400_000;
let serial = 1;

/** @typedef {{pem: string, keyPem: string, keys: webcrypto.CryptoKeyPair, certificate: pkijs.Certificate}} Made */

/**
 * @param {{name: string, altNames?: pkijs.GeneralName[], issuer?: Made, isCa?: boolean, fromMs?: number, toMs?: number}} what
 *   `fromMs` and `toMs`: validity, relative to now; without `issuer`: self-signed
 * @returns {Promise<Made>}
 */
export async function makeCertificate({
  name,
  altNames = [],
  issuer,
  isCa = false,
  fromMs = -DAY_MS,
  toMs = DAY_MS,
}) {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const keys = /** @type {webcrypto.CryptoKeyPair} */ (
    await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  );
  const certificate = new pkijs.Certificate({
    version: 2,
    serialNumber: new asn1js.Integer({ value: serial++ }),
  });
  const commonName = new pkijs.AttributeTypeAndValue({
    type: '2.5.4.3',
    value: new asn1js.Utf8String({ value: name }),
  });
  certificate.subject.typesAndValues.push(commonName);
  if (issuer) certificate.issuer = issuer.certificate.subject;
  else certificate.issuer.typesAndValues.push(commonName);
  certificate.notBefore.value = new Date(Date.now() + fromMs);
  certificate.notAfter.value = new Date(Date.now() + toMs);
  certificate.extensions = extensions(isCa, altNames);
  await certificate.subjectPublicKeyInfo.importKey(/** @type {any} */ (keys.publicKey));
  await certificate.sign(/** @type {any} */ ((issuer?.keys ?? keys).privateKey), 'SHA-256');
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey));
  const der = Buffer.from(certificate.toSchema().toBER());
  return { certificate, keys, pem: toPem('CERTIFICATE', der), keyPem: toPem('PRIVATE KEY', pkcs8) };
}

/** @param {string} name */
export const dnsName = (name) => new pkijs.GeneralName({ type: 2, value: name });

/** @param {string} address IPv4 */
export const ipAddress = (address) =>
  new pkijs.GeneralName({
    type: 7,
    value: new asn1js.OctetString({ valueHex: Uint8Array.from(address.split('.').map(Number)).buffer }),
  });

/**
 * @param {boolean} isCa
 * @param {pkijs.GeneralName[]} altNames
 */
function extensions(isCa, altNames) {
  const constraints = new pkijs.BasicConstraints({ cA: isCa });
  const all = [
    new pkijs.Extension({ extnID: '2.5.29.19', critical: true, extnValue: constraints.toSchema().toBER() }),
  ];
  if (altNames.length > 0) {
    const names = new pkijs.GeneralNames({ names: altNames });
    all.push(new pkijs.Extension({ extnID: '2.5.29.17', extnValue: names.toSchema().toBER() }));
  }
  return all;
}

/**
 * @param {string} label
 * @param {Buffer} der
 */
function toPem(label, der) {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
