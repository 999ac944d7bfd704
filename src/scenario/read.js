/** A scenario's text -> what is to be run, validated, with the place of whatever is wrong. */
import { PkiLoadError } from '../errors.js';
import { loadOperation, operations } from '../operations/index.js';
import { camelCase, readOne } from '../options.js';
import { parseRequirement } from '../results/requirements/requirements.js';
import { parseDuration } from '../units.js';
import { loadOptions, scenarioSchema, targetOptions } from './declaration.js';
import { firstProblem } from './problems.js';
import { parseSource } from './source.js';
import { linesOf, SHAPES, StageError } from './stages.js';
import { resolveVariables } from './variables.js';

/** @typedef {import('./source.js').Path} Path */
/** @typedef {import('./source.js').Source} Source */
/** @typedef {import('./declaration.js').Scenario} Scenario */
/** @typedef {import('../options.js').OptionSpec} OptionSpec */
/** @typedef {import('../plan.js').PlannedRequirement} PlannedRequirement */
/**
 * @typedef {object} ScenarioTarget
 * @property {string | null} name in results; null: there is only one
 * @property {string | null} tokenEnv environment variable that holds its token
 * @property {Record<string, unknown>} options by kebab-case name
 */
/**
 * @typedef {object} ScenarioRun
 * @property {string} name
 * @property {'open' | 'closed' | null} model null: it is for the rate to say
 * @property {Record<string, unknown>} load options, by kebab-case name
 * @property {import('../plan.js').MixEntry[]} mix options as the user wrote them, by camelCase name
 * @property {import('../plan-load.js').StagePlan[] | null} stages
 * @property {PlannedRequirement[]} requirements
 */
/**
 * @typedef {object} ReadScenario
 * @property {string} name
 * @property {string | null} description
 * @property {ScenarioTarget[]} targets at least one
 * @property {ScenarioRun[]} runs at least one
 * @property {number} repeat
 * @property {number} pauseMs
 * @property {string[]} out
 */

/**
 * @param {string} text
 * @param {string} name of the file, for errors
 * @param {Record<string, string | undefined>} env
 * @returns {Promise<ReadScenario>}
 * @throws {PkiLoadError} code `bad_scenario`, with line and column
 */
export async function readScenario(text, name, env) {
  const source = parseSource(text, name);
  const value = resolveVariables(source, env);
  const parsed = scenarioSchema(Object.keys(operations)).safeParse(value);
  if (!parsed.success) throw firstProblem(source, parsed.error.issues);
  const scenario = parsed.data;
  return {
    name: scenario.name,
    description: scenario.description ?? null,
    targets: readTargets(source, scenario),
    runs: await readRuns(source, scenario),
    repeat: scenario.repeat ?? 1,
    pauseMs:
      scenario.pause === undefined
        ? 0
        : located(source, ['pause'], () =>
            parseDuration(/** @type {string | number} */ (scenario.pause), 'pause'),
          ),
    out: scenario.out === undefined ? [] : [scenario.out].flat(),
  };
}

/**
 * @param {Source} source
 * @param {Scenario} scenario
 * @returns {ScenarioTarget[]}
 */
function readTargets(source, { target, targets }) {
  if (target !== undefined && targets !== undefined) {
    throw source.error(['targets'], 'stands beside target; there can be one of them', undefined, 'key');
  }
  /** @type {Set<string>} */
  const names = new Set();
  const given = targets ?? [target ?? {}];
  return given.map((one, i) => {
    const path = targets === undefined ? ['target'] : ['targets', i];
    const { name: own = null, 'token-env': tokenEnv = null, ...options } = /** @type {any} */ (one);
    if (own !== null && names.has(own))
      throw source.error([...path, 'name'], `is ${JSON.stringify(own)} a second time`);
    names.add(own);
    checkOptions(source, path, targetOptions, options);
    return { name: own, tokenEnv, options };
  });
}

/**
 * @param {Source} source
 * @param {Scenario} scenario
 * @returns {Promise<ScenarioRun[]>}
 */
async function readRuns(source, scenario) {
  const { name, load, mix, stages, require, runs } = scenario;
  const whole = { load, mix, stages, require };
  if (runs === undefined) return [await readRun(source, { name, ...whole }, () => [])];
  /** @type {ScenarioRun[]} */
  const read = [];
  for (const [i, run] of runs.entries()) {
    if (read.some((other) => other.name === run.name)) {
      throw source.error(['runs', i, 'name'], `is ${JSON.stringify(run.name)} a second time`);
    }
    const own = { ...whole, ...run, load: { ...load, ...run.load } };
    const at = (/** @type {'load' | 'mix' | 'stages' | 'require'} */ part) =>
      run[part] === undefined ? [] : ['runs', i];
    read.push(await readRun(source, own, at));
  }
  return read;
}

/**
 * @param {Source} source
 * @param {Pick<Scenario, 'name' | 'load' | 'mix' | 'stages' | 'require'>} run
 * @param {(part: 'load' | 'mix' | 'stages' | 'require') => Path} at where this part of it stands
 * @returns {Promise<ScenarioRun>}
 */
