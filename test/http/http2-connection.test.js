/** HTTP/2 connections of the load: against Node's own server, and against servers that send any frames. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { constants, createSecureServer } from 'node:http2';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createServer as createTlsServer, Server as TlsServer } from 'node:tls';
import { LARGE_BODY_BYTES } from '../../src/http/exchange.js';
import { checkHttp2, createStreams } from '../../src/http/http2-connection.js';
import { FLAG, frame, numberFrame, TYPE } from '../../src/http/http2-frames.js';
import { Session, Stream } from '../../src/http/http2-session.js';
import { MAX_BODY_BYTES } from '../../src/http/response-reader.js';
import { altNames, TestCa } from '../pki/test-ca.js';
import { exchange } from './raw-server.js';

/** @import { Handshakes } from '../../src/http/connection.js' */
/** @import { Request } from '../../src/http/exchange.js' */
/** @import { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream, Settings } from 'node:http2' */
/** @import { AddressInfo, Server, Socket } from 'node:net' */

const CA = new TestCa();
const { pem: cert, keyPem: key } = CA.issue('server', { extensions: [altNames({ ip: ['127.0.0.1'] })] });
const TLS = { ca: [CA.ca.pem], rejectUnauthorized: true };
/** Longer than a response takes on loopback. */
const PATIENCE_MS = 40;
const NEVER = new AbortController().signal;
const pause = (ms = PATIENCE_MS) => new Promise((resolve) => setTimeout(resolve, ms));
/** At most 5 s: other processes may use the cores. @param {() => boolean} check */
async function until(check) {
  for (let i = 0; i < 1000 && !check(); i++) await pause(5);
}

