/** The URL of `--otlp` and its headers: what is accepted, and how the rest is refused. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PkiLoadError } from '../../src/common/errors.js';
import { parseOtlpUrl, readOtlpHeaders } from '../../src/live/otlp.js';

/** @type {[string, string, [origin: string, path: string, shown: string]][]} the origin is shown in front of what is shown */
const URLS = [
  [
    'an address gets the path for metrics',
    'http://127.0.0.1:4318',
    ['http://127.0.0.1:4318', '/v1/metrics', '/v1/metrics'],
  ],
  [
    'a bare slash is not a path',
    'https://otel.example.com/',
    ['https://otel.example.com', '/v1/metrics', '/v1/metrics'],
  ],
  [
    'a path is kept',
    'http://[::1]:9090/api/v1/metrics',
    ['http://[::1]:9090', '/api/v1/metrics', '/api/v1/metrics'],
  ],
  [
    'a query is sent but not shown',
    'https://a.example/in?key=hunter2',
    ['https://a.example', '/in?key=hunter2', '/in'],
  ],
];

/** @param {() => unknown} read @param {string} code @param {RegExp} message */
function assertRefused(read, code, message) {
  assert.throws(read, (error) => {
    assert.ok(error instanceof PkiLoadError);
    assert.deepEqual([error.code, error.exitCode], [code, 1]);
    assert.match(error.message, message);
    assert.doesNotMatch(error.full, /hunter2/);
    assert.ok(error.remedy);
    return true;
  });
}

const BAD_URLS = [
  ...['', '127.0.0.1:4318', 'localhost:4318', 'grpc://127.0.0.1:4317', 'http://'],
  ...['http://me:hunter2@127.0.0.1:4318', 'ftp://me:hunter2@127.0.0.1', 'otel?key=hunter2'],
];

describe('parseOtlpUrl', () => {
  for (const [what, text, [origin, path, shown]] of URLS) {
    test(`${what}: ${text}`, () => {
      assert.deepEqual(parseOtlpUrl(text), { origin, path, shown: `${origin}${shown}` });
    });
  }

  for (const text of BAD_URLS) {
    test(`rejects ${JSON.stringify(text)} without showing a secret`, () => {
      assertRefused(() => parseOtlpUrl(text), 'bad_url', /^--otlp (?:is|contains) .*\.$/);
    });
  }
});

/** @type {[string, string | undefined, Record<string, string>][]} what, OTEL_EXPORTER_OTLP_HEADERS, headers */
const HEADERS = [
  ['nothing', undefined, {}],
  ['an empty variable', ' ', {}],
  ['one', 'api-key=abc', { 'api-key': 'abc' }],
  [
    'several, with spaces and a comma too many',
    ' api-key = abc , x-tenant=7,',
    { 'api-key': 'abc', 'x-tenant': '7' },
  ],
  ['percent-encoding', 'Authorization=Basic%20dXNl%3D,x=a%2Cb', { authorization: 'Basic dXNl=', x: 'a,b' }],
  ['characters that need no encoding', 'authorization=Bearer a+b==', { authorization: 'Bearer a+b==' }],
  ['an empty value', 'x=', { x: '' }],
  ['the last of two', 'x=1,X=2', { x: '2' }],
];

/** @type {[string, string, RegExp][]} what, value, message */
const BAD_HEADERS = [
  [
    'no equals sign',
    'x=1,hunter2',
    /^Part 2 of OTEL_EXPORTER_OTLP_HEADERS does not start with a header name and an equals sign\.$/,
  ],
  ['no name', '=hunter2', /^Part 1 .* does not start with a header name/],
  ['a name with a space', 'api key=hunter2', /does not start with a header name/],
  ['an incomplete percent escape', 'api-key=hunter2%2', /has a bad %XX or .*, in the value of api-key/],
  ['invalid UTF-8', 'api-key=hunter2%ff', /has a bad %XX or .*, in the value of api-key/],
  [
    'a line break',
    'api-key=hunter2%0d%0aHost: x',
    /a character not allowed in a header, in the value of api-key/,
  ],
  ['a character beyond Latin-1', 'api-key=hunter2%E2%82%AC', /a character not allowed in a header/],
  [
    'a header of the connection',
    'Content-Length=7',
    /sets the header content-length, which the connection itself sets/,
  ],
  ['the type of the body', 'content-type=hunter2', /sets the header content-type/],
];

describe('readOtlpHeaders', () => {
  for (const [what, value, expected] of HEADERS) {
    test(`reads ${what}`, () => {
      assert.deepEqual(
        readOtlpHeaders(value === undefined ? {} : { OTEL_EXPORTER_OTLP_HEADERS: value }),
        expected,
      );
    });
  }

  test('prefers the headers for metrics to those for all signals', () => {
    const env = { OTEL_EXPORTER_OTLP_HEADERS: 'x=1', OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'y=2' };
    assert.deepEqual(readOtlpHeaders(env), { y: '2' });
  });

  for (const [what, value, message] of BAD_HEADERS) {
    test(`rejects ${what} without showing a value`, () => {
      assertRefused(
        () => readOtlpHeaders({ OTEL_EXPORTER_OTLP_HEADERS: value }),
        'bad_otlp_headers',
        message,
      );
    });
  }
});
