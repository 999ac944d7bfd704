/** A run of a scenario, on one of its targets -> Plan. */
import { usageError } from '../../common/errors.js';
import { camelCase, readOptions } from '../../common/options.js';
import { loadOperation } from '../../operations/index.js';
import { commonOptions } from '../../plan/common-options.js';
import { planLoad } from '../../plan/load.js';
import { deepFreeze, planTarget } from '../../plan/plan.js';
import { parseRequirement } from '../../plan/requirements.js';
import { checkSearchable } from '../search/find-max.js';
import { pathIn, placed } from './read.js';

/** @import { MixEntry, Plan } from '../../plan/plan.js' */
/** @import { VaultEnvironment } from '../../vault/environment.js' */
/** @import { SearchSettings } from '../search/step-plan.js' */
/** @import { ScenarioRun, ScenarioTarget } from './read.js' */

/** @typedef {{of: 'rate' | 'concurrency', start: number}} SearchStart `start`: where neither file nor flag has a start */

/** Any of these on the command line replaces the scenario's stages. */
const INSTEAD_OF_STAGES = Object.freeze(['rate', 'duration', 'requests', 'ramp-up']);

/** @typedef {Record<string, unknown>} Given options by kebab- or camelCase name */

/**
 * @param {ScenarioRun} run @param {ScenarioTarget} target
 * @param {Given} flags of the command line: they win over the scenario
 * @param {VaultEnvironment} environment where defaults of the target come from
 * @param {SearchStart | null} [search] it determines the load, in place of model and stages; null: none
 * @returns {Promise<Readonly<Plan>>}
 * @throws {PkiLoadError} naming what contradicts what
 */
export async function planRun(run, target, flags, environment, search = null) {
  const own = camelKeys(flags);
  const isFlag = (/** @type {string} */ name) => own[camelCase(name)] !== undefined;
  const stages = search === null ? stagesOf(run, isFlag) : null;
  const load = mergeLoad(run, flags, search);
  const given = {
    ...targetGiven(run, target, own),
    ...load,
    ...(search === null ? {} : startLevel(load, search)),
    ...(stages === null ? {} : stagesTotals(run, stages)),
  };
  const { options: common, load: planned } = placed(
    run.source,
    { pathOf: pathOfLoad(run, isFlag, load), isFlag },
    () => {
      const options = readOptions(commonOptions, given);
      if (search === null) checkLoad(run, options, stages, isFlag);
      return { options, load: planLoad(options, environment) };
    },
  );
  /** @type {MixEntry[]} */
  const mix = [];
  for (const [i, entry] of run.mix.entries()) {
    const operation = await loadOperation(entry.operation);
    const options = readOptions(operation.options, entry.options);
    const group = [...run.at('mix'), i, 'options'];
    const pathOf = (/** @type {string} */ name) => pathIn(run.source, group, name);
    placed(run.source, { pathOf, isFlag, otherwise: group }, () => operation.check?.(options, common));
    mix.push({ ...entry, options });
  }
  return deepFreeze({
    operation: run.name,
    dev: common.dev,
    target: planTarget(common, given, environment),
    load: { ...planned, stages },
    options: {},
    mix,
    requirements: [
      ...run.requirements.filter(({ stage }) => stage === undefined || stages !== null),
      ...common.require.map((/** @type {string} */ text) => parseRequirement(text)),
    ],
  });
}

/** @param {ScenarioRun} run @param {(name: string) => boolean} isFlag @returns {ScenarioRun['stages']} null: none, or flags replace them */
function stagesOf({ stages, model }, isFlag) {
  const level = model === 'closed' ? 'concurrency' : 'rate';
  const replacing = [...INSTEAD_OF_STAGES, level].find(isFlag);
  if (stages === null || replacing === undefined) return stages;
  if (isFlag(level)) return null;
  throw usageError(
    'contradiction',
    `--${replacing} replaces the stages of the scenario, but then there is no ${level}.`,
    `Add --${level}, or leave --${replacing} out.`,
  );
}

/**
 * The embedded server is none of the scenario's targets: their addresses, certificates and set-ups do not apply to it.
 * @param {ScenarioRun} run @param {ScenarioTarget} target @param {Given} flags @returns {Given} by camelCase name
 */
function targetGiven({ setup }, { options }, { dev }) {
  const given = camelKeys(options);
  if (dev === true || dev === 'true') return given.mount === undefined ? {} : { mount: given.mount };
  return setup === null ? given : { mount: `${setup.name}-int`, ...given };
}

/**
 * @param {ScenarioRun} run @param {Record<string, any>} common
 * @param {ScenarioRun['stages']} stages @param {(name: string) => boolean} isFlag
 */
