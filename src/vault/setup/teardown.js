/** Removes mounts and policy of `setup`, and mounts that killed runs left. Leaves and reports objects without its mark. */
import { EXIT, PkiLoadError } from '../../common/errors.js';
import { visibleText } from '../../common/visible-text.js';
import { checkHealth } from '../check-target.js';
import { checkRights, findExisting, rightsToLook, rightsToTearDown } from './inspect.js';
import { checkName, mountApi } from './setup-plan.js';

/** @import { VaultClient } from '../client.js' */
/** @import { Existing, FoundMount } from './inspect.js' */
/** @import { MountItem } from './setup-plan.js' */

/** `path` of a policy: its name @typedef {MountItem | {kind: 'policy', path: string}} Item */
/** @typedef {{gone: Item[], left: (Item & {why: string})[]}} TeardownReport */

/** Content removed with a mount. @type {Readonly<Record<string, string>>} */
const CONTENTS = Object.freeze({
  pki: 'with its CA and all certificates, roles and leases',
  kv: 'with all its secrets',
  transit: 'with its keys',
  approle: 'with its roles; tokens that it issued are revoked',
});

/**
 * Continues after a failed removal.
 * @param {VaultClient} client @param {string} name of the set-up
 * @param {(text: string) => void} say receives a sentence on each removal and each object left
 * @param {TeardownReport} [report] filled step by step; complete even if this throws
 * @param {boolean} [withRuns] also removes the mounts of killed runs
 * @returns {Promise<boolean>} nothing is left
 */
export async function tearDown(client, name, say, report = { gone: [], left: [] }, withRuns = false) {
  checkName(name);
  await checkHealth(client, { namespace: client.namespace, isStandbyFine: true });
  await checkRights(client, rightsToLook(name), 'teardown');
  const existing = await findExisting(client, name);
  await checkRights(client, rightsToTearDown(existing, name), 'teardown');
  const candidates = candidatesOf({ ...existing, ofRuns: withRuns ? existing.ofRuns : [] }, name);
  for (const { item, label, details, why: known } of candidates) {
    const path = item.kind === 'policy' ? `sys/policies/acl/${name}` : mountApi(item);
    const why = known ?? (await remove(client, path));
    if (why === null) report.gone.push(item);
    else report.left.push({ ...item, why });
    say(why === null ? `Removed ${label}${details}.` : `Left ${label}: ${why}`);
  }
  return report.left.length === 0;
}

/** @param {VaultClient} client @param {string} path @returns {Promise<string | null>} why it could not be removed; null: removed */
async function remove(client, path) {
  try {
    await client.remove(path);
    return null;
  } catch (error) {
    if (!(error instanceof PkiLoadError) || error.exitCode === EXIT.interrupted) throw error;
    return `it could not be removed. ${error.full}`;
  }
}

/**
 * @param {Existing} existing @param {string} name
 * @returns {{item: Item, label: string, details: string, why: string | null}[]} in the order of removal; `why` it stays, null:
 *   to be removed
 */
function candidatesOf({ mounts, moved, policy, ofRuns }, name) {
  // Auth methods first, which revokes their tokens; then the intermediate before the root that signed it.
  const rank = (/** @type {FoundMount} */ { kind, path }) =>
    kind === 'auth' ? 0 : path.endsWith('-root') ? 2 : 1;
  const candidate = (
    /** @type {FoundMount} */ { kind, path, type },
    details = '',
    /** @type {string | null} */ why = null,
  ) => ({ item: { kind, path, type }, label: visibleText(`${path} (${type})`), details, why });
  const unmarked = (/** @type {boolean} */ isOurs) =>
    isOurs ? null : 'it does not carry the mark of setup.';
  /** @type {Item} */
  const policyItem = { kind: 'policy', path: name };
  const label = `the policy ${name}`;
  return [
    ...mounts
      .sort((a, b) => rank(a) - rank(b))
      .map((mount) => candidate(mount, `, ${CONTENTS[mount.type]}`, unmarked(mount.isOurs))),
    ...moved.map((mount) => candidate(mount, '', 'it has the mark of setup, but was moved here.')),
    ...(policy === null ? [] : [{ item: policyItem, label, details: '', why: unmarked(policy.isOurs) }]),
    ...ofRuns.map((mount) => candidate(mount, ', which a run created and did not remove')),
  ];
}
