/** What a scenario has set up on each of its targets before anything runs there, and taken away when all is over (`setup`). */

import { PkiLoadError } from '../errors.js';
import { loadTls } from '../http/tls.js';
import { teardownCommand } from '../setup/command.js';
import { planSetup } from '../setup/plan.js';
import { setUp } from '../setup/setup.js';
import { tearDown } from '../setup/teardown.js';
import { createVaultClient } from '../vault/client.js';

/** @typedef {{name: string, plan: import('../plan.js').Plan, token: string | null, tokenEnv?: string | null}} Step */
/** @typedef {NonNullable<import('./read.js').ReadScenario['setup']>} Setup */
/** @typedef {{url: string, steps: number[], connect: () => import('../vault/client.js').VaultClient, remedy: string}} Place */
/** @typedef {import('../setup/setup.js').SetupReport} SetupReport */
/**
 * @typedef {object} System what tests replace
 * @property {typeof setUp} setUp
 * @property {typeof tearDown} tearDown
 * @property {(step: Step) => import('../vault/client.js').VaultClient} connect
 */

/** Taking away a mount takes as long as what is in it takes to be deleted. */
const CALL_TIMEOUT_MS = 600_000;

/**
 * @param {Setup} setup
 * @param {readonly Step[]} steps those with an embedded server of their own need none
 * @param {{say: (text: string) => void, warn: (text: string) => void}} how
 * @param {System} [system]
 */
export function createScenarioSetup(setup, steps, { say, warn }, system = { setUp, tearDown, connect }) {
  const { name, keep } = setup;
  const places = placesOf(name, steps, system.connect);
  /** Where there is something of ours to take away. @type {Place[]} */
  const made = [];
  /** uuids of root mounts that we have made: two addresses may be of one Vault. @type {Set<string | null>} */
  const own = new Set();
  /** @param {Place} place @param {SetupReport} report @param {import('../vault/client.js').VaultClient} client */
  const learn = async (place, report, client) => {
    const wasThere = report.there.some(isMount);
    if (!wasThere && report.made.length === 0) return;
    if (!wasThere) made.push(place);
    const uuid = places.length > 1 ? await uuidOf(client, name) : null;
    if (!wasThere) own.add(uuid);
    else if (!keep && (uuid === null || !own.has(uuid))) {
      const added = additionsIn(report);
      warn(`${name} was set up at ${place.url} before, and is left there when the scenario is over${added}.`);
    }
  };
  return {
    /**
     * @param {AbortSignal} stop
     * @returns {Promise<Map<number, PkiLoadError>>} steps on whose targets it could not be made, and why
     */
    async up(stop) {
      /** @type {Map<number, PkiLoadError>} */
      const refused = new Map();
      for (const place of places) {
        if (stop.aborted) break;
        try {
          await setUpAt(setup, place, say, system, (...told) => learn(place, ...told));
        } catch (error) {
          if (!(error instanceof PkiLoadError)) throw error;
          for (const step of place.steps) refused.set(step, error);
        }
      }
      return refused;
    },
    /** @returns {string[]} what would be left if all ended now, a sentence for each target */
    left: () => (keep ? [] : made.map(({ url, remedy }) => `${name} is left at ${url}. ${remedy}`)),
    /** Never throws: what could not be taken away is said. */
    async down() {
      for (const place of [...made]) {
        if (keep) say(`Left ${name} at ${place.url}, as the scenario says (keep).`);
        else await tearDownAt(name, place, { say, warn }, system);
        made.splice(made.indexOf(place), 1);
      }
    },
  };
}

/** @param {{kind: string}} item */
const isMount = ({ kind }) => kind === 'mount' || kind === 'auth';

/**
 * @param {SetupReport} report of a set-up that was there before
 * @returns {string} part of a sentence: what it lacked
 */
function additionsIn({ made }) {
  const mounts = made.filter(isMount);
  const isInside = (/** @type {string} */ path) => mounts.some((mount) => path.startsWith(`${mount.path}/`));
  const added = made
    .filter(({ path }) => !isInside(path))
    .map(({ kind, path }) => (kind === 'policy' ? `rules of the policy ${path}` : path));
  return added.length === 0 ? '' : `, with what it lacked and this scenario added: ${added.join('; ')}`;
}

/**
 * @param {Setup} setup
 * @param {Place} place
 * @param {(text: string) => void} say
 * @param {System} system
 * @param {(report: SetupReport, client: import('../vault/client.js').VaultClient) => Promise<void>} learn what was made and found, also
 *   where that failed half-way
 */
async function setUpAt(setup, place, say, system, learn) {
  const client = place.connect();
  /** @type {SetupReport} */
  const report = { made: [], there: [] };
  // A setting that is there is somebody's: where it is another than the scenario's, that is refused.
  const plan = planSetup({ ...setup, keepsSettings: true });
  try {
    await system.setUp(client, plan, (text) => say(`${place.url}: ${text}`), report);
  } finally {
    await learn(report, client);
    await client.close();
  }
}

/**
 * @param {import('../vault/client.js').VaultClient} client
 * @param {string} name of the set-up
 * @returns {Promise<string | null>} the same by whichever address, node or replica it is asked; null: not told
 */
async function uuidOf(client, name) {
  try {
    return (await client.read('sys/mounts')).data?.[`${name}-root/`]?.uuid ?? null;
  } catch {
    return null;
  }
}

/**
 * @param {string} name of the set-up
 * @param {Place} place
 * @param {{say: (text: string) => void, warn: (text: string) => void}} how
 * @param {System} system
 */
async function tearDownAt(name, { url, connect, remedy }, { say, warn }, system) {
  const client = connect();
  try {
    const isGone = await system.tearDown(client, name, (text) => say(`${url}: ${text}`));
    if (!isGone) warn(`Not all of ${name} at ${url} could be taken away. ${remedy}`);
  } catch (error) {
    const why = error instanceof PkiLoadError ? error.message : String(error);
    warn(`${name} at ${url} could not be taken away: ${why} ${remedy}`);
  } finally {
    await client.close();
  }
}

/**
 * @param {string} name of the set-up
 * @param {readonly Step[]} steps
 * @param {System['connect']} connect
 * @returns {Place[]} each Vault, or namespace of it, once
 */
function placesOf(name, steps, connect) {
  /** @type {Map<string, Place>} */
  const places = new Map();
  for (const [i, step] of steps.entries()) {
    const { dev, target } = step.plan;
    if (dev) continue;
    const { url, namespace } = target;
    const key = JSON.stringify([url, namespace]);
    const remedy = `Take it away with ${teardownCommand(name, target, step.tokenEnv)}.`;
    const place = places.get(key) ?? { url, steps: [], connect: () => connect(step), remedy };
    place.steps.push(i);
    places.set(key, place);
  }
  return [...places.values()];
}

/** @param {Step} step */
function connect({ plan: { target }, token }) {
  const { url, namespace, tls } = target;
  return createVaultClient({ url, namespace, token, tls: loadTls(tls), timeoutMs: CALL_TIMEOUT_MS });
}
