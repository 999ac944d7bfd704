/** A link, a file or a pipe that another user created in a folder where all users may write. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, lchownSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @import { TestContext } from 'node:test' */

/** Another user, neither root nor this one. */
const OTHER = 12_345;

/** @param {TestContext} t @param {string} target @returns {string} path of the link, in /tmp, which belongs to root */
export const plantLink = (t, target) => plant(t, '', (path) => symlinkSync(target, path));

/** @param {TestContext} t @returns {string} as above, of a file to which everyone may write */
export function plantFile(t) {
  return plant(t, '', (path) => {
    writeFileSync(path, 'planted');
    chmodSync(path, 0o666);
  });
}

/** @param {TestContext} t @returns {string} as above, of a pipe */
export const plantPipe = (t, extension = '') =>
  plant(t, extension, (path) => execFileSync('mkfifo', ['-m', '666', path]));

/** @param {TestContext} t @param {string} extension @param {(path: string) => void} create */
function plant(t, extension, create) {
  const path = join('/tmp', `vpl-planted-${randomBytes(8).toString('hex')}${extension}`);
  create(path);
  t.after(() => rmSync(path, { force: true }));
  // Only root can give the link to another user; anyone else becomes one.
  if (process.geteuid?.() === 0) lchownSync(path, OTHER, OTHER);
  else t.mock.method(/** @type {{geteuid: () => number}} */ (process), 'geteuid', () => OTHER);
  return path;
}
