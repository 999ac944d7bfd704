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
  await removeSetup(await find(client, name), name, createRemover(client, say, report));
  return report.left.length === 0;
}

/**
 * Removes the mounts of killed runs, too.
 * @param {VaultClient} client @param {string} name of the set-up @param {(text: string) => void} say
 * @param {TeardownReport} [report] filled step by step; complete even where this throws
 */
export async function takeAway(client, name, say, report = { gone: [], left: [] }) {
  const existing = await find(client, name);
  const remover = createRemover(client, say, report);
  await removeSetup(existing, name, remover);
  for (const mount of existing.ofRuns) {
    await remover.remove(
      itemOf(mount),
      labelOf(mount),
      pathOf(mount),
      ', which a run made for itself and did not remove',
    );
  }
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

/** @param {VaultClient} client @param {(text: string) => void} say @param {TeardownReport} report */
function createRemover(client, say, report) {
  const leave = (/** @type {Item} */ item, /** @type {string} */ label, /** @type {string} */ why) => {
    report.left.push({ ...item, why });
    say(`Left ${label}: ${why}`);
  };
  return {
    leave,
    /**
     * A failed removal does not keep the others.
     * @param {Item} item @param {string} label @param {string} path @param {string} [details]
     */
    async remove(item, label, path, details = '') {
      try {
        await client.remove(path);
      } catch (error) {
        if (!(error instanceof PkiLoadError) || error.exitCode === EXIT.interrupted) throw error;
        return leave(item, label, `it could not be removed. ${error.full}`);
      }
      report.gone.push(item);
      say(`Removed ${label}${details}.`);
    },
  };
}

/** @param {Existing} existing @param {string} name @param {ReturnType<typeof createRemover>} remover */
async function removeSetup(existing, name, { leave, remove }) {
  // Auth methods first, which ends what their tokens do; then the intermediate before the root that signed it.
  const rank = (/** @type {FoundMount} */ { kind, path }) =>
    kind === 'auth' ? 0 : path.endsWith('-root') ? 2 : 1;
  for (const mount of existing.mounts.sort((a, b) => rank(a) - rank(b))) {
    if (mount.isOurs) await remove(itemOf(mount), labelOf(mount), pathOf(mount), `, ${CONTENTS[mount.type]}`);
    else
      leave(
        itemOf(mount),
        labelOf(mount),
        'it does not carry the mark of setup in its description, so it is not ours.',
      );
  }
  for (const mount of existing.moved)
    leave(itemOf(mount), labelOf(mount), 'it carries the mark of setup, but was moved here.');
  /** @type {Item} */
  const policy = { kind: 'policy', path: name };
  if (existing.policy?.isOurs) await remove(policy, `the policy ${name}`, `sys/policies/acl/${name}`);
  else if (existing.policy !== null)
    leave(policy, `the policy ${name}`, 'it does not begin with the mark of setup, so it is not ours.');
}

/** @param {FoundMount} mount @returns {Item} */
function itemOf({ kind, full, type }) {
  return { kind: kind === 'auth' ? 'auth' : 'mount', path: full, type };
}

/** @param {FoundMount} mount */
function labelOf({ full, type }) {
  return visibleText(`${full} (${type})`);
}

/** @param {FoundMount} mount */
function pathOf({ kind, path }) {
  return `sys/${kind}/${path}`;
}
