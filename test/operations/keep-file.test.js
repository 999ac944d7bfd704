import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs, {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { issue } from '../../src/operations/issue.js';
import { openKeepFile } from '../../src/operations/keep-file.js';
import { plantFile, plantLink } from '../common/plant-link.js';

test('--keep: several writers append one JSON line per certificate', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'vpl-keep-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const item = (/** @type {number} */ n) => ({ serial: `0${n}`, certificate: `line 1\nline 2 ${n}` });
  const path = join(folder, 'kept.jsonl');
  const [one, other] = [openKeepFile(path), openKeepFile(path)];
  one.write([item(1), item(2)]);
  other.write([item(3)]);
  one.write([item(4)]);
  assert.deepEqual(one.close(), { count: 3, failure: null });
  assert.deepEqual(other.close(), { count: 1, failure: null });
  const again = openKeepFile(path);
  again.write([item(5)]);
  again.close();
  const text = [1, 2, 3, 4, 5].map((n) => `${JSON.stringify(item(n))}\n`).join('');
  assert.equal(readFileSync(path, 'utf8'), text);
  fs.linkSync(path, join(folder, 'linked'));
  for (const [wrong, why] of [
    [folder, 'it is a directory. Use the name of a file in it.'],
    [
      join(folder, 'linked'),
      'it has hard links, so another file would change, too. Remove it, or use another file.',
    ],
    [join(folder, 'no', 'file'), 'its directory was not found. Use a file in a writable directory.'],
  ]) {
    assert.throws(
      () => openKeepFile(wrong),
      (/** @type {any} */ { code: own, full, exitCode }) => {
        assert.deepEqual([own, exitCode], ['cannot_write', 1]);
        return full === `--keep ${wrong} cannot be written to: ${why}`;
      },
    );
  }
});

test('--keep: a line that a killed run left torn does not swallow the next one', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'vpl-keep-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'kept.jsonl');
  writeFileSync(path, '{"serial":"4d:14');
  for (let i = 0; i < 2; i++) {
    const keeper = openKeepFile(path);
    keeper.write([{ serial: '01' }]);
    keeper.close();
  }
  const line = '{"serial":"01"}\n';
  assert.equal(readFileSync(path, 'utf8'), `{"serial":"4d:14\n${line}${line}`);
});

test('--keep: a full disk ends the writing, not the run', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'vpl-keep-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { mock } = t.mock.method(fs, 'writeSync', () => {
    throw Object.assign(new Error(), { code: 'ENOSPC' });
  });
  syncBuiltinESMExports();
  const full = openKeepFile(join(folder, 'kept.jsonl'));
  for (const n of [1, 2]) full.write([{ n }]);
  mock.restore();
  syncBuiltinESMExports();
  assert.deepEqual(full.close(), { count: 0, failure: { code: 'ENOSPC', message: '' } });
  const plan = /** @type {any} */ ({ options: { keep: join(folder, 'kept.jsonl') } });
  const said = issue.describeKept?.(plan, { count: 3, failure: { code: 'ENOSPC', message: '' } });
  assert.match(
    said ?? '',
    /^Kept 3 certificates in .*, because the file could not be written: the disk is full\. Free some/,
  );
  assert.equal(mock.callCount(), 1);
});

test('--keep: pipes are rejected at once, links followed', (t) => {
  if (process.platform !== 'linux') return t.skip('mkfifo, /dev/full');
  const folder = mkdtempSync(join(tmpdir(), 'vpl-keep-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const at = (/** @type {string} */ name) => join(folder, name);
  spawnSync('mkfifo', [at('fifo'), at('read')]);
  const reader = openSync(at('read'), constants.O_RDONLY | constants.O_NONBLOCK);
  t.after(() => closeSync(reader));
  symlinkSync(at('nothing'), at('dangling'));
  writeFileSync(at('file'), '');
  symlinkSync(at('file'), at('link'));
  for (const [path, message] of /** @type {[string, RegExp][]} */ ([
    [at('fifo'), /fifo is a pipe, .* not a file\. Use a file in/],
    [at('read'), /read is a pipe, .* not a file/],
  ])) {
    assert.throws(
      () => openKeepFile(path),
      (/** @type {any} */ { code, full }) => code === 'cannot_write' && message.test(full),
      path,
    );
  }
  for (const [link, file] of [
    ['link', 'file'],
    ['dangling', 'nothing'],
  ]) {
    const linked = openKeepFile(at(link));
    linked.write([1]);
    linked.close();
    assert.equal(readFileSync(at(file), 'utf8'), '1\n');
  }
  const planted = plantLink(t, at('file'));
  assert.throws(() => openKeepFile(planted), {
    message: /cannot be written to: its path has a link that another user created\.$/,
  });
  assert.equal(readFileSync(at('file'), 'utf8'), '1\n');
  assert.throws(() => openKeepFile(plantFile(t)), {
    message: /cannot be written to: it belongs to another user, in a directory to which others may write\.$/,
  });
});

test('a file that was just created is our own, whatever owner the file system gives it', (t) => {
  if (process.geteuid?.() !== 0) return t.skip('only root can give a directory away');
  const folder = mkdtempSync('/tmp/vpl-keep-');
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o777);
  chownSync(folder, 12_346, 12_346);
  t.mock.method(/** @type {{geteuid: () => number}} */ (process), 'geteuid', () => 12_345);
  const keeper = openKeepFile(join(folder, 'new'));
  keeper.write([1]);
  assert.deepEqual(keeper.close(), { count: 1, failure: null });
});
