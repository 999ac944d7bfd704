/** Local addresses and ports of new connections: a port stays occupied for a while after its connection is closed. */
import { createSocket } from 'node:dgram';
import dns from 'node:dns/promises';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { quote, usageError } from '../common/errors.js';
import { isLoopback } from '../common/listen.js';
import { formatCount } from '../common/units.js';

/** TCP_TIMEWAIT_LEN of Linux. */
const TIME_WAIT_SECONDS = 60;
/** Where net.ipv4.tcp_tw_reuse allows it, Linux reuses a port in TIME_WAIT after this time. */
const REUSE_SECONDS = 1;

/** @param {string} name @returns {string} '' if this system has no such setting */
function readSetting(name) {
  try {
    return readFileSync(`/proc/sys/net/ipv4/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/**
 * @param {{perSecond: number, seconds: number, host: string, addresses: readonly string[]}} load `perSecond`: new
 *   connections, for so many `seconds`, to `host`, from `addresses`; none: the system chooses
 * @param {(name: string) => string} [read] a setting of net.ipv4
 * @returns {string | null} a warning; null: enough ports, or their number is unknown
 */
export function describePortShortage({ perSecond, seconds, host, addresses }, read = readSetting) {
  const [first, last] = read('ip_local_port_range').trim().split(/\s+/).map(Number);
  const ports = last - first + 1;
  const reuse = Number(read('tcp_tw_reuse'));
  // bind(2) to an address takes no port that is in TIME_WAIT, whatever tcp_tw_reuse is.
  const isReused = addresses.length === 0 && (reuse === 1 || (reuse === 2 && isLoopback(host)));
  const heldSeconds = isReused ? REUSE_SECONDS : TIME_WAIT_SECONDS;
  const needed = Math.ceil(perSecond * Math.min(seconds, heldSeconds));
  const count = Math.max(1, addresses.length);
  if (!(needed > ports * count)) return null;
  const from = count === 1 ? 'an address has' : `${count} addresses have`;
  const most = formatCount(Math.floor((ports * count) / heldSeconds));
  const more = isReused
    ? ''
    : ` Or give ${Math.ceil(needed / ports)} addresses of this machine with --local-address.`;
  return [
    `Local ports may run out: the run may need ${formatCount(needed)} at a time, but ${from} ${formatCount(ports * count)} (net.ipv4.ip_local_port_range), and a closed connection can occupy one for ${heldSeconds} s (TIME_WAIT).`,
    `Open at most ${most} connections/s: lower --rate, or send more requests over each (--requests-per-connection).${more}`,
  ].join(' ');
}

/**
 * @param {readonly string[]} addresses @param {string} target its host; '': none
 * @param {(host: string) => Promise<{address: string}[]>} [lookUp]
 * @throws {PkiLoadError} if this machine does not have one of them, or cannot connect from it to the target
 */
export async function checkLocalAddresses(addresses, target, lookUp = lookUpAll) {
  if (addresses.length === 0) return;
  // If the lookup fails, the first call to the target reports why.
  const found = target === '' ? [] : await lookUp(target).catch(() => []);
  for (const host of addresses) {
    const family = isIP(host);
    const to = found.find(({ address }) => isIP(address) === family)?.address;
    if (to === undefined && found.length > 0) {
      const message = `--local-address ${quote(host)} is IPv${family}, but the target ${quote(target)} has no IPv${family} address.`;
      throw usageError('local_address_unusable', message, `Use an IPv${family === 4 ? 6 : 4} address.`);
    }
    const socket = createSocket(family === 4 ? 'udp4' : 'udp6');
    try {
      await once(socket.bind({ address: host }), 'listening');
      if (to === undefined) continue;
      // Finds the route; with UDP, nothing is sent.
      socket.connect(1, to);
      await once(socket, 'connect');
    } catch (error) {
      const way = to === undefined ? '' : ` to ${quote(target)}`;
      const message = `This machine cannot connect from --local-address ${quote(host)}${way}.`;
      throw usageError('local_address_unusable', message, 'Use an address that `ip address` shows.', error);
    } finally {
      socket.close();
    }
  }
}

const lookUpAll = (/** @type {string} */ host) => dns.lookup(host, { all: true });
