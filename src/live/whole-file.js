/** Files that a reader, or whoever comes after a `kill -9`, finds whole: the one before or the new one, never half of it. */
import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';

/** One name for all writes of this thread: what a killed process leaves behind is one file at most. Not to be guessed by others. */
const SUFFIX = `.${randomBytes(4).toString('hex')}.tmp`;

/**
 * @param {string} path of a file, see kindOf
 * @param {string} text
 * @throws {NodeJS.ErrnoException} the file is then as it was
 */
export function writeWhole(path, text) {
  const temporary = `${path}${SUFFIX}`;
  try {
    writeFileSync(temporary, text);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/**
 * @param {string} path
 * @returns {'file' | 'folder' | 'device'} file: or nothing there yet; device: or a pipe, which is written to as it is, and once
 */
export function kindOf(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return 'file';
  return stats.isDirectory() ? 'folder' : 'device';
}
