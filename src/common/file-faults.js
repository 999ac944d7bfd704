/** Why a file cannot be written, in words, and what to do about it. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

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
