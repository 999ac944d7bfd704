/** Errors of a socket, TLS or the HTTP parser -> codes of this tool: error codes before the run, outcomes during it. */
import { isIPv6 } from 'node:net';
import os from 'node:os';

/** @import { Route } from './route.js' */

/** @typedef {{code: string, text: string, remedy?: string}} TransportFailure `text` follows the target's name */

const CHECK_SERVER_LOG = "Check the server's log; a proxy or load balancer in between can also cause this.";

const CHECK_PROXY =
  'Correct the proxy (VAULT_PROXY_ADDR, HTTPS_PROXY, HTTP_PROXY), or exclude the target with NO_PROXY.';

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
  socket_unusable: {
    on: 'ENOENT EACCES EPERM ENOTSOCK',
    text: 'is not a Unix socket that this user may connect to',
    remedy: 'Start the server (for Vault Agent, its listener), or correct the path in --url (VAULT_ADDR).',
  },
  socket_queue_full: {
    on: 'EAGAIN',
    text: 'has a full queue of new connections on its Unix socket',
    remedy: 'Lower --concurrency, or send more requests over each connection (--requests-per-connection).',
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
    on: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY SELF_SIGNED_CERT_IN_CHAIN CERT_UNTRUSTED CERT_REJECTED',
    text: 'presented a certificate that no known CA signed',
    remedy: 'Set --ca-cert (VAULT_CACERT) to its root CA, or use --tls-skip-verify for a test.',
  },
  certificate_issuer_unknown: {
    on: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    text: 'presented only its own certificate, and no known CA issued it',
    remedy: 'Set --ca-cert (VAULT_CACERT) to its root CA; the server must also send its intermediate CAs.',
  },
  certificate_root_missing: {
    on: 'UNABLE_TO_GET_ISSUER_CERT',
    text: 'presented a certificate of a CA in --ca-cert that is not a root CA',
    remedy: 'Add the root CA to the file of --ca-cert (VAULT_CACERT).',
  },
  certificate_self_signed: {
    on: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    text: 'presented a self-signed certificate that is not among the known CAs',
    remedy: 'Set --ca-cert (VAULT_CACERT) to that certificate, or use --tls-skip-verify for a test.',
  },
  certificate_bad_signature: {
    on: 'CERT_SIGNATURE_FAILURE UNABLE_TO_DECRYPT_CERT_SIGNATURE',
    text: 'presented a certificate with an invalid signature',
    remedy: 'Check that --ca-cert (VAULT_CACERT) is its CA, and not another one of the same name.',
  },
  certificate_too_weak: {
    on: 'ERR_SSL_TOO_WEAK',
    text: 'presented a certificate with a key or a signature algorithm that is too weak',
    remedy: 'Use an RSA key of 2048 bits or more or an EC key, and SHA-256, in it and in its CA.',
  },
  certificate_wrong_purpose: {
    on: 'INVALID_PURPOSE INVALID_CA ERR_SSL_KEY_USAGE',
    text: 'presented a certificate that is not for servers, or whose issuer may not issue certificates',
    remedy: 'It needs the extended key usage serverAuth or none; its issuers, CA:TRUE and keyCertSign.',
  },
  certificate_invalid: {
    on: 'UNSPECIFIED CERT_CHAIN_TOO_LONG PATH_LENGTH_EXCEEDED CERT_REVOKED',
    text: 'presented a certificate that does not pass verification',
    remedy: 'openssl s_client -connect HOST:PORT -CAfile CA prints the reason.',
  },
  certificate_name_mismatch: {
    on: 'ERR_TLS_CERT_ALTNAME_INVALID HOSTNAME_MISMATCH',
    text: 'presented a certificate that does not match the name in the address',
    remedy: 'Use a name from the certificate, or set one with --tls-server-name (VAULT_TLS_SERVER_NAME).',
  },
  certificate_expired: {
    on: 'CERT_HAS_EXPIRED',
    text: 'presented a certificate that has expired, or whose CA has',
    remedy: 'Renew it, or check the clock of this machine; --tls-skip-verify accepts it for a test.',
  },
  certificate_not_yet_valid: {
    on: 'CERT_NOT_YET_VALID',
    text: 'presented a certificate that is not valid yet',
    remedy: 'Check the clocks of this machine and of the server; --tls-skip-verify accepts it for a test.',
  },
  client_certificate_required: {
    // Go reports none and a bad one with the same alert in TLS 1.2.
    on:
      'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED ERR_SSL_TLSV1_ALERT_CERTIFICATE_REQUIRED ' +
      'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
    text: 'requires a client certificate, and received none or rejected it',
    remedy: 'Set --client-cert and --client-key (VAULT_CLIENT_CERT, VAULT_CLIENT_KEY).',
  },
  client_certificate_expired: {
    on: 'ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED',
    text: 'rejected the client certificate, because it has expired',
    remedy: 'Renew the certificate of --client-cert (VAULT_CLIENT_CERT), or check the clock of the server.',
  },
  client_certificate_rejected: {
    on:
      'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED ' +
      'ERR_SSL_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE ERR_SSL_TLSV1_ALERT_ACCESS_DENIED',
    text: 'rejected the client certificate',
    remedy: 'Set --client-cert (VAULT_CLIENT_CERT) to a certificate for clients that the server accepts.',
  },
  wrong_scheme_https_to_http_port: {
    on: 'ERR_SSL_WRONG_VERSION_NUMBER ERR_SSL_PACKET_LENGTH_TOO_LONG ERR_SSL_HTTP_REQUEST',
    text: 'does not speak TLS on this port, but probably plain HTTP',
    remedy: 'Use http:// in place of https:// in --url (VAULT_ADDR), or correct the port.',
  },
  wrong_scheme_http_to_https_port: {
    text: 'speaks TLS on this port, not plain HTTP',
    remedy: 'Use https:// in place of http:// in --url (VAULT_ADDR).',
  },
  tls_version_mismatch: {
    on: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION ERR_SSL_UNSUPPORTED_PROTOCOL ERR_SSL_WRONG_SSL_VERSION',
    text: 'supports neither TLS 1.2 nor TLS 1.3',
    remedy: 'Enable TLS 1.2 or later on the server.',
  },
  tls_handshake_failure: {
    // OpenSSL also reports a missing client certificate with this alert in TLS 1.2.
    on: 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE ERR_SSL_TLSV1_ALERT_INSUFFICIENT_SECURITY',
    text: 'shares no cipher suite with this machine, or requires a client certificate',
    remedy: 'Set --client-cert and --client-key if it requires them, or check its key and cipher suites.',
  },
  tls_unrecognized_name: {
    on: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME',
    text: 'has no certificate for the server name that the TLS handshake sent',
    remedy:
      'Use a name of the server in --url (VAULT_ADDR), or set --tls-server-name (VAULT_TLS_SERVER_NAME).',
  },
  tls_no_protocol: {
    on: 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL',
    text: 'does not speak the HTTP version that the TLS handshake offered',
    remedy: 'Enable HTTP/1.1 there: requests outside the load use it, also with --http 2.',
  },
  tls_handshake_cut: {
    text: 'closed the connection during the TLS handshake',
    remedy: `Check that it speaks TLS on this port. ${CHECK_SERVER_LOG}`,
  },
  tls_handshake_timeout: {
    text: 'accepted the connection but did not complete the TLS handshake in time',
    remedy: 'Check that it speaks TLS on this port, or raise --timeout (VAULT_CLIENT_TIMEOUT).',
  },
  tls_error: {
    on: 'EPROTO ERR_TLS_HANDSHAKE_TIMEOUT ERR_TLS_PROTOCOL_VERSION_CONFLICT',
    text: 'and this machine could not agree on TLS',
    remedy: `Check that it speaks TLS on this port. ${CHECK_SERVER_LOG}`,
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
  proxy_unreachable: {
    on: 'PROXY_UNREACHABLE',
    text: 'could not be reached: the proxy did not accept a connection',
    remedy: CHECK_PROXY,
  },
  proxy_timeout: {
    text: 'could not be reached: the proxy did not respond in time',
    remedy: `${CHECK_PROXY} Or raise --timeout (VAULT_CLIENT_TIMEOUT).`,
  },
  proxy_auth_required: {
    on: 'PROXY_AUTH_REQUIRED',
    text: 'could not be reached: the proxy requires a user name and password, and received none or rejected them',
    remedy: 'Set the proxy variable to http://USER:PASSWORD@HOST:PORT, with special characters as %XX.',
  },
  proxy_refused: {
    on: 'PROXY_REFUSED',
    text: 'could not be reached: the proxy refused',
    remedy: `Allow this host and port in the proxy's rules. ${CHECK_PROXY}`,
  },
  proxy_bad_gateway: {
    on: 'PROXY_BAD_GATEWAY',
    text: 'could not be reached: the proxy got no connection to it',
    remedy: "Check that the proxy's machine can reach this host and port, and the proxy's log.",
  },
  proxy_no_tunnel: {
    on: 'PROXY_NO_TUNNEL',
    text: 'could not be reached: the proxy closed the connection, or sent no HTTP, or more than a response to CONNECT',
    remedy: CHECK_PROXY,
  },
  aborted: {
    on: 'ABORT_ERR UND_ERR_ABORTED UND_ERR_DESTROYED UND_ERR_CLOSED',
    text: 'received a request that this tool then cancelled',
  },
  transport_error: { text: 'could not be reached' },
};

