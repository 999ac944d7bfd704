/** What is there already: looked at before anything is made or removed, and held against the marks of a set-up. */
import { PkiLoadError, usageError } from '../../common/errors.js';
import { describe, fullPath, otherName, possibleMounts } from './setup-plan.js';

/** @typedef {import('../client.js').VaultClient} VaultClient */
/** @typedef {import('./setup-plan.js').Mount} Mount */
/** @typedef {Mount & {full: string, isOurs: boolean, found: {type: string, description: string}}} FoundMount `full`: its path below `/v1/` */
/**
 * @typedef {object} Existing
 * @property {FoundMount[]} mounts at the paths of the set-up, whoever made them
 * @property {{isOurs: boolean, text: string} | null} policy
 * @property {string[]} moved full paths of mounts that carry the mark, but are elsewhere
 */

/**
 * @param {VaultClient} client
 * @param {string} name of the set-up
 * @returns {Promise<Existing>}
 */
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

/**
 * @param {Existing} there
 * @param {import('./setup-plan.js').SetupPlan} plan
 * @throws {PkiLoadError} code `not_ours`
 */
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
 * @param {import('./setup-plan.js').Kind} kind
 * @returns {Promise<Record<string, any>>} by path, with a slash at the end
 */
async function mountsOf(client, kind) {
  return (await client.read(`sys/${kind}`)).data ?? {};
}

/**
 * @param {VaultClient} client
 * @param {string} name
 * @returns {Promise<string | null>} null: there is none
 */
async function readPolicy(client, name) {
  try {
    return String((await client.read(`sys/policies/acl/${name}`)).data?.policy ?? '');
  } catch (error) {
    if (error instanceof PkiLoadError && error.code === 'vault_not_found') return null;
    throw error;
  }
}
