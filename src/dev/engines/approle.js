/** AppRole: roles, their secret IDs, and logins. This server rejects the tokens of these logins. */
import { randomBytes, randomUUID } from 'node:crypto';
import {
  listParam,
  NO_CONTENT,
  openRoute,
  orNotFound,
  route,
  secondsParam,
  secret,
  textParam,
  VaultError,
} from '../routes.js';

/** @import { Route } from '../routes.js' */

/** @typedef {{roleId: string, secretIds: Set<string>, secretIdTtl: number, ttl: number, policies: string[],
 *   isBatch: boolean}} AppRole */

const DEFAULT_TTL_SECONDS = 768 * 3600;

/** Values of `token_type`; `default` means a service token here. */
const TOKEN_TYPES = ['', 'default', 'service', 'batch', 'default-service', 'default-batch'];

/** @returns {Route[]} */
export function createAppRole() {
  /** @type {Map<string, AppRole>} */
  const roles = new Map();
  return [
    route('POST', /^role\/([\w-]+)$/, (call) => {
      const [, name] = call.match;
      const params = call.params();
      const tokenType = textParam(params, 'token_type');
      if (!TOKEN_TYPES.includes(tokenType))
        throw new VaultError(400, `invalid 'token_type' value ${JSON.stringify(tokenType)}`);
      const { roleId, secretIds } = roles.get(name) ?? { roleId: randomUUID(), secretIds: new Set() };
      roles.set(name, {
        ...{ roleId, secretIds, isBatch: tokenType.endsWith('batch') },
        ttl: secondsParam(params, 'token_ttl') || DEFAULT_TTL_SECONDS,
        secretIdTtl: secondsParam(params, 'secret_id_ttl'),
        policies: [...new Set(['default', ...listParam(params, 'token_policies')])].sort(),
      });
      return NO_CONTENT;
    }),
    route('GET', /^role\/([\w-]+)\/role-id$/, ({ match }) =>
      secret({ role_id: orNotFound(roles.get(match[1])).roleId }, 'approle'),
    ),
    route('POST', /^role\/([\w-]+)\/secret-id$/, ({ match: [, name] }) => {
      const { secretIds, secretIdTtl } = orNotFound(roles.get(name), `role "${name}" does not exist`);
      const id = randomUUID();
      secretIds.add(id);
      const more = { secret_id_accessor: randomUUID(), secret_id_num_uses: 0, secret_id_ttl: secretIdTtl };
      return secret({ secret_id: id, ...more }, 'approle');
    }),
    openRoute('POST', /^login$/, (call) => {
      const params = call.params();
      const [roleId, secretId] = [textParam(params, 'role_id'), textParam(params, 'secret_id')];
      if (roleId === '') throw new VaultError(500, 'failed to determine alias name from login request');
      const entry = [...roles].find(([, role]) => role.roleId === roleId);
      if (entry !== undefined && secretId === '') throw new VaultError(400, 'missing secret_id');
      if (!entry?.[1].secretIds.has(secretId)) throw new VaultError(400, 'invalid role or secret ID');
      return secret(null, '', { auth: login(...entry) });
    }),
  ];
}

/** @param {string} name @param {AppRole} role */
function login(name, { ttl, policies, isBatch }) {
  return {
    client_token: `${isBatch ? 'hvb' : 'hvs'}.dev-only-${randomBytes(24).toString('base64url')}`,
    accessor: isBatch ? '' : randomBytes(12).toString('hex'),
    ...{ policies, token_policies: policies, metadata: { role_name: name }, entity_id: randomUUID() },
    ...{ lease_duration: ttl, renewable: !isBatch, token_type: isBatch ? 'batch' : 'service' },
    ...{ orphan: true, mfa_requirement: null, num_uses: 0 },
  };
}
