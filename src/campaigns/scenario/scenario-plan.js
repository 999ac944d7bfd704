/** A run of a scenario, on one of its targets -> Plan. */
import { PkiLoadError, usageError } from '../../common/errors.js';
import { camelCase, readOptions } from '../../common/options.js';
import { loadOperation } from '../../operations/index.js';
import { commonOptions } from '../../plan/common-options.js';
import { planLoad } from '../../plan/load.js';
import { deepFreeze, planTarget } from '../../plan/plan.js';
import { parseRequirement } from '../../plan/requirements.js';
import { checkSearchable } from '../search/find-max.js';

/** @import { MixEntry, Plan } from '../../plan/plan.js' */
/** @import { VaultEnvironment } from '../../vault/environment.js' */
/** @import { SearchSettings } from '../search/step-plan.js' */
/** @import { ScenarioRun } from './read-run.js' */
/** @import { ScenarioTarget } from './read.js' */
/** @import { Path, Source } from './source.js' */

/** With any of these on the command line, the scenario's stages are left out. */
const INSTEAD_OF_STAGES = Object.freeze(['rate', 'duration', 'requests', 'rampUp']);

/**
 * @param {ScenarioRun} run
 * @param {ScenarioTarget} target
 * @param {Record<string, unknown>} flags of the command line, by kebab- or camelCase name: they win over the scenario
 * @param {VaultEnvironment} environment where defaults of the target come from
 * @param {SearchStart | null} [search] it determines the load, in place of model and stages; null: none
 * @returns {Promise<Readonly<Plan>>}
 * @throws {PkiLoadError} naming what contradicts what
 */
export async function planRun(run, target, flags, environment, search = null) {
  const own = camelKeys(flags);
  const stages = search === null ? stagesOf(run, own) : null;
  const said = saidOfLoad(run, flags, search);
  const given = {
    ...ofTarget(run, target, own),
    ...said,
    ...(search === null ? {} : startLevel(said, search)),
    // A flag for the level replaces the stages.
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
 * @returns {ScenarioRun['stages']} null: none, or the command line replaces them
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

/** @param {ScenarioRun} run @param {Record<string, any>} common @param {Record<string, unknown>} flags */
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
 * @returns {Promise<MixEntry[]>}
 */
async function readMix(run, common, flags) {
  /** @type {MixEntry[]} */
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

const FLAG = /--([a-z][\w-]*)/g;

/**
 * @param {ScenarioRun} run
 * @param {string} name of an option of the load
 * @returns {Path | null} where it stands: in the run's own load, or in that of the scenario
 */
function loadPath(run, name) {
  return pathIn(run.source, run.at('load'), name) ?? pathIn(run.source, ['load'], name);
}

/**
 * @param {ScenarioRun} run
 * @param {Record<string, unknown>} flags by camelCase name: they win
 * @param {Record<string, unknown>} said of the load, by camelCase name: what counts
 * @returns {(name: string) => Path | null} where an option of the load stands in the file and counts
 */
function pathOfLoad(run, flags, said) {
  return (name) => {
    const key = camelCase(name);
    return flags[key] === undefined && said[key] !== undefined ? loadPath(run, name) : null;
  };
}

/**
 * @param {Source} source
 * @param {Path} group
 * @param {string} name kebab-case
 * @returns {Path | null} null: it is not there
 */
export function pathIn(source, group, name) {
  const value = group.reduce((one, step) => Object(one)[step], /** @type {any} */ (source.value));
  const key = [name, camelCase(name)].find((one) => Object.hasOwn(Object(value), one));
  return key === undefined ? null : [...group, key];
}

/**
 * The command line's error on contradicting flags, at the place of the first of them in the file.
 *
 * @template T
 * @param {ScenarioRun} run
 * @param {Record<string, unknown>} flags those that are given on the command line keep their dashes
 * @param {{pathOf: (name: string) => Path | null, group: Path | null}} where `pathOf` an option, where it stands in the file and
 *   counts; `group`: where it is that does not say which; null: it may be the command line
 * @param {() => T} act
 * @returns {T}
 */
function inFile({ source }, flags, { pathOf, group }, act) {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof PkiLoadError) || error.code === 'bad_scenario') throw error;
    const names = [...error.message.matchAll(FLAG)].map(([, name]) => name);
    const path = names.map(pathOf).find((one) => one !== null) ?? group;
    if (path === null) throw error;
    const plain = (/** @type {string} */ text) =>
      text.replace(FLAG, (flag, name) => (flags[camelCase(name)] === undefined ? name : flag));
    throw source.error(path, plain(error.message), error.remedy && plain(error.remedy));
  }
}

