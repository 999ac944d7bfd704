import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import { createServer as createRawServer } from 'node:net';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { createConnection } from '../../src/http/connection.js';
import { MAX_BODY_BYTES } from '../../src/http/response-reader.js';
import { altNames, TestCa } from '../pki/test-ca.js';
import { connectTo, exchange, startRaw, whole } from './raw-server.js';

/** @import { TestContext } from 'node:test' */
/** @import { Tls } from '../../src/http/tls.js' */
/** @import { Behaviour } from './raw-server.js' */
/** @import { Request } from '../../src/http/exchange.js' */
/** @import { RequestListener } from 'node:http' */
/** @import { AddressInfo } from 'node:net' */

/** @param {string | Buffer} text @returns {Behaviour} */
const write = (text) => (socket) => void socket.write(text);
/** @param {string | Buffer} text @returns {Behaviour} */
const end = (text) => (socket) => void socket.end(text);
const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const ok = write(whole('hello'));

/** What the server does; the outcome; whether the connection can be used again. @type {Record<string, [Behaviour, string | number, boolean]>} */
const BEHAVIOURS = {
  'a complete response': [ok, 200, true],
  'an empty body': [write(whole('')), 200, true],
  'no content': [write('HTTP/1.1 204 No Content\r\n\r\n'), 204, true],
  chunks: [write(`${CHUNKED}2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n`), 200, true],
  'early hints first': [write(`HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${whole('hello')}`), 200, true],
  'a redirect': [write('HTTP/1.1 307 T\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n'), 307, true],
  'an error with a body': [write('HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\n{}'), 503, true],
  'the largest body that is read': [write(whole(Buffer.alloc(MAX_BODY_BYTES, 'x'))), 200, true],
  'a body one byte longer': [write(whole(Buffer.alloc(MAX_BODY_BYTES + 1))), 'response_too_large', false],
  'HTTP/1.0 and a close': [end('HTTP/1.0 200 OK\r\n\r\nhello'), 200, false],
  'an announced close': [end(whole('hello', 'Connection: close\r\n')), 200, false],
  'two responses to one request': [write(Buffer.concat([whole('hello'), whole('more')])), 200, false],
  'a response and garbage': [write(`${whole('hello')}more`), 200, false],
  'a close without a response': [(socket) => socket.destroy(), 'connection_reset', false],
  'a reset': [(socket) => socket.resetAndDestroy(), 'connection_reset', false],
  'a close in the head': [end(`${OK}Content-Ty`), 'connection_reset', false],
  'a close in the body': [end(`${OK}Content-Length: 50\r\n\r\nhel`), 'truncated', false],
  'a close in a chunk': [end(`${CHUNKED}20\r\nhel`), 'truncated', false],
  'a chunk without a length': [write(`${CHUNKED}zz\r\nhel`), 'bad_http', false],
  garbage: [end('\x00\x01 this is not HTTP\r\n\r\n'), 'bad_http', false],
  'a TLS alert': [end('\x15\x03\x01\x00\x02\x02\x46'), 'wrong_scheme_http_to_https_port', false],
};

/** @type {Awaited<ReturnType<typeof startRaw>>} */
let server;
/** @type {ReturnType<typeof connectTo>} */
let connection;
beforeEach(async () => {
  server = await startRaw(ok);
  connection = connectTo(server.origin);
});
afterEach(async () => {
  await connection.close();
  await server.stop();
});

/** @param {Behaviour} behave @param {Parameters<typeof exchange>[1]} [request] */
function ask(behave, request) {
  server.state.behave = behave;
  return exchange(connection, request).ended;
}

