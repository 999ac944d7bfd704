/** A run of a scenario, on one of its targets -> Plan. */
import { commonOptions } from '../common-options.js';
import { usageError } from '../errors.js';
import { loadOperation } from '../operations/index.js';
import { camelCase, readOptions } from '../options.js';
import { deepFreeze, planTarget } from '../plan.js';
import { planLoad } from '../plan-load.js';
import { parseRequirement } from '../results/requirements/requirements.js';

/** @typedef {import('./read.js').ScenarioRun} ScenarioRun */
/** @typedef {import('./read.js').ScenarioTarget} ScenarioTarget */
/** @typedef {import('../vault/environment.js').VaultEnvironment} VaultEnvironment */
/** @typedef {import('../plan.js').Plan} Plan */

/** With any of these on the command line, it says how the load goes: stages are left out. */
const INSTEAD_OF_STAGES = Object.freeze(['rate', 'duration', 'requests', 'rampUp']);

/**
 * @param {ScenarioRun} run
 * @param {ScenarioTarget} target
 * @param {Record<string, unknown>} flags of the command line, by kebab- or camelCase name: they win over what the scenario says
 * @param {VaultEnvironment} environment where defaults of the target come from
 * @returns {Promise<Readonly<Plan>>}
 * @throws {import('../errors.js').PkiLoadError} naming what contradicts what
 */
export async function planRun(run, target, flags, environment) {
  const own = camelKeys(flags);
  const isReplaced = INSTEAD_OF_STAGES.some((key) => own[key] !== undefined);
  const stages = isReplaced ? null : run.stages;
  const given = {
    ...camelKeys(target.options),
    ...camelKeys(run.load),
    ...(stages === null ? {} : mostOf(run)),
    ...own,
  };
  const common = readOptions(commonOptions, given);
  if (run.model === 'closed' && common.rate !== null) {
    throw usageError(
      'contradiction',
      `${run.name} is a closed loop (model: closed), but there is a rate.`,
      'Leave one of them out.',
    );
  }
  const mix = await readMix(run, common);
  return deepFreeze({
    operation: run.name,
    dev: common.dev,
    target: planTarget(common, given, environment),
    load: { ...planLoad(common, environment), stages },
    options: {},
    mix,
    requirements: [
      ...run.requirements.filter(({ stage }) => stage === undefined || stages !== null),
      ...common.require.map((/** @type {string} */ text) => parseRequirement(text)),
    ],
  });
}

/**
 * What stages come to: the highest rate or most requests in flight, and how long they are together.
 *
 * @param {ScenarioRun} run with stages
 * @returns {Record<string, unknown>} options of the load
 */
function mostOf({ model, stages, load }) {
  const lines = (stages ?? []).flatMap((stage) => stage.lines);
  const most = lines.reduce((highest, { from, to }) => Math.max(highest, from, to), 0);
  const durationMs = lines.reduce((sum, line) => sum + line.durationMs, 0);
  for (const key of ['rate', 'duration', 'requests', 'ramp-up', 'rampUp']) {
    if (load[key] === undefined) continue;
    throw usageError(
      'contradiction',
      `The scenario has stages, and a load with ${key}, too.`,
      `Leave ${key} out: the stages say it.`,
    );
  }
  const level = model === 'closed' ? { concurrency: most } : { rate: most };
  return { ...level, duration: durationMs / 1000 };
}

/**
 * @param {ScenarioRun} run
 * @param {Record<string, any>} common
 * @returns {Promise<import('../plan.js').MixEntry[]>}
 */
async function readMix({ mix }, common) {
  /** @type {import('../plan.js').MixEntry[]} */
  const entries = [];
  for (const entry of mix) {
    const operation = await loadOperation(entry.operation);
    const options = readOptions(operation.options, entry.options);
    operation.check?.(options, common);
    entries.push({ ...entry, options });
  }
  return entries;
}

/**
 * @param {Record<string, unknown>} given
 * @returns {Record<string, unknown>} by camelCase name, without what is not given
 */
function camelKeys(given) {
  return Object.fromEntries(
    Object.entries(given).flatMap(([key, value]) => (value === undefined ? [] : [[camelCase(key), value]])),
  );
}