/** @param {string} code @param {Route['proxy']} [proxy] named in the text @param {number} [status] of its response @returns {TransportFailure} */
export function transportFailure(code, proxy = null, status = undefined) {
  const { text, remedy } = TABLE[code];
  const named =
    proxy === null ? text : text.replace('the proxy', `the proxy ${proxy.name} (${proxy.source})`);
  return { code, text: status === undefined ? named : `${named}: HTTP ${status}`, remedy };
}

/** Failures at limits of this machine, whichever server the connection was for. */
export const AT_LIMITS = Object.freeze(['too_many_open_files', 'no_local_port']);

const LOCAL = new Set([...AT_LIMITS, 'aborted']);

/** @param {Error | null} cause @param {string} code in TABLE @param {number} [status] @returns {Error} whose culprit is the proxy */
export function proxyFailure(cause, code, status) {
  if (cause !== null && LOCAL.has(describeTransportError(cause).code)) return cause;
  return Object.assign(new Error(code, { cause }), { code, status });
}

const BY_REPORT = new Map(
  Object.entries(TABLE).flatMap(([code, { on }]) => on?.split(' ').map((report) => [report, code]) ?? []),
);

/** Every code of a failed request. */
export const TRANSPORT_CODES = Object.freeze(Object.keys(TABLE));

