/** What a server must not be able to do to a load: each behaviour ends one request once, in bounded time and memory, and the next is served. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createConnection } from '../../src/http/connection.js';
import { MAX_BODY_BYTES } from '../../src/http/response-reader.js';
import { altNames, TestCa } from '../pki/test-ca.js';
import { exchange, startRaw, whole } from './raw-server.js';

/** @import { Connection } from '../../src/http/exchange.js' */
/** @import { Behaviour } from './raw-server.js' */
/** @import { AddressInfo, Socket } from 'node:net' */

/** @typedef {Awaited<ReturnType<typeof startRaw>>} Server */
/** @typedef {number | 'hangs' | string} Outcome status, failure, or `hangs`: until it is given up */
/** @typedef {[name: string, behaviour: string | Buffer | Behaviour, outcome: Outcome, body?: string]} Row a text is sent, the connection kept open */

const OK = 'HTTP/1.1 200 OK\r\n';
const EMPTY = `${OK}Content-Length: 0\r\n\r\n`;
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const LAST = '0\r\n\r\n';

/** @param {string} text @returns {Behaviour} */
const end = (text) => (socket) => void socket.end(text, 'latin1');
/** By the handle: `resetAndDestroy` sends a FIN first. @param {Socket} socket */
const resetNow = (socket) => /** @type {any} */ (socket)._handle?.reset(() => socket.destroy());
/** After a poll, in which the client, in the same process, has read the text. @param {string} text @returns {Behaviour} */
const reset = (text) => (socket) =>
  void socket.write(text, 'latin1', () => setTimeout(() => setImmediate(resetNow, socket), 5));
/** @param {string} line with `@` for the place */
const status = (line) => `${line}\r\nContent-Length: 0\r\n\r\n`;
/** @param {string} fields */
const fields = (fields) => `${OK}${fields}Content-Length: 0\r\n\r\n`;
/** @param {string} lengths */
const lengths = (lengths) => `${OK}${lengths}\r\n\r\nabcde`;
/** @param {string} coding */
const coding = (coding) => `${OK}Transfer-Encoding: ${coding}\r\n\r\n2\r\nok\r\n${LAST}`;

/** Never stops, as fast as the client reads. @param {string} first @param {string | Buffer} more @returns {Behaviour} */
const flood = (first, more) => (socket) => {
  socket.write(first, 'latin1');
  const go = () => {
    while (!socket.destroyed && socket.write(more));
  };
  socket.on('drain', go);
  go();
};

/** One byte at a time. @param {string} text @returns {Behaviour} */
const drip = (text) => async (socket) => {
  for (const byte of text) {
    if (socket.destroyed) return;
    socket.write(byte, 'latin1');
    await new Promise((resolve) => setImmediate(resolve));
  }
};

