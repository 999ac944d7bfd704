/**
 * Certificate signing requests (RFC 2986), built by pkijs and signed by `node:crypto`, since pkijs 4 cannot sign with Ed25519. The
 * private key is dropped at once: it is never needed.
 */
import { generateKeyPair, sign } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { usageError } from '../common/errors.js';
import { OID } from './certificate-der.js';
import { NULL, oid, sequence } from './der-writer.js';
import { dnsForm, emailForm, ipBytes } from './names.js';
import { encodePem } from './text.js';

/** @import { KeyPairKeyObjectResult } from 'node:crypto' */
/** @import { CertificationRequest } from 'pkijs' */

const generate = promisify(generateKeyPair);
const signAsync = promisify(sign);

/**
 * @typedef {'rsa-2048' | 'rsa-3072' | 'rsa-4096' | 'ec-256' | 'ec-384' | 'ed25519'} CsrKeyType
 * @typedef {{commonName?: string, altNames?: readonly string[], ipSans?: readonly string[]}} CsrNames
 * @typedef {{pem: string, spki: Buffer}} Csr `spki`: its public key, raw SubjectPublicKeyInfo
 */

/** `algorithm`: AlgorithmIdentifier of its signatures. @type {Readonly<Record<CsrKeyType, {make: () => Promise<KeyPairKeyObjectResult>, hash: string | null, algorithm: Buffer}>>} */
export const KEY_TYPES = Object.freeze({
  'rsa-2048': rsa(2048),
  'rsa-3072': rsa(3072),
  'rsa-4096': rsa(4096),
  'ec-256': ec('P-256', 'sha256', '1.2.840.10045.4.3.2'),
  'ec-384': ec('P-384', 'sha384', '1.2.840.10045.4.3.3'),
  ed25519: { make: () => generate('ed25519', {}), hash: null, algorithm: sequence(oid('1.3.101.112')) },
});

/** @param {number} modulusLength */
function rsa(modulusLength) {
  const algorithm = sequence(oid('1.2.840.113549.1.1.11'), NULL);
  return { make: () => generate('rsa', { modulusLength }), hash: 'sha256', algorithm };
}

/** @param {string} namedCurve @param {string} hash @param {string} id of the signature algorithm */
function ec(namedCurve, hash, id) {
  return { make: () => generate('ec', { namedCurve }), hash, algorithm: sequence(oid(id)) };
}

/**
 * @param {CsrNames & {keyType: CsrKeyType}} options altNames: DNS names or, with an at sign, e-mail addresses
 * @returns {Promise<Csr>}
 */
export async function createCsr({ keyType, ...names }) {
  const [pkijs, asn1js] = await Promise.all([import('pkijs'), import('asn1js')]);
  const { make, hash, algorithm } = KEY_TYPES[keyType];
  const { publicKey, privateKey } = await make();
  const spki = publicKey.export({ format: 'der', type: 'spki' });
  const csr = new pkijs.CertificationRequest();
  csr.subjectPublicKeyInfo = new pkijs.PublicKeyInfo({ schema: asn1js.fromBER(spki).result });
  csr.signatureAlgorithm = new pkijs.AlgorithmIdentifier({ schema: asn1js.fromBER(algorithm).result });
  addNames(csr, names, pkijs, asn1js);
  csr.tbsView = new Uint8Array(csr.toSchema(true).valueBlock.value[0].toBER());
  const signature = await signAsync(hash, csr.tbsView, privateKey);
  csr.signatureValue = new asn1js.BitString({ valueHex: signature });
  return { pem: encodePem('CERTIFICATE REQUEST', Buffer.from(csr.toSchema().toBER())), spki };
}

/**
 * @param {CertificationRequest} csr
 * @param {CsrNames} names
 * @param {typeof import('pkijs')} pkijs
 * @param {typeof import('asn1js')} asn1js
 */
function addNames(csr, { commonName = '', altNames = [], ipSans = [] }, pkijs, asn1js) {
  if (commonName === '') {
    // pkijs makes one empty RelativeDistinguishedName of none, where one has at least an attribute (RFC 5280, 4.1.2.4).
    csr.subject.valueBeforeDecode = new asn1js.Sequence().toBER();
  } else {
    const value = new asn1js.Utf8String({ value: commonName });
    csr.subject.typesAndValues.push(new pkijs.AttributeTypeAndValue({ type: OID.commonName, value }));
  }
  csr.attributes = [];
  const names = [
    ...altNames.map((name) => {
      const isEmail = name.includes('@');
      return new pkijs.GeneralName({
        type: isEmail ? 1 : 2,
        value: isEmail ? emailForm(name) : dnsForm(name),
      });
    }),
    ...ipSans.map((ip) => {
      const value = new asn1js.OctetString({ valueHex: addressOf(ip) });
      return new pkijs.GeneralName({ type: 7, value });
    }),
  ];
  if (names.length === 0) return;
  const extnValue = new pkijs.GeneralNames({ names }).toSchema().toBER();
  const extension = new pkijs.Extension({ extnID: OID.subjectAltName, critical: false, extnValue });
  const values = [new pkijs.Extensions({ extensions: [extension] }).toSchema()];
  csr.attributes.push(new pkijs.Attribute({ type: OID.extensionRequest, values }));
}

/** @param {string} ip */
function addressOf(ip) {
  const bytes = ipBytes(ip);
  if (bytes !== null) return bytes;
  throw usageError(
    'bad_ip',
    `${JSON.stringify(ip.slice(0, 80))} is not an IP address.`,
    'Use one such as 10.0.0.1 or ::1.',
  );
}

/**
 * Many CSRs, as many at a time as there are processors.
 * @param {object} options
 * @param {CsrKeyType} options.keyType
 * @param {number} options.size
 * @param {(index: number) => CsrNames} options.makeName
 * @param {(done: number, size: number) => void} [options.onProgress] after each
 * @param {AbortSignal} [options.signal] no further one is begun, and its reason is thrown
 * @param {number} [options.concurrency]
 * @returns {Promise<Csr[]>} by index
 */
export async function createCsrPool({
  keyType,
  size,
  makeName,
  onProgress,
  signal,
  concurrency = availableParallelism(),
}) {
  const { default: pLimit } = await import('p-limit');
  const limit = pLimit(Math.max(1, concurrency));
  let done = 0;
  const one = async (/** @type {number} */ index) => {
    signal?.throwIfAborted();
    const csr = await createCsr({ keyType, ...makeName(index) });
    signal?.throwIfAborted();
    done += 1;
    onProgress?.(done, size);
    return csr;
  };
  try {
    return await Promise.all(Array.from({ length: size }, (_, index) => limit(one, index)));
  } finally {
    limit.clearQueue(); // after a failure: what has not begun never will
  }
}
