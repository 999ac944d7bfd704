/**
 * One HTTP/1.1 connection of the load, with at most one request in flight. Never queues, retries or follows redirects.
 * It uses a bare socket: HTTP clients, Node's included, take several times the CPU time per request, and some delay
 * the write.
 */
import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';
import { isSocket } from '../common/options.js';
import { createEncoder, LARGE_BODY_BYTES } from './exchange.js';
import {
  describeTransportError,
  describeUnexpectedBytes,
  proxyFailure,
  transportFailure,
} from './failures.js';
import { lookUp, timeOfAddress } from './lookup.js';
import { ResponseReader } from './response-reader.js';
import { placeOf, routeOf } from './route.js';
import { connectOptions } from './tls.js';
import { openTunnel } from './tunnel.js';

/** @import { Connection, Exchange } from './exchange.js' */
/** @import { Route } from './route.js' */
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
/** Of a request: a response to a smaller one does not wait until TLS reports its write. */
const MAX_UNREPORTED_BYTES = 65_536;
/** Stops reusing an idle connection this long before the server's keep-alive timeout. */
const KEEP_ALIVE_MARGIN_MS = 1000;

/**
 * @param {object} options @param {string} options.origin scheme, host and port @param {Tls} options.tls
 * @param {number | null} [options.maxRequests] then closes, and dials anew for the next; null: no limit
 * @param {boolean} [options.resumes] the last TLS session @param {Handshakes} [options.handshakes] its own are added
 * @param {string} [options.localAddress] of this machine @param {LookupFunction} [options.lookup]
 * @param {number} [options.timeoutMs] of a request
 * @param {Route} [options.route] to the origin
 * @returns {LoadConnection}
 */
