import assert from 'node:assert/strict';
import os from 'node:os';
import { test } from 'node:test';
import { errors } from 'undici';
import { describeTransportError, TRANSPORT_CODES, TRANSPORT_MEANINGS } from '../../src/http/failures.js';
import { MAX_BODY_BYTES } from '../../src/http/response-reader.js';
import { FAULTS } from './tls-faults.js';

const error = (/** @type {string} */ code, more = {}) =>
  Object.assign(new Error('secret hvs.abc'), { code, ...more });

/** The types of undici leave out the constructor's arguments. */
const parserError = (/** @type {string} */ data) => Object.assign(new errors.HTTPParserError(), { data });

/** @type {[string, unknown, string, boolean?][]} what, error, code, headersSeen */
const table = [
  ['a refused connection', error('ECONNREFUSED'), 'connection_refused'],
  [
    'refused on every address of a name',
    Object.assign(new AggregateError([error('ECONNREFUSED')]), {}),
    'connection_refused',
  ],
  ['hidden in a cause', new TypeError('failed', { cause: error('ENOTFOUND') }), 'host_not_found'],
  ['a reset', error('ECONNRESET'), 'connection_reset'],
  ['a reset after the status line', error('ECONNRESET'), 'truncated', true],
  ['a refused connection is never a truncated response', error('ECONNREFUSED'), 'connection_refused', true],
  ['no route', error('EHOSTUNREACH'), 'host_unreachable'],
  ['the kernel gave up connecting', error('ETIMEDOUT'), 'connect_timeout'],
  ['unknown CA', error('SELF_SIGNED_CERT_IN_CHAIN'), 'certificate_not_trusted'],
  ['other names', error('ERR_TLS_CERT_ALTNAME_INVALID'), 'certificate_name_mismatch'],
  ['expired', error('CERT_HAS_EXPIRED'), 'certificate_expired'],
  ['not TLS at all', error('ERR_SSL_WRONG_VERSION_NUMBER'), 'wrong_scheme_https_to_http_port'],
  [
    'not TLS at all, found by a write that waited for the handshake',
    error('EPROTO', {
      message: 'write EPROTO 80:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../a.c:350:',
    }),
    'wrong_scheme_https_to_http_port',
  ],
  ['a protocol error without details', error('EPROTO'), 'tls_error'],
  ['a TLS alert as response', parserError('\x15\x03\x01\0'), 'wrong_scheme_http_to_https_port'],
  ['not HTTP', parserError('SSH-2.0'), 'bad_http'],
  ['another protocol', new errors.SocketError('bad upgrade'), 'bad_http'],
  ['closed by the server', new errors.SocketError('other side closed'), 'connection_reset'],
  ['a body longer than undici can count', new errors.ResponseContentLengthMismatchError(), 'bad_http'],
  ['the same, but closed in the body', new errors.ResponseContentLengthMismatchError(), 'truncated', true],
  ['closed in the body', new errors.SocketError('other side closed'), 'truncated', true],
  [
    'a client certificate required',
    error('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'),
    'client_certificate_required',
  ],
  [
    'a rejected client certificate, as reported by OpenSSL 3.0',
    error('ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE'),
    'client_certificate_required',
  ],
  [
    'the same, as reported by 3.5',
    error('EPROTO', {
      message:
        'write EPROTO 40:error:0A000412:SSL routines:ssl3_read_bytes:ssl/tls alert bad certificate:a.c:1:',
    }),
    'client_certificate_required',
  ],
  ['no common TLS version', error('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'), 'tls_version_mismatch'],
  ['a chain that is too long', error('CERT_CHAIN_TOO_LONG'), 'certificate_invalid'],
  ['an error of verification without a code', error('UNSPECIFIED'), 'certificate_invalid'],
  ['no file descriptors', error('EMFILE'), 'too_many_open_files'],
  ['no local ports', error('EADDRNOTAVAIL'), 'no_local_port'],
  [
    'no local ports for the second address of a name',
    error('ECONNREFUSED', {
      errors: [error('ECONNREFUSED', { address: '::1' }), error('EADDRNOTAVAIL', { address: '127.0.0.1' })],
    }),
    'no_local_port',
  ],
  [
    'no IPv6 for the second address of a name',
    error('ECONNREFUSED', {
      errors: [error('ECONNREFUSED', { address: '127.0.0.1' }), error('EADDRNOTAVAIL', { address: '::1' })],
    }),
    'connection_refused',
  ],
  [
    'no IPv6 for the first address of a name',
    error('EADDRNOTAVAIL', {
      errors: [error('EADDRNOTAVAIL', { address: '::1' }), error('ECONNREFUSED', { address: '127.0.0.1' })],
    }),
    'connection_refused',
  ],
  ['no Unix socket', error('ENOENT'), 'socket_unusable'],
  ['a Unix socket of someone else', error('EACCES', { address: '/s' }), 'socket_unusable'],
  ['a prohibited route', error('EACCES', { address: '10.8.8.8', port: 8200 }), 'host_unreachable'],
  [
    'prohibited routes to each address of a name',
    error('EACCES', { errors: [error('EACCES', { port: 8200 }), error('EACCES', { port: 8200 })] }),
    'host_unreachable',
  ],
  ['a Unix socket whose queue is full', error('EAGAIN'), 'socket_queue_full'],
  ['given up', error('ABORT_ERR'), 'aborted'],
  ['something else', error('E_NEW'), 'transport_error'],
  ['no error at all', undefined, 'transport_error'],
  ['a string', 'boom', 'transport_error'],
];
for (const [what, given, code, headersSeen] of table) {
  test(`describeTransportError: ${what} is ${code}`, () => {
    const failure = describeTransportError(given, headersSeen);
    assert.equal(failure.code, code);
    assert.ok(TRANSPORT_CODES.includes(code));
    assert.doesNotMatch(JSON.stringify(failure), /hvs|SSH/);
  });
}

