/** Removes what `setup` created and killed runs left. Reports objects without its mark, and leaves them. */
import { EXIT, PkiLoadError } from '../../common/errors.js';
import { visibleText } from '../../common/visible-text.js';
import { checkHealth } from '../check-target.js';
import { checkRights, findExisting, rightsToLook, rightsToTearDown } from './inspect.js';
import { checkName } from './setup-plan.js';

/** @import { VaultClient } from '../client.js' */
/** @import { Existing, FoundMount } from './inspect.js' */

/** @typedef {{kind: 'mount' | 'auth' | 'policy', path: string, type?: string}} Item `path`: below `/v1/`; of a policy, its name */
/** @typedef {{gone: Item[], left: (Item & {why: string})[]}} TeardownReport */

const KINDS = /** @type {const} */ ({ mounts: 'mount', auth: 'auth' });

/** Content removed with a mount. @type {Readonly<Record<string, string>>} */
const CONTENTS = Object.freeze({
  pki: 'with its CA and all certificates, roles and leases',
  kv: 'with all its secrets',
  transit: 'with its keys',
  approle: 'with its roles; tokens that it issued are revoked',
});

/**
 * @param {VaultClient} client @param {string} name of the set-up
 * @param {(text: string) => void} say receives a sentence on each removal, and on what is left
 * @returns {Promise<boolean>} nothing is left at the names of the set-up
 */
export async function tearDown(client, name, say) {
  const { left } = await takeAway(client, name, say, { gone: [], left: [] }, false);
  return left.length === 0;
}

/**
 * Continues after a removal that fails.
 * @param {VaultClient} client @param {string} name of the set-up @param {(text: string) => void} say
 * @param {TeardownReport} [report] filled step by step; complete even where this throws
 * @param {boolean} [withRuns] also removes the mounts of killed runs
 */
export async function takeAway(client, name, say, report = { gone: [], left: [] }, withRuns = true) {
  checkName(name);
  await checkHealth(client, { namespace: client.namespace, isStandbyFine: true });
  await checkRights(client, rightsToLook(name), 'teardown');
  const existing = await findExisting(client, name);
  await checkRights(client, rightsToTearDown(existing, name), 'teardown');
  const candidates = candidatesOf({ ...existing, ofRuns: withRuns ? existing.ofRuns : [] }, name);
  for (const { item, label, path, details, why: known } of candidates) {
    const why = known ?? (await remove(client, path));
    if (why === null) report.gone.push(item);
    else report.left.push({ ...item, why });
    say(why === null ? `Removed ${label}${details}.` : `Left ${label}: ${why}`);
  }
  return report;
}

/** @param {VaultClient} client @param {string} path @returns {Promise<string | null>} why it could not be removed; null: it was */
async function remove(client, path) {
  try {
    await client.remove(path);
    return null;
  } catch (error) {
    if (!(error instanceof PkiLoadError) || error.exitCode === EXIT.interrupted) throw error;
    return `it could not be removed. ${error.full}`;
  }
}

/** @param {Existing} existing @param {string} name in the order of removal; `why` it stays, null: it is removed */
function candidatesOf({ mounts, moved, policy, ofRuns }, name) {
  // Auth methods first, which ends what their tokens do; then the intermediate before the root that signed it.
  const rank = (/** @type {FoundMount} */ { kind, path }) =>
    kind === 'auth' ? 0 : path.endsWith('-root') ? 2 : 1;
  const candidate = (/** @type {FoundMount} */ found, /** @type {string} */ details, why = '') => ({
    item: { kind: KINDS[found.kind], path: found.full, type: found.type },
    label: visibleText(`${found.full} (${found.type})`),
    path: `sys/${found.kind}/${found.path}`,
    details,
    why: why === '' ? null : why,
  });
  const ofPolicy = {
    item: { kind: /** @type {const} */ ('policy'), path: name },
    label: `the policy ${name}`,
    path: `sys/policies/acl/${name}`,
    details: '',
    why: policy?.isOurs ? null : 'it does not carry the mark of setup.',
  };
  const unmarked = 'it does not carry the mark of setup in its description.';
  return [
    ...mounts
      .sort((a, b) => rank(a) - rank(b))
      .map((mount) => candidate(mount, `, ${CONTENTS[mount.type]}`, mount.isOurs ? '' : unmarked)),
    ...moved.map((mount) => candidate(mount, '', 'it has the mark of setup, but was moved here.')),
    ...(policy === null ? [] : [ofPolicy]),
    ...ofRuns.map((mount) => candidate(mount, ', which a run created and did not remove')),
  ];
}
