/** Names of groups of files: the user's, else the common part of their files' names. */

import { realpathSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { usageError } from '../common/errors.js';
import { isResult, isRunSet, kindOf } from '../result/document.js';

/** @import { ReadDocument } from '../result/read-document.js' */
/** @import { NamedRun } from '../result/runs/run-metrics.js' */

const NAMELESS = 'runs';

/**
 * @param {string[][]} groups paths, at least one in each
 * @param {string[]} labels of the first groups
 * @returns {string[]} one for each group, no two the same
 */
export function nameGroups(groups, labels) {
  checkLabels(groups, labels);
  const short = groups.map((files, i) => labels[i] ?? shortName(files));
  const names = groups.map((files, i) => {
    const isUnique = short.indexOf(short[i]) === short.lastIndexOf(short[i]);
    return labels[i] ?? (isUnique ? short[i] : longName(files));
  });
  return names.map((name, i) => (names.indexOf(name) === i ? name : `${name} (${i + 1})`));
}

/** @param {string[][]} groups @param {string[]} labels */
function checkLabels(groups, labels) {
  if (labels.length > groups.length) {
    throw usageError(
      'too_many_names',
      `--name is given ${labels.length} times, but there are ${groups.length} groups.`,
      'Give it once for each group, for the base first.',
    );
  }
  const twice = labels.find((label, i) => labels.indexOf(label) !== i);
  if (twice !== undefined) {
    throw usageError(
      'same_name_twice',
      `--name ${JSON.stringify(twice.slice(0, 80))} is given to two groups.`,
      'Give each group a name of its own.',
    );
  }
}

/** @param {string[]} files @returns {string} without folders */
function shortName(files) {
  return nameOr(basename(commonPart(files)));
}

/** @param {string[]} files @returns {string} with the innermost folder */
function longName(files) {
  const parts = commonPart(files)
    .split('/')
    .filter((part) => nameOr(part) === part);
  return nameOr(parts.slice(-2).join('/'));
}

/** @param {string} name */
function nameOr(name) {
  return ['', '.', '..'].includes(name) ? NAMELESS : name;
}

/**
 * @param {string[]} files
 * @returns {string} what their paths begin with, without `.json` and what joins it to a number
 */
function commonPart(files) {
  const paths = files.map((file) => (file === '-' ? 'standard input' : file.replace(/\.json$/i, '')));
  let common = paths[0];
  while (!paths.every((path) => path.startsWith(common))) common = common.slice(0, -1);
  // Not `run1` of run1 and run10: a number is common as a whole or not at all.
  if (paths.some((path) => /^\d/.test(path.slice(common.length)))) common = common.replace(/\d+$/, '');
  return common.replace(/[-_.\s]+$/, '');
}

/** What stands for standard input, and what leads to the file that it is, where there is one. */
const [STDIN, STDIN_PATH] = ['-', '/dev/stdin'];

/**
 * @param {readonly string[]} outputs paths of `--out`
 * @param {readonly string[]} inputs paths of what will be read; `-` is standard input
 * @throws {PkiLoadError} code `out_is_input`, where a path of both leads to one file
 */
export function refuseOverwrite(outputs, inputs) {
  const read = new Map(inputs.map((input) => [realFile(input === STDIN ? STDIN_PATH : input), input]));
  for (const path of outputs) {
    const file = realFile(path);
    const input = file === null ? undefined : read.get(file);
    if (input === undefined) continue;
    throw usageError(
      'out_is_input',
      input === path
        ? `--out ${path} is one of the files to read, and would be overwritten.`
        : `--out ${path} is the same file as ${input === STDIN ? 'standard input' : input}, which is to be read, and would be overwritten.`,
      'Write to another file.',
    );
  }
}

/**
 * @param {string} path
 * @returns {string | null} absolute, whatever links lead to it; null: not found, or not a regular file
 */
function realFile(path) {
  try {
    return statSync(path).isFile() ? realpathSync.native(path) : null;
  } catch {
    return null;
  }
}

/**
 * @param {ReadDocument[]} read
 * @param {string} code of the error where a document holds no runs
 * @param {Record<string, [problem: string, remedy: string]>} refused by kind of document
 * @returns {Promise<NamedRun[][]>} the runs of each document
 */
export async function runsIn(read, code, refused) {
  const { namedRuns } = await import('../result/runs/run-metrics.js');
  return read.map(({ name, document }) => {
    if (isResult(document)) return [{ name, result: document }];
    if (isRunSet(document)) {
      return namedRuns(document.runs).map((run) => ({ ...run, name: `${name}, ${run.name}` }));
    }
    const [problem, remedy] = refused[kindOf(document)];
    throw usageError(code, `${name} is ${problem}.`, remedy);
  });
}
