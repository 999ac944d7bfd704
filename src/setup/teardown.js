/** Takes away what `setup` made, and nothing else: what does not carry its mark is left, and said. */
import { PkiLoadError } from '../errors.js';
import { describe } from './plan.js';
import { mountsOf, readPolicy } from './setup.js';

/** @typedef {import('../vault/client.js').VaultClient} VaultClient */

/**
 * @param {VaultClient} client
 * @param {string} name of the set-up
 * @param {(text: string) => void} say what was taken away or left, a sentence each
 * @returns {Promise<boolean>} all that was made is gone
 */
export async function tearDown(client, name, say) {
  let isGone = true;
  let found = 0;
  for (const kind of /** @type {const} */ (['mounts', 'auth'])) {
    for (const [path, { description }] of Object.entries(await mountsOf(client, kind))) {
      if (description !== describe(name)) continue;
      found++;
      const own = path.replace(/\/$/, '');
      const full = kind === 'auth' ? `auth/${own}` : own;
      isGone = (await remove(client, `sys/${kind}/${own}`, full, say)) && isGone;
    }
  }
  const policy = await readPolicy(client, name);
  if (policy?.includes(`# ${describe(name)}`)) {
    found++;
    isGone = (await remove(client, `sys/policies/acl/${name}`, `the policy ${name}`, say)) && isGone;
  } else if (policy !== null) say(`Left the policy ${name}: it was not made by setup.`);
  if (found === 0) say(`There is nothing of a set-up called ${name}.`);
  return isGone;
}

/**
 * @param {VaultClient} client
 * @param {string} path
 * @param {string} what
 * @param {(text: string) => void} say
 */
async function remove(client, path, what, say) {
  try {
    await client.remove(path);
    say(`Took away ${what}.`);
    return true;
  } catch (error) {
    if (!(error instanceof PkiLoadError)) throw error;
    say(`Could not take away ${what}: ${error.full}`);
    return false;
  }
}