async function readRun(source, { name, load = {}, mix, stages, require = [] }, at) {
  if (mix === undefined) {
    throw source.error(
      [],
      `there is no mix${at('mix').length === 0 ? '' : ` for ${name}`}: nothing says what to send`,
      'Write mix: [{operation: issue}].',
    );
  }
  const { model = null, ...options } = load;
  checkOptions(source, [...at('load'), 'load'], loadOptions, options);
  const entries = await readMix(source, mix, [...at('mix'), 'mix']);
  const level = model === 'closed' ? 'concurrency' : 'rate';
  const staged = stages === undefined ? null : readStages(source, stages, level, [...at('stages'), 'stages']);
  return {
    name,
    model,
    load: options,
    mix: entries,
    stages: staged,
    requirements: [
      ...readRequirements(source, require, [...at('require'), 'require'], {}),
      ...mix.flatMap(({ require: own = [] }, i) =>
        readRequirements(source, own, [...at('mix'), 'mix', i, 'require'], { operation: entries[i].name }),
      ),
      ...(stages ?? []).flatMap(({ require: own = [] }, i) =>
        readRequirements(source, own, [...at('stages'), 'stages', i, 'require'], { stage: staged?.[i].name }),
      ),
    ],
  };
}

/**
 * @param {Source} source
 * @param {NonNullable<Scenario['mix']>} mix
 * @param {Path} path
 * @returns {Promise<import('../plan.js').MixEntry[]>}
 */
async function readMix(source, mix, path) {
  /** @type {import('../plan.js').MixEntry[]} */
  const entries = [];
  for (const [i, { operation, name = operation, weight = 1, options = {} }] of mix.entries()) {
    if (entries.some((other) => other.name === name)) {
      const isNamed = mix[i].name !== undefined;
      throw source.error(
        [...path, i, isNamed ? 'name' : 'operation'],
        `${JSON.stringify(name)} is in the mix already`,
        'Give each entry a name of its own.',
      );
    }
    const { options: specs } = await loadOperation(operation);
    checkOptions(source, [...path, i, 'options'], specs, options);
    const own = Object.fromEntries(Object.entries(options).map(([key, value]) => [camelCase(key), value]));
    entries.push({ name, operation, weight, options: own });
  }
  return entries;
}

/**
 * @param {Source} source
 * @param {NonNullable<Scenario['stages']>} stages
 * @param {'rate' | 'concurrency'} level
 * @param {Path} path
 * @returns {import('../plan-load.js').StagePlan[]}
 */
function readStages(source, stages, level, path) {
  /** @type {import('../plan-load.js').StagePlan[]} */
  const read = [];
  for (const [i, stage] of stages.entries()) {
    const shapes = Object.keys(SHAPES).filter((shape) => /** @type {any} */ (stage)[shape] !== undefined);
    if (shapes.length !== 1) {
      const known = Object.keys(SHAPES).join(', ');
      throw source.error(
        [...path, i],
        shapes.length === 0
          ? 'the stage has no shape'
          : `the stage has ${shapes.length} shapes (${shapes.join(', ')})`,
        `Give it one of ${known}.`,
      );
    }
    const [shape] = shapes;
    const name = stage.name ?? uniqueName(shape, read);
    if (read.some((other) => other.name === name)) {
      throw source.error([...path, i, 'name'], `is ${JSON.stringify(name)} a second time`);
    }
    try {
      read.push({ name, lines: linesOf(shape, /** @type {any} */ (stage)[shape], level) });
    } catch (error) {
      if (!(error instanceof StageError)) throw error;
      throw source.error([...path, i, shape, ...(error.field === null ? [] : [error.field])], error.message);
    }
  }
  return read;
}

/**
 * @param {string} shape
 * @param {{name: string}[]} others
 * @returns {string} `hold`, `hold 2`
 */
function uniqueName(shape, others) {
  const taken = others.filter(({ name }) => name === shape || name.startsWith(`${shape} `)).length;
  return taken === 0 ? shape : `${shape} ${taken + 1}`;
}

/**
 * @param {Source} source
 * @param {readonly string[]} texts
 * @param {Path} path
 * @param {{operation?: string, stage?: string}} scope
 * @returns {PlannedRequirement[]} texts say what they are about
 */
function readRequirements(source, texts, path, scope) {
  const about = scope.operation ?? scope.stage;
  return texts.map((text, i) => {
    const requirement = located(source, [...path, i], () => parseRequirement(text));
    return about === undefined
      ? requirement
      : { ...requirement, ...scope, text: `${about}: ${requirement.text}` };
  });
}

/**
 * @param {Source} source
 * @param {Path} path
 * @param {Record<string, OptionSpec>} specs by kebab-case name
 * @param {Record<string, unknown>} given by kebab- or camelCase name
 */
function checkOptions(source, path, specs, given) {
  for (const [key, value] of Object.entries(given)) {
    const found = Object.entries(specs).find(([name]) => name === key || camelCase(name) === key);
    if (found === undefined) {
      const known = Object.keys(specs).join(', ');
      throw source.error(
        [...path, key],
        known === '' ? 'there are no options' : `not known here; known are ${known}`,
        undefined,
        'key',
      );
    }
    const [, spec] = found;
    for (const one of spec.repeatable ? [value].flat() : [value]) {
      located(source, [...path, key], () => readOne(spec, key, one));
    }
  }
}

/**
 * What the command line says of a value, at its place in the file.
 *
 * @template T
 * @param {Source} source
 * @param {Path} path
 * @param {() => T} read
 * @returns {T}
 */
function located(source, path, read) {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof PkiLoadError)) throw error;
    const last = String(path[path.length - 1]);
    throw source.error(
      path,
      error.message.replace(new RegExp(`^(?:--)?${last} (?=is|holds|has|contains|takes)`), ''),
      error.remedy,
    );
  }
}
