import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PkiLoadError } from '../../src/errors.js';
import { parseOtlpUrl, readOtlpHeaders, secretsOf } from '../../src/live/otlp-endpoint.js';

/** @type {[string, string, {origin: string, path: string, shown: string}][]} */
const URLS = [
  [
    'an address gets the path for metrics',
    'http://127.0.0.1:4318',
    { origin: 'http://127.0.0.1:4318', path: '/v1/metrics', shown: 'http://127.0.0.1:4318/v1/metrics' },
  ],
  [
    'a slash is no path',
    'https://otel.example.com/',
    { origin: 'https://otel.example.com', path: '/v1/metrics', shown: 'https://otel.example.com/v1/metrics' },
  ],
  [
    'a path is kept',
    'http://[::1]:9090/api/v1/otlp/v1/metrics',
    {
      origin: 'http://[::1]:9090',
      path: '/api/v1/otlp/v1/metrics',
      shown: 'http://[::1]:9090/api/v1/otlp/v1/metrics',
    },
  ],
  [
    'a query goes along and is not shown',
    'https://otel.example.com/in?api-key=hunter2',
    { origin: 'https://otel.example.com', path: '/in?api-key=hunter2', shown: 'https://otel.example.com/in' },
  ],
];

describe('parseOtlpUrl', () => {
  for (const [what, text, expected] of URLS) {
    test(`${what}: ${text}`, () => assert.deepEqual(parseOtlpUrl(text), expected));
  }

  for (const text of [
    '',
    '127.0.0.1:4318',
    'localhost:4318',
    'grpc://127.0.0.1:4317',
    'http://',
    'http://me:hunter2@127.0.0.1:4318',
    'ftp://me:hunter2@127.0.0.1',
    'otel?key=hunter2',
  ]) {
    test(`refuses ${JSON.stringify(text)}, and shows no secret`, () => {
      assert.throws(
        () => parseOtlpUrl(text),
        (error) => {
          assert.ok(error instanceof PkiLoadError);
          assert.equal(error.code, 'bad_url');
          assert.equal(error.exitCode, 1);
          assert.match(error.message, /^--otlp (?:is|holds) .*\.$/);
          assert.doesNotMatch(error.full, /hunter2/);
          assert.ok(error.remedy);
          return true;
        },
      );
    });
  }
});

/** @type {[string, Record<string, string>, Record<string, string>][]} what, environment, headers */
const HEADERS = [
  ['nothing', {}, {}],
  ['an empty variable', { OTEL_EXPORTER_OTLP_HEADERS: ' ' }, {}],
  ['one', { OTEL_EXPORTER_OTLP_HEADERS: 'api-key=abc' }, { 'api-key': 'abc' }],
  [
    'several, with spaces around them and a comma too many',
    { OTEL_EXPORTER_OTLP_HEADERS: ' api-key = abc , x-tenant=7,' },
    { 'api-key': 'abc', 'x-tenant': '7' },
  ],
  [
    'percent-encoding',
    { OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20dXNlcjpwYXNz%3D,x=a%2Cb' },
    { authorization: 'Basic dXNlcjpwYXNz=', x: 'a,b' },
  ],
  [
    'what need not be encoded, as others take it too',
    { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer a+b==' },
    { authorization: 'Bearer a+b==' },
  ],
  ['an empty value', { OTEL_EXPORTER_OTLP_HEADERS: 'x=' }, { x: '' }],
  ['the last of two', { OTEL_EXPORTER_OTLP_HEADERS: 'x=1,X=2' }, { x: '2' }],
  [
    'those for metrics, in place of those for all signals',
    { OTEL_EXPORTER_OTLP_HEADERS: 'x=1', OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'y=2' },
    { y: '2' },
  ],
];

/** @type {[string, string, RegExp][]} what, value, message */
const BAD_HEADERS = [
  ['no equals sign', 'x=1,hunter2', /^Part 2 of OTEL_EXPORTER_OTLP_HEADERS has no equals sign\.$/],
  ['no name', '=hunter2', /^Part 1 .* does not begin with the name of a header\.$/],
  ['a name with a space', 'api key=hunter2', /does not begin with the name of a header/],
  [
    'a half percent sign',
    'api-key=hunter2%2',
    /has a percent sign that begins no %XX, in the value of api-key/,
  ],
  ['what is no UTF-8', 'api-key=hunter2%ff', /begins no %XX, in the value of api-key/],
  [
    'a line break',
    'api-key=hunter2%0d%0aHost: x',
    /a character that no header can hold, in the value of api-key/,
  ],
  ['a character beyond Latin-1', 'api-key=hunter2%E2%82%AC', /a character that no header can hold/],
  [
    'a header of the connection',
    'Content-Length=7',
    /sets the header content-length, which is the connection's own/,
  ],
  ['the form of the body', 'content-type=hunter2', /sets the header content-type/],
];

describe('readOtlpHeaders', () => {
  for (const [what, env, expected] of HEADERS) {
    test(`reads ${what}`, () => assert.deepEqual(readOtlpHeaders(env), expected));
  }

  for (const [what, value, message] of BAD_HEADERS) {
    test(`refuses ${what}, and shows no value`, () => {
      assert.throws(
        () => readOtlpHeaders({ OTEL_EXPORTER_OTLP_HEADERS: value }),
        (error) => {
          assert.ok(error instanceof PkiLoadError);
          assert.equal(error.code, 'bad_otlp_headers');
          assert.match(error.message, message);
          assert.doesNotMatch(error.full, /hunter2/);
          return true;
        },
      );
    });
  }
});

test('secretsOf names values, their words and what Basic holds, but no scheme', () => {
  const secrets = secretsOf({
    authorization: `Basic ${Buffer.from('me:hunter2').toString('base64')}`,
    'x-token': 'Bearer abc',
    empty: '',
  });
  assert.deepEqual(secrets.sort(), [
    'Basic bWU6aHVudGVyMg==',
    'Bearer abc',
    'abc',
    'bWU6aHVudGVyMg==',
    'hunter2',
    'me',
    'me:hunter2',
  ]);
});
