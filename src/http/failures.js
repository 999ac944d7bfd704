/** Errors of a socket, TLS or the HTTP parser -> codes of this tool: error codes before the run, outcomes during it. */

/** @typedef {{code: string, text: string, remedy?: string}} TransportFailure `text` follows the target's name */

const CHECK_SERVER_LOG = "Check the server's log; a proxy or load balancer in between can also cause this.";

/** `on`: codes of Node, OpenSSL and undici. @type {Record<string, {text: string, remedy?: string, on?: string}>} */
const TABLE = {
  connection_refused: {
    on: 'ECONNREFUSED',
    text: 'refused the connection: nothing is listening there',
    remedy: 'Start the server, or correct the host and port in --url (VAULT_ADDR).',
  },
  connection_reset: {
    on: 'ECONNRESET EPIPE ECONNABORTED UND_ERR_SOCKET',
    text: 'closed the connection without a response',
    remedy: `Check http:// or https:// in --url, and whether the server requires --client-cert. ${CHECK_SERVER_LOG}`,
  },
  host_not_found: {
    on: 'ENOTFOUND EAI_AGAIN EAI_NODATA EAI_NONAME',
    text: 'cannot be found: no address for this host name',
    remedy: 'Correct the host name in --url (VAULT_ADDR), or check the DNS of this machine.',
  },
  host_unreachable: {
    on: 'EHOSTUNREACH ENETUNREACH EHOSTDOWN ENETDOWN',
    text: 'cannot be reached: no route to it',
    remedy: 'Check the network, VPN and firewall between this machine and the target.',
  },
  connect_timeout: {
    on: 'ETIMEDOUT UND_ERR_CONNECT_TIMEOUT',
    text: 'did not accept the connection in time',
    remedy: 'Check the address in --url and the firewall, or raise --timeout (VAULT_CLIENT_TIMEOUT).',
  },
  no_response: {
    text: 'accepted the connection but sent no full response in time',
    remedy: 'Check the load and the log of the server, or raise --timeout (VAULT_CLIENT_TIMEOUT).',
  },
  certificate_not_trusted: {
    on:
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY CERT_UNTRUSTED CERT_REJECTED ' +
      'CERT_SIGNATURE_FAILURE CERT_CHAIN_TOO_LONG INVALID_CA INVALID_PURPOSE CERT_REVOKED DEPTH_ZERO_SELF_SIGNED_CERT ' +
      'SELF_SIGNED_CERT_IN_CHAIN',
    text: 'presented a certificate that no known CA signed',
    remedy: 'Set --ca-cert (VAULT_CACERT) to its CA, or use --tls-skip-verify for a test.',
  },
  certificate_name_mismatch: {
    on: 'ERR_TLS_CERT_ALTNAME_INVALID HOSTNAME_MISMATCH',
    text: 'presented a certificate that does not match the name in the address',
    remedy: 'Use a name from the certificate, or set one with --tls-server-name (VAULT_TLS_SERVER_NAME).',
  },
  certificate_expired: {
    on: 'CERT_HAS_EXPIRED',
    text: 'presented a certificate that has expired',
    remedy: 'Renew it, or check the clock of this machine; --tls-skip-verify accepts it for a test.',
  },
  certificate_not_yet_valid: {
    on: 'CERT_NOT_YET_VALID',
    text: 'presented a certificate that is not valid yet',
    remedy: 'Check the clocks of this machine and of the server; --tls-skip-verify accepts it for a test.',
  },
  client_certificate_required: {
    on:
      'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED ERR_SSL_TLSV1_ALERT_CERTIFICATE_REQUIRED ERR_SSL_TLSV1_ALERT_UNKNOWN_CA ' +
      'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN',
    text: 'requires a client certificate, and received none or rejected it',
    remedy: 'Set --client-cert and --client-key (VAULT_CLIENT_CERT, VAULT_CLIENT_KEY).',
  },
  wrong_scheme_https_to_http_port: {
    on: 'ERR_SSL_WRONG_VERSION_NUMBER ERR_SSL_PACKET_LENGTH_TOO_LONG ERR_SSL_HTTP_REQUEST',
    text: 'speaks plain HTTP on this port, not TLS',
    remedy: 'Use http:// in place of https:// in --url (VAULT_ADDR).',
  },
  wrong_scheme_http_to_https_port: {
    text: 'speaks TLS on this port, not plain HTTP',
    remedy: 'Use https:// in place of http:// in --url (VAULT_ADDR).',
  },
  tls_error: {
    on: 'EPROTO ERR_TLS_HANDSHAKE_TIMEOUT ERR_TLS_PROTOCOL_VERSION_CONFLICT',
    text: 'and this machine could not agree on TLS',
    remedy: 'Check the TLS versions of the server, and whether it requires --client-cert.',
  },
  bad_http: {
    on: 'UND_ERR_HEADERS_OVERFLOW',
    text: 'sent a response that is not HTTP/1.1',
    remedy: 'Check the port in --url: another kind of server may be listening there.',
  },
  truncated: {
    on: 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
    text: 'closed the connection in the middle of a response',
    remedy: CHECK_SERVER_LOG,
  },
  stream_refused: {
    text: 'refused the HTTP/2 stream of a request, without processing it',
    remedy: 'Lower --streams, or raise the limit of streams or of requests per connection there.',
  },
  stream_reset: {
    text: 'reset the HTTP/2 stream of a request without a response',
    remedy: CHECK_SERVER_LOG,
  },
  http2_not_offered: {
    text: 'does not offer HTTP/2',
    remedy: 'Use --http 1.1, or an address whose server offers h2 by ALPN.',
  },
  response_too_large: {
    on: 'UND_ERR_RES_EXCEEDED_MAX_SIZE',
    text: 'sent a response larger than this tool accepts (1 MiB under load)',
  },
  too_many_open_files: {
    on: 'EMFILE ENFILE',
    text: 'received no request: this machine has reached its limit of open files',
    remedy: 'Raise the limit (ulimit -n), or lower --concurrency.',
  },
  no_local_port: {
    on: 'EADDRNOTAVAIL EADDRINUSE',
    text: 'received no request: this machine has no free local port or address',
    remedy:
      'Lower --concurrency or --rate, send more requests over each connection (--requests-per-connection), or use several --local-address.',
  },
  aborted: {
    on: 'ABORT_ERR UND_ERR_ABORTED UND_ERR_DESTROYED UND_ERR_CLOSED',
    text: 'received a request that this tool then cancelled',
  },
  transport_error: { text: 'could not be reached' },
};

