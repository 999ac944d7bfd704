/** Reads, writes and compares subject alternative names (RFC 5280 section 4.2.1.6). */
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { badValue } from '../common/errors.js';
import { OID } from './certificate-der.js';
import { contextTag, readWhole, TAG } from './der.js';
import { extension, implicit, sequence } from './der-writer.js';

/** @typedef {{dns: string[], email: string[], ip: Buffer[], others: Buffer[]}} AlternativeNames octets; `others`: e.g. URIs */

/** Tag numbers of GeneralNames. */
const NUMBER = Object.freeze({ email: 1, dns: 2, ip: 7 });
const TEXTS = /** @type {const} */ (['dns', 'email']);

/**
 * @param {Uint8Array | undefined} value extnValue of subjectAltName @returns {AlternativeNames} as encoded
 * @throws {DerError}
 */
export function readAlternativeNames(value) {
  /** @type {AlternativeNames} */
  const names = { dns: [], email: [], ip: [], others: [] };
  if (value === undefined) return names;
  const list = readWhole(value, (reader) => reader.enter(TAG.sequence));
  while (!list.atEnd) {
    const { tag } = list;
    const name = list.read();
    const kind = TEXTS.find((text) => tag === contextTag(NUMBER[text], false));
    if (kind !== undefined) names[kind].push(name.toString('latin1'));
    else names[tag === contextTag(NUMBER.ip, false) ? 'ip' : 'others'].push(name);
  }
  return names;
}

/** @param {string} name @returns {Buffer} IA5String @throws {PkiLoadError} latin1 would turn U+0141 into A */
function ascii(name) {
  if (/^[\x20-\x7e]*$/.test(name)) return Buffer.from(name, 'latin1');
  const remedy = 'Use ASCII before an at sign, and a valid domain name.';
  throw badValue('An alternative name', name, 'not ASCII (RFC 5280, 4.2.1.6)', remedy, 'bad_name');
}

/** @param {Omit<AlternativeNames, 'others'>} names @returns {Buffer[]} the extension; empty without names @throws {PkiLoadError} */
export function writeAlternativeNames({ dns, email, ip }) {
  const encoded = [
    ...dns.map((name) => implicit(NUMBER.dns, ascii(name))),
    ...email.map((address) => implicit(NUMBER.email, ascii(address))),
    ...ip.map((bytes) => implicit(NUMBER.ip, bytes)),
  ];
  return encoded.length === 0 ? [] : [extension(OID.subjectAltName, sequence(...encoded))];
}

/** Separates DNS names from e-mail addresses, which contain an at sign. @param {readonly string[]} names */
export function splitNames(names) {
  const isEmail = (/** @type {string} */ name) => name.includes('@');
  return { dns: names.filter((name) => !isEmail(name)), email: names.filter(isEmail) };
}

/** Conversion takes quadratic time. In ASCII, a domain name has at most 253 characters. */
const MAX_UNICODE_LENGTH = 1000;

/**
 * Normalizes a name for comparison. DNS names, and e-mail addresses after the at sign, ignore case (RFC 5280 section
 * 7.2; some versions of Vault convert to lower case) and are ASCII in certificates.
 * @param {string} name a DNS name or an e-mail address @param {boolean} [isEncoded] from a certificate, not from the user
 */
export function normalizeName(name, isEncoded = false) {
  const at = name.lastIndexOf('@') + 1;
  const dns = name.slice(at);
  const isUnicode = !isEncoded && dns.length <= MAX_UNICODE_LENGTH && /[^\x20-\x7e]/.test(dns);
  return name.slice(0, at) + ((isUnicode && toAscii(dns)) || dns).toLowerCase();
}

/** With another label, as a number in the last one would make an IPv4 address. @param {string} dns @returns {string} empty: not a name */
function toAscii(dns) {
  const [end, more] = dns.endsWith('.') ? ['.', 'a'] : ['', '.a'];
  // As in a URL, these would end the name, or be left out or decoded.
  const ascii = /[/?#\\%\t\r\n]/.test(dns) ? '' : domainToASCII(dns + more);
  return ascii.endsWith('.a') ? ascii.slice(0, -2) + end : '';
}

/** @param {string} text @returns {Buffer | null} octets of an iPAddress, 4 for an IPv4-mapped address as in Go; null: not an address */
export function ipBytes(text) {
  const version = isIP(text);
  if (version === 0 || text.includes('%')) return null;
  if (version === 4) return Buffer.from(text.split('.').map(Number));
  // The URL parser turns a dotted tail into hexadecimal groups.
  const [head, tail] = new URL(`http://[${text}]/`).hostname
    .slice(1, -1)
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':')));
  const groups =
    tail === undefined ? head : [...head, ...Array(8 - head.length - tail.length).fill(''), ...tail];
  const hex = groups.map((group) => group.padStart(4, '0')).join('');
  return Buffer.from(hex.replace(/^(00){10}ffff/, ''), 'hex');
}

/** As in Vault's pki/issuing/issue_common.go. */
const HOST_NAME = /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.?$/;

/** @param {string} commonName @returns {boolean} whether it can be an alternative name, too: a host name or an e-mail address */
export const isAlternativeName = (commonName) =>
  commonName.includes('@') || HOST_NAME.test(normalizeName(commonName));

/** @param {string} name a DNS name or an e-mail address, as in Vault's `alt_names` */
export const nameKey = (name) => `${name.includes('@') ? 'email' : 'dns'}:${normalizeName(name)}`;

/** @param {string} text @returns {string} matches no name in a certificate if `text` is not an address */
export const ipKey = (text) => `ip:${ipBytes(text)?.toString('hex')}`;

/** @param {AlternativeNames} names @returns {string[]} as `nameKey` and `ipKey` */
export const keysOf = ({ dns, email, ip, others }) => [
  ...dns.map((name) => `dns:${normalizeName(name, true)}`),
  ...email.map((name) => `email:${normalizeName(name, true)}`),
  ...ip.map((bytes) => `ip:${bytes.toString('hex')}`),
  ...others.map(() => 'other'),
];
