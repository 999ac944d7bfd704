/**
 * Sends the result so far to an OpenTelemetry receiver (`--otlp`): OTLP/HTTP, as JSON, every ten seconds and at the end.
 * Errors are reported once and never stop a run. https://opentelemetry.io/docs/specs/otlp/
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PkiLoadError } from '../common/errors.js';
import { TOOL_VERSION } from '../common/version.js';
import { createRequester } from '../http/request.js';
import { counted } from '../report/describe/words.js';
import { redact } from '../vault/redact.js';
import { parseOtlpUrl, readOtlpHeaders } from './otlp-endpoint.js';
import { toMetricsRequest } from './otlp-metrics.js';

/** @import { Requester, Response } from '../http/request.js' */
/** @import { Result } from '../result/schema.js' */

/** @typedef {ReturnType<typeof createOtlpPusher>} OtlpPusher */

/** Results come every two seconds; one that is early by up to SLACK_MS is sent. */
const EVERY_MS = 10_000;
const SLACK_MS = 1000;

/** Of the last push of a run. */
const LAST_TRIES = 3;
const LAST_PAUSE_MS = 1000;

/** Limits of the last push of all, and of that of a run before another. */
const CLOSE_MS = 15_000;
const BETWEEN_MS = 5000;

/** After this time at the end, a notice names the cause of the wait. */
const SILENT_MS = 1000;

/** Of one push, from connecting to the end of the response. */
const TIMEOUT_MS = 10_000;

const MAX_RESPONSE_BYTES = 64 * 1024;

/** "OTLP/HTTP Response, Retryable Response Codes": no other code may be retried. */
const RETRYABLE = new Set([429, 502, 503, 504]);

const CHECK_HEADERS = 'Check OTEL_EXPORTER_OTLP_HEADERS.';
const CHECK_PATH = 'Check the path in --otlp; it is usually /v1/metrics.';

/** By HTTP status, or code of an error. @type {Record<string, string>} */
const REMEDIES = {
  401: CHECK_HEADERS,
  403: CHECK_HEADERS,
  404: CHECK_PATH,
  405: CHECK_PATH,
  415: 'The receiver must accept OTLP as JSON.',
  bad_http: 'The receiver may speak gRPC on this port (4317); --otlp needs its HTTP port (4318).',
  certificate_not_trusted: 'Name the CA of its certificate in NODE_EXTRA_CA_CERTS.',
  connection_refused: 'Start the receiver, or correct --otlp.',
  host_not_found: 'Correct the host name in --otlp.',
  wrong_scheme_https_to_http_port: 'Write http:// in --otlp.',
  wrong_scheme_http_to_https_port: 'Write https:// in --otlp.',
};

/**
 * @param {object} options @param {string} options.url see parseOtlpUrl
 * @param {Record<string, string>} [options.headers] secrets: never shown
 * @param {(text: string) => void} options.onWarning @param {(text: string) => void} [options.onNotice]
 * @param {Pick<Requester, 'request' | 'close'>} [options.requester]
 * @param {() => number} [options.now] the date, Unix time in ms
 * @param {() => number} [options.clock] ms that never go back
 * @param {(ms: number, signal: AbortSignal) => Promise<unknown>} [options.wait] rejects when the signal ends it
 * @throws {PkiLoadError} for a bad URL or header
 */
