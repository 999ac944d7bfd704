/** Subject alternative names (RFC 5280 section 4.2.1.6): from the text that users write to the bytes in a certificate. */
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { contextTag, DerReader, TAG } from './der.js';

/** Tags of the GeneralNames that matter here. */
const EMAIL = contextTag(1, false);
const DNS = contextTag(2, false);
const IP = contextTag(7, false);

/** @typedef {{dns: string[], email: string[], ip: string[]}} AlternativeNames in the form of `dnsForm`, `emailForm`, `ipForm` */

/**
 * @param {Uint8Array} value extnValue of subjectAltName
 * @returns {AlternativeNames} other kinds are left out
 * @throws {DerError}
 */
export function readAlternativeNames(value) {
  const outer = new DerReader(value);
  const list = outer.enter(TAG.sequence);
  outer.finish();
  /** @type {AlternativeNames} */
  const names = { dns: [], email: [], ip: [] };
  while (!list.atEnd) {
    const tag = list.tag;
    const name = list.read();
    if (tag === DNS) names.dns.push(dnsForm(name.toString('latin1')));
    else if (tag === EMAIL) names.email.push(emailForm(name.toString('latin1')));
    else if (tag === IP) names.ip.push(ipForm(name));
  }
  return names;
}

/**
 * DNS names do not differ by case (RFC 5280 section 7.2), which Vault has at times lowered; in certificates they are ASCII.
 *
 * @param {string} name
 */
export function dnsForm(name) {
  return (isAscii(name) ? name : domainToASCII(name) || name).toLowerCase();
}

/**
 * The same for the part behind the at sign, whereas the part before is taken as it is.
 *
 * @param {string} address
 */
export function emailForm(address) {
  const at = address.lastIndexOf('@');
  return at < 0 ? address : `${address.slice(0, at)}@${dnsForm(address.slice(at + 1))}`;
}

/**
 * @param {Buffer} bytes
 * @returns {string} hex; of an IPv4 address in IPv6 only the four octets, as Go writes it into certificates
 */
function ipForm(bytes) {
  const hex = bytes.toString('hex');
  return hex.length === 32 && hex.startsWith(IPV4_MAPPED) ? hex.slice(24) : hex;
}

const IPV4_MAPPED = '00000000000000000000ffff';

/**
 * Octets of an iPAddress (RFC 5280 section 4.2.1.6).
 *
 * @param {string} text
 * @returns {Buffer | null} 4 or 16 octets; null when it is no address
 */
export function ipBytes(text) {
  const version = isIP(text);
  if (version === 0 || text.includes('%')) return null;
  return Buffer.from(ipForm(version === 4 ? ipv4Bytes(text) : ipv6Bytes(text)), 'hex');
}

/** @param {string} text */
function ipv4Bytes(text) {
  return Buffer.from(text.split('.').map(Number));
}

/** @param {string} text a valid IPv6 address */
function ipv6Bytes(text) {
  const lastColon = text.lastIndexOf(':');
  const tail = text.slice(lastColon + 1);
  const groups = tail.includes('.')
    ? text.slice(0, lastColon + 1) +
      ipv4Bytes(tail)
        .toString('hex')
        .replace(/^(.{4})/, '$1:')
    : text;
  const [head, rest] = groups.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = rest === undefined ? [] : Array(8 - head.length - rest.length).fill('0');
  const all = [...head, ...zeros, ...(rest ?? [])];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

/**
 * @param {AlternativeNames} names
 * @param {string} asked a DNS name or, with an at sign, an e-mail address, as Vault's `alt_names` takes them
 */
export function includesName(names, asked) {
  return asked.includes('@') ? names.email.includes(emailForm(asked)) : names.dns.includes(dnsForm(asked));
}

/** @param {AlternativeNames} names @param {string} asked */
export function includesIp(names, asked) {
  const bytes = ipBytes(asked);
  return bytes !== null && names.ip.includes(bytes.toString('hex'));
}

/** @param {string} text */
function isAscii(text) {
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}