/** @param {Server} server @param {string} scheme */
async function listenOn(server, scheme) {
  /** @type {Set<Socket>} */
  const sockets = new Set();
  server.on(scheme === 'https' ? 'secureConnection' : 'connection', (socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.once('close', () => sockets.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return {
    origin: `${scheme}://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`,
    sockets,
    stop,
  };
}

/** @param {ServerHttp2Stream} stream @param {string | Buffer} [body] */
const respond = (stream, body = 'ok') => {
  // After a GOAWAY, Node itself closes the streams that it leaves out.
  if (stream.destroyed) return;
  stream.respond({ ':status': 200 });
  stream.end(body);
};

/** Node's server. `seen`: a line for each request; `behave`: what it does with a complete one */
async function startHttp2(/** @type {Settings} */ settings = {}) {
  const state = {
    /** @type {{method: string, path: string, headers: IncomingHttpHeaders, body: Buffer}[]} */
    seen: [],
    connections: 0,
    behave: (/** @type {ServerHttp2Stream} */ stream, /** @type {number} */ _nth) => respond(stream),
  };
  const server = createSecureServer({ cert, key, settings });
  server.on('session', () => state.connections++);
  server.on('sessionError', () => {});
  server.on('stream', async (stream, headers) => {
    stream.on('error', () => {});
    const parts = [];
    for await (const part of stream) parts.push(part);
    const { ':method': method = '', ':path': path = '' } = headers;
    state.seen.push({ method, path, headers, body: Buffer.concat(parts) });
    state.behave(stream, state.seen.length);
  });
  return { state, ...(await listenOn(/** @type {any} */ (server), 'https')) };
}

/** @param {ServerHttp2Stream} stream @returns {ServerHttp2Session} */
const sessionOf = ({ session }) => /** @type {ServerHttp2Session} */ (session);

describe('on a server of Node', () => {
  /** @type {Awaited<ReturnType<typeof startHttp2>>} */
  let server;
  before(async () => {
    server = await startHttp2();
  });
  after(() => server.stop());
  /** @param {Partial<Parameters<typeof createStreams>[0]>} [options] */
  const open = (options) => {
    Object.assign(server.state, {
      seen: [],
      connections: 0,
      behave: (/** @type {any} */ stream) => respond(stream),
    });
    return createStreams({ origin: server.origin, tls: TLS, streams: 4, ...options });
  };
  /** @param {ReturnType<typeof createStreams>} streams */
  const close = (streams) => Promise.all(streams.map((stream) => stream.close()));

  /** @type {[name: string, request: Partial<Request>][]} */
  const REQUESTS = [
    ['GET', { path: '/a?b=c' }],
    ['LIST', { method: 'LIST' }],
    ['POST without a body', { method: 'POST' }],
    ['POST with a text', { method: 'POST', body: 'é' }],
    ['POST with 16 kB', { method: 'POST', body: Buffer.alloc(16_384, 'x') }],
    ['POST with a byte more', { method: 'POST', body: Buffer.alloc(16_385, 'x') }],
    ['PUT with 70 kB, more than the initial window', { method: 'PUT', body: Buffer.alloc(70_000, 'x') }],
    ['POST with 1 MB', { method: 'POST', body: Buffer.alloc(1_000_000, 'x') }],
    ['a long header', { headers: { 'X-Long': 'x'.repeat(9000) } }],
    ['a token', { headers: { 'X-Vault-Token': 'hvs.abc', Connection: 'close', 'Content-Type': 'a/b' } }],
    ['TE, which may only be trailers', { headers: { TE: 'gzip' } }],
    ['TE: trailers', { headers: { TE: ' trailers' } }],
  ];
  for (const [name, request] of REQUESTS) {
    test(`a request arrives as it is: ${name}`, async () => {
      const streams = open();
      const { answer, written } = await exchange(streams[0], request).ended;
      await close(streams);
      assert.deepEqual([answer?.status, answer?.body.toString()], [200, 'ok']);
      assert.equal(written, (request.body?.length ?? 0) > LARGE_BODY_BYTES ? 1 : 0);
      const [{ method, path, headers, body }] = server.state.seen;
      assert.deepEqual([method, path], [request.method ?? 'GET', request.path ?? '/a']);
      assert.deepEqual(body, Buffer.from(request.body ?? ''));
      for (const [field, value] of Object.entries(request.headers ?? {})) {
        const isLeftOut = field === 'Connection' || value === 'gzip';
        assert.equal(headers[field.toLowerCase()], isLeftOut ? undefined : value.trim());
      }
      assert.equal(headers[':authority'], new URL(server.origin).host);
    });
  }

  for (const length of [0, 1, 16_384, 16_385, 100_000, MAX_BODY_BYTES]) {
    test(`a response of ${length} bytes, four at a time, twice`, async () => {
      const streams = open();
      const body = Buffer.alloc(length, 'abcdefghij');
      server.state.behave = (stream) => respond(stream, body);
      for (const stream of [...streams, ...streams].map((one) => one)) {
        const { answer } = await exchange(stream).ended;
        assert.ok(answer?.status === 200 && answer.body.equals(body));
      }
      const all = await Promise.all(streams.map((stream) => exchange(stream).ended));
      for (const { answer } of all) assert.ok(answer?.body.equals(body));
      assert.equal(server.state.connections, 1);
      await close(streams);
    });
  }

  test('the first bytes of a response in several parts are noted once, with the first part', async () => {
    const [stream] = open({ streams: 1 });
    const events = /** @type {string[]} */ ([]);
    server.state.behave = async (response) => {
      response.respond({ ':status': 200 });
      for (const part of ['a', 'b', 'c']) {
        response.write(part);
        await pause();
        events.push(part);
      }
      response.end();
    };
    await new Promise((resolve) =>
      stream.send(
        { method: 'GET', path: '/', headers: {}, body: null },
        {
          onSent() {},
          onFirstBytes: () => void events.push('first bytes'),
          onResponse: (_, body) => resolve(events.push(Buffer.from(body).toString())),
          onFailure: resolve,
        },
      ),
    );
    await close([stream]);
    assert.equal(events.filter((event) => event === 'first bytes').length, 1);
    assert.ok(events.indexOf('first bytes') < events.indexOf('c'), events.join());
    assert.equal(events.at(-1), 'abc');
  });

  /**
   * The first of four requests at a time, what the server does with it, and the outcomes of all; then each stream sends
   * another request. Each request reaches the server at most once, and a refused one not at all or unprocessed.
   * @type {[name: string, behave: (stream: ServerHttp2Stream, nth: number) => void, outcomes: (number | string)[], connections: number][]}
   */
  const FAULTS = [
    ['nothing special', (stream) => respond(stream), [200, 200, 200, 200], 1],
    ...[
      'REFUSED_STREAM',
      'HTTP_1_1_REQUIRED',
      'INTERNAL_ERROR',
      'CANCEL',
      'ENHANCE_YOUR_CALM',
      'NO_ERROR',
    ].map((code) => {
      const name = { REFUSED_STREAM: 'stream_refused', HTTP_1_1_REQUIRED: 'http2_not_offered' }[code];
      const number = constants[/** @type {'NGHTTP2_CANCEL'} */ (`NGHTTP2_${code}`)];
      return /** @type {typeof FAULTS[number]} */ ([
        `RST_STREAM ${code}`,
        (stream, nth) => (nth === 1 ? stream.close(number) : respond(stream)),
        [name ?? 'stream_reset', 200, 200, 200],
        1,
      ]);
    }),
    [
      'RST_STREAM in the response',
      (stream, nth) => {
        if (nth !== 1) return respond(stream);
        stream.respond({ ':status': 200 });
        stream.write('part', () => stream.destroy(new Error('cut')));
      },
      ['truncated', 200, 200, 200],
      1,
    ],
    [
      'GOAWAY after which the rest is served',
      (stream, nth) => {
        if (nth === 1) sessionOf(stream).goaway(constants.NGHTTP2_NO_ERROR, 7);
        setTimeout(respond, 5, stream);
      },
      [200, 200, 200, 200],
      2,
    ],
    [
      'GOAWAY that leaves out the last two',
      (stream, nth) => {
        if (nth === 1) sessionOf(stream).goaway(constants.NGHTTP2_NO_ERROR, 3);
        setTimeout(respond, 5, stream);
      },
      [200, 200, 'stream_refused', 'stream_refused'],
      2,
    ],
    [
      'a close',
      (stream, nth) => {
        if (nth === 4) for (const socket of server.sockets) socket.destroy();
        if (nth > 4) respond(stream);
      },
      Array(4).fill('connection_reset'),
      2,
    ],
    [
      'a response that is too large',
      (stream, nth) => respond(stream, nth === 1 ? Buffer.alloc(MAX_BODY_BYTES + 1) : 'ok'),
      ['response_too_large', 200, 200, 200],
      1,
    ],
    [
      'a length that is too large',
      (stream, nth) => {
        if (nth === 1) stream.respond({ ':status': 200, 'content-length': MAX_BODY_BYTES + 1 });
        else respond(stream);
      },
      ['response_too_large', 200, 200, 200],
      1,
    ],
    [
      'interim responses and a trailer',
      (stream) => {
        stream.additionalHeaders({ ':status': 103 });
        stream.respond({ ':status': 404 }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ a: 'b' }));
        stream.end('ok');
      },
      [404, 404, 404, 404],
      1,
    ],
  ];
  for (const [name, behave, outcomes, connections] of FAULTS) {
    test(name, async () => {
      const streams = open();
      await streams[0].open(10_000);
      server.state.behave = behave;
      const paths = streams.map((_, i) => `/${i}`);
      const sent = streams.map((stream, i) => exchange(stream, { path: paths[i] }));
      const all = await Promise.all(sent.map(({ ended }) => ended));
      assert.deepEqual(
        all.map(({ answer, failure }) => answer?.status ?? failure),
        outcomes,
      );
      assert.deepEqual(
        all.map((one) => [one.sent, one.ends]),
        Array(4).fill([1, 1]),
      );
      const next = await Promise.all(streams.map((stream) => exchange(stream, { path: '/next' }).ended));
      for (const { answer } of next) assert.ok(answer !== null);
      const arrived = server.state.seen.map(({ path }) => path).sort();
      const isRefused = (/** @type {string} */ path) => outcomes[paths.indexOf(path)] === 'stream_refused';
      // The server may have read a refused request, but no request twice.
      const unread = paths.filter((path) => !arrived.includes(path));
      assert.ok(unread.every(isRefused), `${unread} did not arrive`);
      assert.deepEqual([...arrived, ...unread].sort(), [...paths, ...Array(4).fill('/next')]);
      assert.equal(server.state.connections, connections);
      await close(streams);
    });
  }

  test('a request that is given up is cancelled, and the others go on', async () => {
    const streams = open();
    /** @type {number[]} */
    const resets = [];
    server.state.behave = (stream, nth) => {
      stream.on('close', () => resets.push(stream.rstCode));
      if (nth > 1) setTimeout(respond, PATIENCE_MS, stream);
    };
    const [first, second] = [exchange(streams[0]), exchange(streams[1])];
    await until(() => server.state.seen.length === 2);
    streams[0].abort();
    assert.equal((await second.ended).answer?.status, 200);
    assert.deepEqual([first.events.ends, server.state.seen.length], [0, 2]);
    await until(() => resets.length === 2);
    assert.deepEqual(resets, [constants.NGHTTP2_CANCEL, constants.NGHTTP2_NO_ERROR]);
    await close(streams);
  });

  /** @type {[maxRequests: number | null, streams: number, connections: number][]} for 12 requests */
  const LIMITS = [
    [null, 4, 1],
    [1, 4, 12],
    [3, 4, 4],
    [5, 2, 3],
    [12, 1, 1],
  ];
  for (const [maxRequests, count, connections] of LIMITS) {
    test(`${maxRequests ?? 'no limit of'} requests per connection, ${count} at a time`, async () => {
      const handshakes = /** @type {Handshakes} */ ({});
      const streams = open({ streams: count, maxRequests, handshakes });
      assert.equal(streams[0].isOpen(), false);
      for (let i = 0; i < 12; i += count) {
        const all = await Promise.all(streams.map((stream) => exchange(stream).ended));
        for (const { answer } of all) assert.equal(answer?.status, 200);
      }
      const isLeft = maxRequests === null || 12 % maxRequests !== 0;
      assert.equal(streams[0].isOpen(), isLeft, 'with requests left to it');
      assert.equal(server.state.seen.length, 12);
      assert.equal(server.state.connections, connections);
      const [[name, counts]] = Object.entries(handshakes);
      assert.match(name, /^TLSv1\.3 TLS_\w+ h2$/);
      assert.deepEqual(counts, { count: connections, resumed: 0 });
      await until(() => server.sockets.size <= 1);
      assert.ok(server.sockets.size <= 1, `${server.sockets.size} connections are left open`);
      await close(streams);
    });
  }

  test('of the requests that wait for a connection, one has its handshake', async () => {
    const streams = open();
    const logs = await Promise.all(
      streams.map((stream) => {
        /** @type {string[]} */
        const log = [];
        return new Promise((resolve) =>
          stream.send(
            { method: 'GET', path: '/', headers: {}, body: null },
            {
              onConnect: () => void log.push('dial'),
              onConnected: () => void log.push('connected'),
              onSent: () => void log.push('sent'),
              onResponse: () => resolve(log.join(', ')),
              onFailure: resolve,
            },
          ),
        );
      }),
    );
    assert.deepEqual(logs, ['dial, connected, sent', ...Array(3).fill('dial, sent')]);
    await close(streams);
  });

  test('nothing is left open after a close, and a closed stream sends nothing', async () => {
    const streams = open();
    server.state.behave = () => {};
    const one = exchange(streams[0]);
    await until(() => server.state.seen.length === 1);
    await close(streams);
    assert.equal((await exchange(streams[1]).ended).failure, 'aborted');
    await assert.rejects(streams[2].open(1000), /cancelled/);
    await until(() => server.sockets.size === 0);
    assert.deepEqual([one.events.ends, server.sockets.size], [0, 0]);
  });
});

for (const headerTableSize of [0, 1024, 4096]) {
  const name = `a server with a header table of ${headerTableSize} bytes takes request after request`;
  // Otherwise Node gives up the connection, and at times keeps it open.
  test(name, { timeout: 30_000 }, async (t) => {
    const server = await startHttp2({ headerTableSize });
    const streams = createStreams({ origin: server.origin, tls: TLS, streams: 4 });
    t.after(() => Promise.all([...streams.map((stream) => stream.close()), server.stop()]));
    await streams[0].open(10_000);
    for (let i = 0; i < 50; i++) {
      const all = await Promise.all(streams.map((stream) => exchange(stream).ended));
      assert.deepEqual(
        all.map(({ answer, failure }) => answer?.status ?? failure),
        Array(4).fill(200),
      );
    }
    assert.equal(server.state.connections, 1);
  });
}

describe('a limit of streams', () => {
  test('is found before a run', async () => {
    const server = await startHttp2({ maxConcurrentStreams: 3 });
    const load = { timeoutMs: 10_000, concurrency: 10 };
    const check = (/** @type {number} */ streams) =>
      checkHttp2(server.origin, TLS, { ...load, streamsPerConnection: streams }, NEVER);
    await check(3);
    await assert.rejects(check(4), {
      code: 'too_few_streams',
      message: /allows 3 streams per connection, not 4/,
    });
    await checkHttp2(server.origin, TLS, { ...load, concurrency: 3, streamsPerConnection: 100 }, NEVER);
    await server.stop();
  });

  for (const [what, code, server] of /** @type {[string, string, Server][]} */ ([
    ['no TLS', 'tls_handshake_timeout', createServer((socket) => void socket.resume())],
    [
      'TLS, but no SETTINGS',
      'no_response',
      createTlsServer({ cert, key, ALPNProtocols: ['h2'] }, (socket) => void socket.resume()),
    ],
  ])) {
    test(`a server that speaks ${what} does not open in time: ${code}`, async () => {
      const { origin, stop } = await listenOn(server, server instanceof TlsServer ? 'https' : 'http');
      const [stream] = createStreams({ origin: origin.replace('http:', 'https:'), tls: TLS, streams: 1 });
      await assert.rejects(stream.open(50 * PATIENCE_MS), { code });
      await stream.close();
      await stop();
    });
  }

  test('a stop ends the search for it at once, with its connection and its timer', async () => {
    const silent = createTlsServer({ cert, key, ALPNProtocols: ['h2'] }, (socket) => void socket.resume());
    const { origin, sockets, stop } = await listenOn(silent, 'https');
    const interrupt = new AbortController();
    const load = { timeoutMs: 5000, concurrency: 10, streamsPerConnection: 10 };
    const check = checkHttp2(origin, TLS, load, interrupt.signal);
    const [socket] = await once(silent, 'secureConnection');
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    interrupt.abort();
    await assert.rejects(check, { code: 'interrupted' });
    await once(socket, 'close');
    assert.deepEqual([sockets.size, timers()], [0, before - 1]);
    await stop();
  });

  test('is kept in a run: what is above it is refused, and not sent', async () => {
    const server = await startHttp2({ maxConcurrentStreams: 2 });
    const streams = createStreams({ origin: server.origin, tls: TLS, streams: 4 });
    await exchange(streams[0]).ended;
    server.state.behave = (stream) => void setTimeout(respond, 5, stream);
    const all = await Promise.all(streams.map((stream) => exchange(stream).ended));
    assert.deepEqual(
      all.map(({ answer, failure, beforeSent }) => [answer?.status ?? failure, beforeSent]),
      [
        [200, null],
        [200, null],
        ['stream_refused', true],
        ['stream_refused', true],
      ],
    );
    assert.equal(server.state.seen.length, 3);
    await Promise.all(streams.map((stream) => stream.close()));
    await server.stop();
  });
});

describe('no HTTP/2', () => {
  for (const protocols of [['http/1.1'], undefined]) {
    test(`ALPN of the server: ${protocols ?? 'none'}`, async () => {
      const seen = /** @type {string[]} */ ([]);
      const tls = createTlsServer(
        { cert, key, ...(protocols ? { ALPNProtocols: protocols } : {}) },
        (socket) =>
          socket.on('error', () => {}).on('data', (chunk) => void seen.push(chunk.toString('latin1'))),
      );
      const { origin, stop } = await listenOn(tls, 'https');
      const load = { timeoutMs: 10_000, concurrency: 1, streamsPerConnection: 1 };
      await assert.rejects(checkHttp2(origin, TLS, load, NEVER), {
        code: 'http2_not_offered',
        message: `${origin} does not offer HTTP/2.`,
        remedy: /--http 1\.1/,
      });
      const [stream] = createStreams({ origin, tls: TLS, streams: 1 });
      const { failure, beforeSent } = await exchange(stream).ended;
      assert.deepEqual([failure, beforeSent, seen], ['http2_not_offered', true, []]);
      await stream.close();
      await stop();
    });
  }

  test('a target without TLS', async () => {
    const load = { timeoutMs: 10_000, concurrency: 1, streamsPerConnection: 1 };
    await assert.rejects(checkHttp2('http://127.0.0.1:1', TLS, load, NEVER), { code: 'http2_needs_tls' });
  });

  test('a dead target', async () => {
    const load = { timeoutMs: 10_000, concurrency: 1, streamsPerConnection: 1 };
    await assert.rejects(checkHttp2('https://127.0.0.1:1', TLS, load, NEVER), { code: 'connection_refused' });
    const streams = createStreams({ origin: 'https://127.0.0.1:1', tls: TLS, streams: 3 });
    const all = await Promise.all(streams.map((stream) => exchange(stream).ended));
    for (const { failure, beforeSent } of all)
      assert.deepEqual([failure, beforeSent], ['connection_refused', true]);
    await Promise.all(streams.map((stream) => stream.close()));
  });
});

const SETTINGS = frame(TYPE.SETTINGS, 0, 0);
const OK = Buffer.from([0x88]);
const END = FLAG.END_HEADERS | FLAG.END_STREAM;
/** @param {number} id @param {Buffer} [block] @param {number} [flags] */
const headers = (id, block = OK, flags = END) => frame(TYPE.HEADERS, flags, id, block);
/** @param {number} id @param {string | Buffer} text @param {number} [flags] */
const data = (id, text, flags = 0) => frame(TYPE.DATA, flags, id, Buffer.from(text));
/** @param {Buffer} bytes @param {number} count */
const repeat = (bytes, count) => Buffer.concat(Array(count).fill(bytes));
/** @param {(Buffer | number[])[]} parts */
const join = (...parts) => Buffer.concat(parts.map((part) => Buffer.from(part)));
/** Never stops, as fast as the client reads. @param {Buffer} first @param {Buffer} more */
const flood = (first, more) => (/** @type {number} */ _id, /** @type {Socket} */ socket) => {
  socket.write(first);
  const bytes = repeat(more, 100);
  const go = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('drain', go);
  go();
};

/** @typedef {(id: number, socket: Socket) => Buffer | void} Reply to a request */

/** Sends any bytes. `frames`: those of the client, as types and flags */
async function startFrames(/** @type {Buffer} */ first = SETTINGS) {
  const state = {
    reply: /** @type {Reply} */ ((id) => headers(id)),
    requests: 0,
    first,
    onConnection: () => {},
  };
  const server = createServer((socket) => {
    let pending = Buffer.alloc(0);
    let isOpen = false;
    socket.write(state.first);
    socket.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      if (!isOpen && pending.length < 24) return;
      if (!isOpen) pending = pending.subarray(24);
      isOpen = true;
      while (pending.length >= 9 && pending.length >= 9 + pending.readUIntBE(0, 3)) {
        const [type, id] = [pending[3], pending.readUInt32BE(5)];
        pending = pending.subarray(9 + pending.readUIntBE(0, 3));
        if (type !== TYPE.HEADERS) continue;
        state.requests++;
        const reply = state.reply(id, socket);
        if (reply) socket.write(reply);
      }
    });
  });
  return { state, server, ...(await listenOn(server, 'http')) };
}

