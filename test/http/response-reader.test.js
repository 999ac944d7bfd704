import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_BODY_BYTES, parseResponseHead, ResponseReader } from '../../src/http/response-reader.js';

/** @import { ResponseHead } from '../../src/http/response-reader.js' */

/** @typedef {{end: string, status: number, body: string, reusable: boolean}} Read */

/**
 * @param {Buffer[]} pieces what comes, in order; then the connection is closed
 * @param {ResponseReader} [reader]
 * @returns {Read} `end`: the last progress, or what the end of the connection meant
 */
function readAll(pieces, reader = new ResponseReader()) {
  reader.begin();
  const read = (/** @type {string} */ end) => ({
    end,
    status: reader.status,
    body: Buffer.from(reader.body).toString('latin1'),
    reusable: reader.reusable,
  });
  for (const piece of pieces) {
    // Lent bytes: whoever keeps them reads what came later.
    const lent = Buffer.from(piece);
    const progress = reader.read(lent);
    const result = progress === 'more' || progress === 'interim' ? null : read(progress);
    lent.fill('!');
    if (result !== null) return result;
  }
  return read(reader.end());
}

/** @param {Buffer} bytes @param {number[]} cuts */
function split(bytes, cuts) {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((to, i) => bytes.subarray(at[i], to));
}

const chunkArb = fc.tuple(fc.string({ minLength: 1, maxLength: 40 }), fc.constantFrom('', ';a=b', ';x'));

/** A right answer, its bytes and what it says. */
const answerArb = fc
  .record({
    status: fc.constantFrom(200, 400, 503),
    hints: fc.nat({ max: 2 }),
    fields: fc.array(fc.constantFrom('Date: now', 'X-A:', 'Cache-Control: no-store'), { maxLength: 3 }),
    chunks: fc.option(fc.array(chunkArb, { maxLength: 4 })),
    body: fc.string({ maxLength: 120 }),
    trailer: fc.constantFrom('', 'X-T: 1\r\n'),
  })
  .map(({ status, hints, fields, chunks, body, trailer }) => {
    const head = `${'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n'.repeat(hints)}HTTP/1.1 ${status} X\r\n${fields.map((field) => `${field}\r\n`).join('')}`;
    if (chunks === null) {
      const length = Buffer.byteLength(body);
      return { status, body, text: `${head}Content-Length: ${length}\r\n\r\n${body}` };
    }
    const coded = chunks.map(
      ([data, extension]) => `${Buffer.byteLength(data).toString(16)}${extension}\r\n${data}\r\n`,
    );
    return {
      status,
      body: chunks.map(([data]) => data).join(''),
      text: `${head}Transfer-Encoding: chunked\r\n\r\n${coded.join('')}0\r\n${trailer}\r\n`,
    };
  });

test('an interim response is not the first part of the response', () => {
  const [early, pieces] = [
    'HTTP/1.1 103 Early Hints\r\n\r\n',
    ['HTTP/1.1 200 OK\r\n', 'Content-Length: 0\r\n\r\n'],
  ];
  for (let cut = 1; cut < early.length; cut++) {
    const reader = new ResponseReader();
    reader.begin();
    assert.deepEqual(
      [early.slice(0, cut), early.slice(cut), ...pieces].map((piece) => reader.read(Buffer.from(piece))),
      ['interim', 'interim', 'more', 'done'],
      `${cut}`,
    );
  }
});

test('a response is parsed the same at any chunk boundaries, many in turn by one reader', () => {
  const reader = new ResponseReader();
  fc.assert(
    fc.property(answerArb, fc.array(fc.nat(), { maxLength: 12 }), ({ status, body, text }, cuts) => {
      const bytes = Buffer.from(text);
      const expected = {
        end: 'done',
        status,
        body: Buffer.from(body).toString('latin1'),
        reusable: true,
      };
      assert.deepEqual(readAll(split(bytes, cuts), reader), expected);
    }),
    { numRuns: 200 },
  );
});

test('a truncated response is never complete', () => {
  fc.assert(
    fc.property(answerArb, fc.nat(), ({ text }, at) => {
      const bytes = Buffer.from(text);
      const { end } = readAll([bytes.subarray(0, at % bytes.length)]);
      assert.ok(end === 'nothing' || end === 'truncated', end);
    }),
  );
});

test('bytes after a response end the reuse of the connection', () => {
  fc.assert(
    fc.property(answerArb, fc.string({ minLength: 1 }), ({ status, text }, more) => {
      const read = readAll([Buffer.from(text + more)]);
      assert.deepEqual([read.end, read.status, read.reusable], ['done', status, false]);
    }),
  );
});

test('a body of unknown length ends with the connection', () => {
  const read = readAll([Buffer.from('HTTP/1.1 200 OK\r\n\r\nab'), Buffer.from('cd')]);
  assert.deepEqual(read, { end: 'done', status: 200, body: 'abcd', reusable: false });
});

