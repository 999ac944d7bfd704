/** What makes a measurement invalid. */

/** @typedef {import('../verdict/measurement-schema.js').Measurement} Measurement */

/**
 * @param {Pick<Measurement, 'verdict' | 'reasons'>} measurement
 * @returns {Measurement['reasons'][number] | undefined} the main reason; of an older file, whose reasons have no grade, the first.
 *   undefined: it is not invalid
 */
export function invalidReasonOf({ verdict, reasons }) {
  if (verdict !== 'invalid') return undefined;
  return reasons.find(({ grade }) => grade === 'invalid') ?? reasons[0];
}
