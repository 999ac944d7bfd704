/** Files of results: the names of groups of them, and their runs. */
import { basename } from 'node:path';
import { quote, usageError } from '../common/errors.js';
import { KIND_NAMES } from '../report/index.js';
import { isResult, isRunSet, kindOf } from '../result/document.js';

/** @import { ReadDocument } from '../result/read-document.js' */
/** @import { NamedRun } from '../result/runs/run-set.js' */

/**
 * @param {string[][]} groups paths, at least one in each
 * @param {string[]} labels of the first groups
 * @returns {string[]} one for each group, no two the same: its label, else the common part of its files' names
 */
export function nameGroups(groups, labels) {
  const tooMany = `--name is given ${labels.length} times, but there are ${groups.length} groups.`;
  if (labels.length > groups.length) {
    throw usageError('too_many_names', tooMany, 'Give it once for each group, for the base first.');
  }
  const twice = labels.find((label, i) => labels.indexOf(label) !== i);
  if (twice !== undefined) {
    const message = `--name ${quote(twice)} is given to two groups.`;
    throw usageError('same_name_twice', message, 'Give each group a name of its own.');
  }
  const short = groups.map((files, i) => labels[i] ?? nameOr(basename(commonPart(files))));
  const names = groups.map((files, i) => {
    const isUnique = short.indexOf(short[i]) === short.lastIndexOf(short[i]);
    return labels[i] ?? (isUnique ? short[i] : longName(files));
  });
  return names.map((name, i) => (names.indexOf(name) === i ? name : `${name} (${i + 1})`));
}

/** @param {string[]} files @returns {string} with the innermost folder */
function longName(files) {
  const parts = commonPart(files).split('/');
  const named = parts.filter((part) => nameOr(part) === part);
  return nameOr(named.slice(-2).join('/'));
}

/** @param {string} name */
function nameOr(name) {
  return ['', '.', '..'].includes(name) ? 'runs' : name;
}

/** @param {string[]} files @returns {string} the beginning of all paths, without `.json` and separators at its end */
function commonPart(files) {
  const paths = files.map((file) => (file === '-' ? 'standard input' : file.replace(/\.json$/i, '')));
  let common = paths[0];
  while (!paths.every((path) => path.startsWith(common))) common = common.slice(0, -1);
  // Not `run1` of run1 and run10: a number is common as a whole or not at all.
  if (paths.some((path) => /^\d/.test(path.slice(common.length)))) common = common.replace(/\d+$/, '');
  return common.replace(/[-_.\s]+$/, '');
}

/** By kind of document. @type {Record<string, string>} */
const REMEDIES = {
  comparison: 'Give the results that it compares.',
  'scenario-result': 'Give the files beside it, of one run and target each.',
};

/** @param {ReadDocument[]} read @returns {Promise<NamedRun[][]>} the runs of each @throws {PkiLoadError} for a document without runs */
export async function runsIn(read) {
  const { namedRuns } = await import('../result/runs/run-set.js');
  return read.map(({ name, document }) => {
    if (isResult(document)) return [{ name, result: document }];
    if (isRunSet(document)) {
      return namedRuns(document.runs).map((run) => ({ ...run, name: `${name}, ${run.name}` }));
    }
    const kind = kindOf(document);
    const remedy = REMEDIES[kind] ?? 'Give results of runs; report shows this one alone.';
    throw usageError('not_a_run', `${name} is ${KIND_NAMES[kind]}, not the result of a run.`, remedy);
  });
}
