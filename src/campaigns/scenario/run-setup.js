/** The set-up that a scenario creates on each of its targets before the first run there, and removes at the end (`setup`). */

import { PkiLoadError } from '../../common/errors.js';
import { connect } from '../../vault/client.js';
import { targetFlags, teardownCommand } from '../../vault/setup/command.js';
import { setUp } from '../../vault/setup/setup.js';
import { planSetup } from '../../vault/setup/setup-plan.js';
import { tearDown } from '../../vault/setup/teardown.js';

/** @import { Plan } from '../../plan/plan.js' */
/** @import { VaultClient } from '../../vault/client.js' */
/** @import { Item, SetupReport } from '../../vault/setup/setup.js' */
/** @import { ScenarioSetup } from './read.js' */

/** @typedef {{name: string, plan: Plan, token: string | null, tokenEnv?: string | null}} Step */
/**
 * A Vault, or namespace of it. `remove`: the command that removes the set-up there; `report`: items created and found there until now,
 * null: not begun, or removed
 * @typedef {{url: string, steps: number[], connect: () => VaultClient, remove: string, report: SetupReport | null}} Place
 */
/**
 * `interruptible`: the same client, which after `stop` sends no further request but throws code `interrupted`, and reports the call it
 * waits for
 * @typedef {{say: (text: string) => void, warn: (text: string) => void,
 *   interruptible: (client: VaultClient, stop: AbortSignal) => VaultClient}} How
 */

const UUID_TIMEOUT_MS = 10_000;

/** Tests replace it. */
const REAL = {
  setUp,
  tearDown,
  connect: (/** @type {Step} */ { plan, token }) => connect(plan.target, token),
};

/** @param {ScenarioSetup} setup @param {readonly Step[]} steps @param {How} how @param {typeof REAL} [system] */
export function createScenarioSetup(setup, steps, { say, warn, interruptible }, system = REAL) {
  const { name, keep } = setup;
  const places = placesOf(name, steps, system.connect);
  /** uuids of root mounts that we have created: two addresses may be of one Vault. @type {Set<string | null>} */
  const own = new Set();

  /** Warns of a set-up that was there before. @param {Place} place @param {VaultClient} client */
  async function inspect(place, client) {
    const { made, there } = /** @type {SetupReport} */ (place.report);
    if (keep || made.length + there.length === 0) return;
    const uuid = places.length > 1 ? await uuidOf(client, name) : null;
    if (isOurs(place)) own.add(uuid);
    if (isOurs(place) || (uuid !== null && own.has(uuid))) return;
    const left = `the scenario does not remove it${additionsIn(made)}`;
    warn(
      `${name} was set up at ${place.url} before, and ${left}. If it is not needed, remove it with: ${place.remove}`,
    );
  }

  /** @param {Place} place @param {AbortSignal} stop */
  async function setUpAt(place, stop) {
    const client = place.connect();
    place.report = { made: [], there: [] };
    // A different value of an existing setting is refused, as it may have another user.
    const plan = planSetup({ ...setup, keepsSettings: true });
    const sayThere = (/** @type {string} */ text) => say(`${place.url}: ${text}`);
    try {
      await system.setUp(interruptible(client, stop), plan, sayThere, place.report);
    } finally {
      await inspect(place, client);
      await client.close();
    }
  }

  /** @param {Place} place */
  async function tearDownAt({ url, connect: open, remove }) {
    const client = interruptible(open(), new AbortController().signal);
    try {
      const isGone = await system.tearDown(client, name, (text) => say(`${url}: ${text}`));
      if (!isGone) warn(`Not all of ${name} at ${url} could be removed. Remove it with: ${remove}`);
    } catch (error) {
      const why = error instanceof PkiLoadError ? error.full : String(error);
      warn(`${name} at ${url} could not be removed: ${why} Remove it with: ${remove}`);
    } finally {
      await client.close();
    }
  }

  return {
    /**
     * @param {AbortSignal} stop ends it after the call under way
     * @returns {Promise<Map<number, PkiLoadError>>} steps on whose targets it failed, and why
     */
    async up(stop) {
      /** @type {Map<number, PkiLoadError>} */
      const refused = new Map();
      for (const place of places) {
        if (stop.aborted) break;
        try {
          await setUpAt(place, stop);
        } catch (error) {
          if (!(error instanceof PkiLoadError)) throw error;
          for (const step of place.steps) refused.set(step, error);
        }
      }
      return refused;
    },
    /** @returns {string[]} a sentence for each target where something would be left if all ended now */
    left: () =>
      (keep ? [] : places.filter(isOurs)).map(
        ({ url, remove }) => `${name} is left at ${url}. Remove it with: ${remove}`,
      ),
    /** Never throws: it warns of failures. */
    async down() {
      for (const place of places.filter(isOurs)) {
        if (keep) say(`Left ${name} at ${place.url} (keep).`);
        else await tearDownAt(place);
        place.report = null;
      }
    },
  };
}

/** @param {{kind: string}} item */
const isMount = ({ kind }) => kind === 'mount' || kind === 'auth';

/** There is something to remove, and all of it is ours. @param {Place} place */
const isOurs = ({ report }) => report !== null && report.made.length > 0 && !report.there.some(isMount);

/** @param {Item[]} made in a set-up that was there before @returns {string} part of a sentence */
function additionsIn(made) {
  const mounts = made.filter(isMount);
  const isInside = (/** @type {string} */ path) =>
    mounts.some((mount) => path === mount.path || path.startsWith(`${mount.path}/`));
  const added = made
    .filter((item) => isMount(item) || !isInside(item.path))
    .map(({ kind, path, uncertain = false }) => {
      if (kind === 'policy') return `rules of the policy ${path}`;
      if (kind === 'ca') return `the CA of ${path}`;
      return uncertain ? `perhaps ${path}` : path;
    });
  return added.length === 0 ? '' : `, nor its additions to it: ${added.join('; ')}`;
}

/** @param {VaultClient} client @param {string} name @returns {Promise<string | null>} the same by any address or node; null: unknown */
async function uuidOf(client, name) {
  try {
    return (await client.read('sys/mounts', UUID_TIMEOUT_MS)).data?.[`${name}-root/`]?.uuid ?? null;
  } catch {
    return null;
  }
}

/** @param {string} name @param {readonly Step[]} steps @param {typeof REAL['connect']} connectTo @returns {Place[]} each once */
function placesOf(name, steps, connectTo) {
  /** @type {Map<string, Place>} */
  const places = new Map();
  for (const [i, step] of steps.entries()) {
    const { dev, target } = step.plan;
    if (dev) continue;
    const { url, namespace } = target;
    const remove = teardownCommand(name, targetFlags(target), step.tokenEnv);
    const key = JSON.stringify([url, namespace]);
    const place = places.get(key) ?? { url, steps: [], connect: () => connectTo(step), remove, report: null };
    place.steps.push(i);
    places.set(key, place);
  }
  return [...places.values()];
}
