import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readRunOptions, withoutQuery } from '../../src/cli/run-options.js';

test('without a word a run is one, shown as text, and nothing is served or sent', async () => {
  assert.deepEqual(await readRunOptions({}), {
    out: [],
    format: 'text',
    quiet: false,
    summary: null,
    metrics: null,
    otlp: null,
    repeat: 1,
    pauseMs: 0,
  });
});

/** @type {[string, {host: string, port: number}][]} */
const ADDRESSES = [
  ['127.0.0.1:9464', { host: '127.0.0.1', port: 9464 }],
  [':9464', { host: '127.0.0.1', port: 9464 }],
  ['9464', { host: '127.0.0.1', port: 9464 }],
  ['0', { host: '127.0.0.1', port: 0 }],
  ['0.0.0.0:9464', { host: '0.0.0.0', port: 9464 }],
  ['[::1]:9464', { host: '::1', port: 9464 }],
];
for (const [text, where] of ADDRESSES) {
  test(`--metrics ${text}`, async () => {
    assert.deepEqual((await readRunOptions({ metrics: text })).metrics, where);
  });
}

describe('a command line in a result', () => {
  /** @type {[string, string, string | null, string][]} what, line, --otlp, what is left */
  const TABLE = [
    ['stays as it is without --otlp', 'x issue --rate 5', null, 'x issue --rate 5'],
    ['or without a query', 'x issue --otlp http://h:4318', 'http://h:4318', 'x issue --otlp http://h:4318'],
    [
      'else has no query, which may be a key',
      "x issue --otlp 'http://h/v1?key=s3cret&b=1' --rate 5",
      'http://h/v1?key=s3cret&b=1',
      "x issue --otlp 'http://h/v1?...' --rate 5",
    ],
    [
      'with an equals sign, too',
      "x issue '--otlp=http://h/?k=s3cret'",
      'http://h/?k=s3cret',
      "x issue '--otlp=http://h/?...'",
    ],
  ];
  for (const [what, line, otlp, left] of TABLE) {
    test(what, () => assert.equal(withoutQuery(line, otlp), left));
  }
});
