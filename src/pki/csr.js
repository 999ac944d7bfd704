/**
 * Certificate signing requests (RFC 2986), built by pkijs and signed by `node:crypto`, since pkijs 4 cannot sign with
 * Ed25519. The private key is not kept.
 */
import { generateKeyPair, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { OID } from './certificate-der.js';
import { NULL, nameOf, oid, sequence } from './der-writer.js';
import { ipBytes, normalizeName, splitNames, writeAlternativeNames } from './names.js';
import { encodePem } from './text.js';

const generate = promisify(generateKeyPair);
const signAsync = promisify(sign);

/**
 * @typedef {'rsa-2048' | 'rsa-3072' | 'rsa-4096' | 'ec-256' | 'ec-384' | 'ed25519'} CsrKeyType
 * @typedef {{commonName?: string, altNames?: readonly string[], ipSans?: readonly string[]}} CsrNames `altNames`: DNS
 *   names or, with an at sign, e-mail addresses; `ipSans`: IP addresses that ipBytes accepts
 */

/** @param {number} modulusLength */
const rsa = (modulusLength) => ({
  make: () => generate('rsa', { modulusLength }),
  hash: 'sha256',
  algorithm: sequence(oid('1.2.840.113549.1.1.11'), NULL),
});

/** @param {string} namedCurve @param {string} hash @param {string} id of the signature algorithm */
const ec = (namedCurve, hash, id) => ({
  make: () => generate('ec', { namedCurve }),
  hash,
  algorithm: sequence(oid(id)),
});

/** `algorithm`: AlgorithmIdentifier of the signatures. */
export const KEY_TYPES = Object.freeze({
  'rsa-2048': rsa(2048),
  'rsa-3072': rsa(3072),
  'rsa-4096': rsa(4096),
  'ec-256': ec('P-256', 'sha256', '1.2.840.10045.4.3.2'),
  'ec-384': ec('P-384', 'sha384', '1.2.840.10045.4.3.3'),
  ed25519: { make: () => generate('ed25519', {}), hash: null, algorithm: sequence(oid('1.3.101.112')) },
});

/** @param {CsrNames & {keyType: CsrKeyType}} options */
export async function createCsr({ keyType, commonName = '', altNames = [], ipSans = [] }) {
  const [pkijs, asn1js] = await Promise.all([import('pkijs'), import('asn1js')]);
  const { make, hash, algorithm } = KEY_TYPES[keyType];
  const { publicKey, privateKey } = await make();
  const spki = publicKey.export({ format: 'der', type: 'spki' });
  const ip = ipSans.map((text) => /** @type {Buffer} */ (ipBytes(text)));
  const extensions = writeAlternativeNames({
    ...splitNames(altNames.map((name) => normalizeName(name))),
    ip,
  });
  const schemaOf = (/** @type {Buffer} */ der) => asn1js.fromBER(der).result;
  const csr = new pkijs.CertificationRequest();
  csr.subject = new pkijs.RelativeDistinguishedNames({ schema: schemaOf(nameOf(commonName)) });
  csr.subjectPublicKeyInfo = new pkijs.PublicKeyInfo({ schema: schemaOf(spki) });
  csr.signatureAlgorithm = new pkijs.AlgorithmIdentifier({ schema: schemaOf(algorithm) });
  csr.attributes = extensions.map(
    (value) => new pkijs.Attribute({ type: OID.extensionRequest, values: [schemaOf(sequence(value))] }),
  );
  csr.tbsView = new Uint8Array(csr.toSchema(true).valueBlock.value[0].toBER());
  csr.signatureValue = new asn1js.BitString({ valueHex: await signAsync(hash, csr.tbsView, privateKey) });
  return { pem: encodePem('CERTIFICATE REQUEST', Buffer.from(csr.toSchema().toBER())), spki };
}