/** @type {Row[]} */
const STATUS_LINES = [
  ['HTTP/1.1 200', status('HTTP/1.1 200 OK'), 200],
  ['no reason', status('HTTP/1.1 200'), 200],
  ['a long reason', status(`HTTP/1.1 200 ${'a'.repeat(8000)}`), 200],
  ['HTTP/0.9', 'hello\r\n\r\n', 'bad_http'],
  ['HTTP/1.0', status('HTTP/1.0 200 OK'), 200],
  ['HTTP/1.2', status('HTTP/1.2 200 OK'), 'bad_http'],
  ['HTTP/2', status('HTTP/2 200'), 'bad_http'],
  ['HTTP/11.1', status('HTTP/11.1 200 OK'), 'bad_http'],
  ['ICY', status('ICY 200 OK'), 'bad_http'],
  ['lower case', status('http/1.1 200 OK'), 'bad_http'],
  ['a space before', status(' HTTP/1.1 200 OK'), 'bad_http'],
  ['an empty line before', `\r\n${EMPTY}`, 'bad_http'],
  ['two spaces', status('HTTP/1.1  200 OK'), 'bad_http'],
  ['a tab', status('HTTP/1.1\t200 OK'), 'bad_http'],
  ['no status', status('HTTP/1.1 OK'), 'bad_http'],
  ['status 000', status('HTTP/1.1 000 No'), 'bad_http'],
  ['status 99', status('HTTP/1.1 99 No'), 'bad_http'],
  ['status 2000', status('HTTP/1.1 2000 No'), 'bad_http'],
  ['status -200', status('HTTP/1.1 -200 No'), 'bad_http'],
  ['status 2e2', status('HTTP/1.1 2e2 No'), 'bad_http'],
  ['status 999', status('HTTP/1.1 999 No'), 999],
  ['a NUL byte in the reason', status('HTTP/1.1 200 O\0K'), 'bad_http'],
  ['an escape sequence in the reason', status('HTTP/1.1 200 \x1b[31m'), 'bad_http'],
  ['bytes above 127 in the reason', Buffer.from(status('HTTP/1.1 200 \xe9\xff'), 'latin1'), 200],
  ['100,000 digits', status(`HTTP/1.1 ${'9'.repeat(100_000)} No`), 'bad_http'],
  ['a line without an end', `HTTP/1.1 200 ${'a'.repeat(20_000)}`, 'bad_http'],
  ['SSH', 'SSH-2.0-OpenSSH_9.6\r\n', 'bad_http'],
  ['SMTP', '220 mail.example.com ESMTP\r\n', 'bad_http'],
  ['HTTP/2 settings', Buffer.from('000000040000000000', 'hex'), 'bad_http'],
  ['a TLS alert', Buffer.from('15030100020246', 'hex'), 'wrong_scheme_http_to_https_port'],
  ['an echo of the request', (socket, head) => void socket.write(`${head}\r\n\r\n`), 'bad_http'],
];

/** @type {Row[]} */
const HEADS = [
  ['1000 fields', fields('A: b\r\n'.repeat(1000)), 200],
  ['one field of 15 kB', fields(`A: ${'b'.repeat(15_000)}\r\n`), 200],
  ['16 kB and more', fields(`A: ${'b'.repeat(16_400)}\r\n`), 'bad_http'],
  ['fields of 20 MB', fields('A: b\r\n'.repeat(3_500_000)), 'bad_http'],
  ['endless fields', flood(OK, 'A: b\r\n'.repeat(1000)), 'bad_http'],
  ['15 kB of spaces before a control character', fields(`A:${' '.repeat(15_000)}\x01\r\n`), 'bad_http'],
  ['15 kB of spaces before and after', fields(`Content-Length:${' '.repeat(15_000)}\r\n`), 'bad_http'],
  ['15 kB of commas', fields(`Connection: ${','.repeat(15_000)}\r\n`), 200],
  ['15 kB of Keep-Alive', fields(`Keep-Alive: ${'timeout '.repeat(1800)}\r\n`), 200],
  ['a name of 15 kB', fields(`${'a'.repeat(15_000)}: b\r\n`), 200],
  ['a folded field', fields('A: b\r\n c\r\n'), 'bad_http'],
  ['a field folded by a tab', fields('A: b\r\n\tc\r\n'), 'bad_http'],
  ['a first field that is folded', fields(' A: b\r\n'), 'bad_http'],
  ['a field without a colon', fields('A b\r\n'), 'bad_http'],
  ['a field without a name', fields(': b\r\n'), 'bad_http'],
  ['a field without a value', fields('A:\r\n'), 200],
  ['a space before the colon', fields('A : b\r\n'), 'bad_http'],
  ['a NUL byte in a value', fields('A: b\0c\r\n'), 'bad_http'],
  ['a NUL byte in a name', fields('A\0: b\r\n'), 'bad_http'],
  ['bytes above 127 in a name', Buffer.from(fields('\xe9: b\r\n'), 'latin1'), 'bad_http'],
  ['bytes above 127 in a value', Buffer.from(fields('A: \xe9\r\n'), 'latin1'), 200],
  ['a bare line feed', fields('A: b\n'), 'bad_http'],
  ['bare line feeds only', `${OK}Content-Length: 0\r\n\r\n`.replaceAll('\r', ''), 'bad_http'],
  ['a bare carriage return', fields('A: b\rC: d\r\n'), 'bad_http'],
  ['__proto__ as a name', fields('__proto__: b\r\nconstructor: c\r\n'), 200],
  ['a keep-alive time of no seconds', fields('Keep-Alive: timeout=0\r\n'), 200],
  ['a keep-alive time of 10^99 seconds', fields(`Keep-Alive: timeout=1${'0'.repeat(99)}\r\n`), 200],
  ['a switch of protocols', 'HTTP/1.1 101 S\r\nUpgrade: h2c\r\n\r\n', 'bad_http'],
  ['100 and the response', `HTTP/1.1 100 C\r\n\r\n${EMPTY}`, 200],
  ['1000 interim responses', `${'HTTP/1.1 102 P\r\n\r\n'.repeat(1000)}${EMPTY}`, 200],
  ['endless interim responses', flood('', 'HTTP/1.1 102 P\r\n\r\n'.repeat(1000)), 'bad_http'],
  ['an interim response with a length', `HTTP/1.1 103 E\r\nContent-Length: 5\r\n\r\n${EMPTY}`, 200],
  ['an interim response of HTTP/1.0', `HTTP/1.0 100 C\r\n\r\n${EMPTY}`, 'bad_http'],
  ['a redirect to nowhere', 'HTTP/1.1 302 F\r\nLocation: //\0\r\nContent-Length: 0\r\n\r\n', 'bad_http'],
];

