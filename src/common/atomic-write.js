/** Atomic writes: even after a `kill -9`, a file has its old or its new content, never a part. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { dirname, resolve } from 'node:path';
import { getSystemErrorMap } from 'node:util';

/** @typedef {string | Iterable<string>} Content pieces are written in order */

/** @param {Content} content @returns {Iterable<string>} */
export const piecesOf = (content) => (typeof content === 'string' ? [content] : content);

/** Codes of our own: a link or a file that another user created, a file or device that another user replaced, a file with hard links, and a link of the kernel. */
export const [PLANTED, FOREIGN, REPLACED, LINKED, MISNAMED] = [
  'PLANTED',
  'FOREIGN',
  'REPLACED',
  'LINKED',
  'MISNAMED',
];

/** A file may be writable but not replaceable: it is a mount point, or its directory belongs to another user. */
const IN_PLACE_ONLY = new Set(['EACCES', 'EBUSY', 'EPERM', 'EROFS', 'EXDEV']);

/**
 * Follows links. An existing file keeps its mode and, if permitted, its owner, unless it is foreign. Writes in place as a last resort.
 * @param {string} path of a file, see fileTypeAt @param {Content} content
 * @param {{rename?: typeof fs.renameSync}} [system]
 * @throws {NodeJS.ErrnoException} the file is then unchanged, unless it was written in place
 */
export function writeAtomically(path, content, { rename = fs.renameSync } = {}) {
  const place = resolveLinks(path);
  const before = statOf(place);
  const temporary = temporaryPathFor(place);
  try {
    writeNew(temporary, content, isForeign(before, place) ? undefined : before);
    rename(temporary, place);
  } catch (error) {
    ignoreFailure(() => fs.rmSync(temporary, { force: true }));
    if (before === undefined || !IN_PLACE_ONLY.has(codeOf(error))) throw error;
    writeInPlace(place, content);
  }
}

/**
 * Throws the error that writeAtomically would throw, if it can be known without writing.
 * @param {string} path of a file, see fileTypeAt @throws {NodeJS.ErrnoException}
 */
export function assertWritable(path) {
  const place = resolveLinks(path);
  const before = statOf(place);
  const exists = before !== undefined;
  const temporary = temporaryPathFor(place);
  try {
    if (isStuck(before, place)) throw Object.assign(new Error(), { code: 'EPERM' });
    fs.closeSync(fs.openSync(temporary, 'wx'));
    ignoreFailure(() => fs.rmSync(temporary));
  } catch (error) {
    if (!exists || !IN_PLACE_ONLY.has(codeOf(error))) throw error;
    assertNotForeign(before, place);
    assertNotLinked(before);
    fs.accessSync(place, fs.constants.W_OK);
  }
  try {
    if (exists) fs.accessSync(place, fs.constants.W_OK);
  } catch (error) {
    // EROFS: a read-only mount. Otherwise, a file without write permission can still be replaced.
    if (codeOf(error) === 'EROFS') throw error;
  }
}

/**
 * @param {string} path
 * @returns {'file' | 'directory' | 'device'} file: may not exist yet; device: includes pipes, written directly and once
 */
export function fileTypeAt(path) {
  const stats = fs.statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return 'file';
  return stats.isDirectory() ? 'directory' : 'device';
}

/** As on Linux. */
const MAX_LINKS = 40;

/**
 * Resolves every symbolic link in the path; refuses one that another user created in a shared directory.
 * @param {string} path of a file that need not exist, in a directory that does
 * @returns {string} absolute and without links: the same for every path to one file
 * @throws {NodeJS.ErrnoException}
 */
