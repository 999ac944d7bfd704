import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBlockEncoder, frame, headersFrames, readHeaderBlock } from '../../src/http/http2-frames.js';

const hex = (/** @type {string} */ text) => Buffer.from(text.replaceAll(' ', ''), 'hex');

/** `:status` and `content-length`; their Huffman codes below are those of golang.org/x/net/http2/hpack. */
const NAME = { status: '3a737461747573', length: '636f6e74656e742d6c656e677468' };

/** @type {[name: string, block: string, expected: ReturnType<typeof readHeaderBlock>][]} */
const BLOCKS = [
  ['an indexed status', '88', { status: 200, length: null }],
  ['the last indexed status', '8e', { status: 500, length: null }],
  ['a status in Huffman code: RFC 7541, C.6.1', '48 82 64 02', { status: 302, length: null }],
  ['RFC 7541, C.6.2', '48 83 64 0e ff', { status: 307, length: null }],
  ['a status as text', '08 03 34 32 39', { status: 429, length: null }],
  ['the size of the table, first', '20 88', { status: 200, length: null }],
  ['a length', '88 0f 0d 02 31 30', { status: 200, length: 10 }],
  ['a length in Huffman code', '88 5c 82 64 02', { status: 200, length: 302 }],
  ['a field with a name', '88 00 01 61 01 62', { status: 200, length: null }],
  ['a field with a long value', `88 00 01 61 7f 01 ${'62'.repeat(128)}`, { status: 200, length: null }],
  ['no status', '00 01 61 01 62', { status: 0, length: null }],
  ['nothing', '', { status: 0, length: null }],
  ['two statuses', '88 89', null],
  ['an empty status', '08 00', null],
  ['a status of two digits', '08 02 32 30', null],
  ['a status that is no number', '08 03 32 65 32', null],
  ['a status in broken Huffman code', '48 82 64 fe', null],
  ['index 0', '88 80', null],
  ['an index of the dynamic table', '88 be', null],
  ['a name of the dynamic table', '88 7e 01 62', null],
  ['a table of 16 bytes', '30 88', null],
  ['the size of the table after the status', '88 20', null],
  ['the size of the table after a field', '00 01 61 01 62 20', null],
  ['a value that is not complete', '88 00 01 61 05 62', null],
  ['a name that is not complete', '88 00 05', null],
  ['no value', '88 00 01 61', null],
  ['a number that does not end', '88 00 7f ff ff ff ff ff ff 01', null],
  ['a number that is not complete', '88 00 7f', null],
  ['two lengths', '88 0f 0d 01 31 0f 0d 01 32', null],
  ['a length twice', '88 0f 0d 01 31 0f 0d 01 31', { status: 200, length: 1 }],
  ['a status with its name', `00 07 ${NAME.status} 03 343239`, { status: 429, length: null }],
  ['the same in Huffman code', '00 85 b8848d36a3 82 6402', { status: 302, length: null }],
  ['a length with its name', `88 00 0e ${NAME.length} 02 3130`, { status: 200, length: 10 }],
  ['the same in Huffman code', '88 10 8a 21ea496a4ad416a9933f 82 6402', { status: 200, length: 302 }],
  ['two lengths, one of them with its name', `88 0f 0d 01 31 00 0e ${NAME.length} 01 32`, null],
  ['two statuses, one of them with its name', `88 00 07 ${NAME.status} 03 343239`, null],
  ['a status after a field', '00 01 61 01 62 88', null],
  ['a status with its name after a field', `00 01 61 01 62 00 07 ${NAME.status} 03 343239`, null],
  ['a status after an indexed field', '90 88', null],
  ['a status after a length', '5c 01 31 88', null],
  [':path of a request', '88 84', null],
  [':path of a request, with a value', '88 04 01 2f', null],
  [':path of a request, with its name', '88 00 05 3a70617468 01 2f', null],
  ['the same in Huffman code', '88 00 84 b958d33f 01 2f', null],
  ['a negative length', '88 0f 0d 02 2d 31', null],
];
for (const [name, block, expected] of BLOCKS)
  test(`a header block with ${name}`, () => assert.deepEqual(readHeaderBlock(hex(block)), expected));

test('every status that is not in the table', () => {
  for (let status = 100; status < 1000; status++) {
    const block = Buffer.concat([hex('08 03'), Buffer.from(`${status}`)]);
    assert.deepEqual(readHeaderBlock(block), { status, length: null });
  }
});

test('a long block goes in several frames, of which only the last ends it', () => {
  const bytes = headersFrames(Buffer.alloc(40_000, 1), true, 7);
  const frames = [];
  for (let at = 0; at < bytes.length; at += 9 + bytes.readUIntBE(at, 3))
    frames.push([bytes.readUIntBE(at, 3), bytes[at + 3], bytes[at + 4], bytes.readUInt32BE(at + 5)]);
  assert.deepEqual(frames, [
    [16_384, 1, 1, 7],
    [16_384, 9, 0, 7],
    [7232, 9, 4, 7],
  ]);
  assert.deepEqual(headersFrames(Buffer.from('a'), false, 1), frame(1, 4, 1, Buffer.from('a')));
});

test('a path or a field that HTTP does not allow', () => {
  const encode = createBlockEncoder('a', 'https');
  /** @type {any[]} */
  const wrong = [{ path: 'a' }, { path: '/ ' }, { headers: { 'a b': 'c' } }, { headers: { a: 'b\r\nc: d' } }];
  for (const one of wrong)
    assert.throws(() => encode({ method: 'GET', path: '/', headers: {}, body: null, ...one }), TypeError);
});