test('bodies up to the limit are read, by length, chunked and until close; longer ones are rejected', () => {
  const head = 'HTTP/1.1 200 OK\r\n';
  for (const [extra, end] of /** @type {const} */ ([
    [0, 'done'],
    [1, 'too large'],
  ])) {
    const body = Buffer.alloc(MAX_BODY_BYTES + extra, 'x');
    const size = body.length;
    for (const [before, after] of [
      [`${head}Content-Length: ${size}\r\n\r\n`, ''],
      [`${head}Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n`, '\r\n0\r\n\r\n'],
      [`${head}\r\n`, ''],
    ]) {
      const read = readAll([Buffer.from(before), body, Buffer.from(after)]);
      assert.equal(read.end, end, before);
      if (extra === 0) assert.equal(read.body.length, size);
    }
  }
});

test('large responses on several connections at once do not mix', () => {
  const SIZE = 200_000;
  const names = ['a', 'b', 'c'];
  const readers = names.map(() => new ResponseReader());
  for (let round = 0; round < 3; round++) {
    for (const reader of readers) reader.begin();
    for (const piece of ['head', 'half', 'rest']) {
      for (const [i, reader] of readers.entries()) {
        const bytes = piece === 'head' ? `HTTP/1.1 200 OK\r\nContent-Length: ${SIZE}\r\n\r\n` : '';
        reader.read(Buffer.from(bytes === '' ? names[i].repeat(SIZE / 2) : bytes));
      }
    }
    for (const [i, { body }] of readers.entries()) {
      assert.ok(Buffer.from(body).equals(Buffer.alloc(SIZE, names[i])), `round ${round}, ${names[i]}`);
    }
  }
});