export function resolveLinks(path) {
  let place = path.startsWith('/') ? '/' : process.cwd();
  const left = path.split('/').reverse();
  for (let links = 0; left.length > 0; ) {
    const next = resolve(place, left.pop() ?? '');
    // The last name may be missing; other missing directories throw.
    const stats = fs.lstatSync(next, { throwIfNoEntry: left.some((one) => one !== '') });
    if (!stats?.isSymbolicLink()) {
      place = next;
      continue;
    }
    if (isPlanted(stats)) throw Object.assign(new Error(), { code: PLANTED });
    if (++links > MAX_LINKS) throw Object.assign(new Error(), { code: 'ELOOP' });
    const target = fs.readlinkSync(next);
    if (isMisnamed(next, target.startsWith('/') ? target : `${place}/${target}`))
      throw Object.assign(new Error(), { code: MISNAMED });
    if (target.startsWith('/')) place = '/';
    left.push(...target.split('/').reverse());
  }
  return place;
}

/**
 * In /proc, a link may lead into another mount namespace or to a removed file, and its text elsewhere (proc_pid_root(5)). The text
 * of one to a pipe is no path at all.
 * @param {string} link @param {string} target its text
 */
function isMisnamed(link, target) {
  const [led, named] = [link, target].map((path) => fs.statSync(path, { throwIfNoEntry: false }));
  const hasPath = led?.isFile() || led?.isDirectory();
  return hasPath && (led?.dev !== named?.dev || led?.ino !== named?.ino);
}

/** Like Linux's fs.protected_symlinks, which containers may turn off, but in every directory, since another user may own it. @param {fs.Stats} link */
export const isPlanted = (link) => ![0, process.geteuid?.()].includes(link.uid);

/**
 * Another user created it in a directory to which others may write. What is written into it, or into a new file with its owner and
 * mode, that user could read. The directory's owner may: that user can replace any file there.
 * @param {fs.Stats | undefined} stats of a file, pipe or device @param {string} place without links
 */
function isForeign(stats, place) {
  if (stats === undefined || !isPlanted(stats)) return false;
  const { uid, mode } = fs.statSync(dirname(place));
  return uid !== stats.uid && (mode & 0o022) !== 0;
}

/** Only its owner, and that of the directory, may replace a file in a directory with the sticky bit (inode(7)). @param {fs.Stats | undefined} stats @param {string} place */
function isStuck(stats, place) {
  const user = process.geteuid?.();
  if (stats === undefined || user === 0 || user === stats.uid) return false;
  const { uid, mode } = fs.statSync(dirname(place));
  return uid !== user && (mode & 0o1000) !== 0;
}

/** Before writing into it. @param {fs.Stats | undefined} stats @param {string} place see isForeign */
export function assertNotForeign(stats, place) {
  if (isForeign(stats, place)) throw Object.assign(new Error(), { code: FOREIGN });
}

/** Before writing into it: another user may have linked a file from elsewhere here, unless fs.protected_hardlinks is 1. @param {fs.Stats | undefined} stats */
export function assertNotLinked(stats) {
  if (stats?.isFile() && stats.nlink > 1) throw Object.assign(new Error(), { code: LINKED });
}

/** A link may have taken its place since. @param {string} place without links */
function statOf(place) {
  const stats = fs.lstatSync(place, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) throw Object.assign(new Error(), { code: REPLACED });
  return stats;
}

/** @param {string} place @returns {string} random, so that no other user of the directory can create a link there */
function temporaryPathFor(place) {
  return `${place}.${randomBytes(8).toString('hex')}.tmp`;
}

/**
 * @param {string} path @param {Content} content
 * @param {fs.Stats | undefined} before the file to replace: only users who could read it may read the new one
 */
