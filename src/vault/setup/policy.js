/**
 * The policy of a set-up: what a token needs to run every operation on it, and no more. Where operations make mounts of their own, they
 * may be of one type, and their AppRole roles may carry no policy but `default`: or the token could make itself any other.
 */
import { PREFIX } from '../own-mount.js';
import { describe, fullPath } from './setup-plan.js';

/** @typedef {{path: string, able: string[], parameters?: Record<string, unknown[]>}} Rule `parameters`: others are refused; no values: any */

/** What makeOwnMount and the operations write. */
const MOUNT_PARAMETERS = Object.freeze({ description: [], options: [] });
const APPROLE_PARAMETERS = Object.freeze({
  token_type: [],
  token_ttl: [],
  token_max_ttl: [],
  token_num_uses: [],
  // A value that is a list must be that list.
  token_policies: [['default']],
  secret_id_num_uses: [],
  secret_id_ttl: [],
});

/**
 * @param {import('./setup-plan.js').SetupPlan} plan
 * @returns {string} HCL
 */
export function policyText({ name, intermediate, mounts }) {
  const beside = mounts.filter(({ type }) => type !== 'pki');
  const rules = [...pkiRules(intermediate), ...beside.flatMap(mountRules), ...beside.flatMap(ownMountRules)];
  return [`# ${describe(name)}`, ...rules.map(ruleText), ''].join('\n');
}

/**
 * @param {string} mount
 * @returns {Rule[]}
 */
function pkiRules(mount) {
  return [
    { path: `${mount}/issue/+`, able: ['update'] },
    { path: `${mount}/sign/+`, able: ['update'] },
    { path: `${mount}/sign-verbatim`, able: ['update'] },
    { path: `${mount}/sign-verbatim/+`, able: ['update'] },
    { path: `${mount}/revoke`, able: ['update'] },
    { path: `${mount}/roles`, able: ['list'] },
    { path: `${mount}/roles/+`, able: ['read'] },
    { path: `${mount}/config/crl`, able: ['read'] },
  ];
}

/**
 * @param {import('./setup-plan.js').Mount} mount of the set-up
 * @returns {Rule[]}
 */
function mountRules(mount) {
  const path = fullPath(mount);
  if (mount.type === 'kv')
    return [{ path: `${path}/*`, able: ['create', 'read', 'update', 'delete', 'list'] }];
  if (mount.type === 'approle') return [];
  return [
    ...['encrypt', 'decrypt', 'sign', 'verify'].map((action) => ({
      path: `${path}/${action}/+`,
      able: ['update'],
    })),
    { path: `${path}/keys/+`, able: ['read'] },
  ];
}

/**
 * @param {import('./setup-plan.js').Mount} mount operations make such themselves: see operations/own-mount.js
 * @returns {Rule[]}
 */
function ownMountRules({ kind, type }) {
  const path = `${PREFIX}-${type}-*`;
  const mounting = {
    path: `sys/${kind}/${path}`,
    // Vault asks for sudo where auth methods are mounted.
    able: ['create', 'read', 'update', 'delete', ...(kind === 'auth' ? ['sudo'] : [])],
    parameters: { type: [type], ...MOUNT_PARAMETERS },
  };
  if (type === 'approle') {
    const able = ['create', 'read', 'update'];
    return [mounting, { path: `auth/${path}`, able, parameters: APPROLE_PARAMETERS }];
  }
  return [mounting, { path, able: ['create', 'read', 'update', 'delete'] }];
}

/** @param {Rule} rule */
function ruleText({ path, able, parameters }) {
  const lines = [`capabilities = ${JSON.stringify(able)}`];
  if (parameters !== undefined) {
    const allowed = Object.entries(parameters).map(([key, values]) => `${key} = ${JSON.stringify(values)}`);
    lines.push(`allowed_parameters = {`, ...allowed.map((line) => `  ${line}`), '}');
  }
  return [`path ${JSON.stringify(path)} {`, ...lines.map((line) => `  ${line}`), '}'].join('\n');
}
