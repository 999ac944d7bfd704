/** What `issue` and `ocsp` share: how long and how many a run will be, and the words of the API. */
import { shareOf } from '../shard-part.js';

/**
 * @param {import('../plan.js').LoadPlan} load
 * @returns {number | null} how long the run may take at most, ms; null: not known
 */
export function longestRunMs({ durationMs, warmupMs, timeoutMs, requests, ratePerSecond, startAt }) {
  const beforeMs = warmupMs + (startAt ? Math.max(0, Date.parse(startAt) - Date.now()) : 0);
  if (durationMs !== null) return beforeMs + durationMs + 2 * timeoutMs;
  if (requests !== null && ratePerSecond !== null)
    return beforeMs + (requests / ratePerSecond) * 1000 + 2 * timeoutMs;
  return null;
}

/**
 * @param {import('../plan.js').LoadPlan} load
 * @returns {number | null} about how many requests the run, or this part of it, will send; null: as many as the target answers
 */
export function expectedRequests({ ratePerSecond, durationMs, warmupMs, requests, shard }) {
  if (ratePerSecond === null) return requests === null ? null : shareOf(requests, shard);
  const scheduled =
    durationMs === null ? Number.POSITIVE_INFINITY : ((durationMs + warmupMs) / 1000) * ratePerSecond;
  return shareOf(Math.round(Math.min(scheduled, requests ?? Number.POSITIVE_INFINITY)), shard);
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
