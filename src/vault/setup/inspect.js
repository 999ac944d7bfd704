/** Before setup or teardown changes anything: mounts and policy at the names of the set-up, and rights of the token. */
import { targetError, usageError } from '../../common/errors.js';
import { visibleText } from '../../common/visible-text.js';
import { readCapabilities, recordOf, textOf, unlessRefused } from '../client.js';
import { isOwnMount } from '../own-mount.js';
import { CONTENTS, fullPath, markOf, otherName, possibleMounts, right } from './setup-plan.js';
/** @import { VaultClient } from '../client.js' */
/** @import { Kind, Right, SetupPlan } from './setup-plan.js' */

/** @typedef {Awaited<ReturnType<typeof listMounts>>[number]} FoundMount */
/** @typedef {Awaited<ReturnType<typeof findExisting>>} Existing */

/** @param {VaultClient} client @param {string} name of the set-up */
export async function findExisting(client, name) {
  const mark = markOf(name);
  const possible = new Map(possibleMounts(name).map((mount) => [fullPath(mount), mount.type]));
  const found = [...(await listMounts(client, 'mounts')), ...(await listMounts(client, 'auth'))];
  const policy = await unlessRefused(client.read(`sys/policies/acl/${name}`), 'vault_not_found');
  const text = textOf(policy?.data?.policy);
  return {
    /** At the paths of the set-up. */
    mounts: found.flatMap((mount) => {
      const type = possible.get(mount.full);
      const isOurs = mount.description === mark && mount.type === type;
      return type === undefined ? [] : [{ ...mount, isOurs }];
    }),
    policy: policy === null ? null : { text, isOurs: text.startsWith(`# ${mark}\n`) },
    /** They carry the mark, but are at other paths. */
    moved: found.filter(({ full, description }) => description === mark && !possible.has(full)),
    ofRuns: found.filter(isOwnMount),
  };
}

/** @param {VaultClient} client @param {Kind} kind */
async function listMounts(client, kind) {
  const { data } = await client.read(`sys/${kind}`);
  return Object.entries(recordOf(data)).map(([key, mount]) => {
    const path = key.replace(/\/$/, '');
    const { type, description } = recordOf(mount);
    const full = fullPath({ kind, path });
    return { kind, path, full, type: visibleText(textOf(type)), description: textOf(description) };
  });
}

/** @param {Existing} existing @param {SetupPlan} plan @throws {PkiLoadError} code `not_ours` */
export function refuseOthers({ mounts, policy }, plan) {
  const others = mounts
    .filter(({ isOurs }) => !isOurs)
    .map(({ full, type }) => `a mount ${full} (${visibleText(type)})`);
  if (policy?.isOurs === false) others.push(`a policy ${plan.name}`);
  if (others.length === 0) return;
  throw usageError(
    'not_ours',
    `There is ${others.join(' and ')} already, which setup --name ${plan.name} did not make.`,
    `Nothing was changed. Choose ${otherName(plan)}.`,
  );
}

/** To find what exists. @param {string} name of the set-up */
export function rightsToLook(name) {
  return ['sys/mounts', 'sys/auth', `sys/policies/acl/${name}`].map((path) => right(path, 'read'));
}

/** Auth methods need sudo, too. @param {{kind: Kind, path: string}} mount @param {'update' | 'delete'} able */
const rightOnMount = ({ kind, path }, able) =>
  right(`sys/${kind}/${path}`, able, ...(kind === 'auth' ? ['sudo'] : []));

/** @param {SetupPlan} plan @returns {Right[]} in addition to those that find what exists */
export function rightsToSetUp({ root, intermediate, mounts, policy, roles }) {
  const authorities = [root, intermediate].flatMap((mount) => [
    right(`${mount}/config/urls`, 'read', 'update'),
    right(`${mount}/config/issuers`, 'read'),
  ]);
  return [
    ...mounts.map((mount) => rightOnMount(mount, 'update')),
    ...authorities,
    right(`${root}/root/generate/internal`, 'update'),
    right(`${root}/root/sign-intermediate`, 'update'),
    right(`${intermediate}/intermediate/generate/internal`, 'update'),
    right(`${intermediate}/intermediate/set-signed`, 'update'),
    right(`${intermediate}/config/crl`, 'read', 'update'),
    right(`${intermediate}/roles`, 'list'),
    ...Object.keys(roles).map((role) => right(`${intermediate}/roles/${role}`, 'update')),
    ...mounts.flatMap((mount) => {
      const path = fullPath(mount);
      if (mount.type === 'kv') return [right(`${path}/config`, 'read')];
      const { [mount.type]: content } = CONTENTS;
      if (content === undefined) return [];
      const { list, name } = content;
      return [right(`${path}/${list}`, 'list'), right(`${path}/${list}/${name}`, 'create', 'update')];
    }),
    right(`sys/policies/acl/${policy}`, 'create', 'update'),
  ];
}

/** @param {Existing} existing @param {string} name @returns {Right[]} needed to remove our part of it */
export function rightsToTearDown({ mounts, policy }, name) {
  return [
    ...mounts.filter(({ isOurs }) => isOurs).map((mount) => rightOnMount(mount, 'delete')),
    ...(policy?.isOurs ? [right(`sys/policies/acl/${name}`, 'delete')] : []),
  ];
}

/**
 * A token that may not read its capabilities is not refused here: Vault refuses its requests one by one.
 * @param {VaultClient} client @param {readonly Right[]} rights @param {string} command that needs them
 * @throws {PkiLoadError} code `missing_rights`
 */
export async function checkRights(client, rights, command) {
  const paths = rights.map(({ path }) => path);
  const capabilities = paths.length === 0 ? null : await readCapabilities(client, paths);
  if (capabilities === null) return;
  const missing = rights.flatMap(({ path, able }) => {
    const { [path]: has } = capabilities;
    const lacks = has.includes('root') ? [] : able.filter((one) => !has.includes(one));
    return lacks.length === 0 ? [] : [{ path, able, lacks }];
  });
  if (missing.length === 0) return;
  const lacking = missing.map(({ path, lacks }) => `${lacks.join(' and ')} on ${path}`);
  const rules = missing.map(({ path, able }) => `path "${path}" { capabilities = ${JSON.stringify(able)} }`);
  throw targetError(
    'missing_rights',
    `The token may not do what ${command} needs; it lacks ${lacking.join(', ')}.`,
    `Nothing was changed. Use a token whose policy has: ${rules.join(' ')}`,
  );
}
