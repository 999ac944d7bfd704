/** Files that were made to do harm are refused with their place, in bounded time and memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { decodeHistogram } from '../../src/common/histogram.js';
import { parseDocument } from '../../src/result/read-document.js';
import { DOCUMENTS, readDamaged } from './hostile.js';
import { refusal } from './support.js';

const [run] = DOCUMENTS;

/** @param {(document: any) => unknown} change @returns {string} */
function changed(change) {
  const document = JSON.parse(run);
  change(document);
  return JSON.stringify(document);
}

/** @param {Buffer} inflated @returns {string} an encoded histogram with this content */
function encoded(inflated) {
  const deflated = deflateSync(inflated);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(0x1c849314, 0);
  head.writeUInt32BE(deflated.length, 4);
  return Buffer.concat([head, deflated]).toString('base64');
}

/** @param {{digits?: number, lowest?: bigint, highest?: bigint, payload: Buffer, length?: number}} header */
function histogram({ digits = 3, lowest = 1n, highest = 2n, payload, length = payload.length }) {
  const head = Buffer.alloc(40);
  head.writeUInt32BE(0x1c849313, 0);
  head.writeInt32BE(length, 4);
  head.writeInt32BE(digits, 12);
  head.writeBigInt64BE(lowest, 16);
  head.writeBigInt64BE(highest, 24);
  head.writeBigInt64BE(1n, 32);
  return encoded(Buffer.concat([head, payload]));
}

/** Its figures are then not compared. @param {any} document */
function reportBookkeeping(document) {
  const reasons = [{ code: 'bookkeeping', text: 'The figures do not add up.', grade: 'invalid' }];
  Object.assign(document, { requirements: [], measurement: { verdict: 'invalid', reasons } });
}

const ONE = Buffer.from([2]);
/** Odd: a row of empty buckets, 2^55 of them. */
const ENDLESS = Buffer.from([...Array(8).fill(0xff), 0x7f]);

/** @type {[string, string][]} */
const HISTOGRAMS = [
  ['a bomb of zeros', encoded(Buffer.alloc(400_000_000))],
  ['a header before a bomb', histogram({ payload: Buffer.alloc(100_000_000) })],
  ['an endless row of empty buckets', histogram({ payload: ENDLESS })],
  ['a missing payload', histogram({ payload: ONE, length: 2 ** 31 - 1 })],
  ['five digits', histogram({ payload: ONE, digits: 5, highest: 2n ** 62n })],
  ['unbounded values', histogram({ payload: ONE, highest: 2n ** 62n })],
  ['a negative unit', histogram({ payload: ONE, lowest: -1n })],
  ['an unterminated number', histogram({ payload: Buffer.from([0x80]) })],
];
for (const [what, text] of HISTOGRAMS) {
  test(`rejects a histogram of ${what}`, () => {
    assert.throws(() => decodeHistogram(text));
    const file = changed((document) => (document.latencyMs.response.histogram = text));
    const refused = refusal('inconsistent_result', /r\.json .*latencyMs\.response\.histogram cannot be read/);
    assert.throws(() => parseDocument(Buffer.from(file), 'r.json'), refused);
  });
}

test('reads a histogram with a valid header', () => {
  assert.equal(decodeHistogram(histogram({ payload: ONE })).totalCount, 1);
});

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
const CLEAR = '\u001b[2J\u009b\u202e';

