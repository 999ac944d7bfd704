import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { encodeHistogram, sumHistograms } from '../../src/common/histogram.js';
import { parseDocument, readDocument, readDocuments, readResults } from '../../src/result/read-document.js';
import { createRunSet } from '../../src/result/runs/run-set.js';
import { sampleResult, spread, timelineOf } from './sample.js';
import { refusal } from './support.js';

const folder = mkdtempSync(join(tmpdir(), 'vpl-documents-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const result = sampleResult([{ outcome: 'good', service: spread(400, 1, 90), lag: 0.1 }]);
const text = JSON.stringify(result, null, 2);

/** Its figures do not add up, and it says so. */
const SAID = { verdict: 'invalid', reasons: [{ code: 'bookkeeping', text: 'The figures do not add up.' }] };

/** @param {Record<string, unknown>} [changes] of a result with a histogram for each second */
function bySecond(changes = {}) {
  const groups = [{ outcome: 'good', service: spread(400, 1, 90), lag: 0.1 }];
  return { ...sampleResult(groups, { timeline: timelineOf(groups, 3) }), ...changes };
}

/** 28,672 buckets in some 100 characters. */
const FULL = encodeHistogram(
  sumHistograms([Uint32Array.from({ length: 57_344 }, (_, i) => (i % 2 ? 1 : i / 2))]),
);

/** @param {{histogram?: string | null}[]} rows @param {string} histogram of the second one */
const garbled = (rows, histogram) => rows.map((row, i) => (i === 1 ? { ...row, histogram } : row));

/** @param {string} name @param {string | Uint8Array} content */
function file(name, content) {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('a document', () => {
  test('is read as written, with unknown keys', async () => {
    const path = file('r.json', JSON.stringify({ ...result, novelty: { a: 1 } }));
    assert.deepEqual(await readDocument(path), { ...result, novelty: { a: 1 } });
  });

  /** @type {[string, Uint8Array][]} */
  const ENCODINGS = [
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16, as some shells redirect', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['lines that end as on Windows', Buffer.from(text.replaceAll('\n', '\r\n'))],
  ];
  for (const [what, bytes] of ENCODINGS) {
    test(`may be in ${what}`, () => assert.deepEqual(parseDocument(bytes, 'r.json'), result));
  }

  test('may be a set of runs', async () => {
    const set = createRunSet('nightly', [result, result]);
    assert.deepEqual(await readDocument(file('set.json', JSON.stringify(set))), set);
  });

  test('may be one of several, which keep their order', async () => {
    const paths = [file('b.json', text), file('a.json', text)];
    const told = (await readDocuments(paths)).map(({ path, name }) => [path, name]);
    assert.deepEqual(
      told,
      paths.map((path) => [path, path]),
    );
  });

  test('need not add up if its measurement reports that', () => {
    const wrong = { ...result, totals: { ...result.totals, planned: 9999 }, measurement: SAID };
    assert.deepEqual(parseDocument(Buffer.from(JSON.stringify(wrong)), 'r.json'), wrong);
  });

  test('written during a run adds up as well', () => {
    const one = { ...result, unfinished: true };
    assert.deepEqual(parseDocument(Buffer.from(JSON.stringify(one)), 'r.json'), one);
  });
});

/** @type {[string, string | Uint8Array, string, RegExp][]} what, content, code, message; the file is x.json */
const REFUSED = [
  ['an empty file', '', 'empty_file', /x\.json is empty\./],
  ['only white space', ' \n\n', 'empty_file', /x\.json is empty\./],
  [
    'half of a result',
    text.slice(0, text.length / 2),
    'cut_off_file',
    /x\.json is truncated\. Use the complete file\./,
  ],
  ['a result without its last brace', text.trimEnd().slice(0, -1), 'cut_off_file', /is truncated/],
  ['a report in HTML', '<!doctype html>\n<p>', 'not_json', / looks like HTML or XML\. .*--out FILE\.json/],
  ['a report as text', 'ocsp on http://x', 'not_json', /x\.json is not JSON: unexpected token 'o'\. Use/],
  ['a fault in line 3', '{\n  "a": 1,\n  b: 2\n}', 'not_json', /not JSON: see line 3, column 3\./],
  ['an unknown word', '{"a": nothing}', 'not_json', /x\.json is not JSON: unexpected token 'o'\. Use/],
  [
    'a token, without quoting it',
    'hvs.SECRET',
    'not_json',
    /x\.json is not JSON: unexpected token 'h'\. Use/,
  ],
  ['a truncated word', '{"a": tr', 'cut_off_file', /is truncated/],
  ['a truncated string', '{"a": "bcd', 'cut_off_file', /is truncated/],
  ['a string with a line break', '{"a": "b\nc"}', 'not_json', /see line 1, column 9\./],
  ['two results', `${text}\n${text}`, 'not_json', /not JSON: see line \d+, column 1\./],
  ['a number', '17', 'bad_document', /x\.json was not written by vault-pki-load: it has no schema/],
  ['null', 'null', 'bad_document', /it has no schema/],
  ['JSON of another program', '{"schema":"openapi/3"}', 'bad_document', /its schema is "openapi\/3"/],
  [
    'a newer result',
    '{"schema":"vault-pki-load/result/2","tool":{"version":"3.0.0"}}',
    'newer_file',
    /x\.json was written by a newer vault-pki-load 3\.0\.0: its schema is vault-pki-load\/result\/2\./,
  ],
  ['a newer set', '{"schema":"vault-pki-load/run-set/12"}', 'newer_file', /a newer vault-pki-load: its/],
  [
    'a result with a missing key',
    JSON.stringify({ ...result, totals: undefined }),
    'bad_result',
    /x\.json is not a vault-pki-load\/result\/1: totals: /,
  ],
  [
    'a modified result',
    JSON.stringify({ ...result, totals: { ...result.totals, sent: 399 } }),
    'inconsistent_result',
    /x\.json does not add up: .*Use the unmodified file that vault-pki-load wrote\./,
  ],
  [
    'a set with a modified run',
    JSON.stringify(createRunSet('n', [result, { ...result, totals: { ...result.totals, sent: 399 } }])),
    'inconsistent_result',
    /Run 2 of .*x\.json does not add up/,
  ],
  [
    'a modified unfinished result',
    JSON.stringify({ ...result, unfinished: true, totals: { ...result.totals, sent: 399 } }),
    'inconsistent_result',
    /x\.json does not add up: /,
  ],
  [
    'a result with a doubled rate',
    JSON.stringify({
      ...result,
      windowSeconds: 20,
      rates: { ...result.rates, perSecond: 40, perHour: 144_000 },
    }),
    'inconsistent_result',
    /x\.json does not add up: rates\.perSecond is 40, but 400 successes in 20 s are 20\/s\./,
  ],
  [
    'a result with a modified second',
    JSON.stringify(bySecond({ timeline: garbled(bySecond().timeline, 'HISTFAAAAgarbage') })),
    'inconsistent_result',
    /x\.json does not add up: timeline\.1\.histogram cannot be read\./,
  ],
  [
    'a result that reports an inconsistency, but has unreadable histograms',
    JSON.stringify(bySecond({ measurement: SAID, timeline: garbled(bySecond().timeline, '') })),
    'inconsistent_result',
    /x\.json does not add up: timeline\.1\.histogram cannot be read\./,
  ],
  [
    'hundreds of histograms with all buckets, which take minutes to add up',
    JSON.stringify({ ...bySecond({ measurement: SAID }), more: { own: Array(100).fill(FULL) } }),
    'bad_document',
    /x\.json has too many histogram buckets: see more\.own\.18\./,
  ],
  [
    'a hundred histograms that may have taken as long, and then cannot be read',
    JSON.stringify({
      ...bySecond({ measurement: SAID }),
      more: { own: Array(100).fill('HISTFAAAAgarbage') },
    }),
    'bad_document',
    /x\.json has too many histogram buckets: see more\.own\.1\d\./,
  ],
  [
    'a part that does not exist',
    JSON.stringify({ ...result, shard: { index: 7, of: 2 } }),
    'bad_result',
    /x\.json is not a vault-pki-load\/result\/1: shard: there is no such part: parts are numbered from 0\./,
  ],
  [
    'a set without runs',
    JSON.stringify(createRunSet('n', [])),
    'bad_run_set',
    /must contain at least one run/,
  ],
];

describe('rejects', () => {
  for (const [what, content, code, message] of REFUSED) {
    test(what, async () => {
      await assert.rejects(readDocument(file('x.json', content)), refusal(code, message));
    });
  }

  test('a missing file, a folder, an empty name', async () => {
    await assert.rejects(
      readDocument(join(folder, 'gone.json')),
      refusal('cannot_read', /json was not found\./),
    );
    await assert.rejects(readDocument(folder), refusal('cannot_read', / is a directory\. Check the path\./));
    await assert.rejects(readDocument(''), refusal('cannot_read', /^The file "" was not found\./));
    const below = join(file('f', ''), 'r.json');
    await assert.rejects(
      readDocument(below),
      refusal('cannot_read', /part of its path is a file, not a directory/),
    );
  });

  test('standard input twice', async () => {
    await assert.rejects(
      readDocuments(['-', 'a', '-']),
      refusal('stdin_twice', /input \(-\) is given twice/),
    );
  });

  test('a set of runs in place of a result', async () => {
    const path = file('set.json', JSON.stringify(createRunSet('nightly', [result])));
    await assert.rejects(readResults([path]), refusal('not_a_result', /set\.json is not the result of/));
  });
});

test('standard input is refused at its limit, before its parts are joined', async (t) => {
  const chunk = Buffer.alloc(64 * 2 ** 20);
  let chunks = 0;
  async function* zeros() {
    for (; chunks < 100; chunks++) yield chunk;
  }
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin');
  Object.defineProperty(process, 'stdin', { value: zeros(), configurable: true });
  t.after(() => Object.defineProperty(process, 'stdin', Object(stdin)));
  t.mock.method(Buffer, 'concat', () => assert.fail('joined'));
  await assert.rejects(readDocument('-'), { code: 'bad_document', message: /input is larger than 400 MiB/ });
  assert.equal(chunks, 6);
});
