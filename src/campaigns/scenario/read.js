/** A scenario's text -> its runs, validated; errors have line and column. */
import { PkiLoadError, quote, usageError } from '../../common/errors.js';
import { camelCase } from '../../common/options.js';
import { isSystemFile, refusePipe } from '../../common/read-file.js';
import { redactToken, sanitizeText } from '../../common/sanitize.js';
import { total } from '../../common/sums.js';
import { formatDuration, parseDuration } from '../../common/units.js';
import { loadOperation, operations } from '../../operations/index.js';
import { commonOptions } from '../../plan/common-options.js';
import { MAX_REQUIREMENTS, parseRequirement } from '../../plan/requirements.js';
import { readSetupOptions } from '../../vault/setup/setup-plan.js';
import { scenarioSchema, targetOptions } from './declaration.js';
import { firstProblem, valueAt } from './problems.js';
import { parseSource, pathText } from './source.js';
import { linesOf, SHAPES } from './stages.js';
import { resolveVariables } from './variables.js';

/** @import { StagePlan } from '../../plan/load.js' */
/** @import { MixEntry, PlannedRequirement } from '../../plan/plan.js' */
/** @import { OperationOptions, Scenario } from './declaration.js' */
/** @import { Path, Source } from './source.js' */
/** @import { Allowed } from './variables.js' */
/** @import { Level } from './stages.js' */

/** @typedef {'load' | 'mix' | 'stages' | 'require'} Part */
/**
 * `name` in results, null for a single target; `tokenEnv`: environment variable of its token; `options` by kebab-case name
 * @typedef {{name: string | null, tokenEnv: string | null, options: Record<string, unknown>}} ScenarioTarget
 */
/** @typedef {NonNullable<ReturnType<typeof readSetup>>} ScenarioSetup */
/** @typedef {Awaited<ReturnType<typeof readScenario>>} ReadScenario */
/** @typedef {ReturnType<typeof readRun>} ScenarioRun */

/**
 * @param {string} text @param {string} name of the file, for errors
 * @param {Record<string, string | undefined>} env @param {Allowed} [allowed]
 * @throws {PkiLoadError} code `bad_scenario`, with line and column
 */
export async function readScenario(text, name, env, allowed = {}) {
  const given = parseSource(text, name);
  const { target: single, targets: several } = Object(given.value);
  // Without a prototype: `constructor` is not a variable.
  const variables = Object.assign(Object.create(null), env);
  // Before variables are resolved: none may be a token.
  for (const one of [single, several].flat()) {
    const name = Object(one)['token-env'];
    if (typeof name === 'string') redactToken(variables[name] ?? '');
  }
  const source = resolveVariables(given, variables, allowed);
  const names = Object.keys(operations);
  /** @type {OperationOptions} */
  const options = {};
  const resolved = JSON.stringify(source.value);
  for (const operation of names.filter((known) => resolved.includes(known))) {
    options[operation] = (await loadOperation(operation)).options;
  }
  const parsed = scenarioSchema(names, options).safeParse(source.value);
  if (!parsed.success) throw firstProblem(source, parsed.error.issues);
  const scenario = parsed.data;
  const { name: title, description = null, target = {}, repeat = 1, pause = 0, out = [] } = scenario;
  const setup = readSetup(scenario.setup);
  const reads = new Map(source.reads);
  const addTo = (/** @type {string} */ name, /** @type {string} */ place) =>
    reads.set(name, (reads.get(name) ?? []).concat(place));
  const files = [...filesIn(source.value, [targetOptions, ...Object.values(options)])];
  for (const [path, file] of files) {
    addTo(`file ${file}`, pathText(path));
    if (isSystemFile(file))
      throw source.error(path, 'is a device, a pipe or a system file', 'Name a regular file.');
    refusePipe(file);
  }
  const targets = (scenario.targets ?? [target]).map((/** @type {Record<string, any>} */ entry) => {
    const { name: targetName = null, 'token-env': tokenEnv = null, ...rest } = entry;
    if (tokenEnv !== null) addTo(tokenEnv, 'the token');
    return /** @type {ScenarioTarget} */ ({ name: targetName, tokenEnv, options: rest });
  });
  const runs = scenario.runs?.map((run, i) => readRun(source, scenario, run, ['runs', i], setup));
  return {
    /** environment variables and files -> places where the scenario uses them */
    reads,
    ...{ name: title, description, setup, targets, files: files.map(([, file]) => file) },
    runs: runs ?? [readRun(source, scenario, scenario, [], setup)],
    ...{ repeat, pauseMs: parseDuration(/** @type {string} */ (pause)), out: [out].flat() },
  };
}

