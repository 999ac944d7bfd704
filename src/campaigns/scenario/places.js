/** Where an option of a run stands in its file, and errors that are told there. */
import { PkiLoadError } from '../../common/errors.js';
import { camelCase } from '../../common/options.js';

/** @typedef {import('./read-run.js').ScenarioRun} ScenarioRun */
/** @typedef {import('./source.js').Path} Path */

const FLAG = /--([a-z][\w-]*)/g;

/**
 * @param {ScenarioRun} run
 * @param {string} name of an option of the load
 * @returns {Path | null} where it stands: in the run's own load, or in that of the scenario
 */
export function loadPath(run, name) {
  return pathIn(run.source, run.at('load'), name) ?? pathIn(run.source, ['load'], name);
}

/**
 * @param {ScenarioRun} run
 * @param {Record<string, unknown>} flags by camelCase name: they win
 * @param {Record<string, unknown>} said of the load, by camelCase name: what counts
 * @returns {(name: string) => Path | null} where an option of the load stands in the file and counts
 */
export function pathOfLoad(run, flags, said) {
  return (name) => {
    const key = camelCase(name);
    return flags[key] === undefined && said[key] !== undefined ? loadPath(run, name) : null;
  };
}

/**
 * @param {import('./source.js').Source} source
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
 * What the command line says of flags that contradict each other, at the place of the first of them that stands in the file.
 *
 * @template T
 * @param {ScenarioRun} run
 * @param {Record<string, unknown>} flags those that are given on the command line keep their dashes
 * @param {{pathOf: (name: string) => Path | null, group: Path | null}} where `pathOf` an option, where it stands in the file and
 *   counts; `group`: where it is that does not say which; null: it may be the command line
 * @param {() => T} act
 * @returns {T}
 */
export function inFile({ source }, flags, { pathOf, group }, act) {
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
 * @returns {Record<string, unknown>} by camelCase name, without what is not given
 */
export function camelKeys(given) {
  return Object.fromEntries(
    Object.entries(given).flatMap(([key, value]) => (value === undefined ? [] : [[camelCase(key), value]])),
  );
}
