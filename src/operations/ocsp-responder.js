/** Which responder `ocsp` asks, and whether it is one. */
import { targetError, usageError } from '../common/errors.js';
import { createRequester } from '../http/request.js';
import { ocspUrls } from '../pki/certificate.js';
import { apiPath } from './issuance.js';

/** First answers that no responder gives, however busy it is. */
const NO_RESPONDER = new Set([
  'not_ocsp',
  'bad_request',
  'permission_denied',
  'not_found',
  'redirected',
  'http_error',
]);

/** A first answer may take its time: a time-out meant for the load is no reason to call the target unreachable. */
const MIN_TIMEOUT_MS = 5000;

/**
 * @param {import('../plan/plan.js').Plan} plan
 * @param {import('./ocsp-subjects.js').Subjects} subjects
 * @returns {{url: string, isVault: boolean}}
 */
export function responderOf({ options: { ocspUrl, fromAia }, target }, { example }) {
  if (ocspUrl !== null) return { url: ocspUrl, isVault: false };
  if (!fromAia) return { url: `${target.url}${apiPath('', target.mount, 'ocsp')}`, isVault: true };
  const [url] = example === null ? [] : ocspUrls(example);
  if (url !== undefined) return { url: url.replace(/\/+$/, ''), isVault: false };
  throw usageError(
    'no_aia',
    example === null
      ? '--from-aia needs a certificate, and --serials holds only serials.'
      : 'The certificate names no OCSP responder.',
    'Name the responder with --ocsp-url; in Vault, set config/urls before certificates are issued.',
  );
}

/**
 * One request before time zero: what does not answer as a responder is told from what answers wrongly, which the run
 * will count.
 *
 * @param {import('./index.js').PrepareContext} context
 * @param {import('./index.js').Fixture} fixture
 * @param {{request: import('../http/exchange.js').Request, classify: import('./index.js').Classify,
 *   meanings: Readonly<Record<string, string>>}} first
 * @returns {Promise<import('./index.js').FirstAnswer>}
 */
export async function askOnce({ plan, tls, warn }, { origin, targetUrl }, { request, classify, meanings }) {
  const timeoutMs = Math.max(plan.load.timeoutMs, MIN_TIMEOUT_MS);
  const requester = createRequester({ origin, tls, timeoutMs, named: '--ocsp-url' });
  try {
    const { status, body } = await requester.request({
      ...request,
      body: request.body === null ? undefined : Buffer.from(request.body),
    });
    const { outcome, success } = classify(status, body, 0);
    if (NO_RESPONDER.has(outcome)) {
      throw targetError(
        'not_an_ocsp_responder',
        `${targetUrl} answered an OCSP request with HTTP ${status} and no OCSP response.`,
        plan.options.ocspUrl === null
          ? 'Check --mount, or name the responder with --ocsp-url.'
          : 'Check --ocsp-url: it is the whole address of the responder.',
      );
    }
    if (success) return { status, body };
    const meaning = meanings[outcome]?.replace(/\.$/, '');
    warn(`A first request was answered, but not as expected: ${outcome} (${meaning}).`);
    return { status, body };
  } finally {
    await requester.close();
  }
}
