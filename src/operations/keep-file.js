/** The file of `issue --keep`: a JSON line for each certificate. */
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import {
  assertNotForeign,
  assertNotLinked,
  describeWriteError,
  resolveLinks,
} from '../common/atomic-write.js';
import { usageError } from '../common/errors.js';
/** @import { Keeper, Kept } from './index.js' */

/**
 * Opens the file at once, so an unwritable path fails before anything is sent. Lines are appended whole:
 * several threads may have the same file open.
 * @param {string} path @returns {Keeper}
 */
export function openKeepFile(path) {
  const file = openToAppend(path);
  let start = endsWithin(path) ? '\n' : '';
  let count = 0;
  /** @type {Kept['failure']} */
  let failure = null;
  return {
    write(items) {
      if (failure !== null) return;
      try {
        const lines = Buffer.from(start + items.map((item) => `${JSON.stringify(item)}\n`).join(''));
        start = '';
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

/** Without O_NONBLOCK, opening a pipe would block until it has a reader. */
const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const APPEND = O_WRONLY | O_APPEND | O_NONBLOCK | O_NOFOLLOW;

/** @param {string} place @returns {number | undefined} undefined: it exists */
function createFile(place) {
  try {
    return openSync(place, APPEND | O_CREAT | O_EXCL, 0o644);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    return undefined;
  }
}

/** @param {string} path */
function openToAppend(path) {
  const refuse = (/** @type {string} */ problem, remedy = 'Use a file in a writable directory.') =>
    usageError('cannot_write', `--keep ${path} ${problem}.`, remedy);
  const noFile = refuse('is a pipe, a socket or a block device, not a file');
  let file;
  try {
    const place = resolveLinks(path);
    file = createFile(place);
    if (file === undefined) {
      file = openSync(place, APPEND);
      assertNotForeign(fstatSync(file), place);
      assertNotLinked(fstatSync(file));
    }
  } catch (error) {
    if (file !== undefined) closeSync(file);
    const { why, remedy } = describeWriteError(path, error);
    // ENXIO: no process is reading the pipe or the socket.
    const isPipe = /** @type {NodeJS.ErrnoException} */ (error).code === 'ENXIO';
    throw isPipe ? noFile : refuse(`cannot be written to: ${why}`, remedy);
  }
  // /dev/null and the like never block.
  const stat = fstatSync(file);
  if (stat.isFile() || stat.isCharacterDevice()) return file;
  closeSync(file);
  throw noFile;
}

/** A run that was killed, or a full disk, may have left a part of a line. @param {string} path @returns {boolean} false also if it cannot be read */
function endsWithin(path) {
  try {
    const file = openSync(resolveLinks(path), O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    try {
      const stats = fstatSync(file);
      const last = Buffer.alloc(1);
      return stats.isFile() && readSync(file, last, 0, 1, stats.size - 1) === 1 && last[0] !== 0x0a;
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}
