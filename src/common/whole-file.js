/** Files that are complete at any time, even after a `kill -9`: the old or the new one, never a part. */
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
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

/** One name for all writes of this thread: what a killed process leaves behind is one file at most. Not to be guessed by others. */
const SUFFIX = `.${randomBytes(4).toString('hex')}.tmp`;

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
  const temporary = `${place}${SUFFIX}`;
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
  const temporary = `${place}${SUFFIX}`;
  try {
    closeSync(openSync(temporary, 'w'));
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
  const descriptor = openSync(path, 'w', mode);
  try {
    writePieces(descriptor, content);
  } finally {
    closeSync(descriptor);
  }
  if (before === undefined) return;
  const own = statSync(path);
  ignoreFailure(() => {
    if (own.uid !== before.uid || own.gid !== before.gid) chownSync(path, before.uid, before.gid);
  });
  ignoreFailure(() => chmodSync(path, mode));
}

/**
 * The new bytes lie over the old ones, so that the file is never empty.
 *
 * @param {string} path
 * @param {Content} content
 */
function writeInPlace(path, content) {
  const descriptor = openSync(path, 'r+');
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
const MAKE_ROOM = 'Free some space, or give a file on another disk.';

/** By the system's code. @type {Readonly<Record<string, readonly [why: string, remedy: string]>>} */
const FAULTS = {
  EACCES: ['this user may not write there', ELSEWHERE],
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
  EPERM: ['the system does not permit it', ELSEWHERE],
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
