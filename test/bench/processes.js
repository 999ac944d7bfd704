/** Both sides run as processes of their own, as their users would run them. */
import { fileURLToPath } from 'node:url';
import { runTimed } from './timed.js';

const BIN = fileURLToPath(new URL('../../bin/vault-pki-load.js', import.meta.url));
const FETCH_LOOP = fileURLToPath(new URL('./fetch-loop.js', import.meta.url));
export const WARMUP_SECONDS = 1;

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
 * @returns {Promise<import('./timed.js').Ended>}
 */
async function runNode(args, env) {
  const ended = await runTimed([process.execPath, ...args], { env });
  if (ended.stdout === '') throw new Error(`${args[0]} ended with ${ended.code}: ${ended.stderr}`);
  return ended;
}
