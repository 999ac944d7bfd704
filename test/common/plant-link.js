/** A link that another user created in a folder where all users may write. */
import { randomBytes } from 'node:crypto';
import { lchownSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** @import { TestContext } from 'node:test' */

/** Another user, neither root nor this one. */
const OTHER = 12_345;

/** @param {TestContext} t @param {string} target @returns {string} path of the link, in /tmp, which belongs to root */
export function plantLink(t, target) {
  const path = join('/tmp', `vpl-planted-${randomBytes(8).toString('hex')}`);
  symlinkSync(target, path);
  t.after(() => rmSync(path, { force: true }));
  // Only root can give the link to another user; anyone else becomes one.
  if (process.geteuid?.() === 0) lchownSync(path, OTHER, OTHER);
  else t.mock.method(/** @type {{geteuid: () => number}} */ (process), 'geteuid', () => OTHER);
  return path;
}
