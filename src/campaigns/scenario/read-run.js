/** One run of a scenario: its load, its mix, its stages and what is required of it. */

import { camelCase } from '../../common/options.js';
import { formatDuration } from '../../common/units.js';
import { loadOperation } from '../../operations/index.js';
import { commonOptions } from '../../plan/common-options.js';
import { parseRequirement } from '../../plan/requirements.js';
import { loadOptions } from './declaration.js';
import { checkOptions, located } from './problems.js';
import { linesOf, SHAPES, StageError } from './stages.js';
/** @import { StagePlan } from '../../plan/load.js' */
/** @import { MixEntry, PlannedRequirement } from '../../plan/plan.js' */
/** @import { Scenario } from './declaration.js' */
/** @import { ScenarioSetup } from './read.js' */
/** @import { Path, Source } from './source.js' */
/** @import { Level } from './stages.js' */

/** @typedef {'load' | 'mix' | 'stages' | 'require'} Part */
/**
 * @typedef {object} ScenarioRun
 * @property {string} name
 * @property {'open' | 'closed' | null} model null: it is for the rate to say
 * @property {Record<string, unknown>} load options, by kebab-case name
 * @property {MixEntry[]} mix options as the user wrote them, by camelCase name
 * @property {StagePlan[] | null} stages
 * @property {PlannedRequirement[]} requirements
 * @property {ScenarioSetup | null} setup the scenario's: it says which mount there is
 * @property {Source} source where it was read from
 * @property {(part: Part) => Path} at where each part of it stands
 */

/**
 * @param {Source} source
 * @param {Pick<Scenario, 'name' | 'load' | 'mix' | 'stages' | 'require'>} run
 * @param {{setup: ScenarioSetup | null, path: Path, at: (part: Part) => Path}} context `path`: where it stands; `at`: where that does which holds a
 *   part of it
 * @returns {Promise<ScenarioRun>}
 */
export async function readRun(
  source,
  { name, load = {}, mix, stages, require = [] },
  { setup, path, at: holds },
) {
  const at = (/** @type {Part} */ part) => [...holds(part), part];
  if (mix === undefined) {
    throw source.error(
      path,
      `there is no mix for ${JSON.stringify(name)}: nothing says what to send`,
      'Write mix: [{operation: issue}].',
    );
  }
  const { model = null, ...options } = load;
  checkLoad(source, at('load'), options);
  const entries = await readMix(source, mix, at('mix'));
  const level = model === 'closed' ? 'concurrency' : 'rate';
  const staged = stages === undefined ? null : readStages(source, stages, level, at('stages'));
  return {
    name,
    model,
    load: options,
    mix: entries,
    stages: staged,
    requirements: [
      ...readRequirements(source, require, at('require'), {}),
      ...mix.flatMap(({ require: own = [] }, i) =>
        readRequirements(source, own, [...at('mix'), i, 'require'], { operation: entries[i].name }),
      ),
      ...(stages ?? []).flatMap(({ require: own = [] }, i) =>
        readRequirements(source, own, [...at('stages'), i, 'require'], { stage: staged?.[i].name }),
      ),
    ],
    setup,
    source,
    at,
  };
}

/**
 * A run's load is that of the scenario with its own over it: each option is looked for in both.
 *
 * @param {Source} source
 * @param {Path} path
 * @param {Record<string, unknown>} options
 */
function checkLoad(source, path, options) {
  for (const [key, value] of Object.entries(options)) {
    checkOptions(source, placeOfLoad(source, path, key), loadOptions, { [key]: value });
  }
}

/**
 * @param {Source} source
 * @param {Path} path of the run's load
 * @param {string} key
 * @returns {Path} of the load that holds it
 */
function placeOfLoad(source, path, key) {
  const own = path.reduce((value, step) => Object(value)[step], /** @type {any} */ (source.value));
  return Object.hasOwn(Object(own), key) ? path : ['load'];
}

/**
 * @param {Source} source
 * @param {NonNullable<Scenario['mix']>} mix
 * @param {Path} path
 * @returns {Promise<MixEntry[]>}
 */
async function readMix(source, mix, path) {
  /** @type {MixEntry[]} */
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
 * @param {Level} level
 * @param {Path} path
 * @returns {StagePlan[]}
 */
function readStages(source, stages, level, path) {
  /** @type {StagePlan[]} */
  const read = [];
  for (const [i, stage] of stages.entries()) {
    const { name: given, require: _, ...shapes } = stage;
    const shape = shapeOf(source, shapes, [...path, i]);
    const name = given ?? uniqueName(shape, read);
    if (read.some((other) => other.name === name)) {
      throw source.error(
        [...path, i, given === undefined ? shape : 'name'],
        `is ${JSON.stringify(name)} a second time`,
        'Give each stage a name of its own.',
      );
    }
    try {
      read.push({ name, lines: linesOf(shape, /** @type {any} */ (stage)[shape], level) });
    } catch (error) {
      if (!(error instanceof StageError)) throw error;
      const { field, message, remedy } = error;
      throw source.error([...path, i, shape, ...(field === null ? [] : [field])], message, remedy);
    }
  }
  checkWhole(source, read, path);
  return read;
}

/** @param {Source} source @param {StagePlan[]} stages @param {Path} path */
function checkWhole(source, stages, path) {
  const lines = stages.flatMap((stage) => stage.lines);
  if (lines.every(({ from, to }) => from === 0 && to === 0)) {
    throw source.error(path, 'sends nothing at all', 'Raise one of the levels above 0.', 'key');
  }
  const ms = lines.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const { max = Number.POSITIVE_INFINITY } = commonOptions.duration;
  if (ms <= max) return;
  throw source.error(
    path,
    `takes ${formatDuration(ms)} together; it must be at most ${formatDuration(max)}`,
    'Shorten a stage.',
    'key',
  );
}

/**
 * @param {Source} source
 * @param {Record<string, unknown>} stage
 * @param {Path} path
 * @returns {string} key of SHAPES
 */
function shapeOf(source, stage, path) {
  const shapes = Object.keys(SHAPES).filter((shape) => stage[shape] !== undefined);
  if (shapes.length === 1) return shapes[0];
  throw source.error(
    path,
    shapes.length === 0
      ? 'the stage has no shape'
      : `the stage has ${shapes.length} shapes (${shapes.join(', ')})`,
    `Give it one of ${Object.keys(SHAPES).join(', ')}.`,
  );
}

/** @param {string} shape @param {{name: string}[]} others @returns {string} `hold`, `hold 2` */
function uniqueName(shape, others) {
  const taken = others.filter(({ name }) => name === shape || name.startsWith(`${shape} `)).length;
  return taken === 0 ? shape : `${shape} ${taken + 1}`;
}

/**
 * @param {Source} source
 * @param {string | readonly string[]} texts
 * @param {Path} path
 * @param {{operation?: string, stage?: string}} scope
 * @returns {PlannedRequirement[]} texts say what they are about
 */
function readRequirements(source, texts, path, scope) {
  const about = scope.operation ?? scope.stage;
  return [texts].flat().map((text, i) => {
    const place = Array.isArray(texts) ? [...path, i] : path;
    const requirement = located(source, place, () => parseRequirement(text));
    return about === undefined
      ? requirement
      : { ...requirement, ...scope, text: `${about}: ${requirement.text}` };
  });
}