test('no address for a connection: without IPv6, those of IPv6 are unreachable; otherwise all ports are in use', (t) => {
  let now = performance.now() + 5000;
  t.mock.method(performance, 'now', () => now);
  const list = t.mock.method(os, 'networkInterfaces', () => ({}));
  const codeAt = (/** @type {string} */ address) =>
    describeTransportError(error('EADDRNOTAVAIL', { address })).code;
  assert.deepEqual(['2001:db8::1', '10.0.0.1'].map(codeAt), ['host_unreachable', 'no_local_port']);
  assert.equal(list.mock.callCount(), 1);
  now += 2000;
  list.mock.mockImplementation(() => {
    throw new Error('A system error occurred: uv_interface_addresses returned Unknown system error 97');
  });
  assert.equal(codeAt('2001:db8::1'), 'no_local_port', 'not permitted to look');
  now += 2000;
  list.mock.mockImplementation(() => ({ lo: [/** @type {any} */ ({ family: 'IPv6' })] }));
  assert.deepEqual(['2001:db8::1', '2001:db8::2'].map(codeAt), ['no_local_port', 'no_local_port']);
  assert.equal(list.mock.callCount(), 3);
});

test('what is no TLS, behind a proxy: http:// is no remedy, as the proxy would see the token', () => {
  const given = error('ERR_SSL_WRONG_VERSION_NUMBER');
  const proxy = /** @type {any} */ ({ name: 'p.example:3128', source: 'HTTPS_PROXY' });
  const { code, text, remedy } = describeTransportError(given, false, true, proxy);
  assert.equal(code, 'wrong_scheme_https_to_http_port');
  assert.match(text, /p\.example:3128 \(HTTPS_PROXY\)/);
  assert.doesNotMatch(`${remedy}`, /http:\/\//);
});

test('the meaning of response_too_large states the limit', () => {
  const limit = `${MAX_BODY_BYTES / 1024 ** 2} MiB`;
  assert.equal(
    TRANSPORT_MEANINGS.response_too_large,
    `the target sent a response larger than this tool accepts (${limit} under load)`,
  );
});

test('every code is tested above, with a real server, or with a proxy in proxies.test.js', () => {
  const http2 = ['stream_refused', 'stream_reset', 'http2_not_offered'];
  const elsewhere = [...http2, 'no_response', 'response_too_large'];
  const tested = new Set([...table, ...FAULTS.map(({ code }) => ['', '', code])].map(([, , code]) => code));
  for (const code of elsewhere) tested.add(code);
  assert.deepEqual(
    TRANSPORT_CODES.filter((code) => !tested.has(code) && !code.startsWith('proxy_')),
    [],
  );
});