/** @param {() => boolean} holds */
async function until(holds) {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

describe('an exchange', () => {
  for (const [name, [behave, outcome, isReusable]] of Object.entries(BEHAVIOURS)) {
    test(`with ${name} ends once, with ${outcome}; the next request succeeds`, async () => {
      await connection.open(10_000);
      const first = await ask(behave);
      assert.deepEqual([first.sent, first.ends, first.sentFirst], [1, 1, true]);
      assert.equal(first.answer?.status ?? first.failure, outcome);
      if (first.failure !== null) assert.equal(first.beforeSent, false);
      const second = await ask(ok, { method: 'POST', body: 'abc' });
      assert.deepEqual([second.answer?.status, String(second.answer?.body), second.sent], [200, 'hello', 1]);
      assert.equal(server.state.connections, isReusable ? 1 : 2);
      assert.equal(server.state.requests, 2, 'nothing is sent twice or followed');
      assert.deepEqual([first.sent, first.ends], [1, 1]);
    });
  }

  test('delivers every byte of any body over one connection', async () => {
    for (const length of [10, 20_000, 0, MAX_BODY_BYTES, 16_384, 16_385, 3]) {
      const body = Buffer.alloc(length, `${length} bytes `);
      const { answer } = await ask(write(whole(body)));
      assert.ok(answer?.body.equals(body), `${length}`);
    }
    assert.equal(server.state.connections, 1);
  });

  test('any sequence of exchanges: each sends once, ends once and gets its own response', async () => {
    const names = fc.array(fc.constantFrom(...Object.keys(BEHAVIOURS)), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(names, async (sequence) => {
        const own = connectTo(server.origin);
        /** @type {{name: string, result: string | number, sent: number, ends: number}[]} */
        const log = [];
        await new Promise((resolve) => {
          const next = () => {
            if (log.length === sequence.length) return resolve(undefined);
            const entry = { name: sequence[log.length], result: /** @type {any} */ (''), sent: 0, ends: 0 };
            log.push(entry);
            const finish = (/** @type {string | number} */ result) => {
              entry.result = result;
              if (++entry.ends === 1) next();
            };
            server.state.behave = BEHAVIOURS[entry.name][0];
            own.send(
              { method: 'POST', path: '/', headers: {}, body: 'abc' },
              { onSent: () => void entry.sent++, onResponse: finish, onFailure: finish },
            );
          };
          next();
        });
        await own.close();
        for (const entry of log) {
          assert.deepEqual(entry, { ...entry, sent: 1, ends: 1, result: BEHAVIOURS[entry.name][1] });
        }
      }),
      { numRuns: 20 },
    );
  });
});

describe('a connection', () => {
  test('is opened in advance, used, and reopened after the server closes it', async () => {
    assert.equal(connection.isOpen(), false);
    await connection.open(10_000);
    for (let i = 0; i < 5; i++) assert.equal((await ask(ok)).answer?.status, 200);
    assert.deepEqual([server.state.connections, server.state.requests], [1, 5]);
    assert.equal(connection.isOpen(), true);
    for (const open of [true, false]) {
      if (open) await connection.open(10_000);
      for (const socket of server.sockets) socket.end();
      await until(() => server.sockets.size === 0);
      await until(() => !connection.isOpen());
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal((await ask(ok)).answer?.status, 200);
    }
  });

  test('aborting an exchange calls nothing back; the next exchange gets a new connection', async () => {
    for (const silent of [() => {}, write(`${OK}Content-Length: 9\r\n\r\nx`)]) {
      server.state.behave = silent;
      const before = server.state.requests;
      const { events } = exchange(connection);
      await until(() => server.state.requests > before);
      connection.abort();
      assert.equal((await ask(ok)).answer?.body.toString(), 'hello');
      assert.deepEqual([events.sent, events.ends], [1, 0]);
    }
  });

  test('a refused connection fails before anything is sent; later it works again', async () => {
    await ask(ok);
    await server.stop();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const refused = await exchange(connection).ended;
    assert.deepEqual([refused.failure, refused.beforeSent, refused.sent], ['connection_refused', true, 0]);
    const message = 'refused the connection: nothing is listening there';
    await assert.rejects(connection.open(10_000), { message });
    server = await startRaw(ok, server.port);
    assert.equal((await ask(ok)).answer?.status, 200);
  });

  test('close ends the wait for a handshake, and later ones do not begin', { timeout: 30_000 }, async (t) => {
    const silent = createRawServer().listen(0, '127.0.0.1');
    t.after(() => silent.close());
    await once(silent, 'listening');
    const { port } = /** @type {AddressInfo} */ (silent.address());
    const own = createConnection({
      origin: `https://127.0.0.1:${port}`,
      tls: { rejectUnauthorized: true },
    });
    const opening = own.open(60_000);
    const [socket] = await once(silent, 'connection');
    const message = 'received a request that this tool then cancelled';
    const ended = Promise.all([
      assert.rejects(opening, { message }),
      once(socket.on('error', () => {}).resume(), 'close'),
    ]);
    await own.close();
    await ended;
    await assert.rejects(own.open(60_000), { message });
    assert.equal(process.getActiveResourcesInfo().includes('TLSWrap'), false);
  });

  for (const [status, outcome, isDelimited] of /** @type {const} */ ([
    [200, 'bad_http', true],
    [413, 413, true],
    [200, 'bad_http', false],
    [413, 413, false],
  ])) {
    const form = isDelimited ? '' : ', its body ended by the end of the connection';
    test(`HTTP ${status}${form} before the request is sent: ${outcome}, and the connection ends`, async (t) => {
      const early = createRawServer({ allowHalfOpen: true }, (socket) => {
        socket.on('error', () => {}).pause();
        if (isDelimited) socket.write(`HTTP/1.1 ${status} X\r\nContent-Length: 2\r\n\r\nok`);
        else socket.end(`HTTP/1.1 ${status} X\r\n\r\nok`);
        t.after(() => socket.destroy());
      }).listen(0, '127.0.0.1');
      t.after(() => early.close());
      await once(early, 'listening');
      const { port } = /** @type {AddressInfo} */ (early.address());
      const own = connectTo(`http://127.0.0.1:${port}`);
      const body = Buffer.alloc(32 * 1024 * 1024);
      const ended = await exchange(own, { method: 'POST', body }).ended;
      assert.equal(ended.answer?.status ?? ended.failure, outcome);
      const [again] = await Promise.all([
        exchange(own, { method: 'POST', body }).ended,
        once(early, 'connection'),
      ]);
      assert.equal(again.answer?.status ?? again.failure, outcome);
      await own.close();
    });
  }

  test('after close nothing is sent; a request that HTTP does not allow fails without an exception', async () => {
    const bad = await ask(ok, { headers: { 'bad header': 'x' } });
    assert.deepEqual([bad.answer, bad.beforeSent, bad.ends], [null, true, 1]);
    await connection.close();
    const closed = await ask(ok);
    assert.deepEqual([closed.failure, closed.beforeSent, server.state.requests], ['aborted', true, 0]);
  });
});

test('a large request is reported when the kernel has all of it, and only then', async () => {
  const body = Buffer.alloc(8_000_000);
  let read = () => {};
  const reading = new Promise((resolve) => {
    read = () => resolve(undefined);
  });
  const slow = createPlainServer(async (incoming, response) => {
    await reading;
    incoming.resume().on('end', () => response.end('hello'));
  });
  await once(slow.listen(0, '127.0.0.1'), 'listening');
  const own = connectTo(`http://127.0.0.1:${/** @type {AddressInfo} */ (slow.address()).port}`);
  await own.open(10_000);
  const { events, ended } = exchange(own, { method: 'POST', body });
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.deepEqual([events.sent, events.written, events.ends], [1, 0, 0]);
  read();
  await ended;
  assert.deepEqual([events.written, events.answer?.status], [1, 200]);
  await own.close();
  slow.close();
});

test('a large request that was answered early does not report that the next one is written', async () => {
  const refusing = createRawServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.write('HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n'));
  });
  await once(refusing.listen(0, '127.0.0.1'), 'listening');
  const own = connectTo(`http://127.0.0.1:${/** @type {AddressInfo} */ (refusing.address()).port}`);
  const events = /** @type {string[]} */ ([]);
  await new Promise((resolve) => {
    const request = /** @type {Request} */ ({
      ...{ method: 'POST', path: '/', headers: {}, body: Buffer.alloc(8_000_000) },
    });
    let left = 3;
    // As a slot: one object for all requests.
    const all = {
      onSent: () => void events.push('sent'),
      onWritten: () => void events.push('written'),
      onResponse() {
        left -= 1;
        if (left > 0) own.send(request, all);
        else resolve(undefined);
      },
      onFailure: (/** @type {string} */ failure) => resolve(assert.fail(failure)),
    };
    own.send(request, all);
  });
  assert.deepEqual(events, ['sent', 'sent', 'sent']);
  await own.close();
  refusing.close();
});

