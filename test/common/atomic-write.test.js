import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs, {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, test } from 'node:test';
import {
  assertWritable,
  describeWriteError,
  fileTypeAt,
  LINKED,
  resolveLinks,
  writeAtomically,
} from '../../src/common/atomic-write.js';
import { scratch } from '../cli/support.js';
import { plantFile, plantLink } from './plant-link.js';

describe('writeAtomically', () => {
  test('replaces the file, and leaves no other file', (t) => {
    const path = scratch(t);
    const file = path('r.json', 'x'.repeat(1e6));
    writeAtomically(file, 'new');
    writeAtomically(file, 'newer');
    assert.equal(readFileSync(file, 'utf8'), 'newer');
    assert.deepEqual(readdirSync(path('.')), ['r.json']);
  });

  test('leaves nothing after a failed write', (t) => {
    const path = scratch(t);
    mkdirSync(path('directory'));
    writeFileSync(path('directory/inside'), '');
    assert.throws(() => writeAtomically(path('directory'), 'text'));
    assert.throws(() => writeAtomically(path('nope/r.json'), 'text'), { code: 'ENOENT' });
    assert.deepEqual(readdirSync(path('.')), ['directory']);
  });

  test('writes the rest after the system wrote only a part', (t) => {
    const file = scratch(t)('r.json', 'old');
    const { writeSync } = fs;
    t.mock.method(fs, 'writeSync', (/** @type {[number, any, ...any]} */ ...[descriptor, data, ...rest]) =>
      typeof data === 'string'
        ? writeSync(descriptor, Buffer.from(data).subarray(0, 5))
        : writeSync(descriptor, data, ...rest),
    );
    const pieces = ['häßlich', 'ok', '', 'schön €'];
    writeAtomically(file, pieces);
    assert.equal(readFileSync(file, 'utf8'), pieces.join(''));
  });

  test('fileTypeAt distinguishes files, directories and devices', (t) => {
    const path = scratch(t);
    assert.deepEqual([path('nope'), path('there', ''), path('.'), '/dev/null'].map(fileTypeAt), [
      'file',
      'file',
      'directory',
      'device',
    ]);
  });

  test('keeps the mode of the existing file', (t) => {
    const file = scratch(t)('r.json', 'old');
    chmodSync(file, 0o600);
    writeAtomically(file, 'new');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(readFileSync(file, 'utf8'), 'new');
  });
});

describe('a symbolic link', () => {
  test('stays: its target is replaced', (t) => {
    const path = scratch(t);
    mkdirSync(path('far'));
    writeFileSync(path('far/r.json'), 'old');
    symlinkSync('far/r.json', path('second.json'));
    symlinkSync(path('second.json'), path('first.json'));
    writeAtomically(path('first.json'), 'new');
    assert.equal(readFileSync(path('far/r.json'), 'utf8'), 'new');
    assert.ok(lstatSync(path('first.json')).isSymbolicLink());
    assert.deepEqual(readdirSync(path('far')), ['r.json']);
    assert.equal(resolveLinks(path('first.json')), resolveLinks(path('far/../far/r.json')));
  });

  test('in a cycle is an error, in advance and when writing', (t) => {
    const path = scratch(t);
    symlinkSync('b.json', path('a.json'));
    symlinkSync('a.json', path('b.json'));
    for (const attempt of [
      () => assertWritable(path('a.json')),
      () => writeAtomically(path('a.json'), 'x'),
    ]) {
      assert.throws(attempt, { code: 'ELOOP' });
    }
  });
});

test('a link that another user created is not followed', (t) => {
  const path = scratch(t);
  const victim = path('victim', 'untouched');
  const planted = plantLink(t, victim);
  const isRefused = (/** @type {unknown} */ error) => {
    const { why, remedy } = describeWriteError(planted, error);
    return (
      `${why}. ${remedy}` ===
      'its path has a link that another user created. Remove the link, or use a directory of your own.'
    );
  };
  assert.throws(() => assertWritable(planted), isRefused);
  assert.throws(() => writeAtomically(planted, 'new'), isRefused);
  assert.equal(readFileSync(victim, 'utf8'), 'untouched');
});