export function createConnection({ origin, tls, maxRequests = null, route: given, ...options }) {
  const route = given ?? routeOf(origin, tls.network);
  const dial = createDialler(origin, tls, { ...options, route });
  const encode = createEncoder(
    isSocket(origin) ? 'localhost' : new URL(origin).host,
    throughProxy(origin, route),
  );
  const isTls = origin.startsWith('https:');
  const reader = new ResponseReader();
  /** Events of other sockets are ignored. @type {Dialled | null} */
  let socket = null;
  let connected = false;
  /** Connecting to the proxy, or waiting for its tunnel. */
  let atProxy = false;
  let closed = false;
  /** @type {Exchange | null} */
  let exchange = null;
  let sent = false;
  /** Changes with each request, and with each large write. */
  let sends = 0;
  /** A response has ended, but what came with it may not be read yet, which a request sent now would take for its response. */
  let settling = false;
  let begun = false;
  /** The response is complete, but perhaps not the request. */
  let finishing = false;
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
    atProxy = route.proxy !== null;
    const dialled = dial({
      connected() {
        if (dialled !== socket) return;
        atProxy = false;
        exchange?.onConnected?.();
      },
      ready() {
        if (dialled !== socket) return;
        connected = true;
        atProxy = false;
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
    settling = false;
    old?.destroy();
  }

  /** The request in hand goes on a new connection. */
  function dialAnew() {
    exchange?.onConnect?.();
    connect(write, lost);
  }

  /** @param {Buffer} chunk */
  function read(chunk) {
    // Unsolicited bytes: the next response could be wrong.
    if (exchange === null) return hangUp();
    if (finishing) {
      left = 1;
      return;
    }
    if (settling) return dialAnew();
    const progress = reader.read(chunk);
    if (progress === 'more') {
      if (!begun) exchange.onFirstBytes?.();
      begun = true;
    } else if (progress === 'done') {
      // Each TLS record is a read of its own, and so is each filling of the buffer.
      if (isTls || chunk.length === SHARED_BYTES) settle();
      finishResponse();
    } else if (progress === 'bad') fail(describeUnexpectedBytes(reader.unexpected).code);
    else if (progress === 'too large') fail('response_too_large');
  }

  /** Until everything that has arrived is read. */
  function settle() {
    const settled = socket;
    settling = true;
    setImmediate(() => {
      if (socket !== settled) return;
      settling = false;
      if (!sent) write();
    });
  }

  function finishResponse() {
    const isReset = (socket?.errored ?? null) !== null;
    const isUnsent = isReset || (socket?.writableLength ?? 0) > (isTls ? MAX_UNREPORTED_BYTES : 0);
    // TLS reports a write, even if the server has read it all, only after the sockets were polled.
    if (isUnsent && isTls && !finishing) {
      const answered = socket;
      finishing = true;
      // It may be in the buffer into which other connections read meanwhile.
      reader.body = Buffer.from(reader.body);
      setImmediate(() => {
        if (finishing && socket === answered) finishResponse();
      });
      return;
    }
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
    if (finishing) {
      left = 1;
      return;
    }
    if (settling) return dialAnew();
    const ending = sent ? reader.end() : 'nothing';
    // Node hides a missing close_notify, so a response delimited only by the end may be truncated (RFC 9112, 9.8).
    if (error === null && ending === 'done' && !isTls) return finishUnlessReset();
    fail(describeTransportError(error ?? NO_ERROR, ending !== 'nothing', isTls && !connected).code);
  }

  /** libuv reports a reset that arrives together with bytes as an end of the connection; a write of nothing fails. */
  function finishUnlessReset() {
    // It would wait behind the rest of the request, which the server does not read: no success in any case.
    if ((socket?.writableLength ?? 0) > 0) return finishResponse();
    const probed = socket;
    probed?.write(NOTHING, (reset) => {
      if (exchange === null || socket !== probed) return;
      if (reset) fail('truncated');
      else finishResponse();
    });
  }

  function abort() {
    const failure = socket !== null && atProxy ? 'proxy_timeout' : null;
    exchange = null;
    hangUp();
    return failure;
  }

  function write() {
    if (exchange === null || socket === null) return;
    sent = true;
    exchange.onSent();
    if (bytes.length <= LARGE_BODY_BYTES) return void socket.write(bytes);
    const [writing, own] = [exchange, ++sends];
    socket.write(bytes, (error) => {
      if (!error && exchange === writing && sends === own) writing.onWritten?.();
    });
  }

  const isOpen = () => connected && performance.now() < keptUntil;

  return {
    isOpen,
    open(timeoutMs) {
      return new Promise((resolve, reject) => {
        const giveUp = (/** @type {string} */ text, /** @type {unknown} */ cause) => {
          clearTimeout(timer);
          hangUp();
          reject(new Error(text, { cause }));
        };
        const late = () =>
          atProxy ? 'proxy_timeout' : socket?.connecting ? 'connect_timeout' : 'tls_handshake_timeout';
        const timer = setTimeout(() => giveUp(transportFailure(late(), route.proxy).text, null), timeoutMs);
        abandonOpening = () => giveUp(transportFailure('aborted').text, null);
        if (closed) return abandonOpening();
        const onGone = (/** @type {Error | null} */ error) => {
          if (connected) lost(error);
          else giveUp(describeTransportError(error ?? NO_ERROR, false, isTls, route.proxy).text, error);
        };
        connect(() => {
          clearTimeout(timer);
          resolve();
        }, onGone);
      });
    },
    send(request, next) {
      exchange = next;
      sends += 1;
      sent = false;
      begun = false;
      finishing = false;
      if (closed) return fail('aborted');
      try {
        bytes = encode(request);
      } catch {
        return fail('transport_error');
      }
      reader.begin();
      if (!isOpen()) dialAnew();
      else if (!settling) write();
    },
    keepOnly(addresses) {
      if (!connected || addresses.has(String(socket?.remoteAddress))) return;
      if (exchange === null) hangUp();
      else left = 1;
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
 * `keepOnly`: leaves any other address, after the response in flight
 * @typedef {Connection & {keepOnly: (addresses: ReadonlySet<string>) => void}} LoadConnection
 * @typedef {Pick<Socket, 'write' | 'destroy' | 'writableLength' | 'remoteAddress'> & Partial<Pick<Socket, 'errored'>> &
 *   {connecting?: boolean, alpnProtocol?: string | false | null}} Dialled
 */
/**
 * @typedef {object} SocketCallbacks callbacks of a socket
 * @property {() => void} [connected] by TCP, through a proxy if there is one, before a TLS handshake
 * @property {() => void} ready connected, and the TLS handshake is complete
 * @property {(bytes: Buffer) => void} read valid only during the call: all connections of this thread share the buffer
 * @property {(error: Error | null) => void} gone called once; null: the peer closed the connection
 */

/** Read buffer of all sockets of this thread. @type {Buffer | null} */
let shared = null;
const SHARED_BYTES = 64 * 1024;

/**
 * Reuses Node's objects for TCP sockets that failed to connect. The load dials a dead target ten thousand times a
 * second, and V8 keeps some 10 kB for each until the next full garbage collection. The kernel still opens a new socket.
 * @param {string} origin scheme, host and port @param {Tls} tls
 * @param {{resumes?: boolean, handshakes?: Handshakes, localAddress?: string, lookup?: LookupFunction, timeoutMs?: number, route?: Route,
 *   alpn?: string[]}} [options] `alpn`: HTTP versions
 * @returns {(callbacks: SocketCallbacks) => Dialled} the callbacks are not called after their socket is reused
 */
export function createDialler(origin, tls, options = {}) {
  const {
    resumes = false,
    handshakes = {},
    localAddress,
    lookup = lookUp,
    timeoutMs = 10_000,
    alpn,
  } = options;
  const { route = routeOf(origin, tls?.network) } = options;
  const isTls = origin.startsWith('https:');
  const { host } = placeOf(origin);
  const isAddress = isIP(route.address.host ?? '') !== 0;
  // Without a family, Node takes the first address of the name, of whichever family.
  const family = isIP(localAddress ?? '');
  const address = {
    ...route.address,
    ...timeOfAddress(timeoutMs),
    noDelay: true,
    lookup,
    localAddress,
    family,
  };
  const secure = connectOptions(tls, host, alpn);
  const secureContext = isTls ? contextOf(tls ?? NO_TLS, secure) : undefined;
  const readCertificate = createCertificateReader();
  /** Of the last handshake, to resume it. @type {Buffer | undefined} */
  let session;
  /** @param {{onread: OnReadOpts} | {socket: Socket}} over the socket of a tunnel, which excludes `onread` */
  const handshake = (over) => {
    // Like net.connect, tls.connect takes `onread`, which its types omit; but it ignores `noDelay`.
    const socket = connectTls({ ...address, ...secure, ...over, secureContext, session }).setNoDelay(true);
    socket.getPeerCertificate = readCertificate;
    socket.once('secureConnect', () => count(socket, handshakes));
    return resumes ? socket.on('session', (latest) => (session = latest)) : socket;
  };
  const connect = (/** @type {{onread: OnReadOpts}} */ onread) =>
    isTls ? handshake(onread) : connectTcp({ ...address, ...onread, allowHalfOpen: true });
  if (route.tunnelTo !== null) {
    return (callbacks) => dialTunnel(route, address, isTls ? handshake : null, callbacks);
  }
  const blame = route.proxy === null ? same : blameProxy;
  /** @type {((callbacks: SocketCallbacks) => Socket)[]} */
  const spare = [];
  return (callbacks) =>
    spare.pop()?.(callbacks) ??
    open(connect, isTls ? 'secureConnect' : 'connect', blame, callbacks, (socket, redirect, failed) => {
      // The DNS lookup of an abandoned attempt may still be running, and its result would reach the next connection.
      if (isTls || (!failed && !isAddress)) return;
      spare.push((next) => {
        redirect(next);
        return socket.connect(address);
      });
    });
}

const same = (/** @type {Error} */ error) => error;
const blameProxy = (/** @type {Error} */ error) => proxyFailure(error, 'PROXY_UNREACHABLE');

/**
 * Requests in absolute form, with the proxy's credentials, unless a tunnel leads to the server.
 * @param {string} origin @param {Route} route @returns {Parameters<typeof createEncoder>[1]}
 */
function throughProxy(origin, { proxy, tunnelTo }) {
  if (proxy === null || tunnelTo !== null) return {};
  const fields = proxy.authorization === null ? '' : `Proxy-Authorization: ${proxy.authorization}\r\n`;
  return { prefix: origin, fields };
}

/**
 * @param {Route} route @param {Parameters<typeof openTunnel>[1]} address
 * @param {((over: {socket: Socket}) => Socket) | null} handshake null: no TLS @param {SocketCallbacks} callbacks
 * @returns {Dialled}
 */
function dialTunnel(route, address, handshake, { connected, ready, read, gone }) {
  let isGone = false;
  const end = (/** @type {Error | null} */ error) => {
    if (!isGone) gone(error);
    isGone = true;
  };
  let socket = openTunnel(route, { ...address, allowHalfOpen: handshake === null }, (error) => {
    if (error !== null) return end(error);
    if (handshake !== null) {
      connected?.();
      socket = handshake({ socket }).once('secureConnect', ready);
    }
    socket.on('data', read).on('error', end);
    socket.on('end', () => end(null)).on('close', () => end(null));
    if (handshake === null) ready();
    socket.resume();
  });
  return {
    write: (/** @type {any[]} */ ...written) => socket.write(.../** @type {[any]} */ (written)),
    destroy: () => socket.destroy(),
    get writableLength() {
      return socket.writableLength;
    },
    get errored() {
      return socket.errored;
    },
    get remoteAddress() {
      return socket.remoteAddress;
    },
    get alpnProtocol() {
      return /** @type {TLSSocket} */ (socket).alpnProtocol;
    },
  };
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
 * @param {(error: Error) => Error} blame of an error before the socket is ready @param {SocketCallbacks} first
 * @param {(socket: Socket, redirect: (next: SocketCallbacks) => void, failed: boolean) => void} onUnused
 *   closed, never ready; `redirect` makes the socket call `next` instead; `failed`: with an error, not abandoned
 */
function open(connect, readyEvent, blame, first, onUnused) {
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
    gone(ready ? error : blame(error));
  });
  socket.on('end', () => gone(null));
  socket.on('close', () => {
    gone(null);
    if (!ready) onUnused(socket, redirect, failed);
  });
  return socket;
}
