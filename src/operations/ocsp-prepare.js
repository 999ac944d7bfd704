/** `ocsp` before time zero: which certificates, which responder, and whether it is one. */

import { shuffled } from '../common/random.js';
import { parseTargetUrl } from '../http/request.js';
import { checkHealth, checkMount } from '../vault/preflight.js';
import { readKinds } from './ocsp-kinds.js';
import { createRequestSet } from './ocsp-requests.js';
import { askOnce, responderOf } from './ocsp-responder.js';
import { findSubjects } from './ocsp-subjects.js';
import { findSubjectsOfKinds } from './ocsp-subjects-of-kinds.js';

/** A longer answer is no right one; warming up with it would take memory and time. */
const MAX_WARM_UP_BYTES = 16 * 1024;

/**
 * @param {import('./index.js').PrepareContext} context
 * @param {Pick<import('./index.js').Operation, 'createRequester' | 'createClassifier'> & {meanings: Readonly<Record<string, string>>}} judge
 * @returns {Promise<import('./ocsp.js').OcspFixture>}
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
 * @param {import('../plan/plan.js').Plan} plan
 * @param {import('./ocsp-kinds.js').Kind[]} kinds
 * @param {{serials: Uint8Array[], revoked?: Uint8Array[], issuerDer: Uint8Array}} subjects
 * @returns {Promise<import('./ocsp.js').AskedKind[]>}
 */
function askedKinds(
  { options: { hash, nonce }, load: { seed } },
  kinds,
  { serials, revoked = [], issuerDer },
) {
  /** @param {import('./ocsp-kinds.js').KindName | null} name */
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
 * not needed, so what it may not see is no matter.
 *
 * @param {import('./index.js').PrepareContext} context
 */
async function checkVault({ client, plan }) {
  const { mount, namespace } = plan.target;
  const health = await checkHealth(client, { namespace });
  await checkMount(client, mount);
  return health;
}
