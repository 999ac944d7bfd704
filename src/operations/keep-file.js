/** The file of `issue --keep`: a JSON line for each certificate. */
import { closeSync, constants, openSync, statSync, writeSync } from 'node:fs';
import { usageError } from '../common/errors.js';
import { fileFault, placeOf } from '../common/whole-file.js';
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
const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK, O_WRONLY } = constants;
const APPEND = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOFOLLOW;

/** @param {string} path */
function openToAppend(path) {
  const refuse = (
    /** @type {string} */ problem,
    /** @type {string} */ remedy,
    /** @type {unknown} */ cause,
  ) => usageError('cannot_write', `--keep ${path} ${problem}.`, remedy, cause);
  const stat = statSync(path, { throwIfNoEntry: false });
  // Opening a pipe would block until it has a reader. /dev/null and the like never block.
  if (stat?.isFIFO() || stat?.isSocket() || stat?.isBlockDevice())
    throw refuse('is a pipe, a socket or a disk, not a file', 'Use a file in a writable folder.', null);
  try {
    return openSync(placeOf(path), APPEND, 0o644);
  } catch (error) {
    const { why, remedy } = fileFault(path, error);
    throw refuse(`cannot be written to: ${why}`, remedy, error);
  }
}
