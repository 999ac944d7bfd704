/** The checks before a token, a mount and a role are used. */
import { checkHealth, checkIssuer, checkMount, checkRole, checkToken } from '../vault/preflight.js';

/**
 * Asks the target whether the run can work at all; the first thing that cannot throws, with the remedy.
 *
 * @param {import('./index.js').PrepareContext} context
 * @param {{operation: 'issue' | 'sign', role: string, commonName: string, altNames?: string[], ipSans?: string[],
 *   ttl?: string | null, keyType?: 'rsa' | 'ec' | 'ed25519' | null, keyBits?: number | null, requests: number | null,
 *   neededMs: number | null}} question
 */
export async function checkIssuance({ plan, client, keepAlive, warn }, { requests, neededMs, ...question }) {
  const { mount, namespace } = plan.target;
  const health = await checkHealth(client, { namespace });
  const token = await checkToken(client, { neededMs, neededRequests: requests });
  // At once: its life goes on through all that is checked and prepared from here to time zero.
  if (token.renewEveryMs !== null) keepAlive(token.renewEveryMs);
  const mountFacts = await checkMount(client, mount);
  const issuer = await checkIssuer(client, mount);
  const roleFacts = await checkRole(client, { mount, ...question });
  for (const { warnings } of [health, token, mountFacts, roleFacts]) warnings.forEach(warn);
  return { health, role: roleFacts.role, issuer };
}