/** @type {Row[]} */
const LENGTHS = [
  ['a length', lengths('Content-Length: 5'), 200, 'abcde'],
  ['the same length twice', lengths('Content-Length: 5\r\nContent-Length: 5'), 200, 'abcde'],
  ['a list of the same length', lengths('Content-Length: 5,5'), 200, 'abcde'],
  ['two lengths', lengths('Content-Length: 5\r\nContent-Length: 4'), 'bad_http'],
  ['a list of two lengths', lengths('Content-Length: 5,4'), 'bad_http'],
  ['5 and 05', lengths('Content-Length: 5\r\nContent-Length: 05'), 'bad_http'],
  ['-1', lengths('Content-Length: -1'), 'bad_http'],
  ['+5', lengths('Content-Length: +5'), 'bad_http'],
  ['5.0', lengths('Content-Length: 5.0'), 'bad_http'],
  ['5e0', lengths('Content-Length: 5e0'), 'bad_http'],
  ['0x5', lengths('Content-Length: 0x5'), 'bad_http'],
  ['5 5', lengths('Content-Length: 5 5'), 'bad_http'],
  ['empty', lengths('Content-Length:'), 'bad_http'],
  ['5 and an empty item', lengths('Content-Length: 5,'), 'bad_http'],
  ['5 and a no-break space', Buffer.from(lengths('Content-Length: 5\xa0'), 'latin1'), 'bad_http'],
  ['2^64', lengths('Content-Length: 18446744073709551616'), 'bad_http'],
  ['2^53', lengths(`Content-Length: ${2 ** 53 - 1}`), 'bad_http'],
  ['10,000 digits', lengths(`Content-Length: ${'9'.repeat(10_000)}`), 'bad_http'],
  ['1 TB', lengths('Content-Length: 1000000000000'), 'response_too_large'],
  ['the largest body', `${OK}Content-Length: ${MAX_BODY_BYTES}\r\n\r\n${'x'.repeat(MAX_BODY_BYTES)}`, 200],
  ['one byte more', `${OK}Content-Length: ${MAX_BODY_BYTES + 1}\r\n\r\n`, 'response_too_large'],
  ['an endless body without a length', flood(`${OK}\r\n`, Buffer.alloc(65_536, 'x')), 'response_too_large'],
  ['NUL bytes in the body', `${OK}Content-Length: 3\r\n\r\n\0\0\0`, 200, '\0\0\0'],
  ['204 with a body', 'HTTP/1.1 204 N\r\nContent-Length: 5\r\n\r\nabcde', 204, ''],
  ['304 with a body', 'HTTP/1.1 304 N\r\nContent-Length: 5\r\n\r\nabcde', 304, ''],
  ['a byte after the body', `${EMPTY}x`, 200, ''],
  ['a megabyte after the body', `${EMPTY}${'x'.repeat(1_000_000)}`, 200, ''],
  ['two responses', `${EMPTY}${EMPTY}`, 200, ''],
  ['a response, then a reset', reset(EMPTY), 200, ''],
];

