/**
 * One HTTP/1.1 connection of the load, with at most one request in flight. Never queues, retries or follows redirects.
 * It uses a bare socket: HTTP clients, Node's included, take several times the CPU time per request, and some delay
 * the write.
 */
import dns from 'node:dns';
import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';
import { createEncoder } from './exchange.js';
import { describeTransportError, describeUnexpectedBytes, transportFailure } from './failures.js';
import { ResponseReader } from './response-reader.js';
import { connectOptions } from './tls.js';

/** @import { Connection, Exchange } from './exchange.js' */
/** @import { Tls } from './tls.js' */
/** @import { LookupFunction, OnReadOpts, Socket } from 'node:net' */
/** @import { DetailedPeerCertificate, SecureContext, TLSSocket } from 'node:tls' */

/**
 * Completed TLS handshakes by version, cipher suite and HTTP version: `TLSv1.3 TLS_AES_128_GCM_SHA256 http/1.1`
 * @typedef {Record<string, {count: number, resumed: number}>} Handshakes
 */

const NOTHING = Buffer.alloc(0);
/** The server ended the connection. */
const NO_ERROR = Object.freeze({ code: 'ECONNRESET' });
/** Of a written request whose write TLS has not reported yet. */
const MAX_UNREPORTED_BYTES = 65_536;
/** Stops reusing an idle connection this long before the server's keep-alive timeout. */
const KEEP_ALIVE_MARGIN_MS = 1000;

/**
 * @param {object} options @param {string} options.origin scheme, host and port @param {Tls} options.tls
 * @param {number | null} [options.maxRequests] then closes, and dials anew for the next; null: no limit
 * @param {boolean} [options.resumes] the last TLS session @param {Handshakes} [options.handshakes] its own are added
 * @param {string} [options.localAddress] of this machine
 * @returns {Connection}
 */
export function createConnection({ origin, tls, maxRequests = null, ...options }) {
  const dial = createDialler(origin, tls, options);
  const encode = createEncoder(new URL(origin).host);
  const isTls = origin.startsWith('https:');
  const reader = new ResponseReader();
  /** Events of other sockets are ignored. @type {Socket | null} */
  let socket = null;
  let connected = false;
  let closed = false;
  /** @type {Exchange | null} */
  let exchange = null;
  let sent = false;
  let begun = false;
  /** Requests left for this connection. */
  let left = Number.POSITIVE_INFINITY;
  /** @type {Buffer} */
  let bytes;
  let abandonOpening = () => {};
  /** How long the server keeps this connection idle. A response may leave the time out. */
  let keptMs = Number.POSITIVE_INFINITY;
  /** `performance.now()` until which an idle connection may be reused. */
  let keptUntil = Number.POSITIVE_INFINITY;

  /** @param {() => void} onReady @param {(error: Error | null) => void} onGone the connection failed, now or later */
  function connect(onReady, onGone) {
    hangUp();
    keptMs = Number.POSITIVE_INFINITY;
    keptUntil = Number.POSITIVE_INFINITY;
    left = maxRequests ?? Number.POSITIVE_INFINITY;
    const dialled = dial({
      connected() {
        if (dialled === socket) exchange?.onConnected?.();
      },
      ready() {
        if (dialled !== socket) return;
        connected = true;
        onReady();
      },
      read(chunk) {
        if (dialled === socket) read(chunk);
      },
      gone(error) {
        if (dialled === socket) onGone(error);
        else dialled.destroy();
      },
    });
    socket = dialled;
  }

  function hangUp() {
    const old = socket;
    socket = null;
    connected = false;
    old?.destroy();
  }

  /** @param {Buffer} chunk */
  function read(chunk) {
    // Unsolicited bytes: the next response could be wrong.
    if (exchange === null) return hangUp();
    const progress = reader.read(chunk);
    if (progress === 'more') {
      if (!begun) exchange.onFirstBytes?.();
      begun = true;
    } else if (progress === 'done') finishResponse();
    else if (progress === 'bad') fail(describeUnexpectedBytes(reader.unexpected).code);
    else if (progress === 'too large') fail('response_too_large');
  }

  function finishResponse() {
    // The request. TLS reports writes late, so a fast response to a small one would look premature.
    const isUnsent = (socket?.writableLength ?? 0) > (isTls ? MAX_UNREPORTED_BYTES : 0);
    if (isUnsent && reader.status < 300) return fail('bad_http');
    const ended = exchange;
    exchange = null;
    const { keepAliveMs: kept } = reader;
    if (kept !== null) keptMs = kept - Math.min(KEEP_ALIVE_MARGIN_MS, kept / 2);
    if (!reader.reusable || isUnsent || --left === 0) hangUp();
    else if (keptMs < Number.POSITIVE_INFINITY) keptUntil = performance.now() + keptMs;
    ended?.onResponse(reader.status, reader.body);
    if (exchange === null) reader.begin();
  }

  /** @param {string} outcome */
  function fail(outcome) {
    const ended = exchange;
    const beforeSent = !sent;
    exchange = null;
    hangUp();
    ended?.onFailure(outcome, beforeSent);
  }

  /** @param {Error | null} error */
  function lost(error) {
    if (exchange === null) return hangUp();
    const ending = sent ? reader.end() : 'nothing';
    // Node hides a missing close_notify, so a response delimited only by the end may be truncated (RFC 9112, 9.8).
    if (error === null && ending === 'done' && !isTls) return finishUnlessReset();
    fail(describeTransportError(error ?? NO_ERROR, ending !== 'nothing', isTls && !connected).code);
  }

  /** libuv reports a reset that arrives together with bytes as an end of the connection; a write of nothing fails. */
  function finishUnlessReset() {
    const ended = exchange;
    socket?.write(NOTHING, (reset) => {
      if (exchange !== ended) return;
      if (reset) fail('truncated');
      else finishResponse();
    });
  }

  function abort() {
    exchange = null;
    hangUp();
  }

  function write() {
    if (exchange === null || socket === null) return;
    sent = true;
    exchange.onSent();
    socket.write(bytes);
  }

  return {
    open(timeoutMs) {
      return new Promise((resolve, reject) => {
        const giveUp = (/** @type {string} */ text, /** @type {unknown} */ cause) => {
          clearTimeout(timer);
          hangUp();
          reject(new Error(text, { cause }));
        };
        const late = () => (socket?.connecting ? 'connect_timeout' : 'tls_handshake_timeout');
        const timer = setTimeout(() => giveUp(transportFailure(late()).text, null), timeoutMs);
        abandonOpening = () => giveUp(transportFailure('aborted').text, null);
        if (closed) return abandonOpening();
        const onGone = (/** @type {Error | null} */ error) => {
          if (connected) lost(error);
          else giveUp(describeTransportError(error ?? NO_ERROR, false, isTls).text, error);
        };
        connect(() => {
          clearTimeout(timer);
          resolve();
        }, onGone);
      });
    },
    send(request, next) {
      exchange = next;
      sent = false;
      begun = false;
      if (closed) return fail('aborted');
      try {
        bytes = encode(request);
      } catch {
        return fail('transport_error');
      }
      reader.begin();
      if (connected && performance.now() < keptUntil) return write();
      exchange.onConnect?.();
      connect(write, lost);
    },
    abort,
    async close() {
      closed = true;
      abandonOpening();
      abort();
    },
  };
}

