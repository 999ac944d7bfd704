/** Runs our command line on the benches' target. */
import { fileURLToPath } from 'node:url';
import { shareCores } from './cores.js';
import { runTimed } from './timed.js';
/** @import { Result } from '../../src/result/schema.js' */
/** @import { Subject } from './subject.js' */

export const BIN = fileURLToPath(new URL('../../bin/vault-pki-load.js', import.meta.url));

/** Exit codes with a result: also an invalid measurement or an unmet requirement. */
const CODES_WITH_RESULT = [0, 98, 99];

/**
 * @typedef {object} Measured
 * @property {Result} result
 * @property {number} cpuSeconds
 */

/**
 * @param {Subject} subject
 * @param {string} url of the responder
 * @param {Record<string, string | number | string[]>} options of the command, without their dashes; a list: given once each
 * @param {string | null} [cores] list for `taskset -c`; default: all but the target's
 * @param {string[]} [nodeOptions]
 * @returns {Promise<Measured>}
 */
export async function runOcsp(subject, url, options, cores = shareCores().generator, nodeOptions = []) {
  const flags = Object.entries(options).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => [`--${name}`, `${one}`]),
  );
  const subjectFlags = ['--cert', subject.cert, '--issuer', subject.issuer, '--ocsp-url', url];
  const { stdout, stderr, code, cpuSeconds } = await runTimed(
    [process.execPath, ...nodeOptions, BIN, 'ocsp', ...subjectFlags, ...flags, '--format', 'json', '--quiet'],
    { cores },
  );
  if (!CODES_WITH_RESULT.includes(code)) throw new Error(`ocsp exited with code ${code}: ${stderr}`);
  return { result: JSON.parse(stdout), cpuSeconds };
}
