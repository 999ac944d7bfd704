/**
 * Sends the result so far to an OpenTelemetry receiver (`--otlp`): OTLP/HTTP, as JSON, every ten seconds and
 * at the end. Errors are reported once and never stop a run. https://opentelemetry.io/docs/specs/otlp/
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PkiLoadError, quote, usageError } from '../common/errors.js';
import { parseJson } from '../common/json.js';
import { sanitizeData } from '../common/sanitize.js';
import { TOOL_VERSION } from '../common/version.js';
import { createRequester } from '../http/request.js';
import { DIRECT, readProxies } from '../http/route.js';
import { counted } from '../report/describe/words.js';
import { numberOf } from '../vault/client.js';
import { describeProxy } from '../vault/network.js';
import { redact } from '../vault/redact.js';
import { toMetricsRequest } from './otlp-metrics.js';

/** @import { Requester, Response } from '../http/request.js' */
/** @import { Result } from '../result/schema.js' */

/** @typedef {ReturnType<typeof createOtlpPusher>} OtlpPusher */
/** @typedef {'delivered' | 'retryable' | 'refused'} Outcome `retryable`: may be sent again */

/** Results come every two seconds; a push may be early by SLACK_MS. */
const EVERY_MS = 10_000;
const SLACK_MS = 1000;
/** The last push of a run: attempts, pause between them, and time for all of them. */
const LAST_TRIES = 3;
const LAST_PAUSE_MS = 1000;
const LAST_MS = 10_000;
/** For one push, from connecting to the end of the response. */
const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
/** OTLP/HTTP, Retryable Response Codes: no other code may be retried. */
const RETRYABLE = new Set([429, 502, 503, 504]);
const CHECK_HEADERS = 'Check OTEL_EXPORTER_OTLP_HEADERS.';
const CHECK_PATH = 'Check the path in --otlp; it is usually /v1/metrics.';

const SET_CA = 'Set NODE_EXTRA_CA_CERTS to the file of its root CA.';

/** By HTTP status or error code. @type {Record<string, string>} */
const REMEDIES = {
  401: CHECK_HEADERS,
  403: CHECK_HEADERS,
  404: CHECK_PATH,
  405: CHECK_PATH,
  415: 'The receiver must accept OTLP as JSON.',
  bad_http: 'The receiver may speak gRPC on this port (4317); --otlp needs its HTTP port (4318).',
  certificate_not_trusted: SET_CA,
  certificate_issuer_unknown: SET_CA,
  certificate_self_signed: SET_CA,
  connection_refused: 'Start the receiver, or correct --otlp.',
  host_not_found: 'Correct the host name in --otlp.',
  wrong_scheme_https_to_http_port: 'Use http:// in --otlp.',
  wrong_scheme_http_to_https_port: 'Use https:// in --otlp.',
};

/**
 * @param {object} options @param {string} options.url see parseOtlpUrl
 * @param {Record<string, string>} [options.headers] secrets: never shown @param {(text: string) => void} options.onWarning
 * @param {(text: string) => void} [options.onNotice]
 * @param {Pick<Requester, 'request' | 'close'>} [options.requester]
 * @param {() => number} [options.now] Unix time in ms @param {() => number} [options.clock] ms, monotonic
 * @param {(ms: number, signal: AbortSignal) => Promise<unknown>} [options.wait] rejects when the signal ends it
 * @throws {PkiLoadError} for a bad URL or header
 */
