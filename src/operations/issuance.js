/** What `issue` and `ocsp` share: the checks before a token, a mount and a role are used, and the words of the API. */
import { checkHealth, checkIssuer, checkMount, checkRole, checkToken } from '../vault/preflight.js';

/**
 * Asks the target whether the run can work at all; the first thing that cannot throws, with the remedy.
 *
 * @param {import('./index.js').PrepareContext} context
 * @param {{operation: 'issue' | 'sign', role: string, commonName: string, altNames?: string[], ipSans?: string[],
 *   ttl?: string | null, keyType?: 'rsa' | 'ec' | 'ed25519' | null, keyBits?: number | null, requests: number | null,
 *   neededMs: number | null}} question
 */
export async function checkIssuance({ plan, client, warn }, { requests, neededMs, ...question }) {
  const { mount, namespace } = plan.target;
  const health = await checkHealth(client, { namespace });
  const token = await checkToken(client, { neededMs, neededRequests: requests });
  const mountFacts = await checkMount(client, mount);
  const issuer = await checkIssuer(client, mount);
  const roleFacts = await checkRole(client, { mount, ...question });
  for (const { warnings } of [health, token, mountFacts, roleFacts]) warnings.forEach(warn);
  return { health, role: roleFacts.role, issuer, renewEveryMs: token.renewEveryMs };
}

/**
 * @param {import('../plan.js').LoadPlan} load
 * @returns {number | null} how long the run may take at most, ms; null: not known
 */
export function longestRunMs({ durationMs, warmupMs, timeoutMs, requests, ratePerSecond }) {
  if (durationMs !== null) return warmupMs + durationMs + 2 * timeoutMs;
  if (requests !== null && ratePerSecond !== null)
    return warmupMs + (requests / ratePerSecond) * 1000 + 2 * timeoutMs;
  return null;
}

/**
 * @param {import('../plan.js').LoadPlan} load
 * @returns {number | null} about how many requests the run will send; null: as many as the target answers
 */
export function expectedRequests({ ratePerSecond, durationMs, warmupMs, requests }) {
  if (ratePerSecond === null) return requests;
  const scheduled =
    durationMs === null ? Number.POSITIVE_INFINITY : ((durationMs + warmupMs) / 1000) * ratePerSecond;
  return Math.round(Math.min(scheduled, requests ?? Number.POSITIVE_INFINITY));
}

/**
 * @param {string | null} token a secret
 * @param {string | null} namespace
 * @returns {Record<string, string>}
 */
export function apiHeaders(token, namespace) {
  return {
    'content-type': 'application/json',
    'x-vault-request': 'true',
    ...(token === null ? {} : { 'x-vault-token': token }),
    ...(namespace === null ? {} : { 'x-vault-namespace': namespace }),
  };
}

/**
 * @param {string} basePath of the address, without a slash at its end
 * @param {...string} parts mount, verb, role
 * @returns {string}
 */
export function apiPath(basePath, ...parts) {
  const encoded = parts.join('/').split('/').map(encodeURIComponent).join('/');
  return `${basePath}/v1/${encoded}`;
}

/**
 * @param {{commonName: string, altNames: string[], ipSans: string[], ttlMs: number | null}} asked
 * @returns {Record<string, string>} what Vault's issue and sign take
 */
export function certificateParameters({ commonName, altNames, ipSans, ttlMs }) {
  return {
    common_name: commonName,
    ...(altNames.length > 0 ? { alt_names: altNames.join(',') } : {}),
    ...(ipSans.length > 0 ? { ip_sans: ipSans.join(',') } : {}),
    ...(ttlMs !== null ? { ttl: `${Math.max(1, Math.round(ttlMs / 1000))}s` } : {}),
  };
}
