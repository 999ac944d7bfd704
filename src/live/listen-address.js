/** The address that `--metrics` listens on, as people write it. */
import { isIP, isIPv6 } from 'node:net';
import { usageError } from '../common/errors.js';

/** Where nothing else is said: only this machine can read what is served there. */
const DEFAULT_HOST = '127.0.0.1';

const HIGHEST_PORT = 65_535;

const REMEDY = 'Give a port or an address with one, such as 9464, 127.0.0.1:9464 or [::1]:9464.';

/**
 * `9464`, `:9464`, `127.0.0.1:9464`, `[::1]:9464`, `localhost:9464`; port 0 takes a free one. A port alone is one of this
 * machine's loopback, with a colon in front too: who wants others to read it names an address, such as `0.0.0.0:9464`.
 *
 * @param {string} text
 * @param {string} [name] what to call it in an error
 * @returns {{host: string, port: number}} an IPv6 host without its brackets
 * @throws {import('../common/errors.js').PkiLoadError} code `bad_listen_address`
 */
export function parseListenAddress(text, name = '--metrics') {
  const source = text.trim();
  const bad = (/** @type {string} */ why) =>
    usageError('bad_listen_address', `${name} is ${JSON.stringify(source.slice(0, 80))}, ${why}.`, REMEDY);
  if (source === '') throw usageError('bad_listen_address', `${name} is empty.`, REMEDY);
  if (/^\d+$/.test(source)) return { host: DEFAULT_HOST, port: toPort(source, bad) };
  if (source.includes('/')) throw bad('which is a URL or a path, not an address to listen on');
  if (isIPv6(source))
    throw bad('an IPv6 address without brackets, so that where its port begins is not known');
  const colon = source.lastIndexOf(':');
  if (colon < 0 || source.endsWith(']')) throw bad('which has no port');
  return { host: toHost(source.slice(0, colon), bad), port: toPort(source.slice(colon + 1), bad) };
}

/**
 * @param {string} text
 * @param {(why: string) => Error} bad
 */
function toPort(text, bad) {
  if (!/^\d+$/.test(text)) throw bad('whose port is not a number');
  const port = Number(text);
  if (port > HIGHEST_PORT) throw bad(`whose port is above ${HIGHEST_PORT}`);
  return port;
}

/**
 * @param {string} text without its port
 * @param {(why: string) => Error} bad
 */
function toHost(text, bad) {
  if (text === '') return DEFAULT_HOST;
  const bracketed = /^\[(.*)\]$/.exec(text)?.[1];
  if (bracketed !== undefined) {
    if (!isIPv6(bracketed)) throw bad('which has something else than an IPv6 address in brackets');
    return bracketed;
  }
  if (text.includes(':')) throw bad('whose host has a colon in it: an IPv6 address goes in brackets');
  // What looks like an IPv4 address is one: no name server needs to be asked for 1.2.3.
  if (/^[\d.]+$/.test(text) ? isIP(text) === 0 : !/^\w(?:[\w.-]*\w)?$/.test(text)) {
    throw bad('whose host is neither a name nor an IP address');
  }
  return text;
}
