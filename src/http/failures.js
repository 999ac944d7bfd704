/**
 * One table from what a socket, TLS or the HTTP parser reports to the names this program uses. The same names are
 * error codes before the run and outcomes during it.
 */

/**
 * @typedef {object} TransportFailure
 * @property {string} code stable, `snake_case`
 * @property {string} text what happened, to follow the target's name: `<target> <text>.` Never holds bytes of a response
 * @property {string} [remedy] one sentence, where there is more to say than "try again"
 */

const TRUST_REMEDY =
  'Name the CA that signed its certificate with --ca-cert FILE (VAULT_CACERT), or --tls-skip-verify for a test.';
const CLIENT_CERTIFICATE_REMEDY =
  'Give --client-cert and --client-key (VAULT_CLIENT_CERT, VAULT_CLIENT_KEY).';

/** @type {Record<string, TransportFailure>} */
const FAILURES = {
  connection_refused: {
    code: 'connection_refused',
    text: 'refused the connection: nothing listens there',
    remedy: 'Start the server, or correct the host and port in --url (VAULT_ADDR).',
  },
  connection_reset: {
    code: 'connection_reset',
    text: 'closed the connection without a response',
    remedy: "Look at the server's log; a proxy or a load balancer in between can do this too.",
  },
  host_not_found: {
    code: 'host_not_found',
    text: 'cannot be found: no address for this host name',
    remedy: 'Correct the host name in --url (VAULT_ADDR), or look at the DNS of this machine.',
  },
  host_unreachable: {
    code: 'host_unreachable',
    text: 'cannot be reached: no route to it',
    remedy: 'Look at the network, VPN and firewall between this machine and the target.',
  },
  connect_timeout: {
    code: 'connect_timeout',
    text: 'did not take the connection in time',
    remedy: 'Look at the address in --url and the firewall, or raise --timeout.',
  },
  no_answer: {
    code: 'no_answer',
    text: 'accepted the connection but sent no full response in time',
    remedy: 'Look at the load and the log of the server, or raise --timeout.',
  },
  certificate_not_trusted: {
    code: 'certificate_not_trusted',
    text: 'shows a certificate that no known CA vouches for',
    remedy: TRUST_REMEDY,
  },
  certificate_self_signed: {
    code: 'certificate_not_trusted',
    text: 'shows a self-signed certificate, or one below an unknown self-signed CA',
    remedy: TRUST_REMEDY,
  },
  certificate_name_mismatch: {
    code: 'certificate_name_mismatch',
    text: 'shows a certificate for other names than the one in its address',
    remedy:
      'Use a name that is in the certificate, or give that name with --tls-server-name (VAULT_TLS_SERVER_NAME).',
  },
  certificate_expired: {
    code: 'certificate_expired',
    text: 'shows a certificate that has expired',
    remedy: 'Renew it, or look at the clock of this machine; --tls-skip-verify accepts it for a test.',
  },
  certificate_not_yet_valid: {
    code: 'certificate_not_yet_valid',
    text: 'shows a certificate that is not valid yet',
    remedy: 'Look at the clocks of this machine and of the server; --tls-skip-verify accepts it for a test.',
  },
  client_certificate_required: {
    code: 'client_certificate_required',
    text: 'asks for a client certificate, and none was given',
    remedy: CLIENT_CERTIFICATE_REMEDY,
  },
  client_certificate_refused: {
    code: 'client_certificate_required',
    text: 'did not accept the client certificate, or asks for one',
    remedy: CLIENT_CERTIFICATE_REMEDY,
  },
  wrong_scheme_https_to_http_port: {
    code: 'wrong_scheme_https_to_http_port',
    text: 'speaks plain HTTP on this port, not TLS',
    remedy: 'Write http:// in place of https:// in --url (VAULT_ADDR).',
  },
  wrong_scheme_http_to_https_port: {
    code: 'wrong_scheme_http_to_https_port',
    text: 'speaks TLS on this port, not plain HTTP',
    remedy: 'Write https:// in place of http:// in --url (VAULT_ADDR).',
  },
  tls_error: {
    code: 'tls_error',
    text: 'and this machine could not agree on TLS',
    remedy:
      'Look at the TLS versions and certificates of the server; it may want a client certificate (--client-cert).',
  },
  bad_http: {
    code: 'bad_http',
    text: 'answered with something that is not HTTP/1.1',
    remedy: 'Look at the port in --url: another kind of server may listen there.',
  },
  truncated: {
    code: 'truncated',
    text: 'closed the connection in the middle of a response',
    remedy: "Look at the server's log; a proxy or a load balancer in between can do this too.",
  },
  answer_too_large: {
    code: 'answer_too_large',
    text: 'sent a longer response than this tool reads (under load 1 MiB)',
  },
  too_many_open_files: {
    code: 'too_many_open_files',
    text: 'could not be asked: this machine allows no more open files',
    remedy: 'Raise the limit (ulimit -n), or lower --concurrency.',
  },
  no_local_port: {
    code: 'no_local_port',
    text: 'could not be asked: this machine has no local port or address left for it',
    remedy: 'Lower --concurrency, or wait until old connections have left TIME_WAIT.',
  },
  aborted: { code: 'aborted', text: 'was not waited for: the request was given up' },
  transport_error: { code: 'transport_error', text: 'could not be asked' },
};