function checkLoad(run, { rate, warmup }, stages, isFlag) {
  const { source, model, name } = run;
  const at = (/** @type {string} */ key) => loadPath(run, key) ?? run.at('load');
  if (model === 'closed' && rate !== null) {
    const remedy = 'Remove one of them.';
    if (!isFlag('rate')) throw source.error(at('rate'), 'conflicts with model: closed', remedy);
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
function stagesTotals(run, stages) {
  const lines = stages.flatMap((stage) => stage.lines);
  const level = run.model === 'closed' ? 'concurrency' : 'rate';
  for (const key of [...INSTEAD_OF_STAGES, level]) {
    const path = loadPath(run, key);
    if (path !== null) throw run.source.error(path, 'conflicts with stages', `Leave ${key} out.`, 'key');
  }
  return {
    [level]: Math.max(...lines.flatMap(({ from, to }) => [from, to])),
    duration: lines.reduce((sum, line) => sum + line.durationMs, 0) / 1000,
  };
}

/** @param {ScenarioRun} run @param {string} key @returns {import('./source.js').Path | null} in its own load, or the scenario's */
const loadPath = ({ source, at }, key) => pathIn(source, at('load'), key) ?? pathIn(source, ['load'], key);

/**
 * @param {ScenarioRun} run @param {(name: string) => boolean} isFlag flags win
 * @param {Given} load by camelCase name: the options that count
 */
function pathOfLoad(run, isFlag, load) {
  return (/** @type {string} */ name) =>
    isFlag(name) || load[camelCase(name)] === undefined ? null : loadPath(run, name);
}

/** @param {Given} given @returns {Given} by camelCase name, without options not given */
function camelKeys(given) {
  return Object.fromEntries(
    Object.entries(given).flatMap(([key, value]) => (value === undefined ? [] : [[camelCase(key), value]])),
  );
}

/** A search of a closed loop has no use for these, and begins at the bottom. */
const NOT_IN_CLOSED = Object.freeze(['rate', 'arrivals', 'rampUp', 'overflow', 'pacing', 'concurrency']);

/**
 * A search chooses the loop, and the number in flight in a closed one: the concurrency of `model: closed` is no number of connections.
 * @param {ScenarioRun} run @param {Given} flags they win @param {SearchStart | null} search null: none
 * @returns {Given} options of the load and other flags, by camelCase name
 */
export function mergeLoad({ load, model }, flags, search) {
  const left =
    search?.of === 'concurrency' ? NOT_IN_CLOSED : search && model === 'closed' ? ['concurrency'] : [];
  const merged = Object.entries(camelKeys(load)).filter(([key]) => !left.includes(key));
  return { ...Object.fromEntries(merged), ...camelKeys(flags) };
}

const { threads, concurrency } = commonOptions;

/** @param {Given} load @param {SearchStart} search @returns {Given} its start, and its connections: each thread needs one */
function startLevel(load, { of, start }) {
  const least = readOptions({ threads, concurrency }, { threads: load.threads });
  if (of === 'concurrency') return { concurrency: load.concurrency ?? Math.max(start, least.threads) };
  const connections = Math.max(least.concurrency, least.threads);
  return { rate: load.rate ?? start, concurrency: load.concurrency ?? connections };
}

/** @param {ScenarioRun} run @param {Pick<Plan, 'load'>} plan @returns {string[]} requirements on stages that flags or a search replaced */
export const notJudged = ({ requirements }, { load }) =>
  load.stages === null ? requirements.flatMap(({ stage, text }) => (stage === undefined ? [] : [text])) : [];

/**
 * @param {ScenarioRun} run @param {Plan} plan of it @param {SearchSettings} settings @param {Given} flags
 * @throws {PkiLoadError} naming the run, or the place in the file
 */
export function checkSearched(run, plan, settings, flags) {
  if (settings.of === 'rate' && plan.requirements.length === 0) {
    const has = notJudged(run, plan).length === 0 ? 'none' : 'requirements on its stages only';
    throw usageError(
      'nothing_required',
      `--find-max-rate needs requirements of a whole run, but ${JSON.stringify(run.name)} has ${has}.`,
      "Add them, e.g. --require 'p99<200ms' --require 'errors<0.1%'.",
    );
  }
  const own = { ...camelKeys(flags), findMaxRate: true, maxConcurrency: true };
  const isFlag = (/** @type {string} */ name) => camelCase(name) in own;
  const pathOf = pathOfLoad(run, isFlag, mergeLoad(run, {}, settings));
  placed(run.source, { pathOf, isFlag }, () => checkSearchable(plan, settings));
}
