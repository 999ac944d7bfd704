/** Reads files, and pipes such as `<(...)` in a shell, with limits on size and time. Refuses devices and sockets. */
import fs, { constants } from 'node:fs';
import { resolve } from 'node:path';
import { describeUnreadable, PkiLoadError, usageError } from './errors.js';
import { removeSignalHandlers } from './stop.js';

const { O_NOCTTY = 0, O_NONBLOCK = 0, O_RDONLY } = constants;
const [CHUNK_BYTES, PAUSE_MS, NO_WRITER_MS, SILENCE_MS] = [64 * 1024, 10, 1000, 30_000];

/**
 * File systems with the kernel's own files, such as the environment of a process, by f_type of statfs(2): proc, sysfs, securityfs,
 * debugfs, tracefs, cgroup, cgroup2, configfs, bpf, pstore, efivarfs, selinuxfs, smackfs (linux/magic.h).
 */
const KERNEL = [
  ...[0x9fa0, 0x62656572, 0x73636673, 0x64626720, 0x74726163, 0x27e0eb, 0x63677270],
  ...[0x62656570, 0xcafe4a11, 0x6165676c, 0xde5e81e4, 0xf97cff8c, 0x43415d53],
];

/** @param {string} path @returns {boolean} false also if this cannot be known */
function isKernelFile(path) {
  try {
    return KERNEL.includes(fs.statfsSync(path).type >>> 0);
  } catch {
    return false;
  }
}

/** Files in which a pipe could hold up the setup of a scenario. @type {Set<string>} */
const notPipes = new Set();

/** From now on, reading this file fails if a pipe has taken its place. @param {string} path */
export const refusePipe = (path) => void notPipes.add(path);

/** @param {string} name of the file in the error @param {unknown} error */
export function readError(name, error) {
  if (error instanceof PkiLoadError) return error;
  return usageError('cannot_read', `${name} ${describeUnreadable(error)}.`, 'Check the path.', error);
}

/**
 * @param {string} path @param {string} name of the file in an error @param {{maxMiB?: number, mayBePipe?: boolean}} [options]
 * @returns {Generator<Buffer>} @throws {PkiLoadError} code `cannot_read` or `file_too_large`
 */
export function* readChunks(path, name, { maxMiB = Infinity, mayBePipe = true } = {}) {
  let descriptor = -1;
  let restoreHandlers = () => {};
  try {
    descriptor = fs.openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    const stats = fs.fstatSync(descriptor);
    const isKernel = [`/proc/self/fd/${descriptor}`, path].some(isKernelFile);
    const isKnown = (stats.isFile() && !isKernel) || stats.isDirectory();
    if (!isKnown && !(mayBePipe && !notPipes.has(path) && stats.isFIFO()))
      throw usageError(
        'cannot_read',
        `${name} is a device, a pipe, a socket or a kernel file.`,
        'Use a regular file.',
      );
    if (stats.isFIFO()) restoreHandlers = removeSignalHandlers();
    let chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let read = 0, used = 0, waitedMs = 0; ; ) {
      let count = -1;
      try {
        count = fs.readSync(descriptor, chunk, used, CHUNK_BYTES - used, null);
      } catch (error) {
        if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EAGAIN') throw error;
      }
      if (count === 0 && (read > 0 || !stats.isFIFO() || waitedMs > NO_WRITER_MS)) {
        if (used > 0) yield chunk.subarray(0, used);
        return;
      }
      if (count <= 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
      read += Math.max(count, 0);
      used += Math.max(count, 0);
      // Over all pauses, not since the last byte.
      if (count <= 0) waitedMs += PAUSE_MS;
      if (read > maxMiB * 2 ** 20)
        throw usageError('file_too_large', `${name} is larger than ${maxMiB} MiB.`, 'Use a smaller file.');
      if (waitedMs > SILENCE_MS)
        throw usageError(
          'cannot_read',
          `${name} is a pipe whose writer is too slow: 30 s of waiting.`,
          'Check its writer.',
        );
      if (used < CHUNK_BYTES) continue;
      yield chunk;
      chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      used = 0;
    }
  } catch (error) {
    throw readError(name, error);
  } finally {
    restoreHandlers();
    if (descriptor >= 0) fs.closeSync(descriptor);
  }
}

/** @type {(...args: Parameters<typeof readChunks>) => Buffer} */
export const readBytes = (...args) => Buffer.concat([...readChunks(...args)]);

/** @param {string} path that need not exist @returns {boolean} a device, a pipe, or in /dev, /proc or /sys */
export function isSystemFile(path) {
  try {
    const stats = fs.statSync(path);
    const isOther = (!stats.isFile() && !stats.isDirectory()) || isKernelFile(path);
    return isOther || [resolve(path), fs.realpathSync(path)].some((at) => /^\/(dev|proc|sys)(\/|$)/.test(at));
  } catch {
    return false;
  }
}
