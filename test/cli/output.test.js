/** Pipes as `--out`: without a reader, with one that reads nothing, with one that comes later. A summary file that is replaced. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs, { closeSync, constants, linkSync, openSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkOutputs, summaryFile, writeDevice, writeReports } from '../../src/cli/output.js';
import { plantFile, plantLink, plantPipe } from '../common/plant-link.js';
import { sampleResult } from '../result/sample.js';
import { scratch } from './support.js';

/** @import { TestContext } from 'node:test' */

/** @param {TestContext} t */
function makePipe(t) {
  const path = scratch(t)('pipe');
  execFileSync('mkfifo', [path]);
  return path;
}

test('a link that replaces the summary file while it is opened is not followed', async (t) => {
  const file = scratch(t)('summary.md', '# x\n');
  const victim = scratch(t)('victim', 'untouched');
  t.mock.method(process.stdout, 'write', () => true);
  const { lstatSync } = fs;
  t.mock.method(fs, 'lstatSync', (/** @type {any[]} */ ...[path, options]) => {
    const stats = lstatSync(path, options);
    if (path === file && stats.isFile()) {
      unlinkSync(file);
      symlinkSync(victim, file);
    }
    return stats;
  });
  const outputs = { out: [], format: 'text', summary: file };
  const [failure] = await writeReports(sampleResult([]), outputs);
  assert.equal(Object(failure).code, 'cannot_write');
  assert.equal(await readFile(victim, 'utf8'), 'untouched');
});

test("another user's file in a shared directory gets no summary, which the command says before the run", async (t) => {
  const planted = plantFile(t);
  process.env.GITHUB_STEP_SUMMARY = planted;
  t.after(() => delete process.env.GITHUB_STEP_SUMMARY);
  assert.throws(summaryFile, { message: /cannot be written: it belongs to another user/ });
  t.mock.method(process.stdout, 'write', () => true);
  const [failure] = await writeReports(sampleResult([]), { out: [], format: 'text', summary: planted });
  assert.match(Object(failure).message, /cannot be written: it belongs to another user/);
  assert.equal(await readFile(planted, 'utf8'), 'planted');
});

test('a summary file may be new, and may not have hard links', (t) => {
  const path = scratch(t);
  t.after(() => delete process.env.GITHUB_STEP_SUMMARY);
  process.env.GITHUB_STEP_SUMMARY = path('new.md');
  assert.equal(summaryFile(), path('new.md'));
  linkSync(path('victim', 'untouched'), path('linked.md'));
  process.env.GITHUB_STEP_SUMMARY = path('linked.md');
  assert.throws(summaryFile, { message: /cannot be written: / });
});

describe('a pipe', () => {
  test('without a reader times out', async (t) => {
    await assert.rejects(writeDevice(makePipe(t), 'text', 200), { code: 'ENXIO' });
  });

  test('with a reader that reads nothing times out', async (t) => {
    const path = makePipe(t);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    t.after(() => closeSync(reader));
    await assert.rejects(writeDevice(path, 'x'.repeat(1e6), 200), { code: 'EAGAIN' });
  });

  test('replaced by a link to a file is not written to', async (t) => {
    const path = makePipe(t);
    const victim = scratch(t)('victim', 'untouched');
    const writing = writeDevice(path, 'text');
    rmSync(path);
    symlinkSync(victim, path);
    await assert.rejects(writing, { code: 'REPLACED' });
    assert.equal(await readFile(victim, 'utf8'), 'untouched');
  });

  test("replaced by another user's link is not written to", async (t) => {
    const path = makePipe(t);
    const planted = plantLink(t, path);
    await assert.rejects(writeDevice(planted, 'text'), { code: 'PLANTED' });
  });

  test('that another user created in a shared directory is refused, before the run and after it', async (t) => {
    const planted = plantPipe(t, '.json');
    const reader = openSync(planted, constants.O_RDONLY | constants.O_NONBLOCK);
    t.after(() => closeSync(reader));
    assert.throws(() => checkOutputs({ out: [planted] }), { message: /it belongs to another user/ });
    await assert.rejects(writeDevice(planted, 'text'), { code: 'FOREIGN' });
    assert.equal(fs.readSync(reader, Buffer.alloc(10)), 0);
  });

  test('a pipe that becomes a link at the last moment is not followed', async (t) => {
    const [path, victim] = [makePipe(t), makePipe(t)];
    const reader = fs.openSync(victim, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    t.after(() => fs.closeSync(reader));
    const { openSync } = fs;
    t.mock.method(fs, 'openSync', (/** @type {Parameters<typeof openSync>} */ ...args) => {
      fs.rmSync(path);
      fs.symlinkSync(victim, path);
      return openSync(...args);
    });
    await assert.rejects(writeDevice(path, 'text'), { code: 'ELOOP' });
  });

  test('is written completely, even to a reader that starts later', async (t) => {
    const path = makePipe(t);
    const text = 'y'.repeat(1e6);
    const writing = writeDevice(path, text);
    await sleep(100);
    const [read] = await Promise.all([readFile(path, 'utf8'), writing]);
    assert.equal(read, text);
  });
});