/** Code -> meaning. @type {Readonly<Record<string, string>>} */
export const TRANSPORT_MEANINGS = Object.freeze(
  Object.fromEntries(Object.entries(TABLE).map(([code, { text }]) => [code, `the target ${text}`])),
);

/**
 * @param {unknown} error from undici, a socket or TLS @param {boolean} [headersSeen] so an early end is `truncated`
 * @param {boolean} [inHandshake] of TLS @param {Route['proxy']} [proxy] on the way
 */
export function describeTransportError(error, headersSeen = false, inHandshake = false, proxy = null) {
  const { code: reported, start, status } = findInnermost(error);
  const report = reported.replace('_SSL/TLS_ALERT_', '_SSLV3_ALERT_'); // OpenSSL renamed them in 3.5
  const code = BY_REPORT.get(report);
  if (headersSeen && code === 'connection_reset') return transportFailure('truncated');
  // To undici, a Content-Length that it cannot parse is also one that the body does not have.
  if (!headersSeen && code === 'truncated') return transportFailure('bad_http');
  if (inHandshake && code === 'connection_reset') return transportFailure('tls_handshake_cut');
  if (code === 'wrong_scheme_https_to_http_port' && proxy !== null) return noTlsBehind(code, proxy);
  if (code !== undefined) return transportFailure(code, proxy, status);
  if (report === 'HTTP_PARSER') return describeUnexpectedBytes(start);
  return transportFailure(/^(ERR_SSL|ERR_TLS|CERT)_/.test(report) ? 'tls_error' : 'transport_error');
}