/**
 * @typedef {object} SocketCallbacks callbacks of a socket
 * @property {() => void} [connected] by TCP, before a TLS handshake
 * @property {() => void} ready connected, and the TLS handshake is complete
 * @property {(bytes: Buffer) => void} read valid only during the call: all connections of this thread share the buffer
 * @property {(error: Error | null) => void} gone called once; null: the peer closed the connection
 */

const lookups = /** @type {Map<string, Parameters<LookupFunction>[2][]>} */ (new Map());
/** Shared: a lookup takes one of 4 threads, cannot be cancelled, keeps the process alive. @type {LookupFunction} */
function lookUp(host, options, callback) {
  const key = JSON.stringify([host, options]);
  const waiting = lookups.get(key);
  if (waiting !== undefined) return void waiting.push(callback);
  const callbacks = [callback];
  lookups.set(key, callbacks);
  dns.lookup(host, options, (...result) => {
    lookups.delete(key);
    for (const call of callbacks) call(...result);
  });
}

/** Read buffer of all sockets of this thread. @type {Buffer | null} */
let shared = null;
const SHARED_BYTES = 64 * 1024;

/**
 * Reuses Node's objects for TCP sockets that failed to connect. The load dials a dead target ten thousand times a
 * second, and V8 keeps some 10 kB for each until the next full garbage collection. The kernel still opens a new socket.
 * @param {string} origin scheme, host and port @param {Tls} tls
 * @param {{resumes?: boolean, handshakes?: Handshakes, localAddress?: string}} [options]
 * @returns {(callbacks: SocketCallbacks) => Socket} the callbacks are not called after their socket is reused
 */
