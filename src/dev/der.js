/** DER (X.690 section 10), object identifiers, and the text forms of bytes: PEM and colon-separated hex. */

/** @param {number} tag identifier octet @param {...Uint8Array} parts contents, in order @returns {Buffer} */
export function element(tag, ...parts) {
  let length = 0;
  for (const part of parts) length += part.length;
  const octets = length < 0x80 ? 0 : length < 0x100 ? 1 : length < 0x10000 ? 2 : length < 0x1000000 ? 3 : 4;
  const out = Buffer.allocUnsafe(2 + octets + length);
  out[0] = tag;
  out[1] = octets === 0 ? length : 0x80 | octets;
  if (octets > 0) out.writeUIntBE(length, 2, octets);
  let at = 2 + octets;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** @param {...Uint8Array} parts */
export const sequence = (...parts) => element(0x30, ...parts);

/** @param {...Uint8Array} parts */
export const set = (...parts) => element(0x31, ...parts);

/**
 * [number] EXPLICIT, or IMPLICIT over a constructed type.
 *
 * @param {number} number
 * @param {...Uint8Array} parts
 */
export const explicit = (number, ...parts) => element(0xa0 | number, ...parts);

/**
 * [number] IMPLICIT over a primitive type.
 *
 * @param {number} number
 * @param {Uint8Array} contents
 */
export const implicit = (number, contents) => element(0x80 | number, contents);

/** @param {Uint8Array} contents */
export const octetString = (contents) => element(0x04, contents);

const NO_UNUSED_BITS = Buffer.from([0]);

/** @param {Uint8Array} contents whole octets */
export const bitString = (contents) => element(0x03, NO_UNUSED_BITS, contents);

/** @param {Uint8Array} contents already minimal two's complement, as serial numbers are kept */
export const rawInteger = (contents) => element(0x02, contents);

/** @param {number} value 0 to 2^31 - 1 */
export function integer(value) {
  const bytes = [];
  let rest = value;
  do {
    bytes.unshift(rest & 0xff);
    rest >>>= 8;
  } while (rest > 0);
  if (bytes[0] & 0x80) bytes.unshift(0);
  return rawInteger(Buffer.from(bytes));
}

/** @param {number} value */
export const enumerated = (value) => element(0x0a, Buffer.from([value]));

export const TRUE = Buffer.from([0x01, 0x01, 0xff]);
export const NULL = Buffer.from([0x05, 0x00]);

/** @param {string} dotted */
export function oid(dotted) {
  const [first, second, ...rest] = dotted.split('.').map(Number);
  const bytes = [];
  for (const arc of [first * 40 + second, ...rest]) {
    const group = [arc & 0x7f];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) {
      group.unshift(0x80 | (left & 0x7f));
    }
    bytes.push(...group);
  }
  return element(0x06, Buffer.from(bytes));
}

/** @param {string} text */
export const ia5 = (text) => Buffer.from(text, 'latin1');

/**
 * DirectoryString as Go writes it: PrintableString where the characters allow it, else UTF8String.
 *
 * @param {string} text
 */
export function directoryString(text) {
  return /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(text)
    ? element(0x13, Buffer.from(text, 'latin1'))
    : element(0x0c, Buffer.from(text, 'utf8'));
}

/**
 * `Time` of RFC 5280 section 4.1.2.5: UTCTime up to 2049, then GeneralizedTime.
 *
 * @param {number} epochSeconds
 */
export function time(epochSeconds) {
  const digits = timeDigits(epochSeconds);
  return digits < '2050'
    ? element(0x17, Buffer.from(digits.slice(2), 'latin1'))
    : element(0x18, Buffer.from(digits, 'latin1'));
}

/** @param {number} epochSeconds */
export const generalizedTime = (epochSeconds) =>
  element(0x18, Buffer.from(timeDigits(epochSeconds), 'latin1'));

