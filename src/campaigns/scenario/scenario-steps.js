/** A scenario and flags -> its steps: each run on each target, planned, and checked for a search. */
import { usageError } from '../../common/errors.js';
import { createAddressFilter } from '../../common/listen.js';
import { camelCase, originOf, readOptions } from '../../common/options.js';
import { total } from '../../common/sums.js';
import { listFirst } from '../../common/units.js';
import { loadOperation } from '../../operations/index.js';
import { commonOptions } from '../../plan/common-options.js';
import { planLoad } from '../../plan/load.js';
import { deepFreeze, planTarget } from '../../plan/plan.js';
import { admitRequirements, parseRequirement } from '../../plan/requirements.js';
import { checkArrivals } from '../../plan/schedule.js';
import { MAX_PAIRS, pairsOf } from '../../result/comparison/comparison-schema.js';
import { checkToken, readEnvironment } from '../../vault/environment.js';
import { quoted } from '../../vault/setup/command.js';
import { checkSearchable } from '../search/find-max.js';
import { OPEN_LOOP, plannedForSearch, readSearchSettings } from '../search/search-options.js';
import { findPath, placed } from './read.js';

/** @import { Plan } from '../../plan/plan.js' */
/** @import { VaultEnvironment } from '../../vault/environment.js' */
/** @import { RequestedSearch } from '../search/search-options.js' */
/** @import { ReadScenario, ScenarioRun, ScenarioTarget } from './read.js' */
/** @import { Path } from './source.js' */

/** Operations, requirements and levels of all steps; each step counts for 100, since the report of each takes time. */
const MAX_SIZE = 100_000;

/** Flags that replace the scenario's stages. */
const INSTEAD_OF_STAGES = Object.freeze(['rate', 'duration', 'requests', 'ramp-up']);

/** @typedef {Record<string, unknown>} Given options by kebab-case name */
/** @typedef {{allowEnv?: readonly string[], allowUrl?: readonly string[]}} Allowed variables for token-env, and addresses */
/** @typedef {Awaited<ReturnType<typeof stepsOf>>[number]} Step a run on a target */

/**
 * @param {Pick<ReadScenario, 'runs' | 'targets'>} scenario @param {Given} flags
 * @param {{search?: RequestedSearch | null, pauseMs: number} & Allowed} settings
 * @returns all targets of the first run, then all of the next
 */
export async function stepsOf({ runs, targets }, flags, settings) {
  if (targets.length > 1 && flags.url !== undefined) {
    const problem = `--url names one target, but the scenario has ${targets.length}.`;
    throw usageError('contradiction', problem, 'Leave --url out, or keep only one target.');
  }
  const sizes = runs.map(({ mix, requirements, stages }) => {
    const lines = (stages ?? []).map((stage) => stage.lines.length);
    return 100 + mix.length + requirements.length + total(lines);
  });
  // All operations together, then each of several.
  const comparisons = total(runs.map(({ mix }) => (mix.length > 1 ? mix.length + 1 : 1)));
  const isLarge = comparisons * pairsOf(targets.length) > MAX_PAIRS;
  if (isLarge || total(sizes) * targets.length > MAX_SIZE) {
    const problem = `The scenario is too large: ${runs.length} runs on ${targets.length} targets, with all their operations, requirements and stages.`;
    throw usageError('scenario_too_large', problem, 'Use fewer targets, or choose runs with --only.');
  }
  const { search = null } = settings;
  const searchFlags = { ...flags, 'find-max-rate': true, 'max-concurrency': true };
  const environment = readEnvironment();
  const mayReach = createAddressFilter([...environment.addresses, flags.url, ...(settings.allowUrl ?? [])]);
  const steps = [];
  for (const run of runs) {
    for (const target of targets) {
      const plan = await planRun(run, target, flags, environment, search);
      await checkAllowed(run, target, plan, { ...settings, mayReach });
      const searchSettings = search && readSearchSettings(plan, settings, mergeLoad(run, flags, search));
      if (searchSettings !== null) {
        const place = { source: run.source, groups: run.loadGroups, flags: searchFlags };
        placed(place, () => checkSearchable(plan, searchSettings));
      }
      const lost = run.requirements.filter(({ stage }) => stage !== undefined && plan.load.stages === null);
      const notJudged = lost.map(({ text }) => text);
      const names = [runs.length > 1 && run.name, target.name].filter(Boolean);
      const { tokenEnv } = target;
      steps.push({
        ...{ name: names.join('-') || run.name, run: run.name, plan, tokenEnv },
        target: target.name ?? (plan.dev ? 'embedded server' : plan.target.url),
        /** a secret */
        token: tokenEnv === null || plan.dev ? environment.token : tokenIn(tokenEnv),
        /** for addresses that a certificate names */
        mayReach,
        /** null: a run, not a search */
        searchSettings,
        /** requirements on its stages, which flags or a search replace; and sentences for its reports */
        ...{ notJudged, remarks: remarksOf({ run: run.name, notJudged }) },
      });
    }
  }
  checkArrivals(steps.map(({ plan }) => plan.load));
  return steps;
}

