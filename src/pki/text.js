/** Text forms: PEM (RFC 7468), and serial numbers in hexadecimal. */
import { usageError } from '../common/errors.js';

const BEGIN = '-----BEGIN ';
const MAX_LABEL = 64;

/** @typedef {{label: string, body: string | null}} PemBlock `body` is base64, null where the END line is missing */

/** @param {string} text @returns {Generator<PemBlock>} in time linear in the text */
export function* pemBlocks(text) {
  let at = text.indexOf(BEGIN);
  while (at >= 0) {
    const from = at + BEGIN.length;
    const labelEnd = text.indexOf('-----', from);
    if (labelEnd < 0) {
      yield { label: '', body: null };
      return;
    }
    if (labelEnd - from > MAX_LABEL) {
      at = text.indexOf(BEGIN, from);
      continue;
    }
    const label = text.slice(from, labelEnd);
    const bodyEnd = text.indexOf(`-----END ${label}-----`, labelEnd);
    const next = text.indexOf(BEGIN, labelEnd);
    const complete = bodyEnd >= 0 && (next < 0 || bodyEnd < next);
    yield { label, body: complete ? text.slice(labelEnd + 5, bodyEnd) : null };
    at = next;
  }
}

/**
 * @param {string} text
 * @param {RegExp} label
 * @returns {Buffer | null} DER of the first block with such a label, null when there is none or it is cut off
 */
export function decodePem(text, label) {
  for (const block of pemBlocks(text)) {
    if (label.test(block.label)) return block.body === null ? null : Buffer.from(block.body, 'base64');
  }
  return null;
}

/**
 * @param {string} label
 * @param {Uint8Array} der
 * @returns {string} with lines of 64 characters and a newline at the end
 */
export function encodePem(label, der) {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

/** RFC 5280 section 4.1.2.2 allows 20 octets; some CAs are more generous. */
const MAX_SERIAL_BYTES = 64;

/**
 * @param {Uint8Array} serial raw INTEGER contents
 * @returns {string} as Vault writes it: `1a:2b:3c`, without the leading zero
 */
export function serialHex(serial) {
  const magnitude = serial.length > 1 && serial[0] === 0 ? serial.subarray(1) : serial;
  return Array.from(magnitude, (octet) => octet.toString(16).padStart(2, '0')).join(':');
}

/**
 * @param {string} text hex digits, in pairs with colons (or dashes) between them or all in one
 * @param {string} [name] what to call it in an error
 * @returns {Buffer} raw INTEGER contents: minimal, a zero before a set high bit (X.690 section 8.3)
 */
export function parseSerial(text, name = 'serial') {
  const source = text.trim();
  const plain = /^(?:0x)?([0-9a-f]+)$/i.exec(source)?.[1];
  const paired = /^[0-9a-f]{1,2}(?:[:-][0-9a-f]{1,2})*$/i.test(source);
  if ((plain === undefined && !paired) || source.length > 3 * MAX_SERIAL_BYTES) {
    const shown = JSON.stringify(source.slice(0, 80));
    throw usageError(
      'bad_serial',
      `${name} is ${shown}, which is not a certificate serial number.`,
      'Give it in hexadecimal, such as 1a:2b:3c or 1a2b3c.',
    );
  }
  const digits =
    plain ??
    source
      .split(/[:-]/)
      .map((octet) => octet.padStart(2, '0'))
      .join('');
  const significant = digits.replace(/^0+(?=.)/, '');
  const bytes = Buffer.from(significant.length % 2 === 0 ? significant : `0${significant}`, 'hex');
  return bytes[0] > 0x7f ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes;
}