describe('on a server that sends any frames', () => {
  /** @type {Awaited<ReturnType<typeof startFrames>>} */
  let server;
  before(async () => {
    server = await startFrames();
  });
  after(() => server.stop());

  const PART = FLAG.END_HEADERS;
  const LENGTH_2 = Buffer.from([0x88, 0x0f, 0x0d, 0x01, 0x32]);
  const PING = frame(TYPE.PING, 0, 0, Buffer.alloc(8));
  const MORE = Buffer.from([0x00, 0x01, 0x61, 0x01, 0x62]);
  /** @type {[name: string, reply: Reply, outcome: number | string, body?: string][]} */
  const ROWS = [
    ['headers alone', (id) => headers(id), 200, ''],
    ['headers and data', (id) => join(headers(id, OK, PART), data(id, 'ab'), data(id, 'c', 1)), 200, 'abc'],
    ['an empty last frame', (id) => join(headers(id, OK, PART), data(id, 'ab'), data(id, '', 1)), 200, 'ab'],
    [
      'padded data',
      (id) => join(headers(id, OK, PART), frame(0, 9, id, Buffer.from('\x02ab\0\0'))),
      200,
      'ab',
    ],
    [
      'padding longer than the frame',
      (id) => join(headers(id, OK, PART), frame(0, 9, id, Buffer.from('\x04ab'))),
      'bad_http',
    ],
    [
      'padded data without the length of its padding',
      (id) => join(headers(id, OK, PART), frame(0, 9, id)),
      'bad_http',
    ],
    [
      'padded headers with a priority',
      (id) => headers(id, join([1, 0, 0, 0, 0, 9], OK, [0]), END | 0x28),
      200,
    ],
    [
      'headers in three frames',
      (id) => join(headers(id, OK, 1), frame(9, 0, id, MORE), frame(9, 4, id, MORE)),
      200,
    ],
    ['a frame of another stream in a header block', (id) => join(headers(id, OK, 1), PING), 'bad_http'],
    [
      'a continuation of another stream',
      (id) => join(headers(id, OK, 1), frame(9, 4, id + 2, MORE)),
      'bad_http',
    ],
    ['a continuation of nothing', (id) => frame(9, 4, id, MORE), 'bad_http'],
    [
      'endless continuations',
      (id, socket) => flood(headers(id, OK, 1), frame(9, 0, id, repeat(MORE, 100)))(id, socket),
      'bad_http',
    ],
    [
      'endless empty continuations',
      (id, socket) => flood(headers(id, OK, 1), frame(9, 0, id))(id, socket),
      'bad_http',
    ],
    ['headers of 16 kB', (id) => headers(id, join(OK, repeat(MORE, 3276))), 200],
    ['endless PING', flood(Buffer.alloc(0), PING), 'bad_http'],
    ['endless SETTINGS', flood(Buffer.alloc(0), SETTINGS), 'bad_http'],
    [
      'endless WINDOW_UPDATE',
      (id, socket) => flood(Buffer.alloc(0), numberFrame(8, 0, 1))(id, socket),
      'bad_http',
    ],
    ['endless unknown frames', flood(Buffer.alloc(0), frame(0x42, 0, 0, Buffer.alloc(1000))), 'bad_http'],
    [
      'endless empty data',
      (id, socket) => flood(headers(id, OK, PART), data(id, ''))(id, socket),
      'bad_http',
    ],
    [
      'endless interim responses',
      (id, socket) => flood(Buffer.alloc(0), headers(id, join([8, 3], Buffer.from('103')), PART))(id, socket),
      'bad_http',
    ],
    [
      'endless data of an old stream',
      (id, socket) => flood(headers(id, OK, PART), data(1, 'x'))(id, socket),
      'bad_http',
    ],
    [
      'endless data',
      (id, socket) => flood(headers(id, OK, PART), data(id, 'x'.repeat(16_384)))(id, socket),
      'response_too_large',
    ],
    [
      'a byte in each frame',
      (id) => join(headers(id, OK, PART), repeat(data(id, 'x'), 20_000), data(id, '', 1)),
      200,
      'x'.repeat(20_000),
    ],
    [
      'a frame of 16,385 bytes',
      (id) => join(headers(id, OK, PART), data(id, 'x'.repeat(16_385), 1)),
      'bad_http',
    ],
    [
      'a body shorter than its length',
      (id) => join(headers(id, LENGTH_2, PART), data(id, 'a', 1)),
      'truncated',
    ],
    [
      'a body longer than its length',
      (id) => join(headers(id, LENGTH_2, PART), data(id, 'abc', 1)),
      'bad_http',
    ],
    ['a body of its length', (id) => join(headers(id, LENGTH_2, PART), data(id, 'ab', 1)), 200, 'ab'],
    ['data before headers', (id) => data(id, 'ab', 1), 'bad_http'],
    ['no status', (id) => headers(id, MORE), 'bad_http'],
    ['status 101', (id) => headers(id, join([8, 3], Buffer.from('101')), PART), 'bad_http'],
    ['an interim response that ends', (id) => headers(id, join([8, 3], Buffer.from('103'))), 'bad_http'],
    ['a status in a trailer', (id) => join(headers(id, OK, PART), headers(id)), 'bad_http'],
    ['a trailer that does not end', (id) => join(headers(id, OK, PART), headers(id, MORE, PART)), 'bad_http'],
    ['a trailer', (id) => join(headers(id, OK, PART), data(id, 'ab'), headers(id, MORE)), 200, 'ab'],
    ['a push', (id) => frame(5, 4, id, Buffer.from([0, 0, 0, 2, 0x82])), 'bad_http'],
    ['a stream of the server', () => headers(2), 'bad_http'],
    ['a stream that does not exist', (id) => headers(id + 2), 'bad_http'],
    ['SETTINGS of 5 bytes', () => frame(4, 0, 0, Buffer.alloc(5)), 'bad_http'],
    ['SETTINGS of a stream', (id) => frame(4, 0, id), 'bad_http'],
    ['a window of 2^31', () => frame(4, 0, 0, Buffer.from('000480000000', 'hex')), 'bad_http'],
    ['a window that overflows', () => numberFrame(8, 0, 0x7fffffff), 'bad_http'],
    ['a window that grows by 0', (id) => numberFrame(8, id, 0), 'bad_http'],
    ['PING of 7 bytes', () => frame(6, 0, 0, Buffer.alloc(7)), 'bad_http'],
    ['GOAWAY of 7 bytes', () => frame(7, 0, 0, Buffer.alloc(7)), 'bad_http'],
    ['RST_STREAM of 3 bytes', (id) => frame(3, 0, id, Buffer.alloc(3)), 'bad_http'],
    ['HTTP/1.1', () => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), 'bad_http'],
    [
      'a priority and unknown frames',
      (id) => join(frame(2, 0, id, Buffer.alloc(5)), frame(0x42, 0, 9), headers(id)),
      200,
    ],
    ['a close', (_, socket) => void socket.end(), 'connection_reset'],
    ['a close in a frame', (id, socket) => void socket.end(headers(id).subarray(0, 5)), 'connection_reset'],
    ['a close in the body', (id, socket) => void socket.end(headers(id, OK, PART)), 'truncated'],
    ['silence', () => {}, 'hangs'],
    [
      'a byte at a time',
      (id, socket) => void drip(join(headers(id, OK, PART), data(id, 'abc', 1)), socket),
      200,
      'abc',
    ],
  ];
  const drip = async (/** @type {Buffer} */ bytes, /** @type {Socket} */ socket) => {
    for (const byte of bytes) {
      socket.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  for (const [name, reply, outcome, body] of ROWS) {
    test(`${name}: ${outcome}`, async () => {
      const [stream, other] = createStreams({ origin: server.origin, tls: TLS, streams: 2 });
      server.state.reply = (id) => headers(id);
      await exchange(stream).ended;
      Object.assign(server.state, { reply, requests: 0 });
      const { events, ended } = exchange(stream);
      if (outcome === 'hangs') {
        await pause();
        stream.abort();
      } else {
        await ended;
        assert.equal(events.answer?.status ?? events.failure, outcome);
        if (body !== undefined) assert.equal(events.answer?.body.toString('latin1'), body);
      }
      assert.deepEqual([events.sent, server.state.requests], [1, 1]);
      server.state.reply = (id) => headers(id);
      const next = await Promise.all([stream, other].map((one) => exchange(one).ended));
      assert.deepEqual(
        next.map(({ answer }) => answer?.status),
        [200, 200],
      );
      await Promise.all([stream.close(), other.close()]);
    });
  }

  test('a stalled window: nothing more is sent, the request is given up, the next goes over another connection', async () => {
    const stalled = await startFrames(frame(4, 0, 0, Buffer.from('000400000000', 'hex')));
    stalled.state.reply = () => {};
    const [stream] = createStreams({ origin: stalled.origin, tls: TLS, streams: 1 });
    await stream.open(10_000);
    const { events } = exchange(stream, { method: 'POST', body: 'abc' });
    await pause();
    assert.deepEqual([events.sent, events.ends, stalled.sockets.size], [1, 0, 1]);
    stream.abort();
    stalled.state.reply = (id) => headers(id);
    assert.equal((await exchange(stream).ended).answer?.status, 200);
    assert.equal(stalled.state.requests, 2);
    await stream.close();
    await stalled.stop();
  });

  /** A session on a socket that only keeps what is written. @param {(stream: Stream) => unknown} [sendElsewhere] */
  const dialled = (sendElsewhere = () => assert.fail(), isReady = true) => {
    const calls = /** @type {any} */ ({});
    const written = /** @type {Buffer[]} */ ([]);
    const socket = /** @type {any} */ ({ destroy() {}, writableLength: 0 });
    const session = new Session(1e6, { isTls: false, atProxy: false }, () => {}, sendElsewhere);
    session.dial((given) => {
      Object.assign(calls, given);
      socket.write = (/** @type {Buffer} */ bytes) => void written.push(bytes);
      return socket;
    });
    if (isReady) calls.ready();
    /** @param {Buffer} settings whose turn of the event loop ends */
    const settle = async (settings) => {
      calls.read(settings);
      await new Promise((resolve) => setImmediate(resolve));
    };
    return { session, read: calls.read, settle, written, socket };
  };

  test('a request refused for want of a stream leaves those of others alone, whatever its last stream was', async () => {
    const send = (
      /** @type {Stream} */ stream,
      /** @type {Session} */ session,
      /** @type {string[]} */ events,
    ) => {
      const onFailure = (/** @type {string} */ outcome) => events.push(outcome);
      stream.begin(
        /** @type {any} */ ({
          onSent() {},
          onResponse: (/** @type {number} */ status) => events.push(`${status}`),
          onFailure,
        }),
      );
      stream.block = Buffer.from([0x82]);
      session.add(stream);
    };
    const OK = Buffer.from([0x88]);
    const [one, other] = [new Stream(), new Stream()];
    const events = { one: /** @type {string[]} */ ([]), other: /** @type {string[]} */ ([]) };
    const first = dialled();
    await first.settle(SETTINGS);
    send(one, first.session, events.one);
    first.read(join(headers(1, OK), frame(TYPE.GOAWAY, 0, 0, Buffer.alloc(8))));
    const second = dialled();
    await second.settle(frame(TYPE.SETTINGS, 0, 0, Buffer.from('000300000001', 'hex')));
    send(other, second.session, events.other);
    send(one, second.session, events.one);
    second.read(headers(1, OK));
    assert.deepEqual(events, { one: ['200', 'stream_refused'], other: ['200'] });
  });

  /** @type {[string, Buffer][]} */
  const lastFrames = [
    ['GOAWAY', frame(TYPE.GOAWAY, 0, 0, Buffer.from('0000000100000000', 'hex'))],
    ['frame that is wrong', frame(TYPE.GOAWAY, 0, 0, Buffer.alloc(7))],
  ];
  for (const [name, lastFrame] of lastFrames)
    test(`a request that a response sets free before a ${name} in the same chunk goes to another connection`, async () => {
      const elsewhere = /** @type {Stream[]} */ ([]);
      const { session, read, settle, written } = dialled((stream) => elsewhere.push(stream));
      await settle(SETTINGS);
      const events = /** @type {string[]} */ ([]);
      const send = (/** @type {Stream} */ stream, /** @type {string} */ name, then = () => {}) => {
        const end = (/** @type {string | number} */ what) => {
          events.push(`${name}: ${what}`);
          then();
        };
        stream.begin(
          /** @type {any} */ ({
            onSent: () => events.push(`${name}: sent`),
            onResponse: end,
            onFailure: end,
          }),
        );
        stream.block = Buffer.from([0x82]);
        session.add(stream);
      };
      const next = new Stream();
      send(new Stream(), 'first', () => send(next, 'next'));
      const before = written.length;
      read(join(headers(1, Buffer.from([0x88])), lastFrame));
      assert.deepEqual(events, ['first: sent', 'first: 200']);
      assert.equal(written.length, before);
      assert.deepEqual(elsewhere, [next]);
      assert.equal(next.session, null);
    });

  test('a response to the next request, in the next TLS record, ends the connection: that request was not sent yet', async () => {
    const elsewhere = /** @type {Stream[]} */ ([]);
    const { session, read, settle, written } = dialled((stream) => elsewhere.push(stream));
    await settle(SETTINGS);
    const statuses = /** @type {number[]} */ ([]);
    const [first, next] = [new Stream(), new Stream()];
    const send = (/** @type {Stream} */ stream, then = () => {}) => {
      const onResponse = (/** @type {number} */ status) => {
        statuses.push(status);
        then();
      };
      stream.begin(/** @type {any} */ ({ onSent() {}, onResponse, onFailure: assert.fail }));
      stream.block = Buffer.from([0x82]);
      session.add(stream);
    };
    send(first, () => send(next));
    const before = written.length;
    for (const id of [1, 3]) read(headers(id, Buffer.from([0x88])));
    assert.deepEqual([statuses, elsewhere, written.length], [[200], [next], before]);
  });

  test('tells of a response that the server may have held back until others were read', async () => {
    const { session, read, settle } = dialled();
    await settle(SETTINGS);
    const waited = /** @type {unknown[]} */ ([]);
    const send = () => {
      const stream = new Stream();
      const onResponse = (/** @type {unknown[]} */ ...[, , mayHaveWaited]) => waited.push(mayHaveWaited);
      stream.begin(
        /** @type {any} */ ({ onSent() {}, onFirstBytes() {}, onResponse, onFailure: assert.fail }),
      );
      stream.block = Buffer.from([0x82]);
      session.add(stream);
    };
    for (let i = 0; i < 3; i++) send();
    await settle(headers(3));
    read(headers(1, OK, FLAG.END_HEADERS));
    for (let i = 0; i < 4; i++) read(data(1, Buffer.alloc(16_384)));
    await settle(data(1, 'x'));
    await settle(headers(5));
    send();
    await settle(headers(7));
    assert.deepEqual(waited, [false, true, false]);
  });

  test('a request handed over while records are read, and given up: nothing was read since it was sent, so the next opens a connection', async () => {
    const { session, read, settle } = dialled();
    await settle(SETTINGS);
    const update = numberFrame(TYPE.WINDOW_UPDATE, 0, 1);
    read(update);
    const stream = new Stream();
    stream.begin(/** @type {any} */ ({ onSent() {}, onResponse: assert.fail, onFailure: assert.fail }));
    stream.block = Buffer.from([0x82]);
    session.add(stream);
    await settle(update);
    assert.ok(stream.isSent);
    session.abort(stream);
    assert.equal(session.left, 0);
  });

  test('a request given up before its connection is open: the next one opens another, whatever this stream was used for', async () => {
    const begin = (/** @type {Stream} */ stream) => {
      stream.begin(
        /** @type {any} */ ({ onSent() {}, onConnect() {}, onResponse() {}, onFailure: assert.fail }),
      );
      stream.block = Buffer.from([0x82]);
      return stream;
    };
    const first = dialled();
    await first.settle(SETTINGS);
    const streams = [new Stream(), new Stream()];
    for (const stream of streams) first.session.add(begin(stream));
    first.read(join(headers(1), headers(3)));
    const { session } = dialled(undefined, false);
    for (const stream of streams) session.add(begin(stream));
    session.abort(streams[0]);
    assert.equal(session.left, 0);
  });

  for (const [name, isRead] of /** @type {const} */ ([
    ['that reads their acknowledgements', true],
    ['that does not', false],
  ]))
    test(`a server of many SETTINGS ${name}`, async () => {
      const { session, read, settle, socket } = dialled();
      await settle(SETTINGS);
      // Over TLS, something is nearly always queued.
      socket.writableLength = 9;
      const { write } = socket;
      socket.write = (/** @type {Buffer} */ bytes, /** @type {() => void} */ onWritten = () => {}) => {
        write(bytes);
        if (isRead) onWritten();
      };
      const respond = async () => {
        const stream = new Stream();
        stream.begin(/** @type {any} */ ({ onSent() {}, onResponse() {}, onFailure() {} }));
        stream.block = Buffer.from([0x82]);
        session.add(stream);
        await new Promise((resolve) => setImmediate(resolve));
        read(headers(stream.id, Buffer.from([0x88])));
      };
      for (let i = 0; i < 3 && session.isOpen; i++) {
        for (let k = 0; k < 4000; k++) read(SETTINGS);
        await respond();
      }
      assert.equal(session.isOpen, isRead);
    });

  test('a server that takes a request in many small pieces', async () => {
    const { session, read, settle } = dialled();
    await settle(frame(TYPE.SETTINGS, 0, 0, Buffer.from('000400000001', 'hex')));
    const events = /** @type {(string | number)[]} */ ([]);
    const end = (/** @type {string | number} */ what) => events.push(what);
    const stream = new Stream();
    stream.begin(/** @type {any} */ ({ onSent() {}, onResponse: end, onFailure: end }));
    stream.block = Buffer.from([0x82]);
    stream.unsent = Buffer.alloc(30_001);
    session.add(stream);
    // As Go does: one for the stream and one for the connection.
    const more = join(numberFrame(TYPE.WINDOW_UPDATE, 1, 1), numberFrame(TYPE.WINDOW_UPDATE, 0, 1));
    for (let i = 0; i < 30_000; i++) read(more);
    assert.equal(stream.unsent, null);
    read(headers(1, Buffer.from([0x88])));
    assert.deepEqual(events, [200]);
  });

  test('a small request that waits for the window is held back, and written when it opens', async () => {
    const { session, read, settle, written, socket } = dialled();
    // The window of a stream is 4 bytes.
    await settle(frame(TYPE.SETTINGS, 0, 0, Buffer.from('000400000004', 'hex')));
    const events = /** @type {string[]} */ ([]);
    const note = (/** @type {string} */ what) => () => events.push(what);
    const stream = new Stream();
    stream.begin(
      /** @type {any} */ ({
        onSent: note('sent'),
        onHeldBack: note('held back'),
        onWritten: note('written'),
      }),
    );
    stream.block = Buffer.from([0x82]);
    stream.unsent = Buffer.from('12345');
    session.add(stream);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(events, ['sent', 'held back']);
    socket.write = (/** @type {Buffer} */ bytes, /** @type {() => void} */ done) => {
      written.push(bytes);
      done();
    };
    read(numberFrame(TYPE.WINDOW_UPDATE, 1, 1));
    assert.deepEqual(events, ['sent', 'held back', 'written']);
    assert.equal(String(written.at(-1)?.subarray(9)), '5');
  });

  test('a success before the whole request was sent is an error', async () => {
    const stalled = await startFrames(frame(4, 0, 0, Buffer.from('000400000000', 'hex')));
    const [stream] = createStreams({ origin: stalled.origin, tls: TLS, streams: 1 });
    await stream.open(10_000);
    assert.equal((await exchange(stream, { method: 'POST', body: 'abc' }).ended).failure, 'bad_http');
    stalled.state.reply = (id) => headers(id, Buffer.from([0x8c]));
    assert.equal((await exchange(stream, { method: 'POST', body: 'abc' }).ended).answer?.status, 400);
    await stream.close();
    await stalled.stop();
  });

  test('a server that responds without reading: requests do not pile up', async () => {
    const windows = join(frame(4, 0, 0, Buffer.from('00047fffffff', 'hex')), numberFrame(8, 0, 2 ** 30));
    const deaf = await startFrames(windows);
    const [stream] = createStreams({ origin: deaf.origin, tls: TLS, streams: 1 });
    await stream.open(10_000);
    const [first] = deaf.sockets;
    first.pause();
    const body = Buffer.alloc(MAX_BODY_BYTES);
    let sent = 0;
    for (; deaf.sockets.size === 1 && sent < 20; sent++) {
      const { ended } = exchange(stream, { method: 'POST', body });
      first.write(headers(2 * sent + 1));
      await Promise.race([ended, once(deaf.server, 'connection')]);
    }
    assert.ok(sent < 20, 'all over one connection');
    await stream.close();
    await deaf.stop();
  });

  test('a server that sends without reading or responding: requests do not pile up', async () => {
    const windows = join(frame(4, 0, 0, Buffer.from('00047fffffff', 'hex')), numberFrame(8, 0, 2 ** 30));
    const deaf = await startFrames(windows);
    const [stream] = createStreams({ origin: deaf.origin, tls: TLS, streams: 1 });
    await stream.open(10_000);
    const [first] = deaf.sockets;
    first.pause();
    const body = Buffer.alloc(MAX_BODY_BYTES / 2);
    const other = once(deaf.server, 'connection').then(() => true);
    let sent = 0;
    for (let isOther = false; !isOther && sent < 40; sent++) {
      exchange(stream, { method: 'POST', body });
      first.write(frame(TYPE.PING, 0, 0, Buffer.alloc(8)));
      isOther = await Promise.race([other, pause().then(() => false)]);
      stream.abort();
    }
    assert.ok(sent < 40, 'all over one connection');
    // Not given up because of the timeouts: the server was there.
    assert.ok(sent > 2, 'no longer used after one timeout');
    await stream.close();
    await deaf.stop();
  });

  test('a server that does not begin with SETTINGS', async () => {
    const wrong = await startFrames(frame(6, 0, 0, Buffer.alloc(8)));
    const [stream] = createStreams({ origin: wrong.origin, tls: TLS, streams: 1 });
    await assert.rejects(stream.open(10_000), { code: 'bad_http' });
    await stream.close();
    await wrong.stop();
  });
});
