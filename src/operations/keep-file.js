/** The file of `issue --keep`: a JSON line for each certificate. */
import { closeSync, constants, fstatSync, lstatSync, openSync, writeSync } from 'node:fs';
import { usageError } from '../common/errors.js';
/** @import { Keeper } from './index.js' */

/**
 * Opens the file at once, so an unwritable path is known before anything is sent. Lines are appended whole:
 * several threads may have the same file open.
 * @param {string} path @returns {Keeper}
 */
export function openKeepFile(path) {
  const file = openRegular(path);
  let count = 0;
  /** @type {string | null} */
  let failure = null;
  return {
    write(items) {
      if (failure !== null) return;
      try {
        const lines = Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(''));
        // A disk that is almost full takes a part; the next write then fails with the reason.
        for (let written = 0; written < lines.length; ) written += writeSync(file, lines, written);
        count += items.length;
      } catch (error) {
        failure = String(/** @type {NodeJS.ErrnoException} */ (error).code);
      }
    },
    close() {
      closeSync(file);
      return { count, failure };
    },
  };
}

/** Without O_NONBLOCK, opening a FIFO blocks until it has a reader, and signals with it. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | (constants.O_NONBLOCK ?? 0);

/** O_EXCL: a link to nothing is not followed. */
const CREATE = APPEND | constants.O_CREAT | constants.O_EXCL;

/** @param {string} path */
function openRegular(path) {
  const remedy = 'Give a file in an existing, writable folder.';
  try {
    const file = openSync(path, isNew(path) ? CREATE : APPEND, 0o644);
    const stat = fstatSync(file);
    // /dev/null and the like never block.
    if (stat.isFile() || stat.isCharacterDevice()) return file;
    closeSync(file);
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    // ENXIO: a FIFO without a reader, or a socket.
    if (code !== 'ENXIO')
      throw usageError('cannot_write', `--keep ${path} cannot be written to (${code}).`, remedy, error);
  }
  throw usageError('cannot_write', `--keep ${path} is a pipe, a socket or a disk, not a file.`, remedy);
}

/** @param {string} path @returns {boolean} neither a file nor a link */
function isNew(path) {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined;
}
