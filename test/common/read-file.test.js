import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { readBytes, readChunks } from '../../src/common/read-file.js';

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

  test('a pipe without a writer is empty', () => {
    execFileSync('mkfifo', [at('lonely')]);
    assert.equal(readBytes(at('lonely'), 'f').length, 0);
  });
});
