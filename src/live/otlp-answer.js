/** What a receiver's answer to a push means, by the OTLP specification: https://opentelemetry.io/docs/specs/otlp/ */
import { PkiLoadError } from '../common/errors.js';
import { counted } from '../report/describe/words.js';
import { redact } from '../vault/redact.js';

/** @typedef {import('../http/request.js').Answer} Answer */
/**
 * @typedef {object} Verdict
 * @property {boolean} arrived
 * @property {boolean} retry it may be tried again
 * @property {number | null} retryAfterMs so long the receiver wants to be left alone; null: it does not say
 * @property {{kind: string, text: string} | null} warning said once for each kind
 */

/** "OTLP/HTTP Response, Retryable Response Codes": all others must not be tried again. */
const RETRYABLE = new Set([429, 502, 503, 504]);

/** @type {Record<number, string>} */
const REMEDIES = {
  401: 'Look at OTEL_EXPORTER_OTLP_HEADERS.',
  403: 'Look at OTEL_EXPORTER_OTLP_HEADERS.',
  404: 'Look at the path in --otlp; it is /v1/metrics as a rule.',
  405: 'Look at the path in --otlp; it is /v1/metrics as a rule.',
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
 * @param {Answer} answer
 * @param {{shown: string, secrets: string[], nowMs: number}} context `shown`: the receiver's address; `nowMs`: the date
 * @returns {Verdict}
 */
export function judgeAnswer({ status, headers, body }, { shown, secrets, nowMs }) {
  const said = parse(body);
  const words = (/** @type {unknown} */ text) => quoted(text, secrets);
  if (status >= 200 && status < 300) {
    const warning = partialSuccess(said?.partialSuccess, shown, words);
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
      text: `${shown} did not take the metrics: HTTP ${status}${words(said?.message)}.${remedy ? ` ${remedy}` : ''}`,
    },
  };
}

/**
 * No answer came.
 *
 * @param {unknown} error of the requester
 * @param {{shown: string}} context
 * @returns {Verdict}
 */
export function judgeFailure(error, { shown }) {
  const known = error instanceof PkiLoadError;
  const kind = known ? error.code : 'not_sent';
  const remedy = TRANSPORT_REMEDIES[kind];
  const what = known ? error.message : `${shown} could not be asked.`;
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
export function retryAfter(value, nowMs) {
  const text = String(value ?? '').trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = text.endsWith('GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

/**
 * Taken, but not all of it, or with a remark: that must not be tried again.
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

/**
 * @param {Buffer} body
 * @returns {any} null where it is no JSON object
 */
function parse(body) {
  try {
    const value = JSON.parse(body.toString());
    return value !== null && typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

/**
 * @param {unknown} text of the receiver
 * @param {string[]} secrets
 * @returns {string} `: what it said`; nothing where it said nothing, or what we sent it in confidence
 */
function quoted(text, secrets) {
  if (typeof text !== 'string') return '';
  const lower = text.toLowerCase();
  if (secrets.some((secret) => lower.includes(secret.toLowerCase()))) return '';
  const line = redact(text).replace(/\.$/, '');
  return line === '' ? '' : `: ${line}`;
}
