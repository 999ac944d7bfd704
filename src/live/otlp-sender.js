/** One push of OTLP metrics: a result becomes bytes, an answer becomes a verdict, and trouble is told once for each kind. */

import { PkiLoadError } from '../common/errors.js';
import { formatDuration } from '../common/units.js';
import { TOOL_VERSION } from '../common/version.js';
import { createRequester } from '../http/request.js';
import { counted } from '../report/describe/words.js';
import { redact } from '../vault/redact.js';
import { parseOtlpUrl, readOtlpHeaders, secretsOf } from './endpoints.js';
import { toMetricsRequest } from './otlp-metrics.js';

/** @typedef {import('../result/schema.js').Result} Result */
/**
 * @typedef {object} SenderOptions
 * @property {string} url as parseOtlpUrl takes it
 * @property {Record<string, string>} [headers] secrets: never shown; else those of OTEL_EXPORTER_OTLP_HEADERS
 * @property {(text: string) => void} onWarning
 * @property {Pick<import('../http/request.js').Requester, 'request' | 'close'>} [requester]
 * @property {() => number} [now] the date, Unix time in ms
 */
/** @typedef {ReturnType<typeof createSender>} Sender */

/** For one push, connecting and answer included. */
const TIMEOUT_MS = 10_000;

/** Nothing more than a number and a sentence is expected. */
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * @param {SenderOptions} options
 * @throws {import('../common/errors.js').PkiLoadError} where the URL or the headers will not do
 */
export function createSender({
  url,
  headers = readOtlpHeaders(process.env),
  onWarning,
  requester,
  now = Date.now,
}) {
  const { origin, path, shown } = parseOtlpUrl(url);
  const secrets = secretsOf(headers);
  const asker =
    requester ??
    createRequester({ origin, timeoutMs: TIMEOUT_MS, maxBodyBytes: MAX_ANSWER_BYTES, named: '--otlp' });
  /** @type {Set<string>} */
  const told = new Set();
  let closed = false;
  let askedToWait = false;

  /** @param {Verdict['warning']} warning */
  function tell(warning) {
    if (closed || warning === null || told.has(warning.kind)) return;
    told.add(warning.kind);
    onWarning(warning.text);
  }

  /** @param {string} body @returns {Promise<Verdict>} never rejects */
  async function ask(body) {
    const own = { 'user-agent': `vault-pki-load/${TOOL_VERSION}` };
    const asked = { ...own, ...headers, 'content-type': 'application/json' };
    try {
      const answer = await asker.request({ method: 'POST', path, headers: asked, body });
      return judgeAnswer(answer, { shown, secrets, nowMs: now() });
    } catch (error) {
      return judgeFailure(error, { shown });
    }
  }

  return {
    /** The receiver's address, without what may be a key. */
    shown,
    /** @param {Result} result @returns {Promise<Verdict>} never rejects */
    async send(result) {
      const verdict = await encode(result, now()).then(ask, notEncoded);
      askedToWait = verdict.retryAfterMs !== null;
      tell(verdict.warning);
      return verdict;
    },
    /** Whether the last answer said for how long to send nothing. */
    wasAskedToWait: () => askedToWait,
    /** @param {number} askedMs for which the receiver wants to be left alone; 0: that is not why */
    giveUp: (askedMs) =>
      tell({ kind: 'last', text: `The last metrics did not arrive at ${shown}${why(askedMs)}.` }),
    /** The same for a run that others follow. @param {number} askedMs */
    giveUpRun: (askedMs) =>
      tell({
        kind: 'last_of_run',
        text: `The last metrics of a run did not arrive at ${shown}${why(askedMs)}.`,
      }),
    /** Cuts off what is under way, of which nothing is told any more. */
    async close() {
      closed = true;
      await asker.close();
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
