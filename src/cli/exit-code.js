import { EXIT } from '../errors.js';

/**
 * @param {import('../results/schema.js').Result} result
 * @returns {number} see EXIT; an interruption tells more than what was not proven because of it
 */
export function exitCodeOf({ interrupted, measurement, requirements }) {
  if (interrupted) return EXIT.interrupted;
  if (measurement.verdict === 'invalid') return EXIT.invalidMeasurement;
  return requirements.every(({ verdict }) => verdict === 'met') ? EXIT.ok : EXIT.requirement;
}