/** @param {number} epochSeconds whole @returns {string} `YYYYMMDDHHMMSSZ` */
function timeDigits(epochSeconds) {
  const iso = new Date(epochSeconds * 1000).toISOString();
  return `${iso.slice(0, 4)}${iso.slice(5, 7)}${iso.slice(8, 10)}${iso.slice(11, 13)}${iso.slice(14, 16)}${iso.slice(17, 19)}Z`;
}

export const OID = Object.freeze({
  commonName: '2.5.4.3',
  extensionRequest: '1.2.840.113549.1.9.14',
  subjectAltName: '2.5.29.17',
  ocspBasic: '1.3.6.1.5.5.7.48.1.1',
  ocspNonce: '1.3.6.1.5.5.7.48.1.2',
});

export const OID_DER = Object.freeze({
  commonName: oid(OID.commonName),
  subjectKeyIdentifier: oid('2.5.29.14'),
  keyUsage: oid('2.5.29.15'),
  subjectAltName: oid(OID.subjectAltName),
  basicConstraints: oid('2.5.29.19'),
  crlNumber: oid('2.5.29.20'),
  crlDistributionPoints: oid('2.5.29.31'),
  authorityKeyIdentifier: oid('2.5.29.35'),
  extendedKeyUsage: oid('2.5.29.37'),
  authorityInfoAccess: oid('1.3.6.1.5.5.7.1.1'),
  ocsp: oid('1.3.6.1.5.5.7.48.1'),
  caIssuers: oid('1.3.6.1.5.5.7.48.2'),
  ocspBasic: oid(OID.ocspBasic),
  ocspNonce: oid(OID.ocspNonce),
  serverAuth: oid('1.3.6.1.5.5.7.3.1'),
  clientAuth: oid('1.3.6.1.5.5.7.3.2'),
  sha256WithRsa: oid('1.2.840.113549.1.1.11'),
  ecdsaWithSha256: oid('1.2.840.10045.4.3.2'),
});

/** Signature algorithms a CSR may be signed with: OID to Node's digest name, null where the algorithm has its own. */
export const SIGNATURE_DIGEST = Object.freeze(
  /** @type {Record<string, string | null>} */ ({
    '1.2.840.113549.1.1.5': 'sha1',
    '1.2.840.113549.1.1.11': 'sha256',
    '1.2.840.113549.1.1.12': 'sha384',
    '1.2.840.113549.1.1.13': 'sha512',
    '1.2.840.10045.4.1': 'sha1',
    '1.2.840.10045.4.3.2': 'sha256',
    '1.2.840.10045.4.3.3': 'sha384',
    '1.2.840.10045.4.3.4': 'sha512',
    '1.3.101.112': null,
  }),
);

/** CertID hash algorithms that the responder supports, as Vault does. */
export const CERT_ID_DIGEST = Object.freeze(
  /** @type {Record<string, string>} */ ({
    '1.3.14.3.2.26': 'sha1',
    '2.16.840.1.101.3.4.2.1': 'sha256',
    '2.16.840.1.101.3.4.2.2': 'sha384',
    '2.16.840.1.101.3.4.2.3': 'sha512',
  }),
);

/**
 * @param {string} label e.g. `CERTIFICATE`
 * @param {Uint8Array} der
 * @returns {string} no newline at the end, as in Vault's JSON
 */
export function toPem(label, der) {
  const base64 = Buffer.from(der.buffer, der.byteOffset, der.length).toString('base64');
  return `-----BEGIN ${label}-----\n${base64.replace(/.{64}(?!$)/g, '$&\n')}\n-----END ${label}-----`;
}

/**
 * The bytes of the first PEM block; labels are not compared.
 *
 * @param {string} text
 * @returns {Buffer | null} null when there is no block
 */
export function fromPem(text) {
  const match = /-----BEGIN [A-Z0-9 ]+-----([A-Za-z0-9+/=\s]+)-----END [A-Z0-9 ]+-----/.exec(text);
  return match === null ? null : Buffer.from(match[1], 'base64');
}

/** @param {Buffer} bytes @returns {string} `1a:2b:...` */
export function colonHex(bytes) {
  return bytes.toString('hex').replace(/..(?!$)/g, '$&:');
}
