/**
 * Builds Vault from go.mod in this folder. Needs Go, but no npm packages, so that it can run
 * before they are installed.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const BUILD = join(HERE, '.build');
const BINARY = join(BUILD, 'vault');
const STAMP = join(BUILD, 'sources.sha256');

/**
 * Takes minutes the first time; does nothing if up to date.
 *
 * @returns {Promise<string>} the path of the binary
 */
export async function buildVault() {
  const sources = ['main.go', 'go.mod', 'go.sum'].map((name) => readFileSync(join(HERE, name)));
  const wanted = createHash('sha256').update(Buffer.concat(sources)).digest('hex');
  if (existsSync(BINARY) && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return BINARY;
  mkdirSync(BUILD, { recursive: true });
  const child = spawn('go', ['build', '-trimpath', '-o', '.build/vault', '.'], {
    cwd: HERE,
    stdio: 'inherit',
  });
  const [code] = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (...how) => resolve(how));
  });
  if (code !== 0) throw new Error(`go build of Vault ended with ${code}`);
  writeFileSync(STAMP, wanted);
  return BINARY;
}
