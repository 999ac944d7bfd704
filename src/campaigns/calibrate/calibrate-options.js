/** Options of a calibration; those of the load are those of every operation. */
import { usageError } from '../../common/errors.js';
import { camelCase, readOptions } from '../../common/options.js';
import { commonOptions } from '../../plan/common-options.js';

/** @import { OptionSpec } from '../../common/options.js' */

/**
 * @typedef {object} CalibrationOptions
 * @property {number} concurrency
 * @property {number} threads
 * @property {'auto' | 'spin' | 'sleep'} pacing
 * @property {number} duration ms, of each measurement
 * @property {number} maxLateness ms
 */

const { concurrency, threads, pacing } = commonOptions;

/** @type {Record<string, OptionSpec>} */
export const calibrationOptions = {
  concurrency,
  threads,
  pacing,
  duration: {
    type: 'duration',
    group: 'Calibration',
    placeholder: 'TIME',
    default: '1s',
    min: 100,
    max: 10_000,
    describe: 'Length of each of the 15 to 30 measurements',
  },
  'max-lateness': {
    type: 'duration',
    group: 'Calibration',
    placeholder: 'TIME',
    default: '1ms',
    min: 0.01,
    max: 1000,
    describe: 'A rate is honest if 99 % of the requests are at most this late',
  },
};

/** @param {Record<string, unknown>} given by kebab- or camelCase name @returns {CalibrationOptions} */
export function readCalibrationOptions(given) {
  const names = Object.keys(calibrationOptions);
  const isKnown = (/** @type {string} */ key) =>
    names.some((name) => name === key || camelCase(name) === key);
  const unknown = Object.keys(given).find((key) => given[key] !== undefined && !isKnown(key));
  if (unknown !== undefined) {
    throw usageError(
      'unknown_option',
      `calibrate has no option ${JSON.stringify(unknown)}.`,
      `Its options are ${names.join(', ')}.`,
    );
  }
  return /** @type {any} */ (readOptions(calibrationOptions, given));
}