export function createOtlpPusher({ url, onWarning, onNotice = onWarning, requester, ...options }) {
  const { headers = readOtlpHeaders(process.env), now = Date.now, clock = () => performance.now() } = options;
  const { wait = (ms, signal) => sleep(ms, undefined, { signal }) } = options;
  const { origin, path, shown } = parseOtlpUrl(url);
  const limits = { timeoutMs: TIMEOUT_MS, maxBodyBytes: MAX_RESPONSE_BYTES };
  const tls = { rejectUnauthorized: true, network: { ...DIRECT, ...readProxies(process.env) } };
  const query = path.includes('?') ? 'the query of --otlp' : null;
  const secret = Object.keys(headers).length > 0 ? 'OTEL_EXPORTER_OTLP_HEADERS' : query;
  const proxied = describeProxy(origin, tls.network, secret);
  if (proxied !== null) (proxied.isWarning ? onWarning : onNotice)(proxied.text);
  const client = requester ?? createRequester({ origin, tls, ...limits, urlOption: '--otlp' });
  const tool = `vault-pki-load/${TOOL_VERSION}`;
  const allHeaders = { 'user-agent': tool, ...headers, 'content-type': 'application/json' };
  /** A receiver may repeat headers or the query, which are secrets: its text is shown only if there are none. */
  const mayQuote = secret === null;
  /** Kinds of warnings already shown. @type {Set<string>} */
  const warned = new Set();
  /** One push at a time. @type {Promise<Outcome> | null} */
  let underWay = null;
  let nextAtMs = Number.NEGATIVE_INFINITY;
  /** As the receiver requested. */
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  let isClosed = false;

  /** @param {string} kind @param {string} text */
  function warn(kind, text) {
    if (isClosed || warned.has(kind)) return;
    warned.add(kind);
    onWarning(REMEDIES[kind] === undefined ? text : `${text} ${REMEDIES[kind]}`);
  }

  /** @param {unknown} text of the receiver's response @returns {string} `: text`, or empty */
  function quoted(text) {
    const line = mayQuote && typeof text === 'string' ? redact(text).replace(/\.$/, '') : '';
    return line === '' ? '' : `: ${line}`;
  }

  /** @param {Response} response @returns {Outcome} */
  function judge({ status, headers: received, body }) {
    const { partialSuccess, message } = parseJson(body) ?? {};
    pausedUntilMs = Number.NEGATIVE_INFINITY;
    if (status >= 200 && status < 300) {
      // The number may come as a string (protobuf's JSON mapping).
      const rejected = numberOf(partialSuccess?.rejectedDataPoints) ?? 0;
      const remark = quoted(partialSuccess?.errorMessage);
      if (rejected > 0) warn('rejected', `${shown} rejected ${counted(rejected, 'data point')}${remark}.`);
      else if (remark !== '') warn('remark', `${shown} accepted the metrics with a warning${remark}.`);
      return 'delivered';
    }
    warn(String(status), `${shown} did not accept the metrics: HTTP ${status}${quoted(message)}.`);
    if (!RETRYABLE.has(status)) return 'refused';
    // RFC 9110, 10.2.3; ignores a date, as metrics receivers send seconds.
    pausedUntilMs = clock() + 1000 * (Number(received['retry-after']) || 0);
    nextAtMs = Math.max(nextAtMs, pausedUntilMs);
    return 'retryable';
  }

  /** @param {Result} result @returns {Promise<Outcome>} never rejects */
  async function push(result) {
    nextAtMs = clock() + EVERY_MS - SLACK_MS;
    try {
      const body = JSON.stringify(toMetricsRequest(sanitizeData(result), now()));
      return judge(await client.request({ method: 'POST', path, headers: allHeaders, body }));
    } catch (error) {
      // The text of an unknown error may contain a header.
      if (error instanceof PkiLoadError) {
        warn(error.code, `The metrics were not sent: ${error.message}`);
        return 'retryable';
      }
      warn('internal', 'The metrics were not sent because of an internal error. Please report this bug.');
      return 'refused';
    }
  }

  /** @param {Result} result */
  function send(result) {
    underWay = push(result).finally(() => {
      underWay = null;
    });
    return underWay;
  }

  /** Waits for the current push, then tries a few times. @param {Result} result @param {AbortSignal} deadline */
  async function deliver(result, deadline) {
    await underWay;
    for (let tries = 0; tries < LAST_TRIES; tries++) {
      const pauseMs = Math.max(pausedUntilMs - clock(), tries === 0 ? 0 : LAST_PAUSE_MS);
      if (pauseMs > LAST_MS) return;
      if (pauseMs > 0) await wait(pauseMs, deadline).catch(() => {});
      if (deadline.aborted) return;
      const outcome = await send(result);
      if (outcome !== 'retryable') return outcome;
    }
  }

  return {
    /** Sends it, unless another push is under way or too recent. @param {Result} result */
    update(result) {
      if (underWay === null && clock() >= nextAtMs) send(result);
    },
    /** Sends a run's final result at once; waits a limited time. Never rejects. @param {Result} result */
    async finish(result) {
      const deadline = new AbortController();
      const tooLate = wait(LAST_MS, deadline.signal).catch(() => {});
      const outcome = await Promise.race([deliver(result, deadline.signal), tooLate]);
      deadline.abort();
      if (outcome !== 'delivered') warn('last', `The last metrics of a run were not delivered to ${shown}.`);
    },
    /** Ends a push that is still under way. */
    close() {
      isClosed = true;
      return client.close();
    },
  };
}

