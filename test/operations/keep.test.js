import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { openKeepFile } from '../../src/operations/keep.js';

const directory = mkdtempSync(join(tmpdir(), 'vpl-keep-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const item = (/** @type {number} */ n) => ({ serial: `0${n}`, certificate: `line 1\nline 2 ${n}` });

describe('--keep', () => {
  test('appends one JSON line each, after what was there, from several writers', () => {
    const path = join(directory, 'kept.jsonl');
    const [one, other] = [openKeepFile(path), openKeepFile(path)];
    one.write([item(1), item(2)]);
    other.write([item(3)]);
    one.write([item(4)]);
    assert.deepEqual(
      [one.close(), other.close()],
      [
        { count: 3, failure: null },
        { count: 1, failure: null },
      ],
    );
    const again = openKeepFile(path);
    again.write([item(5)]);
    again.close();
    const lines = readFileSync(path, 'utf8').split('\n');
    assert.equal(lines.pop(), '');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      [1, 2, 3, 4, 5].map(item),
    );
  });

  for (const [sentence, path, code] of [
    ['a folder', directory, 'EISDIR'],
    ['a folder that is not there', join(directory, 'no', 'file'), 'ENOENT'],
  ]) {
    test(`${sentence} is refused at once`, () => {
      assert.throws(
        () => openKeepFile(path),
        (error) => {
          const {
            code: own,
            full,
            exitCode,
          } = /** @type {import('../../src/errors.js').PkiLoadError} */ (error);
          assert.deepEqual([own, exitCode], ['cannot_write', 1]);
          assert.ok(full.includes(`--keep ${path}`) && full.includes(code) && full.includes('Give a file'));
          return true;
        },
      );
    });
  }

  test('a full disk ends the writing, not the run, and is told', {
    skip: process.platform !== 'linux',
  }, () => {
    const keeper = openKeepFile('/dev/full');
    keeper.write([item(1)]);
    keeper.write([item(2)]);
    assert.deepEqual(keeper.close(), { count: 0, failure: 'ENOSPC' });
  });
});
