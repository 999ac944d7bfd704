import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAnswerHead } from '../../src/http/answer-head.js';

const OK = 'HTTP/1.1 200 OK';

/** @type {[string, string[], Partial<import('../../src/http/answer-head.js').AnswerHead> | null][]} what, lines, expected */
const table = [
  ['a length', [OK, 'Content-Length: 497'], { status: 200, framing: 'length', length: 497, reusable: true }],
  ['any case, any space', [OK, 'cOnTeNt-lEnGtH:\t 7 \t'], { framing: 'length', length: 7 }],
  ['no space at all', [OK, 'Content-Length:7'], { length: 7 }],
  ['a length said twice alike', [OK, 'Content-Length: 5', 'Content-Length: 5'], { length: 5 }],
  ['a list of one length', [OK, 'Content-Length: 5, 5'], { length: 5 }],
  ['two lengths', [OK, 'Content-Length: 5', 'Content-Length: 6'], null],
  ['a negative length', [OK, 'Content-Length: -1'], null],
  ['a length with a sign', [OK, 'Content-Length: +5'], null],
  ['a hexadecimal length', [OK, 'Content-Length: 0x10'], null],
  ['an empty length', [OK, 'Content-Length:'], null],
  ['no length', [OK], { framing: 'close', reusable: false }],
  ['chunks', [OK, 'Transfer-Encoding: Chunked'], { framing: 'chunked', reusable: true }],
  ['chunks of something packed', [OK, 'Transfer-Encoding: gzip, chunked'], { framing: 'chunked' }],
  ['packed until the end', [OK, 'Transfer-Encoding: gzip'], { framing: 'close', reusable: false }],
  [
    'chunks and a length: the chunks count, the connection is not trusted',
    [OK, 'Content-Length: 3', 'Transfer-Encoding: chunked'],
    { framing: 'chunked', reusable: false },
  ],
  [
    'chunks from HTTP/1.0',
    ['HTTP/1.0 200 OK', 'Connection: keep-alive', 'Transfer-Encoding: chunked'],
    { reusable: false },
  ],
  ['no content', ['HTTP/1.1 204 No Content', 'Content-Length: 5'], { framing: 'none', reusable: true }],
  ['not modified', ['HTTP/1.1 304 Not Modified', 'Content-Length: 5'], { framing: 'none' }],
  ['early hints', ['HTTP/1.1 103 Early Hints'], { status: 103, framing: 'none' }],
  ['no reason', ['HTTP/1.1 200', 'Content-Length: 0'], { status: 200 }],
  ['an empty reason', ['HTTP/1.1 200 ', 'Content-Length: 0'], { status: 200 }],
  ['a reason in latin1', ['HTTP/1.1 200 d\xe9j\xe0', 'Content-Length: 0'], { status: 200 }],
  ['a close', [OK, 'Content-Length: 0', 'Connection: Close'], { reusable: false }],
  ['a close among others', [OK, 'Content-Length: 0', 'Connection: x, close'], { reusable: false }],
  ['HTTP/1.0', ['HTTP/1.0 200 OK', 'Content-Length: 0'], { reusable: false }],
  [
    'HTTP/1.0 that stays',
    ['HTTP/1.0 200 OK', 'Content-Length: 0', 'Connection: Keep-Alive'],
    { reusable: true },
  ],
  ['no promise to stay', [OK, 'Content-Length: 0'], { keepAliveMs: null }],
  ['a promise to stay', [OK, 'Content-Length: 0', 'Keep-Alive: max=9, timeout=5'], { keepAliveMs: 5000 }],
  ['a folded field', [OK, 'X-Long: a', '  b', 'Content-Length: 4'], null],
  ['early hints of HTTP/1.0', ['HTTP/1.0 103 Early Hints'], null],
  ['HTTP/2', ['HTTP/2 200'], null],
  ['HTTP/1.2', ['HTTP/1.2 200 OK'], null],
  ['small letters', ['http/1.1 200 OK'], null],
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
  test(`the head of an answer: ${what}${expected === null ? ' is refused' : ''}`, () => {
    const head = parseAnswerHead(lines.join('\r\n'));
    if (expected === null || head === null) assert.equal(head, expected);
    else assert.deepEqual({ ...head, ...expected }, head);
  });
}
