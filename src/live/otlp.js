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
import { parseOtlpUrl, readOtlpHeaders, secretsOf } from './otlp-endpoint.js';
import { toMetricsRequest } from './otlp-metrics.js';

/** @import { Requester, Response } from '../http/request.js' */
/** @import { Result } from '../result/schema.js' */

/** @typedef {{arrived: boolean, isRetryable: boolean, retryAfterMs: number | null}} Outcome of a push; `retryAfterMs`: the receiver's Retry-After */
/**
 * @typedef {object} OtlpPusher
 * @property {(result: Result) => void} update sends it, unless another push is under way or too recent
 * @property {(result: Result) => Promise<void>} finishRun sends the last one of a run before another, however recent the
 *   push before; waits a limited time. Never rejects
 * @property {(result: Result) => Promise<void>} close sends the last one, unless it has arrived already; waits a limited time.
 *   Never rejects
 */

const EVERY_MS = 10_000;

/** Results come every two seconds; one that is early by up to this much is sent. */
const SLACK_MS = 1000;

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

const CHECK_PATH = 'Check the path in --otlp; it is usually /v1/metrics.';

/** By HTTP status, or code of an error. @type {Record<string, string>} */
const REMEDIES = {
  401: 'Check OTEL_EXPORTER_OTLP_HEADERS.',
  403: 'Check OTEL_EXPORTER_OTLP_HEADERS.',
  404: CHECK_PATH,
  405: CHECK_PATH,
  415: 'It must take OTLP as JSON.',
  bad_http: 'It may speak gRPC there (port 4317); --otlp takes the port for HTTP (4318).',
  certificate_not_trusted: 'Name the CA of its certificate in NODE_EXTRA_CA_CERTS.',
  connection_refused: 'Start the receiver, or correct --otlp.',
  host_not_found: 'Correct the host name in --otlp.',
  wrong_scheme_https_to_http_port: 'Write http:// in --otlp.',
  wrong_scheme_http_to_https_port: 'Write https:// in --otlp.',
};