/** The first that is set wins. https://opentelemetry.io/docs/specs/otel/protocol/exporter/ */
const HEADER_VARIABLES = ['OTEL_EXPORTER_OTLP_METRICS_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS'];
/** The connection sets these. */
const RESERVED = /^(?:connection|content-(?:encoding|length|type)|expect|host|transfer-encoding|upgrade)$/;

/** `shown`: without the query, which may contain a key. @param {string} text e.g. `http://127.0.0.1:4318` @throws {PkiLoadError} */
export function parseOtlpUrl(text) {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.username || url?.password) {
    const message = '--otlp contains a user name or password, which other users could see.';
    const remedy = "Set it as a header, e.g. OTEL_EXPORTER_OTLP_HEADERS='Authorization=Basic%20...'.";
    throw usageError('bad_url', message, remedy);
  }
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    const message = `--otlp is${/[@?]/.test(text) ? '' : ` ${quote(text)}, which is`} not an http:// or https:// URL.`;
    const remedy = 'Use the address of an OTLP/HTTP receiver, such as http://127.0.0.1:4318.';
    throw usageError('bad_url', message, remedy);
  }
  const path = url.pathname === '/' ? '/v1/metrics' : url.pathname;
  return { origin: url.origin, path: `${path}${url.search}`, shown: `${url.origin}${path}` };
}

/**
 * @param {Record<string, string | undefined>} env `NAME=VALUE,NAME=VALUE`, values percent-encoded
 * @returns {Record<string, string>} by lower-case name; values are secrets: never show them
 * @throws {PkiLoadError} code `bad_otlp_headers`, without any value
 */
export function readOtlpHeaders(env) {
  const variable = HEADER_VARIABLES.find((name) => env[name]?.trim()) ?? '';
  const entries = (env[variable] ?? '').split(',').map((entry) => entry.trim());
  return Object.fromEntries(
    entries.flatMap((entry, i) => (entry === '' ? [] : [parseHeader(entry, `Part ${i + 1} of ${variable}`)])),
  );
}

/** @param {string} entry @param {string} where in an error @returns {[name: string, value: string]} */
function parseHeader(entry, where) {
  const remedy = 'Use NAME=VALUE,NAME=VALUE, with spaces and commas in values as %20 and %2C.';
  const bad = (/** @type {string} */ why) => usageError('bad_otlp_headers', `${where} ${why}.`, remedy);
  // RFC 9110, 5.6.2: a token.
  const [, rawName, encoded] = /^([\w!#$%&'*+.^`|~-]+)\s*=(.*)$/s.exec(entry) ?? [];
  if (rawName === undefined) throw bad('does not start with a header name and an equals sign');
  const name = rawName.toLowerCase();
  if (RESERVED.test(name)) throw bad(`sets the header ${name}, which the connection itself sets`);
  try {
    const value = decodeURIComponent(encoded.trim());
    // Node sends Latin-1 without control characters, and rejects everything else.
    if (/^[\t -~\u00a0-\u00ff]*$/.test(value)) return [name, value];
  } catch {
    // Not percent-encoded UTF-8.
  }
  throw bad(`has a bad %XX or a character not allowed in a header, in the value of ${name}`);
}
