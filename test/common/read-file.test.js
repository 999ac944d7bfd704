import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { isSystemFile, readBytes, readChunks, refusePipe } from '../../src/common/read-file.js';

const folder = mkdtempSync(join(tmpdir(), 'vpl-read-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const at = (/** @type {string} */ name) => join(folder, name);
writeFileSync(at('file'), 'x'.repeat(200_000));

describe('readBytes', { skip: process.platform !== 'linux' && '/dev, mkfifo' }, () => {
  test('reads a file up to its limit', () => {
    assert.equal(readBytes(at('file'), 'f').length, 200_000);
    const refused = { code: 'file_too_large', message: 'f is larger than 0.125 MiB.' };
    assert.throws(() => readBytes(at('file'), 'f', { maxMiB: 0.125 }), refused);
  });

  /** @type {[string, string, object, RegExp][]} what, path, options, message */
  const REFUSED = [
    ['a device', '/dev/zero', {}, /^f is a device, a pipe, a socket or a kernel file\.$/],
    ['the environment of the process', '/proc/self/environ', {}, /^f is a device, .* or a kernel file\.$/],
    ['a folder', folder, {}, /^f is a directory\.$/],
    ['a missing file', at('none'), {}, /^f was not found\.$/],
    ['a pipe, unless it may be one', at('fifo'), { mayBePipe: false }, /^f is a device, a pipe/],
  ];
  for (const [what, path, options, message] of REFUSED) {
    test(`rejects ${what}, and does not block`, () => {
      if (path.endsWith('fifo')) execFileSync('mkfifo', [path]);
      assert.throws(() => readBytes(path, 'f', options), { code: 'cannot_read', message });
    });
  }

  test('kernel files are rejected wherever their file system is mounted', (t) => {
    const [real, kernel] = [fs.statfsSync(at('file')), 0x62656572];
    t.mock.method(fs, 'statfsSync', () => ({ ...real, type: kernel }));
    assert.equal(isSystemFile(at('file')), true);
    assert.throws(() => readBytes(at('file'), 'f'), { code: 'cannot_read', message: /kernel file/ });
  });

  test('reads a pipe such as <(...) to its end, even from a slow writer', async () => {
    execFileSync('mkfifo', [at('slow')]);
    const writer = spawn('sh', ['-c', `exec >slow; echo one; sleep 0.05; echo two`], { cwd: folder });
    try {
      assert.equal(readBytes(at('slow'), 'f').toString(), 'one\ntwo\n');
    } finally {
      writer.kill();
    }
  });

  test('a pipe with a byte at a time takes little memory', async () => {
    execFileSync('mkfifo', [at('bytes')]);
    const writer = spawn(
      'sh',
      ['-c', `exec >bytes; i=0; while [ $i -lt 300 ]; do printf x; sleep 0.001; i=$((i+1)); done`],
      {
        cwd: folder,
      },
    );
    try {
      const before = process.memoryUsage().arrayBuffers;
      const chunks = [...readChunks(at('bytes'), 'f')];
      assert.equal(Buffer.concat(chunks).length, 300);
      assert.ok(process.memoryUsage().arrayBuffers - before < 1_000_000);
    } finally {
      writer.kill();
    }
  });

  test('a signal ends the process while it waits for a pipe, in spite of its handlers', {
    timeout: 20_000,
  }, async () => {
    execFileSync('mkfifo', [at('silent')]);
    const reader = `import fs from 'node:fs';
      const { readBytes } = await import(${JSON.stringify(new URL('../../src/common/read-file.js', import.meta.url).href)});
      process.on('SIGTERM', () => {});
      fs.openSync('silent', 'r+');
      process.stdout.write('reading');
      readBytes('silent', 'f');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', reader], { cwd: folder });
    child.stdout.once('data', () => setTimeout(() => child.kill('SIGTERM'), 200));
    assert.deepEqual(await once(child, 'exit'), [null, 'SIGTERM']);
  });

  test('rejects a pipe in the place of a regular file of a scenario', () => {
    execFileSync('mkfifo', [at('later')]);
    refusePipe(at('later'));
    assert.throws(() => readBytes(at('later'), 'f'), { code: 'cannot_read' });
  });

  test('a pipe without a writer is empty', () => {
    execFileSync('mkfifo', [at('lonely')]);
    assert.equal(readBytes(at('lonely'), 'f').length, 0);
  });
});