/** @type {Row[]} */
const CHUNKS = [
  ['chunked', coding('chunked'), 200, 'ok'],
  ['Chunked', coding('Chunked'), 200, 'ok'],
  ['gzip, chunked', coding('gzip, chunked'), 200, 'ok'],
  ['chunked twice', coding('chunked, chunked'), 200, 'ok'],
  ['chunked, identity until a close', end(coding('chunked, identity')), 200, `2\r\nok\r\n${LAST}`],
  ['xchunked', coding('xchunked'), 'hangs'],
  ['"chunked"', coding('"chunked"'), 'hangs'],
  ['chunked and a vertical tab', coding('\x0bchunked'), 'bad_http'],
  ['chunked and a length', `${OK}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n${LAST}`, 200, ''],
  ['chunks of HTTP/1.0', `HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${LAST}`, 200, ''],
  ['no chunk', `${CHUNKED}${LAST}`, 200, ''],
  ['an extension', `${CHUNKED}2;a=b;c="d;\\"e"\r\nok\r\n${LAST}`, 200, 'ok'],
  ['4 kB of extensions', `${CHUNKED}2${';a=b'.repeat(1000)}\r\nok\r\n${LAST}`, 200, 'ok'],
  ['an endless extension', flood(`${CHUNKED}2;`, 'a'.repeat(1000)), 'bad_http'],
  ['endless chunks with extensions', flood(CHUNKED, `1;${'a'.repeat(4000)}\r\nx\r\n`.repeat(50)), 'bad_http'],
  [
    'a body in chunks of one byte',
    `${CHUNKED}${'1\r\nx\r\n'.repeat(300_000)}${LAST}`,
    200,
    'x'.repeat(300_000),
  ],
  ['an extension that does not close its quotes', `${CHUNKED}2;a="${'\\a'.repeat(2000)}\r\n`, 'bad_http'],
  ['a space before the extension', `${CHUNKED}2 ;a\r\nok\r\n${LAST}`, 'bad_http'],
  ['a NUL byte in an extension', `${CHUNKED}2;\0\r\nok\r\n${LAST}`, 'bad_http'],
  ['a size of 2^32', `${CHUNKED}100000000\r\n`, 'bad_http'],
  ['a size of 2^64 + 2', `${CHUNKED}10000000000000002\r\nok\r\n${LAST}`, 'bad_http'],
  ['a size of 4 GB', flood(`${CHUNKED}ffffffff\r\n`, Buffer.alloc(65_536, 'x')), 'response_too_large'],
  ['a negative size', `${CHUNKED}-2\r\nok\r\n${LAST}`, 'bad_http'],
  ['0x2', `${CHUNKED}0x2\r\nok\r\n${LAST}`, 'bad_http'],
  ['no size', `${CHUNKED}\r\nok\r\n${LAST}`, 'bad_http'],
  ['00000002', `${CHUNKED}00000002\r\nok\r\n${LAST}`, 200, 'ok'],
  ['a size of 100,000 digits', `${CHUNKED}${'0'.repeat(100_000)}`, 'bad_http'],
  ['more data than the size', `${CHUNKED}1\r\nok\r\n${LAST}`, 'bad_http'],
  ['less data than the size', `${CHUNKED}3\r\nok\r\n${LAST}`, 'bad_http'],
  ['a line feed for the end of a size', `${CHUNKED}2\nok\r\n${LAST}`, 'bad_http'],
  ['a line feed for the end of a chunk', `${CHUNKED}2\r\nok\n${LAST}`, 'bad_http'],
  [
    'chunks of a byte, 2 MB of them',
    `${CHUNKED}${'1\r\nx\r\n'.repeat(MAX_BODY_BYTES + 1)}`,
    'response_too_large',
  ],
  ['a trailer', `${CHUNKED}0\r\nA: b\r\n\r\n`, 200, ''],
  ['a length in the trailer', `${CHUNKED}0\r\nContent-Length: 5\r\n\r\n`, 200, ''],
  ['a folded trailer', `${CHUNKED}0\r\nA: b\r\n c\r\n\r\n`, 'bad_http'],
  ['a trailer without a colon', `${CHUNKED}0\r\nA b\r\n\r\n`, 'bad_http'],
  ['101 trailers', `${CHUNKED}0\r\n${'A: b\r\n'.repeat(101)}\r\n`, 'bad_http'],
  ['an endless trailer', flood(`${CHUNKED}0\r\nA: `, 'b'.repeat(1000)), 'bad_http'],
  ['bytes after the last chunk', `${CHUNKED}${LAST}x`, 200, ''],
];

