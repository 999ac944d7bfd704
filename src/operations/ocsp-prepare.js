/** `ocsp` before time zero: which certificates, which responder, and whether it is one. */
import { targetError, usageError } from '../common/errors.js';
import { shuffled } from '../common/random.js';
import { createRequester, parseTargetUrl } from '../http/request.js';
import { ocspUrls } from '../pki/certificate.js';
import { checkHealth, checkMount } from '../vault/check-target.js';
import { readKinds } from './ocsp-kinds.js';
import { createRequestSet } from './ocsp-requests.js';
import { findSubjects, findSubjectsOfKinds } from './ocsp-subjects.js';
import { apiPath } from './request-parts.js';

/** @import { Request } from '../http/exchange.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { Classify, FirstAnswer, Fixture, Operation, PrepareContext } from './index.js' */
/** @import { Kind, KindName } from './ocsp-kinds.js' */
/** @import { Subjects } from './ocsp-subjects.js' */
/** @import { AskedKind, OcspFixture } from './ocsp.js' */

/** A longer response cannot be right; a warm-up with it would cost memory and time. */
const MAX_WARM_UP_BYTES = 16 * 1024;

/**
 * @param {PrepareContext} context
 * @param {Pick<Operation, 'createRequester' | 'createClassifier'> & {meanings: Readonly<Record<string, string>>}} judge
 * @returns {Promise<OcspFixture>}
 */
export async function prepare(context, { createRequester, createClassifier, meanings }) {
  const { plan } = context;
  const { about, expect, method } = plan.options;
  const kinds = readKinds(about, expect);
  const subjects = about.length > 0 ? await findSubjectsOfKinds(context, kinds) : await findSubjects(context);
  const { url, isVault } = responderOf(plan, subjects);
  const health = isVault ? await checkVault(context) : null;
  const { origin, basePath } = parseTargetUrl(url);
  const issuerDer = new Uint8Array(subjects.issuer.der);
  const fixture = {
    origin,
    targetUrl: url,
    target: { product: health?.product ?? null, version: health?.version ?? null },
    path: basePath === '' ? '/' : basePath,
    method,
    issuerDer,
    kinds: await askedKinds(plan, kinds, { ...subjects, issuerDer }),
    namespace: isVault ? plan.target.namespace : null,
  };
  if (isVault) return fixture;
  const firstAnswer = await askOnce(context, fixture, {
    request: createRequester(plan, fixture)(0),
    classify: createClassifier(plan, fixture),
    meanings,
  });
  return firstAnswer.body.length > MAX_WARM_UP_BYTES ? fixture : { ...fixture, firstAnswer };
}

/**
 * A responder that looks at the serial alone would take those of a wrong issuer for its own: they are serials that it knows, where there
 * are any.
 *
 * @param {Plan} plan
 * @param {Kind[]} kinds
 * @param {{serials: Uint8Array[], revoked?: Uint8Array[], issuerDer: Uint8Array}} subjects
 * @returns {Promise<AskedKind[]>}
 */
function askedKinds(
  { options: { hash, nonce }, load: { seed } },
  kinds,
  { serials, revoked = [], issuerDer },
) {
  /** @param {KindName | null} name */
  const serialsOf = (name) => {
    if (name === 'never-issued') return [];
    if (name === 'revoked') return revoked;
    return name === 'wrong-issuer' && serials.length === 0 ? revoked : serials;
  };
  return Promise.all(
    kinds.map(async (kind) => {
      const own = serialsOf(kind.name);
      const order = shuffled(own.length, seed);
      const otherIssuer = kind.name === 'wrong-issuer';
      return {
        ...kind,
        requests: await createRequestSet({ issuerDer, serials: own, order, hash, nonce, otherIssuer }),
      };
    }),
  );
}

/**
 * A Vault can be asked whether it serves and has such a mount, so its responder sees the plan's requests alone. A token is
 * not needed, so missing rights do not matter.
 *
 * @param {PrepareContext} context
 */
async function checkVault({ client, plan }) {
  const { mount, namespace } = plan.target;
  const health = await checkHealth(client, { namespace });
  await checkMount(client, mount);
  return health;
}

/** No responder responds so, however busy it is. */
const NO_RESPONDER = new Set([
  'not_ocsp',
  'bad_request',
  'permission_denied',
  'not_found',
  'redirected',
  'http_error',
]);

/** A first response may be slow: the load's timeout does not apply to it. */
const MIN_TIMEOUT_MS = 5000;

/** @param {Plan} plan @param {Subjects} subjects @returns {{url: string, isVault: boolean}} */
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
 * One request before time zero: a server that is no responder is an error now; wrong responses are outcomes that the run
 * will count.
 *
 * @param {PrepareContext} context
 * @param {Fixture} fixture
 * @param {{request: Request, classify: Classify, meanings: Readonly<Record<string, string>>}} first
 * @returns {Promise<FirstAnswer>}
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
