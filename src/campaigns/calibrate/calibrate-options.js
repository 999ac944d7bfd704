/** Options of a calibration; the load options are the same as for operations. */
import { inGroup, option, readOptions, rejectUnknownOptions } from '../../common/options.js';
import { commonOptions } from '../../plan/common-options.js';

/** @import { LoadPlan } from '../../plan/load.js' */

/** @typedef {Pick<LoadPlan, 'concurrency' | 'threads' | 'pacing'> & Record<'duration' | 'maxLateness', number>} CalibrationOptions ms */

const { concurrency, threads, pacing } = commonOptions;

export const calibrationOptions = {
  ...{ concurrency, threads, pacing },
  ...inGroup('Calibration', {
    duration: option('duration', 'Length of each of the 15 to 30 measurements', {
      ...{ default: '1s', min: 100, max: 10_000 },
    }),
    'max-lateness': option('duration', 'Max send lateness (p99) at an accurate rate', {
      ...{ default: '1ms', min: 0.01, max: 1000 },
    }),
  }),
};

/** @param {Record<string, unknown>} given by kebab- or camelCase name @returns {CalibrationOptions} */
export function readCalibrationOptions(given) {
  rejectUnknownOptions('calibrate', calibrationOptions, given);
  return /** @type {any} */ (readOptions(calibrationOptions, given));
}
