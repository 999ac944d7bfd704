/** TCP and TLS connections of the load path, straight from node:net and node:tls. */
import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { connectOptions } from './tls.js';

/**
 * @typedef {object} Line told what happens on a socket
 * @property {() => void} ready connected, TLS handshake included
 * @property {(bytes: Buffer) => void} read only lent: the buffer is that of all connections of this thread
 * @property {(error: Error | null) => void} gone once; null: closed by the other side
 */

const BUFFER_BYTES = 64 * 1024;

/** Into it every socket of this thread reads: its bytes are used before the next are read. @type {Buffer | null} */
let shared = null;

/**
 * TCP sockets that could not be connected are connected again: to the kernel that is a new socket, but V8 keeps what Node makes
 * for one until the next full garbage collection, some 10 kB, and a target that is down is dialled ten thousand times a second.
 *
 * @param {string} origin scheme, host and port
 * @param {import('./tls.js').Tls} tls
 * @returns {(line: Line) => import('node:net').Socket} a line is told nothing more once its socket was given out again
 */
export function createDialler(origin, tls) {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isTls = protocol === 'https:';
  const address = { host, port: Number(port || (isTls ? 443 : 80)), noDelay: true };
  if (isTls) {
    const secure = connectOptions(tls);
    // SNI carries names, never addresses: RFC 6066, 3.
    const servername = secure.servername ?? (isIP(host) === 0 ? host : '');
    const options = { ...address, ...secure, servername };
    // What the types leave out: tls.connect takes `onread` as net.connect does.
    const connect = (/** @type {OnRead} */ onread) =>
      connectTls(/** @type {import('node:tls').ConnectionOptions} */ ({ ...options, onread }));
    return (line) => open(connect, 'secureConnect', line, () => {});
  }
  /** @type {((line: Line) => import('node:net').Socket)[]} */
  const spare = [];
  const connect = (/** @type {OnRead} */ onread) => connectTcp({ ...address, onread });
  return (line) =>
    spare.pop()?.(line) ??
    open(connect, 'connect', line, (socket, hand, failed) => {
      // Given up while its name may still be looked up: what comes of that would reach the next connection made on it.
      if (!failed && isIP(host) === 0) return;
      spare.push((next) => {
        hand(next);
        return socket.connect(address);
      });
    });
}

/** @typedef {import('node:net').OnReadOpts} OnRead */

/**
 * @param {(onread: OnRead) => import('node:net').Socket} connect
 * @param {'connect' | 'secureConnect'} readyEvent
 * @param {Line} first
 * @param {(socket: import('node:net').Socket, hand: (next: Line) => void, failed: boolean) => void} onUnused it has closed and never was
 *   ready; `hand`: the next line is told from then on; `failed`: by itself, not given up
 * @returns {import('node:net').Socket}
 */
function open(connect, readyEvent, first, onUnused) {
  shared ??= Buffer.allocUnsafeSlow(BUFFER_BYTES);
  let line = first;
  let [ready, told, failed] = [false, false, false];
  const hand = (/** @type {Line} */ next) => {
    line = next;
    [told, failed] = [false, false];
  };
  const gone = (/** @type {Error | null} */ error) => {
    if (told) return;
    told = true;
    line.gone(error);
  };
  const socket = connect({
    buffer: shared,
    callback(count, buffer) {
      line.read(/** @type {Buffer} */ (buffer).subarray(0, count));
      return true;
    },
  });
  socket.once(readyEvent, () => {
    ready = true;
    line.ready();
  });
  socket.on('error', (error) => {
    failed = true;
    gone(error);
  });
  socket.on('end', () => gone(null));
  socket.on('close', () => {
    gone(null);
    if (!ready) onUnused(socket, hand, failed);
  });
  return socket;
}
