/** Reads and writes PEM (RFC 7468) and hexadecimal serial numbers. */
import { usageError } from '../common/errors.js';
import { asBuffer } from './der.js';

const BEGIN = '-----BEGIN ';
const MAX_LABEL = 64;

/** @typedef {{label: string, body: string | null}} PemBlock `body` is base64, null where the END line is missing */

/** @param {string} text @returns {Generator<PemBlock>} in linear time: each block is searched up to the next one */
export function* pemBlocks(text) {
  let at = text.indexOf(BEGIN);
  while (at >= 0) {
    const next = text.indexOf(BEGIN, at + 1);
    const block = text.slice(at + BEGIN.length, next < 0 ? undefined : next);
    const labelEnd = block.slice(0, MAX_LABEL + 5).indexOf('-----');
    const label = block.slice(0, Math.max(0, labelEnd));
    const bodyEnd = labelEnd < 0 ? -1 : block.indexOf(`-----END ${label}-----`, labelEnd);
    yield { label, body: bodyEnd < 0 ? null : block.slice(labelEnd + 5, bodyEnd) };
    at = next;
  }
}

/** Without blanks. */
const BASE64_LINES = /^(?:[A-Za-z0-9+/]+\n)*(?:[A-Za-z0-9+/]*={1,2}\n)?$/;

/** @param {string | null} body of a block @returns {Buffer | null} null: truncated, or not base64 */
export function decodeBody(body) {
  if (body === null) return null;
  const signs = body.replaceAll('\n', '');
  const der = Buffer.from(signs, 'base64');
  // For most, encoding it again takes half the time of the pattern.
  const isPlain = body.startsWith('\n') && body.endsWith('\n') && !body.includes('\n\n');
  if (isPlain && !body.includes('=\n=') && der.toString('base64') === signs) return der;
  // As OpenSSL reads it: BEGIN and END on lines of their own; after an empty line, all lines but the last have 64 characters.
  const [begin, ...lines] = body.split('\n').map((line) => line.trimEnd());
  if (begin !== '' || lines.pop() !== '' || !body.endsWith('\n') || /[^\n\r\t -~]/.test(body)) return null;
  const isEmpty = lines[0] === '';
  if (isEmpty) lines.shift();
  const last = lines.length - 1;
  if (isEmpty && lines.some(({ length }, i) => length > 64 || (length < 64 && i < last))) return null;
  const text = lines.map((line) => `${line.replace(/[ \t]/g, '')}\n`).join('');
  return BASE64_LINES.test(text) && text.replaceAll('\n', '').length % 4 === 0 ? der : null;
}

/** @param {string} text @param {RegExp} label @returns {Buffer | null} DER; null: not base64, or more than one such block */
export function decodePem(text, label) {
  const block = text.trim();
  const labelEnd = block.indexOf('-----', BEGIN.length);
  const found = block.slice(BEGIN.length, Math.max(0, labelEnd));
  const end = `-----END ${found}-----`;
  const isBlock = found !== '' && block.startsWith(BEGIN) && block.endsWith(end);
  return isBlock && label.test(found) ? decodeBody(block.slice(labelEnd + 5, -end.length)) : null;
}

/** @param {string} label @param {Uint8Array} der @returns {string} lines of 64 characters, a newline at the end */
export function encodePem(label, der) {
  const lines = asBuffer(der)
    .toString('base64')
    .replace(/.{64}(?!$)/g, '$&\n');
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

/** RFC 5280 section 4.1.2.2 allows 20 octets; some CAs use more. */
const MAX_SERIAL_BYTES = 64;

/** Vault's form: `1a:2b:3c`, without the leading zero. @param {Uint8Array} serial raw INTEGER contents */
export const serialHex = (serial) =>
  colonHex(serial.length > 1 && serial[0] === 0 ? serial.subarray(1) : serial);

/** @param {Uint8Array} bytes @returns {string} `1a:2b:3c` */
export const colonHex = (bytes) =>
  asBuffer(bytes)
    .toString('hex')
    .replace(/..(?!$)/g, '$&:');

/**
 * @param {string} text hex digits, with or without colons (or dashes) between the pairs
 * @param {string} [name] for the error
 * @returns {Buffer} raw INTEGER contents: minimal, a zero before a set high bit (X.690 section 8.3)
 */
export function parseSerial(text, name = 'serial') {
  const source = text.trim();
  const isHex = /^(?:0x)?[0-9a-f]+$|^[0-9a-f]{1,2}(?:[:-][0-9a-f]{1,2})*$/i.test(source);
  if (!isHex || source.length > 3 * MAX_SERIAL_BYTES) {
    const message = `${name} is ${JSON.stringify(source.slice(0, 80))}, which is not a certificate serial number.`;
    throw usageError('bad_serial', message, 'Use hexadecimal, such as 1a:2b:3c or 1a2b3c.');
  }
  const pairs = source.replace(/^0x/i, '').split(/[:-]/);
  const digits = pairs.length > 1 ? pairs.map((pair) => pair.padStart(2, '0')).join('') : pairs[0];
  const significant = digits.replace(/^0+(?=.)/, '');
  const bytes = Buffer.from(significant.length % 2 === 0 ? significant : `0${significant}`, 'hex');
  return bytes[0] > 0x7f ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes;
}
