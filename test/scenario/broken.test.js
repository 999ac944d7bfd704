/** Acceptance: at least 30 broken files, each with all that is said of it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { EXIT, PkiLoadError } from '../../src/errors.js';
import { runCli } from '../cli/support.js';
import { BROKEN, TOKEN } from './broken-files.js';
import { readAndPlan } from './read.js';
import { compile, publishedSchema } from './schema-of.js';

const check = compile(await publishedSchema());

describe('a broken scenario is told with its place and what to do:', () => {
  for (const { why, text, env, says, looksRight = false } of BROKEN) {
    test(why, async () => {
      await assert.rejects(
        () => readAndPlan(text, { env }),
        (error) => {
          assert.ok(error instanceof PkiLoadError, String(/** @type {Error} */ (error).stack));
          assert.equal(error.full, says);
          assert.deepEqual([error.code, error.exitCode], ['bad_scenario', EXIT.usage]);
          assert.ok(!error.full.includes(TOKEN));
          return true;
        },
      );
      if (/UTF-8|characters, and|deeply|alias/i.test(says)) return;
      assert.equal(check(text).isValid, looksRight, 'what the schema says of it');
    });
  }
});

test('there are enough of them, no two alike', () => {
  assert.ok(BROKEN.length >= 50, `${BROKEN.length}`);
  assert.equal(new Set(BROKEN.map(({ why }) => why)).size, BROKEN.length);
  assert.equal(new Set(BROKEN.map(({ text }) => text)).size, BROKEN.length);
});

test('the command says the same, and exits with 1', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-scenario-'));
  try {
    const { text, says } = BROKEN.find(({ why }) => why === 'a slip in the load') ?? BROKEN[0];
    writeFileSync(join(folder, 's.yaml'), text);
    const { code, stdout, stderr } = await runCli(['run', 's.yaml', '--dev'], { cwd: folder });
    assert.deepEqual([code, stdout, stderr], [1, '', `vault-pki-load: ${says}\n`]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