/**
 * @param {Record<string, unknown>} given
 * @returns {Record<string, unknown>} by camelCase name, without options not given
 */
function camelKeys(given) {
  return Object.fromEntries(
    Object.entries(given).flatMap(([key, value]) => (value === undefined ? [] : [[camelCase(key), value]])),
  );
}

/** @typedef {{of: 'rate' | 'concurrency', start: number}} SearchStart `start`: where neither file nor flag has a start */

/** A search in a closed loop has no use for them; and as it does not look below where it begins, it begins at the bottom. */
const NOT_IN_CLOSED = Object.freeze(['rate', 'arrivals', 'rampUp', 'overflow', 'pacing', 'concurrency']);

const { threads, concurrency } = commonOptions;

/** The setting of connections, and its default. */
const CONNECTIONS = Object.freeze({ threads, concurrency });

/**
 * A search says itself in which loop requests are sent, and how many are in flight in a closed one: what a run with `model: closed`
 * says of that is no number of connections.
 *
 * @param {ScenarioRun} run
 * @param {Record<string, unknown>} flags by kebab- or camelCase name: they win
 * @param {SearchStart | null} search null: none
 * @returns {Record<string, unknown>} what file and flags say of the load, and flags of other things, by camelCase name
 */
export function saidOfLoad({ load, model }, flags, search) {
  const said = camelKeys(load);
  if (search?.of === 'concurrency') for (const key of NOT_IN_CLOSED) delete said[key];
  if (search?.of === 'rate' && model === 'closed') delete said.concurrency;
  return { ...said, ...camelKeys(flags) };
}

/**
 * Every thread has a connection at least: what is chosen here is never refused for want of one.
 *
 * @param {Record<string, unknown>} said
 * @param {SearchStart} search
 * @returns {Record<string, unknown>} the level at which it begins, and how many connections that takes
 * @throws {PkiLoadError} where the number of threads is none
 */
function startLevel(said, { of, start }) {
  const { threads, concurrency } = readOptions(CONNECTIONS, { threads: said.threads });
  return of === 'rate'
    ? { rate: said.rate ?? start, concurrency: said.concurrency ?? Math.max(concurrency, threads) }
    : { concurrency: said.concurrency ?? Math.max(start, threads) };
}

/**
 * @param {ScenarioRun} run
 * @param {Pick<Plan, 'load'>} plan of it
 * @returns {string[]} requirements on stages that flags or a search replaced
 */
export function notJudged({ requirements }, { load }) {
  const isLeft = (/** @type {{stage?: string}} */ { stage }) => stage !== undefined && load.stages === null;
  return requirements.filter(isLeft).map(({ text }) => text);
}

/**
 * @param {ScenarioRun} run
 * @param {Plan} plan of it
 * @param {SearchSettings} settings
 * @param {Record<string, unknown>} flags
 * @throws {PkiLoadError} naming the run, or the place in the file
 */
export function checkSearched(run, plan, settings, flags) {
  if (settings.of === 'rate' && plan.requirements.length === 0) {
    const name = JSON.stringify(run.name);
    throw usageError(
      'nothing_required',
      notJudged(run, plan).length === 0
        ? `--find-max-rate looks for the highest rate at which every requirement is met, but ${name} has none.`
        : `--find-max-rate takes the place of stages, but all that ${name} requires is of its stages.`,
      "Say what must be met, e.g. --require 'p99<200ms' --require 'errors<0.1%'.",
    );
  }
  const own = { ...camelKeys(flags), findMaxRate: true, maxConcurrency: true };
  const pathOf = pathOfLoad(run, own, saidOfLoad(run, {}, settings));
  inFile(run, own, { pathOf, group: null }, () => checkSearchable(plan, settings));
}