/** @type {Row[]} */
const CLOSES = [
  ['a close at once', (socket) => void socket.destroy(), 'connection_reset'],
  ['a reset at once', (socket) => void resetNow(socket), 'connection_reset'],
  ['a close in the status line', end('HTTP/1.1 2'), 'connection_reset'],
  ['a reset in the status line', reset('HTTP/1.1 2'), 'connection_reset'],
  ['a close in the head', end(`${OK}Content-`), 'connection_reset'],
  ['a reset in the head', reset(`${OK}Content-`), 'connection_reset'],
  ['a close after an interim response', end('HTTP/1.1 100 C\r\n\r\n'), 'connection_reset'],
  ['a close before the body', end(`${OK}Content-Length: 5\r\n\r\n`), 'truncated'],
  ['a close in the body', end(`${OK}Content-Length: 5\r\n\r\nabcd`), 'truncated'],
  ['a reset in the body', reset(`${OK}Content-Length: 5\r\n\r\nabcd`), 'truncated'],
  ['a close in a size', end(`${CHUNKED}1`), 'truncated'],
  ['a close in a chunk', end(`${CHUNKED}5\r\nab`), 'truncated'],
  ['a close after a chunk', end(`${CHUNKED}2\r\nok\r\n`), 'truncated'],
  ['a close before the last line break', end(`${CHUNKED}0\r\n`), 'truncated'],
  ['a close in a trailer', end(`${CHUNKED}0\r\nA: `), 'truncated'],
  ['a close in place of a length', end(`${OK}\r\nabc`), 200, 'abc'],
  ['a reset in place of a length', reset(`${OK}\r\nabc`), 'truncated'],
  ['an announced close', end(whole('abc', 'Connection: close\r\n').toString()), 200, 'abc'],
  ['an announced close that does not come', whole('abc', 'Connection: close\r\n'), 200, 'abc'],
  ['a close that was not announced', end(EMPTY), 200, ''],
  ['silence', () => {}, 'hangs'],
  ['silence in the head', OK, 'hangs'],
  ['silence in the body', `${OK}Content-Length: 5\r\n\r\nab`, 'hangs'],
  ['silence in a chunk', `${CHUNKED}5\r\nab`, 'hangs'],
  ['a response a byte at a time', drip(whole('abc').toString()), 200, 'abc'],
  ['chunks a byte at a time', drip(`${CHUNKED}3\r\nabc\r\n${LAST}`), 200, 'abc'],
  ['an endless drip', drip(`${OK}A: ${'b'.repeat(15_000)}`), 'hangs'],
];

/** Over TLS; a `cut` is the end of TCP without close_notify. @type {[name: string, text: string, how: 'end' | 'cut' | 'stay', outcome: Outcome][]} */
const TLS_ROWS = [
  ['a response', EMPTY, 'stay', 200],
  ['a response, then a close', EMPTY, 'end', 200],
  ['a response, then a cut', EMPTY, 'cut', 200],
  ['a body that a close delimits', `${OK}\r\nabc`, 'end', 'truncated'],
  ['a body that a cut delimits', `${OK}\r\nabc`, 'cut', 'truncated'],
  ['a cut in a body with a length', `${OK}Content-Length: 5\r\n\r\nab`, 'cut', 'truncated'],
  ['a cut in a chunk', `${CHUNKED}5\r\nab`, 'cut', 'truncated'],
  ['a cut after the last chunk', `${CHUNKED}${LAST}`, 'cut', 200],
  ['a cut in the head', OK, 'cut', 'connection_reset'],
  ['a cut before anything', '', 'cut', 'connection_reset'],
  ['not HTTP', 'SSH-2.0\r\n', 'stay', 'bad_http'],
  ['a body of 4 GB', `${OK}Content-Length: 4294967296\r\n\r\n`, 'stay', 'response_too_large'],
];

