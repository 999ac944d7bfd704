/** Result files: names for groups of files, and the runs in them. */
import { quote, usageError } from '../common/errors.js';
import { KIND_NAMES } from '../report/index.js';
import { isResult, isRunSet, kindOf } from '../result/document.js';

/** @import { ReadDocument } from '../result/read-document.js' */
/** @import { NamedRun } from '../result/runs/run-set.js' */

/** Unique names: labels, or common paths. @param {string[][]} groups of paths @param {string[]} labels in order */
export function nameGroups(groups, labels) {
  if (labels.length > groups.length) {
    const message = `--name is given ${labels.length} times, but there are ${groups.length} groups.`;
    throw usageError('too_many_names', message, 'Pass it once per group, the base first.');
  }
  const duplicate = labels.find((label, i) => labels.indexOf(label) !== i);
  if (duplicate !== undefined) {
    const message = `--name ${quote(duplicate)} is given to two groups.`;
    throw usageError('same_name_twice', message, 'Use a different name for each group.');
  }
  const short = groups.map((files, i) => labels[i] ?? nameOf(files, 1));
  const isUnique = (/** @type {string} */ name) => short.indexOf(name) === short.lastIndexOf(name);
  const names = groups.map((files, i) => labels[i] ?? nameOf(files, isUnique(short[i]) ? 1 : 2));
  return names.map((name, i) => (names.indexOf(name) === i ? name : `${name} (${i + 1})`));
}

/** @param {string[]} files @param {number} count trailing parts of their common path to use @returns {string} */
function nameOf(files, count) {
  const parts = commonPart(files).split('/');
  const named = parts.filter((part) => !['', '.', '..'].includes(part));
  return named.slice(-count).join('/') || 'runs';
}

/** @param {string[]} files @returns {string} the beginning of all paths, without `.json` and separators at its end */
function commonPart(files) {
  const paths = files.map((file) => (file === '-' ? 'standard input' : file.replace(/\.json$/i, '')));
  let common = paths[0];
  while (!paths.every((path) => path.startsWith(common))) common = common.slice(0, -1);
  // `run1` and `run10` share only `run`: numbers are never split.
  if (paths.some((path) => /^\d/.test(path.slice(common.length)))) common = common.replace(/(?<!\d)\d+$/, '');
  return common.replace(/(?<![-_.\s])[-_.\s]+$/, '');
}

/** @param {ReadDocument[]} read @returns {number[]} of each: planned runs of a set that did not take place */
export const missingIn = (read) =>
  read.map(({ document }) =>
    isRunSet(document) ? Math.max(0, (document.planned ?? 0) - document.runs.length) : 0,
  );

/** @param {ReadDocument[]} read @returns {Promise<NamedRun[][]>} the runs of each @throws {PkiLoadError} for a document without runs */
export async function runsIn(read) {
  const { namedRuns } = await import('../result/runs/run-set.js');
  return read.map(({ name, document }) => {
    if (isResult(document)) return [{ name, result: document }];
    if (isRunSet(document)) {
      return namedRuns(document.runs).map((run) => ({ ...run, name: `${name}, ${run.name}` }));
    }
    const message = `${name} is ${KIND_NAMES[kindOf(document)]}, not the result of a run.`;
    throw usageError('not_a_run', message, 'Pass only results of runs, or report this file on its own.');
  });
}
