/** Removes what `setup` created, and nothing else: items without its mark are left and reported. */
import { EXIT, PkiLoadError } from '../../common/errors.js';
import { checkHealth } from '../check-target.js';
import { checkRights, findExisting, rightsToLook, rightsToTearDown } from './inspect.js';
import { checkName } from './setup-plan.js';

/** @import { VaultClient } from '../client.js' */
/** @import { FoundMount } from './inspect.js' */

/** @typedef {{kind: 'mount' | 'auth' | 'policy', path: string, type?: string}} Item `path`: below `/v1/`; of a policy, its name */
/** @typedef {{gone: Item[], left: (Item & {why: string})[]}} TeardownReport */

/** What goes with a mount. @type {Readonly<Record<string, string>>} */
const HELD = Object.freeze({
  pki: 'with its CA and all certificates, roles and leases',
  kv: 'with all its secrets',
  transit: 'with its keys',
  approle: 'with its roles, and the tokens that it gave are revoked',
});

/**
 * @param {VaultClient} client
 * @param {string} name of the set-up
 * @param {(text: string) => void} say reports each removal, or what is left, in a sentence
 * @returns {Promise<boolean>} nothing is left at the names of the set-up
 */
export async function tearDown(client, name, say) {
  return (await takeAway(client, name, say)).left.length === 0;
}

/**
 * @param {VaultClient} client
 * @param {string} name of the set-up
 * @param {(text: string) => void} say
 * @param {TeardownReport} [report] filled step by step; complete even where this throws
 * @returns {Promise<TeardownReport>}
 */
export async function takeAway(client, name, say, report = { gone: [], left: [] }) {
  checkName(name);
  await checkHealth(client, { namespace: client.namespace, isStandbyFine: true });
  await checkRights(client, rightsToLook(name), 'teardown');
  const there = await findExisting(client, name);
  await checkRights(client, rightsToTearDown(there, name), 'teardown');
  const leave = (/** @type {Item} */ item, /** @type {string} */ what, /** @type {string} */ why) => {
    report.left.push({ ...item, why });
    say(`Left ${what}: ${why}`);
  };
  // Auth methods first: what their tokens do ends, then the intermediate before the root that signed it.
  for (const { kind, path, full, type, isOurs, found } of [...there.mounts].sort(teardownOrder)) {
    /** @type {Item} */
    const item = { kind: kind === 'auth' ? 'auth' : 'mount', path: full, type: found.type };
    const what = `${full} (${found.type})`;
    if (!isOurs)
      leave(item, what, 'it does not carry the mark of setup in its description, so it is not ours.');
    else if (await remove(client, `sys/${kind}/${path}`, (why) => leave(item, what, why))) {
      report.gone.push(item);
      say(`Removed ${what}, ${HELD[type]}.`);
    }
  }
  for (const full of there.moved) {
    /** @type {Item} */
    const item = { kind: full.startsWith('auth/') ? 'auth' : 'mount', path: full };
    leave(item, full, 'it carries the mark of setup, but somebody moved it here.');
  }
  /** @type {Item} */
  const policy = { kind: 'policy', path: name };
  if (there.policy?.isOurs === false) {
    leave(policy, `the policy ${name}`, 'it does not begin with the mark of setup, so it is not ours.');
  } else if (there.policy !== null) {
    if (await remove(client, `sys/policies/acl/${name}`, (why) => leave(policy, `the policy ${name}`, why))) {
      report.gone.push(policy);
      say(`Removed the policy ${name}.`);
    }
  }
  return report;
}

/** @param {FoundMount} a @param {FoundMount} b */
function teardownOrder(a, b) {
  const rank = (/** @type {FoundMount} */ { kind, path }) =>
    kind === 'auth' ? 0 : path.endsWith('-root') ? 2 : 1;
  return rank(a) - rank(b);
}

/**
 * A refusal of one thing does not keep the others there.
 *
 * @param {VaultClient} client
 * @param {string} path
 * @param {(why: string) => void} leave
 * @returns {Promise<boolean>} it is gone
 */
async function remove(client, path, leave) {
  try {
    await client.remove(path);
    return true;
  } catch (error) {
    if (!(error instanceof PkiLoadError) || error.exitCode === EXIT.interrupted) throw error;
    leave(`it could not be removed. ${error.full}`);
    return false;
  }
}
