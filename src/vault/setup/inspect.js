/** Before anything is made or removed: what exists, whether it is ours, and whether the token has all the rights needed. */
import { PkiLoadError, targetError, usageError } from '../../common/errors.js';
import { describe, fullPath, KEY, otherName, possibleMounts, ROLE } from './setup-plan.js';
/** @import { VaultClient } from '../client.js' */
/** @import { Kind, Mount, SetupPlan } from './setup-plan.js' */

/** @typedef {Mount & {full: string, isOurs: boolean, found: {type: string, description: string}}} FoundMount `full`: its path below `/v1/` */
/**
 * @typedef {object} Existing
 * @property {FoundMount[]} mounts at the paths of the set-up, ours or not
 * @property {{isOurs: boolean, text: string} | null} policy
 * @property {string[]} moved full paths of mounts that carry the mark, but are elsewhere
 */

/** @param {VaultClient} client @param {string} name of the set-up @returns {Promise<Existing>} */
export async function findExisting(client, name) {
  const possible = possibleMounts(name);
  const mark = describe(name);
  /** @type {Existing} */
  const there = { mounts: [], policy: null, moved: [] };
  for (const kind of /** @type {const} */ (['mounts', 'auth'])) {
    for (const [path, found] of Object.entries(await mountsOf(client, kind))) {
      const own = path.replace(/\/$/, '');
      const mount = possible.find((one) => one.kind === kind && one.path === own);
      const full = fullPath({ kind, path: own });
      if (mount !== undefined) {
        const isOurs = found.description === mark && found.type === mount.type;
        there.mounts.push({ ...mount, full, isOurs, found });
      } else if (found.description === mark) there.moved.push(full);
    }
  }
  const text = await readPolicy(client, name);
  if (text !== null) there.policy = { isOurs: text.startsWith(`# ${mark}\n`), text };
  return there;
}

/** @param {Existing} there @param {SetupPlan} plan @throws {PkiLoadError} code `not_ours` */
export function refuseOthers({ mounts, policy }, plan) {
  const { name } = plan;
  const others = mounts
    .filter(({ isOurs }) => !isOurs)
    .map(({ full, found }) => `a mount ${full} (${found.type})`);
  if (policy?.isOurs === false) others.push(`a policy ${name}`);
  if (others.length === 0) return;
  throw usageError(
    'not_ours',
    `There is ${others.join(' and ')} already, which setup --name ${name} did not make.`,
    `Nothing was changed. Choose ${otherName(plan)}.`,
  );
}

/**
 * @param {VaultClient} client
 * @param {Kind} kind
 * @returns {Promise<Record<string, any>>} by path, with a slash at the end
 */
async function mountsOf(client, kind) {
  return (await client.read(`sys/${kind}`)).data ?? {};
}

/** @param {VaultClient} client @param {string} name @returns {Promise<string | null>} null: there is none */
async function readPolicy(client, name) {
  try {
    return String((await client.read(`sys/policies/acl/${name}`)).data?.policy ?? '');
  } catch (error) {
    if (error instanceof PkiLoadError && error.code === 'vault_not_found') return null;
    throw error;
  }
}

/** @typedef {{path: string, able: string[]}} Right all of them */

/** To find what exists. @param {string} name @returns {Right[]} */
export function rightsToLook(name) {
  return [
    { path: 'sys/mounts', able: ['read'] },
    { path: 'sys/auth', able: ['read'] },
    { path: `sys/policies/acl/${name}`, able: ['read'] },
  ];
}

/** @param {SetupPlan} plan @returns {Right[]} beside those to look */
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

/** @param {Existing} there @param {string} name @returns {Right[]} needed to remove our part of it */
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
 * A token without access to `sys/capabilities-self` (it is in the default policy) goes on, and meets refusals one by one.
 *
 * @param {VaultClient} client
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
 * @param {VaultClient} client
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
