import { EXIT } from '../errors.js';

/**
 * @param {Pick<import('../results/schema.js').Result, 'interrupted' | 'measurement' | 'requirements' | 'shard'>} result of a run, or of another
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
