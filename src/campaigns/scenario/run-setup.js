/** What a scenario has set up on each of its targets before anything runs there, and removed when all is over (`setup`). */

import { PkiLoadError } from '../../common/errors.js';
import { targetFlags, teardownCommand } from '../../vault/setup/command.js';
import { connect } from '../../vault/setup/connect.js';
import { setUp } from '../../vault/setup/setup.js';
import { planSetup } from '../../vault/setup/setup-plan.js';
import { tearDown } from '../../vault/setup/teardown.js';

/** @import { Plan } from '../../plan/plan.js' */
/** @import { VaultClient } from '../../vault/client.js' */
/** @import { Item, SetupReport } from '../../vault/setup/setup.js' */
/** @import { ReadScenario } from './read.js' */

/** @typedef {{name: string, plan: Plan, token: string | null, tokenEnv?: string | null}} Step */
/** @typedef {NonNullable<ReadScenario['setup']>} Setup */
/** @typedef {{url: string, steps: number[], connect: () => VaultClient, command: string}} Place `command`: takes it away there */
/** @typedef {{place: Place, report: SetupReport}} Begun `report`: what was made and found there until now */
/**
 * @typedef {object} How
 * @property {(text: string) => void} say
 * @property {(text: string) => void} warn
 * @property {(client: VaultClient, stop: AbortSignal) => VaultClient} interruptible the same, but that it throws code `interrupted` in
 *   place of asking anything once it is to stop, and says what it waits for
 */
/**
 * @typedef {object} System what tests replace
 * @property {typeof setUp} setUp
 * @property {typeof tearDown} tearDown
 * @property {(step: Step) => VaultClient} connect
 */

const UUID_TIMEOUT_MS = 10_000;

const NEVER = new AbortController().signal;

/** @type {System} */
const REAL = { setUp, tearDown, connect: ({ plan, token }) => connect(plan.target, token) };

/**
 * @param {Setup} setup
 * @param {readonly Step[]} steps those with an embedded server of their own need none
 * @param {How} how
 * @param {System} [system]
 */
export function createScenarioSetup(setup, steps, how, system = REAL) {
  const { name, keep } = setup;
  const { say, warn } = how;
  const places = placesOf(name, steps, system.connect);
  /** From the moment when it is begun there until it is removed. @type {Set<Begun>} */
  const begun = new Set();
  /** uuids of root mounts that we have made: two addresses may be of one Vault. @type {Set<string | null>} */
  const own = new Set();
  /** Says what was there before, and will be left. @param {Begun} one @param {VaultClient} client */
  const learn = async (one, client) => {
    const { place, report } = one;
    const isEmpty = report.made.length + report.there.length === 0;
    // Where all is kept, no list is needed.
    if (keep || isEmpty) return;
    const uuid = places.length > 1 ? await uuidOf(client, name) : null;
    if (isOurs(one)) own.add(uuid);
    else if (uuid === null || !own.has(uuid)) {
      const added = additionsIn(report);
      warn(
        `${name} was set up at ${place.url} before, and is left there when the scenario is over${added}. If it is not needed, remove it with: ${place.command}`,
      );
    }
  };
  return {
    /**
     * @param {AbortSignal} stop ends it after the call under way
     * @returns {Promise<Map<number, PkiLoadError>>} steps on whose targets it could not be made, and why
     */
    async up(stop) {
      /** @type {Map<number, PkiLoadError>} */
      const refused = new Map();
      for (const place of places) {
        if (stop.aborted) break;
        /** @type {Begun} */
        const one = { place, report: { made: [], there: [] } };
        begun.add(one);
        try {
          await setUpAt(setup, one, { how, system, stop, learn });
        } catch (error) {
          if (!(error instanceof PkiLoadError)) throw error;
          for (const step of place.steps) refused.set(step, error);
        }
      }
      return refused;
    },
    /** @returns {string[]} what would be left if all ended now, a sentence for each target, also for one where it is being made */
    left: () =>
      keep
        ? []
        : [...begun]
            .filter(isOurs)
            .map(({ place: { url, command } }) => `${name} is left at ${url}. ${remedyIn(command)}`),
    /** Never throws: what could not be removed is said. */
    async down() {
      for (const one of [...begun].filter(isOurs)) {
        if (keep) say(`Left ${name} at ${one.place.url}, as the scenario says (keep).`);
        else await tearDownAt(name, one.place, how, system);
        begun.delete(one);
      }
    },
  };
}

