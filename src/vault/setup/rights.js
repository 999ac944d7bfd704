/** Whether the token may do what is to be done, asked before anything is: all that is missing is said at once. */
import { PkiLoadError, targetError } from '../../common/errors.js';
import { fullPath, KEY, ROLE } from './setup-plan.js';

/** @typedef {{path: string, able: string[]}} Right all of them */

/** To see what is there. @param {string} name @returns {Right[]} */
export function rightsToLook(name) {
  return [
    { path: 'sys/mounts', able: ['read'] },
    { path: 'sys/auth', able: ['read'] },
    { path: `sys/policies/acl/${name}`, able: ['read'] },
  ];
}

/**
 * @param {import('./setup-plan.js').SetupPlan} plan
 * @returns {Right[]} beside those to look
 */
export function rightsToSetUp({ root, intermediate, mounts, policy, roles }) {
  const paths = (/** @type {string} */ mount, /** @type {Record<string, string[]>} */ rights) =>
    Object.entries(rights).map(([path, able]) => ({ path: `${mount}/${path}`, able }));
  const pki = { 'config/urls': ['read', 'update'], 'config/issuers': ['read'] };
  return [
    ...mounts.map(({ kind, path }) => ({
      path: `sys/${kind}/${path}`,
      able: kind === 'auth' ? ['update', 'sudo'] : ['update'],
    })),
    ...paths(root, {
      ...pki,
      'root/generate/internal': ['update'],
      'root/sign-intermediate': ['update'],
      'cert/ca': [],
    }),
    ...paths(intermediate, {
      ...pki,
      'intermediate/generate/internal': ['update'],
      'intermediate/set-signed': ['update'],
      'config/crl': ['read', 'update'],
      roles: ['list'],
      ...Object.fromEntries(Object.keys(roles).map((role) => [`roles/${role}`, ['update']])),
    }),
    ...mounts.flatMap((mount) => {
      const path = fullPath(mount);
      if (mount.type === 'kv') return paths(path, { config: ['read'] });
      if (mount.type === 'transit')
        return paths(path, { keys: ['list'], [`keys/${KEY}`]: ['create', 'update'] });
      if (mount.type === 'approle')
        return paths(path, { role: ['list'], [`role/${ROLE}`]: ['create', 'update'] });
      return [];
    }),
    { path: `sys/policies/acl/${policy}`, able: ['create', 'update'] },
  ].filter(({ able }) => able.length > 0);
}

/**
 * @param {import('./find-existing.js').Existing} there
 * @param {string} name
 * @returns {Right[]} to take away what is ours of it
 */
export function rightsToTearDown({ mounts, policy }, name) {
  return [
    ...mounts
      .filter(({ isOurs }) => isOurs)
      .map(({ kind, path }) => ({
        path: `sys/${kind}/${path}`,
        able: kind === 'auth' ? ['delete', 'sudo'] : ['delete'],
      })),
    ...(policy?.isOurs ? [{ path: `sys/policies/acl/${name}`, able: ['delete'] }] : []),
  ];
}

/**
 * A token that may not ask what it may do (`sys/capabilities-self` is in the default policy) goes on, and meets refusals one by one.
 *
 * @param {import('../client.js').VaultClient} client
 * @param {readonly Right[]} rights
 * @param {string} what that needs them, e.g. `setup`
 * @throws {PkiLoadError} code `missing_rights`
 */
export async function checkRights(client, rights, what) {
  if (rights.length === 0) return;
  const answer = await capabilities(
    client,
    rights.map(({ path }) => path),
  );
  if (answer === null) return;
  const missing = rights.flatMap(({ path, able }) => {
    const has = [answer[path] ?? []].flat();
    const lacks = has.includes('root') ? [] : able.filter((one) => !has.includes(one));
    return lacks.length === 0 ? [] : [{ path, able, lacks }];
  });
  if (missing.length === 0) return;
  const said = missing.map(({ path, lacks }) => `${lacks.join(' and ')} on ${path}`);
  const rules = missing.map(({ path, able }) => `path "${path}" { capabilities = ${JSON.stringify(able)} }`);
  throw targetError(
    'missing_rights',
    `The token may not do what ${what} needs; it lacks ${said.join(', ')}.`,
    `Nothing was changed. Use a token whose policy has: ${rules.join(' ')}`,
  );
}

/**
 * @param {import('../client.js').VaultClient} client
 * @param {string[]} paths
 * @returns {Promise<Record<string, any> | null>} null: not told
 */
async function capabilities(client, paths) {
  try {
    return (await client.write('sys/capabilities-self', { paths })).data;
  } catch (error) {
    if (error instanceof PkiLoadError && error.code === 'vault_permission_denied') return null;
    throw error;
  }
}
