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
 * @param {string} origin scheme, host and port
 * @param {import('./tls.js').Tls} tls
 * @returns {(line: Line) => import('node:net').Socket}
 */
export function createDialler(origin, tls) {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isTls = protocol === 'https:';
  const address = { host, port: Number(port || (isTls ? 443 : 80)), noDelay: true };
  const secure = connectOptions(tls);
  // SNI carries names, never addresses: RFC 6066, 3.
  const servername = secure.servername ?? (isIP(host) === 0 ? host : '');
  return (line) => {
    shared ??= Buffer.allocUnsafeSlow(BUFFER_BYTES);
    const onread = {
      buffer: shared,
      /** @param {number} count @param {Uint8Array} buffer */
      callback(count, buffer) {
        line.read(/** @type {Buffer} */ (buffer).subarray(0, count));
        return true;
      },
    };
    // What the types leave out: tls.connect takes `onread` as net.connect does.
    const socket = isTls
      ? connectTls(
          /** @type {import('node:tls').ConnectionOptions} */ ({ ...address, ...secure, servername, onread }),
        )
      : connectTcp({ ...address, onread });
    let told = false;
    const gone = (/** @type {Error | null} */ error) => {
      if (told) return;
      told = true;
      line.gone(error);
    };
    socket.once(isTls ? 'secureConnect' : 'connect', line.ready);
    socket.on('error', gone);
    socket.once('end', () => gone(null));
    socket.once('close', () => gone(null));
    return socket;
  };
}
