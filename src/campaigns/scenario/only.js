/** `--only`: some runs of a scenario, by their names. */

import { closest } from '../../common/closest.js';
import { usageError } from '../../common/errors.js';
import { pathIn } from './places.js';

/** @typedef {import('./read-run.js').ScenarioRun} ScenarioRun */

/**
 * @param {readonly ScenarioRun[]} runs of the scenario, at least one
 * @param {readonly string[]} names as --only gives them; none: all runs
 * @returns {ScenarioRun[]} those of these names, in the order of the file
 * @throws {import('../../common/errors.js').PkiLoadError} code `unknown_run`, naming those that there are; `contradiction` where the file has no
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

/**
 * @param {string} name
 * @param {readonly string[]} known
 * @param {string} file
 */
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
