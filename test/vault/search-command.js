/** Runs a search in a separate process. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** @import { Search } from '../../src/result/search/search-schema.js' */

const BIN = fileURLToPath(new URL('../../bin/vault-pki-load.js', import.meta.url));

const KILL_AFTER_MS = 280_000;

/**
 * @param {string[]} args
 * @param {Record<string, string>} env the whole environment but for PATH and HOME
 * @returns {Promise<{code: number | null, search: Search, stderr: string}>}
 */
export async function runSearch(args, env) {
  const home = mkdtempSync(join(tmpdir(), 'vault-pki-load-home-'));
  const child = spawn(process.execPath, [BIN, ...args, '--format', 'json'], {
    env: { PATH: process.env.PATH, HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: KILL_AFTER_MS,
    killSignal: 'SIGKILL',
  });
  try {
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    assert.ok(stdout !== '', `no search, exit code ${code}: ${stderr}`);
    for (const token of [env.VAULT_TOKEN, env.BAO_TOKEN]) {
      assert.ok(!token || !`${stdout}${stderr}`.includes(token), 'the token is shown');
    }
    return { code, search: JSON.parse(stdout), stderr };
  } finally {
    rmSync(home, { recursive: true });
  }
}
