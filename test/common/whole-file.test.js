import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, test } from 'node:test';
import { fileFault, fileTypeAt, placeOf, tryWhole, writeWhole } from '../../src/common/whole-file.js';
import { scratch } from '../cli/support.js';
import { plantLink } from './plant-link.js';

describe('a whole file', () => {
  test('takes the place of what was there, and leaves nothing beside it', (t) => {
    const path = scratch(t);
    const file = path('r.json', 'x'.repeat(1e6));
    writeWhole(file, 'new');
    writeWhole(file, 'newer');
    assert.equal(readFileSync(file, 'utf8'), 'newer');
    assert.deepEqual(readdirSync(path('.')), ['r.json']);
  });

  test('that cannot be written leaves nothing behind', (t) => {
    const path = scratch(t);
    mkdirSync(path('folder'));
    writeFileSync(path('folder/inside'), '');
    assert.throws(() => writeWhole(path('folder'), 'text'));
    assert.throws(() => writeWhole(path('nope/r.json'), 'text'), { code: 'ENOENT' });
    assert.deepEqual(readdirSync(path('.')), ['folder']);
  });

  test('is told from a folder and from a device', (t) => {
    const path = scratch(t);
    assert.deepEqual([path('nope'), path('there', ''), path('.'), '/dev/null'].map(fileTypeAt), [
      'file',
      'file',
      'folder',
      'device',
    ]);
  });

  test('keeps the rights that the file before had', (t) => {
    const file = scratch(t)('r.json', 'old');
    chmodSync(file, 0o600);
    writeWhole(file, 'new');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(readFileSync(file, 'utf8'), 'new');
  });
});

describe('a link', () => {
  test('stays one: the file that it leads to is replaced', (t) => {
    const path = scratch(t);
    mkdirSync(path('far'));
    writeFileSync(path('far/r.json'), 'old');
    symlinkSync('far/r.json', path('second.json'));
    symlinkSync(path('second.json'), path('first.json'));
    writeWhole(path('first.json'), 'new');
    assert.equal(readFileSync(path('far/r.json'), 'utf8'), 'new');
    assert.ok(lstatSync(path('first.json')).isSymbolicLink());
    assert.deepEqual(readdirSync(path('far')), ['r.json']);
    assert.equal(placeOf(path('first.json')), placeOf(path('far/../far/r.json')));
  });

  test('in a circle is an error, before and when it is written', (t) => {
    const path = scratch(t);
    symlinkSync('b.json', path('a.json'));
    symlinkSync('a.json', path('b.json'));
    for (const attempt of [() => tryWhole(path('a.json')), () => writeWhole(path('a.json'), 'x')]) {
      assert.throws(attempt, { code: 'ELOOP' });
    }
  });
});

test('a link that another user created is not followed', (t) => {
  const path = scratch(t);
  const victim = path('victim', 'untouched');
  const planted = plantLink(t, victim);
  const isRefused = (/** @type {unknown} */ error) => {
    const { why, remedy } = fileFault(planted, error);
    return (
      `${why}. ${remedy}` ===
      'it is a link that another user created. Remove the link, or name a file in a folder of your own.'
    );
  };
  assert.throws(() => tryWhole(planted), isRefused);
  assert.throws(() => writeWhole(planted, 'new'), isRefused);
  assert.equal(readFileSync(victim, 'utf8'), 'untouched');
});

test('a link planted under the name of an earlier temporary file is not followed', (t) => {
  const path = scratch(t);
  const victim = path('victim', 'untouched');
  /** @type {string[]} */
  const temporaries = [];
  const rename = (/** @type {any} */ from, /** @type {any} */ to) => {
    temporaries.push(from);
    renameSync(from, to);
    symlinkSync(victim, from);
  };
  for (const text of ['one', 'two', 'three']) writeWhole(path('r.json'), text, { rename });
  assert.equal(new Set(temporaries).size, 3, 'a new name each time');
  assert.equal(readFileSync(victim, 'utf8'), 'untouched');
  assert.equal(readFileSync(path('r.json'), 'utf8'), 'three');
  assert.ok(!lstatSync(path('r.json')).isSymbolicLink());
});

/** A folder in which no file can take the place of another. @param {string} code */
function refuseWith(code) {
  return {
    rename() {
      throw Object.assign(new Error(code), { code });
    },
  };
}

describe('where no file can take the place of another', () => {
  for (const code of ['EBUSY', 'EXDEV', 'EPERM']) {
    test(`one that is there is written in place (${code})`, (t) => {
      const path = scratch(t);
      const file = path('r.json', 'longer than what comes');
      writeWhole(file, 'short', refuseWith(code));
      assert.equal(readFileSync(file, 'utf8'), 'short');
      writeWhole(file, ['longer than', ' what was there'], refuseWith(code));
      assert.equal(readFileSync(file, 'utf8'), 'longer than what was there');
      assert.deepEqual(readdirSync(path('.')), ['r.json']);
    });
  }

  test('one that is not there is an error, as is a full disk, which leaves the old one', (t) => {
    const path = scratch(t);
    assert.throws(() => writeWhole(path('new.json'), 'x', refuseWith('EPERM')), { code: 'EPERM' });
    const old = path('old.json', 'old');
    assert.throws(() => writeWhole(old, 'new', refuseWith('ENOSPC')), { code: 'ENOSPC' });
    assert.equal(readFileSync(old, 'utf8'), 'old');
    assert.deepEqual(readdirSync(path('.')), ['old.json']);
  });
});

describe('trying', () => {
  test('changes nothing and leaves nothing', (t) => {
    const path = scratch(t);
    const old = path('old.json', 'old');
    tryWhole(old);
    tryWhole(path('new.json'));
    assert.deepEqual(readdirSync(path('.')), ['old.json']);
    assert.equal(readFileSync(old, 'utf8'), 'old');
  });

  test('finds out what writing would run into', (t) => {
    const path = scratch(t);
    assert.throws(() => tryWhole(path('nope/r.json')), { code: 'ENOENT' });
    assert.throws(() => tryWhole(path(`${'x'.repeat(300)}.json`)), { code: 'ENAMETOOLONG' });
  });
});