/** With http://, the proxy would see the token. @param {string} code @param {NonNullable<Route['proxy']>} proxy @returns {TransportFailure} */
const noTlsBehind = (code, { name, source }) => ({
  code,
  text: `or the proxy ${name} (${source}) in between sent something other than TLS`,
  remedy: `Correct the port in --url (VAULT_ADDR). ${CHECK_PROXY}`,
});

/** TLS ports respond to HTTP with an alert record (RFC 8446, 5.1 and 6). @param {string} start of the response, latin1 */
export const describeUnexpectedBytes = (start) =>
  transportFailure(start.startsWith('\x15\x03') ? 'wrong_scheme_http_to_https_port' : 'bad_http');

/** @param {any} error @returns {{code: string, start: string, status?: number}} `start`: first bytes of a response that is not HTTP */
function findInnermost(error) {
  let current = error;
  for (let depth = 0; depth < 4 && current !== null && typeof current === 'object'; depth++) {
    const errors = current.errors ?? [];
    current =
      errors.find(isAtLimit) ??
      errors.find((/** @type {any} */ error) => !mayLackIpv6(error)) ??
      errors[0] ??
      current;
    const { name, code, data, message } = current;
    if (name === 'HTTPParserError') return { code: 'HTTP_PARSER', start: data ?? '' };
    if (name === 'SocketError' && message.startsWith('bad ')) return { code: 'HTTP_PARSER', start: '' };
    if (code === 'EPROTO' || code === 'UNSPECIFIED') return { code: opensslCode(message) ?? code, start: '' };
    // Of TCP: a firewall or a route of this machine prohibits it.
    const isProhibited = (code === 'EACCES' || code === 'EPERM') && current.port !== undefined;
    if (isProhibited || (mayLackIpv6(current) && !hasIpv6())) return { code: 'EHOSTUNREACH', start: '' };
    if (typeof code === 'string') return { code, start: '', status: current.status };
    current = current.cause;
  }
  return { code: '', start: '' };
}

/**
 * When all addresses of a name fail, a limit of this machine is the better reason than a refusal by another address. Without IPv6, its
 * addresses are always EADDRNOTAVAIL: that is no limit.
 * @param {{code?: string, address?: string}} error of one address
 */
const isAtLimit = ({ code = '', address = '' }) =>
  AT_LIMITS.includes(BY_REPORT.get(code) ?? '') && !mayLackIpv6({ code, address });

/** @param {{code?: string, address?: string}} error */
const mayLackIpv6 = ({ code, address = '' }) => code === 'EADDRNOTAVAIL' && isIPv6(address);

/** Ten thousand requests may fail in a second. */
const LOOK_AGAIN_MS = 1000;
const ipv6 = { isThere: false, lookedAtMs: Number.NEGATIVE_INFINITY };

function hasIpv6() {
  const now = performance.now();
  if (now - ipv6.lookedAtMs < LOOK_AGAIN_MS) return ipv6.isThere;
  ipv6.lookedAtMs = now;
  try {
    const all = Object.values(os.networkInterfaces());
    ipv6.isThere = all.some((own) => own?.some(({ family }) => family === 'IPv6'));
  } catch {
    ipv6.isThere = true; // Not permitted, e.g. by systemd's RestrictAddressFamilies.
  }
  return ipv6.isThere;
}

/**
 * A failed handshake fails a pending write with EPROTO. This builds the code that Node (tls_wrap.cc) reports elsewhere.
 * Some errors of verification have only a text in Node (UNSPECIFIED), from X509_verify_cert_error_string.
 * @param {string} message with OpenSSL's reason: "error:0A00010B:SSL routines:ssl3_get_record:wrong version number:"
 */
function opensslCode(message) {
  const reason = /:SSL routines:[^:]*:([^:]+):/.exec(message)?.[1] ?? /too weak|key usage/.exec(message)?.[0];
  return reason && `ERR_SSL_${reason.toUpperCase().replaceAll(' ', '_')}`;
}