/** @param {string} code @returns {TransportFailure} */
export const transportFailure = (code) => ({ code, text: TABLE[code].text, remedy: TABLE[code].remedy });

const BY_REPORT = new Map(
  Object.entries(TABLE).flatMap(([code, { on }]) => on?.split(' ').map((report) => [report, code]) ?? []),
);

/** Every code of a failed request. */
export const TRANSPORT_CODES = Object.freeze(Object.keys(TABLE));

/** Code -> meaning. @type {Readonly<Record<string, string>>} */
export const TRANSPORT_MEANINGS = Object.freeze(
  Object.fromEntries(Object.entries(TABLE).map(([code, { text }]) => [code, `the target ${text}`])),
);

/** @param {unknown} error from undici, a socket or TLS @param {boolean} [headersSeen] so an early end is `truncated` */
export function describeTransportError(error, headersSeen = false) {
  const { code: reported, start } = findInnermost(error);
  const report = reported.replace('_SSL/TLS_ALERT_', '_SSLV3_ALERT_'); // OpenSSL renamed them in 3.5
  const code = BY_REPORT.get(report);
  if (headersSeen && code === 'connection_reset') return transportFailure('truncated');
  if (code !== undefined) return transportFailure(code);
  if (report === 'HTTP_PARSER') return describeUnexpectedBytes(start);
  return transportFailure(/^(ERR_SSL|ERR_TLS|CERT)_/.test(report) ? 'tls_error' : 'transport_error');
}

/** TLS ports respond to HTTP with an alert record (RFC 8446, 5.1 and 6). @param {string} start of the response, latin1 */
export const describeUnexpectedBytes = (start) =>
  transportFailure(start.startsWith('\x15\x03') ? 'wrong_scheme_http_to_https_port' : 'bad_http');

/** @param {any} error @returns {{code: string, start: string}} `start`: first bytes of a response that is not HTTP */
function findInnermost(error) {
  let current = error;
  for (let depth = 0; depth < 4 && current !== null && typeof current === 'object'; depth++) {
    const { name, code, data, message } = current;
    if (name === 'HTTPParserError') return { code: 'HTTP_PARSER', start: data ?? '' };
    if (name === 'SocketError' && message.startsWith('bad ')) return { code: 'HTTP_PARSER', start: '' };
    if (code === 'EPROTO') return { code: opensslCode(message), start: '' };
    if (typeof code === 'string') return { code, start: '' };
    current = current.cause ?? current.errors?.[0]; // one error for each address of a name
  }
  return { code: '', start: '' };
}

/**
 * A failed handshake fails a pending write with EPROTO. This builds the code that Node (tls_wrap.cc) reports elsewhere.
 * @param {string} message with OpenSSL's reason: "error:0A00010B:SSL routines:ssl3_get_record:wrong version number:"
 */
function opensslCode(message) {
  const reason = /:SSL routines:[^:]*:([^:]+):/.exec(message)?.[1];
  return reason === undefined ? 'EPROTO' : `ERR_SSL_${reason.toUpperCase().replaceAll(' ', '_')}`;
}