/**
 * @param {unknown} value @param {readonly OperationOptions[string][]} specs @param {Path} [path] of the value
 * @returns {Generator<[Path, string]>} each value of a file option, with its path
 */
function* filesIn(value, specs, path = []) {
  for (const [key, inner] of Object.entries(Object(value))) {
    const at = [...path, Array.isArray(value) ? Number(key) : key];
    if (typeof inner === 'object') yield* filesIn(inner, specs, at);
    else if (specs.some((options) => options[key]?.type === 'file')) yield [at, String(inner)];
  }
}

/** @param {Scenario['setup']} setup @returns `caKeyType`, `autoRebuild`: null if not given */
function readSetup(setup = false) {
  if (setup === false) return null;
  const { keep = false, ...given } = setup === true ? {} : setup;
  const read = readSetupOptions(given);
  return { ...read, with: [...new Set(read.with)], keep };
}

/** Per run, so that aliases in a small file do not make a run too large. */
const MAX_LINES = 10_000;

/**
 * @param {Source} source @param {Scenario} scenario @param {Pick<Scenario, 'name' | Part>} run parts that it does not inherit
 * @param {Path} path of the run @param {ScenarioSetup | null} setup
 */
function readRun(source, scenario, run, path, setup) {
  /** The path of a part, in the run or in the scenario. @param {Part} part @returns {Path} */
  const at = (part) => [...(run[part] === undefined ? [] : path), part];
  const { name, mix = [], stages = null, require = [] } = { ...scenario, ...run };
  const { model = null, ...load } = { ...scenario.load, ...run.load };
  const entries = mix.map(({ operation, name: given = operation, weight = 1, options = {} }) => {
    const camel = Object.entries(options).map(([key, value]) => [camelCase(key), value]);
    return /** @type {MixEntry} */ ({ name: given, operation, weight, options: Object.fromEntries(camel) });
  });
  const level = model === 'closed' ? 'concurrency' : 'rate';
  const staged = stages && readStages(source, stages, level, at('stages'));
  const shared = staged?.findIndex((stage) => entries.some((entry) => entry.name === stage.name)) ?? -1;
  if (shared >= 0) {
    const text = `is ${JSON.stringify(staged?.[shared].name)}, the name of an operation`;
    throw source.error(
      [...at('stages'), shared, 'name'],
      text,
      'Use a different name: requirements are named after both.',
    );
  }
  const requirements = [
    ...readRequirements(require),
    ...mix.flatMap((entry, i) => readRequirements(entry.require, { operation: entries[i].name })),
    ...(stages ?? []).flatMap((stage, i) => readRequirements(stage.require, { stage: staged?.[i].name })),
  ];
  const { length } = requirements;
  const problem = `${name} has ${length} requirements; the limit is ${MAX_REQUIREMENTS}`;
  if (length > MAX_REQUIREMENTS) throw source.error(path, problem, 'Use fewer.');
  return {
    name,
    /** null: it follows from the rate */
    model,
    /** by kebab-case name @type {Record<string, unknown>} */
    load,
    ...{ mix: entries, stages: staged, requirements },
    ...{ level, setup, source, at },
    /** places of load options, those of the run first @type {Path[]} */
    loadGroups: [at('load'), ['load']],
  };
}

/**
 * @param {string | string[] | undefined} texts @param {{operation?: string, stage?: string}} [scope]
 * @returns {PlannedRequirement[]} their texts begin with the scope
 */
function readRequirements(texts = [], scope = {}) {
  const about = scope.operation ?? scope.stage;
  return [texts].flat().map((given) => {
    const { text, ...requirement } = parseRequirement(given);
    return { ...requirement, ...scope, text: about === undefined ? text : `${about}: ${text}` };
  });
}