export function createOtlpPusher({
  url,
  headers = readOtlpHeaders(process.env),
  onWarning,
  onNotice = () => {},
  requester,
  now = Date.now,
  clock = () => performance.now(),
  wait = (ms, signal) => sleep(ms, undefined, { signal }),
}) {
  const { origin, path, shown } = parseOtlpUrl(url);
  const limits = { timeoutMs: TIMEOUT_MS, maxBodyBytes: MAX_RESPONSE_BYTES };
  const client = requester ?? createRequester({ origin, ...limits, named: '--otlp' });
  const tool = `vault-pki-load/${TOOL_VERSION}`;
  const allHeaders = { 'user-agent': tool, ...headers, 'content-type': 'application/json' };
  /** A receiver may repeat secrets, which headers and the query are: its words are quoted only if there are none. */
  const mayQuote = Object.keys(headers).length === 0 && !path.includes('?');
  /** Kinds of warnings that were shown. @type {Set<string>} */
  const warned = new Set();
  /** @type {Promise<void> | null} */
  let underWay = null;
  /** @type {Promise<void> | null} */
  let closing = null;
  /** The last result that has arrived. @type {Result | null} */
  let delivered = null;
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

  /** @param {unknown} text of the receiver's response @returns {string} `: its words`, or empty */
  function quoted(text) {
    const line = mayQuote && typeof text === 'string' ? redact(text).replace(/\.$/, '') : '';
    return line === '' ? '' : `: ${line}`;
  }

  /** @param {Response} response */
  function reportSuccess({ body }) {
    // The number may come as a string (protobuf's JSON mapping).
    const { rejectedDataPoints = 0, errorMessage } = parse(body)?.partialSuccess ?? {};
    const remark = quoted(errorMessage);
    const rejected = Number(rejectedDataPoints);
    if (rejected > 0) warn('rejected', `${shown} rejected ${counted(rejected, 'data point')}${remark}.`);
    else if (remark !== '') warn('remark', `${shown} accepted the metrics with a remark${remark}.`);
  }

  /** @param {Result} result @returns {Promise<boolean>} whether it did not arrive and may be sent again; never rejects */
  async function push(result) {
    nextAtMs = clock() + EVERY_MS - SLACK_MS;
    let body;
    try {
      body = JSON.stringify(toMetricsRequest(result, now()));
    } catch {
      warn('not_encoded', 'The metrics could not be encoded as OTLP, which is a bug: please report it.');
      return false;
    }
    try {
      const response = await client.request({ method: 'POST', path, headers: allHeaders, body });
      const { status } = response;
      pausedUntilMs = Number.NEGATIVE_INFINITY;
      if (status >= 200 && status < 300) {
        delivered = result;
        reportSuccess(response);
        return false;
      }
      const words = quoted(parse(response.body)?.message);
      warn(String(status), `${shown} did not accept the metrics: HTTP ${status}${words}.`);
      if (!RETRYABLE.has(status)) return false;
      pausedUntilMs = clock() + readRetryAfter(response.headers['retry-after'], now());
      nextAtMs = Math.max(nextAtMs, pausedUntilMs);
      return true;
    } catch (error) {
      // The text of an unknown error may hold a header.
      const isKnown = error instanceof PkiLoadError;
      const what = isKnown ? error.message : `${shown} could not be reached.`;
      warn(isKnown ? error.code : 'not_sent', `The metrics were not sent: ${what}`);
      return isKnown;
    }
  }

  /** @param {Promise<unknown>} sending is under way until it is over */
  function begin(sending) {
    const mine = sending.then(() => {
      if (underWay === mine) underWay = null;
    });
    underWay = mine;
  }

  /** Waits for the current push, then tries a few times. @param {Result} result @param {number} limitMs @param {AbortSignal} over */
  async function deliver(result, limitMs, over) {
    await underWay;
    for (let tries = 0; tries < LAST_TRIES && delivered !== result; tries++) {
      const pauseMs = Math.max(pausedUntilMs - clock(), tries === 0 ? 0 : LAST_PAUSE_MS);
      if (pauseMs > limitMs) return;
      if (pauseMs > 0) await wait(pauseMs, over).catch(() => {});
      if (over.aborted || !(await push(result))) return;
    }
  }

  /** @param {Result} result @param {number} limitMs @param {AbortController} [over] aborted at the end */
  async function sendLast(result, limitMs, over = new AbortController()) {
    const tooLate = wait(limitMs, over.signal).catch(() => {});
    const sending = deliver(result, limitMs, over.signal);
    begin(sending);
    await Promise.race([sending, tooLate]);
    if (delivered !== result) warn('last', `The last metrics of a run did not arrive at ${shown}.`);
    over.abort();
  }

  /** @param {Result} result */
  async function finish(result) {
    const over = new AbortController();
    const notice = () => onNotice(`Sending the last metrics to ${shown}; Ctrl-C ends without them.`);
    wait(SILENT_MS, over.signal).then(notice, () => {});
    await sendLast(result, CLOSE_MS, over);
    isClosed = true;
    await client.close();
  }

  return {
    /** Sends it, unless another push is under way or too recent. @param {Result} result */
    update(result) {
      if (closing === null && underWay === null && clock() >= nextAtMs) begin(push(result));
    },
    /**
     * Sends the last one of a run before another, however recent the push before; waits a limited time. Never rejects.
     * @param {Result} result
     */
    async finishRun(result) {
      if (closing === null) await sendLast(result, BETWEEN_MS);
    },
    /** Sends the last one, unless it has arrived already; waits a limited time. Never rejects. @param {Result} result */
    close(result) {
      closing ??= finish(result);
      return closing;
    },
  };
}

/**
 * @param {string | string[] | undefined} value RFC 9110, 10.2.3: seconds, or a date
 * @param {number} nowMs the date
 * @returns {number} ms; 0 if the value is neither
 */
function readRetryAfter(value, nowMs) {
  const text = String(value ?? '').trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = text.endsWith('GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - nowMs);
}

/** @param {Buffer} body @returns {any} null: no JSON */
function parse(body) {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}
