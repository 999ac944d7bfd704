/** The file of `issue --keep`: a JSON line for each certificate. */
import { closeSync, constants, openSync, statSync, writeSync } from 'node:fs';
import { usageError } from '../common/errors.js';
/** @import { Keeper } from './index.js' */

/**
 * Opens the file at once, so an unwritable path fails before anything is sent. Lines are appended whole:
 * several threads may have the same file open.
 * @param {string} path @returns {Keeper}
 */
export function openKeepFile(path) {
  const file = openToAppend(path);
  let count = 0;
  /** @type {string | null} */
  let failure = null;
  return {
    write(items) {
      if (failure !== null) return;
      try {
        const lines = Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(''));
        // A nearly full disk accepts part of it; the next write then fails with the reason.
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

/** O_NONBLOCK: a pipe that replaced the file after the check would block until it has a reader. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK;

/** @param {string} path */
function openToAppend(path) {
  const remedy = 'Use a file in an existing, writable folder.';
  const fault = (/** @type {string} */ problem, /** @type {unknown} */ cause) =>
    usageError('cannot_write', `--keep ${path} ${problem}.`, remedy, cause);
  const stat = statSync(path, { throwIfNoEntry: false });
  // Opening a pipe would block until it has a reader. /dev/null and the like never block.
  if (stat?.isFIFO() || stat?.isSocket() || stat?.isBlockDevice())
    throw fault('is a pipe, a socket or a disk, not a file', undefined);
  try {
    // O_EXCL does not follow a link to a missing file.
    const flags = stat === undefined ? APPEND | constants.O_CREAT | constants.O_EXCL : APPEND;
    return openSync(path, flags, 0o644);
  } catch (error) {
    throw fault(`cannot be written to (${/** @type {NodeJS.ErrnoException} */ (error).code})`, error);
  }
}
