/** `issue` before time zero: whether the run can work, what it will leave behind, and the CSRs. */
import { parseTargetUrl } from '../http/request.js';
import { expectedRequests, longestRunMs } from '../plan/expected.js';
import { describeFootprint } from '../vault/preflight.js';
import { describeKeyType, makeCsrs } from './csrs.js';
import { apiHeaders, apiPath } from './issuance.js';
import { checkIssuance } from './issuance-check.js';
import { openKeepFile } from './keep.js';
import { namesOf } from './names.js';
import { createSerialMemory } from './serial-set.js';

/**
 * @param {import('./index.js').PrepareContext} context
 * @returns {Promise<import('./issue.js').IssueFixture>}
 */
export async function prepare(context) {
  const { plan, token, notice, owns } = context;
  const { mount, namespace, url } = plan.target;
  const { role, sign, keep } = plan.options;
  if (keep !== null) openKeepFile(keep).close();
  const { origin, basePath } = parseTargetUrl(url);
  const { health, role: roleFields } = await checkIssuance(context, {
    ...question(plan),
    requests: expectedRequests(plan.load),
    neededMs: longestRunMs(plan.load),
  });
  const count = expectedRequests(plan.load, owns);
  if (!plan.dev) describeFootprint({ role: roleFields, count, mount, health }).forEach(notice);
  return {
    origin,
    targetUrl: url,
    target: { product: health.product, version: health.version },
    path: apiPath(basePath, mount, sign ? 'sign' : 'issue', role),
    headers: apiHeaders(token, namespace),
    serials: createSerialMemory(),
    csrs: sign ? await makeCsrs(context, roleFields) : null,
  };
}

/** @param {import('../plan/plan.js').Plan} plan */
function question({ options: { role, sign, keyType, ttl, ...names }, load }) {
  return {
    operation: /** @type {'issue' | 'sign'} */ (sign ? 'sign' : 'issue'),
    role,
    ...namesOf(names, load.seed, 0),
    ttl: ttl === null ? null : `${Math.round(ttl / 1000)}s`,
    ...describeKeyType(keyType),
  };
}
