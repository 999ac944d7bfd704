/** Removes what `setup` created, and what killed runs left: objects without our mark are left and reported. */
import { EXIT, PkiLoadError } from '../../common/errors.js';
import { visibleText } from '../../common/visible-text.js';
import { checkHealth } from '../check-target.js';
import { checkRights, findExisting, rightsToLook, rightsToTearDown } from './inspect.js';
import { checkName } from './setup-plan.js';

/** @import { VaultClient } from '../client.js' */
/** @import { Existing, FoundMount } from './inspect.js' */

/** @typedef {{kind: 'mount' | 'auth' | 'policy', path: string, type?: string}} Item `path`: below `/v1/`; of a policy, its name */
/** @typedef {{gone: Item[], left: (Item & {why: string})[]}} TeardownReport */

/** Removed together with a mount. @type {Readonly<Record<string, string>>} */
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
  const report = { gone: [], left: [] };
  const { ofRuns: _, ...existing } = await find(client, name);
  await remove(client, candidatesOf({ ...existing, ofRuns: [] }, name), say, report);
  return report.left.length === 0;
}

/**
 * Removes the mounts of killed runs, too.
 * @param {VaultClient} client @param {string} name of the set-up @param {(text: string) => void} say
 * @param {TeardownReport} [report] filled step by step; complete even where this throws
 */
export async function takeAway(client, name, say, report = { gone: [], left: [] }) {
  await remove(client, candidatesOf(await find(client, name), name), say, report);
  return report;
}

/** @param {VaultClient} client @param {string} name */
async function find(client, name) {
  checkName(name);
  await checkHealth(client, { namespace: client.namespace, isStandbyFine: true });
  await checkRights(client, rightsToLook(name), 'teardown');
  const existing = await findExisting(client, name);
  await checkRights(client, rightsToTearDown(existing, name), 'teardown');
  return existing;
}

/** @typedef {{item: Item, label: string, path: string, details?: string, why?: string | null}} Candidate `why` it stays; none: it is removed */

/** @param {Existing} existing @param {string} name @returns {Candidate[]} in the order in which they are removed */
function candidatesOf({ mounts, moved, policy, ofRuns }, name) {
  // Auth methods first, which ends what their tokens do; then the intermediate before the root that signed it.
  const rank = (/** @type {FoundMount} */ { kind, path }) =>
    kind === 'auth' ? 0 : path.endsWith('-root') ? 2 : 1;
  const candidate = (/** @type {FoundMount} */ { kind, path, full, type }) => ({
    item: {
      kind: kind === 'auth' ? /** @type {const} */ ('auth') : /** @type {const} */ ('mount'),
      path: full,
      type,
    },
    label: visibleText(`${full} (${type})`),
    path: `sys/${kind}/${path}`,
  });
  /** @type {Candidate[]} */
  const policies =
    policy === null
      ? []
      : [
          {
            item: { kind: 'policy', path: name },
            label: `the policy ${name}`,
            path: `sys/policies/acl/${name}`,
            why: policy.isOurs ? null : 'it does not begin with the mark of setup, so it is not ours.',
          },
        ];
  return [
    ...mounts
      .sort((a, b) => rank(a) - rank(b))
      .map((mount) => ({
        ...candidate(mount),
        details: `, ${CONTENTS[mount.type]}`,
        why: mount.isOurs
          ? null
          : 'it does not carry the mark of setup in its description, so it is not ours.',
      })),
    ...moved.map((mount) => ({
      ...candidate(mount),
      why: 'it carries the mark of setup, but was moved here.',
    })),
    ...policies,
    ...ofRuns.map((mount) => ({
      ...candidate(mount),
      details: ', which a run made for itself and did not remove',
    })),
  ];
}

/**
 * A failed removal does not keep the others.
 * @param {VaultClient} client @param {Candidate[]} candidates @param {(text: string) => void} say @param {TeardownReport} report
 */
async function remove(client, candidates, say, report) {
  for (const { item, label, path, details = '', why: known = null } of candidates) {
    let why = known;
    try {
      if (why === null) await client.remove(path);
    } catch (error) {
      if (!(error instanceof PkiLoadError) || error.exitCode === EXIT.interrupted) throw error;
      why = `it could not be removed. ${error.full}`;
    }
    if (why === null) report.gone.push(item);
    else report.left.push({ ...item, why });
    say(why === null ? `Removed ${label}${details}.` : `Left ${label}: ${why}`);
  }
}