/** @type {[string, string][]} */
const REFUSED = [
  ['not HTTP', 'SSH-2.0-OpenSSH'],
  ['a bare line feed', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n'],
  ['a head without an end', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(17_000)}`],
  ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n'],
  ['a chunk without a size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n'],
  ['a negative chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n'],
  ['a chunk of 2^36 bytes', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000000000\r\n'],
  ['a chunk above its size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n'],
  ['a chunk that ends with a line feed', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nab\n0\n\n'],
  ['endless extensions', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;${'a'.repeat(5000)}`],
  ['endless trailers', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${'a: b\r\n'.repeat(200)}`],
];
for (const [what, text] of REFUSED) {
  test(`${what} is rejected before the connection ends`, () => {
    assert.equal(readAll([Buffer.from(text, 'latin1')]).end, 'bad');
    assert.equal(readAll([...text].map((byte) => Buffer.from(byte, 'latin1'))).end, 'bad');
  });
}

/**
 * Node's own HTTP client as the judge.
 *
 * @param {Buffer} bytes all that the server sends before it closes
 * @returns {Promise<{status: number, body: string} | null>} null: refused
 */
function readByNode(bytes) {
  let answered = false;
  const socket = new Duplex({
    read() {},
    write(_chunk, _encoding, callback) {
      if (!answered) {
        socket.push(bytes);
        socket.push(null);
      }
      answered = true;
      callback();
    },
  });
  return new Promise((resolve) => {
    const request = httpRequest({ createConnection: () => socket });
    request.on('error', () => resolve(null));
    request.on('upgrade', () => resolve(null));
    request.on('response', (response) => {
      /** @type {Buffer[]} */
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('error', () => resolve(null));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString('latin1') }),
      );
    });
    request.end();
  });
}

test("mutated responses: Node's client parses every complete one the same way", async () => {
  const mutationArb = fc.array(
    fc.record({
      at: fc.nat(),
      drop: fc.nat({ max: 3 }),
      put: fc.constantFrom('', '\r', '\n', '\r\n', ' ', ':', ',', '0', '9', 'f', ';', 'x', '\0', '\xff'),
    }),
    { minLength: 1, maxLength: 3 },
  );
  let whole = 0;
  await fc.assert(
    fc.asyncProperty(answerArb, mutationArb, async ({ text }, mutations) => {
      let mutated = Buffer.from(text).toString('latin1');
      for (const { at, drop, put } of mutations) {
        const from = at % mutated.length;
        mutated = mutated.slice(0, from) + put + mutated.slice(from + drop);
      }
      const bytes = Buffer.from(mutated, 'latin1');
      const ours = readAll([bytes]);
      if (ours.end !== 'done') return;
      const theirs = await readByNode(bytes);
      if (theirs === null && !ours.reusable) return;
      whole++;
      assert.deepEqual({ status: ours.status, body: ours.body }, theirs, JSON.stringify(mutated));
    }),
    { numRuns: 1000 },
  );
  assert.ok(whole > 60, `${whole}`);
});

const OK = 'HTTP/1.1 200 OK';
const KEEP = 'Connection: keep-alive';

/** @type {[string, string[], Partial<ResponseHead> | null][]} what, lines, expected */
const table = [
  ['a length', [OK, 'Content-Length: 497'], { status: 200, framing: 'length', length: 497, reusable: true }],
  ['any case, any space', [OK, 'cOnTeNt-lEnGtH:\t 7 \t'], { framing: 'length', length: 7 }],
  ['no space at all', [OK, 'Content-Length:7'], { length: 7 }],
  ['the same length twice', [OK, 'Content-Length: 5', 'Content-Length: 5'], { length: 5 }],
  ['a list of one length', [OK, 'Content-Length: 5, 5'], { length: 5 }],
  ['two lengths', [OK, 'Content-Length: 5', 'Content-Length: 6'], null],
  ['a negative length', [OK, 'Content-Length: -1'], null],
  ['a length with a sign', [OK, 'Content-Length: +5'], null],
  ['a hexadecimal length', [OK, 'Content-Length: 0x10'], null],
  ['an empty length', [OK, 'Content-Length:'], null],
  ['no length', [OK], { framing: 'close', reusable: false }],
  ['chunks', [OK, 'Transfer-Encoding: Chunked'], { framing: 'chunked', reusable: true }],
  ['chunks of a compressed body', [OK, 'Transfer-Encoding: gzip, chunked'], { framing: 'chunked' }],
  [
    'a compressed body until the close',
    [OK, 'Transfer-Encoding: gzip'],
    { framing: 'close', reusable: false },
  ],
  [
    'chunks and a length: the chunks count, the connection is not reused',
    [OK, 'Content-Length: 3', 'Transfer-Encoding: chunked'],
    { framing: 'chunked', reusable: false },
  ],
  ['chunks', ['HTTP/1.0 200 OK', KEEP, 'Transfer-Encoding: chunked'], { reusable: false }],
  ['no content', ['HTTP/1.1 204 No Content', 'Content-Length: 5'], { framing: 'none', reusable: true }],
  ['not modified', ['HTTP/1.1 304 Not Modified', 'Content-Length: 5'], { framing: 'none' }],
  ['early hints', ['HTTP/1.1 103 Early Hints'], { status: 103, framing: 'none' }],
  ['no reason', ['HTTP/1.1 200', 'Content-Length: 0'], { status: 200 }],
  ['an empty reason', ['HTTP/1.1 200 ', 'Content-Length: 0'], { status: 200 }],
  ['a reason in latin1', ['HTTP/1.1 200 d\xe9j\xe0', 'Content-Length: 0'], { status: 200 }],
  ['a close', [OK, 'Content-Length: 0', 'Connection: Close'], { reusable: false }],
  ['close in a list', [OK, 'Content-Length: 0', 'Connection: x, close'], { reusable: false }],
  ['HTTP/1.0', ['HTTP/1.0 200 OK', 'Content-Length: 0'], { reusable: false }],
  [
    'HTTP/1.0 with keep-alive',
    ['HTTP/1.0 200 OK', 'Content-Length: 0', 'Connection: Keep-Alive'],
    { reusable: true },
  ],
  [
    'HTTP/1.0 with keep-alive and close',
    ['HTTP/1.0 200 OK', 'Content-Length: 0', 'Connection: keep-alive, close'],
    { reusable: false },
  ],
  ['no keep-alive time', [OK, 'Content-Length: 0'], { keepAliveMs: null }],
  ['a keep-alive time', [OK, 'Content-Length: 0', 'Keep-Alive: max=9, timeout=5'], { keepAliveMs: 5000 }],
  ['a folded field', [OK, 'X-Long: a', '  b', 'Content-Length: 4'], null],
  ['early hints of HTTP/1.0', ['HTTP/1.0 103 Early Hints'], null],
  ['HTTP/2', ['HTTP/2 200'], null],
  ['HTTP/1.2', ['HTTP/1.2 200 OK'], null],
  ['lower case', ['http/1.1 200 OK'], null],
  ['two spaces', ['HTTP/1.1  200 OK'], null],
  ['a status of two digits', ['HTTP/1.1 20 OK'], null],
  ['a status of four digits', ['HTTP/1.1 2000 OK'], null],
  ['status 0', ['HTTP/1.1 099 OK'], null],
  ['a control character in the reason', ['HTTP/1.1 200 O\x00K'], null],
  ['a space before the colon', [OK, 'Content-Length : 5'], null],
  ['a field without a colon', [OK, 'Content-Length 5'], null],
  ['a field without a name', [OK, ': 5'], null],
  ['a control character in a field', [OK, 'X: a\x01b'], null],
  ['a bare line feed', [OK, 'X: a\nContent-Length: 5'], null],
  ['a bare carriage return', [OK, 'X: a\rContent-Length: 5'], null],
];

for (const [what, lines, expected] of table) {
  test(`the head of a response: ${what}${expected === null ? ' is rejected' : ''}`, () => {
    const head = parseResponseHead(lines.join('\r\n'));
    if (expected === null || head === null) assert.equal(head, expected);
    else assert.deepEqual({ ...head, ...expected }, head);
  });
}