/**
 * @param {object} options
 * @param {string} options.url see parseOtlpUrl
 * @param {Record<string, string>} [options.headers] secrets: never shown
 * @param {(text: string) => void} options.onWarning
 * @param {(text: string) => void} [options.onNotice]
 * @param {Pick<Requester, 'request' | 'close'>} [options.requester]
 * @param {() => number} [options.now] the date, Unix time in ms
 * @param {() => number} [options.clock] ms that never go back
 * @param {(ms: number, signal: AbortSignal) => Promise<unknown>} [options.wait] rejects when the signal ends it
 * @returns {OtlpPusher}
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
  const secrets = secretsOf(headers);
  const client =
    requester ??
    createRequester({ origin, timeoutMs: TIMEOUT_MS, maxBodyBytes: MAX_RESPONSE_BYTES, named: '--otlp' });
  const allHeaders = {
    'user-agent': `vault-pki-load/${TOOL_VERSION}`,
    ...headers,
    'content-type': 'application/json',
  };
  /** Kinds of warnings that were shown. @type {Set<string>} */
  const warned = new Set();
  /** @type {Promise<void> | null} */
  let underWay = null;
  /** @type {Promise<void> | null} */
  let closing = null;
  /** The last result of a run that has arrived. @type {Result | null} */
  let delivered = null;
  let nextAtMs = Number.NEGATIVE_INFINITY;
  /** As the receiver requested. */
  let askedUntilMs = Number.NEGATIVE_INFINITY;
  let isClosed = false;

  /** @param {string} kind @param {string} text */
  function warn(kind, text) {
    if (isClosed || warned.has(kind)) return;
    warned.add(kind);
    onWarning(text);
  }

  /** @param {string} kind @param {string} text @param {string} [remedy] @returns {Outcome} */
  function refused(kind, text, remedy) {
    warn(kind, `${text}${remedy === undefined ? '' : ` ${remedy}`}`);
    return { arrived: false, isRetryable: false, retryAfterMs: null };
  }

  /** @param {Response} response @returns {Outcome} */
  function judge({ status, headers: answered, body }) {
    const reply = parse(body);
    if (status >= 200 && status < 300) {
      // The number may come as a string (protobuf's JSON mapping).
      const { rejectedDataPoints = 0, errorMessage } = reply?.partialSuccess ?? {};
      const remark = quoted(errorMessage, secrets);
      const rejected = Number(rejectedDataPoints);
      if (rejected > 0) {
        warn('rejected', `${shown} rejected ${counted(rejected, 'data point')}${remark}.`);
      } else if (remark !== '') warn('remark', `${shown} took the metrics with a remark${remark}.`);
      return { arrived: true, isRetryable: false, retryAfterMs: null };
    }
    const words = quoted(reply?.message, secrets);
    const text = `${shown} did not take the metrics: HTTP ${status}${words}.`;
    const outcome = refused(String(status), text, REMEDIES[status]);
    if (!RETRYABLE.has(status)) return outcome;
    return { ...outcome, isRetryable: true, retryAfterMs: readRetryAfter(answered['retry-after'], now()) };
  }

  /** @param {unknown} error without a response; one that is not known may hold a header @returns {Outcome} */
  function judgeFailure(error) {
    const isKnown = error instanceof PkiLoadError;
    const kind = isKnown ? error.code : 'not_sent';
    const what = isKnown ? error.message : `${shown} could not be reached.`;
    return {
      ...refused(kind, `The metrics were not sent: ${what}`, REMEDIES[kind]),
      isRetryable: isKnown,
    };
  }

  /** @param {Result} result @returns {Promise<Outcome>} never rejects */
  async function send(result) {
    let body;
    try {
      body = JSON.stringify(toMetricsRequest(result, now()));
    } catch {
      return refused('not_encoded', 'The metrics could not be put into OTLP: a fault of the tool.');
    }
    return client.request({ method: 'POST', path, headers: allHeaders, body }).then(judge, judgeFailure);
  }

  /** @param {Result} result */
  async function push(result) {
    nextAtMs = clock() + EVERY_MS - SLACK_MS;
    const outcome = await send(result);
    const { retryAfterMs } = outcome;
    askedUntilMs = retryAfterMs === null ? Number.NEGATIVE_INFINITY : clock() + retryAfterMs;
    nextAtMs = Math.max(nextAtMs, askedUntilMs);
    return outcome;
  }

  /** @param {Promise<unknown>} sending is under way until it is over */
  function begin(sending) {
    const mine = sending.then(() => {
      if (underWay === mine) underWay = null;
    });
    underWay = mine;
  }

  /**
   * Waits for the current push, then tries a few times.
   * @param {Result} result
   * @param {number} limitMs
   * @param {AbortSignal} over aborted after that time
   * @returns {Promise<boolean>} whether it has arrived
   */
  async function deliver(result, limitMs, over) {
    await underWay;
    if (delivered === result) return true;
    let pauseMs = askedUntilMs - clock();
    for (let tries = 0; tries < LAST_TRIES && pauseMs <= limitMs; tries++) {
      if (pauseMs > 0) await wait(pauseMs, over).catch(() => {});
      if (over.aborted) return false;
      const { arrived, isRetryable, retryAfterMs } = await push(result);
      if (arrived) delivered = result;
      if (arrived || !isRetryable) return arrived;
      pauseMs = retryAfterMs ?? LAST_PAUSE_MS;
    }
    return false;
  }

  /** @param {Result} result @param {number} limitMs */
  async function sendLast(result, limitMs) {
    const over = new AbortController();
    const tooLate = wait(limitMs, over.signal).catch(() => {});
    const sending = deliver(result, limitMs, over.signal);
    begin(sending);
    const arrived = await Promise.race([sending, tooLate]);
    if (arrived !== true) warn('last', `The last metrics of a run did not arrive at ${shown}.`);
    over.abort();
  }

  /** @param {Result} result */
  async function finish(result) {
    const over = new AbortController();
    const notice = `Sending the last metrics to ${shown}; Ctrl-C ends without them.`;
    wait(SILENT_MS, over.signal).then(
      () => onNotice(notice),
      () => {},
    );
    await sendLast(result, CLOSE_MS);
    over.abort();
    isClosed = true;
    await client.close();
  }

  return {
    update(result) {
      if (closing === null && underWay === null && clock() >= nextAtMs) begin(push(result));
    },
    async finishRun(result) {
      if (closing === null) await sendLast(result, BETWEEN_MS);
    },
    close(result) {
      closing ??= finish(result);
      return closing;
    },
  };
}

/** RFC 9110, 10.2.3: seconds, or a date. @param {string | string[] | undefined} value @param {number} nowMs the date */
function readRetryAfter(value, nowMs) {
  const text = String(value ?? '').trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = text.endsWith('GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

/** @param {Buffer} body @returns {any} null: no JSON */
function parse(body) {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}

/**
 * @param {unknown} text of the receiver's response
 * @param {string[]} secrets
 * @returns {string} `: its words`; empty if there are none or they hold a secret
 */
function quoted(text, secrets) {
  if (typeof text !== 'string') return '';
  const lower = text.toLowerCase();
  if (secrets.some((secret) => lower.includes(secret.toLowerCase()))) return '';
  const line = redact(text).replace(/\.$/, '');
  return line === '' ? '' : `: ${line}`;
}