function writeNew(path, content, before) {
  // Another user may have linked a file here to which everyone may write.
  const kept = before && before.nlink > 1 ? 0o700 : 0o777;
  const mode = before === undefined ? 0o666 : before.mode & kept;
  // wx does not follow a link.
  const descriptor = fs.openSync(path, 'wx', mode);
  try {
    writePieces(descriptor, content);
    if (before === undefined) return;
    const created = fs.fstatSync(descriptor);
    const isOwner = created.uid === before.uid && created.gid === before.gid;
    if (!isOwner) ignoreFailure(() => fs.fchownSync(descriptor, before.uid, before.gid));
    ignoreFailure(() => fs.fchmodSync(descriptor, mode));
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Overwrites before it truncates, so the file is never empty. @param {string} path @param {Content} content */
function writeInPlace(path, content) {
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDWR } = fs.constants;
  const descriptor = fs.openSync(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = fs.fstatSync(descriptor);
    if (!stats.isFile()) throw Object.assign(new Error(), { code: REPLACED });
    assertNotForeign(stats, path);
    assertNotLinked(stats);
    fs.ftruncateSync(descriptor, writePieces(descriptor, content));
  } finally {
    fs.closeSync(descriptor);
  }
}

const encoder = new TextEncoder();
/** Reused: files are rewritten every few seconds, and new buffers would leave gaps in memory. */
const chunk = new Uint8Array(65_536);

/** @param {number} descriptor @param {Content} content @returns {number} bytes */
function writePieces(descriptor, content) {
  let bytes = 0;
  for (const piece of piecesOf(content))
    for (let from = 0; from < piece.length; ) {
      const { read, written } = encoder.encodeInto(piece.slice(from), chunk);
      fs.writeFileSync(descriptor, chunk.subarray(0, written));
      from += read;
      bytes += written;
    }
  return bytes;
}

/** @param {() => void} attempt best effort; errors are ignored */
function ignoreFailure(attempt) {
  try {
    attempt();
  } catch {}
}

/** @param {unknown} error */
function codeOf(error) {
  return /** @type {NodeJS.ErrnoException} */ (error).code ?? '';
}

const ELSEWHERE = 'Use a file in a writable directory.';
const START_READER = 'Start its reader before the run, or use a file.';
const MAKE_ROOM = 'Free some space, or use a file on another disk.';

/** By system error code; other codes use the system's own text. @type {Readonly<Record<string, string>>} */
const REASONS = {
  EDQUOT: 'the disk quota is used up',
  EISDIR: 'it is a directory',
  ENOENT: 'its directory was not found',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'its directory is a file',
  ENXIO: 'no process is reading the pipe',
  [REPLACED]: 'another file has taken its place',
  [PLANTED]: 'its path has a link that another user created',
  [FOREIGN]: 'it belongs to another user, in a directory to which others may write',
  [LINKED]: 'it has hard links, so another file would change, too',
  [MISNAMED]: 'its path has a link that leads elsewhere than its text says',
};

/** @type {Readonly<Record<string, string>>} */
const REMEDIES = {
  EAGAIN: START_READER,
  EDQUOT: MAKE_ROOM,
  EFBIG: 'Raise the limit (ulimit -f), or use a file on another disk.',
  EISDIR: 'Use the name of a file in it.',
  EMFILE: 'Raise the limit (ulimit -n).',
  ENAMETOOLONG: 'Use a shorter name.',
  ENOSPC: MAKE_ROOM,
  ENXIO: START_READER,
  EPIPE: START_READER,
  [LINKED]: 'Remove it, or use another file.',
  [MISNAMED]: 'Use the path of the file itself.',
  [PLANTED]: 'Remove the link, or use a directory of your own.',
  [FOREIGN]: 'Remove it, or use a directory of your own.',
};

/** @param {string} path @param {unknown} error a system error @returns `why` follows a colon */
export function describeWriteError(path, error) {
  const { code = '', message } = /** @type {NodeJS.ErrnoException} */ (error);
  const [, systemText] = [...getSystemErrorMap().values()].find(([name]) => name === code) ?? [];
  // For example in /proc.
  const isRefused = code === 'ENOENT' && fs.existsSync(dirname(path));
  const why = isRefused ? 'no file can be created there' : (REASONS[code] ?? systemText ?? (code || message));
  return { why, remedy: REMEDIES[code] ?? ELSEWHERE };
}