/** OpenSSL 3.0 has the same error for a record that is too long as for bytes that are no TLS. @type {Outcome} */
const RECORD_TOO_LONG = process.versions.openssl.startsWith('3.0.')
  ? 'wrong_scheme_https_to_http_port'
  : 'tls_error';

/** Where TLS is expected: the first bytes of the server, or its closing. @type {[name: string, accept: (socket: Socket) => void, outcome: Outcome][]} */
const HANDSHAKES = [
  ['plain HTTP', (socket) => void socket.write(EMPTY), 'wrong_scheme_https_to_http_port'],
  [
    'plain HTTP and a close',
    (socket) => void socket.end('HTTP/1.1 400 B\r\n\r\n'),
    'wrong_scheme_https_to_http_port',
  ],
  ['an alert', (socket) => void socket.write(Buffer.from('15030300020228', 'hex')), 'tls_handshake_failure'],
  ['a record of 64 kB', (socket) => void socket.write(Buffer.from('160303ffff00', 'hex')), RECORD_TOO_LONG],
  ['zeros', (socket) => void socket.write(Buffer.alloc(64)), 'wrong_scheme_https_to_http_port'],
  ['a close', (socket) => void socket.end(), 'tls_handshake_cut'],
  ['a reset', (socket) => void resetNow(socket), 'tls_handshake_cut'],
  ['silence', () => {}, 'hangs'],
];

const PLAIN = Object.entries({ STATUS_LINES, HEADS, LENGTHS, CHUNKS, CLOSES });

/** Long enough for loopback; a hanging request ends only when it is given up. */
const PATIENCE_MS = 40;

/**
 * @param {Connection} connection
 * @param {Outcome} outcome
 * @param {string} [body]
 * @param {number} [sent] times that the request went out
 */
async function assertOne(connection, outcome, body, sent = 1) {
  const { events, ended } = exchange(connection, { method: 'POST', body: 'abc' });
  if (outcome === 'hangs') {
    await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
    assert.equal(events.ends, 0);
    connection.abort();
  } else {
    await ended;
    assert.equal(events.answer?.status ?? events.failure, outcome);
    if (body !== undefined) assert.equal(events.answer?.body.toString('latin1'), body);
  }
  assert.equal(events.sent, sent);
  return events;
}

/** @type {unknown[]} */
const uncaught = [];
const note = (/** @type {unknown} */ error) => void uncaught.push(error);
const memory = () => process.memoryUsage().arrayBuffers / 1024 ** 2;
let [rows, mostMiB] = [0, 0];

/**
 * The request of a row ends once, the next on the same connection is served.
 *
 * @param {Server} server
 * @param {Connection} connection
 * @param {Behaviour} behave
 * @param {Outcome} outcome
 * @param {string} [body]
 * @param {number} [pauseMs] until a close has arrived: the next request would race it
 */
async function assertRow(server, connection, behave, outcome, body, pauseMs = 10) {
  rows++;
  server.state.requests = 0;
  server.state.behave = behave;
  const first = await assertOne(connection, outcome, body);
  mostMiB = Math.max(mostMiB, memory());
  await new Promise((resolve) => setTimeout(resolve, pauseMs));
  server.state.behave = (socket) => void socket.write(whole('next'));
  const second = await assertOne(connection, 200, 'next');
  assert.deepEqual([first.ends, second.ends], [outcome === 'hangs' ? 0 : 1, 1]);
  assert.equal(server.state.requests, 2, 'none is sent twice');
  for (const socket of server.sockets) socket.destroy();
}

