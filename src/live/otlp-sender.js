/**
 * One push of OTLP metrics, and the meaning of the receiver's response: https://opentelemetry.io/docs/specs/otlp/. Each kind of
 * error is reported once.
 */

import { PkiLoadError } from '../common/errors.js';
import { formatDuration } from '../common/units.js';
import { TOOL_VERSION } from '../common/version.js';
import { createRequester } from '../http/request.js';
import { counted } from '../report/describe/words.js';
import { redact } from '../vault/redact.js';
import { parseOtlpUrl, readOtlpHeaders, secretsOf } from './endpoints.js';
import { toMetricsRequest } from './otlp-metrics.js';

/** @import { Answer, Requester } from '../http/request.js' */
/** @import { Result } from '../result/schema.js' */

/**
 * @typedef {object} SenderOptions
 * @property {string} url as parseOtlpUrl takes it
 * @property {Record<string, string>} [headers] secrets: never shown; else those of OTEL_EXPORTER_OTLP_HEADERS
 * @property {(text: string) => void} onWarning
 * @property {Pick<Requester, 'request' | 'close'>} [requester]
 * @property {() => number} [now] the date, Unix time in ms
 */
/** @typedef {ReturnType<typeof createSender>} Sender */

/** Of one push, from connecting to the end of the response. */
const TIMEOUT_MS = 10_000;

const MAX_RESPONSE_BYTES = 64 * 1024;

/** @param {SenderOptions} options @throws {PkiLoadError} for a bad URL or header */
export function createSender({
  url,
  headers = readOtlpHeaders(process.env),
  onWarning,
  requester,
  now = Date.now,
}) {
  const { origin, path, shown } = parseOtlpUrl(url);
  const secrets = secretsOf(headers);
  const sender =
    requester ??
    createRequester({ origin, timeoutMs: TIMEOUT_MS, maxBodyBytes: MAX_RESPONSE_BYTES, named: '--otlp' });
  /** @type {Set<string>} */
  const warned = new Set();
  let closed = false;
  let askedToWait = false;

  /** @param {Verdict['warning']} warning */
  function warn(warning) {
    if (closed || warning === null || warned.has(warning.kind)) return;
    warned.add(warning.kind);
    onWarning(warning.text);
  }

  /** @param {string} body @returns {Promise<Verdict>} never rejects */
  async function post(body) {
    const own = { 'user-agent': `vault-pki-load/${TOOL_VERSION}` };
    const all = { ...own, ...headers, 'content-type': 'application/json' };
    try {
      const response = await sender.request({ method: 'POST', path, headers: all, body });
      return judgeResponse(response, { shown, secrets, nowMs: now() });
    } catch (error) {
      return judgeFailure(error, { shown });
    }
  }

  return {
    /** The receiver's address, without what may be a key. */
    shown,
    /** @param {Result} result @returns {Promise<Verdict>} never rejects */
    async send(result) {
      const verdict = await encode(result, now()).then(post, notEncoded);
      askedToWait = verdict.retryAfterMs !== null;
      warn(verdict.warning);
      return verdict;
    },
    /** Whether the last response had a Retry-After. */
    wasAskedToWait: () => askedToWait,
    /** @param {number} askedMs of the receiver's Retry-After; 0: not the reason */
    giveUp: (askedMs) =>
      warn({ kind: 'last', text: `The last metrics did not arrive at ${shown}${why(askedMs)}.` }),
    /** The same for a run before another. @param {number} askedMs */
    giveUpRun: (askedMs) =>
      warn({
        kind: 'last_of_run',
        text: `The last metrics of a run did not arrive at ${shown}${why(askedMs)}.`,
      }),
    /** Aborts the current push without a warning. */
    async close() {
      closed = true;
      await sender.close();
    },
  };
}

/** @param {number} askedMs */
function why(askedMs) {
  return askedMs > 0 ? `: it asked to be left alone for ${formatDuration(askedMs)}` : '';
}

/** @param {Result} result @param {number} nowMs */
async function encode(result, nowMs) {
  return JSON.stringify(toMetricsRequest(result, nowMs));
}

/** A fault of ours; the run goes on. @returns {Verdict} */
function notEncoded() {
  return {
    arrived: false,
    retry: false,
    retryAfterMs: null,
    warning: { kind: 'not_encoded', text: 'The metrics could not be put into OTLP: a fault of the tool.' },
  };
}

/**
 * @typedef {object} Verdict
 * @property {boolean} arrived
 * @property {boolean} retry whether to try again
 * @property {number | null} retryAfterMs the receiver's Retry-After; null: none
 * @property {{kind: string, text: string} | null} warning reported once per kind
 */