/** @type {[string, string, string, RegExp][]} what, file, code, message */
const REFUSED = [
  ['nested lists', `{"plan":{"a":${DEEP}}}`, 'bad_document', /nested more than 100 levels deep/],
  ['only nested lists', DEEP, 'bad_document', /nested more than 100 levels deep/],
  ['lists without an end', '['.repeat(5_000_000), 'bad_document', /nested more than 100 levels deep/],
  [
    'a key of 1 MB',
    changed((document) => (document.outcomes['x'.repeat(1e6)] = -1)),
    'bad_document',
    /^r\.json has a key of more than 1000 characters\. [^x]*$/,
  ],
  [
    'a version of 1 MB, which reports would repeat',
    changed((document) => (document.target.version = 'x'.repeat(1e6))),
    'bad_document',
    /has a text of more than 10000 characters/,
  ],
  [
    'a command line of 3 MB, longer than any',
    changed((document) => (document.command = '\u202e'.repeat(3e6))),
    'bad_document',
    /has a text of more than 2097152 characters/,
  ],
  [
    'a long schema of a newer version',
    JSON.stringify({ schema: `vault-pki-load/result/${'9'.repeat(1e6)}` }),
    'bad_document',
    /has a text of more than 10000 characters/,
  ],
  [
    'an object of a million names',
    `{"a":[{${Array.from({ length: 1e6 }, (_, i) => `"${i}":0`)}}]}`,
    'bad_document',
    /has more than 10000 names in an object/,
  ],
  ['a million objects', `[${'{},'.repeat(1e6)}1]`, 'bad_document', /or too many values for its size/],
  [
    'a long list of wrong rows',
    changed((document) => (document.timeline = Array(150_000).fill([]))),
    'bad_result',
    /timeline\.0: /,
  ],
  [
    'very many wrong outcomes',
    changed((document) => (document.outcomes = Object.fromEntries(Array(300_000).entries()))).replaceAll(
      'null',
      '-1',
    ),
    'bad_result',
    /r\.json /,
  ],
  [
    'a number beyond range',
    run.replace(/"durationSeconds":[\d.]+/, '"durationSeconds":1e999'),
    'bad_result',
    /durationSeconds/,
  ],
  [
    'escapes in a key',
    changed((document) => (document.outcomes[CLEAR] = -1)),
    'bad_result',
    /outcomes\.\\u\{1b\}\[2J/,
  ],
  [
    'escapes in an outcome that does not add up',
    changed((document) => (document.outcomes[CLEAR] = 1)),
    'inconsistent_result',
    /r\.json does not add up/,
  ],
  ['escapes in the schema', JSON.stringify({ schema: CLEAR }), 'bad_document', /its schema is/],
  [
    'escapes in the version of a newer file',
    JSON.stringify({ schema: 'vault-pki-load/result/2', tool: { version: CLEAR } }),
    'newer_file',
    /newer vault-pki-load \\u\{1b\}\[2J\\u\{9b\}\\u\{202e\}:/,
  ],
  ['escapes instead of JSON', CLEAR, 'not_json', /is not JSON/],
  [
    'a prototype as an outcome',
    changed((document) => (document.outcomes = JSON.parse('{"__proto__":1}'))),
    'bad_document',
    /r\.json has a key __proto__/,
  ],
  [
    'a prototype as an operation',
    run.replace('"operations":{', '"operations":{"__proto__":null,'),
    'bad_document',
    /r\.json has a key __proto__/,
  ],
  [
    'a histogram of 200,000,000 seconds in a result that does not add up',
    changed((document) => {
      reportBookkeeping(document);
      document.timeline[0].histogramSeconds = 200_000_000;
    }),
    'bad_result',
    /timeline: seconds are missing, or counted twice/,
  ],
  [
    'a second beyond all dates in a result that does not add up',
    changed((document) => {
      reportBookkeeping(document);
      document.timeline[0].second = 1e15;
    }),
    'bad_result',
    /timeline: seconds are missing, or counted twice/,
  ],
];
for (const [what, text, code, message] of REFUSED) {
  test(`rejects ${what}`, () => {
    assert.throws(
      () => parseDocument(Buffer.from(text), 'r.json'),
      (error) => {
        assert.doesNotMatch(Object(error).full, /[\p{Cc}\p{Bidi_Control}]/u);
        return refusal(code, message)(error);
      },
    );
  });
}

test('the depth of a file in UTF-16 is bounded as well; an ideogram is no bracket', () => {
  const read = (/** @type {string} */ text) => () =>
    parseDocument(Buffer.from(`\ufeff${text}`, 'utf16le'), 'r.json');
  assert.throws(read(DEEP), refusal('bad_document', /nested more than 100 levels deep/));
  // The upper bytes of this character are those of `[`.
  read(changed((document) => (document.tool.version = '\u5b5b'.repeat(200))))();
});

test('a file may consist of numbers', () => {
  const numbers = Array(600_000).fill(0);
  parseDocument(Buffer.from(changed((document) => (document.novelty = numbers))), 'r.json');
});

test('reads unknown keys that are neither counts nor error bars', () => {
  const file = changed((document) => {
    document.totals.new = { toString: 1 };
    document.latencyMs.response.bars = { ...document.latencyMs.response.bars, new: null };
  });
  parseDocument(Buffer.from(file), 'r.json');
});

test('350 damaged documents of all kinds are rejected with the faulty path, or read', () => {
  const { read, refused } = readDamaged(1, 350);
  assert.ok(read > 10 && refused > 175, `${read} read, ${refused} refused`);
});

test('a wrong element of a long list is named by its place, wherever it is', () => {
  for (const at of [0, 999, 1000, 4321])
    assert.throws(
      () =>
        parseDocument(
          Buffer.from(
            changed((document) => {
              const [row] = document.timeline;
              document.timeline = Array.from({ length: 5000 }, (_, second) => ({ ...row, second }));
              document.timeline[at].succeeded = 'x';
            }),
          ),
          'r.json',
        ),
      refusal('bad_result', new RegExp(`timeline\\.${at}\\.succeeded: `)),
    );
});

test('many wrong elements after right ones: only those of one piece are described', () => {
  const text = changed((document) => {
    const [row] = document.timeline;
    document.timeline = [...Array.from({ length: 1500 }, () => row), ...Array(200_000).fill(0)];
  });
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  assert.throws(() => parseDocument(Buffer.from(text), 'r.json'), refusal('bad_result', /timeline\.1500: /));
  const after = process.memoryUsage();
  const mb = (after.heapUsed + after.arrayBuffers - heapUsed - arrayBuffers) / 2 ** 20;
  assert.ok(mb < 100, `${mb.toFixed()} MB; each description takes 0.7 KB, all of them 140 MB`);
});
