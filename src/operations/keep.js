/** `--keep FILE`: serial and certificate of what was issued, one JSON line each, never a key. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { usageError } from '../common/errors.js';

/**
 * Opens the file at once, so that a path that cannot be written to is known before anything is sent. Lines are
 * appended whole, so several threads may have the same file open.
 *
 * @param {string} path
 * @returns {import('./index.js').Keeper}
 */
export function openKeepFile(path) {
  const file = open(path);
  let count = 0;
  /** @type {string | null} */
  let failure = null;
  return {
    write(items) {
      if (failure !== null) return;
      try {
        const lines = Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(''));
        // A disk that is filling up takes a part; the next write then says why.
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

/** @param {string} path */
function open(path) {
  try {
    return openSync(path, 'a', 0o644);
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    throw usageError(
      'cannot_write',
      `--keep ${path} cannot be written to (${code}).`,
      'Give a file in a folder that is there and may be written to.',
      error,
    );
  }
}
