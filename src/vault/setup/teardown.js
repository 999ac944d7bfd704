/** Removes mounts and policy of `setup`, and leftovers of killed runs. Keeps and reports objects without its mark. */
import { EXIT, PkiLoadError } from '../../common/errors.js';
import { sanitizeText } from '../../common/sanitize.js';
import { checkHealth } from '../check-target.js';
import { checkGrants, findExisting, grantsToInspect, grantsToTearDown } from './inspect.js';
import { checkName, mountApi } from './setup-plan.js';

/** @import { VaultClient } from '../client.js' */
/** @import { Existing } from './inspect.js' */
/** @import { MountItem } from './setup-plan.js' */

/** `path` of a policy: its name @typedef {MountItem | {kind: 'policy', path: string}} Item */
/** @typedef {{removed: Item[], remaining: (Item & {why: string})[]}} TeardownReport */

/** Content removed with a mount. @type {Readonly<Record<string, string>>} */
const CONTENTS = Object.freeze({
  pki: 'with its CA and all certificates, roles and leases',
  kv: 'with all its secrets',
  transit: 'with its keys',
  approle: 'with its roles; tokens that it issued are revoked',
});

/**
 * Continues after a failed removal.
 * @param {VaultClient} client @param {string} name of the setup
 * @param {(text: string) => void} log receives a sentence on each removal and each object left
 * @param {TeardownReport} [report] filled step by step; complete even if this throws
 * @param {boolean} [withRuns] also removes the mounts of killed runs
 * @returns {Promise<boolean>} nothing is left
 */
export async function tearDown(client, name, log, report = { removed: [], remaining: [] }, withRuns = false) {
  checkName(name);
  await checkHealth(client, { namespace: client.namespace, acceptsStandby: true });
  await checkGrants(client, grantsToInspect(name), 'teardown');
  const existing = await findExisting(client, name);
  await checkGrants(client, grantsToTearDown(existing, name), 'teardown');
  const candidates = candidatesOf({ ...existing, ofRuns: withRuns ? existing.ofRuns : [] }, name);
  for (const [item, whyLeft, details] of candidates) {
    const [path, label] =
      item.kind === 'policy'
        ? [`sys/policies/acl/${name}`, `the policy ${name}`]
        : [mountApi(item), sanitizeText(`${item.path} (${item.type})`)];
    const why = whyLeft ?? (await remove(client, path));
    if (why === null) report.removed.push(item);
    else report.remaining.push({ ...item, why });
    log(why === null ? `Removed ${label}${details}.` : `Left ${label}: ${why}`);
  }
  return report.remaining.length === 0;
}

/** @param {VaultClient} client @param {string} path @returns {Promise<string | null>} why it could not be removed; null: removed */
async function remove(client, path) {
  // In JSON it replaces invalid bytes: the request would reach another mount, or none.
  if (path.includes('\ufffd'))
    return 'its name is not valid UTF-8. Remove it with vault secrets disable or vault auth disable.';
  try {
    await client.remove(path);
    return null;
  } catch (error) {
    if (!(error instanceof PkiLoadError) || error.exitCode === EXIT.interrupted) throw error;
    return `it could not be removed. ${error.full}`;
  }
}

/** In the order of removal; `whyLeft` null: to be removed. @param {Existing} existing @param {string} name */
function candidatesOf({ mounts, moved, policy, ofRuns }, name) {
  // Auth methods first, which revokes their tokens; then the intermediate before the root that signed it.
  const rank = (/** @type {MountItem} */ { kind, path }) =>
    kind === 'auth' ? 0 : path.endsWith('-root') ? 2 : 1;
  const itemOf = (/** @type {MountItem} */ { kind, path, type }) => ({ kind, path, type });
  /** @type {(item: Item, whyLeft: string | null, details?: string) => [Item, string | null, string]} */
  const tuple = (item, whyLeft, details = '') => [item, whyLeft, details];
  const unmarked = 'it does not carry the mark of setup.';
  mounts.sort((a, b) => rank(a) - rank(b));
  return [
    ...mounts.map((m) => tuple(itemOf(m), m.isOurs ? null : unmarked, `, ${CONTENTS[m.type]}`)),
    ...moved.map((m) => tuple(itemOf(m), 'it has the mark of setup, but was moved here.')),
    ...(policy === null ? [] : [tuple({ kind: 'policy', path: name }, policy.isOurs ? null : unmarked)]),
    ...ofRuns.map((m) => tuple(itemOf(m), null, ', which a run created and did not remove')),
  ];
}
