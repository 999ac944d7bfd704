import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { describeWriteError } from '../../src/common/atomic-write.js';

const HERE = fileURLToPath(import.meta.url);

/** @type {[string, string, string, RegExp, RegExp][]} what, path, code, why, remedy */
const TABLE = [
  ['a missing folder', `${HERE}-nope/r.json`, 'ENOENT', /^its directory was not found$/, /directory/],
  [
    'a folder without files',
    `${dirname(HERE)}/r.json`,
    'ENOENT',
    /^no file can be created there$/,
    /directory/,
  ],
  ['a full disk', HERE, 'ENOSPC', /^the disk is full$/, /Free some space/],
  ['a limit', HERE, 'EFBIG', /^file too large$/, /ulimit -f/],
  ['a read-only disk', HERE, 'EROFS', /^read-only file system$/, /writable directory/],
  ['an unknown code', HERE, 'EWHAT', /^EWHAT$/, /writable directory/],
];
for (const [what, path, code, why, remedy] of TABLE) {
  test(`${what} (${code})`, () => {
    const fault = describeWriteError(path, Object.assign(new Error(), { code }));
    assert.match(fault.why, why);
    assert.match(fault.remedy, remedy);
    assert.match(fault.remedy, /\.$/);
  });
}
