/** A run of a scenario, on one of its targets -> Plan. */

import { usageError } from '../../common/errors.js';
import { readOptions } from '../../common/options.js';
import { loadOperation } from '../../operations/index.js';
import { commonOptions } from '../../plan/common-options.js';
import { planLoad } from '../../plan/load.js';
import { deepFreeze, planTarget } from '../../plan/plan.js';
import { parseRequirement } from '../../plan/requirements.js';
import { camelKeys, inFile, loadPath, pathIn, pathOfLoad } from './places.js';
import { saidOfLoad, startLevel } from './searched.js';

/** @typedef {import('./read-run.js').ScenarioRun} ScenarioRun */
/** @typedef {import('./read.js').ScenarioTarget} ScenarioTarget */
/** @typedef {import('../../vault/environment.js').VaultEnvironment} VaultEnvironment */
/** @typedef {import('../../plan/plan.js').Plan} Plan */

/** With any of these on the command line, it says how the load goes: stages are left out. */
const INSTEAD_OF_STAGES = Object.freeze(['rate', 'duration', 'requests', 'rampUp']);

/**
 * @param {ScenarioRun} run
 * @param {ScenarioTarget} target
 * @param {Record<string, unknown>} flags of the command line, by kebab- or camelCase name: they win over what the scenario says
 * @param {VaultEnvironment} environment where defaults of the target come from
 * @param {import('./searched.js').SearchStart | null} [search] it says how the load goes, in the place of model and stages; null: none
 * @returns {Promise<Readonly<Plan>>}
 * @throws {import('../../common/errors.js').PkiLoadError} naming what contradicts what
 */
export async function planRun(run, target, flags, environment, search = null) {
  const own = camelKeys(flags);
  const stages = search === null ? stagesOf(run, own) : null;
  const said = saidOfLoad(run, flags, search);
  const given = {
    ...ofTarget(run, target, own),
    ...said,
    ...(search === null ? {} : startLevel(said, search)),
    // Where a flag says how high they go, there are none.
    ...(stages === null ? {} : mostOf(run)),
  };
  const pathOf = pathOfLoad(run, own, said);
  const { common, load } = inFile(run, own, { pathOf, group: null }, () => {
    const read = readOptions(commonOptions, given);
    if (search === null) checkModel(run, read, own);
    if (stages !== null) checkWarmup(run, read, stages);
    return { common: read, load: planLoad(read, environment) };
  });
  return deepFreeze({
    operation: run.name,
    dev: common.dev,
    target: planTarget(common, given, environment),
    load: { ...load, stages },
    options: {},
    mix: await readMix(run, common, own),
    requirements: [
      ...run.requirements.filter(({ stage }) => stage === undefined || stages !== null),
      ...common.require.map((/** @type {string} */ text) => parseRequirement(text)),
    ],
  });
}

/**
 * @param {ScenarioRun} run
 * @param {Record<string, unknown>} flags by camelCase name
 * @returns {ScenarioRun['stages']} null: there are none, or the command line says how the load goes
 */
function stagesOf({ stages, model }, flags) {
  const level = model === 'closed' ? 'concurrency' : 'rate';
  const instead = [...INSTEAD_OF_STAGES, ...(model === 'closed' ? ['concurrency'] : [])];
  const found = instead.find((key) => flags[key] !== undefined);
  if (stages === null || found === undefined) return stages;
  if (flags[level] !== undefined) return null;
  throw usageError(
    'contradiction',
    `--${found === 'rampUp' ? 'ramp-up' : found} takes the place of the scenario's stages, but then nothing says the ${level}.`,
    `Add --${level}, or leave it out.`,
  );
}

/**
 * The embedded server is another target than any that the scenario names: where those are, how they are trusted and what was set up
 * there says nothing of it.
 *
 * @param {ScenarioRun} run
 * @param {ScenarioTarget} target
 * @param {Record<string, unknown>} flags
 * @returns {Record<string, unknown>} by camelCase name
 */
function ofTarget({ setup }, { options }, { dev }) {
  const given = camelKeys(options);
  if (dev === true || dev === 'true') return given.mount === undefined ? {} : { mount: given.mount };
  return setup === null ? given : { mount: `${setup.name}-int`, ...given };
}

/**
 * @param {ScenarioRun} run
 * @param {Record<string, any>} common
 * @param {Record<string, unknown>} flags
 */
function checkModel(run, { rate }, flags) {
  const { source, model, name } = run;
  if (model === 'closed' && rate !== null) {
    const path = flags.rate === undefined ? loadPath(run, 'rate') : null;
    const remedy = 'Leave one of them out.';
    if (path !== null) {
      throw source.error(path, 'is there, but the load is a closed loop (model: closed)', remedy);
    }
    throw usageError(
      'contradiction',
      `${name} is a closed loop (model: closed), but --rate is given.`,
      remedy,
    );
  }
  if (model === 'open' && rate === null) {
    throw source.error(
      loadPath(run, 'model') ?? run.at('load'),
      'is open, but there is no rate at which requests are due',
      'Add rate, e.g. rate: 20/s, or stages.',
    );
  }
}

/**
 * A warm-up before stages is at the level at which the first of them begins.
 *
 * @param {ScenarioRun} run
 * @param {Record<string, any>} common
 * @param {NonNullable<ScenarioRun['stages']>} stages
 */
function checkWarmup(run, { warmup }, [{ name, lines }]) {
  if (warmup === 0 || lines[0].from > 0) return;
  throw run.source.error(
    loadPath(run, 'warmup') ?? run.at('load'),
    `is there, but nothing would be sent in it: it is at the level at which ${name} begins, which is 0`,
    'Begin with more than 0, or leave the warm-up out.',
  );
}

/**
 * What stages come to: the highest rate or most requests in flight, and how long they are together.
 *
 * @param {ScenarioRun} run with stages
 * @returns {Record<string, unknown>} options of the load
 */
function mostOf(run) {
  const { model, stages, load, source } = run;
  const lines = (stages ?? []).flatMap((stage) => stage.lines);
  const most = lines.reduce((highest, { from, to }) => Math.max(highest, from, to), 0);
  const durationMs = lines.reduce((sum, line) => sum + line.durationMs, 0);
  const level = model === 'closed' ? 'concurrency' : 'rate';
  for (const key of ['rate', 'duration', 'requests', 'ramp-up', 'rampUp', level]) {
    if (load[key] === undefined) continue;
    throw source.error(
      loadPath(run, key) ?? run.at('load'),
      'stands beside stages, which say it themselves',
      `Leave ${key} out.`,
      'key',
    );
  }
  return { [level]: most, duration: durationMs / 1000 };
}

/**
 * @param {ScenarioRun} run
 * @param {Record<string, any>} common
 * @param {Record<string, unknown>} flags
 * @returns {Promise<import('../../plan/plan.js').MixEntry[]>}
 */
async function readMix(run, common, flags) {
  /** @type {import('../../plan/plan.js').MixEntry[]} */
  const entries = [];
  for (const [i, entry] of run.mix.entries()) {
    const operation = await loadOperation(entry.operation);
    const options = readOptions(operation.options, entry.options);
    const group = [...run.at('mix'), i, 'options'];
    const pathOf = (/** @type {string} */ name) => pathIn(run.source, group, name);
    inFile(run, flags, { pathOf, group }, () => operation.check?.(options, common));
    entries.push({ ...entry, options });
  }
  return entries;
}
