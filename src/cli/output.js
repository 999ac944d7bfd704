/** Results -> standard output and files. */
import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { usageError } from '../errors.js';
import { reporterForFile, reporters } from '../reporters/index.js';

const GROUP = 'Requirements and results';

/** @type {Record<string, import('../options.js').OptionSpec>} */
export const outputOptions = {
  out: {
    type: 'file',
    group: GROUP,
    placeholder: 'FILE',
    repeatable: true,
    describe: `Write the result to a file; its extension picks the format (${Object.values(reporters)
      .map(({ extension }) => extension)
      .join(', ')}); repeatable`,
  },
  format: {
    type: 'choice',
    group: GROUP,
    choices: Object.keys(reporters),
    default: 'text',
    describe: 'Form of the result on standard output',
  },
  quiet: { type: 'flag', group: GROUP, describe: 'No progress on standard error' },
};

/** @type {Record<string, string>} */
const WHY = {
  ENOENT: 'its folder is not there',
  ENOTDIR: 'what should be its folder is a file',
  EISDIR: 'it is a folder',
};

/**
 * Says before the run what could not be written after it.
 *
 * @param {string[]} paths
 */
export function checkOutputs(paths) {
  for (const path of paths) {
    reporterForFile(path);
    try {
      if (kindOf(dirname(path)) !== 'folder') {
        throw Object.assign(new Error(), { code: existsSync(dirname(path)) ? 'ENOTDIR' : 'ENOENT' });
      }
      accessSync(dirname(path), constants.W_OK);
      if (kindOf(path) === 'folder') throw Object.assign(new Error(), { code: 'EISDIR' });
    } catch (error) {
      throw cannotWrite(path, error);
    }
  }
}

/**
 * What cannot be written in one place is still written in all others.
 *
 * @param {import('../results/schema.js').Result} result
 * @param {Record<string, any>} outputs values of outputOptions
 */
export async function writeOutputs(result, { out, format }) {
  const name = /** @type {keyof typeof reporters} */ (format);
  /** @type {unknown[]} */
  const failures = [];
  for (const path of out) {
    const reporter = await reporterForFile(path).load();
    await writeWhole(path, reporter.render(result)).catch((error) => failures.push(error));
  }
  const { render } = await reporters[name].load();
  process.stdout.write(render(result, { color: process.stdout.isTTY && !process.env.NO_COLOR }));
  if (failures.length > 0) throw failures[0];
}

/**
 * A reader sees the old file or the new one, never half of it.
 *
 * @param {string} path
 * @param {string} text
 */
async function writeWhole(path, text) {
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    if (kindOf(path) === 'device') return await writeFile(path, text);
    await writeFile(temporary, text);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw cannotWrite(path, error);
  }
}

/** @param {string} path */
function kindOf(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return 'file';
  return stats.isDirectory() ? 'folder' : 'device';
}

/**
 * @param {string} path
 * @param {unknown} error
 */
function cannotWrite(path, error) {
  const { code } = /** @type {NodeJS.ErrnoException} */ (error);
  const why = WHY[code ?? ''] ?? code;
  return usageError(
    'cannot_write',
    `--out ${path} cannot be written: ${why}.`,
    'Give a file in a folder that may be written to.',
    error,
  );
}