/** A folder in which no file can take the place of another. @param {string} code */
function refuseWith(code) {
  return {
    rename() {
      throw Object.assign(new Error(code), { code });
    },
  };
}

describe('a file that another user created', () => {
  test('in a shared directory is replaced by a file of our own, and not written into', (t) => {
    const planted = plantFile(t);
    const isRefused = (/** @type {unknown} */ error) => {
      const { why, remedy } = describeWriteError(planted, error);
      return (
        `${why}. ${remedy}` ===
        'it belongs to another user, in a directory to which others may write. Remove it, or use a directory of your own.'
      );
    };
    const before = statSync(planted);
    assert.throws(() => writeAtomically(planted, 'new', refuseWith('EPERM')), isRefused);
    assert.equal(readFileSync(planted, 'utf8'), 'planted');
    assert.equal(statSync(planted).ino, before.ino);
    assertWritable(planted);
    const mask = process.umask(0o022);
    t.after(() => process.umask(mask));
    writeAtomically(planted, 'new');
    const { uid, mode } = statSync(planted);
    assert.deepEqual([readFileSync(planted, 'utf8'), uid, mode & 0o777], ['new', process.getuid?.(), 0o644]);
  });

  test('in a directory with the sticky bit is refused in advance, as it cannot be replaced', (t) => {
    if (process.geteuid?.() !== 0) return t.skip('only root can act for other users');
    const path = scratch(t);
    chmodSync(path('.'), 0o755);
    mkdirSync(path('tmp'));
    chmodSync(path('tmp'), 0o1777);
    const [file, own] = [path('tmp/r.json'), path('tmp/own.json')];
    renameSync(plantFile(t), file);
    const { uid } = statSync(file);
    writeFileSync(own, 'old');
    chownSync(own, uid + 1, uid + 1);
    process.seteuid?.(uid + 1);
    try {
      assert.throws(() => assertWritable(file), { code: 'FOREIGN' });
      assert.throws(() => writeAtomically(file, 'new'), { code: 'FOREIGN' });
      assertWritable(own);
      writeAtomically(own, 'new');
    } finally {
      process.seteuid?.(0);
    }
    assert.equal(readFileSync(file, 'utf8'), 'planted');
    assert.deepEqual(readdirSync(path('tmp')).sort(), ['own.json', 'r.json']);
  });

  test('at the last moment is not written into', (t) => {
    if (process.geteuid?.() !== 0) return t.skip('only root can give a file away');
    const planted = plantFile(t);
    const { uid } = statSync(planted);
    chownSync(planted, 0, 0);
    const rename = () => {
      chownSync(planted, uid, uid);
      throw Object.assign(new Error(), { code: 'EPERM' });
    };
    assert.throws(() => writeAtomically(planted, 'new', { rename }), { code: 'FOREIGN' });
    assert.equal(readFileSync(planted, 'utf8'), 'planted');
  });

  /** @type {[string, number, boolean][]} what, mode of the directory, whether it is that user's own */
  const DIRECTORIES = [
    ["that user's own directory", 0o755, true],
    ["that user's own directory to which others may write", 0o777, true],
    ['a directory to which only its owner may write', 0o755, false],
  ];
  for (const [what, mode, isTheirs] of DIRECTORIES) {
    test(`in ${what} is replaced, and keeps owner and mode`, (t) => {
      const path = scratch(t);
      mkdirSync(path('directory'));
      const file = path('directory/r.json');
      renameSync(plantFile(t), file);
      const before = statSync(file);
      if (isTheirs && process.getuid?.() === 0) chownSync(path('directory'), before.uid, 0);
      chmodSync(path('directory'), mode);
      assertWritable(file);
      writeAtomically(file, 'new');
      writeAtomically(file, 'newer', refuseWith('EPERM'));
      const { uid, mode: own } = statSync(file);
      assert.deepEqual([readFileSync(file, 'utf8'), uid, own], ['newer', before.uid, before.mode]);
    });
  }

  test('in a directory to which a group may write is replaced by a file of our own', (t) => {
    if (process.geteuid?.() !== 0) return t.skip('only root can give a file away');
    const path = scratch(t);
    mkdirSync(path('directory'));
    const file = path('directory/r.json');
    renameSync(plantFile(t), file);
    chmodSync(path('directory'), 0o775);
    writeAtomically(file, 'new');
    assert.deepEqual([readFileSync(file, 'utf8'), statSync(file).uid], ['new', 0]);
    chownSync(file, 12_345, 12_345);
    assert.throws(() => writeAtomically(file, 'new', refuseWith('EPERM')), { code: 'FOREIGN' });
  });
});

