/** One push of OTLP metrics: a result becomes bytes, an answer becomes a verdict, and trouble is told once for each kind. */

import { formatDuration } from '../common/units.js';
import { TOOL_VERSION } from '../common/version.js';
import { createRequester } from '../http/request.js';
import { judgeAnswer, judgeFailure } from './otlp-answer.js';
import { parseOtlpUrl, readOtlpHeaders, secretsOf } from './otlp-endpoint.js';
import { toMetricsRequest } from './otlp-metrics.js';

/** @typedef {import('../result/schema.js').Result} Result */
/** @typedef {import('./otlp-answer.js').Verdict} Verdict */
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
