/**
 * Certificate signing requests (RFC 2986), built by pkijs, which is loaded on first use. They are signed by `node:crypto`,
 * not by WebCrypto, for which pkijs 4 knows no Ed25519. The private key is dropped at once: it is never needed.
 */
import { generateKeyPair, sign } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { usageError } from '../common/errors.js';
import { OID } from './certificate-der.js';
import { dnsForm, emailForm, ipBytes } from './names.js';
import { encodePem } from './text.js';

/** @import { KeyPairKeyObjectResult } from 'node:crypto' */
/** @import { CertificationRequest } from 'pkijs' */

const generate = promisify(generateKeyPair);
const signAsync = promisify(sign);

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';

/**
 * @typedef {'rsa-2048' | 'rsa-3072' | 'rsa-4096' | 'ec-256' | 'ec-384' | 'ed25519'} CsrKeyType
 * @typedef {{commonName?: string, altNames?: readonly string[], ipSans?: readonly string[]}} CsrNames
 * @typedef {{pem: string, spki: Buffer}} Csr `spki`: its public key, raw SubjectPublicKeyInfo
 */

/** @type {Readonly<Record<CsrKeyType, {make: () => Promise<KeyPairKeyObjectResult>, hash: string | null, oid: string}>>} */
const KEY_TYPES = Object.freeze({
  'rsa-2048': rsa(2048),
  'rsa-3072': rsa(3072),
  'rsa-4096': rsa(4096),
  'ec-256': {
    make: () => generate('ec', { namedCurve: 'P-256' }),
    hash: 'sha256',
    oid: '1.2.840.10045.4.3.2',
  },
  'ec-384': {
    make: () => generate('ec', { namedCurve: 'P-384' }),
    hash: 'sha384',
    oid: '1.2.840.10045.4.3.3',
  },
  ed25519: { make: () => generate('ed25519', {}), hash: null, oid: '1.3.101.112' },
});

/** Names of the key types, for choices on the command line. */
export const CSR_KEY_TYPES = Object.freeze(/** @type {CsrKeyType[]} */ (Object.keys(KEY_TYPES)));

/** @param {number} modulusLength */
function rsa(modulusLength) {
  return { make: () => generate('rsa', { modulusLength }), hash: 'sha256', oid: '1.2.840.113549.1.1.11' };
}

/**
 * @param {CsrNames & {keyType: CsrKeyType}} options altNames: DNS names or, with an at sign, e-mail addresses
 * @returns {Promise<Csr>}
 */
export async function createCsr({ keyType, ...names }) {
  const { CertificationRequest, PublicKeyInfo, AlgorithmIdentifier } = await import('pkijs');
  const asn1js = await import('asn1js');
  const type = Object.hasOwn(KEY_TYPES, keyType) ? KEY_TYPES[keyType] : null;
  if (type === null) {
    throw usageError(
      'bad_key_type',
      `Key type is ${JSON.stringify(keyType)}.`,
      `Use one of ${CSR_KEY_TYPES.join(', ')}.`,
    );
  }
  const { publicKey, privateKey } = await type.make();
  const spki = publicKey.export({ format: 'der', type: 'spki' });
  const csr = new CertificationRequest();
  csr.subjectPublicKeyInfo = new PublicKeyInfo({ schema: asn1js.fromBER(spki).result });
  await addNames(csr, names);
  csr.signatureAlgorithm = new AlgorithmIdentifier({
    algorithmId: type.oid,
    ...(keyType.startsWith('rsa') ? { algorithmParams: new asn1js.Null() } : {}),
  });
  csr.tbsView = new Uint8Array(csr.toSchema(true).valueBlock.value[0].toBER());
  const signature = await signAsync(type.hash, csr.tbsView, privateKey);
  csr.signatureValue = new asn1js.BitString({ valueHex: signature });
  return { pem: encodePem('CERTIFICATE REQUEST', Buffer.from(csr.toSchema().toBER())), spki };
}

/** @param {CertificationRequest} csr @param {CsrNames} names */
async function addNames(csr, { commonName = '', altNames = [], ipSans = [] }) {
  const { Attribute, AttributeTypeAndValue, Extension, Extensions, GeneralName, GeneralNames } = await import(
    'pkijs'
  );
  const asn1js = await import('asn1js');
  if (commonName === '') {
    // pkijs makes one empty RelativeDistinguishedName of none, where one has at least an attribute (RFC 5280, 4.1.2.4).
    csr.subject.valueBeforeDecode = new asn1js.Sequence().toBER();
  } else {
    const value = new asn1js.Utf8String({ value: commonName });
    csr.subject.typesAndValues.push(new AttributeTypeAndValue({ type: OID.commonName, value }));
  }
  csr.attributes = [];
  const names = [
    ...altNames.map((name) =>
      name.includes('@')
        ? new GeneralName({ type: 1, value: emailForm(name) })
        : new GeneralName({ type: 2, value: dnsForm(name) }),
    ),
    ...ipSans.map(
      (ip) => new GeneralName({ type: 7, value: new asn1js.OctetString({ valueHex: addressOf(ip) }) }),
    ),
  ];
  if (names.length === 0) return;
  const extnValue = new GeneralNames({ names }).toSchema().toBER();
  const extension = new Extension({ extnID: OID.subjectAltName, critical: false, extnValue });
  const values = [new Extensions({ extensions: [extension] }).toSchema()];
  csr.attributes.push(new Attribute({ type: EXTENSION_REQUEST, values }));
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
 *
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
