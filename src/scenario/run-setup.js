/** What a scenario has set up on each of its targets before anything runs there, and taken away when all is over (`setup`). */

import { PkiLoadError } from '../errors.js';
import { loadTls } from '../http/tls.js';
import { planSetup } from '../setup/plan.js';
import { setUp } from '../setup/setup.js';
import { tearDown } from '../setup/teardown.js';
import { createVaultClient } from '../vault/client.js';

/** @typedef {{name: string, plan: import('../plan.js').Plan, token: string | null}} Step */
/** @typedef {NonNullable<import('./read.js').ReadScenario['setup']>} Setup */
/** @typedef {{url: string, steps: number[], connect: () => import('../vault/client.js').VaultClient}} Place */
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
  const places = placesOf(steps, system.connect);
  /** Where there is something of ours to take away. @type {Place[]} */
  const made = [];
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
          const wasThere = await setUpAt(setup, place, say, system, () => made.push(place));
          if (wasThere && !setup.keep) {
            warn(
              `${setup.name} was set up at ${place.url} before, and is left there when the scenario is over.`,
            );
          }
        } catch (error) {
          if (!(error instanceof PkiLoadError)) throw error;
          for (const step of place.steps) refused.set(step, error);
        }
      }
      return refused;
    },
    /** @returns {string[]} what would be left if all ended now, a sentence for each target */
    left: () =>
      setup.keep ? [] : made.map(({ url }) => `${setup.name} is left at ${url}. ${remedyFor(setup, url)}`),
    /** Never throws: what could not be taken away is said. */
    async down() {
      for (const place of [...made]) {
        if (setup.keep) say(`Left ${setup.name} at ${place.url}, as the scenario says (keep).`);
        else await tearDownAt(setup, place, { say, warn }, system);
        made.splice(made.indexOf(place), 1);
      }
    },
  };
}

/**
 * @param {Setup} setup
 * @param {Place} place
 * @param {(text: string) => void} say
 * @param {System} system
 * @param {() => void} onMade something was made, which was not there before
 * @returns {Promise<boolean>} an earlier set-up was there
 */
async function setUpAt(setup, place, say, system, onMade) {
  const client = place.connect();
  /** @type {import('../setup/setup.js').SetupReport} */
  const report = { made: [], there: [] };
  const isMount = (/** @type {{kind: string}} */ { kind }) => kind === 'mount' || kind === 'auth';
  try {
    await system.setUp(client, planSetup(setup), (text) => say(`${place.url}: ${text}`), report);
  } finally {
    await client.close();
    if (report.made.length > 0 && !report.there.some(isMount)) onMade();
  }
  return report.there.some(isMount);
}

/**
 * @param {Setup} setup
 * @param {Place} place
 * @param {{say: (text: string) => void, warn: (text: string) => void}} how
 * @param {System} system
 */
async function tearDownAt(setup, place, { say, warn }, system) {
  const client = place.connect();
  const { name } = setup;
  const remedy = remedyFor(setup, place.url);
  try {
    const isGone = await system.tearDown(client, name, (text) => say(`${place.url}: ${text}`));
    if (!isGone) warn(`Not all of ${name} at ${place.url} could be taken away. ${remedy}`);
  } catch (error) {
    const why = error instanceof PkiLoadError ? error.message : String(error);
    warn(`${name} at ${place.url} could not be taken away: ${why} ${remedy}`);
  } finally {
    await client.close();
  }
}

/**
 * @param {readonly Step[]} steps
 * @param {System['connect']} connect
 * @returns {Place[]} each Vault, or namespace of it, once
 */
function placesOf(steps, connect) {
  /** @type {Map<string, Place>} */
  const places = new Map();
  for (const [i, step] of steps.entries()) {
    if (step.plan.dev) continue;
    const { url, namespace } = step.plan.target;
    const key = JSON.stringify([url, namespace]);
    const place = places.get(key) ?? { url, steps: [], connect: () => connect(step) };
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

/**
 * @param {Setup} setup
 * @param {string} url
 */
function remedyFor({ name }, url) {
  return `Take it away with vault-pki-load teardown --url ${url} --name ${name}.`;
}