export function createDialler(origin, tls, { resumes = false, handshakes = {}, localAddress } = {}) {
  const { protocol, hostname, port } = new URL(origin);
  const isTls = protocol === 'https:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const isAddress = isIP(host) !== 0;
  const address = {
    host,
    port: Number(port || (isTls ? 443 : 80)),
    noDelay: true,
    lookup: lookUp,
    localAddress,
    // Otherwise it takes the first address of the name, of whichever family.
    family: isIP(localAddress ?? ''),
  };
  const secure = connectOptions(tls, host);
  const secureContext = isTls ? contextOf(tls ?? NO_TLS, secure) : undefined;
  const readCertificate = createCertificateReader();
  /** Of the last handshake, to resume it. @type {Buffer | undefined} */
  let session;
  const handshake = (/** @type {{onread: OnReadOpts}} */ onread) => {
    // Like net.connect, tls.connect takes `onread`, which its types omit; but it ignores `noDelay`.
    const socket = connectTls({ ...address, ...secure, ...onread, secureContext, session }).setNoDelay(true);
    socket.getPeerCertificate = readCertificate;
    socket.once('secureConnect', () => count(socket, handshakes));
    return resumes ? socket.on('session', (latest) => (session = latest)) : socket;
  };
  const connect = (/** @type {{onread: OnReadOpts}} */ onread) =>
    isTls ? handshake(onread) : connectTcp({ ...address, ...onread, allowHalfOpen: true });
  /** @type {((callbacks: SocketCallbacks) => Socket)[]} */
  const spare = [];
  return (callbacks) =>
    spare.pop()?.(callbacks) ??
    open(connect, isTls ? 'secureConnect' : 'connect', callbacks, (socket, redirect, failed) => {
      // The DNS lookup of an abandoned attempt may still be running, and its result would reach the next connection.
      if (isTls || (!failed && !isAddress)) return;
      spare.push((next) => {
        redirect(next);
        return socket.connect(address);
      });
    });
}

const NO_TLS = Object.freeze({});
/** tls.connect would read the certificates anew for each connection. @type {WeakMap<object, SecureContext>} by its TLS settings */
const contexts = new WeakMap();

/** @param {object} tls the same object for the same settings @param {ReturnType<typeof connectOptions>} options */
function contextOf(tls, options) {
  const context = contexts.get(tls) ?? createSecureContext(options);
  contexts.set(tls, context);
  return context;
}

/**
 * Node checks the names in the server's certificate after each handshake, and converts it to an object first, which takes a
 * third of the CPU time of the connection. Servers repeat their certificate.
 * @returns {(this: TLSSocket) => DetailedPeerCertificate} TLSSocket.getPeerCertificate, without the issuers
 */
function createCertificateReader() {
  let der = Buffer.alloc(0);
  let certificate = /** @type {any} */ ({});
  return function () {
    const current = this.getPeerX509Certificate();
    if (current === undefined) return /** @type {any} */ ({});
    if (!current.raw.equals(der)) [der, certificate] = [current.raw, current.toLegacyObject()];
    return certificate;
  };
}

/** @param {TLSSocket} socket after its handshake @param {Handshakes} handshakes */
function count(socket, handshakes) {
  const key = [socket.getProtocol(), socket.getCipher().standardName, socket.alpnProtocol || '-'].join(' ');
  handshakes[key] ??= { count: 0, resumed: 0 };
  handshakes[key].count++;
  if (socket.isSessionReused()) handshakes[key].resumed++;
}

/**
 * @param {(onread: {onread: OnReadOpts}) => Socket} connect @param {'connect' | 'secureConnect'} readyEvent
 * @param {SocketCallbacks} first
 * @param {(socket: Socket, redirect: (next: SocketCallbacks) => void, failed: boolean) => void} onUnused
 *   closed, never ready; `redirect` makes the socket call `next` instead; `failed`: with an error, not abandoned
 */
function open(connect, readyEvent, first, onUnused) {
  shared ??= Buffer.allocUnsafeSlow(SHARED_BYTES);
  let callbacks = first;
  let [ready, isGone, failed] = [false, false, false];
  const redirect = (/** @type {SocketCallbacks} */ next) => {
    callbacks = next;
    [isGone, failed] = [false, false];
  };
  const gone = (/** @type {Error | null} */ error) => {
    if (isGone) return;
    isGone = true;
    callbacks.gone(error);
  };
  const buffer = shared;
  const callback = (/** @type {number} */ count) => {
    callbacks.read(buffer.subarray(0, count));
    return true;
  };
  const socket = connect({ onread: { buffer, callback } });
  // Before Node's own listener, which computes the first TLS message.
  if (readyEvent === 'secureConnect') socket.prependOnceListener('connect', () => callbacks.connected?.());
  socket.once(readyEvent, () => {
    ready = true;
    callbacks.ready();
  });
  socket.on('error', (error) => {
    failed = true;
    gone(error);
  });
  socket.on('end', () => gone(null));
  socket.on('close', () => {
    gone(null);
    if (!ready) onUnused(socket, redirect, failed);
  });
  return socket;
}