/** @param {Source} source @param {NonNullable<Scenario['stages']>} stages @param {Level} level @param {Path} path */
function readStages(source, stages, level, path) {
  /** @type {StagePlan[]} */
  const read = [];
  // Requirements find their stage by its name.
  const names = new Set(stages.flatMap(({ name }) => name ?? []));
  const nameFor = (/** @type {string} */ shape, nth = 1) => {
    const name = nth === 1 ? shape : `${shape} ${nth}`;
    if (names.has(name)) return nameFor(shape, nth + 1);
    names.add(name);
    return name;
  };
  for (const [i, stage] of stages.entries()) {
    const given = /** @type {Record<string, any>} */ (stage);
    const shape = Object.keys(SHAPES).find((key) => given[key] !== undefined) ?? '';
    const name = stage.name ?? nameFor(shape);
    const group = [...path, i];
    const place = { source, groups: [[...group, shape], group] };
    read.push({ name, lines: placed(place, () => linesOf(shape, given[shape], level)) });
  }
  const lines = read.flatMap((stage) => stage.lines);
  if (lines.length > MAX_LINES)
    throw source.error(path, `have ${lines.length} levels; the limit is ${MAX_LINES}`, 'Use fewer.', 'key');
  if (lines.every(({ from, to }) => from === 0 && to === 0))
    throw source.error(path, 'send nothing at all', 'Raise one of the levels above 0.', 'key');
  const ms = total(lines.map(({ durationMs }) => durationMs));
  const max = Number(commonOptions.duration.max);
  if (ms <= max) return read;
  const times = [ms, max].map(formatDuration);
  throw source.error(path, `take ${times[0]}; the limit is ${times[1]}`, 'Shorten a stage.', 'key');
}

/** @param {Source} source @param {Path[]} groups @param {string} key @returns {Path | null} of the first group that has it */
export function findPath(source, groups, key) {
  const paths = groups.map((group) => [...group, key]);
  return paths.find((path) => valueAt(source.value, path) !== undefined) ?? null;
}

const FLAG = /--([a-z][\w-]*)/g;

/**
 * Turns an error about flags into one about the file, at the first option that it names.
 * @template T
 * @param {{source: Source, groups: Path[], flags?: Record<string, unknown>, otherwise?: Path}} place `groups`: of the options;
 *   `flags`: of the command line, which keep their dashes; `otherwise`: the place if no option of the file is named
 * @param {() => T} act @returns {T}
 */
export function placed({ source, groups, flags = {}, otherwise }, act) {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof PkiLoadError) || error.code === 'bad_scenario') throw error;
    const names = [...error.message.matchAll(FLAG)].map(([, name]) => name);
    const paths = names.map((name) => (name in flags ? null : findPath(source, groups, name)));
    const path = paths.find((found) => found !== null) ?? otherwise;
    if (path === undefined) throw error;
    const plain = (/** @type {string} */ text) =>
      text.replace(FLAG, (flag, name) => (name in flags ? flag : name));
    throw source.error(path, plain(error.message), error.remedy && plain(error.remedy));
  }
}

/**
 * @param {readonly ScenarioRun[]} runs at least one @param {readonly string[]} names of --only; none: all runs
 * @returns {ScenarioRun[]} in the order of the file
 * @throws {PkiLoadError} code `unknown_run`, or `contradiction` if the file has no `runs`
 */
export function onlyRuns(runs, names) {
  if (names.length === 0) return [...runs];
  const [{ source }] = runs;
  const file = sanitizeText(source.name);
  if (valueAt(source.value, ['runs']) === undefined)
    throw usageError('contradiction', `--only selects from runs, but ${file} has none.`, 'Leave --only out.');
  const known = runs.map(({ name }) => name);
  const wanted = names.map((name) => name.trim());
  const unknown = wanted.find((name) => !known.includes(name));
  if (unknown === undefined) return runs.filter(({ name }) => wanted.includes(name));
  const problem = `--only is ${sanitizeText(quote(unknown))}, but ${file} has no run with this name.`;
  const remedy = `Its runs are ${known.map((name) => JSON.stringify(name)).join(', ')}.`;
  throw usageError('unknown_run', problem, remedy);
}
