/**
 * HTTP/2 connections of the load (RFC 9113): each slot has one stream at a time on a connection that it shares. Like
 * those of HTTP/1.1, they never queue, retry or follow redirects. docs/connections.md compares them with HTTP clients.
 */
import { targetError, usageError } from '../common/errors.js';
import { rejectOnStop } from '../common/stop.js';
import { createDialler } from './connection.js';
import { transportFailure } from './failures.js';
import { createBlockEncoder } from './http2-frames.js';
import { Session, Stream } from './http2-session.js';
import { routeOf } from './route.js';
import { tlsInRotation } from './tls.js';

/** @import { LoadConnection } from './connection.js' */
/** @import { Request } from './exchange.js' */
/** @import { Route } from './route.js' */
/** @import { Tls } from './tls.js' */

/** The odd numbers of 31 bits identify a client's streams. */
const MAX_REQUESTS = 2 ** 30;
const ALPN = ['h2', 'http/1.1'];

/**
 * @typedef {object} StreamOptions
 * @property {string} origin scheme, host and port; with http, the server must expect HTTP/2
 * @property {Tls} tls
 * @property {number} streams at a time, of a connection
 * @property {number | null} [maxRequests] of a connection; the next request opens another; null: no limit
 */

/**
 * @param {StreamOptions & Parameters<typeof createDialler>[2]} options
 * @returns {LoadConnection[]} one for each stream, all of one connection
 */
export function createStreams({ origin, tls, streams, maxRequests = null, route: given, ...options }) {
  const route = given ?? routeOf(origin, tls.network);
  const dial = createDialler(origin, tls, { ...options, route, alpn: ALPN });
  const scheme = origin.startsWith('https:') ? 'https' : 'http';
  const encode = createBlockEncoder(new URL(origin).host, scheme);
  /** Also those that take no new requests but still have some in flight. @type {Set<Session>} */
  const sessions = new Set();
  /** @type {Session | null} */
  let current = null;

  function findSession() {
    if (current !== null && current.left > 0) return current;
    const session = new Session(
      maxRequests ?? MAX_REQUESTS,
      { isTls: scheme === 'https', atProxy: route.proxy !== null },
      () => sessions.delete(session),
      (stream) => findSession().add(stream),
    );
    sessions.add(session);
    current = session;
    session.dial(dial);
    return session;
  }
  let open = streams;
  const onClose = () => {
    if (--open === 0) for (const session of sessions) session.close();
  };
  const keepOnly = (/** @type {ReadonlySet<string>} */ addresses) => current?.keepOnly(addresses);
  const isOpen = () => current?.isOpen === true;
  const shared = { isOpen, findSession, encode, streams, proxy: route.proxy, keepOnly, onClose };
  return Array.from({ length: streams }, () => createStream(shared));
}

/**
 * Before a run.
 * @param {string} origin @param {Tls} tls
 * @param {{streamsPerConnection: number | null, concurrency: number, timeoutMs: number}} load @param {AbortSignal} stop
 * @throws {PkiLoadError} if the target does not offer HTTP/2 by ALPN, or does not allow so many streams
 */
export async function checkHttp2(origin, tls, { streamsPerConnection, concurrency, timeoutMs }, stop) {
  if (!origin.startsWith('https:'))
    throw usageError(
      'http2_needs_tls',
      `--http 2 needs TLS, but the target is ${origin}.`,
      'Use an https:// address, --tls with --dev, or --http 1.1.',
    );
  const streams = Math.min(streamsPerConnection ?? 1, concurrency);
  const [first, ...others] = createStreams({ origin, tls: tlsInRotation(tls)[0], streams, timeoutMs });
  try {
    await rejectOnStop(first.open(timeoutMs), stop);
  } catch (/** @type {any} */ error) {
    const { code, message } = error;
    if (code === 'interrupted') throw error;
    const remedy =
      code === 'too_few_streams' ? 'Lower --streams to its limit.' : transportFailure(code).remedy;
    throw targetError(code, `${origin} ${message}.`, remedy);
  } finally {
    for (const stream of [first, ...others]) await stream.close();
  }
}

/**
 * @param {object} shared @param {() => boolean} shared.isOpen @param {() => Session} shared.findSession that takes another request
 * @param {(request: Request) => Buffer} shared.encode @param {number} shared.streams of a connection
 * @param {Route['proxy']} shared.proxy @param {(addresses: ReadonlySet<string>) => void} shared.keepOnly @param {() => void} shared.onClose @returns {LoadConnection}
 */
function createStream({ isOpen, findSession, encode, streams, proxy, keepOnly, onClose }) {
  const stream = new Stream();
  let closed = false;
  let abandonOpening = () => {};
  function abort() {
    const { session } = stream;
    const failure = session?.timeoutFailure ?? null;
    stream.exchange = null;
    session?.abort(stream);
    return failure;
  }
  return {
    isOpen,
    open(timeoutMs) {
      return new Promise((resolve, reject) => {
        /** @param {string} code @param {string} [text] */
        const giveUp = (code, text = transportFailure(code, proxy).text) => {
          clearTimeout(timer);
          reject(Object.assign(new Error(text), { code }));
        };
        const timer = setTimeout(() => {
          giveUp(session?.openingFailure ?? 'connect_timeout');
          session?.abandon(onOpen);
        }, timeoutMs);
        abandonOpening = () => giveUp('aborted');
        const session = closed ? null : findSession();
        /** @param {string | null} failure @param {number} allowed streams */
        const onOpen = (failure, allowed) => {
          if (failure !== null) return giveUp(failure);
          if (allowed < streams)
            return giveUp('too_few_streams', `allows ${allowed} streams per connection, not ${streams}`);
          clearTimeout(timer);
          resolve();
        };
        if (session === null) abandonOpening();
        else session.whenOpen(onOpen);
      });
    },
    send(request, exchange) {
      stream.begin(exchange);
      if (closed) return stream.fail('aborted');
      try {
        stream.block = encode(request);
      } catch {
        return stream.fail('transport_error');
      }
      const { body } = request;
      stream.unsent = body === null || body.length === 0 ? null : Buffer.from(body);
      stream.bodyBytes = stream.unsent?.length ?? 0;
      findSession().add(stream);
    },
    keepOnly,
    abort,
    async close() {
      if (closed) return;
      closed = true;
      abandonOpening();
      abort();
      onClose();
    },
  };
}
