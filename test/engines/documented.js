/** The commands of docs/machines.md, run as they are written there. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const PAGE = new URL('../../docs/machines.md', import.meta.url);
const TIMEOUT_MS = 120_000;

/** @param {string} heading of a section @returns {string[]} its blocks of commands */
export function commandsOf(heading) {
  const section = readFileSync(PAGE, 'utf8').split(`\n### ${heading}\n`)[1].split('\n##')[0];
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block);
}

/** @param {string} block @param {{cwd: string, env: NodeJS.ProcessEnv}} where @returns {Promise<string>} standard output; rejects if a command fails */
export async function runBlock(block, where) {
  // The time limit ends the shell, and `timeout` what it has started.
  const args = [String(TIMEOUT_MS / 1000), 'bash', '-euo', 'pipefail', '-c', block];
  return (await promisify(execFile)('timeout', args, { ...where, maxBuffer: 2 ** 26 })).stdout;
}

/** @template T @param {string} what @param {() => Promise<T | false | null | undefined>} check @returns {Promise<T>} what it gives */
export async function until(what, check) {
  for (const endMs = Date.now() + TIMEOUT_MS; Date.now() < endMs; ) {
    const found = await check();
    if (found) return found;
    await new Promise((done) => setTimeout(done, 500));
  }
  throw new Error(`It did not happen in time: ${what}`);
}
