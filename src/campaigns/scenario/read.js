/** A scenario's text -> its runs, validated; errors have line and column. */
import { closest } from '../../common/closest.js';
import { usageError } from '../../common/errors.js';
import { readOptions } from '../../common/options.js';
import { operations } from '../../operations/index.js';
import { reporterForFile } from '../../report/index.js';
import { checkName, readSetupOptions } from '../../vault/setup/setup-plan.js';
import { scenarioSchema, targetOptions } from './declaration.js';
import { checkOptions, firstProblem, located } from './problems.js';
import { readRun } from './read-run.js';
import { pathIn } from './scenario-plan.js';
import { parseSource } from './source.js';
import { resolveVariables } from './variables.js';

/** @import { OptionSpec } from '../../common/options.js' */
/** @import { Scenario } from './declaration.js' */
/** @import { ScenarioRun } from './read-run.js' */
/** @import { Path, Source } from './source.js' */

/** As --pause and --out, which are the command line's. @type {Record<string, OptionSpec>} */
const OWN = {
  pause: { type: 'duration', group: '', describe: 'Between runs', max: 86_400_000 },
  out: { type: 'file', group: '', describe: 'Results', repeatable: true },
};

/**
 * @typedef {object} ScenarioTarget
 * @property {string | null} name in results; null: there is only one
 * @property {string | null} tokenEnv environment variable that holds its token
 * @property {Record<string, unknown>} options by kebab-case name
 */
/**
 * @typedef {object} ScenarioSetup made on each target before the first run, removed after the last
 * @property {string} name
 * @property {'rsa' | 'ec' | null} caKeyType null: not given
 * @property {boolean | null} autoRebuild of CRLs; null: not given
 * @property {string[]} with engines beside the PKI
 * @property {boolean} keep it stays
 */
/**
 * @typedef {object} ReadScenario
 * @property {string} name
 * @property {string | null} description
 * @property {ScenarioSetup | null} setup
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
  const source = resolveVariables(parseSource(text, name), env);
  const parsed = scenarioSchema(Object.keys(operations)).safeParse(source.value);
  if (!parsed.success) throw firstProblem(source, parsed.error.issues);
  const scenario = parsed.data;
  const setup = readSetup(source, scenario);
  return {
    name: scenario.name,
    description: scenario.description ?? null,
    setup,
    targets: readTargets(source, scenario),
    runs: await readRuns(source, scenario, setup),
    repeat: scenario.repeat ?? 1,
    pauseMs: readPause(source, scenario),
    out: readOut(source, scenario),
  };
}

/** @param {Source} source @param {Scenario} scenario @returns {ScenarioSetup | null} */
function readSetup(source, { setup = false }) {
  if (setup === false) return null;
  const { keep = false, ...given } = setup === true ? {} : setup;
  const { name, caKeyType, autoRebuild, with: engines } = readSetupOptions(given);
  located(source, ['setup', 'name'], () => checkName(name));
  return { name, caKeyType, autoRebuild, with: [...new Set(engines)], keep };
}

/** @param {Source} source @param {Scenario} scenario @returns {ScenarioTarget[]} */
function readTargets(source, { target, targets }) {
  if (target !== undefined && targets !== undefined) {
    throw source.error(
      ['targets'],
      'stands beside target; there can be one of them',
      'Leave target out.',
      'key',
    );
  }
  /** @type {Set<string>} */
  const names = new Set();
  const given = targets ?? [target ?? {}];
  return given.map((one, i) => {
    const path = targets === undefined ? ['target'] : ['targets', i];
    const { name: own = null, 'token-env': tokenEnv = null, ...options } = /** @type {any} */ (one);
    if (own !== null && names.has(own)) throw repeated(source, [...path, 'name'], own);
    names.add(own);
    checkOptions(source, path, targetOptions, options);
    return { name: own, tokenEnv, options };
  });
}

/**
 * @param {Source} source
 * @param {Scenario} scenario
 * @param {ScenarioSetup | null} setup
 * @returns {Promise<ScenarioRun[]>}
 */
async function readRuns(source, scenario, setup) {
  const { name, load, mix, stages, require, runs } = scenario;
  const whole = { load, mix, stages, require };
  if (runs === undefined)
    return [await readRun(source, { name, ...whole }, { setup, path: [], at: () => [] })];
  /** @type {ScenarioRun[]} */
  const read = [];
  for (const [i, run] of runs.entries()) {
    if (read.some((other) => other.name === run.name)) {
      throw repeated(source, ['runs', i, 'name'], run.name);
    }
    const own = { ...whole, ...run, load: { ...load, ...run.load } };
    const at = (/** @type {'load' | 'mix' | 'stages' | 'require'} */ part) =>
      run[part] === undefined ? [] : ['runs', i];
    read.push(await readRun(source, own, { setup, path: ['runs', i], at }));
  }
  return read;
}

/** @param {Source} source @param {Path} path @param {string} name */
function repeated(source, path, name) {
  return source.error(path, `is ${JSON.stringify(name)} a second time`, 'Give each a name of its own.');
}

/** @param {Source} source @param {Scenario} scenario @returns {number} ms */
function readPause(source, { pause }) {
  if (pause === undefined) return 0;
  checkOptions(source, [], OWN, { pause });
  return readOptions(OWN, { pause }).pause;
}

/** @param {Source} source @param {Scenario} scenario */
function readOut(source, { out = [] }) {
  checkOptions(source, [], OWN, { out });
  const paths = [out].flat();
  for (const [i, path] of paths.entries()) {
    located(source, Array.isArray(out) ? ['out', i] : ['out'], () => reporterForFile(path));
  }
  return paths;
}

/**
 * @param {readonly ScenarioRun[]} runs of the scenario, at least one
 * @param {readonly string[]} names as --only gives them; none: all runs
 * @returns {ScenarioRun[]} those of these names, in the order of the file
 * @throws {PkiLoadError} code `unknown_run`, naming those that there are; `contradiction` where the file has no
 *   `runs` to choose from
 */
export function onlyRuns(runs, names) {
  if (names.length === 0) return [...runs];
  const [{ source }] = runs;
  if (pathIn(source, [], 'runs') === null) {
    throw usageError(
      'contradiction',
      `--only chooses among runs, but ${source.name} has none: it is one as a whole.`,
      'Leave --only out.',
    );
  }
  const known = runs.map(({ name }) => name);
  const wanted = names.map((name) => name.trim());
  const unknown = wanted.find((name) => !known.includes(name));
  if (unknown !== undefined) throw unknownRun(unknown, known, source.name);
  return runs.filter(({ name }) => wanted.includes(name));
}

/** @param {string} name @param {readonly string[]} known @param {string} file */
function unknownRun(name, known, file) {
  const quoted = (/** @type {string} */ text) => JSON.stringify(text);
  const near = closest(name, known);
  const hint = near === null ? '' : `Did you mean ${quoted(near)}? `;
  return usageError(
    'unknown_run',
    `--only is ${quoted(name.slice(0, 80))}, but ${file} has no run of that name.`,
    `${hint}Its runs are ${known.map(quoted).join(', ')}.`,
  );
}
