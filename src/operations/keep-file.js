/** The file of `issue --keep`: a JSON line for each certificate. */
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { assertNotLinked, describeWriteError, resolveLinks } from '../common/atomic-write.js';
import { usageError } from '../common/errors.js';
/** @import { Keeper, Kept } from './index.js' */

/**
 * Opens the file at once, so an unwritable path fails before anything is sent. Lines are appended whole:
 * several threads may have the same file open.
 * @param {string} path @returns {Keeper}
 */
export function openKeepFile(path) {
  const file = openToAppend(path);
  let count = 0;
  /** @type {Kept['failure']} */
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
        const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
        failure = { code, message };
      }
    },
    close() {
      closeSync(file);
      return { count, failure };
    },
  };
}

/** Without O_NONBLOCK, opening a pipe could block. */
const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK, O_RDWR } = constants;
const APPEND = O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK | O_NOFOLLOW;

/** @param {string} path */
function openToAppend(path) {
  const refuse = (/** @type {string} */ problem, remedy = 'Use a file in a writable directory.') =>
    usageError('cannot_write', `--keep ${path} ${problem}.`, remedy);
  const noFile = refuse('is a pipe, a socket or a block device, not a file');
  let file;
  try {
    file = openSync(resolveLinks(path), APPEND, 0o644);
    assertNotLinked(fstatSync(file));
  } catch (error) {
    if (file !== undefined) closeSync(file);
    const { why, remedy } = describeWriteError(path, error);
    // ENXIO: a socket.
    const isSocket = /** @type {NodeJS.ErrnoException} */ (error).code === 'ENXIO';
    throw isSocket ? noFile : refuse(`cannot be written to: ${why}`, remedy);
  }
  // /dev/null and the like never block.
  const stat = fstatSync(file);
  if (stat.isFile()) endLastLine(file, stat.size);
  if (stat.isFile() || stat.isCharacterDevice()) return file;
  closeSync(file);
  throw noFile;
}

/** A run that was killed, or a full disk, may have left a part of a line. @param {number} file @param {number} size */
function endLastLine(file, size) {
  const last = Buffer.alloc(1);
  if (size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a) writeSync(file, '\n');
}
