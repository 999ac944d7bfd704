/** Text forms of bytes: PEM and Vault's colon-separated hex. */

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

/**
 * @param {Buffer} bytes
 * @returns {string} `1a:2b:...`
 */
export function colonHex(bytes) {
  return bytes.toString('hex').replace(/..(?!$)/g, '$&:');
}