test('a file with hard links gives only its owner access to the new one', (t) => {
  const path = scratch(t);
  writeFileSync(path('elsewhere'), 'old');
  chmodSync(path('elsewhere'), 0o666);
  linkSync(path('elsewhere'), path('r.json'));
  writeAtomically(path('r.json'), 'new');
  assert.equal(statSync(path('r.json')).mode & 0o777, 0o600);
  assert.equal(readFileSync(path('elsewhere'), 'utf8'), 'old');
});

test('a link that takes the place of a file at the last moment gives it no mode', (t) => {
  const path = scratch(t);
  const file = path('r.json');
  const { lstatSync } = fs;
  let looks = 0;
  t.mock.method(fs, 'lstatSync', (/** @type {string} */ place, /** @type {any} */ options) => {
    const stats = lstatSync(place, options);
    if (place === `${realpathSync(path('.'))}/r.json` && looks++ === 0) symlinkSync('/dev/null', file);
    return stats;
  });
  assert.throws(() => writeAtomically(file, 'new'), { code: 'REPLACED' });
});

test('a link whose text leads back from another link is followed as by the kernel', (t) => {
  const path = scratch(t);
  mkdirSync(path('far/inner'), { recursive: true });
  symlinkSync('far/inner', path('current'));
  symlinkSync('current/../r.json', path('out.json'));
  writeAtomically(path('far/r.json'), 'old');
  writeAtomically(path('out.json'), 'new');
  assert.equal(readFileSync(path('far/r.json'), 'utf8'), 'new');
});

test('a link of the kernel that leads elsewhere than its text is not followed', {
  skip: process.platform !== 'linux',
}, (t) => {
  const path = scratch(t);
  const removed = fs.openSync(path('removed', 'old'), 'r');
  t.after(() => fs.closeSync(removed));
  fs.rmSync(path('removed'));
  const link = `/proc/self/fd/${removed}`;
  for (const attempt of [
    () => resolveLinks(link),
    () => assertWritable(link),
    () => writeAtomically(link, 'x'),
  ])
    assert.throws(attempt, { code: 'MISNAMED' });
  assert.deepEqual(fs.readdirSync(path('.')), []);
});

test("another user's link to a directory is not followed", (t) => {
  const path = scratch(t);
  mkdirSync(path('mine'));
  const file = `${plantLink(t, path('mine'))}/r.json`;
  for (const attempt of [
    () => resolveLinks(file),
    () => assertWritable(file),
    () => writeAtomically(file, 'new'),
  ])
    assert.throws(attempt, { code: 'PLANTED' });
  assert.deepEqual(readdirSync(path('mine')), []);
});

test("another user's link in that user's own directory is not followed", (t) => {
  const path = scratch(t);
  mkdirSync(path('theirs'), { mode: 0o755 });
  const victim = path('victim', 'untouched');
  renameSync(plantLink(t, victim), path('theirs/r.json'));
  if (process.geteuid?.() === 0) chownSync(path('theirs'), lstatSync(path('theirs/r.json')).uid, 0);
  assert.throws(() => writeAtomically(path('theirs/r.json'), 'new'), { code: 'PLANTED' });
  assert.equal(readFileSync(victim, 'utf8'), 'untouched');
});