/** "OTLP/HTTP Response, Retryable Response Codes": no other code may be retried. */
const RETRYABLE = new Set([429, 502, 503, 504]);

/** @type {Record<number, string>} */
const REMEDIES = {
  401: 'Check OTEL_EXPORTER_OTLP_HEADERS.',
  403: 'Check OTEL_EXPORTER_OTLP_HEADERS.',
  404: 'Check the path in --otlp; it is usually /v1/metrics.',
  405: 'Check the path in --otlp; it is usually /v1/metrics.',
  415: 'It must take OTLP as JSON.',
};

/** @type {Record<string, string>} */
const TRANSPORT_REMEDIES = {
  bad_http: 'It may speak gRPC there (port 4317); --otlp takes the port for HTTP (4318).',
  certificate_not_trusted: 'Name the CA of its certificate in NODE_EXTRA_CA_CERTS.',
  connection_refused: 'Start the receiver, or correct --otlp.',
  host_not_found: 'Correct the host name in --otlp.',
  wrong_scheme_https_to_http_port: 'Write http:// in --otlp.',
  wrong_scheme_http_to_https_port: 'Write https:// in --otlp.',
};

/**
 * @param {Answer} response
 * @param {{shown: string, secrets: string[], nowMs: number}} context `shown`: the receiver's address; `nowMs`: the date
 * @returns {Verdict}
 */
function judgeResponse({ status, headers, body }, { shown, secrets, nowMs }) {
  const reply = parse(body);
  const words = (/** @type {unknown} */ text) => quoted(text, secrets);
  if (status >= 200 && status < 300) {
    const warning = partialSuccess(reply?.partialSuccess, shown, words);
    return { arrived: true, retry: false, retryAfterMs: null, warning };
  }
  const retry = RETRYABLE.has(status);
  const remedy = REMEDIES[status];
  return {
    arrived: false,
    retry,
    retryAfterMs: retry ? retryAfter(headers['retry-after'], nowMs) : null,
    warning: {
      kind: `http_${status}`,
      text: `${shown} did not take the metrics: HTTP ${status}${words(reply?.message)}.${remedy ? ` ${remedy}` : ''}`,
    },
  };
}

/**
 * No response came.
 *
 * @param {unknown} error of the requester
 * @param {{shown: string}} context
 * @returns {Verdict}
 */
function judgeFailure(error, { shown }) {
  const known = error instanceof PkiLoadError;
  const kind = known ? error.code : 'not_sent';
  const remedy = TRANSPORT_REMEDIES[kind];
  const what = known ? error.message : `${shown} could not be reached.`;
  return {
    arrived: false,
    retry: known,
    retryAfterMs: null,
    warning: { kind, text: `The metrics were not sent: ${what}${remedy ? ` ${remedy}` : ''}` },
  };
}

/**
 * RFC 9110, 10.2.3: seconds, or a date.
 *
 * @param {string | string[] | undefined} value
 * @param {number} nowMs the date
 * @returns {number | null}
 */
function retryAfter(value, nowMs) {
  const text = String(value ?? '').trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = text.endsWith('GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

/**
 * Taken in part, or with a remark: that must not be retried.
 *
 * @param {any} partial ExportMetricsPartialSuccess; the number may come as a string (protobuf's JSON mapping)
 * @param {string} shown
 * @param {(text: unknown) => string} words
 * @returns {Verdict['warning']}
 */
function partialSuccess(partial, shown, words) {
  if (partial === null || typeof partial !== 'object') return null;
  const rejected = Number(partial.rejectedDataPoints ?? 0);
  const remark = words(partial.errorMessage);
  if (rejected > 0) {
    return { kind: 'rejected', text: `${shown} rejected ${counted(rejected, 'data point')}${remark}.` };
  }
  return remark === '' ? null : { kind: 'remark', text: `${shown} took the metrics with a remark${remark}.` };
}

/** @param {Buffer} body @returns {any} null where it is no JSON object */
function parse(body) {
  try {
    const value = JSON.parse(body.toString());
    return value !== null && typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

/**
 * @param {unknown} text of the receiver's response
 * @param {string[]} secrets
 * @returns {string} `: its words`; empty where there are none or they hold a secret
 */
function quoted(text, secrets) {
  if (typeof text !== 'string') return '';
  const lower = text.toLowerCase();
  if (secrets.some((secret) => lower.includes(secret.toLowerCase()))) return '';
  const line = redact(text).replace(/\.$/, '');
  return line === '' ? '' : `: ${line}`;
}