describe('a hostile server', () => {
  const ca = new TestCa();
  const { pem: cert, keyPem: key } = ca.issue('server', { extensions: [altNames({ ip: ['127.0.0.1'] })] });
  const tls = { ca: [ca.ca.pem], rejectUnauthorized: true };
  /** @type {Server} */
  let plain;
  /** @type {Server} */
  let secure;
  let beforeMiB = 0;
  before(async () => {
    process.on('uncaughtExceptionMonitor', note);
    plain = await startRaw(() => {});
    secure = await startRaw(() => {}, 0, { cert, key });
    beforeMiB = memory();
  });
  after(async () => {
    await Promise.all([plain.stop(), secure.stop()]);
    process.off('uncaughtExceptionMonitor', note);
    assert.deepEqual(uncaught, []);
    // Sent texts of the table among them.
    assert.ok(mostMiB - beforeMiB < 128, `${mostMiB} MiB`);
    console.log(
      `hostile servers: ${rows} behaviours, at most ${Math.ceil(mostMiB - beforeMiB)} MiB of buffers`,
    );
  });

  for (const [group, table] of PLAIN) {
    for (const [name, behaviour, outcome, body] of table) {
      test(`${group}: ${name}: ${outcome}`, async (t) => {
        const connection = createConnection({ origin: plain.origin, tls: { rejectUnauthorized: true } });
        t.after(() => connection.close());
        const behave =
          typeof behaviour === 'function'
            ? behaviour
            : (/** @type {Socket} */ socket) => void socket.write(behaviour);
        await assertRow(plain, connection, behave, outcome, body);
      });
    }
  }

  /** Passes bytes on, and ends the client's TCP connection without the server's close_notify. */
  async function startCutter() {
    /** @type {Socket[]} */
    const clients = [];
    const cutter = createServer((client) => {
      const upstream = connect(secure.port, '127.0.0.1');
      clients.push(client);
      client.on('error', () => {}).pipe(upstream.on('error', () => {}));
      upstream.pipe(client);
    }).listen(0, '127.0.0.1');
    await once(cutter, 'listening');
    const { port } = /** @type {AddressInfo} */ (cutter.address());
    return {
      origin: `https://127.0.0.1:${port}`,
      cut: () => clients.at(-1)?.end(),
      close: () => cutter.close(),
    };
  }

  for (const [name, text, how, outcome] of TLS_ROWS) {
    test(`TLS: ${name}: ${outcome}`, async (t) => {
      const cutter = await startCutter();
      t.after(() => cutter.close());
      const connection = createConnection({ origin: cutter.origin, tls });
      t.after(() => connection.close());
      /** @type {Behaviour} */
      const behave = (socket) => {
        if (how === 'end') return void socket.end(text);
        if (text !== '') socket.write(text);
        if (how === 'cut') setTimeout(cutter.cut, 10);
      };
      await assertRow(secure, connection, behave, outcome, undefined, 60);
    });
  }

  for (const [name, accept, outcome] of HANDSHAKES) {
    test(`handshake: ${name}: ${outcome}`, async (t) => {
      rows++;
      const server = createServer((socket) => accept(socket.on('error', () => {}))).listen(0, '127.0.0.1');
      t.after(() => server.close());
      await once(server, 'listening');
      const { port } = /** @type {AddressInfo} */ (server.address());
      const connection = createConnection({ origin: `https://127.0.0.1:${port}`, tls });
      t.after(() => connection.close());
      const events = await assertOne(connection, outcome, undefined, 0);
      if (outcome !== 'hangs') assert.deepEqual([events.ends, events.beforeSent], [1, true]);
    });
  }

  test('certificates: wrong name, unknown CA', async () => {
    rows += 2;
    const named = createConnection({
      origin: secure.origin,
      tls: { ...tls, servername: 'other.example.com' },
    });
    await assertOne(named, 'certificate_name_mismatch', undefined, 0);
    const stranger = createConnection({ origin: secure.origin, tls: { rejectUnauthorized: true } });
    await assertOne(stranger, 'certificate_issuer_unknown', undefined, 0);
    await Promise.all([named.close(), stranger.close()]);
  });
});
