/** A run of a scenario, on one of its targets -> Plan. */
import { usageError } from '../../common/errors.js';
import { readOptions } from '../../common/options.js';
import { loadOperation } from '../../operations/index.js';
import { commonOptions } from '../../plan/common-options.js';
import { planLoad } from '../../plan/load.js';
import { deepFreeze, planTarget } from '../../plan/plan.js';
import { parseRequirement } from '../../plan/requirements.js';
import { OPEN_LOOP, plannedForSearch } from '../search/search-options.js';
import { findPath, placed } from './read.js';

/** @import { MixEntry, Plan } from '../../plan/plan.js' */
/** @import { VaultEnvironment } from '../../vault/environment.js' */
/** @import { AskedSearch } from '../search/search-options.js' */
/** @import { ScenarioRun, ScenarioTarget } from './read.js' */

/** Any of these on the command line replaces the scenario's stages. */
const INSTEAD_OF_STAGES = Object.freeze(['rate', 'duration', 'requests', 'ramp-up']);

/** @typedef {Record<string, unknown>} Given options by kebab-case name */

/**
 * @param {ScenarioRun} run @param {ScenarioTarget} target
 * @param {Given} flags of the command line: they win over the scenario
 * @param {VaultEnvironment} environment where defaults of the target come from
 * @param {AskedSearch | null} [search] it determines the load, in place of model and stages; null: none
 * @returns {Promise<Readonly<Plan>>}
 * @throws {PkiLoadError} naming what contradicts what
 */
export async function planRun(run, target, flags, environment, search = null) {
  const { source, loadGroups } = run;
  const stages = search === null ? stagesOf(run, flags) : null;
  const given = {
    ...targetGiven(run, target, flags),
    ...plannedForSearch(search, mergeLoad(run, flags, search)),
    ...(stages && stagesTotals(run, stages)),
  };
  const { common, load } = placed({ source, groups: loadGroups, flags }, () => {
    const options = readOptions(commonOptions, given);
    if (search === null) checkLoad(run, options, stages, flags);
    return { common: options, load: planLoad(options, environment) };
  });
  /** @type {MixEntry[]} */
  const mix = [];
  for (const [i, entry] of run.mix.entries()) {
    const operation = await loadOperation(entry.operation);
    const options = readOptions(operation.options, entry.options);
    const group = [...run.at('mix'), i, 'options'];
    const place = { source, groups: [group], flags, otherwise: group };
    placed(place, () => operation.check?.(options, common));
    mix.push({ ...entry, options });
  }
  return deepFreeze({
    operation: run.name,
    dev: common.dev,
    target: planTarget(common, given, environment),
    load: { ...load, stages },
    options: {},
    mix,
    requirements: [
      ...run.requirements.filter(({ stage }) => stage === undefined || stages !== null),
      ...common.require.map((/** @type {string} */ text) => parseRequirement(text)),
    ],
  });
}

/** @param {ScenarioRun} run @param {Given} flags @returns {ScenarioRun['stages']} null: none, or flags replace them */
function stagesOf({ stages, level }, flags) {
  const replacing = [...INSTEAD_OF_STAGES, level].find((name) => name in flags);
  if (stages === null || replacing === undefined) return stages;
  if (level in flags) return null;
  throw usageError(
    'contradiction',
    `--${replacing} replaces the stages of the scenario, but then there is no ${level}.`,
    `Add --${level}, or leave --${replacing} out.`,
  );
}

/**
 * The embedded server is none of the scenario's targets: their addresses, certificates and set-ups do not apply to it.
 * @param {ScenarioRun} run @param {ScenarioTarget} target @param {Given} flags @returns {Given}
 */
function targetGiven({ setup }, { options }, { dev }) {
  if (String(dev) === 'true') return options.mount === undefined ? {} : { mount: options.mount };
  return setup === null ? options : { mount: `${setup.name}-int`, ...options };
}

/**
 * @param {ScenarioRun} run @param {Record<string, any>} common @param {ScenarioRun['stages']} stages @param {Given} flags
 */
function checkLoad({ source, loadGroups, model, name }, { rate, warmup }, stages, flags) {
  const at = (/** @type {string} */ key) => findPath(source, loadGroups, key) ?? loadGroups[0];
  if (model === 'closed' && rate !== null) {
    const remedy = 'Remove one of them.';
    if (flags.rate === undefined) throw source.error(at('rate'), 'conflicts with model: closed', remedy);
    throw usageError('contradiction', `--rate conflicts with model: closed of ${name}.`, remedy);
  }
  if (model === 'open' && rate === null) {
    throw source.error(at('model'), 'is open, but there is no rate', 'Add rate, e.g. rate: 20/s, or stages.');
  }
  if (stages !== null && warmup > 0 && stages[0].lines[0].from === 0) {
    throw source.error(
      at('warmup'),
      `would send nothing: a warm-up is at the first level of ${stages[0].name}, which is 0`,
      'Begin above 0, or leave the warm-up out.',
    );
  }
}

/**
 * @param {ScenarioRun} run @param {NonNullable<ScenarioRun['stages']>} stages
 * @returns {Given} options of the load: the highest level of the stages, and their duration
 */
function stagesTotals({ source, loadGroups, level }, stages) {
  const lines = stages.flatMap((stage) => stage.lines);
  for (const key of [...INSTEAD_OF_STAGES, level]) {
    const path = findPath(source, loadGroups, key);
    if (path !== null) throw source.error(path, 'conflicts with stages', `Leave ${key} out.`, 'key');
  }
  return {
    [level]: Math.max(...lines.flatMap(({ from, to }) => [from, to])),
    duration: lines.reduce((sum, line) => sum + line.durationMs, 0) / 1000,
  };
}

/**
 * A search chooses the loop, and the number in flight in a closed one: the concurrency of `model: closed` is no number of connections.
 * @param {ScenarioRun} run @param {Given} flags they win @param {AskedSearch | null} search
 * @returns {Given} options of the load, and the flags
 */
export function mergeLoad({ load, model }, flags, search) {
  const merged = { ...load };
  if (search?.of === 'concurrency') for (const name of OPEN_LOOP) delete merged[name];
  if (search !== null && (search.of === 'concurrency' || model === 'closed')) delete merged.concurrency;
  return { ...merged, ...flags };
}