test('links to directories are resolved as by the operating system', (t) => {
  const path = scratch(t);
  mkdirSync(path('far/inner'), { recursive: true });
  symlinkSync('far/inner', path('link'));
  const place = resolveLinks(path('far/r.json'));
  assert.equal(resolveLinks(`${path('link')}/../r.json`), place);
  assert.equal(resolveLinks(`${path('link')}/.././/inner/../r.json`), place);
  assert.throws(() => resolveLinks(path('nope/r.json')), { code: 'ENOENT' });
});

test('a pipe that has replaced a file is not written to', { timeout: 60_000 }, (t) => {
  const file = scratch(t)('r.json', 'old');
  const rename = () => {
    rmSync(file);
    execFileSync('mkfifo', [file]);
    throw Object.assign(new Error(), { code: 'EBUSY' });
  };
  assert.throws(
    () => writeAtomically(file, 'new', { rename }),
    (error) => {
      return describeWriteError(file, error).why === 'another file has taken its place';
    },
  );
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
  for (const text of ['one', 'two', 'three']) writeAtomically(path('r.json'), text, { rename });
  assert.equal(new Set(temporaries).size, 3, 'a new name each time');
  assert.equal(readFileSync(victim, 'utf8'), 'untouched');
  assert.equal(readFileSync(path('r.json'), 'utf8'), 'three');
  assert.ok(!lstatSync(path('r.json')).isSymbolicLink());
});

describe('a file that cannot be replaced', () => {
  for (const code of ['EBUSY', 'EXDEV', 'EPERM']) {
    test(`is written in place if it exists (${code})`, (t) => {
      const path = scratch(t);
      const file = path('r.json', 'longer than what comes');
      writeAtomically(file, 'short', refuseWith(code));
      assert.equal(readFileSync(file, 'utf8'), 'short');
      writeAtomically(file, ['longer than', ' what was there'], refuseWith(code));
      assert.equal(readFileSync(file, 'utf8'), 'longer than what was there');
      assert.deepEqual(readdirSync(path('.')), ['r.json']);
    });
  }

  test('is an error if it has hard links, and then stays unchanged', (t) => {
    const path = scratch(t);
    const file = path('r.json', 'of another user');
    fs.linkSync(file, path('link.json'));
    assert.throws(() => writeAtomically(path('link.json'), 'x', refuseWith('EPERM')), { code: LINKED });
    assert.equal(readFileSync(file, 'utf8'), 'of another user');
    writeAtomically(path('link.json'), 'replaced');
    assert.equal(readFileSync(file, 'utf8'), 'of another user');
  });

  test('is an error if it does not exist, or if the disk is full, and then stays unchanged', (t) => {
    const path = scratch(t);
    assert.throws(() => writeAtomically(path('new.json'), 'x', refuseWith('EPERM')), { code: 'EPERM' });
    const old = path('old.json', 'old');
    assert.throws(() => writeAtomically(old, 'new', refuseWith('ENOSPC')), { code: 'ENOSPC' });
    assert.equal(readFileSync(old, 'utf8'), 'old');
    assert.deepEqual(readdirSync(path('.')), ['old.json']);
  });
});

describe('assertWritable', () => {
  test('changes nothing and leaves no file', (t) => {
    const path = scratch(t);
    const old = path('old.json', 'old');
    assertWritable(old);
    assertWritable(path('new.json'));
    assert.deepEqual(readdirSync(path('.')), ['old.json']);
    assert.equal(readFileSync(old, 'utf8'), 'old');
  });

  test('reports the error that writing would', (t) => {
    const path = scratch(t);
    assert.throws(() => assertWritable(path('nope/r.json')), { code: 'ENOENT' });
    assert.throws(() => assertWritable(path(`${'x'.repeat(300)}.json`)), { code: 'ENAMETOOLONG' });
  });
});
