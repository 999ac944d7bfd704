/** Files that are complete at any time, even after a `kill -9`: the old or the new one, never a part. */
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** @import { Stats } from 'node:fs' */

/** @typedef {string | readonly (string | Uint8Array)[]} Content pieces are written one after the other */

/** @param {string} place @returns {string} new each time, so that no other user of the folder can plant a link there */
function temporaryFor(place) {
  return `${place}.${randomBytes(8).toString('hex')}.tmp`;
}

/** A file that is there may be written to while none can take its place: it is a mount of its own, or its folder is not ours. */
const IN_PLACE_ONLY = new Set(['EACCES', 'EBUSY', 'EPERM', 'EROFS', 'EXDEV']);

/**
 * Where the path is a link, the file that it leads to. An existing file keeps its mode and, where permitted, its owner.
 * A file that cannot be replaced is written in place.
 *
 * @param {string} path of a file, see whatIsAt
 * @param {Content} content
 * @param {{rename?: typeof renameSync}} [system]
 * @throws {NodeJS.ErrnoException} the file is then as it was, unless it was written in place
 */
export function writeWhole(path, content, { rename = renameSync } = {}) {
  const place = placeOf(path);
  const before = statSync(place, { throwIfNoEntry: false });
  const temporary = temporaryFor(place);
  try {
    writeNew(temporary, content, before);
    rename(temporary, place);
  } catch (error) {
    remove(temporary);
    if (before === undefined || !isInPlaceOnly(error)) throw error;
    writeInPlace(place, content);
  }
}

/**
 * Finds out what would keep writeWhole from writing, as far as that shows without doing it.
 *
 * @param {string} path of a file, see whatIsAt
 * @throws {NodeJS.ErrnoException}
 */
export function tryWhole(path) {
  const place = placeOf(path);
  const isThere = statSync(place, { throwIfNoEntry: false }) !== undefined;
  const temporary = temporaryFor(place);
  try {
    closeSync(openSync(temporary, 'wx'));
    remove(temporary);
  } catch (error) {
    if (!isThere || !isInPlaceOnly(error)) throw error;
    accessSync(place, constants.W_OK);
  }
  if (isThere) throwIfMountedReadOnly(place);
}

/**
 * @param {string} path
 * @returns {'file' | 'folder' | 'device'} file: or nothing there yet; device: or a pipe, which is written to as it is, and once
 */
export function whatIsAt(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return 'file';
  return stats.isDirectory() ? 'folder' : 'device';
}

/**
 * @param {string} path of a file that need not be there, in a folder that is
 * @returns {string} absolute and without links: two paths of one file give the same
 * @throws {NodeJS.ErrnoException}
 */
export function placeOf(path) {
  const place = join(realpathSync(dirname(path)), basename(path));
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isSymbolicLink()) return place;
  // Of a link whose file is not there yet, that is the place; links in a circle are an error of this.
  if (statSync(place, { throwIfNoEntry: false }) !== undefined) return realpathSync(place);
  return placeOf(resolve(dirname(place), readlinkSync(place)));
}

/**
 * @param {string} path
 * @param {Content} content
 * @param {Stats | undefined} before the file that it will replace: the new one is readable by no more users
 */
function writeNew(path, content, before) {
  const mode = before === undefined ? 0o666 : before.mode & 0o777;
  // wx does not follow a link.
  const descriptor = openSync(path, 'wx', mode);
  try {
    writePieces(descriptor, content);
    if (before === undefined) return;
    const own = fstatSync(descriptor);
    ignoreFailure(() => {
      if (own.uid !== before.uid || own.gid !== before.gid) fchownSync(descriptor, before.uid, before.gid);
    });
    ignoreFailure(() => fchmodSync(descriptor, mode));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The new bytes lie over the old ones, so that the file is never empty.
 *
 * @param {string} path
 * @param {Content} content
 */
function writeInPlace(path, content) {
  const descriptor = openSync(path, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0));
  try {
    ftruncateSync(descriptor, writePieces(descriptor, content));
  } finally {
    closeSync(descriptor);
  }
}

/** @param {number} descriptor @param {Content} content @returns {number} bytes */
function writePieces(descriptor, content) {
  const pieces = typeof content === 'string' ? [content] : content;
  for (const piece of pieces) writeFileSync(descriptor, piece);
  return pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
}

/** @param {string} place of a file that is there; that this user may not write to it does not keep it from being replaced */
function throwIfMountedReadOnly(place) {
  try {
    accessSync(place, constants.W_OK);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EROFS') throw error;
  }
}

/** @param {unknown} error */
function isInPlaceOnly(error) {
  return IN_PLACE_ONLY.has(/** @type {NodeJS.ErrnoException} */ (error).code ?? '');
}

/** @param {string} path that may not be there */
function remove(path) {
  ignoreFailure(() => rmSync(path, { force: true }));
}

/** @param {() => void} attempt best effort; errors are ignored */
function ignoreFailure(attempt) {
  try {
    attempt();
  } catch {
    // Best effort.
  }
}

const ELSEWHERE = 'Give a file in a folder that may be written to.';
const START_READER = 'Start its reader before the run, or give a file.';
const MAKE_ROOM = 'Free some space, or give a file on another disk.';

/** By the system's code. @type {Readonly<Record<string, readonly [why: string, remedy: string]>>} */
const FAULTS = {
  EACCES: ['this user may not write there', ELSEWHERE],
  EAGAIN: ['the reader of the pipe reads nothing', START_READER],
  EBUSY: ['something else holds it', 'Let go of it, or give another file.'],
  EDQUOT: ["this user's share of the disk is used up", MAKE_ROOM],
  EFBIG: [
    'it would be larger than a file may be',
    'Raise the limit (ulimit -f), or give a file on another disk.',
  ],
  EIO: ['the disk has failed', 'Give a file on another disk.'],
  EISDIR: ['it is a folder', 'Give the name of a file in it.'],
  ELOOP: ['its links lead in a circle', 'Give a file, or mend the link.'],
  EMFILE: ['too many files are open', 'Raise the limit (ulimit -n).'],
  ENAMETOOLONG: ['its name is too long', 'Give a shorter one.'],
  ENFILE: ['too many files are open', 'End something else on this machine.'],
  ENOENT: ['its folder is not there', ELSEWHERE],
  ENOSPC: ['the disk is full', MAKE_ROOM],
  ENOTDIR: ['what should be its folder is a file', ELSEWHERE],
  ENXIO: ['nothing reads the pipe', START_READER],
  EPERM: ['the system does not permit it', ELSEWHERE],
  EPIPE: ['the reader of the pipe has ended', START_READER],
  EROFS: ['it can only be read there (EROFS)', ELSEWHERE],
};

/**
 * @param {string} path
 * @param {unknown} error of the system
 * @returns {{why: string, remedy: string}} `why`: the rest of a sentence, after a colon
 */
export function fileFault(path, error) {
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
  // As in /proc.
  if (code === 'ENOENT' && existsSync(dirname(path))) {
    return { why: 'no file can be made there', remedy: ELSEWHERE };
  }
  const [why, remedy] = FAULTS[code ?? ''] ?? [code ?? message, ELSEWHERE];
  return { why, remedy };
}
