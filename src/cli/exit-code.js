/** What a command ends with. */
import { EXIT, PkiLoadError } from '../common/errors.js';

/**
 * @param {Pick<import('../result/schema.js').Result, 'interrupted' | 'measurement' | 'requirements' | 'shard'>} result of a run, or of another
 *   measurement
 * @returns {number} see EXIT; an interruption tells more than what was not proven because of it. A part of a plan (`--shard`)
 *   does not answer for requirements, which are judged on the sum of all parts
 */
export function exitCodeOf({ interrupted, measurement, requirements, shard }) {
  if (interrupted) return EXIT.interrupted;
  if (measurement.verdict === 'invalid') return EXIT.invalidMeasurement;
  if (shard !== undefined) return EXIT.ok;
  return requirements.every(({ verdict }) => verdict === 'met') ? EXIT.ok : EXIT.requirement;
}

/**
 * What was measured tells more than that some file could not be written.
 *
 * @param {unknown} failure
 * @param {number} code of what was measured
 */
export function withExitCode(failure, code) {
  if (code === EXIT.ok || !(failure instanceof PkiLoadError)) return failure;
  const { message, remedy, cause } = failure;
  return new PkiLoadError(failure.code, message, { remedy, exitCode: code, cause });
}
