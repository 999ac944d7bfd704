/** Both sides run as processes of their own, as their users would run them. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../bin/vault-pki-load.js', import.meta.url));
const FETCH_LOOP = fileURLToPath(new URL('./fetch-loop.js', import.meta.url));
const WARMUP_SECONDS = 1;

/** Says on descriptor 3, at the end, what CPU time the process took: all threads, start and warm-up included. */
const CPU_HOOK = `data:text/javascript,${encodeURIComponent(
  "import { writeSync } from 'node:fs'; import { isMainThread } from 'node:worker_threads';" +
    "if (isMainThread) process.on('exit', () => { const { user, system } = process.cpuUsage(); writeSync(3, String((user + system) / 1e6)); });",
)}`;

/** @typedef {import('./pairs.js').Measured} Measured */

/**
 * @param {string[]} args without the load
 * @param {Record<string, string>} env
 * @param {number} concurrency
 * @returns {(seconds: number) => Promise<Measured>}
 */
export function ourCommand(args, env, concurrency) {
  return async (seconds) => {
    const load = [
      '--concurrency',
      `${concurrency}`,
      '--duration',
      `${seconds}`,
      '--warmup',
      `${WARMUP_SECONDS}`,
    ];
    const { stdout, code, cpuSeconds } = await runNode(
      [BIN, ...args, ...load, '--format', 'json', '--quiet'],
      env,
    );
    const { totals, rates, verification, warmup } = JSON.parse(stdout);
    if (code !== 0 || totals.failed > 0 || verification.unchecked > 0) {
      throw new Error(`exit code ${code}, ${JSON.stringify(totals)}, ${JSON.stringify(verification)}`);
    }
    return { perSecond: rates.perSecond, cpuMs: (cpuSeconds * 1000) / (totals.sent + warmup.sent) };
  };
}

/**
 * @param {import('./fetch-loop.js').Job} job without the time
 * @param {Record<string, string>} env
 * @returns {(seconds: number) => Promise<Measured>}
 */
export function fetchLoop(job, env) {
  return async (seconds) => {
    const given = JSON.stringify({ ...job, seconds, warmupSeconds: WARMUP_SECONDS });
    const { stdout, cpuSeconds } = await runNode([FETCH_LOOP, given], env);
    const { succeeded, failed, elapsedSeconds, warmup } = JSON.parse(stdout);
    if (failed > 0) throw new Error(`${failed} requests of the fetch loop failed`);
    return { perSecond: succeeded / elapsedSeconds, cpuMs: (cpuSeconds * 1000) / (succeeded + warmup) };
  };
}

/**
 * @param {string[]} args
 * @param {Record<string, string>} env
 * @returns {Promise<{stdout: string, code: number | null, cpuSeconds: number}>}
 */
async function runNode(args, env) {
  const child = spawn(process.execPath, ['--import', CPU_HOOK, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  const said = ['', ''];
  for (const [i, stream] of [child.stdio[1], child.stdio[3]].entries()) {
    /** @type {import('node:stream').Readable} */ (stream).setEncoding('utf8').on('data', (text) => {
      said[i] += text;
    });
  }
  const code = /** @type {number | null} */ (await new Promise((resolve) => child.once('close', resolve)));
  const [stdout, cpu] = said;
  if (stdout === '') throw new Error(`${args[0]} ended with ${code} and printed nothing`);
  return { stdout, code, cpuSeconds: Number(cpu) };
}