/**
 * Only the user decides where a scenario may send requests, and which secrets besides Vault tokens go with them.
 * @param {ScenarioRun} run @param {ScenarioTarget} target @param {Plan} plan of the run
 * @param {Allowed & {mayReach: (url: string) => boolean}} allowed
 */
async function checkAllowed(run, { name, tokenEnv, options: given }, plan, { allowEnv = [], mayReach }) {
  const { targets = [] } = /** @type {{targets?: {name: string}[]}} */ (run.source.value);
  const place =
    name === null ? ['target'] : ['targets', targets.findIndex((entry) => entry.name.trim() === name)];
  const refuse = (/** @type {Path} */ path, /** @type {string} */ problem, /** @type {string} */ flag) => {
    throw run.source.error(path, problem, `To allow it, add ${flag}.`);
  };
  const isVaultToken = tokenEnv === null || /^(?:VAULT|BAO|OPENBAO)_(?:\w+_)?TOKEN(?:_\w+)?$/.test(tokenEnv);
  if (!plan.dev && !isVaultToken && !allowEnv.includes(tokenEnv)) {
    const problem = `would send ${tokenEnv} to the target as a token, but its name is not like VAULT_TOKEN or VAULT_TOKEN_A`;
    refuse([...place, 'token-env'], problem, `--allow-env ${tokenEnv}`);
  }
  const check = (/** @type {Path} */ path, /** @type {string} */ url) => {
    const origin = originOf(url);
    const problem = `is ${origin}, an address that only the scenario names`;
    if (!mayReach(url)) refuse(path, problem, `--allow-url ${quoted(origin)}`);
  };
  if (!plan.dev && given.url !== undefined) check([...place, 'url'], plan.target.url);
  for (const [i, { operation, options }] of (plan.mix ?? []).entries()) {
    for (const [option, { type }] of Object.entries((await loadOperation(operation)).options)) {
      const url = type === 'url' ? options[camelCase(option)] : null;
      if (url !== null) check([...run.at('mix'), i, 'options', option], url);
    }
  }
}

/** @param {string} name @returns {string} a secret */
function tokenIn(name) {
  const token = process.env[name];
  if (token) return checkToken(token, name);
  throw usageError('no_token', `The environment variable ${name} (token-env) is not set.`, `Set ${name}.`);
}

/** Requirements that a remark names. */
const MAX_NAMED = 10;

/** @param {{run: string, notJudged: readonly string[]}} step @returns {string[]} sentences */
export function remarksOf({ run, notJudged }) {
  const why = `${run}: its stages are left out, and the requirements on them are not judged`;
  return notJudged.length === 0 ? [] : [`${why}: ${listFirst(notJudged, MAX_NAMED)}.`];
}

