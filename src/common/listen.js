/** Makes a server listen, and decides which addresses a scenario may use. */
import { once } from 'node:events';
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { badValue, usageError } from './errors.js';
import { isSocket, originOf, withoutSlashAtEnd } from './options.js';

/** @import { AddressInfo, Server } from 'node:net' */
/** @import { Server as HttpServer } from 'node:http' */

const DEFAULT_HOST = '127.0.0.1';
const MAX_PORT = 65_535;

/** System error code -> suffix of our code, reason, remedy. @type {Record<string, string[]>} */
const CAUSES = {
  EADDRINUSE: ['port_in_use', 'the port is in use', 'Choose another port.'],
  EACCES: ['port_forbidden', 'this user may not use that port', 'Choose a port above 1023.'],
  EADDRNOTAVAIL: ['host_unknown', 'this machine has no such address', 'Use 127.0.0.1 or [::1].'],
};

/**
 * @param {string} flag for the error
 * @param {string} text `9464`, `:9464`, `127.0.0.1:9464`, `[::1]:9464`, `localhost:9464`; port 0 takes a free
 *   port. A port alone is one on loopback
 * @returns {{host: string, port: number}} an IPv6 host without its brackets
 * @throws {PkiLoadError} code `bad_listen_address`
 */
export function parseAddress(flag, text) {
  const [, ipv6, name, digits] = /^(?:(?:\[(.+)\]|(\w(?:[\w.-]*\w)?)?):)?(\d+)$/.exec(text.trim()) ?? [];
  const isHost = ipv6 !== undefined ? isIPv6(ipv6) : !/^[\d.]+$/.test(name ?? '') || isIP(name) !== 0;
  if (digits !== undefined && Number(digits) <= MAX_PORT && isHost)
    return { host: ipv6 ?? name ?? DEFAULT_HOST, port: Number(digits) };
  const problem = 'not a port or an address with a port';
  throw badValue(flag, text, problem, 'Use 9464, 127.0.0.1:9464 or [::1]:9464.', 'bad_listen_address');
}

/**
 * @param {Server} server @param {{host: string, port: number}} where
 * @param {string} subject of the error message @param {string} prefix of its code
 * @returns {Promise<string>} with the actual port: `127.0.0.1:9464`, `[::1]:9464` @throws {PkiLoadError}
 */
export async function listen(server, { host, port }, subject, prefix) {
  const name = host.includes(':') ? `[${host}]` : host;
  try {
    await once(server.listen({ host, port }), 'listening');
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    const fallback = ['listen_failed', message, 'Choose another address, such as 127.0.0.1.'];
    const [suffix, reason, remedy] = CAUSES[code ?? ''] ?? fallback;
    const text = `${subject} cannot listen on ${name}:${port}: ${reason}.`;
    throw usageError(`${prefix}_${suffix}`, text, remedy, error);
  }
  return `${name}:${/** @type {AddressInfo} */ (server.address()).port}`;
}

/** @param {string} host without brackets @returns {string} an IPv4-mapped address, as a URL writes it, as IPv4 (RFC 4291, 2.5.5.2) */
export function toIPv4(host) {
  const [, ...groups] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host) ?? [];
  return groups.length === 0
    ? host
    : groups.flatMap((one) => [...Buffer.from(one.padStart(4, '0'), 'hex')]).join('.');
}

/** Whether only this machine can reach it. @param {string} given a name or an address, without brackets */
export function isLoopback(given) {
  const host = toIPv4(given);
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

/**
 * A scenario may send only to the origins that the user named: the token may be for another machine. If all of them are
 * loopback addresses, or none is named, it may send to any loopback address. @param {unknown[]} given null: not named @returns {(url: string) => boolean}
 */
export function createAddressFilter(given) {
  // The path of a socket as it is written: a URL would lose `..` and spaces at its end, which name another file.
  const originIn = (/** @type {string} */ url) => {
    if (isSocket(url)) return withoutSlashAtEnd(url);
    return /^https?:/i.test(url) && URL.canParse(url) ? originOf(url) : null;
  };
  const isLocal = (/** @type {string | null} */ origin) =>
    origin !== null && !isSocket(origin) && isLoopback(new URL(origin).hostname.replace(/^\[|\]$/g, ''));
  const own = given.filter(Boolean).map((url) => originIn(`${url}`));
  return (url) => {
    const origin = originIn(url);
    return own.every(isLocal) ? isLocal(origin) : origin !== null && own.includes(origin);
  };
}

/** Closes connections immediately. May be called again. @param {HttpServer} server @returns {Promise<void>} */
export function closeAtOnce(server) {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
