/** AppRole: roles, their secret IDs, and logins. Their tokens open nothing here: this server knows one token, its own. */
import { randomBytes, randomUUID } from 'node:crypto';
import { listParam, raw, secondsParam, secret, textParam, VaultError } from '../messages.js';

/** @import { CreateEngine } from '../mounts.js' */

/** @typedef {{roleId: string, secretIds: Set<string>, secretIdTtl: number, ttl: number, policies: string[], tokenType: string}} AppRole */

const DEFAULT_TTL_SECONDS = 768 * 3600;

/** Values of `token_type`; `default` is a service token here. */
const TOKEN_TYPES = new Set(['', 'default', 'service', 'batch', 'default-service', 'default-batch']);

/** @type {CreateEngine} */
export function createAppRole() {
  /** @type {Map<string, AppRole>} */
  const roles = new Map();
  const roleOf = (/** @type {string} */ name) => {
    const role = roles.get(name);
    if (role === undefined) throw new VaultError(404);
    return role;
  };
  return {
    routes: [
      {
        method: 'POST',
        path: /^role\/([\w-]+)$/,
        handle(call) {
          const params = call.params();
          const before = roles.get(call.match[1]);
          const tokenType = textParam(params, 'token_type');
          if (!TOKEN_TYPES.has(tokenType))
            throw new VaultError(400, `invalid 'token_type' value ${JSON.stringify(tokenType)}`);
          roles.set(call.match[1], {
            roleId: before?.roleId ?? randomUUID(),
            secretIds: before?.secretIds ?? new Set(),
            ttl: secondsParam(params, 'token_ttl') || DEFAULT_TTL_SECONDS,
            secretIdTtl: secondsParam(params, 'secret_id_ttl'),
            policies: [...new Set(['default', ...listParam(params, 'token_policies')])].sort(),
            tokenType: tokenType.endsWith('batch') ? 'batch' : 'service',
          });
          return raw('', '', 204);
        },
      },
      {
        method: 'DELETE',
        path: /^role\/([\w-]+)$/,
        handle({ match }) {
          roles.delete(match[1]);
          return raw('', '', 204);
        },
      },
      {
        method: 'GET',
        path: /^role\/([\w-]+)\/role-id$/,
        handle: ({ match }) => secret({ data: { role_id: roleOf(match[1]).roleId }, mountType: 'approle' }),
      },
      {
        method: 'POST',
        path: /^role\/([\w-]+)\/secret-id$/,
        handle({ match }) {
          const id = randomUUID();
          const role = roles.get(match[1]);
          if (role === undefined) throw new VaultError(404, `role "${match[1]}" does not exist`);
          role.secretIds.add(id);
          const data = {
            secret_id: id,
            secret_id_accessor: randomUUID(),
            secret_id_num_uses: 0,
            secret_id_ttl: role.secretIdTtl,
          };
          return secret({ data, mountType: 'approle' });
        },
      },
    ],
    openRoutes: [
      {
        method: 'POST',
        path: /^login$/,
        handle(call) {
          const params = call.params();
          const [given, secretId] = [textParam(params, 'role_id'), textParam(params, 'secret_id')];
          if (given === '') throw new VaultError(500, 'failed to determine alias name from login request');
          const found = [...roles].find(([, { roleId }]) => roleId === given);
          if (found !== undefined && secretId === '') throw new VaultError(400, 'missing secret_id');
          if (found === undefined || !found[1].secretIds.has(secretId)) {
            throw new VaultError(400, 'invalid role or secret ID');
          }
          return secret({ data: null, auth: authOf(found[0], found[1]), mountType: '' });
        },
      },
    ],
  };
}

/** @param {string} name @param {AppRole} role */
function authOf(name, { ttl, policies, tokenType }) {
  const isBatch = tokenType === 'batch';
  return {
    client_token: `${isBatch ? 'hvb' : 'hvs'}.dev-only-${randomBytes(24).toString('base64url')}`,
    accessor: isBatch ? '' : randomBytes(12).toString('hex'),
    policies,
    token_policies: policies,
    metadata: { role_name: name },
    lease_duration: ttl,
    renewable: !isBatch,
    entity_id: randomUUID(),
    token_type: tokenType,
    orphan: true,
    mfa_requirement: null,
    num_uses: 0,
  };
}
