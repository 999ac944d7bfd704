/** Checks before setup or teardown changes anything: existing mounts and policy of the name, and capabilities of the token. */
import { targetError, usageError } from '../../common/errors.js';
import { sanitizeText } from '../../common/sanitize.js';
import { readCapabilities, recordOf, textOf, unlessRefused } from '../client.js';
import { isOwnMount } from '../own-mount.js';
import { CONTENT_NAME, CONTENTS, grant, markOf, mountApi, otherName, possibleMounts } from './setup-plan.js';
/** @import { VaultClient } from '../client.js' */
/** @import { MountItem, Grant, SetupPlan } from './setup-plan.js' */

/** @typedef {Awaited<ReturnType<typeof findExisting>>} Existing */

/** @param {VaultClient} client @param {string} name of the setup */
export async function findExisting(client, name) {
  const mark = markOf(name);
  const possible = new Map(possibleMounts(name).map(({ path, type }) => [path, type]));
  const found = [...(await listMounts(client, 'mount')), ...(await listMounts(client, 'auth'))];
  const policy = await unlessRefused(client.read(`sys/policies/acl/${name}`), 'vault_not_found');
  const text = textOf(policy?.data?.policy);
  return {
    /** At the paths of the setup. */
    mounts: found.flatMap((mount) => {
      const type = possible.get(mount.path);
      const isOurs = mount.description === mark && mount.type === type;
      return type === undefined ? [] : [{ ...mount, isOurs }];
    }),
    policy: policy === null ? null : { text, isOurs: text.startsWith(`# ${mark}\n`) },
    /** Marked, but at other paths. */
    moved: found.filter(({ path, description }) => description === mark && !possible.has(path)),
    ofRuns: found.filter(isOwnMount),
    all: found,
  };
}

/** @param {VaultClient} client @param {MountItem['kind']} kind */
async function listMounts(client, kind) {
  const [list, prefix] = kind === 'auth' ? ['sys/auth', 'auth/'] : ['sys/mounts', ''];
  const { data } = await client.read(list);
  return Object.entries(recordOf(data)).map(([key, mount]) => {
    const { type, description } = recordOf(mount);
    const path = prefix + key.replace(/\/$/, '');
    return { kind, path, type: sanitizeText(textOf(type)).slice(0, 40), description: textOf(description) };
  });
}

/** @param {Existing} existing @param {SetupPlan} plan @throws {PkiLoadError} code `not_ours` */
export function refuseOthers({ mounts, policy, all }, plan) {
  // Vault allows no mount below another.
  const isInWay = (/** @type {{path: string}} */ { path }) =>
    plan.mounts.some((own) => path.startsWith(`${own.path}/`) || own.path.startsWith(`${path}/`));
  const foreign = [...mounts.filter(({ isOurs }) => !isOurs), ...all.filter(isInWay)];
  const others = foreign.map(({ path, type }) => `a mount ${path} (${type})`);
  if (policy?.isOurs === false) others.push(`a policy ${plan.name}`);
  if (others.length === 0) return;
  const message = `There is already ${others.join(' and ')}, not created by setup --name ${plan.name}.`;
  throw usageError('not_ours', message, `Nothing was changed. Choose ${otherName(plan)}.`);
}

/** Grants that findExisting needs. @param {string} name of the setup */
export function grantsToInspect(name) {
  return ['sys/mounts', 'sys/auth', `sys/policies/acl/${name}`].map((path) => grant(path, 'read'));
}

/** Auth methods also need sudo. @param {Pick<MountItem, 'kind' | 'path'>} mount @param {'update' | 'delete'} capability */
const mountGrant = (mount, capability) =>
  grant(mountApi(mount), capability, ...(mount.kind === 'auth' ? ['sudo'] : []));

/** @param {SetupPlan} plan @returns {Grant[]} in addition to those of `grantsToInspect` */
export function grantsToSetUp({ root, intermediate, mounts, policy, roles }) {
  const authorities = [root, intermediate].flatMap((mount) => [
    grant(`${mount}/config/urls`, 'read', 'update'),
    grant(`${mount}/config/issuers`, 'read'),
  ]);
  return [
    ...mounts.map((mount) => mountGrant(mount, 'update')),
    ...authorities,
    grant(`${root}/root/generate/internal`, 'update'),
    grant(`${root}/root/sign-intermediate`, 'update'),
    grant(`${intermediate}/intermediate/generate/internal`, 'update'),
    grant(`${intermediate}/intermediate/set-signed`, 'update'),
    grant(`${intermediate}/config/crl`, 'read', 'update'),
    grant(`${intermediate}/roles`, 'list'),
    ...Object.keys(roles).map((role) => grant(`${intermediate}/roles/${role}`, 'update')),
    ...mounts.flatMap(({ path, type }) => {
      if (type === 'kv') return [grant(`${path}/config`, 'read')];
      if (CONTENTS[type] === undefined) return [];
      const list = `${path}/${CONTENTS[type].list}`;
      return [grant(list, 'list'), grant(`${list}/${CONTENT_NAME}`, 'create', 'update')];
    }),
    grant(`sys/policies/acl/${policy}`, 'create', 'update'),
  ];
}

/** @param {Existing} existing @param {string} name @returns {Grant[]} to remove its marked mounts and policy */
export function grantsToTearDown({ mounts, policy }, name) {
  return [
    ...mounts.filter(({ isOurs }) => isOurs).map((mount) => mountGrant(mount, 'delete')),
    ...(policy?.isOurs ? [grant(`sys/policies/acl/${name}`, 'delete')] : []),
  ];
}

/**
 * Passes if the token may not read its capabilities: Vault then refuses the requests themselves.
 * @param {VaultClient} client @param {readonly Grant[]} grants @param {string} command that needs them
 * @throws {PkiLoadError} code `missing_capabilities`
 */
export async function checkGrants(client, grants, command) {
  const paths = grants.map(({ path }) => path);
  const held = paths.length === 0 ? null : await readCapabilities(client, paths);
  if (held === null) return;
  const missing = grants.flatMap(({ path, capabilities }) => {
    const { [path]: has } = held;
    const lacks = has.includes('root') ? [] : capabilities.filter((capability) => !has.includes(capability));
    return lacks.length === 0 ? [] : [{ path, capabilities, lacks }];
  });
  if (missing.length === 0) return;
  const lacking = missing.map(({ path, lacks }) => `${lacks.join(' and ')} on ${path}`);
  const rules = missing.map(
    ({ path, capabilities }) => `path "${path}" { capabilities = ${JSON.stringify(capabilities)} }`,
  );
  const message = `The token lacks capabilities that ${command} needs: ${lacking.join(', ')}.`;
  const remedy = `Nothing was changed. Use a token whose policy has: ${rules.join(' ')}`;
  throw targetError('missing_capabilities', message, remedy);
}
