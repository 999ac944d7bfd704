/** A tunnel through a proxy (CONNECT: RFC 9110, 9.3.6), for the load's connections and for single calls. */
import { connect } from 'node:net';
import { proxyFailure } from './failures.js';
import { parseResponseHead } from './response-reader.js';

/** @import { Route } from './route.js' */
/** @import { NetConnectOpts, Socket } from 'node:net' */

const MAX_HEAD_BYTES = 16 * 1024;

/**
 * @param {Route} route with a proxy and `tunnelTo`
 * @param {NetConnectOpts} address of the proxy
 * @param {(error: Error | null) => void} onEnd called once; null: the socket now leads to the server
 * @returns {Socket}
 */
export function openTunnel({ proxy, tunnelTo }, address, onEnd) {
  const socket = connect(address);
  let head = '';
  let received = 0;
  let isConnected = false;
  const end = (/** @type {Error | null} */ error) => {
    socket.off('data', read).off('error', fail).off('end', cut).off('close', cut);
    if (error !== null) socket.on('error', () => {}).destroy();
    onEnd(error);
  };
  const fail = (/** @type {Error} */ error) =>
    end(proxyFailure(error, isConnected ? 'PROXY_NO_TUNNEL' : 'PROXY_UNREACHABLE'));
  const cut = () => end(proxyFailure(null, 'PROXY_NO_TUNNEL'));
  /** @param {Buffer} chunk @returns {void} */
  const read = (chunk) => {
    received += chunk.length;
    head += chunk.toString('latin1');
    const length = head.indexOf('\r\n\r\n');
    if (length < 0) return received > MAX_HEAD_BYTES ? cut() : undefined;
    const status = parseResponseHead(head.slice(0, length))?.status ?? 0;
    if (status < 200) {
      if (status < 100 || status === 101) return cut();
      // Interim: the response follows (RFC 9110, 15.2).
      head = head.slice(length + 4);
      return read(Buffer.alloc(0));
    }
    if (status > 299) return end(proxyFailure(null, proxyCode(status), status));
    // The server behind it cannot have anything to say yet.
    if (head.length > length + 4) return cut();
    socket.pause();
    end(null);
  };
  const authorization = proxy?.authorization ? `Proxy-Authorization: ${proxy.authorization}\r\n` : '';
  socket.once('connect', () => {
    isConnected = true;
    socket.write(`CONNECT ${tunnelTo} HTTP/1.1\r\nHost: ${tunnelTo}\r\n${authorization}\r\n`);
  });
  return socket.on('data', read).on('error', fail).on('end', cut).on('close', cut);
}

/** @param {number} status of a proxy's own response @returns {string} */
export function proxyCode(status) {
  if (status === 407) return 'PROXY_AUTH_REQUIRED';
  return status >= 500 ? 'PROXY_BAD_GATEWAY' : 'PROXY_REFUSED';
}