/** @param {{kind: string}} item */
const isMount = ({ kind }) => kind === 'mount' || kind === 'auth';

/** There is something to take away, and all of it is ours. @param {Begun} begun */
const isOurs = ({ report: { made, there } }) => made.length > 0 && !there.some(isMount);

/** No full stop behind the command: it is to be pasted. @param {string} command */
const remedyIn = (command) => `Remove it with: ${command}`;

/**
 * @param {SetupReport} report of a set-up that was there before
 * @returns {string} part of a sentence: what it lacked
 */
function additionsIn({ made }) {
  const mounts = made.filter(isMount);
  const isInside = (/** @type {string} */ path) =>
    mounts.some((mount) => path === mount.path || path.startsWith(`${mount.path}/`));
  const added = made.filter((item) => isMount(item) || !isInside(item.path)).map(itemText);
  return added.length === 0 ? '' : `, with what it lacked and this scenario added: ${added.join('; ')}`;
}

/** @param {Item} item @returns {string} */
function itemText({ kind, path, uncertain = false }) {
  if (kind === 'policy') return `rules of the policy ${path}`;
  if (kind === 'ca') return `the CA of ${path}`;
  return uncertain ? `perhaps ${path}` : path;
}

/**
 * @param {Setup} setup
 * @param {Begun} begun
 * @param {{how: How, system: System, stop: AbortSignal, learn: (begun: Begun, client: VaultClient) => Promise<void>}} more `learn`: from
 *   what was made and found, also where that failed half-way
 */
async function setUpAt(setup, begun, { how, system, stop, learn }) {
  const { place, report } = begun;
  const client = place.connect();
  // An existing setting may have another user: a different value is refused.
  const plan = planSetup({ ...setup, keepsSettings: true });
  const say = (/** @type {string} */ text) => how.say(`${place.url}: ${text}`);
  try {
    await system.setUp(how.interruptible(client, stop), plan, say, report);
  } finally {
    await learn(begun, client);
    await client.close();
  }
}

/**
 * @param {VaultClient} client
 * @param {string} name of the set-up
 * @returns {Promise<string | null>} the same by whichever address, node or replica it is asked; null: not told
 */
async function uuidOf(client, name) {
  try {
    return (await client.read('sys/mounts', UUID_TIMEOUT_MS)).data?.[`${name}-root/`]?.uuid ?? null;
  } catch {
    return null;
  }
}

/**
 * @param {string} name of the set-up
 * @param {Place} place
 * @param {How} how
 * @param {System} system
 */
async function tearDownAt(name, { url, connect, command }, { say, warn, interruptible }, system) {
  const client = interruptible(connect(), NEVER);
  try {
    const isGone = await system.tearDown(client, name, (text) => say(`${url}: ${text}`));
    if (!isGone) warn(`Not all of ${name} at ${url} could be removed. ${remedyIn(command)}`);
  } catch (error) {
    const why = error instanceof PkiLoadError ? error.full : String(error);
    warn(`${name} at ${url} could not be removed: ${why} ${remedyIn(command)}`);
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
    const command = teardownCommand(name, targetFlags(target), step.tokenEnv);
    const place = places.get(key) ?? { url, steps: [], connect: () => connect(step), command };
    place.steps.push(i);
    places.set(key, place);
  }
  return [...places.values()];
}
