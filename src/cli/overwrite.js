/** Results that are read are not to be lost by what is made of them: `merge a.json b.json --out a.json` could not be repeated. */
import { realpathSync, statSync } from 'node:fs';
import { usageError } from '../common/errors.js';

/** What stands for standard input, and what leads to the file that it is, where there is one. */
const [STDIN, STDIN_PATH] = ['-', '/dev/stdin'];

/**
 * @param {readonly string[]} outputs paths of `--out`
 * @param {readonly string[]} inputs paths of what will be read; `-` is standard input
 * @throws {import('../common/errors.js').PkiLoadError} code `out_is_input`, where a path of both leads to one file
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
 * @returns {string | null} absolute, whatever links lead to it; null: there is none, or nothing that could be overwritten
 */
function realFile(path) {
  try {
    return statSync(path).isFile() ? realpathSync.native(path) : null;
  } catch {
    return null;
  }
}
