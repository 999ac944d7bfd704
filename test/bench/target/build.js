/** Builds the Go programs of this folder: the target, the sleeper that measures the machine, and the capture. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const BUILD = join(HERE, '.build');

/** @type {Promise<{target: string, sleeper: string, wire: string, handshakes: string}> | null} */
let built = null;

/**
 * Takes seconds the first time; Go rebuilds only what changed.
 * @returns {Promise<{target: string, sleeper: string, wire: string, handshakes: string}>} paths of the programs
 */
export function buildTarget() {
  built ??= build();
  return built;
}

async function build() {
  mkdirSync(BUILD, { recursive: true });
  const child = spawn('go', ['build', '-trimpath', '-o', `${BUILD}/`, './...'], {
    cwd: HERE,
    env: { ...process.env, GOFLAGS: '-buildvcs=false' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(child, 'exit').catch((error) => {
    throw new Error(
      `Cannot build the Go target of the benches: ${error.message}. Use Linux, and install Go 1.22 or later.`,
    );
  });
  if (code !== 0) throw new Error(`go build of the benches' target exited with code ${code}`);
  const [target, sleeper, wire, handshakes] = ['target', 'sleeper', 'wire', 'handshakes'].map((name) =>
    join(BUILD, name),
  );
  return { target, sleeper, wire, handshakes };
}