/**
 * @param {ScenarioRun} run @param {ScenarioTarget} target @param {Given} flags of the command line: they override the scenario
 * @param {VaultEnvironment} environment defaults of the target
 * @param {RequestedSearch | null} [search] determines the load, in place of model and stages @returns {Promise<Readonly<Plan>>}
 * @throws {PkiLoadError} naming the contradicting options
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
  const mix = [];
  for (const [i, entry] of run.mix.entries()) {
    const operation = await loadOperation(entry.operation);
    const options = readOptions(operation.options, entry.options);
    const otherwise = [...run.at('mix'), i, 'options'];
    placed({ source, groups: [otherwise], flags, otherwise }, () => operation.check?.(options, common));
    mix.push({ ...entry, options });
  }
  return deepFreeze({
    operation: run.name,
    dev: common.dev,
    target: planTarget(common, given, environment),
    load: { ...load, stages },
    options: {},
    mix,
    requirements: admitRequirements([
      ...run.requirements.filter(({ stage }) => stage === undefined || stages !== null),
      ...common.require.map(parseRequirement),
    ]),
  });
}

/** @param {ScenarioRun} run @param {Given} flags which may replace the stages @returns {ScenarioRun['stages']} */
function stagesOf({ stages, level }, flags) {
  const replacing = [...INSTEAD_OF_STAGES, level].find((name) => name in flags);
  if (stages === null || replacing === undefined) return stages;
  if (level in flags) return null;
  const problem = `--${replacing} replaces the stages of the scenario, but then there is no ${level}.`;
  throw usageError('contradiction', problem, `Add --${level}, or leave --${replacing} out.`);
}

/** With --dev, only the mount of a target applies. @param {ScenarioRun} run @param {ScenarioTarget} target @param {Given} flags */
function targetGiven({ setup }, { options }, { dev }) {
  if (String(dev) === 'true') return options.mount === undefined ? {} : { mount: options.mount };
  return setup === null ? options : { mount: `${setup.name}-int`, ...options };
}

/** @param {ScenarioRun} run @param {Record<string, any>} common @param {ScenarioRun['stages']} stages @param {Given} flags */
function checkLoad({ source, loadGroups, model, name }, { rate, warmup }, stages, flags) {
  const at = (/** @type {string} */ key) => findPath(source, loadGroups, key) ?? loadGroups[0];
  if (model === 'closed' && rate !== null) {
    const remedy = 'Remove one of them.';
    if (flags.rate === undefined) throw source.error(at('rate'), 'conflicts with model: closed', remedy);
    throw usageError('contradiction', `--rate conflicts with model: closed in ${name}.`, remedy);
  }
  if (model === 'open' && rate === null)
    throw source.error(at('model'), 'is open, but there is no rate', 'Add rate, e.g. rate: 20/s, or stages.');
  if (stages === null || warmup === 0 || stages[0].lines[0].from > 0) return;
  const problem = `would send nothing: it runs at the first level of ${stages[0].name}, which is 0`;
  throw source.error(at('warmup'), problem, 'Start above 0, or leave the warm-up out.');
}

/** The highest level of the stages, and their duration. @param {ScenarioRun} run @param {NonNullable<ScenarioRun['stages']>} stages */
function stagesTotals({ source, loadGroups, level }, stages) {
  const lines = stages.flatMap((stage) => stage.lines);
  for (const key of [...INSTEAD_OF_STAGES, level]) {
    const path = findPath(source, loadGroups, key);
    if (path !== null) throw source.error(path, 'conflicts with stages', `Leave ${key} out.`, 'key');
  }
  return {
    [level]: lines.reduce((highest, { from, to }) => Math.max(highest, from, to), 0),
    duration: total(lines.map(({ durationMs }) => durationMs)) / 1000,
  };
}

/** Options of which only one may be given. */
const SAME = [
  ['timeout', 'timeout_ms'],
  ['connections', 'requests-per-connection'],
];

/**
 * A search determines the loop. With `model: closed`, concurrency counts requests in flight, not connections.
 * @param {ScenarioRun} run @param {Given} flags override it @param {RequestedSearch | null} search @returns {Given}
 */
function mergeLoad({ load, model }, flags, search) {
  const merged = { ...load };
  if (search?.of === 'concurrency') for (const name of OPEN_LOOP) delete merged[name];
  if (search !== null && (search.of === 'concurrency' || model === 'closed')) delete merged.concurrency;
  // Flags that say the same in another way override the file's, too.
  for (const pair of SAME)
    if (pair.some((name) => name in flags)) for (const name of pair) delete merged[name];
  return { ...merged, ...flags };
}