/** Codes of Node, OpenSSL and llhttp -> keys of FAILURES. What OpenSSL 3.5 calls SSL/TLS, earlier ones call SSLV3. */
const BY_CODE = new Map(
  Object.entries({
    connection_refused: 'ECONNREFUSED',
    connection_reset: 'ECONNRESET EPIPE ECONNABORTED',
    host_not_found: 'ENOTFOUND EAI_AGAIN EAI_NODATA EAI_NONAME',
    host_unreachable: 'EHOSTUNREACH ENETUNREACH EHOSTDOWN ENETDOWN',
    connect_timeout: 'ETIMEDOUT',
    certificate_not_trusted:
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY CERT_UNTRUSTED ' +
      'CERT_REJECTED CERT_SIGNATURE_FAILURE CERT_CHAIN_TOO_LONG INVALID_CA INVALID_PURPOSE CERT_REVOKED',
    certificate_self_signed: 'DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN',
    certificate_name_mismatch: 'ERR_TLS_CERT_ALTNAME_INVALID HOSTNAME_MISMATCH',
    certificate_expired: 'CERT_HAS_EXPIRED',
    certificate_not_yet_valid: 'CERT_NOT_YET_VALID',
    client_certificate_required:
      'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED ERR_SSL_TLSV1_ALERT_CERTIFICATE_REQUIRED',
    client_certificate_refused:
      'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED ' +
      'ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN',
    wrong_scheme_https_to_http_port:
      'ERR_SSL_WRONG_VERSION_NUMBER ERR_SSL_PACKET_LENGTH_TOO_LONG ERR_SSL_HTTP_REQUEST',
    tls_error: 'EPROTO ERR_TLS_HANDSHAKE_TIMEOUT ERR_TLS_PROTOCOL_VERSION_CONFLICT',
    too_many_open_files: 'EMFILE ENFILE',
    no_local_port: 'EADDRNOTAVAIL EADDRINUSE',
    aborted: 'ABORT_ERR',
  }).flatMap(([key, codes]) => codes.split(' ').map((code) => /** @type {const} */ ([code, key]))),
);

/**
 * @param {unknown} error what Node's HTTP client, a socket or TLS reported
 * @param {{headersSeen?: boolean}} [details] `headersSeen`: the status line had come, so a closed connection cut the
 *   answer off
 * @returns {TransportFailure}
 */
export function describeTransportError(error, { headersSeen = false } = {}) {
  const { code: reported, start } = innermost(error);
  const code = reported.replace('_SSL/TLS_ALERT_', '_SSLV3_ALERT_');
  if (headersSeen && BY_CODE.get(code) === 'connection_reset') return FAILURES.truncated;
  const known = BY_CODE.get(code);
  if (known !== undefined) return FAILURES[known];
  if (code.startsWith('HPE_')) return describeUnexpectedBytes(start);
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code.startsWith('CERT_'))
    return FAILURES.tls_error;
  return FAILURES.transport_error;
}

/**
 * @param {string} start first bytes received in place of an HTTP response, latin1
 * @returns {TransportFailure}
 */
export function describeUnexpectedBytes(start) {
  return isTlsAlert(start) ? FAILURES.wrong_scheme_http_to_https_port : FAILURES.bad_http;
}

/**
 * @param {keyof typeof FAILURES} name
 * @returns {TransportFailure} for a caller that knows the cause better than the error
 */
export function transportFailure(name) {
  return FAILURES[name];
}

/**
 * An alert record (RFC 8446, 5.1 and 6) is the response of many TLS ports to plain HTTP.
 *
 * @param {string} data first bytes of the response
 */
function isTlsAlert(data) {
  return data.charCodeAt(0) === 0x15 && data.charCodeAt(1) === 0x03;
}

/** Code -> what happened, to be read after "the target". @type {Readonly<Record<string, string>>} */
export const TRANSPORT_MEANINGS = Object.freeze(
  Object.fromEntries(Object.values(FAILURES).map(({ code, text }) => [code, `the target ${text}`])),
);

/** Every code that {@link describeTransportError} can give. */
export const TRANSPORT_CODES = Object.freeze([
  ...new Set(Object.values(FAILURES).map((failure) => failure.code)),
]);

/**
 * `fetch` hides the error in `cause`; connecting to several addresses of one name hides it in `errors`.
 *
 * @param {unknown} error
 * @returns {{code: string, start: string}} `start`: bytes received in place of an HTTP response
 */
function innermost(error) {
  /** @type {any} */
  let current = error;
  for (let depth = 0; depth < 4 && current !== null && typeof current === 'object'; depth++) {
    const { code, rawPacket, message } = current;
    if (typeof code === 'string') {
      return {
        code: code === 'EPROTO' ? opensslCode(message) : code,
        start: Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1', 0, 16) : '',
      };
    }
    current = current.cause ?? current.errors?.[0];
  }
  return { code: '', start: '' };
}

/** In the words of OpenSSL, as in "error:0A00010B:SSL routines:ssl3_get_record:wrong version number:". */
const OPENSSL_REASON = /:SSL routines:[^:]*:([^:]+):/;

/**
 * A broken handshake fails a waiting write with EPROTO. This builds the code from OpenSSL's reason as Node (tls_wrap.cc) does elsewhere.
 *
 * @param {string} message
 */
function opensslCode(message) {
  const reason = OPENSSL_REASON.exec(message)?.[1];
  return reason === undefined ? 'EPROTO' : `ERR_SSL_${reason.toUpperCase().replaceAll(' ', '_')}`;
}
