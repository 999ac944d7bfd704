/** `setup` of a scenario: creates a setup on each target before the first run, and removes it at the end. */
import { PkiLoadError } from '../../common/errors.js';
import { delayedSignal, LAST_CALLS_MS, REMOVALS_MS } from '../../common/stop.js';
import { groupBy } from '../../common/sums.js';
import { connect } from '../../vault/client.js';
import { targetFlags, teardownCommand } from '../../vault/setup/command.js';
import { setUp } from '../../vault/setup/setup.js';
import { planSetup } from '../../vault/setup/setup-plan.js';
import { tearDown } from '../../vault/setup/teardown.js';

/** @import { Plan } from '../../plan/plan.js' */
/** @import { VaultClient } from '../../vault/client.js' */
/** @import { SetupReport } from '../../vault/setup/setup.js' */
/** @import { TeardownReport } from '../../vault/setup/teardown.js' */
/** @import { ScenarioSetup } from './read.js' */

/** @typedef {{name: string, plan: Plan, token: string | null, tokenEnv?: string | null}} Step */
/**
 * A Vault or namespace. `remove`: the command that removes the setup; `report`: its items so far, null: not started, or removed
 * @typedef {{url: string, steps: number[], connect: (say: Parameters<typeof connect>[2]) => VaultClient, remove: string,
 *   report: SetupReport | null}} SetupTarget
 */
/**
 * `interruptible`: wraps a client: after `stop` each call throws code `interrupted`, and long waits are reported
 * @typedef {{log: (text: string) => void, warn: (text: string) => void,
 *   interruptible: (client: VaultClient, stop: AbortSignal, cutOff?: AbortSignal) => VaultClient}} SetupContext
 */

const UUID_TIMEOUT_MS = 10_000;

/** @param {Step} step @param {Parameters<typeof connect>[2]} say */
const connectTo = ({ plan, token }, say) => connect(plan.target, token, say);
/** The proxy has been named before the setup. */
const SILENT = { notice() {}, warn() {} };
/** Replaced in tests. */
const REAL = { setUp, tearDown, connect: connectTo };

/** @param {ScenarioSetup} setup @param {readonly Step[]} steps @param {SetupContext} context @param {typeof REAL} [system] */
export function createScenarioSetup(setup, steps, { log, warn, interruptible }, system = REAL) {
  const { name, keep } = setup;
  const targets = targetsOf(name, steps, system.connect);
  /** UUIDs of root mounts that we created: two addresses may reach the same Vault. @type {Set<string | null>} */
  const ownRoots = new Set();

  /** Warns of a setup that existed before. @param {SetupTarget} target @param {VaultClient} client */
  async function inspect(target, client) {
    const { created, existing } = /** @type {SetupReport} */ (target.report);
    if (keep || created.length + existing.length === 0) return;
    const uuid = targets.length > 1 ? await uuidOf(client, name) : null;
    if (isOurs(target)) ownRoots.add(uuid);
    if (isOurs(target) || (uuid !== null && ownRoots.has(uuid))) return;
    const added = created.length === 0 ? '' : ' or its own additions';
    warn(
      `The setup ${name} already existed at ${target.url}; the scenario does not remove it${added}. To remove it: ${target.remove}`,
    );
  }

  /** @param {SetupTarget} target @param {AbortSignal} stop */
  async function setUpAt(target, stop) {
    const client = target.connect({ notice: log, warn });
    target.report = { created: [], existing: [] };
    // Another user may depend on existing settings: a different value is refused.
    const plan = planSetup({ ...setup, keepsSettings: true });
    const logWithUrl = (/** @type {string} */ text) => log(`${target.url}: ${text}`);
    try {
      await system.setUp(interruptible(client, stop), plan, logWithUrl, target.report);
    } finally {
      await inspect(target, client);
      await client.close();
    }
  }

  /** @param {SetupTarget} target @param {AbortSignal} tooLate */
  async function tearDownAt({ url, connect: open, remove, report }, tooLate) {
    const client = interruptible(open(SILENT), tooLate, tooLate);
    /** @type {TeardownReport} */
    const found = { removed: [], remaining: [] };
    try {
      const isGone = await system.tearDown(client, name, (text) => log(`${url}: ${text}`), found);
      if (!isGone) warn(`Not all of the setup ${name} at ${url} could be removed. To remove it: ${remove}`);
      const isFound = (/** @type {string} */ path) => found.removed.some((item) => item.path === path);
      const late = report?.created.find(({ uncertain, path }) => uncertain && !isFound(path));
      if (late !== undefined)
        warn(
          `${late.path} may still appear at ${url}: Vault did not respond to its creation. To remove it: ${remove}`,
        );
    } catch (error) {
      const why = error instanceof PkiLoadError ? error.full : String(error);
      warn(`The setup ${name} at ${url} could not be removed: ${why} To remove it: ${remove}`);
    } finally {
      await client.close();
    }
  }

  return {
    /** @param {AbortSignal} stop ends it after the current call @returns failures, by the steps on these targets */
    async setUp(stop) {
      /** @type {Map<number, PkiLoadError>} */
      const refused = new Map();
      for (const target of targets) {
        if (stop.aborted) break;
        try {
          await setUpAt(target, stop);
        } catch (error) {
          if (!(error instanceof PkiLoadError)) throw error;
          for (const step of target.steps) refused.set(step, error);
        }
      }
      return refused;
    },
    /** @returns {string[]} a sentence for each target on which our setup remains */
    leftovers() {
      const ours = keep ? [] : targets.filter(isOurs);
      return ours.map(({ url, remove }) => `The setup ${name} is left at ${url}. To remove it: ${remove}`);
    },
    /** Warns of failures, never throws. @param {AbortSignal} [stop] ends it after 30 s @param {AbortSignal} [cutOff] ends it after 5 s */
    async tearDown(stop, cutOff) {
      const limits = [delayedSignal(stop, REMOVALS_MS), delayedSignal(cutOff, LAST_CALLS_MS)];
      const tooLate = AbortSignal.any(limits.map(({ signal }) => signal));
      for (const target of targets.filter(isOurs)) {
        if (keep) log(`Left the setup ${name} at ${target.url} (keep).`);
        else await tearDownAt(target, tooLate);
        target.report = null;
      }
      for (const limit of limits) limit.close();
    },
  };
}

/** Whether we created all its mounts. @param {SetupTarget} target */
function isOurs({ report }) {
  if (report === null || report.created.length === 0) return false;
  return !report.existing.some(({ kind }) => kind === 'mount' || kind === 'auth');
}

/** @param {VaultClient} client @param {string} name @returns {Promise<string | null>} the same at every address of a Vault; null: unknown */
async function uuidOf(client, name) {
  try {
    return (await client.read('sys/mounts', UUID_TIMEOUT_MS)).data?.[`${name}-root/`]?.uuid ?? null;
  } catch {
    return null;
  }
}

/** @param {string} name @param {readonly Step[]} steps @param {typeof connectTo} open @returns {SetupTarget[]} */
function targetsOf(name, steps, open) {
  const real = [...steps.keys()].filter((i) => !steps[i].plan.dev);
  const targetOf = (/** @type {number} */ i) => steps[i].plan.target;
  const groups = groupBy(real, (i) => JSON.stringify([targetOf(i).url, targetOf(i).namespace]));
  return groups.map((group) => {
    const step = steps[group[0]];
    const { plan, tokenEnv } = step;
    const remove = teardownCommand(name, targetFlags(plan.target), tokenEnv);
    return { url: plan.target.url, steps: group, connect: (say) => open(step, say), remove, report: null };
  });
}