describe('with and without TLS', () => {
  const CONNECTIONS = 8;
  const ca = new TestCa();
  const trust = { ca: [ca.ca.pem], rejectUnauthorized: true };
  /** Answers with as many bytes as the path says, all of them the connection's own. @type {RequestListener} */
  const answer = ({ url = '' }, res) => {
    const [, length, letter] = url.split('/');
    res.end(letter.repeat(Number(length)));
  };
  const secure = (/** @type {Buffer[]} */ extensions, name = 'server') => {
    const { pem, keyPem } = ca.issue(name, { extensions });
    return createServer({ cert: pem, key: keyPem }, answer);
  };
  const servers = {
    plain: createPlainServer(answer),
    secure: secure([altNames({ ip: ['127.0.0.1'] })]),
    named: secure([altNames({ dns: ['vault.example.com'] })]),
    commonName: secure([], 'vault.example.com'),
  };
  before(async () => {
    for (const one of Object.values(servers)) await once(one.listen(0, '127.0.0.1'), 'listening');
  });
  after(() => {
    for (const one of Object.values(servers)) one.close().closeAllConnections();
  });
  /** @param {keyof typeof servers} name @param {string} [scheme] */
  const originOf = (name, scheme = name === 'plain' ? 'http' : 'https') =>
    `${scheme}://127.0.0.1:${/** @type {AddressInfo} */ (servers[name].address()).port}`;

  /** In a process of its own: in the client's, TLS would have reported the write before the server reads. @param {TestContext} t @param {string} script @param {string[]} more arguments */
  async function startApart(t, script, ...more) {
    const { pem, keyPem } = ca.issue('server', { extensions: [altNames({ ip: ['127.0.0.1'] })] });
    const options = JSON.stringify({ cert: pem, key: keyPem });
    const server = spawn(process.execPath, ['-e', script, options, ...more], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    t.after(() => server.kill());
    const [port] = await once(server, 'message');
    return { server, port };
  }

  const READS_LITTLE = `
    const server = require('node:tls').createServer(JSON.parse(process.argv[1]), (socket) => {
      socket.on('error', () => {}).once('data', () => {
        socket.pause().write('HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok', () => {
          if (process.argv[2] === 'closes') socket.destroy();
        });
      });
    });
    server.listen(0, '127.0.0.1', () => process.send(server.address().port));
  `;

  for (const then of ['waits', 'closes'])
    test(`a response over TLS before most of the request is sent, then the server ${then}: no success`, async (t) => {
      const { port } = await startApart(t, READS_LITTLE, then);
      for (let i = 0; i < 20; i++) {
        // From a timer, as a load.
        await new Promise((resolve) => setTimeout(resolve, 1));
        const own = createConnection({ origin: `https://127.0.0.1:${port}`, tls: trust });
        const { failure } = await exchange(own, { method: 'POST', body: Buffer.alloc(16_000_000) }).ended;
        const allowed = ['bad_http', ...(then === 'closes' ? ['connection_reset'] : [])];
        assert.ok(allowed.includes(String(failure)), `${failure}`);
        await own.close();
      }
    });

  const READS_ALL = `
    const server = require('node:https').createServer(JSON.parse(process.argv[1]), (req, res) => {
      req.resume().once('end', () => res.end(req.url));
    });
    let connections = 0;
    server.on('secureConnection', () => process.send(++connections));
    server.listen(0, '127.0.0.1', () => process.send(server.address().port));
  `;

  for (const [name, bytes, isTls] of /** @type {const} */ ([
    ['in the next TLS record', 16_384, true],
    ['after a full read buffer', 65_536, false],
  ]))
    test(`a second response ${name} is not that to the next request, which goes over a new connection`, async () => {
      const { pem, keyPem } = ca.issue('server', { extensions: [altNames({ ip: ['127.0.0.1'] })] });
      const twice = await startRaw(ok, 0, isTls ? { cert: pem, key: keyPem } : undefined);
      const own = createConnection({ origin: twice.origin, tls: trust });
      const head = whole(Buffer.alloc(bytes)).length - bytes;
      const padded = (/** @type {string} */ text) => whole(text.padEnd(bytes - head));
      // The first response of each connection is longer: until then, the kernel announces too small a window for such reads.
      twice.state.behave = (socket, request) => {
        const path = request.split(' ')[1];
        if (path.startsWith('/long')) socket.write(whole(path.padEnd(500_000)));
        else socket.write(Buffer.concat([padded(path), padded(`second ${path}`)]));
      };
      const paths = Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? `/long/${i}` : `/${i}`));
      const got = /** @type {string[]} */ ([]);
      await new Promise((resolve) => {
        const next = () => {
          if (got.length === paths.length) return resolve(undefined);
          const end = (/** @type {unknown} */ text) => {
            got.push(String(text).trim());
            next();
          };
          const onResponse = (/** @type {number} */ _, /** @type {Uint8Array} */ body) =>
            end(Buffer.from(body));
          own.send(
            { method: 'GET', path: paths[got.length], headers: {}, body: null },
            { onSent() {}, onResponse, onFailure: end },
          );
        };
        next();
      });
      assert.deepEqual(got, paths);
      assert.equal(twice.state.requests, paths.length);
      await own.close();
      await twice.stop();
    });

  for (const [name, isGivenUp, requests] of /** @type {const} */ ([
    ['the server closes the connection with it: the next goes over a new one', false, 2],
    ['the next is given up at once: it is never sent', true, 1],
  ]))
    test(`after a response over TLS, ${name}`, async () => {
      const { pem, keyPem } = ca.issue('server', { extensions: [altNames({ ip: ['127.0.0.1'] })] });
      const closing = await startRaw((socket) => void socket.end(whole('hello')), 0, {
        cert: pem,
        key: keyPem,
      });
      const own = createConnection({ origin: closing.origin, tls: trust });
      const got = /** @type {(number | string)[]} */ ([]);
      await new Promise((resolve) => {
        const request = { method: /** @type {const} */ ('GET'), path: '/', headers: {}, body: null };
        const end = (/** @type {number | string} */ what) => {
          got.push(what);
          if (got.length === 2) return resolve(undefined);
          own.send(request, { onSent() {}, onResponse: end, onFailure: end });
          if (!isGivenUp) return;
          own.abort();
          setTimeout(resolve, 50);
        };
        own.send(request, { onSent() {}, onResponse: end, onFailure: end });
      });
      assert.deepEqual(got, Array(requests).fill(200));
      assert.deepEqual([closing.state.requests, closing.state.connections], [requests, requests]);
      await own.close();
      await closing.stop();
    });

  test('a response over TLS to a large request that the server has read: accepted', async (t) => {
    const { server, port } = await startApart(t, READS_ALL);
    let connections = 0;
    server.on('message', (count) => {
      connections = Number(count);
    });
    const own = createConnection({ origin: `https://127.0.0.1:${port}`, tls: trust });
    for (let i = 0; i < 200; i++) {
      // A load sends from timers, which come before sockets are polled.
      await new Promise((resolve) => setTimeout(resolve, 1));
      const body = Buffer.alloc([70_000, 200_000, 1_000_000][i % 3]);
      const { answer: got, failure } = await exchange(own, { method: 'POST', body }).ended;
      assert.equal(got?.status ?? failure, 200, `${body.length} bytes`);
    }
    await own.close();
    assert.equal(connections, 1);
  });

  test('responses over TLS to large requests of several connections are not mixed up', async (t) => {
    const { port } = await startApart(t, READS_ALL);
    const all = Array.from({ length: 20 }, () =>
      createConnection({ origin: `https://127.0.0.1:${port}`, tls: trust }),
    );
    for (let round = 0; round < 10; round++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      const paths = all.map((_, i) => `/${round}/${i}`);
      const request = (/** @type {number} */ i) => ({
        method: /** @type {const} */ ('POST'),
        path: paths[i],
        body: Buffer.alloc(300_000),
      });
      const ended = await Promise.all(all.map((own, i) => exchange(own, request(i)).ended));
      assert.deepEqual(
        ended.map(({ answer: got, failure }) => String(got?.body ?? failure)),
        paths,
      );
    }
    for (const own of all) await own.close();
  });

  /** @type {[string, keyof typeof servers, Tls, string | number][]} */
  const table = [
    ['a certificate of the configured CA', 'secure', trust, 200],
    ['a certificate for the configured name', 'named', { ...trust, servername: 'vault.example.com' }, 200],
    ['a certificate for another name', 'named', trust, 'certificate_name_mismatch'],
    [
      'a certificate with the name as its common name only',
      'commonName',
      { ...trust, servername: 'vault.example.com' },
      'certificate_name_mismatch',
    ],
    ['an unknown CA', 'secure', { rejectUnauthorized: true }, 'certificate_issuer_unknown'],
    ['an unknown CA without verification', 'secure', { rejectUnauthorized: false }, 200],
    ['plain HTTP', 'plain', { rejectUnauthorized: true }, 'wrong_scheme_https_to_http_port'],
  ];
  for (const [what, name, tls, outcome] of table) {
    test(`${what}: ${outcome}`, async () => {
      const options = { origin: originOf(name, 'https'), tls };
      const [asking, opening] = [createConnection(options), createConnection(options)];
      const events = await exchange(asking, { path: '/5/a' }).ended;
      assert.equal(events.answer?.status ?? events.failure, outcome);
      assert.deepEqual([events.sent, events.beforeSent], outcome === 200 ? [1, null] : [0, true]);
      if (outcome === 200) await opening.open(10_000);
      else await assert.rejects(opening.open(10_000));
      await Promise.all([asking.close(), opening.close()]);
    });
  }

  for (const name of /** @type {const} */ (['plain', 'secure'])) {
    test(`connections that share a read buffer keep their responses apart, ${name}`, async () => {
      const lengths = [1, 700, 16_385, 0, 70_000, 3, 200_000];
      const work = Array.from({ length: CONNECTIONS }, async (_, n) => {
        const own = createConnection({ origin: originOf(name), tls: trust });
        const letter = String.fromCharCode(97 + n);
        await own.open(10_000);
        for (let i = 0; i < 15; i++) {
          const length = lengths[(i + n) % lengths.length];
          const { answer: got } = await exchange(own, { path: `/${length}/${letter}` }).ended;
          assert.ok(got?.body.equals(Buffer.alloc(length, letter)), `${letter}, ${length} bytes`);
        }
        await own.close();
      });
      await Promise.all(work);
    });
  }
});
